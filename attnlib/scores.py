"""Scores a(q, k): how well a query and a key go together, before any normalisation."""

from __future__ import annotations

from typing import Any

from attnlib import _checks
from attnlib.frameworks import namespace, widen


def dot_product(queries: Any, keys: Any, *, scale: float = 1.0) -> Any:
    """``scale * q.k`` for each query and key: (..., n, m)."""
    xp, queries, keys = _checks.queries_and_keys(queries, keys)
    _checks.same_width(queries, keys)
    (queries, keys), dtype = widen(xp, queries, keys)
    return xp.astype(scale * (queries @ xp.matrix_transpose(keys)), dtype, copy=False)


def bilinear(queries: Any, keys: Any, matrix: Any) -> Any:
    """``q^T M k`` for each query and key: (..., n, m)."""
    xp, queries, keys = _checks.queries_and_keys(queries, keys)
    namespace(queries=queries, matrix=matrix)
    expected = (queries.shape[-1], keys.shape[-1])
    if tuple(matrix.shape[-2:]) != expected:
        raise ValueError(
            f"matrix: expected shape (d_q, d_k) = {expected}, got {_checks.describe(matrix)}"
        )
    (queries, keys, matrix), dtype = widen(xp, queries, keys, matrix)
    return xp.astype(queries @ matrix @ xp.matrix_transpose(keys), dtype, copy=False)


def squared_distance(queries: Any, keys: Any, bandwidth: Any = 1.0) -> Any:
    """``-|q - k|^2 / (2 bandwidth^2)`` for each query and key: (..., n, m)."""
    xp, queries, keys = _checks.queries_and_keys(queries, keys)
    _checks.same_width(queries, keys)
    (queries, keys), dtype = widen(xp, queries, keys)
    bandwidth = _checks.bandwidth_for(xp, bandwidth, keys)
    return xp.astype(-scaled_squares(xp, queries, keys, bandwidth) / 2, dtype, copy=False)


def scaled_squares(xp: Any, queries: Any, keys: Any, bandwidth: Any) -> Any:
    """|q - k|^2 / bandwidth^2. Subtract, scale, square: no cancellation, no early underflow."""
    if not isinstance(bandwidth, float):
        bandwidth = bandwidth[..., None]
    scaled = (queries[..., :, None, :] - keys[..., None, :, :]) / bandwidth
    return xp.sum(scaled * scaled, axis=-1)


def metric(queries: Any, keys: Any, matrix: Any) -> Any:
    """``-|W (q - k)|^2 / 2``, W (d_k,) diagonal or (r, d_k): (..., n, m)."""
    xp, queries, keys = _checks.queries_and_keys(queries, keys)
    _checks.same_width(queries, keys)
    namespace(queries=queries, matrix=matrix)
    (queries, keys, matrix), dtype = widen(xp, queries, keys, matrix)
    differences = queries[..., :, None, :] - keys[..., None, :, :]
    if matrix.ndim == 1:
        images = differences * matrix
    else:
        images = differences @ xp.matrix_transpose(matrix)
    return xp.astype(-xp.sum(images * images, axis=-1) / 2, dtype, copy=False)
