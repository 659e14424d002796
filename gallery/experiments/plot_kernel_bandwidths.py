# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
Three kernels, twenty bandwidths
================================

The error of the Nadaraya-Watson estimate over twenty widths and three kernel shapes: moving along
a curve matters far more than changing from one curve to another.

Set ``ATTNLIB_FRAMEWORK=jax`` to see it on the data that JAX draws.
"""

import matplotlib.pyplot as plt
import numpy as np

from attnlib.data import section_data
from attnlib.frameworks import preferred
from attnlib.plotting import COLORS, plot_curves
from attnlib.regression import nadaraya_watson

plt.style.use("attnlib.figures")

# %%
# The 40 noisy examples of the section, and the noise-free truth at its 50 queries.

x_train, y_train, x_val, y_val = section_data(preferred())

# %%
# Two natural ways to place twenty widths between 0.05 and 3: equal steps, or equal ratios. A query
# with no key within reach takes the value of its nearest key.

GRIDS = {"linear": np.linspace(0.05, 3, 20), "geometric": np.geomspace(0.05, 3, 20)}
SHAPES = ("gaussian", "boxcar", "triangular")


def mean_squared_error(width, kernel):
    """Error of one estimate against the truth."""
    estimate = nadaraya_watson(x_val, x_train, y_train, float(width), kernel, empty="nearest")
    return float(((estimate - y_val) ** 2).mean())


errors = {
    grid: np.array([[mean_squared_error(width, kernel) for width in widths] for kernel in SHAPES])
    for grid, widths in GRIDS.items()
}

# %%
# The ring marks the smallest error of each kernel on its grid. Try another range, or another
# number of widths: which kernel wins depends on where the grid happens to fall.

STYLES = [
    {"color": COLORS["blue"], "marker": "o"},
    {"color": COLORS["vermillion"], "marker": "s"},
    {"color": COLORS["green"], "marker": "^"},
]

fig, panels = plt.subplots(2, 1, figsize=(5.2, 6.0), sharey=True, layout="constrained")
for ax, (grid, widths) in zip(panels, GRIDS.items(), strict=True):
    plot_curves(
        widths,
        errors[grid],
        labels=SHAPES,
        styles=STYLES,
        xlabel=r"bandwidth $\sigma$ or radius $h$",
        ylabel="mean squared error",
        xscale="linear" if grid == "linear" else "log",
        ylim=(0, 1.4),
        direct=False,
        ax=ax,
    )
    for style, curve in zip(STYLES, errors[grid], strict=True):
        best = curve.argmin()
        ax.plot(widths[best], curve[best], "o", ms=11, mfc="none", mec=style["color"])
    ax.set_title(f"{grid} grid")
fig.set_label(
    "Error curves of three kernels over the width, on a linear and on a logarithmic axis. Each "
    "falls, has a flat bottom, and rises. The three bottoms have nearly the same height but lie at "
    "different widths: the Gaussian's first, then the boxcar's, then the triangle's."
)
plt.show()
