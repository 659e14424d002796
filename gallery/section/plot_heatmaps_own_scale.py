# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
A wide kernel's weights, on their own scale
===========================================

Small weights are not equal weights: each panel has its own colour scale here.
"""

# %%
# On one scale with the narrow kernel the wide one looks uniform. With a scale of its own, and a
# colour bar that says so, its panel shows that near inputs still count more, and that queries at
# either end lean on the data of their side.

import matplotlib.pyplot as plt

from attnlib import data, frameworks, kernel_weights, show_heatmaps

framework = frameworks.preferred()  # for JAX: ATTNLIB_FRAMEWORK=jax
xp = frameworks.load(framework)
x_train, _, x_val, _ = data.section_data(framework)
widths = data.BANDWIDTHS[0], data.BANDWIDTHS[2]
weights = xp.stack([kernel_weights(x_val, x_train, width) for width in widths])

plt.style.use("attnlib.figures")
fig = show_heatmaps(
    weights[None],
    xlabel="Inputs (keys)",
    ylabel="Queries",
    titles=[rf"$\sigma = {width:g}$" for width in widths],
    key_positions=x_train,
    query_positions=x_val,
    shared_scale=False,
    figsize=(5.4, 2.6),
)
fig.set_label(
    "Two heat maps of weights, each on its own colour scale. At bandwidth 2 the "
    "weights change slowly across the inputs: queries at either end give their "
    "largest weights to inputs at that end."
)
plt.show()
