"""Pooling in bounded memory as a program of JAX: under `jit`, `vmap`, `grad` and on any device.

A map over blocks of queries, in each a scan over tiles of keys with the running maximum. What a
block needs for its gradient is made again in the backward pass, so both passes hold a tile of
weights at a time. Gaussian scores come from differences, exact to rounding.

Source: M. N. Rabe and C. Staats, "Self-attention does not need O(n^2) memory", arXiv:2112.05682.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from typing import Any, NamedTuple

from attnlib.fast.choice import Task
from attnlib.scores import scaled_squares

ROWS, COLUMNS = 512, 512  # a tile


class Chosen(NamedTuple):
    """What the program depends on besides its arrays."""

    kernel: str
    scale: float
    others: bool
    empty: str


def stream(task: Task, *, fused: bool) -> Any:
    """Means (..., n, p)."""
    xp = sys.modules["jax"].numpy
    bandwidth = 1.0 if task.bandwidth is None else task.bandwidth
    mask = xp.ones((1, 1), bool) if task.mask is None else xp.atleast_2d(task.mask)
    bandwidth = xp.atleast_2d(xp.asarray(bandwidth, task.queries.dtype))
    chosen = Chosen(task.kernel, task.scale, task.others, task.empty)
    return _program()(task.queries, task.keys, task.values, bandwidth, mask, chosen)


@cache
def _program() -> Any:
    """The compiled program for a batch of problems."""
    jax = sys.modules["jax"]

    def run(*arguments: Any) -> Any:
        *arrays, chosen = arguments
        signature = "(n,d),(m,d),(m,p),(a,b),(x,y)->(n,p)"
        return jax.numpy.vectorize(partial(_means, chosen), signature=signature)(*arrays)

    return jax.jit(run, static_argnums=5)


class _Tiles:
    """One problem, cut into tiles of a block of queries and a block of keys.

    Bandwidths are (n, 1) or (1, 1); the mask broadcasts against (n, m).
    """

    def __init__(self, chosen: Chosen, *arrays: Any) -> None:
        queries, keys, values, bandwidth, mask = arrays
        self.chosen, self.p = chosen, values.shape[-1]
        self.n, self.m = len(queries), len(keys)
        self.rows, self.columns = min(ROWS, self.n), min(COLUMNS, self.m)
        self.queries = _blocks(queries, self.n, self.rows)
        self.bandwidth = _blocks(bandwidth, self.n, self.rows)
        self.keys = _blocks(keys, self.m, self.columns)
        self.values = _blocks(values, self.m, self.columns)
        # (blocks of queries, rows, blocks of keys, columns), some of them 1
        self.mask = _blocks(_blocks(mask, self.m, self.columns, 1), self.n, self.rows, 2)

    def tile(self, i: Any, j: Any) -> tuple[Any, ...]:
        """Queries, keys, values, bandwidths of a tile, and which keys may be used."""
        xp = sys.modules["jax"].numpy
        mask = self.mask[0 if len(self.mask) == 1 else i]
        mask = mask[:, 0 if mask.shape[1] == 1 else j]  # (rows, columns), or 1
        row = i * self.rows + xp.arange(self.rows)[:, None]
        column = j * self.columns + xp.arange(self.columns)
        usable = xp.broadcast_to(mask & (column < self.m), (self.rows, self.columns))
        if self.chosen.others:
            usable &= row != column
        bandwidth = self.bandwidth[0 if len(self.bandwidth) == 1 else i]
        return self.queries[i], self.keys[j], self.values[j], bandwidth, usable

    def map(self, block: Any) -> Any:
        """Results of a function for each block of queries, a row a query."""
        jax = sys.modules["jax"]
        found = jax.lax.map(block, jax.numpy.arange(len(self.queries)))
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[: self.n], found)

    def scan(self, step: Any, start: Any) -> Any:
        """Carry of a scan over the blocks of keys."""
        jax = sys.modules["jax"]
        found, _ = jax.lax.scan(
            lambda carry, j: (step(carry, j), None), start, jax.numpy.arange(len(self.keys))
        )
        return found


def _blocks(x: Any, size: int, step: int, axis: int = 0) -> Any:
    """The axis in blocks, which come first; an axis of length 1 stays in one block."""
    xp = sys.modules["jax"].numpy
    x = xp.moveaxis(x, axis, 0)
    if len(x) == 1 != size:
        return x[None]
    x = xp.pad(x, [(0, -size % step), *[(0, 0)] * (x.ndim - 1)], mode="edge")
    return x.reshape(-1, step, *x.shape[1:])


def sums(chosen: Chosen, *arrays: Any) -> tuple[Any, Any, Any]:
    """Largest score of each row, (n,), and relative to it the sums of weights, and with values.

    The largest scores are constant under differentiation: in the means they cancel.
    """
    jax = sys.modules["jax"]
    xp = jax.numpy
    tiles = _Tiles(chosen, *arrays)

    def block(i: Any) -> Any:
        def step(carry: Any, j: Any) -> Any:
            top, total, pooled = carry
            q, k, v, b, usable = tiles.tile(i, j)
            scores = xp.where(usable, _scores(chosen, q, k, b), -xp.inf)
            above = jax.lax.stop_gradient(xp.maximum(top, scores.max(1)))
            shift = xp.where(xp.isneginf(above), 0, above)
            keep, weights = xp.exp(top - shift), xp.exp(scores - shift[:, None])
            pooled = pooled * keep[:, None] + xp.matmul(weights, v, precision="highest")
            return above, total * keep + weights.sum(1), pooled

        nothing = xp.zeros(tiles.rows, tiles.values.dtype)
        start = nothing - xp.inf, nothing, xp.zeros((tiles.rows, tiles.p), nothing.dtype)
        return tiles.scan(jax.checkpoint(step), start)

    return tiles.map(jax.checkpoint(block))  # type: ignore[no-any-return]


def _means(chosen: Chosen, *arrays: Any) -> Any:
    """Means (n, p) of one problem."""
    jax = sys.modules["jax"]
    xp = jax.numpy
    _, total, pooled = sums(chosen, *arrays)
    none = (total == 0)[:, None]
    means = pooled / xp.where(none, 1, total[:, None])
    return jax.lax.cond(
        xp.any(none), lambda: xp.where(none, _fill(chosen, *arrays), means), lambda: means
    )


def _scores(chosen: Chosen, queries: Any, keys: Any, bandwidth: Any) -> Any:
    """Scores (rows, columns) of a tile."""
    xp = sys.modules["jax"].numpy
    if chosen.kernel == "dot":
        return xp.matmul(chosen.scale * queries, keys.T, precision="highest")
    return scaled_squares(xp, queries, keys, bandwidth) / -2


def _fill(chosen: Chosen, *arrays: Any) -> Any:
    """Means (n, p) of rows without weight, as `attnlib.pooling` defines them."""
    jax = sys.modules["jax"]
    xp = jax.numpy
    tiles = _Tiles(chosen, *arrays)

    def block(i: Any) -> Any:
        def step(carry: Any, j: Any) -> Any:
            best, near, twins, pooled, number = carry
            q, k, v, _, usable = tiles.tile(i, j)
            gaps = jax.lax.stop_gradient(q[:, None] - k)
            size = xp.abs(gaps).max(-1)
            gaps /= xp.where(size > 0, size, 1)[..., None]  # so that no square overflows
            far = xp.where(usable, size * xp.sqrt(xp.square(gaps).sum(-1)), xp.inf)
            closest = xp.minimum(best, far.min(1))
            still = (best == closest).astype(v.dtype)
            tied = ((far == closest[:, None]) & usable).astype(v.dtype)
            used = usable.astype(v.dtype)
            near, twins = near * still[:, None] + tied @ v, twins * still + tied.sum(1)
            return closest, near, twins, pooled + used @ v, number + used.sum(1)

        none = xp.zeros(tiles.rows, tiles.values.dtype)
        wide = xp.zeros((tiles.rows, tiles.p), none.dtype)
        return tiles.scan(jax.checkpoint(step), (none + xp.inf, wide, none, wide, none))

    _, near, twins, pooled, number = tiles.map(jax.checkpoint(block))
    some = (number > 0)[:, None]
    if chosen.empty == "nan":
        rest = xp.full_like(pooled, xp.nan)
    elif chosen.empty == "average":
        rest = xp.where(some, pooled / xp.maximum(number, 1)[:, None], arrays[2].mean(0))
    else:
        rest = xp.zeros_like(pooled)
    if chosen.kernel != "gaussian":  # a score: only the kernel continues to the nearest key
        return rest
    return xp.where(some, near / xp.maximum(twins, 1)[:, None], rest)
