"""The plain expression, for small problems in their most usual form.

At the size of the section, 50 queries and 40 keys, the formula takes ten microseconds. Checking the
arguments of the general function takes longer; here they are only recognised. Tensors of PyTorch
that lie in the processor's memory and carry no gradient are NumPy's for the while.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from attnlib.fast.choice import carries_gradient, like, views

FAINT = {np.dtype("float32"): 1e-20, np.dtype("float64"): 1e-100}  # digits may be missing below
FEW = 1 << 16  # pairs
ONES = {dtype: np.ones(FEW, dtype) for dtype in FAINT}  # a product with them is the fastest sum
USUAL = 1e-10, 1e10  # bandwidths whose squares are far from the ends of float32


@np.errstate(over="ignore", invalid="ignore")
def gaussian_means(queries: Any, keys: Any, values: Any, bandwidth: Any) -> Any:
    """Gaussian means at scalar positions; None if the case needs more than that."""
    arrays = _numbers(queries, keys, values)
    if arrays is None or type(bandwidth) is not float:
        return None
    q, k, v = arrays
    if (
        not (q.ndim == 1 == k.ndim and k.shape == v.shape)
        or not (0 < q.size * k.size <= FEW and USUAL[0] < bandwidth < USUAL[1])
    ):  # fmt: skip
        return None
    weights = q[:, None] - k
    weights *= weights
    weights *= -0.5 / (bandwidth * bandwidth)
    np.exp(weights, weights)
    totals = weights.dot(ONES[q.dtype][: len(k)])
    # Also false for NaN. Rows without weight are the general function's.
    if not np.minimum.reduce(totals) > FAINT[q.dtype]:
        return None
    means = weights.dot(v)
    means /= totals
    return like(queries, means)


@np.errstate(over="ignore", invalid="ignore")
def dot_means(queries: Any, keys: Any, values: Any, scale: float) -> Any:
    """Means by the softmax of scaled dot products of vectors; None as above."""
    arrays = _numbers(queries, keys, values)
    if arrays is None:
        return None
    q, k, v = arrays
    if (
        not (q.ndim == k.ndim == v.ndim == 2 and len(k) == len(v) and q.shape[1] == k.shape[1])
        or not (0 < len(q) * len(k) <= FEW and q.size and v.size)
    ):  # fmt: skip
        return None
    weights = q.dot(k.T)
    weights *= scale
    weights -= np.maximum.reduce(weights, 1)[:, None]
    np.exp(weights, weights)
    totals = weights.dot(ONES[q.dtype][: len(k)])
    if not np.minimum.reduce(totals) > 0.5:  # at least 1, unless a score is not finite
        return None
    means = weights.dot(v)
    means /= totals[:, None]
    return like(queries, means)


def _numbers(queries: Any, keys: Any, values: Any) -> Any:
    """The same as arrays of NumPy, of one dtype; None if that is not certain at once."""
    if not type(queries) is type(keys) is type(values):
        return None
    if type(queries) is not np.ndarray:
        torch = sys.modules.get("torch")
        if torch is None or type(queries) is not torch.Tensor:
            return None
        found = None if carries_gradient(queries, keys, values) else views(queries, keys, values)
        if found is None:
            return None
        queries, keys, values = found
    dtype = queries.dtype
    known = dtype is keys.dtype is values.dtype and dtype in FAINT
    return (queries, keys, values) if known else None
