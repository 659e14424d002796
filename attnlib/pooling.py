"""Weights from scores or from kernels, and the pooling that uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attnlib import _checks
from attnlib.frameworks import namespace, stop_gradient, widen
from attnlib.kernels import KERNELS
from attnlib.scores import dot_product, scaled_squares


def softmax_weights(scores: Any, *, mask: Any = None, empty: str = "zero") -> Any:
    """Softmax over the keys, shifted; ``mask`` True = may be used."""
    xp = namespace(scores=scores)
    _checks.one_of("empty", empty, ("zero", "average", "nan"))
    (scores,), dtype = widen(xp, scores)
    weights, none = _normalise(xp, _shifted_exp(xp, scores, _usable(mask, scores)))
    return xp.astype(_fill(xp, weights, none, empty, _usable(mask, scores)), dtype, copy=False)


def kernel_weights(
    queries: Any,
    keys: Any,
    bandwidth: Any = 1.0,
    kernel: str = "gaussian",
    *,
    mask: Any = None,
    empty: str = "nearest",
) -> Any:
    """Kernel of distance over bandwidth, normalised over the keys: (..., n, m)."""
    xp, queries, keys = _checks.queries_and_keys(queries, keys)
    _checks.same_width(queries, keys)
    _checks.one_of("kernel", kernel, KERNELS)
    _checks.one_of("empty", empty, ("nearest", "average", "zero", "nan"))
    (queries, keys), dtype = widen(xp, queries, keys)
    squares = scaled_squares(xp, queries, keys, _checks.bandwidth_for(xp, bandwidth, keys))
    usable = _usable(mask, keys)
    if kernel == "gaussian":
        similarity = _shifted_exp(xp, -squares / 2, usable)
    else:
        positive = squares > 0
        u = xp.where(positive, xp.sqrt(xp.where(positive, squares, xp.ones_like(squares))), squares)
        similarity = KERNELS[kernel](u)
        if usable is not None:
            similarity = xp.where(usable, similarity, xp.zeros_like(similarity))
    weights, none = _normalise(xp, similarity)
    if empty == "nearest":
        distances = stop_gradient(queries[..., :, None, :] - keys[..., None, :, :])
        closeness = -xp.sum(distances * distances, axis=-1)
        if usable is not None:
            closeness = xp.where(usable, closeness, xp.full_like(closeness, -xp.inf))
        nearest = nearest_weights(closeness)
        weights = xp.where(none, nearest, weights)
    else:
        weights = _fill(xp, weights, none, empty, usable)
    return xp.astype(weights, dtype, copy=False)


def nearest_weights(scores: Any) -> Any:
    """One-hot at the largest score of each row; ties share equally."""
    xp = namespace(scores=scores)
    best = xp.astype(scores == xp.max(scores, axis=-1, keepdims=True), scores.dtype)
    return best / xp.sum(best, axis=-1, keepdims=True)


def average_weights(scores: Any) -> Any:
    """Uniform weights of the shape of the scores."""
    xp = namespace(scores=scores)
    return xp.ones_like(scores) / scores.shape[-1]


def pool(weights: Any, values: Any) -> Any:
    """Weighted sum of the values: (..., n, d_v), or (..., n) for scalar values."""
    xp = namespace(weights=weights, values=values)
    (weights, values), dtype = widen(xp, weights, values)
    scalar = values.ndim < max(weights.ndim, 2)
    m = weights.shape[-1]
    if values.shape[-1 if scalar else -2] != m:
        raise ValueError(
            f"values: expected one for each of {m} keys, got {_checks.describe(values)} "
            f"for weights of {_checks.describe(weights)}"
        )
    pooled = (weights @ values[..., None])[..., 0] if scalar else weights @ values
    return xp.astype(pooled, dtype, copy=False)


def attention(
    queries: Any,
    keys: Any,
    values: Any,
    *,
    score: Callable[[Any, Any], Any] = dot_product,
    mask: Any = None,
    empty: str = "zero",
) -> Any:
    """``pool(softmax_weights(score(queries, keys)), values)``."""
    xp = namespace(queries=queries, keys=keys, values=values)
    (queries, keys, values), dtype = widen(xp, queries, keys, values)
    weights = softmax_weights(score(queries, keys), mask=mask, empty=empty)
    return xp.astype(pool(weights, values), dtype, copy=False)


def _usable(mask: Any, like: Any) -> Any:
    if mask is not None:
        _checks.mask_for(mask, like)
    return mask


def _shifted_exp(xp: Any, scores: Any, usable: Any) -> Any:
    """exp(score - largest score of the row), 0 for a masked key."""
    if usable is not None:
        scores = xp.where(usable, scores, xp.full_like(scores, -xp.inf))
    top = stop_gradient(xp.max(scores, axis=-1, keepdims=True))
    return xp.exp(scores - xp.where(xp.isfinite(top), top, xp.zeros_like(top)))


def _normalise(xp: Any, similarity: Any) -> tuple[Any, Any]:
    """Rows over their sums, and which rows have none."""
    total = xp.sum(similarity, axis=-1, keepdims=True)
    none = total == 0
    return similarity / xp.where(none, xp.ones_like(total), total), none


def _fill(xp: Any, weights: Any, none: Any, empty: str, usable: Any) -> Any:
    """What a row without weight becomes."""
    value = {"zero": 0.0, "average": 1 / weights.shape[-1], "nan": xp.nan}[empty]
    return xp.where(none, xp.full_like(weights, value), weights)
