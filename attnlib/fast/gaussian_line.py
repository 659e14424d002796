r"""Gaussian kernel regression on a line in O(n + m), to rounding error.

The sums :math:`\sum_j w_j \exp(-(q - k_j)^2 / 2\sigma^2)` are smooth in q and in k on the scale
of :math:`\sigma`. Cut the line into boxes no wider than that. Inside a pair of boxes, the kernel
is a polynomial of degree 15 in each of the two positions, up to an error that is bounded below:

.. math::
   \exp\bigl(-(D + s - t)^2/2\bigr) \approx \sum_{a, b} C_D[a, b]\, T_a(s)\, T_b(t),

with the Chebyshev polynomials T and the distance D of the two centres. So each box of keys is
known by 16 *moments* :math:`\sum_j w_j T_b(t_j)`; the matrices C carry them to the boxes of the
queries that are near; a query evaluates one polynomial. Only boxes that hold a point are stored,
and only a stretch of the line at a time.

The error is checked query by query. Cramér's inequality
:math:`|He_{16}(x)|\, e^{-x^2/4} \le 1.09 \sqrt{16!}` bounds the sixteenth derivative of the
Gaussian, hence the error of interpolation at 16 Chebyshev nodes in both positions, on intervals
of width 1, by :math:`5 \cdot 10^{-16} e^{-x^2/4}` with x the least distance in the pair; rounding
is bounded by the sum of ``|C|``; boxes out of reach count whole. Each bound, times the mass in the
box, adds up to what a query may be wrong by. Where that is more than a tiny part of the sum itself
(in a gap, far outside, beside a huge value) the query is answered by `windows` instead.

Sources: L. Greengard and J. Strain, "The fast Gauss transform", SIAM J. Sci. Stat. Comput. 12
(1991), 79-94; W. Fong and E. Darve, "The black-box fast multipole method", J. Comput. Phys. 228
(2009), 8712-8725.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnlib.fast import windows
from attnlib.fast.ranges import Floats, Indices

ORDER = 16
REACH = 9.0  # in bandwidths: what is further away weighs less than 1e-17
CERTAIN = 38.7  # in bandwidths: what is further away is 0 in float64
TOLERANCE = 1e-13  # of the mass that counts
POINTS = 1 << 12  # points whose polynomials fit in cache
STRETCH = 1 << 10  # boxes of keys at a time
EXACT = 2.0**50  # box numbers up to this leave room for the place in the box
CROWD = 64  # keys in a window above which boxes are cheaper than the window
BUSY = 24  # points in a box above which it pays to treat boxes one by one


class Boxes(NamedTuple):
    """Sorted points, cut into the boxes that hold them."""

    points: Floats
    width: float  # a power of two, so that dividing by it is exact
    ids: Floats  # number of each occupied box
    starts: Indices  # its first point; at last the number of points

    @classmethod
    def cut(cls, points: Floats, width: float) -> Boxes:
        """Cut sorted points into boxes."""
        number = np.floor(points / width)
        starts = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
        return cls(points, width, number[starts], np.append(starts, points.size))

    def chunks(self, first: int, last: int) -> Iterator[tuple[slice, Indices, Indices, Floats]]:
        """Boxes first:last a few at a time: points, box of each cut, cuts, polynomials (16, k)."""
        end = int(self.starts[last])
        for a in range(int(self.starts[first]), end, POINTS):
            b = min(a + POINTS, end)
            box = int(np.searchsorted(self.starts, a, "right")) - 1
            stop = int(np.searchsorted(self.starts, b, "left"))
            cuts = np.maximum(self.starts[box : stop + 1], a) - a
            cuts[-1] = b - a
            place = self.points[a:b] / self.width
            yield slice(a, b), np.arange(box, stop), cuts, chebyshev(2 * (place % 1) - 1)


def chebyshev(x: Floats) -> Floats:
    """T_0(x), ..., T_15(x): (ORDER, len(x))."""
    t = np.empty((ORDER, x.size))
    t[0], t[1] = 1, x
    twice = 2 * x
    for i in range(2, ORDER):
        np.multiply(twice, t[i - 1], out=t[i])
        t[i] -= t[i - 2]
    return t


def columns(values: Floats) -> Floats:
    """What is summed: 1, the values and their sizes, (1 + 2p, m) for values (p, m)."""
    return np.concatenate((np.ones((1, values.shape[1])), values, np.abs(values)))


def moments(keys: Boxes, values: Floats, first: int, last: int) -> Floats:
    """Moments of each column in the boxes first:last, (boxes, columns, ORDER)."""
    out = np.zeros((last - first, 1 + 2 * len(values), ORDER))
    for points, box, cuts, t in keys.chunks(first, last):
        weights = columns(values[:, points])
        if t.shape[1] > BUSY * box.size:
            for b, i, j in zip((box - first).tolist(), cuts, cuts[1:], strict=False):
                out[b] += weights[:, i:j] @ t[:, i:j].T
        else:
            for c, weight in enumerate(weights):
                out[box - first, c] += np.add.reduceat(t * weight, cuts[:-1], axis=1).T
    return out


def evaluate(queries: Boxes, local: Floats, first: int, last: int) -> Floats:
    """Values (columns, queries) of the polynomials (boxes, columns, ORDER) of boxes first:last."""
    base = queries.starts[first]
    out = np.empty((local.shape[1], queries.starts[last] - base))
    for points, box, cuts, t in queries.chunks(first, last):
        at = out[:, points.start - base : points.stop - base]
        if t.shape[1] > BUSY * box.size:
            for b, i, j in zip((box - first).tolist(), cuts, cuts[1:], strict=False):
                np.matmul(local[b], t[:, i:j], out=at[:, i:j])
        else:
            which = np.repeat(box - first, np.diff(cuts))
            at[:] = np.einsum("nco,on->cn", local[which], t)
    return out


class Translation(NamedTuple):
    """How the moments of a box reach the box ``offset`` boxes to the right of it."""

    offset: int
    bound: float  # of the error, for a mass of 1
    matrix: Floats | None  # C, transposed; None where it is too small to matter


def translations(width: float) -> list[Translation]:
    """All translations between boxes of ``width`` bandwidths."""
    # T_a(cos x) = cos(a x); whole turns taken off, so that cosines are exact to rounding.
    odd = 2 * np.arange(ORDER) + 1
    nodes = np.cos(odd * (np.pi / (2 * ORDER)))
    turns = np.arange(ORDER)[:, None] * odd % (4 * ORDER)
    analysis = np.cos(turns * (np.pi / (2 * ORDER))) * (2 / ORDER)
    analysis[0] /= 2
    within = (nodes[:, None] - nodes) * (width / 2)
    far = math.ceil(CERTAIN / width) + 1
    offsets = np.arange(-far, far + 1)
    nearest = np.maximum(np.abs(offsets) - 1, 0) * width
    bounds = np.exp(-nearest * nearest / 2)
    heard = nearest <= REACH
    centres = offsets[heard, None, None] * width
    c = analysis @ np.exp(-((centres + within) ** 2) / 2) @ analysis.T
    rounding = 16 * np.finfo(float).eps * np.abs(c).sum((1, 2))
    bounds[heard] = 5e-16 * np.exp(-(nearest[heard] ** 2) / 4) + rounding
    matrices = iter(np.ascontiguousarray(c.transpose(0, 2, 1)))
    return [
        Translation(offset, bound, next(matrices) if near else None)
        for offset, bound, near in zip(
            offsets.tolist(), bounds.tolist(), heard.tolist(), strict=True
        )
    ]


def carry(
    wanted: Floats, ids: Floats, source: Floats, steps: list[Translation]
) -> tuple[Floats, Floats]:
    """Polynomials of the boxes ``wanted``, (boxes, columns, ORDER), and the bound of their errors.

    The moments of the boxes ``ids`` are ``source``. Errors, (boxes, 1 + p), are those of the
    column of ones and of the sizes, to which the values' own are bounded too.
    """
    p = source.shape[1] // 2
    mass = source[:, [0, *range(1 + p, 1 + 2 * p)], 0]
    # Where few boxes are missing it is faster to treat all of them as there.
    heard, spoken = (int(min(x[-1] - x[0], 1e9)) + 1 for x in (wanted, ids))
    dense = heard <= 2 * wanted.size and spoken <= 2 * ids.size
    place: Indices | slice = slice(None)
    if dense:
        place = (wanted - wanted[0]).astype(np.intp)
        all_source, all_mass = np.zeros((spoken, *source.shape[1:])), np.zeros((spoken, 1 + p))
        at = (ids - ids[0]).astype(np.intp)
        all_source[at], all_mass[at] = source, mass
        source, mass = all_source, all_mass
    local = np.zeros((heard if dense else wanted.size, *source.shape[1:]))
    error = np.zeros((len(local), 1 + p))
    if dense:  # the bounds of all steps at once
        bounds = np.array([step.bound for step in steps])
        ahead = int(wanted[0] - ids[0]) + steps[-1].offset  # of the first box, in the convolution
        at = np.arange(ahead, ahead + heard)
        inside = (at >= 0) & (at < spoken + bounds.size - 1)
        for c in range(1 + p):
            error[inside, c] = np.convolve(mass[:, c], bounds)[at[inside]]
    for step in steps:
        if dense and step.matrix is None:
            continue
        found: Indices | slice
        if dense:
            first = int(wanted[0] - ids[0]) - step.offset
            found = slice(max(0, -first), min(heard, spoken - first))
            if found.start >= found.stop:
                continue
            near: Indices | slice = slice(found.start + first, found.stop + first)
        else:
            near = np.searchsorted(ids, wanted - step.offset)
            found = np.flatnonzero(ids[np.minimum(near, ids.size - 1)] == wanted - step.offset)
            near = near[found]
        if not dense:
            error[found] += step.bound * mass[near]
        if step.matrix is not None:
            rows = source[near].reshape(-1, ORDER) @ step.matrix
            local[found] += rows.reshape(-1, *source.shape[1:])
    return local[place], error[place]


def gaussian_means(
    queries: Floats, keys: Floats, values: Floats, bandwidth: float, *, own: bool = True
) -> Floats:
    """Gaussian-weighted means of the values at sorted queries.

    Parameters
    ----------
    queries : array (n,)
        Sorted.
    keys : array (m,)
        Sorted, finite; all three in float64.
    values : array (p, m)
        One row a component, finite, with sums that do not overflow.
    bandwidth : float
        At least the smallest normal number.
    own : bool
        With False, queries are the keys, and each leaves its own pair out.

    Returns
    -------
    array (p, n)
        Off by at most 1e-12 of the mean of ``|v|`` with the same weights, or of the smallest
        ``|v|`` that is not 0, whichever is larger.
    """
    sizes = np.where(values == 0, np.inf, np.abs(values)).min(1, keepdims=True)
    floor = np.where(np.isinf(sizes), 0.0, sizes)
    index = None if own else np.arange(keys.size)
    if windows.crowd(queries, keys, REACH * bandwidth) <= CROWD:
        return windows.gaussian_means(queries, keys, values, bandwidth, index, floor)
    means, sure = _through_boxes(queries, keys, values, bandwidth, own, floor)
    rest = np.flatnonzero(~sure)
    if rest.size:
        means[:, rest] = windows.gaussian_means(
            queries[rest], keys, values, bandwidth, None if own else rest, floor
        )
    return means


def _through_boxes(
    queries: Floats, keys: Floats, values: Floats, bandwidth: float, own: bool, floor: Floats
) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Means (p, n), and which queries may trust them."""
    p = len(values)
    width = 2.0 ** math.floor(math.log2(bandwidth))
    steps = translations(width / bandwidth)
    far = steps[-1].offset
    key_boxes, query_boxes = Boxes.cut(keys, width), Boxes.cut(queries, width)
    ids = query_boxes.ids
    # Boxes of keys from which a box of queries can hear.
    lo = np.searchsorted(key_boxes.ids, ids - far, "left")
    hi = np.searchsorted(key_boxes.ids, ids + far, "right")
    means = np.zeros((p, queries.size))
    sure = np.zeros(queries.size, dtype=np.bool_)
    first = 0
    while first < ids.size:
        last = max(int(np.searchsorted(hi, lo[first] + STRETCH, "right")), first + 1)
        last = min(last, first + STRETCH)
        near = slice(lo[first], hi[last - 1])
        if near.start < near.stop:
            source = moments(key_boxes, values, near.start, near.stop)
            local, error = carry(ids[first:last], key_boxes.ids[near], source, steps)
            stretch = slice(query_boxes.starts[first], query_boxes.starts[last])
            sums = evaluate(query_boxes, local, first, last)
            if not own:
                sums -= columns(values[:, stretch])
            error = np.repeat(error.T, np.diff(query_boxes.starts[first : last + 1]), axis=1)
            ones, sizes = sums[0], sums[1 + p :]
            good = (error[0] < TOLERANCE * ones) & (np.abs(queries[stretch]) < EXACT * width)
            good &= np.all(error[1:] <= TOLERANCE * (sizes + floor * ones), axis=0)
            sure[stretch] = good
            np.divide(sums[1 : 1 + p], ones, where=good, out=means[:, stretch])
        first = last
    return means, sure
