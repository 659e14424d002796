r"""Pooling with Gaussian or dot-product scores for NumPy arrays, a tile of scores at a time.

The matrix of scores is never held. A tile of it, small enough for the cache, is made by one matrix
product, exponentiated in place, and multiplied with the values, to which a column of ones is added:
so numerators and denominators come from one product as well. Threads share out the queries.

*No running maximum.* Gaussian scores are at most 0. A dot product is at most
:math:`|q| \max_j |k_j|` (Cauchy-Schwarz); as much of that as exceeds `BOUND` is subtracted from the
row's scores, so that no exponential overflows. A row whose sum falls so low that underflow could
have cost digits is done again, with its largest score subtracted.

*Gaussian scores by a product.* With positions taken relative to the centre of the keys,

.. math:: -\frac{|q - k|^2}{2\sigma^2}
   = \Bigl(\frac{q}{\sigma^2}, -\frac{|q|^2}{2\sigma^2}, \frac{1}{\sigma^2}\Bigr)
     \cdot \Bigl(k, 1, -\frac{|k|^2}{2}\Bigr),

whose rounding error grows as :math:`\epsilon (|q|^2 + |k|^2) / \sigma^2`, the squared radius of the
data in bandwidths. Rows for which that exceeds `TOLERATED` in float32 are done in float64. Rows for
which it is too much there too are done with differences :math:`q - k`, exact to rounding.

*Gradients.* The tiles are made again; between the two passes only the logarithm of each row's sum
is kept. With :math:`P` the weights and :math:`g` the gradient of the result, the gradient of the
scores is :math:`S_{ij} = P_{ij}\, g_i \cdot (v_j - f_i)`, and all others follow from its products
with the two sides above.

Source: M. N. Rabe and C. Staats, "Self-attention does not need O(n^2) memory", arXiv:2112.05682.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

ROWS = 512  # queries in a tile
TILE = 1 << 17  # scores in a tile
PREPARED = 1 << 17  # numbers of keys and values that are prepared at a time
TOLERATED = {4: 2e-5, 8: 4e-13}  # error of a score, hence of a weight, by bytes of the dtype
FAINT = {4: 1e-20, 8: 1e-200}  # a smaller sum is done again
MANY = 0.9  # of the queries must allow float32, or none uses it
BOUND = 60.0  # largest exponent that a dot product may reach


class Problem(NamedTuple):
    """Arrays of one dtype, float32 or float64, and how they make a score.

    The bandwidth may be float64 in any case, as a number of Python is.
    """

    queries: Any  # (n, d)
    keys: Any  # (m, d)
    values: Any  # (m, p)
    bandwidth: Any = None  # (n, 1) or (1, 1) for Gaussian scores; None for dot products
    scale: float = 1.0  # of dot products
    mask: Any = None  # (n, m), True where the key may be used
    own: Any = None  # (n,), number of the key that a query may not use
    masked: Any = None  # (n,), row of the mask that belongs to a query; None: its own

    def at(self, rows: Any) -> Problem:
        """The same for some of the queries; the mask, which may be large, is not copied."""
        b, own = self.bandwidth, self.own
        return self._replace(
            queries=self.queries[rows],
            bandwidth=b if b is None or len(b) == 1 else b[rows],
            own=None if own is None else own[rows],
            masked=rows if self.masked is None else self.masked[rows],
        )


class Pooled(NamedTuple):
    """Means, the logarithm of the sum of the exponentials of each row, and rows without weight.

    All in float64: gradients take the differences of values and means, over squared bandwidths.
    """

    means: Any  # (n, p)
    log_sums: Any  # (n,)
    empty: Any  # numbers of the rows in which each score is -inf: their means are 0


def pooled(problem: Problem) -> Pooled:
    """Pool the values with the softmax of the scores."""
    n, p = len(problem.queries), problem.values.shape[1]
    means = np.zeros((n, p))
    log_sums = np.full(n, -np.inf)
    rest = np.arange(n)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for dtype in (problem.queries.dtype, np.dtype(np.float64)):
            sides = Sides(problem if rest.size == n else problem.at(rest), dtype)
            if dtype == np.float32 and np.mean(sides.accurate) < MANY:
                continue
            sums = sides.sums()
            good = sides.accurate & (sums[:, p] > FAINT[dtype.itemsize])
            good &= np.isfinite(sums).all(1)
            sure = rest[good]
            log_sums[sure] = np.log(sums[good, p]) + sides.shift[good]
            sums[:, :p] /= sums[:, p:]  # in place, as sums may be larger than all else
            if sure.size == n:
                means[:] = sums[:, :p]
            else:
                means[sure] = sums[good, :p]
            rest = rest[~good]
            if not rest.size or dtype == np.float64:
                break
        if rest.size:
            sums, largest = Sides(problem.at(rest), np.dtype(np.float64)).careful_sums()
            some = sums[:, p] != 0  # NaN stays NaN
            means[rest[some]] = sums[some, :p] / sums[some, p:]
            log_sums[rest] = np.log(sums[:, p]) + largest
            rest = rest[~some]
    return Pooled(means, log_sums, rest)


def gradients(problem: Problem, result: Pooled, gradient: Any) -> tuple[Any, Any, Any, Any]:
    """Gradients in queries, keys, values and bandwidth (n, 1), given that in the means (n, p)."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        sides = Sides(problem, problem.queries.dtype)
        if not sides.accurate.all():
            sides = Sides(problem, np.dtype(np.float64))
        return sides.gradients(result, gradient)


