"""Nadaraya-Watson regression: attention pooling with a fixed kernel, and choosing its bandwidth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby, pairwise
from math import inf, isnan
from typing import TYPE_CHECKING, NamedTuple

from array_api_compat import device

from attnlib import _checks
from attnlib.fast import choice, small
from attnlib.frameworks import namespace, stop_gradient, widen
from attnlib.pooling import kernel_weights

if TYPE_CHECKING:
    from attnlib._typing import (
        Bandwidth,
        Batch,
        Keys,
        LeftOut,
        Mask,
        Pooled,
        Queries,
        Values,
        Vector,
    )


def nadaraya_watson(
    queries: Queries,
    keys: Keys,
    values: Values,
    bandwidth: Bandwidth,
    kernel: str = "gaussian",
    *,
    mask: Mask | None = None,
    empty: str = "nearest",
    method: str = "auto",
) -> Pooled:
    r"""Nadaraya-Watson estimator, the kernel-weighted mean of the values at each query.

    .. math:: f(q) = \sum_i v_i \frac{K(\|q - k_i\| / \sigma)}{\sum_j K(\|q - k_j\| / \sigma)}

    Parameters
    ----------
    queries : array (..., n, d_k) or (n,)
        Where the estimate is wanted.
    keys : array (..., m, d_k) or (m,)
        The inputs of at least one observation.
    values : array (..., m, d_v) or (..., m)
        The labels. Vectors have as many axes as the keys (counted with d_k), scalars one fewer.
    bandwidth : float or array that broadcasts against (..., n, m)
        The bandwidth or radius :math:`\sigma > 0`.
    kernel : {"gaussian", "boxcar", "triangular", "constant"}, optional
        The kernel K.
    mask : boolean array that broadcasts against (..., n, m), optional
        True where the observation may be used.
    empty : {"nearest", "average", "zero", "nan"}, optional
        What is pooled where no usable key lies in the reach of the kernel, see `kernel_weights`.
    method : {"auto", "plain", "stream", "line"}, optional
        How it is computed, see :mod:`attnlib.fast.choice`: with all weights at once, a tile of them
        at a time (Gaussian kernel only), or, for scalar positions, in O(n + m). By default the
        size decides. Results agree to 5e-5 in float32 and 1e-12 in float64, relative to the mean
        of ``|v|``, beside the rounding of scores.

    Returns
    -------
    array (..., n, d_v) or (..., n)
        The estimates. The weights behind them are those of `kernel_weights`.

    Raises
    ------
    TypeError
        If an argument is no floating-point array (the mask: boolean), or they belong to different
        frameworks.
    ValueError
        If there is no key, the shapes do not fit, the bandwidth is not positive, ``kernel``,
        ``empty`` or ``method`` is unknown, or the method cannot do this.

    References
    ----------
    .. [1] E. A. Nadaraya, "On estimating regression", Theory of Probability and Its Applications
       9 (1964), 141-142.
    .. [2] G. S. Watson, "Smooth regression analysis", Sankhya A 26 (1964), 359-372.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import nadaraya_watson
    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 10.0, 20.0])
    >>> nadaraya_watson(np.array([1.0, 1.5]), x, y, bandwidth=0.5).round(3)
    array([10.   , 14.864])
    """
    if method == "auto" and empty == "nearest":
        found = small.kernel_means(queries, keys, values, mask, bandwidth, kernel)
        if found is not None:
            return found
    xp = namespace(queries=queries, keys=keys, values=values)
    _, keys, vectors, scalar = _checks.as_pairs(keys, values)
    (queries, keys, vectors), dtype = widen(xp, queries, keys, vectors)

    plain = _definition(kernel, empty)
    task = queries, keys, vectors, bandwidth, kernel, mask, empty, plain
    found = choice.regression(method, *task)
    if found is None:
        found = plain(queries, keys, vectors, bandwidth, mask)
    return xp.astype(found[..., 0] if scalar else found, dtype, copy=False)


def _definition(kernel: str, empty: str) -> Callable[..., Pooled]:
    """Nadaraya-Watson as it is defined, with all weights at once."""

    def plain(
        queries: Queries, keys: Keys, vectors: Values, bandwidth: Bandwidth, mask: Mask | None
    ) -> Pooled:
        return kernel_weights(queries, keys, bandwidth, kernel, mask=mask, empty=empty) @ vectors

    return plain


def leave_one_out(
    keys: Keys,
    values: Values,
    bandwidth: Bandwidth,
    kernel: str = "gaussian",
    *,
    empty: str = "nearest",
    method: str = "auto",
) -> LeftOut:
    """Estimate the value at each key from all the other pairs.

    Parameters
    ----------
    keys : array (..., m, d_k) or (m,)
        The inputs of at least two observations. Equal keys are different observations.
    values : array (..., m, d_v) or (..., m)
        The labels. Vectors have as many axes as the keys (counted with d_k), scalars one fewer.
    bandwidth : float or array that broadcasts against (..., m, m)
        The bandwidth or radius, positive.
    kernel : {"gaussian", "boxcar", "triangular", "constant"}, optional
        The kernel.
    empty : {"nearest", "average", "zero", "nan"}, optional
        What is pooled where no other key lies in the reach of the kernel, see `kernel_weights`.
    method : {"auto", "plain", "stream", "line"}, optional
        How it is computed, see `nadaraya_watson`.

    Returns
    -------
    array (..., m, d_v) or (..., m)
        The estimates.

    Raises
    ------
    TypeError, ValueError
        As `nadaraya_watson`; also if there are fewer than two pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import leave_one_out
    >>> leave_one_out(np.array([0.0, 1.0, 2.0]), np.array([0.0, 10.0, 50.0]), 1.0, "boxcar")
    array([10., 25., 10.])
    """
    xp, points, vectors, scalar = _checks.as_pairs(keys, values)
    m = points.shape[-2]
    if m == 1:
        raise ValueError(
            "keys: expected at least two pairs, since leaving out the only one leaves nothing "
            f"to estimate from; got {_checks.describe(keys)}"
        )
    (points, vectors), dtype = widen(xp, points, vectors)

    plain = _definition(kernel, empty)
    task = points, points, vectors, bandwidth, kernel, None, empty, plain
    found = choice.regression(method, *task, others=True)
    if found is None:
        index = xp.arange(m, device=device(points))
        found = plain(points, points, vectors, bandwidth, index[:, None] != index)
    return xp.astype(found[..., 0] if scalar else found, dtype, copy=False)


def leave_one_out_error(
    keys: Keys,
    values: Values,
    bandwidth: Bandwidth,
    kernel: str = "gaussian",
    *,
    empty: str = "nearest",
    method: str = "auto",
) -> Batch:
    r"""Mean squared leave-one-out error, :math:`\frac1m \sum_i (v_i - f_{-i}(k_i))^2`.

    It is differentiable in keys, values and bandwidth. It measures the error against noisy values:
    its expectation exceeds that against the truth by the variance of the noise.

    Parameters
    ----------
    keys : array (..., m, d_k) or (m,)
        The inputs of at least two observations.
    values : array (..., m, d_v) or (..., m)
        The labels. Vectors have as many axes as the keys (counted with d_k), scalars one fewer.
    bandwidth : float or array that broadcasts against (..., m, m)
        The bandwidth or radius, positive. With shape (g, 1, 1) the result has shape (g,).
    kernel : {"gaussian", "boxcar", "triangular", "constant"}, optional
        The kernel.
    empty : {"nearest", "average", "zero", "nan"}, optional
        What is pooled where no other key lies in the reach of the kernel, see `kernel_weights`.
    method : {"auto", "plain", "stream", "line"}, optional
        How it is computed, see `nadaraya_watson`.

    Returns
    -------
    array (...)
        The mean over the pairs, and over the d_v coordinates of vector values.

    Raises
    ------
    TypeError, ValueError
        As `leave_one_out`.

    References
    ----------
    .. [1] W. Hardle and J. S. Marron, "Optimal bandwidth selection in nonparametric regression
       function estimation", The Annals of Statistics 13 (1985), 1465-1481.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import leave_one_out_error
    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 10.0, 50.0])
    >>> print(leave_one_out_error(x, y, 1.0, "boxcar"))
    641.6666666666666
    """
    xp, keys, vectors, _ = _checks.as_pairs(keys, values)
    (keys, vectors), dtype = widen(xp, keys, vectors)
    residuals = vectors - leave_one_out(
        keys, vectors, bandwidth, kernel, empty=empty, method=method
    )
    error = xp.mean(residuals * residuals, axis=(-2, -1))
    return xp.astype(error, dtype, copy=False)


class Minimum(NamedTuple):
    """A local minimum of an error over a grid of bandwidths."""

    bandwidth: float
    error: float


class BandwidthSearch(NamedTuple):
    """What `choose_bandwidth` found.

    Attributes
    ----------
    bandwidth, error : float
        The bandwidth of smallest error on the grid, and that error.
    bandwidths, errors : array (g,)
        The grid and the error at each of its points.
    minima : tuple of Minimum
        All local minima on the grid, each a pair (bandwidth, error), from small to large bandwidth.
    """

    bandwidth: float
    error: float
    bandwidths: Vector
    errors: Vector
    minima: tuple[Minimum, ...]


def choose_bandwidth(
    keys: Keys,
    values: Values,
    bandwidths: Iterable[float],
    kernel: str = "gaussian",
    *,
    empty: str = "nearest",
    method: str = "auto",
) -> BandwidthSearch:
    """Find the bandwidth of smallest leave-one-out error on a grid, and all local minima.

    The error may have several minima and gradient descent stops in any of them. Hence a grid, one
    bandwidth after the other: the memory is that of one estimate.

    Parameters
    ----------
    keys : array (m, d_k) or (m,)
        The inputs of at least two observations.
    values : array (m, d_v) or (m,)
        The labels.
    bandwidths : array (g,) or other iterable of float
        The grid, positive and increasing.
    kernel : {"gaussian", "boxcar", "triangular", "constant"}, optional
        The kernel.
    empty : {"nearest", "average", "zero", "nan"}, optional
        What is pooled where no other key lies in the reach of the kernel. With "nan" a bandwidth
        that leaves any pair without estimate is out of the question.
    method : {"auto", "plain", "stream", "line"}, optional
        How it is computed, see `nadaraya_watson`.

    Returns
    -------
    BandwidthSearch
        ``bandwidth``, ``error``, ``bandwidths``, ``errors``, ``minima``. An end of the grid counts
        as a local minimum if the error rises from there. Of neighbours with equal errors the
        smallest bandwidth stands for all.

    Raises
    ------
    TypeError
        As `leave_one_out`.
    ValueError
        As `leave_one_out`; also if there are batch axes, the grid is empty or does not increase,
        or the error is NaN at every bandwidth.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import choose_bandwidth
    >>> x = np.linspace(0.0, 5.0, 40)
    >>> y = 2 * np.sin(x) + x + np.where(np.arange(40) % 2 == 0, 0.5, -0.5)
    >>> search = choose_bandwidth(x, y, [0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
    >>> search.bandwidth, [minimum.bandwidth for minimum in search.minima]
    (0.4, [0.4])
    """
    xp = namespace(keys=keys, values=values)
    if keys.ndim > 2:
        raise ValueError(f"keys: expected shape (m, d_k) or (m,), got {_checks.describe(keys)}")
    grid = [float(bandwidth) for bandwidth in bandwidths]
    if not grid or any(a >= b for a, b in pairwise(grid)):
        raise ValueError(f"bandwidths: expected at least one, in increasing order; got {grid}")
    keys, values = stop_gradient(keys), stop_gradient(values)
    if keys.ndim == 1 == values.ndim and keys.shape == values.shape:  # sorted once, not each time
        order = xp.argsort(keys)
        keys, values = keys[order], values[order]
    errors = [
        leave_one_out_error(keys, values, b, kernel, empty=empty, method=method) for b in grid
    ]
    minima = _local_minima(grid, [float(error) for error in errors])
    if not minima:
        raise ValueError(f"bandwidths: the error is NaN at every one of {grid}")
    best = min(minima, key=lambda minimum: minimum.error)
    spacing = xp.asarray(grid, dtype=keys.dtype, device=device(keys))
    return BandwidthSearch(*best, spacing, xp.stack(errors), minima)


def _local_minima(grid: list[float], errors: list[float]) -> tuple[Minimum, ...]:
    """Bandwidths at which the error is lower than on both sides; a plateau counts once."""
    levels = [
        Minimum(grid[index[0]], error)
        for error, run in groupby(
            range(len(grid)), lambda i: inf if isnan(errors[i]) else errors[i]
        )
        for index in [list(run)]
    ]
    walled = [Minimum(0.0, inf), *levels, Minimum(inf, inf)]
    return tuple(
        here
        for before, here, after in zip(walled, walled[1:], walled[2:], strict=False)
        if before.error > here.error < after.error
    )
