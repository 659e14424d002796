# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
Retrieval from a noisy query
============================

A query is a stored key plus noise. How often does attention give its largest weight to the right
key? Less often the noisier the query, and less often the more keys there are.

Set ``ATTNLIB_FRAMEWORK=jax`` to let JAX draw the keys and the noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from attnlib.data import standard_normal, unit_sphere
from attnlib.frameworks import preferred
from attnlib.plotting import COLORS
from attnlib.pooling import softmax_weights

plt.style.use("attnlib.figures")

# %%
# Databases of two sizes, keys uniform on the unit sphere of :math:`\mathbb{R}^{16}`. Each key is
# asked for once, so both sizes answer 20 000 queries at each noise level.

DIMENSION = 16
DATABASES = {20: 1000, 200: 100}
TAUS = np.linspace(0, 1, 21)

# %%
# The bandwidth at which the right key of a noise-free query has weight 0.9 when all keys are
# orthogonal. Change it: the accuracy will not.


def bandwidth(m, weight=0.9):
    """Where the weight on the right key falls to `weight`, for m orthogonal unit keys."""
    return float(np.log(weight * (m - 1) / (1 - weight)) ** -0.5)


# %%
# The output for one-hot values is the row of weights. The same noise directions serve every
# noise level, so the curves are smooth.


def accuracies(m, databases, seed):
    """Share of the m queries answered correctly: (noise levels, databases)."""
    keys = unit_sphere(preferred(), m, DIMENSION, seed, databases=databases)
    noise = standard_normal(preferred(), (databases, m, DIMENSION), seed + 1)
    shares = []
    for tau in TAUS:
        queries = keys + float(tau) * noise
        squares = (queries**2).sum(-1)[..., :, None] + (keys**2).sum(-1)[..., None, :]
        scores = -(squares - 2 * queries @ keys.mT) / (2 * bandwidth(m) ** 2)
        retrieved = np.asarray(softmax_weights(scores).argmax(-1))
        shares.append((retrieved == np.arange(m)).mean(-1))
    return np.array(shares)


shares = {m: accuracies(m, databases, seed=50 + m) for m, databases in DATABASES.items()}
accuracy = {m: share.mean(-1) for m, share in shares.items()}

# %%
# Queries of one database share its keys, so the database is the unit of repetition: the standard
# error comes from the spread of the databases' shares.

standard_error = {m: share.std(-1, ddof=1) / DATABASES[m] ** 0.5 for m, share in shares.items()}

fig, ax = plt.subplots()
for m, color, marker in ((20, "blue", "o"), (200, "vermillion", "s")):
    bars = 1.96 * standard_error[m]
    ax.errorbar(
        TAUS,
        accuracy[m],
        bars,
        marker=marker,
        ms=4,
        capsize=2,
        color=COLORS[color],
        label=f"{m} keys",
    )
    ax.axhline(1 / m, color=COLORS[color], lw=1, ls="--", label=f"chance, 1/{m}")
ax.set(xlabel=r"noise level $\tau$", ylabel="accuracy of retrieval", ylim=(0, 1.05))
ax.legend()
fig.set_label(
    "Accuracy of retrieval falls from 1 towards the chance level as the noise grows, and much "
    "sooner with 200 keys than with 20. At the largest noise level both curves are still above "
    "chance. The error bars are hardly larger than the marks."
)
plt.show()
