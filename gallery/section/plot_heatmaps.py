# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
Weights of a narrow and of a wide kernel
========================================

Which observations each query reads, at their true places.
"""

# %%
# A row is a query, a column a training input, and each lies where it is on its axis: the columns
# are as irregular as the inputs. One colour scale serves both panels.

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
)
fig.set_label(
    "Two heat maps on one colour scale, queries against inputs. Bandwidth 0.1 puts "
    "large weights on a thin diagonal, larger where inputs are sparse; bandwidth 2 "
    "spreads weights so small that its panel is almost uniform."
)
plt.show()
