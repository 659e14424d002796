"""Kernel regression on a line in O((n + m) log m), for NumPy arrays.

Sorts once, hands over to `gaussian_line` or `compact_line`, and puts the estimates back into the
order of the queries. Computes in float64 whatever the dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.fast.compact_line import compact_means
from attnlib.fast.gaussian_line import gaussian_means
from attnlib.fast.ranges import Floats

LARGEST = 1e290  # beyond, sums might overflow
GROUP = 4  # components of the values at a time


def fits(queries: Any, keys: Any, values: Any) -> bool:
    """Tell whether all numbers are finite, and not so large that their sums might overflow."""
    limit = min(LARGEST, float(np.finfo(keys.dtype).max) / 4)
    q, k, v = (float(np.abs(x).max(initial=0)) for x in (queries, keys, values))  # NaN stays NaN
    return q < limit and k < limit and v * keys.size < LARGEST


def means(
    queries: Any, keys: Any, values: Any, bandwidth: float, kernel: str, empty: str
) -> Floats:
    """Estimates (n, p) at queries (n,) from keys (m,) and values (m, p)."""
    order = _order(keys)
    if order is not None:
        keys, values = keys[order], values[order]
    back = _order(queries)
    if back is None:
        return _sorted_means(queries, keys, values, bandwidth, kernel, empty, True)
    found = np.empty((queries.size, values.shape[1]))
    found[back] = _sorted_means(queries[back], keys, values, bandwidth, kernel, empty, True)
    return found


def left_out(keys: Any, values: Any, bandwidth: float, kernel: str, empty: str) -> Floats:
    """Estimates (m, p) at each of the keys (m,) from all other pairs."""
    order = _order(keys)
    if order is None:
        return _sorted_means(keys, keys, values, bandwidth, kernel, empty, False)
    found = np.empty(values.shape)
    keys, values = keys[order], values[order]
    found[order] = _sorted_means(keys, keys, values, bandwidth, kernel, empty, False)
    return found


def _order(points: Any) -> Any:
    """The order that sorts the points; None where they are sorted."""
    return None if np.all(points[1:] >= points[:-1]) else np.argsort(points, kind="stable")


def _sorted_means(
    queries: Any, keys: Any, values: Any, bandwidth: float, kernel: str, empty: str, own: bool
) -> Floats:
    """The same at sorted queries, a few components of the values at a time."""
    if not queries.size:
        return np.empty((0, values.shape[1]))
    found = []
    for first in range(0, values.shape[1], GROUP):
        rows = np.ascontiguousarray(values[:, first : first + GROUP].T, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite distances weigh 0
            if kernel == "gaussian":
                q, k = (x.astype(np.float64, copy=False) for x in (queries, keys))
                found.append(gaussian_means(q, k, rows, bandwidth, own=own))
            else:
                found.append(compact_means(queries, keys, rows, bandwidth, kernel, empty, own))
    return np.concatenate(found).T
