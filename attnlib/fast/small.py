"""The plain expression, for small problems in their most usual form.

At the size of the section, 50 queries and 40 keys, the formula takes ten microseconds. Checking the
arguments of the general function takes longer; here they are only recognised. Tensors of PyTorch
that lie in the processor's memory and carry no gradient are NumPy's for the while.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

FAINT = {np.dtype("float32"): 1e-20, np.dtype("float64"): 1e-100}  # digits may be missing below
FEW = 1 << 16  # pairs
USUAL = 1e-10, 1e10  # bandwidths whose squares are far from the ends of float32


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
    with np.errstate(over="ignore", invalid="ignore"):
        weights = q[:, None] - k
        weights *= weights
        weights *= -0.5 / (bandwidth * bandwidth)
        np.exp(weights, weights)
        totals = np.add.reduce(weights, 1)
        # Also false for NaN. Rows without weight are the general function's.
        if not np.minimum.reduce(totals) > FAINT[q.dtype]:
            return None
        means = weights @ v
        means /= totals
    return _like(queries, means)


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
    with np.errstate(over="ignore", invalid="ignore"):
        weights = q @ k.T
        weights *= scale
        weights -= np.maximum.reduce(weights, 1, keepdims=True)
        np.exp(weights, weights)
        totals = np.add.reduce(weights, 1, keepdims=True)
        if not np.minimum.reduce(totals, None) >= 1:  # a score is not finite
            return None
        means = weights @ v
        means /= totals
    return _like(queries, means)


def _numbers(*arrays: Any) -> Any:
    """The same as arrays of NumPy, of one dtype; None if that is not certain at once."""
    first = arrays[0]
    if type(first) is not np.ndarray:
        torch = sys.modules.get("torch")
        if torch is None or any(type(x) is not torch.Tensor for x in arrays):
            return None
        tracked = torch.is_grad_enabled() and any(x.requires_grad for x in arrays)
        if tracked or torch.compiler.is_compiling():
            return None
        try:
            arrays = tuple(x.detach().numpy() for x in arrays)
        except (RuntimeError, TypeError):  # inside torch.func, on another device, in bfloat16
            return None
    elif any(type(x) is not np.ndarray for x in arrays):
        return None
    dtype = arrays[0].dtype
    return arrays if dtype in FAINT and all(x.dtype is dtype for x in arrays) else None


def _like(array: Any, means: Any) -> Any:
    """The means as what the caller has given."""
    return means if type(array) is np.ndarray else sys.modules["torch"].from_numpy(means)
