# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
Four similarity kernels
=======================

Similarity as a function of the distance between query and key, before any normalisation.
"""

# %%
# A kernel says how much a key counts at a distance :math:`u = |q - k|/\sigma`, measured in
# bandwidths, or radii for a kernel that ends. The boxcar and the triangle stop counting at
# :math:`u = 1`, the Gaussian never does, and the constant does not look at the distance at all.

import matplotlib.pyplot as plt

from attnlib import KERNELS, frameworks

xp = frameworks.load(frameworks.preferred())  # for JAX: ATTNLIB_FRAMEWORK=jax
offsets = xp.linspace(-2.5, 2.5, 250)  # no point at 1, where rounding would decide
formulas = {
    "gaussian": r"$\exp(-u^2/2)$",
    "boxcar": r"$1$ if $u \leq 1$, else $0$",
    "triangular": r"$\max(0, 1 - u)$",
    "constant": r"$1$",
}

plt.style.use("attnlib.figures")
fig, axes = plt.subplots(2, 2, sharex=True, sharey=True, figsize=(5.2, 3.9))
for ax, (name, formula) in zip(axes.flat, formulas.items(), strict=True):
    similarity = KERNELS[name](abs(offsets))
    ax.plot(offsets, similarity)
    ax.fill_between(offsets, similarity, alpha=0.15)
    ax.set_title(f"{name.capitalize()}: {formula}", fontsize=10)
axes[0, 0].set(ylim=(0, 1.1), xticks=range(-2, 3), yticks=(0, 0.5, 1))
fig.supxlabel("Query minus key, in bandwidths or radii", fontsize=11)
fig.supylabel("Similarity", fontsize=11)
fig.set_label(
    "Four kernels against the distance from query to key. All are 1 at distance 0; "
    "the Gaussian falls smoothly and never reaches 0, the boxcar drops from 1 to 0 "
    "at one bandwidth, the triangle falls in a straight line to 0 there, the "
    "constant stays at 1."
)
plt.show()
