"""Scores a(q, k): how well a query and a key go together, before any normalisation.

All take ``queries`` (..., n, d_k) and ``keys`` (..., m, d_k) and return a row of m scores for each
query: (..., n, m). A 1-D array, (n,) or (m,), holds scalar positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attnlib import _checks
from attnlib.frameworks import namespace, stop_gradient, widen

if TYPE_CHECKING:
    from attnlib._typing import Array, Bandwidth, Form, Keys, Map, OtherQueries, Queries, Scores


def dot_product(queries: Queries, keys: Keys, *, scale: float = 1.0) -> Scores:
    r"""Score by the dot product, :math:`a(q, k) = \mathrm{scale} \cdot q^\top k`.

    Parameters
    ----------
    queries : array (..., n, d_k)
        Floating-point numbers.
    keys : array (..., m, d_k)
        At least one key.
    scale : float, optional
        Factor of every score; :math:`1/\sqrt{d_k}` gives scaled dot-product attention.

    Returns
    -------
    array (..., n, m)
        The scores, any real number.

    Raises
    ------
    TypeError
        If an argument is no floating-point array, or the two belong to different frameworks.
    ValueError
        If there is no key, or the widths or batch axes differ.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017, Equation (1).

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import dot_product
    >>> dot_product(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0], [0.0, 4.0]]))
    array([[3., 8.]])
    """
    xp, queries, keys, _ = _checks.as_pair(queries, keys)
    _checks.same_width(queries, keys)
    (queries, keys), dtype = widen(xp, queries, keys)
    return xp.astype(scale * queries @ xp.matrix_transpose(keys), dtype, copy=False)


def bilinear(queries: OtherQueries, keys: Keys, matrix: Form) -> Scores:
    r"""Score by a bilinear form, :math:`a(q, k) = q^\top M k`.

    Parameters
    ----------
    queries : array (..., n, d_q)
        Floating-point numbers.
    keys : array (..., m, d_k)
        At least one key. Queries and keys may differ in width.
    matrix : array (d_q, d_k)
        The matrix M.

    Returns
    -------
    array (..., n, m)
        The scores, any real number.

    Raises
    ------
    TypeError
        If an argument is no floating-point array, or they belong to different frameworks.
    ValueError
        If there is no key, batch axes differ, or the matrix does not fit the widths.

    References
    ----------
    .. [1] M.-T. Luong, H. Pham and C. D. Manning, "Effective approaches to attention-based neural
       machine translation", EMNLP 2015, the score named "general".

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import bilinear
    >>> bilinear(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]), np.array([[1.0], [10.0]]))
    array([[63., 84.]])
    """
    xp, queries, keys, _ = _checks.as_pair(queries, keys)
    namespace(queries=queries, matrix=matrix)
    widths = (queries.shape[-1], keys.shape[-1])
    if tuple(matrix.shape) != widths:
        raise ValueError(
            f"matrix: expected shape (d_q, d_k) = {widths}, got {_checks.describe(matrix)}"
        )
    (queries, keys, matrix), dtype = widen(xp, queries, keys, matrix)
    return xp.astype(queries @ matrix @ xp.matrix_transpose(keys), dtype, copy=False)


def squared_distance(queries: Queries, keys: Keys, bandwidth: Bandwidth = 1.0) -> Scores:
    r"""Score by distance in bandwidths, :math:`a(q, k) = -\|q - k\|^2 / (2 \sigma^2)`.

    The softmax of this score is the normalised Gaussian kernel.

    Parameters
    ----------
    queries : array (..., n, d_k) or (n,)
        Floating-point numbers.
    keys : array (..., m, d_k) or (m,)
        At least one key.
    bandwidth : float or array that broadcasts against (..., n, m), optional
        The bandwidth :math:`\sigma > 0`. Values are not checked while they are traced.

    Returns
    -------
    array (..., n, m)
        The scores, at most 0; :math:`-\infty` where the square overflows.

    Raises
    ------
    TypeError
        If an argument is no floating-point array, or they belong to different frameworks.
    ValueError
        If there is no key, the widths or batch axes differ, or the bandwidth is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import squared_distance
    >>> squared_distance(np.array([4.0]), np.array([2.0, 5.0]), bandwidth=0.5**0.5)
    array([[-4., -1.]])
    """
    xp, queries, keys, shape = _checks.as_pair(queries, keys)
    _checks.same_width(queries, keys)
    (queries, keys), dtype = widen(xp, queries, keys)
    bandwidth = _checks.as_bandwidth(xp, bandwidth, keys, shape)
    with np.errstate(over="ignore"):
        squares = scaled_squares(xp, queries, keys, bandwidth)
        return xp.astype(-squares / 2, dtype, copy=False)


def metric(queries: Queries, keys: Keys, matrix: Map) -> Scores:
    r"""Score by a distance with a metric, :math:`a(q, k) = -\tfrac12 \|W (q - k)\|^2`.

    Parameters
    ----------
    queries : array (..., n, d_k)
        Floating-point numbers.
    keys : array (..., m, d_k)
        At least one key.
    matrix : array (d_k,) or (r, d_k)
        The matrix W; a 1-D array is the diagonal of one.

    Returns
    -------
    array (..., n, m)
        The scores, at most 0; :math:`-\infty` where the square overflows.

    Raises
    ------
    TypeError
        If an argument is no floating-point array, or they belong to different frameworks.
    ValueError
        If there is no key, the widths or batch axes differ, or the matrix does not fit them.

    References
    ----------
    .. [1] K. Q. Weinberger and G. Tesauro, "Metric learning for kernel regression",
       AISTATS 2007.

    Examples
    --------
    A weight of 0 makes a coordinate irrelevant:

    >>> import numpy as np
    >>> from attnlib import metric
    >>> keys = np.array([[1.0, 7.0], [3.0, 0.0]])
    >>> metric(np.array([[0.0, 0.0]]), keys, np.array([2.0, 0.0]))
    array([[ -2., -18.]])
    """
    xp, queries, keys, _ = _checks.as_pair(queries, keys)
    _checks.same_width(queries, keys)
    namespace(queries=queries, matrix=matrix)
    if matrix.ndim not in (1, 2) or matrix.shape[-1] != keys.shape[-1]:
        d_k = keys.shape[-1]
        raise ValueError(
            f"matrix: expected shape ({d_k},) or (r, {d_k}), got {_checks.describe(matrix)}"
        )
    (queries, keys, matrix), dtype = widen(xp, queries, keys, matrix)
    gaps = scaled_gaps(queries, keys, 1.0)
    images = gaps * matrix if matrix.ndim == 1 else gaps @ matrix.T
    with np.errstate(over="ignore"):
        return xp.astype(-xp.sum(images * images, axis=-1) / 2, dtype, copy=False)


def scaled_gaps(queries: Array, keys: Array, bandwidth: Bandwidth) -> Array:
    """Return (q - k) / bandwidth, (..., n, m, d_k). To scale first would cancel digits."""
    gaps = queries[..., :, None, :] - keys[..., None, :, :]
    if isinstance(bandwidth, float):
        return gaps if bandwidth == 1 else gaps / bandwidth
    # The derivative of gap / bandwidth in the bandwidth overflows at tiny bandwidths, and an
    # infinity times a weight of 0 is NaN. In the ratio to its own value, which is 1, it does not.
    # To multiply by 1 / ratio stops XLA, which makes a / b / c into a / (b * c), underflow and all.
    value = stop_gradient(bandwidth)
    return gaps / value[..., None] * (1 / (bandwidth / value))[..., None]


def scaled_squares(xp: Any, queries: Array, keys: Array, bandwidth: Bandwidth) -> Array:
    """Return |q - k|^2 / bandwidth^2, (..., n, m). Scaled first: no early under- or overflow."""
    gaps = scaled_gaps(queries, keys, bandwidth)
    return xp.sum(gaps * gaps, axis=-1)
