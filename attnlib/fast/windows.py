r"""Gaussian means over the keys near each query, on a line: exact, and cheap where few are near.

Weights are taken relative to that of the nearest key :math:`k_0`,

.. math::
   \exp\Bigl(-\frac{(k - q)^2 - (k_0 - q)^2}{2\sigma^2}\Bigr)
   = \exp\Bigl(-\frac12 \frac{k - k_0}{\sigma} \cdot \frac{(k - q) + (k_0 - q)}{\sigma}\Bigr),

so the largest is 1 however far the query, and as a product neither squares overflow nor digits
cancel. A key is left out where that is below :math:`e^{-50}/m`. Beside values that differ by many
orders of magnitude it could matter all the same; the mass that was left out bounds its effect, and
where that is not small the query is done again with a wider window.
"""

from __future__ import annotations

import numpy as np

from attnlib.fast.ranges import Floats, Indices, range_sums

ENTRIES = 1 << 16  # pairs at a time
SMALL = 1e-14  # of the mass that counts, what may be left out
UNDERFLOW = 746.0  # exp(-746) is 0


def crowd(queries: Floats, keys: Floats, reach: float) -> float:
    """Mean number of sorted keys within reach of a query."""
    hi = np.searchsorted(keys, queries + reach, "right")
    lo = np.searchsorted(keys, queries - reach, "left")
    return float((hi - lo).mean())


def gaussian_means(
    queries: Floats,
    keys: Floats,
    values: Floats,
    bandwidth: float,
    own: Indices | None = None,
    floor: Floats | float = 0.0,
) -> Floats:
    """Means (p, n) at sorted or unsorted queries (n,) of values (p, m) at sorted keys (m,).

    Query i does not see key ``own[i]``, at which it lies. ``floor`` (p, 1) is what counts as a
    mean of ``|v|`` that is not small.
    """
    weights = np.concatenate((np.ones((1, keys.size)), values, np.abs(values)))
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    twins = None
    if starts.size < keys.size:  # equal keys become one, or windows would be crowded for nothing
        if own is not None:
            group = np.searchsorted(starts, own, "right") - 1
            ends = np.append(starts[1:], keys.size)
            twins = range_sums(weights, starts[group], own)
            twins += range_sums(weights, own + 1, ends[group])
            own = group
        weights = np.add.reduceat(weights, starts, axis=1)
        keys = keys[starts]
    sums = _sums(queries, keys, weights, bandwidth, own, twins, floor)
    return sums[1 : 1 + len(values)] / sums[0]  # type: ignore[no-any-return]


def _sums(
    queries: Floats,
    keys: Floats,
    weights: Floats,
    bandwidth: float,
    own: Indices | None,
    twins: Floats | None,
    floor: Floats | float,
) -> Floats:
    """Sums (c, n) of weights (c, m), over windows that are wide enough.

    The key of a query that leaves its own pair out is skipped; the sums over the other pairs at the
    same place are ``twins``.
    """
    nearest = _nearest(queries, keys, own)
    if twins is not None:
        nearest = np.where(twins[0] > 0, queries, nearest)
    p = len(weights) // 2
    mass = weights[1 + p :].sum(1, keepdims=True)
    slack = np.full(queries.size, 50 + np.log(keys.size))
    sums = np.empty((len(weights), queries.size))
    todo = np.arange(queries.size)
    while todo.size:
        # The window holds the nearest key in spite of rounding, hence the last term.
        reach = np.hypot(nearest[todo] - queries[todo], np.sqrt(2 * slack[todo]) * bandwidth)
        reach += 4 * np.spacing(np.abs(queries[todo]) + reach)
        lo = np.searchsorted(keys, queries[todo] - reach, "left")
        hi = np.searchsorted(keys, queries[todo] + reach, "right")
        mine = None if own is None else own[todo]
        sums[:, todo] = _ragged(
            queries[todo], keys, weights, bandwidth, nearest[todo], lo, hi, mine
        )
        if twins is not None:
            sums[:, todo] += twins[:, todo]
        counts = sums[1 + p :, todo] + floor * sums[0, todo]
        with np.errstate(divide="ignore"):  # 0/0: there is nothing to lose
            needed = np.log(np.fmax.reduce(mass / (SMALL * counts), axis=0, initial=0.0))
        unsure = (needed > slack[todo]) & (slack[todo] < UNDERFLOW)
        unsure &= (lo > 0) | (hi < keys.size)
        todo = todo[unsure]
        slack[todo] = np.minimum(needed[unsure] + 1, UNDERFLOW)
    return sums


def _nearest(queries: Floats, keys: Floats, own: Indices | None) -> Floats:
    """Position of the sorted key nearest to each query, its own left out where it has one."""
    right = np.searchsorted(keys, queries) if own is None else own + 1
    left = right - 1 if own is None else own - 1
    below, above = keys[np.maximum(left, 0)], keys[np.minimum(right, keys.size - 1)]
    use_left = (right == keys.size) | ((left >= 0) & (queries - below <= above - queries))
    nearest: Floats = np.where(use_left, below, above)
    return nearest


def _ragged(
    queries: Floats,
    keys: Floats,
    weights: Floats,
    bandwidth: float,
    nearest: Floats,
    lo: Indices,
    hi: Indices,
    own: Indices | None,
) -> Floats:
    """Sums over keys lo[i]:hi[i], some pairs at a time."""
    out = np.zeros((len(weights), queries.size))
    ends = np.cumsum(hi - lo)
    first = 0
    while first < queries.size:
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + ENTRIES, "right")), first + 1)
        for a in range(before, int(ends[last - 1]), 4 * ENTRIES):  # one query may see every key
            b = min(a + 4 * ENTRIES, int(ends[last - 1]))
            count = np.diff(np.clip(ends[first:last], a, b), prepend=a)
            row = np.repeat(np.arange(first, last), count)
            column = np.arange(a, b) + (hi - ends)[row]
            q, near, key = queries[row], nearest[row], keys[column]
            far = (key - q) + (near - q)
            s = np.exp(-0.5 * ((key - near) / bandwidth) * (far / bandwidth))
            s[(key == near) | (far == 0)] = 1  # 0 times what may overflow
            if own is not None:
                s[column == own[row]] = 0
            cuts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
            for c, weight in enumerate(weights):
                out[c, row[cuts]] += np.add.reduceat(s * weight[column], cuts)
        first = last
    return out
