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
    keys: int


def stream(task: Task, *, fused: bool) -> Any:
    """Means (..., n, p)."""
    xp = sys.modules["jax"].numpy
    bandwidth = 1.0 if task.bandwidth is None else task.bandwidth
    mask = xp.ones((1, 1), bool) if task.mask is None else xp.atleast_2d(task.mask)
    bandwidth = xp.atleast_2d(xp.asarray(bandwidth, task.queries.dtype))
    chosen = Chosen(task.kernel, task.scale, task.others, task.empty, task.shape[-1])
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


def _means(chosen: Chosen, queries: Any, keys: Any, values: Any, bandwidth: Any, mask: Any) -> Any:
    """Means (n, p) of one problem; bandwidth (n, 1) or (1, 1), a mask that broadcasts."""
    jax = sys.modules["jax"]
    xp, lax = jax.numpy, jax.lax
    n, m = len(queries), len(keys)
    rows, columns = min(ROWS, n), min(COLUMNS, m)

    def blocked(x: Any, size: int, step: int, axis: int = 0) -> Any:
        """The axis in blocks, which come first; an axis of length 1 stays in one block."""
        if x.shape[axis] == 1 != size:
            return xp.expand_dims(xp.moveaxis(x, axis, 0), 0)
        x = xp.moveaxis(x, axis, 0)
        x = xp.pad(x, [(0, -size % step), *[(0, 0)] * (x.ndim - 1)], mode="edge")
        return x.reshape(-1, step, *x.shape[1:])

    def at(blocks: Any, i: Any) -> Any:
        return blocks[0] if len(blocks) == 1 else blocks[i]

    q_blocks, b_blocks = blocked(queries, n, rows), blocked(bandwidth, n, rows)
    k_blocks, v_blocks = blocked(keys, m, columns), blocked(values, m, columns)
    # (blocks of queries, rows, blocks of keys, columns), some of them 1
    m_blocks = blocked(blocked(mask, m, columns, 1), n, rows, 2)

    def tile(i: Any, j: Any) -> tuple[Any, ...]:
        """Queries, keys, values, bandwidths of a tile, and which keys may be used."""
        q, b, k, v = at(q_blocks, i), at(b_blocks, i), k_blocks[j], v_blocks[j]
        mine = m_blocks[0 if len(m_blocks) == 1 else i]
        mine = mine[:, 0 if mine.shape[1] == 1 else j]  # (rows, columns), or 1
        row, column = i * rows + xp.arange(rows)[:, None], j * columns + xp.arange(columns)
        usable = mine & (column < m)
        if chosen.others:
            usable &= row != column
        return q, k, v, b, xp.broadcast_to(usable, (rows, columns))

    def block(i: Any) -> Any:
        """Means of a block of queries."""

        def step(carry: Any, j: Any) -> Any:
            top, total, sums = carry
            q, k, v, b, usable = tile(i, j)
            scores = xp.where(usable, _scores(chosen, q, k, b), -xp.inf)
            above = lax.stop_gradient(xp.maximum(top, scores.max(1)))
            shift = xp.where(xp.isneginf(above), 0, above)
            keep, weights = xp.exp(top - shift), xp.exp(scores - shift[:, None])
            total = total * keep + weights.sum(1)
            pooled = xp.matmul(weights, v, precision="highest")
            return (above, total, sums * keep[:, None] + pooled), None

        nothing = xp.zeros(rows, values.dtype)
        start = nothing - xp.inf, nothing, xp.zeros((rows, values.shape[1]), values.dtype)
        (_, total, sums), _ = lax.scan(jax.checkpoint(step), start, xp.arange(len(k_blocks)))
        none = total == 0
        means = sums / xp.where(none, 1, total)[:, None]
        fill = partial(_fill, chosen, tile, i, len(k_blocks))
        inside = i * rows + xp.arange(rows) < n
        return lax.cond(
            xp.any(none & inside), lambda: xp.where(none[:, None], fill(), means), lambda: means
        )

    blocks = lax.map(jax.checkpoint(block), xp.arange(len(q_blocks)))
    return blocks.reshape(-1, values.shape[1])[:n]


def _scores(chosen: Chosen, queries: Any, keys: Any, bandwidth: Any) -> Any:
    """Scores (rows, columns) of a tile."""
    xp = sys.modules["jax"].numpy
    if chosen.kernel == "dot":
        return xp.matmul(chosen.scale * queries, keys.T, precision="highest")
    return scaled_squares(xp, queries, keys, bandwidth) / -2


def _fill(chosen: Chosen, tile: Any, i: Any, count: int) -> Any:
    """Means (rows, p) of a block whose rows have no weight, as `attnlib.pooling` defines them."""
    jax = sys.modules["jax"]
    xp, lax = jax.numpy, jax.lax

    def step(carry: Any, j: Any) -> Any:
        """Nearest distance, sum and number of the values there, of usable ones, of all."""
        best, (near, twins), (sums, number), everything = carry
        q, k, v, _, usable = tile(i, j)
        gaps = lax.stop_gradient(q[:, None] - k)
        size = xp.abs(gaps).max(-1)
        gaps /= xp.where(size > 0, size, 1)[..., None]  # so that no square overflows
        far = xp.where(usable, size * xp.sqrt(xp.square(gaps).sum(-1)), xp.inf)
        closest = xp.minimum(best, far.min(1))
        still = (best == closest).astype(v.dtype)
        tied, used = ((far == closest[:, None]) & usable).astype(v.dtype), usable.astype(v.dtype)
        near, twins = near * still[:, None] + tied @ v, twins * still + tied.sum(1)
        sums, number = sums + used @ v, number + used.sum(1)
        v *= (j * len(v) + xp.arange(len(v)) < chosen.keys)[:, None]
        return (closest, (near, twins), (sums, number), everything + v.sum(0)), None

    q, _, v, *_ = tile(i, 0)
    none, wide = xp.zeros(len(q), v.dtype), xp.zeros((len(q), v.shape[1]), v.dtype)
    start = none + xp.inf, (wide, none), (wide, none), wide[0]
    found, _ = lax.scan(step, start, xp.arange(count))
    _, (near, twins), (sums, number), everything = found
    some = (number > 0)[:, None]
    if chosen.empty == "nan":
        rest = wide + xp.nan
    elif chosen.empty == "average":
        rest = xp.where(some, sums / xp.maximum(number, 1)[:, None], everything / chosen.keys)
    else:
        rest = wide
    if chosen.kernel != "gaussian":  # a score: only the kernel continues to the nearest key
        return rest
    return xp.where(some, near / xp.maximum(twins, 1)[:, None], rest)
