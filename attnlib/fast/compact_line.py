"""Boxcar, triangular and constant kernels on a line: sums over windows of sorted keys.

The window of a query is found in O(log m), the sums over it by `ranges`. Membership is decided by
the arithmetic of the plain definition, ``|q - k| / radius <= 1`` as rounded in the dtype of the
keys, so that a key on the edge of a boxcar is in or out as it would be there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attnlib.fast.ranges import Floats, Indices, ramp_sums, range_sums


def compact_means(
    queries: Any, keys: Any, values: Floats, radius: float, kernel: str, empty: str, own: bool
) -> Floats:
    """Means (p, n) at queries (n,) of values (p, m) at sorted keys (m,).

    With ``own`` False the queries are the keys, and each leaves its own pair out. What an ``empty``
    window gives is said in `attnlib.pooling`.
    """
    weights = np.concatenate((np.ones((1, keys.size)), values))
    index = np.arange(queries.size)

    def ranges(lo: Indices, hi: Indices, which: Any = slice(None)) -> Floats:
        """Plain sums over lo:hi, the query's own pair left out."""
        if own:
            return range_sums(weights, lo, hi)
        here = index[which]
        return range_sums(weights, lo, here) + range_sums(weights, here + 1, hi)

    all_ = np.zeros_like(index), np.full_like(index, keys.size)
    if kernel == "constant":
        sums = ranges(*all_)
    elif kernel == "boxcar":
        sums = ranges(*window(queries, keys, radius))
    else:
        q, k = (x.astype(np.float64, copy=False) for x in (queries, keys))
        lo, hi = window(q, k, radius)
        middle = np.clip(np.searchsorted(k, q, "right"), lo, hi)
        left, right = (middle, middle) if own else (index, index + 1)
        sums = ramp_sums(weights, lo, left, k, q, radius)
        sums += ramp_sums(weights, right, hi, k, q, -radius)
    none = np.flatnonzero(sums[0] == 0)
    if none.size and empty == "nearest":
        distance = _nearest(queries, keys, own)[none]
        lo, hi = window(queries[none], keys, distance)
        sums[:, none] = ranges(lo, hi, none)
    elif none.size and empty == "average":
        sums[:, none] = ranges(all_[0][none], all_[1][none], none)
    elif none.size:
        sums[0, none] = np.nan if empty == "nan" else 1
    return sums[1:] / sums[0]  # type: ignore[no-any-return]


def window(queries: Any, keys: Any, radius: Any) -> tuple[Indices, Indices]:
    """Range of the sorted keys with ``|q - k| / radius <= 1``, for one radius or one a query."""
    lo = np.searchsorted(keys, queries - radius, "left")
    hi = np.searchsorted(keys, queries + radius, "right")

    def inside(at: Indices) -> Any:
        return np.abs(queries - keys[np.clip(at, 0, keys.size - 1)]) / radius <= 1

    def run(at: Indices, side: Any) -> Indices:
        """End of the run of keys equal to that one."""
        ends: Indices = np.searchsorted(keys, keys[np.clip(at, 0, keys.size - 1)], side)
        return ends

    while True:  # q - radius may round across a key (or a run of equal ones)
        down = (lo > 0) & inside(lo - 1)
        up = (lo < hi) & ~inside(lo)
        more = (hi < keys.size) & inside(hi)
        less = (lo < hi) & ~inside(hi - 1)
        if not (down | up | more | less).any():
            return lo, np.maximum(lo, hi)
        lo = np.where(down, run(lo - 1, "left"), np.where(up, run(lo, "right"), lo))
        hi = np.where(more, run(hi, "right"), np.where(less, run(hi - 1, "left"), hi))


def _nearest(queries: Any, keys: Any, own: bool) -> Any:
    """Distance to the nearest key, the query's own left out where it has one."""
    right = np.searchsorted(keys, queries) if own else np.arange(keys.size) + 1
    left = right - 1 if own else right - 2
    far = np.asarray(np.inf, keys.dtype)
    below = np.where(left >= 0, queries - keys[np.maximum(left, 0)], far)
    above = np.where(right < keys.size, keys[np.minimum(right, keys.size - 1)] - queries, far)
    return np.minimum(below, above)
