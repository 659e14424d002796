"""The plain expression, for small problems in their most usual form.

At the size of the section, 50 queries and 40 keys, the formula takes ten microseconds. Checking the
arguments of the general function takes longer; here they are only recognised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

HALF = 0.5**0.5
FAINT = {np.dtype("float32"): 1e-20, np.dtype("float64"): 1e-100}  # digits may be missing below
FEW = 1 << 16  # pairs


def gaussian_means(queries: Any, keys: Any, values: Any, bandwidth: Any) -> Any:
    """Gaussian means at scalar positions in NumPy; None if the case needs more than that."""
    if (
        not (type(queries) is type(keys) is type(values) is np.ndarray and type(bandwidth) is float)
        or not (queries.ndim == 1 and keys.ndim == 1 and keys.shape == values.shape)
        or not (queries.dtype == keys.dtype == values.dtype and queries.dtype in FAINT)
        or not (0 < queries.size * keys.size <= FEW and bandwidth > 0)
    ):
        return None
    weights = queries[:, None] - keys
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        weights *= HALF / bandwidth
        weights *= weights
        np.negative(weights, weights)
        np.exp(weights, weights)
        totals = np.add.reduce(weights, 1)
        # Also false for NaN. Rows without weight are the general function's.
        if not np.minimum.reduce(totals) > FAINT[queries.dtype]:
            return None
        means = weights @ values
        means /= totals
        return means
