# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,jax]"]
# ///
"""
A database in four places
=========================

Four machines hold a quarter of the keys each. Alone, each answers well near its own keys and badly
elsewhere; merged by two numbers a query, the answers are exactly those of one machine with all the
keys.

With JAX the merge runs over all devices there are. To see eight of them on one machine, run it as
``XLA_FLAGS=--xla_force_host_platform_device_count=8 ATTNLIB_FRAMEWORK=jax python
plot_sharded_database.py``.
"""

import matplotlib.pyplot as plt
import numpy as np

from attnlib.data import standard_normal, truth
from attnlib.frameworks import load, namespace, preferred
from attnlib.plotting import COLORS
from attnlib.pooling import pool, softmax_weights
from attnlib.regression import nadaraya_watson
from attnlib.scores import squared_distance

plt.style.use("attnlib.figures")

# %%
# A thousand keys on [0, 5), sorted, so that each quarter knows one stretch of the curve.

BANDWIDTH, SHARDS = 0.2, 4
noise = standard_normal(preferred(), (1000,), seed=7)
framework = load(preferred())
keys = framework.linspace(0, 5, 1000, dtype=noise.dtype)
values = truth(keys) + noise
queries = framework.linspace(0, 5, 201, dtype=noise.dtype)
shards = [slice(250 * s, 250 * (s + 1)) for s in range(SHARDS)]
alone = [nadaraya_watson(queries, keys[s], values[s], BANDWIDTH) for s in shards]

# %%
# A shard sends, for each query, the mean of its own values and the logarithm of the sum of its own
# weights. The means are averaged, with the softmax of these logarithms as weights: attention over
# shards.

xp = namespace(keys=keys)


def log_sum(scores):
    """Logarithm of the sum of exponentials of each row, without overflow."""
    top = xp.max(scores, axis=-1)
    return top + xp.log(xp.sum(xp.exp(scores - top[:, None]), axis=-1))


masses = [log_sum(squared_distance(queries, keys[s], BANDWIDTH)) for s in shards]
weights = softmax_weights(xp.stack(masses, axis=-1))  # (queries, shards)
merged = pool(weights[:, None, :], xp.stack(alone, axis=-1)[..., None])[:, 0, 0]

# %%
# The same over devices: each holds its part of the arrays for good, and only a few numbers a query
# travel. On a cluster, start the script on every machine with ``jax.distributed.initialize()`` as
# its first call. ``sharded.mesh()`` then lists the devices of all of them, and each process brings
# its own keys with ``jax.make_array_from_process_local_data`` in place of ``sharded.place``.
# Nothing else changes.

if preferred() == "jax":
    from attnlib.fast import sharded

    devices = sharded.mesh()
    placed_keys, placed_values, number = sharded.place(devices, keys[:, None], values[:, None])
    merged = sharded.attention(
        devices, queries[:, None], placed_keys, placed_values, number=number, bandwidth=BANDWIDTH
    )[:, 0]

whole = nadaraya_watson(queries, keys, values, BANDWIDTH)
np.testing.assert_allclose(np.asarray(merged), np.asarray(whole), rtol=1e-4, atol=1e-4)

# %%
# Beyond its last key a shard tends to the value at its edge, which is no answer there. The merged
# curve follows, everywhere, the shards that are near.

fig, ax = plt.subplots()
x = np.asarray(queries)
for number, curve in enumerate(alone):
    label = "one shard alone" if number == 0 else None
    ax.plot(x, np.asarray(curve), color=COLORS["vermillion"], lw=1, label=label)
ax.plot(x, np.asarray(merged), color=COLORS["blue"], lw=3, label="four shards, merged")
ax.plot(x, np.asarray(whole), color=COLORS["ink"], ls=":", label="all keys in one place")
for border in (1.25, 2.5, 3.75):
    ax.axvline(border, color=COLORS["muted"], lw=1, ls="--")
ax.set(xlabel="query", ylabel="estimate")
ax.legend()
fig.set_label(
    "Estimates over the query. Each of four shards alone follows the curve in its own quarter and "
    "leaves it outside. The merged estimate lies exactly on the one from all keys."
)
plt.show()
