# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
Attention, drawn with numbers
=============================

One query against a database of four pairs, from scores to weights to output.
"""

# %%
# Four keys :math:`k_i` with their values :math:`v_i`, and a query :math:`q` that equals no key.
# The scores are :math:`a(q, k_i) = -(q - k_i)^2/2`.

import matplotlib.pyplot as plt

from attnlib import frameworks, pool, softmax_weights
from attnlib.plotting import COLORS
from attnlib.scores import squared_distance

xp = frameworks.load(frameworks.preferred())  # for JAX: ATTNLIB_FRAMEWORK=jax
keys = xp.asarray([1.0, 2.0, 5.0, 6.0])
values = xp.asarray([15.0, 10.0, 20.0, 5.0])
query = xp.asarray([3.8])

scores = squared_distance(query, keys)
weights = softmax_weights(scores)
output = pool(weights, values)

# %%
# A row a pair. The width of each line into the output is the weight of its value: that is the
# weighted sum, and it works for any number of rows.

plt.style.use("attnlib.figures")
fig, ax = plt.subplots(figsize=(5.2, 2.9))
ax.set(xlim=(0, 10.4), ylim=(-0.95, 4.75))
ax.set_axis_off()


def box(x, y, text, color):
    color = COLORS[color]
    frame = {"boxstyle": "round,pad=0.35", "fc": COLORS["paper"], "ec": color}
    ax.text(x, y, text, ha="center", va="center", color=color, bbox=frame)


for x, name, symbol in [
    (0.5, "query", "$q$"),
    (2.2, "keys", "$k_i$"),
    (3.75, "scores", r"$a(q, k_i)$"),
    (6.0, "weights", r"$\alpha(q, k_i)$"),
    (7.9, "values", "$v_i$"),
    (9.8, "output", r"$\sum_i \alpha(q, k_i)\,v_i$"),
]:
    ax.text(x, 4.45, name, ha="center", va="center", fontsize=10)
    ax.text(min(x, 9.4), -0.6, symbol, ha="center", va="center", fontsize=10)

link = {"solid_capstyle": "butt", "zorder": 0}
for y, key, score, weight, value in zip(
    (3.6, 2.5, 1.4, 0.3), keys, scores[0], weights[0], values, strict=True
):
    ax.plot([0.5, 2.2], [1.95, y], color=COLORS["muted"], linewidth=1, **link)
    ax.plot([2.2, 3.2], [y, y], color=COLORS["muted"], linewidth=1, **link)
    share = float(weight)
    ax.plot([7.9, 9.8], [y, 1.95], color=COLORS["green"], linewidth=14 * share, **link)
    ax.barh(y, 1.4 * share, height=0.5, left=5.25, color=COLORS["purple"])
    box(2.2, y, f"{float(key):g}", "blue")
    ax.text(4.2, y, f"−{-float(score):.2f}", ha="right", va="center")
    ax.text(5.35 + 1.4 * share, y, f"{share:.2f}", va="center")
    ax.text(7.25, y, r"$\times$", ha="center", va="center", color=COLORS["muted"])
    box(7.9, y, f"{float(value):g}", "green")

ax.text(4.75, 1.95, "softmax", rotation=90, ha="center", va="center", fontsize=10)
ax.axvspan(4.5, 5.0, 0.17, 0.87, color=COLORS["grid"], zorder=0)
box(0.5, 1.95, f"{float(query[0]):g}", "vermillion")
box(9.8, 1.95, f"{float(output[0]):.1f}", "ink")

fig.set_label(
    "One query is scored against four keys, softmax turns the scores into weights "
    "that sum to 1, and the output is the sum of the four values, each times its "
    "weight: the value of the nearest key dominates, the others still count."
)
plt.show()
