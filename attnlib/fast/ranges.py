"""Sums over ranges of sorted keys, any number of ranges in O(m log m + n).

Cut the sequence into blocks of 2, 4, 8, ... places. For each range, in one of these divisions, the
middle of a block lies inside the range, and the whole range in the block: the one that belongs to
the highest bit in which the numbers of its first and its last place differ. So the range is a run
that ends at the middle and one that starts there, and running sums from the middle outwards give
both. Nothing is subtracted: a huge weight outside the range leaves no trace, as it would in the
difference of two running sums.

The structure is known as a disjoint sparse table. Sums run in extended precision where the machine
has it, so that their error does not grow with the number of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Indices: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.intp]]


def range_sums(weights: Floats, lo: Indices, hi: Indices) -> Floats:
    """Sums (c, n) of weights (c, m) over places lo:hi, one range a query."""
    out = np.zeros((len(weights), lo.size))
    for which, middle, half in _divisions(lo, hi):
        runs = _Runs(weights.shape[1], lo[which], middle, hi[which], half)
        for c, weight in enumerate(weights):
            out[c, which] = runs.sums(runs.halves(weight))
    return out


def ramp_sums(
    weights: Floats,
    lo: Indices,
    hi: Indices,
    keys: Floats,
    queries: Floats,
    radius: float,
) -> Floats:
    """Sums (c, n) of weight times ``1 - (q - k) / radius``.

    The keys lo:hi lie between q - radius and q; or, with a negative radius, q and q - radius.
    """
    out = np.zeros((len(weights), lo.size))
    for which, middle, half in _divisions(lo, hi):
        # Around the key in the middle of the block, where the ramp is known.
        height = 1 - (queries[which] - keys[middle]) / radius
        runs = _Runs(keys.size, lo[which], middle, hi[which], half)
        moved = runs.halves(keys)
        moved -= keys[runs.middles][:, None, None]
        for c, weight in enumerate(weights):
            heavy = runs.halves(weight)
            out[c, which] = height * runs.sums(heavy) + runs.sums(heavy * moved) / radius
    return out


def _divisions(lo: Indices, hi: Indices) -> Iterator[tuple[Indices, Indices, int]]:
    """For each division: which ranges belong to it, the middles of their blocks, half a block."""
    full = np.flatnonzero(lo < hi)
    bits = np.frexp((lo[full] ^ (hi[full] - 1)).astype(np.float64))[1]
    for bit in np.unique(bits).tolist():
        which = full[bits == bit]
        half = (1 << bit) >> 1  # 0 for a range of one place
        yield which, (lo[which] >> bit << bit) + half, half


class _Runs:
    """Ranges lo:hi with their middles, and the blocks of a division in which they lie."""

    def __init__(self, m: int, lo: Indices, middle: Indices, hi: Indices, half: int) -> None:
        self.left, self.right = middle - lo, hi - middle
        self.half = half
        self.middles, self.block = np.unique(middle, return_inverse=True)
        self.places = self.middles[:, None] + np.arange(-half, max(half, 1))
        self.places[self.places >= m] = m - 1  # never summed

    def halves(self, weight: Floats) -> Floats:
        """Weights as (blocks, 2, half), or (blocks, 1, 1) where a block is one place."""
        halves: Floats = weight[self.places]
        return halves.reshape(self.middles.size, -1, max(self.half, 1))

    def sums(self, halves: Floats) -> Floats:
        """Sums over the ranges, from sums that run from the middles outwards."""
        if self.half == 0:
            return halves[self.block, 0, 0]  # type: ignore[no-any-return]
        before = np.cumsum(halves[:, 0, ::-1], axis=1, dtype=np.longdouble)
        after = np.cumsum(halves[:, 1], axis=1, dtype=np.longdouble)
        found = before[self.block, self.left - 1] + after[self.block, self.right - 1]
        return found.astype(np.float64)  # type: ignore[no-any-return]
