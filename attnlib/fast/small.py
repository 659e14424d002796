"""The plain expression, for small problems in their usual forms.

At the size of the section, 50 queries and 40 keys, the formula takes some ten microseconds. To
check the arguments of the general function takes longer; here they are only recognised: arrays of
one framework and precision, scalar positions or rows of vectors, no mask or a full one.

NumPy's arrays take the formula in place; PyTorch's tensors too, as NumPy's for the while, if it is
a kernel and no gradient is recorded. Else they take the softmax of the scores. Neither has an
answer for a query without weight, nor for numbers that are not finite: such a result is thrown
away, and the general function asked. JAX's arrays take a compiled program, see `jax_small`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from math import isfinite, nan
from typing import Any

import numpy as np

from attnlib.fast.choice import carries_gradient, like, views
from attnlib.frameworks import dtype_name
from attnlib.kernels import KERNELS

FEW = 1 << 16  # pairs
FAINT = {np.dtype("float32"): 1e-20, np.dtype("float64"): 1e-100}  # digits may be missing below
ONES = {dtype: np.ones(FEW, dtype) for dtype in FAINT}  # a product with them is the fastest sum
NUMBERS = {float, int, np.float64, np.float32}
NAMES = tuple(KERNELS)
USUAL = 1e-10, 1e10  # bandwidths whose squares are far from the ends of float32


def kernel_means(
    queries: Any, keys: Any, values: Any, mask: Any, bandwidth: Any, kernel: str
) -> Any:
    """Kernel means; None if the case needs more than that."""
    owner = _owner(queries, keys, values, mask)
    number = _number(bandwidth, owner)
    if owner is None or kernel not in NAMES or not USUAL[0] < number < USUAL[1]:
        return None
    if owner == "jax":
        return _jax().kernel_means(queries, keys, values, mask, number, kernel)
    if not is_usual(queries, keys, values, mask, 1):
        return None
    if owner == "numpy":
        return _numpy_kernel_means(queries, keys, values, mask, number, kernel)
    bandwidth = number if type(bandwidth) in NUMBERS else bandwidth
    return _torch_kernel_means(queries, keys, values, mask, bandwidth, kernel)


def dot_means(queries: Any, keys: Any, values: Any, mask: Any, scale: float) -> Any:
    """Means by the softmax of scaled dot products; None as above."""
    owner = _owner(queries, keys, values, mask)
    if owner == "jax":
        return _jax().dot_means(queries, keys, values, mask, scale)
    if owner is None or not is_usual(queries, keys, values, mask, 2):
        return None
    if owner == "numpy":
        return _numpy_dot_means(queries, keys, values, mask, scale)
    return _torch_dot_means(queries, keys, values, mask, scale)


def _owner(queries: Any, keys: Any, values: Any, mask: Any) -> str | None:
    """Framework of a small problem; None if it is large, or if that is not certain at once."""
    kind = type(queries)
    if not (kind is type(keys) is type(values) and (mask is None or kind is type(mask))):
        return None
    owner = _owner_of(kind)  # type: ignore[arg-type]  # a type is hashable
    if owner is None or (owner == "torch" and not _is_eager(queries)):
        return None
    n, m = queries.shape, keys.shape
    return owner if len(n) == len(m) in (1, 2) and 0 < n[0] * m[0] <= FEW else None


def _is_eager(tensor: Any) -> bool:
    """Whether PyTorch computes at once, in the processor's memory."""
    return tensor.is_cpu and not sys.modules["torch"].compiler.is_compiling()


@cache
def _owner_of(kind: Any) -> str | None:
    """Framework whose arrays are of a type."""
    if kind is np.ndarray:
        return "numpy"
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch and kind in (torch.Tensor, torch.nn.Parameter):
        return "torch"
    return "jax" if jax and issubclass(kind, jax.Array | jax.core.Tracer) else None


@cache
def _jax() -> Any:
    return import_module("attnlib.fast.jax_small")


