# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
How many keys does a query use?
===============================

The effective number of keys of each query, for three bandwidths: it dips at the ends of the data
and in every gap between keys that is wide beside the bandwidth.

Set ``ATTNLIB_FRAMEWORK=jax`` to see it on the keys that JAX draws.
"""

import matplotlib.pyplot as plt

from attnlib.data import BANDWIDTHS, section_data
from attnlib.diagnostics import effective_number
from attnlib.frameworks import preferred
from attnlib.plotting import COLORS, plot_curves
from attnlib.pooling import kernel_weights

plt.style.use("attnlib.figures")

# %%
# For the weights :math:`\alpha_1, \ldots, \alpha_m` of one query the effective number of keys is
# :math:`1 / \sum_i \alpha_i^2`: 1 for exact lookup, :math:`m` for the plain average.

x_train, _, x_val, _ = section_data(preferred())
effective = {sigma: effective_number(kernel_weights(x_val, x_train, sigma)) for sigma in BANDWIDTHS}

# %%
# The ticks along the bottom are the keys. Compare each dip with the gap beneath it, then try
# another bandwidth.

fig = plot_curves(
    x_val,
    list(effective.values()),
    labels=[rf"$\sigma={sigma:g}$" for sigma in BANDWIDTHS],
    xlabel="query $q$",
    ylabel="effective number of keys",
    yscale="log",
    ylim=(0.7, 50),
)
ax = fig.axes[0]
ax.set_yticks([1, 2, 5, 10, 20, 40], labels=["1", "2", "5", "10", "20", "40"])
ax.yaxis.minorticks_off()
ax.axhline(1, color=COLORS["muted"], lw=1)
ax.axhline(40, color=COLORS["muted"], lw=1)
ax.plot(x_train, [0.78] * 40, "|", color=COLORS["ink"], ms=8)
fig.set_label(
    "Effective number of keys over the queries for three bandwidths. The wide one gives a smooth "
    "arch not far below 40 that is lowest at an end. The middle one lies well below it, with a dip "
    "where keys are sparse. The narrow one is ragged and comes near 1 where one key is much nearer "
    "than all others."
)
plt.show()