class Sides:
    """The two factors of the scores, made block by block; position d belongs to the constant 1."""

    def __init__(self, problem: Problem, dtype: np.dtype[Any]) -> None:
        self.problem, self.dtype = problem, dtype
        self.n, self.d = problem.queries.shape
        self.m, self.p = problem.values.shape
        self.gaussian = problem.bandwidth is not None
        self.centre = problem.keys.mean(0, dtype=np.float64) if self.gaussian else 0.0
        step = max(PREPARED // self.d, 1)
        key2, query2 = (
            np.concatenate([_squares(x[part] - self.centre) for part in _parts(len(x), step)])
            for x in (problem.keys, problem.queries)
        )
        longest = float(key2.max())
        self.accurate = np.ones(self.n, np.bool_)  # is the product of the sides, for which queries
        self.shift = np.zeros(self.n)  # what is subtracted from the scores
        if self.gaussian:
            radius = (query2 + longest) / np.square(problem.bandwidth[:, 0], dtype=np.float64)
            self.accurate = np.finfo(dtype).eps * radius <= TOLERATED[dtype.itemsize]
        else:
            bound = abs(problem.scale) * np.sqrt(query2 * longest, dtype=np.float64)
            self.shift = np.where(np.isfinite(bound), np.maximum(bound - BOUND, 0), 0)

    def of_queries(self, rows: Any, constant: Any) -> Any:
        """Factor (rows, d + 1 or d + 2) of the scores, plus a constant for each row."""
        dtype = self.dtype
        queries = self.problem.queries[rows].astype(dtype)
        if not self.gaussian:
            return np.column_stack((self.problem.scale * queries, constant.astype(dtype)))
        queries -= self.centre
        bandwidth = self._bandwidth(rows).astype(dtype)
        nearness = np.broadcast_to(1 / bandwidth**2, (len(queries), 1))
        squares = _squares(queries)[:, None] * nearness
        return np.hstack(
            (queries * nearness, constant[:, None] - squares / 2, nearness), dtype=dtype
        )

    def of_keys(self, columns: Any) -> Any:
        """Factor (columns, d + 1 or d + 2) of the scores."""
        dtype = self.dtype
        keys = self.problem.keys[columns].astype(dtype)
        ones = np.ones((len(keys), 1), dtype)
        if not self.gaussian:
            return np.hstack((keys, ones))
        keys -= self.centre
        return np.hstack((keys, ones, _squares(keys)[:, None] / -2))

    def of_values(self, columns: Any) -> Any:
        """Values with a column of ones, (columns, p + 1)."""
        values = self.problem.values[columns]
        ones = np.ones((len(values), 1), self.dtype)
        return np.hstack((values, ones), dtype=self.dtype)

    def _bandwidth(self, rows: Any) -> Any:
        bandwidth = self.problem.bandwidth
        return bandwidth if len(bandwidth) == 1 else bandwidth[rows]

    def differences(self, rows: Any, columns: Any, constant: Any) -> Any:
        """Gaussian scores from differences of positions, in float64."""
        queries = self.problem.queries[rows].astype(np.float64)
        keys = self.problem.keys[columns].astype(np.float64)
        bandwidth = self._bandwidth(rows).astype(np.float64)
        squares = np.zeros((len(queries), len(keys)))
        for i in range(self.d):
            gaps = queries[:, i, None] - keys[:, i]
            gaps /= bandwidth
            gaps *= gaps
            squares += gaps
        squares *= -0.5
        squares += constant[:, None]
        return squares

    def restrict(self, tile: Any, rows: Any, columns: Any, nothing: float) -> None:
        """Write ``nothing`` where a key may not be used."""
        if self.problem.mask is not None:
            masked = self.problem.masked
            usable = self.problem.mask[rows if masked is None else masked[rows], columns]
            if nothing == 0:
                tile *= usable
            else:
                tile[~usable] = nothing
        if self.problem.own is not None:
            own = self.problem.own[rows]
            inside = np.flatnonzero((own >= columns.start) & (own < columns.stop))
            tile[inside, own[inside] - columns.start] = nothing

    def blocks(self) -> tuple[list[slice], int]:
        """Blocks of queries, as many as there are threads or more, and the width of a tile."""
        rows = max(1, min(ROWS, -(-self.n // _threads())))
        return list(_parts(self.n, rows)), max(TILE // rows, 1)

    def sums(self) -> Any:
        """Sums (n, p + 1) of the exponentials with the values, and alone.

        A chunk of keys is summed in the working precision, the chunks in float64.
        """
        out = np.zeros((self.n, self.p + 1))
        blocks, width = self.blocks()

        for chunk in _parts(self.m, -(-PREPARED // (self.d + self.p + 3))):
            keys = np.ascontiguousarray(self.of_keys(chunk).T)  # as few columns multiply best
            values = self.of_values(chunk)

            def work(rows: slice, chunk: slice = chunk, keys: Any = keys, values: Any = values):  # type: ignore[no-untyped-def]
                queries = self.of_queries(rows, -self.shift[rows])
                space = np.empty((len(queries), min(width, len(values))), self.dtype)
                total = np.zeros((len(queries), self.p + 1), self.dtype)
                part = np.empty_like(total)
                for columns in _parts(len(values), width):
                    tile = space[:, : columns.stop - columns.start]
                    np.matmul(queries, keys[:, columns], out=tile)
                    np.exp(tile, out=tile)
                    self.restrict(tile, rows, _moved(columns, chunk.start), 0)
                    total += np.matmul(tile, values[columns], out=part)
                out[rows] += total

            _each(work, blocks)
        return out

    def careful_sums(self) -> tuple[Any, Any]:
        """The same with the largest score of each row subtracted, and those; Gaussian scores exact.

        NaN where a score is NaN; zeros where each one is -inf.
        """
        out = np.zeros((self.n, self.p + 1))
        largest = np.full(self.n, -np.inf)
        blocks, width = self.blocks()

        def scores(rows: slice, columns: slice, constant: Any) -> Any:
            if self.gaussian:
                tile = self.differences(rows, columns, constant)
            else:
                tile = self.of_queries(rows, constant) @ self.of_keys(columns).T
            self.restrict(tile, rows, columns, -np.inf)
            return tile

        def work(rows: slice) -> None:
            top = largest[rows]
            for columns in _parts(self.m, width):
                np.maximum(top, scores(rows, columns, np.zeros(len(top))).max(1), out=top)
            constant = np.where(np.isneginf(top), 0.0, -top)
            for columns in _parts(self.m, width):
                tile = np.exp(scores(rows, columns, constant))
                out[rows] += tile @ self.of_values(columns)

        _each(work, blocks)
        return out, largest

    def gradients(self, result: Pooled, gradient: Any) -> tuple[Any, Any, Any, Any]:
        """See the function of that name."""
        d = self.d
        exact = not self.accurate.all()
        log_sums = np.where(np.isneginf(result.log_sums), np.inf, result.log_sums)
        # (n, p + 1): in the values, and in the constant 1 beside them
        outer = np.hstack(
            (gradient, -(gradient * result.means).sum(1, keepdims=True)), dtype=self.dtype
        )
        by_query = np.zeros((self.n, d + 1 + self.gaussian))
        by_key = np.zeros((self.m, d + 1 + self.gaussian))
        by_value = np.zeros((self.m, self.p))
        blocks, width = self.blocks()
        lock = Lock()

        for chunk in _parts(self.m, -(-PREPARED // (d + self.p + 3))):
            keys, values = self.of_keys(chunk), self.of_values(chunk)

            def work(rows: slice, chunk: slice = chunk, keys: Any = keys, values: Any = values):  # type: ignore[no-untyped-def]
                queries = self.of_queries(rows, np.zeros(rows.stop - rows.start))
                shifted = self.of_queries(rows, -log_sums[rows])
                key_part, value_part = np.zeros_like(keys), np.zeros_like(values[:, :-1])
                query_part = np.zeros_like(queries)
                for columns in _parts(len(keys), width):
                    here = _moved(columns, chunk.start)
                    if exact and self.gaussian:
                        tile = self.differences(rows, here, -log_sums[rows])
                    else:
                        tile = shifted @ keys[columns].T
                    np.exp(tile, out=tile)
                    self.restrict(tile, rows, here, 0)
                    value_part[columns] = tile.T @ outer[rows, :-1]
                    tile *= outer[rows] @ values[columns].T
                    query_part += tile @ keys[columns]
                    key_part[columns] = tile.T @ queries
                by_query[rows] += query_part
                with lock:
                    by_key[chunk] += key_part
                    by_value[chunk] += value_part

            _each(work, blocks)
        return *self._sorted_out(by_query, by_key), by_value, self._in_bandwidth(by_query)

    def _sorted_out(self, by_query: Any, by_key: Any) -> tuple[Any, Any]:
        """Gradients in queries and keys, from those in their factors."""
        d = self.d
        if not self.gaussian:
            return self.problem.scale * by_query[:, :d], by_key[:, :d]
        moved = by_query[:, :d] - by_query[:, d : d + 1] * (self.problem.queries - self.centre)
        keys = by_key[:, :d] - by_key[:, d + 1 :] * (self.problem.keys - self.centre)
        return moved / np.square(self.problem.bandwidth, dtype=np.float64), keys

    def _in_bandwidth(self, by_query: Any) -> Any:
        """Gradient in the bandwidth of each query: the score is as its power -2."""
        if not self.gaussian:
            return None
        factor = self.of_queries(slice(0, self.n), np.zeros(self.n))
        return -2 * (factor * by_query).sum(1, keepdims=True) / self.problem.bandwidth


def _squares(vectors: Any) -> Any:
    """Squared lengths, in the dtype of the vectors."""
    return np.einsum("ij,ij->i", vectors, vectors)


def _parts(size: int, step: int) -> Iterator[slice]:
    """Slices of at most ``step`` that cover range(size)."""
    return (slice(a, min(a + step, size)) for a in range(0, size, step))


def _moved(columns: slice, by: int) -> slice:
    """The slice, further right."""
    return slice(columns.start + by, columns.stop + by)


def _threads() -> int:
    """Threads to use: as many as OMP_NUM_THREADS says, else as there are processors for us.

    One, where the threads of the matrix product cannot be limited: they would fight with ours.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked == "1" or _blas() is None:
        return 1
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _blas() -> Any:
    """What limits the threads of the matrix product (threadpoolctl), if it is installed."""
    if find_spec("threadpoolctl") is None:
        return None
    return import_module("threadpoolctl").ThreadpoolController()


def _each(work: Callable[[slice], None], blocks: Iterable[slice]) -> None:
    """Do the work for each block, in threads whose own matrix products use one thread each."""
    blocks, blas = list(blocks), _blas()
    limit: AbstractContextManager[Any] = (
        nullcontext() if blas is None else blas.limit(limits=1, user_api="blas")
    )

    def quietly(block: slice) -> None:  # NumPy's error state belongs to the thread
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            work(block)

    threads = min(_threads(), len(blocks))
    with limit:
        if threads <= 1:
            for block in blocks:
                quietly(block)
        else:
            pools = import_module("concurrent.futures")  # which takes longer than all else here
            with pools.ThreadPoolExecutor(threads) as pool:
                list(pool.map(quietly, blocks))
