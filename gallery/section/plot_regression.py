# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
Regression with three bandwidths
================================

The same forty noisy observations, read with a narrow, a medium and a wide kernel.
"""

# %%
# The estimate at a query is the mean of the observed labels, weighted by a Gaussian kernel of
# bandwidth :math:`\sigma` around the query.

import matplotlib.pyplot as plt

from attnlib import data, frameworks, nadaraya_watson
from attnlib.plotting import COLORS, plot_curves

framework = frameworks.preferred()  # for JAX: ATTNLIB_FRAMEWORK=jax
x_train, y_train, x_val, y_val = data.section_data(framework)
widths = data.BANDWIDTHS
estimates = [nadaraya_watson(x_val, x_train, y_train, width) for width in widths]

# %%
# The narrow kernel bends toward single observations, the wide one flattens the curve toward the
# overall mean. PyTorch and JAX draw different noise: look at both.

plt.style.use("attnlib.figures")
fig = plot_curves(
    x_val,
    [*estimates, y_val],
    labels=[*(rf"$\sigma = {width:g}$" for width in widths), "truth"],
    styles=[{}, {}, {}, {"color": COLORS["ink"], "linestyle": "--"}],
    points=(x_train, y_train),
    xlabel="$x$: inputs (keys) and queries",
    ylabel="$y$: labels (values)",
)
fig.set_label(
    "Three kernel estimates against the true curve and the noisy data. The narrow "
    "bandwidth 0.1 zigzags after single points, the wide bandwidth 2 is nearly "
    "flat, and 0.5 in between comes closest to the truth."
)
plt.show()
