"""Nadaraya-Watson regression: attention pooling with a fixed kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

from attnlib import _checks
from attnlib.frameworks import namespace, stop_gradient, widen
from attnlib.pooling import kernel_weights, pool


def nadaraya_watson(
    queries: Any,
    keys: Any,
    values: Any,
    bandwidth: Any,
    kernel: str = "gaussian",
    *,
    mask: Any = None,
    empty: str = "nearest",
) -> Any:
    """Kernel-weighted mean of the values at each query: (..., n) or (..., n, d_v)."""
    xp = namespace(queries=queries, keys=keys, values=values)
    (queries, keys, values), dtype = widen(xp, queries, keys, values)
    weights = kernel_weights(queries, keys, bandwidth, kernel, mask=mask, empty=empty)
    return xp.astype(pool(weights, values), dtype, copy=False)


def leave_one_out(
    keys: Any, values: Any, bandwidth: Any, kernel: str = "gaussian", *, empty: str = "nearest"
) -> Any:
    """Estimate at each key from all the other pairs: (..., m)."""
    xp = namespace(keys=keys, values=values)
    m = _checks.positions("keys", keys).shape[-2]
    if m < 2:
        raise ValueError(f"keys: leave-one-out needs at least two pairs, got {m}")
    others = xp.arange(m)[:, None] != xp.arange(m)
    return nadaraya_watson(keys, keys, values, bandwidth, kernel, mask=others, empty=empty)


def leave_one_out_error(
    keys: Any, values: Any, bandwidth: Any, kernel: str = "gaussian", *, empty: str = "nearest"
) -> Any:
    """Mean squared difference between the values and their leave-one-out estimates."""
    xp = namespace(keys=keys, values=values)
    residual = values - leave_one_out(keys, values, bandwidth, kernel, empty=empty)
    return xp.mean(residual * residual)


class Minimum(NamedTuple):
    """A local minimum of the leave-one-out error on a grid."""

    bandwidth: float
    error: float


class BandwidthSearch(NamedTuple):
    """What `choose_bandwidth` found."""

    bandwidth: float
    error: float
    bandwidths: Any
    errors: Any
    minima: tuple[Minimum, ...]


def choose_bandwidth(
    keys: Any, values: Any, bandwidths: Any, kernel: str = "gaussian", *, empty: str = "nearest"
) -> BandwidthSearch:
    """Bandwidth of smallest leave-one-out error on an increasing grid, and all local minima."""
    xp = namespace(keys=keys, values=values)
    keys, values = stop_gradient(keys), stop_gradient(values)
    grid = [float(b) for b in bandwidths]
    errors = [leave_one_out_error(keys, values, b, kernel, empty=empty) for b in grid]
    numbers = [float(e) for e in errors]
    walls = [float("inf"), *numbers, float("inf")]
    minima = tuple(
        Minimum(grid[i], numbers[i])
        for i in range(len(grid))
        if walls[i] > walls[i + 1] <= walls[i + 2]
    )
    best = min(range(len(grid)), key=numbers.__getitem__)
    return BandwidthSearch(
        grid[best], numbers[best], xp.asarray(grid, dtype=keys.dtype), xp.stack(errors), minima
    )