def is_usual(queries: Any, keys: Any, values: Any, mask: Any, axes: int) -> bool:
    """Whether they have so many axes and one usual precision, and the mask, if any, is full."""
    n, m, p, dtype = queries.shape, keys.shape, values.shape, queries.dtype
    return (
        len(n) == len(p) == axes
        and n[1:] == m[1:]
        and m[0] == p[0]
        and dtype == keys.dtype == values.dtype
        and dtype_name(queries) in ("float32", "float64")
        and (mask is None or (mask.shape == (n[0], m[0]) and dtype_name(mask) == "bool"))
    )


def _number(bandwidth: Any, owner: str | None) -> float:
    """The bandwidth; NaN if it is not a single number, or not known."""
    if type(bandwidth) in NUMBERS:
        return float(bandwidth)
    if owner == "torch" and isinstance(bandwidth, sys.modules["torch"].Tensor):
        return _item(bandwidth) if bandwidth.ndim == 0 else nan
    return nan


def _item(tensor: Any) -> float:
    """The number in a tensor of PyTorch; NaN where a transformation hides it."""
    try:
        return float(tensor.item())
    except RuntimeError:
        return nan


@np.errstate(over="ignore", invalid="ignore")
def _numpy_kernel_means(q: Any, k: Any, v: Any, mask: Any, bandwidth: float, kernel: str) -> Any:
    weights = q[:, None] - k
    if kernel == "gaussian":
        weights *= weights
        weights *= -0.5 / (bandwidth * bandwidth)
        np.exp(weights, weights)
    elif kernel == "boxcar":
        if not isfinite(k.dot(k)):  # a comparison would hide NaN
            return None
        weights /= bandwidth
        np.less_equal(np.abs(weights, weights), 1, weights)
    elif kernel == "triangular":
        weights /= bandwidth
        np.subtract(1, np.abs(weights, weights), weights)
        np.maximum(weights, 0, out=weights)
    else:
        weights.fill(1)
    return _numpy_means(weights, mask, v)


@np.errstate(over="ignore", invalid="ignore")
def _numpy_dot_means(q: Any, k: Any, v: Any, mask: Any, scale: float) -> Any:
    weights = q.dot(k.T)
    weights *= scale
    weights -= np.maximum.reduce(weights, 1)[:, None]
    return _numpy_means(np.exp(weights, weights), mask, v)


def _numpy_means(weights: Any, mask: Any, values: Any) -> Any:
    """Weighted means; None if a row has no weight, or one that is not finite."""
    if mask is not None:
        weights *= mask
    totals = weights.dot(ONES[weights.dtype][: len(values)])
    if not np.minimum.reduce(totals) > FAINT[weights.dtype]:  # so also for NaN
        return None
    means = weights.dot(values)
    means /= totals if means.ndim == 1 else totals[:, None]
    return means


def _torch_kernel_means(q: Any, k: Any, v: Any, mask: Any, bandwidth: Any, kernel: str) -> Any:
    if type(bandwidth) is float and not carries_gradient(q, k, v):
        found = views("torch", q, k, v) if mask is None else views("torch", q, k, v, mask)
        if found is None:
            return None
        q_, k_, v_, *rest = found
        means = _numpy_kernel_means(q_, k_, v_, rest[0] if rest else None, bandwidth, kernel)
        return None if means is None else like(q, means)
    if kernel != "gaussian":
        return None
    gaps = (q[:, None] - k) * (1 / bandwidth)
    return _torch_means(gaps.square() * -0.5, mask, v)


def _torch_dot_means(q: Any, k: Any, v: Any, mask: Any, scale: float) -> Any:
    # Scaled in one step: a step more takes as long as the product.
    scores = sys.modules["torch"].addmm(_nothing(q.dtype), q, k.T, beta=0, alpha=scale)
    return _torch_means(scores, mask, v)


@cache
def _nothing(dtype: Any) -> Any:
    return sys.modules["torch"].zeros(1, dtype=dtype)


def _torch_means(scores: Any, mask: Any, values: Any) -> Any:
    """Means by the softmax of the scores; None if one is not finite."""
    torch = sys.modules["torch"]
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    means = torch.softmax(scores, 1) @ values
    return means if isfinite(_item(means.sum())) else None
