"""The plain expression, for small problems in their most usual form.

At the size of the section, 50 queries and 40 keys, the formula takes ten microseconds. Checking the
arguments of the general function takes longer; here they are only recognised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FAINT = {np.dtype("float32"): 1e-20, np.dtype("float64"): 1e-100}  # digits may be missing below
FEW = 1 << 16  # pairs
USUAL = 1e-10, 1e10  # bandwidths whose squares are far from the ends of float32


def gaussian_means(queries: Any, keys: Any, values: Any, bandwidth: Any) -> Any:
    """Gaussian means at scalar positions in NumPy; None if the case needs more than that."""
    if not (type(queries) is type(keys) is type(values) is np.ndarray and type(bandwidth) is float):
        return None
    dtype = queries.dtype
    if (
        not (dtype is keys.dtype is values.dtype and dtype in FAINT)
        or not (queries.ndim == 1 == keys.ndim and keys.shape == values.shape)
        or not (0 < queries.size * keys.size <= FEW and USUAL[0] < bandwidth < USUAL[1])
    ):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        weights = queries[:, None] - keys
        weights *= weights
        weights *= -0.5 / (bandwidth * bandwidth)
        np.exp(weights, weights)
        totals = np.add.reduce(weights, 1)
        # Also false for NaN. Rows without weight are the general function's.
        if not np.minimum.reduce(totals) > FAINT[dtype]:
            return None
        means = weights @ values
        means /= totals
        return means
