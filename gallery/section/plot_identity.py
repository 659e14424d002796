# /// script
# requires-python = ">=3.11"
# dependencies = ["attnlib[plot,torch]"]
# ///
"""
Exact lookup is the identity matrix
===================================

Ten queries that equal the ten keys, each reading its own key alone.
"""

# %%
# A row a query, a column a key. When the query equals a key, and only that key counts, the row
# has a single 1.

import matplotlib.pyplot as plt

from attnlib import frameworks, show_heatmaps

xp = frameworks.load(frameworks.preferred())  # for JAX: ATTNLIB_FRAMEWORK=jax
weights = xp.eye(10)

plt.style.use("attnlib.figures")
panels = weights[None, None]  # one row and one column of panels
fig = show_heatmaps(panels, xlabel="Keys", ylabel="Queries", figsize=(3.6, 3.0))
fig.set_label(
    "Heat map of a ten by ten identity matrix: weight 1 on the diagonal, where "
    "query and key agree, and 0 everywhere else."
)
plt.show()
