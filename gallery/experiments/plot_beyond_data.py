# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
How far is too far for a query?
===============================

One query moves away from forty keys, and three formulas compute the same estimate: each fails at
a distance of its own, and the first two go wrong before they return NaN.

Set ``ATTNLIB_FRAMEWORK=jax`` to run it on the data that JAX draws.
"""

from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np

from attnlib.data import section_data
from attnlib.frameworks import preferred
from attnlib.plotting import COLORS

plt.style.use("attnlib.figures")
framework = preferred()
xp = import_module({"torch": "torch", "jax": "jax.numpy"}[framework])
if framework == "jax":
    import jax

    jax.config.update("jax_enable_x64", True)
softmax = xp.softmax if framework == "torch" else jax.nn.softmax

# %%
# The ratio divides each kernel value by their sum. The softmax subtracts the largest score first.
# The third formula subtracts it before anything is squared: with :math:`n` the key nearest to the
# query :math:`q`, the exponent of key :math:`x` is :math:`-(n - x)(q - (n + x)/2)/\sigma^2`.


def kernel_ratio(q, x, y, sigma):
    kernel = xp.exp(-((q[:, None] - x) ** 2) / (2 * sigma**2))
    return kernel / kernel.sum(1)[:, None] @ y


def softmax_of_scores(q, x, y, sigma):
    return softmax(-((q[:, None] - x) ** 2) / (2 * sigma**2), -1) @ y


def shifted_first(q, x, y, sigma):
    inside = xp.clip(q, x.min(), x.max())  # the same nearest key, told apart at any distance
    n = x[abs(inside[:, None] - x).argmin(1)][:, None]
    excess = xp.clip((n - x) * (q[:, None] - (n + x) / 2), 0)
    return softmax(-excess / sigma / sigma, -1) @ y


FORMULAS = {
    "kernel ratio": (kernel_ratio, COLORS["vermillion"], "-", 5.0),
    "softmax of scores": (softmax_of_scores, COLORS["blue"], "-", 2.5),
    "shifted before squaring": (shifted_first, COLORS["ink"], ":", 1.5),
}

# %%
# Change the bandwidth, or move the last key away from the others, and see which distances stay.

SIGMA = 0.5
data = section_data(framework)
fig, panels = plt.subplots(2, 1, figsize=(6.4, 5.6), sharey=True)
precisions = (("float32", 22, 5), ("float64", 165, 50))
for ax, (precision, farthest, step) in zip(panels, precisions, strict=True):
    dtype = getattr(xp, precision)
    x, y = (xp.asarray(part, dtype=dtype) for part in (data.x_train, data.y_train))
    exponents = np.concatenate([np.linspace(0.7, 1.6, 300), np.linspace(1.6, farthest, 1500)])
    q = xp.asarray(10.0**exponents, dtype=dtype)
    for name, (formula, color, line, width) in FORMULAS.items():
        estimate = np.asarray(formula(q, x, y, SIGMA))
        ax.plot(10.0**exponents, estimate, line, color=color, linewidth=width, label=name)
        finite = np.isfinite(estimate)
        if not finite.all():
            last = finite.nonzero()[0][-1]
            ax.plot(10.0 ** exponents[last], estimate[last], "x", color=color, markersize=9)
    ax.axhline(float(y.mean()), color=COLORS["muted"], linewidth=1, linestyle="--", zorder=1,
               label="mean of all values")  # fmt: skip
    ax.set(xscale="log", xticks=10.0 ** np.arange(0, farthest, step))
    ax.set(ylabel="estimate", title=f"{precision} (a cross: NaN from here on)")
    ax.minorticks_off()
panels[1].set_xlabel("query")
fig.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
fig.set_label(
    "Estimate against query on a logarithmic scale. In float32 the kernel ratio ends in NaN at "
    "about 12. The softmax holds the value of the largest key until about a million, then jumps"
    " between several values, settles on the mean of all values beyond a hundred million, and "
    "is NaN from 1.3e19. In float64 the same events come at about 24, 1e15 and 1e154. The "
    "formula that shifts before squaring holds the right limit everywhere."
)
plt.show()
