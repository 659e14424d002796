# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
One lookup among forty pairs
============================

A query reads the values of the keys near it, and returns their weighted mean.
"""

# %%
# The keys are where something was observed, the values what was observed there. The query asks
# at a place in between.

import matplotlib.pyplot as plt

from attnlib import data, frameworks, kernel_weights, pool
from attnlib.plotting import COLORS

framework = frameworks.preferred()  # for JAX: ATTNLIB_FRAMEWORK=jax
keys, values, _, _ = data.section_data(framework)
query = frameworks.load(framework).asarray([2.5])
bandwidth = data.BANDWIDTHS[1]

weights = kernel_weights(query, keys, bandwidth)
output = pool(weights, values)

# %%
# Each circle is a pair, and its area is the weight that the query gives to its key. The line goes
# up from the query to the weighted mean of the values, and left to where that output is read.

plt.style.use("attnlib.figures")
fig, ax = plt.subplots()
ax.scatter(keys, values, s=9, color=COLORS["muted"])
blue, red = COLORS["blue"], COLORS["vermillion"]
ax.scatter(keys, values, s=7000 * weights[0], color=blue, alpha=0.35, edgecolor=blue)
q, out = float(query[0]), float(output[0])
ax.margins(0.05, 0.15)
ax.set(
    xlabel="Keys",
    ylabel="Values",
    xlim=(left := -0.2, None),
    ylim=(bottom := ax.get_ylim()[0], None),
)
ax.plot([q, q, left], [bottom, out, out], color=red, linewidth=1.5)
ax.plot(q, out, "D", color=red, markersize=8)
ax.text(q + 0.08, bottom + 0.2, "query", color=red, va="bottom")
ax.text(left + 0.08, out + 0.1, "output", color=red, va="bottom")

fig.set_label(
    "Forty pairs of a key and a value, drawn as circles whose area is the weight "
    "that one query gives them: large near the query, vanishing far away. The "
    "output is at the height of the large circles' mean."
)
plt.show()
