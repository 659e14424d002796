"""Weights from scores or from kernels, and the pooling of values with them.

Weights are (..., n, m): a row of m nonnegative weights for each query, which sum to one unless
the row is *empty*, that is when no key may be used or none lies in the reach of the kernel. What an
empty row becomes is chosen by ``empty``:

- ``"nearest"``: all weight on the nearest usable key, shared among ties; zeros if no key is usable;
- ``"average"``: equal weights for the usable keys; for all keys if none is usable;
- ``"zero"``: zeros, so that the pooled value is 0;
- ``"nan"``: NaN, so that the pooled value is NaN.

None of these depends on the arguments continuously, so that gradients through them are 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attnlib import _checks
from attnlib.fast import choice, small
from attnlib.frameworks import certainly, fused, namespace, stop_gradient, widen
from attnlib.kernels import KERNELS
from attnlib.scores import dot_product, scaled_gaps, scaled_squares

if TYPE_CHECKING:
    from attnlib._typing import (
        Array,
        Bandwidth,
        Keys,
        Mask,
        Pooled,
        Queries,
        Score,
        Scores,
        Values,
        Weights,
    )


def softmax_weights(scores: Scores, *, mask: Mask | None = None, empty: str = "zero") -> Weights:
    r"""Softmax of each row, :math:`\alpha_i = \exp(a_i) / \sum_j \exp(a_j)`, over usable keys.

    The largest score of the row is subtracted first, so that no exponential overflows and the
    sum is at least 1.

    Parameters
    ----------
    scores : array (..., n, m)
        Finite scores, or :math:`-\infty` for a key that may not be used.
    mask : boolean array that broadcasts against (..., n, m), optional
        True where the key may be used.
    empty : {"zero", "average", "nan"}, optional
        What a row becomes in which no key may be used. "zero" is what PyTorch's
        ``scaled_dot_product_attention`` does, "average" what ``jax.nn.dot_product_attention`` does.

    Returns
    -------
    array (..., n, m)
        Weights in [0, 1]; each row sums to one or is empty.

    Raises
    ------
    TypeError
        If the scores are no floating-point array, or the mask no boolean array of the same
        framework.
    ValueError
        If there is no key, the mask does not broadcast, or ``empty`` is unknown.

    References
    ----------
    .. [1] D. Bahdanau, K. Cho and Y. Bengio, "Neural machine translation by jointly learning to
       align and translate", ICLR 2015, Equation (6).

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import softmax_weights
    >>> scores = np.array([[-4.0, -1.0]])
    >>> softmax_weights(scores).round(4)
    array([[0.0474, 0.9526]])
    >>> softmax_weights(scores, mask=np.array([True, False]))
    array([[1., 0.]])
    """
    xp = namespace(scores=scores)
    _checks.rows("scores", scores)
    _checks.one_of("empty", empty, ("zero", "average", "nan"))
    usable = _checks.as_mask(mask, scores, tuple(scores.shape))
    (scores,), dtype = widen(xp, scores)
    return xp.astype(_softmax(scores, usable, empty=empty), dtype, copy=False)


def kernel_weights(
    queries: Queries,
    keys: Keys,
    bandwidth: Bandwidth = 1.0,
    kernel: str = "gaussian",
    *,
    mask: Mask | None = None,
    empty: str = "nearest",
) -> Weights:
    r"""Kernel of the distance in bandwidths, divided by its sum over the usable keys.

    .. math:: \alpha_i = K(\|q - k_i\| / \sigma) \big/ \textstyle\sum_j K(\|q - k_j\| / \sigma)

    The Gaussian kernel is positive at every distance. It is normalised as the softmax of its
    logarithm, so that far queries and tiny bandwidths keep their weights; where even the logarithm
    overflows, the row is its limit, the nearest key.

    Parameters
    ----------
    queries : array (..., n, d_k) or (n,)
        Floating-point numbers.
    keys : array (..., m, d_k) or (m,)
        At least one key.
    bandwidth : float or array that broadcasts against (..., n, m), optional
        The bandwidth or radius :math:`\sigma > 0`. Values are not checked while they are traced.
    kernel : {"gaussian", "boxcar", "triangular", "constant"}, optional
        The kernel K.
    mask : boolean array that broadcasts against (..., n, m), optional
        True where the key may be used.
    empty : {"nearest", "average", "zero", "nan"}, optional
        What a row becomes that has no usable key in the reach of its kernel. "nearest", measured
        in bandwidths, continues the Gaussian kernel's limit as the bandwidth goes to 0. In a row
        without any usable key "nearest" is "zero".

    Returns
    -------
    array (..., n, m)
        Weights in [0, 1]; each row sums to one or is empty.

    Raises
    ------
    TypeError
        If an argument is no floating-point array (the mask: boolean), or they belong to different
        frameworks.
    ValueError
        If there is no key, widths, batch axes or the mask do not fit, the bandwidth is not
        positive, or ``kernel`` or ``empty`` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import kernel_weights
    >>> queries, keys = np.array([0.5, 9.0]), np.array([0.0, 1.0, 2.0])
    >>> kernel_weights(queries, keys, 1.0, "boxcar")
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    xp, queries, keys, shape = _checks.as_pair(queries, keys)
    _checks.same_width(queries, keys)
    _checks.one_of("kernel", kernel, KERNELS)
    _checks.one_of("empty", empty, ("nearest", "average", "zero", "nan"))
    (queries, keys), dtype = widen(xp, queries, keys)
    bandwidth = _checks.as_bandwidth(xp, bandwidth, keys, shape)
    usable = _checks.as_mask(mask, keys, shape)
    weights = _kernel(queries, keys, bandwidth, usable, kernel=kernel, empty=empty)
    return xp.astype(weights, dtype, copy=False)


def nearest_weights(scores: Scores) -> Weights:
    """All weight on the largest score of each row: the limit of softmax as scores are scaled up.

    Parameters
    ----------
    scores : array (..., n, m)
        Scores; infinite ones are allowed.

    Returns
    -------
    array (..., n, m)
        One-hot rows. Keys that tie for the largest score share the weight equally. A row with a
        score of NaN is NaN.

    Raises
    ------
    TypeError
        If the scores are no floating-point array.
    ValueError
        If there is no key.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import nearest_weights
    >>> nearest_weights(np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 0.0]]))
    array([[0. , 1. , 0. ],
           [0.5, 0.5, 0. ]])
    """
    xp = namespace(scores=scores)
    _checks.rows("scores", scores)
    (scores,), dtype = widen(xp, scores)
    best = xp.astype(scores == xp.max(scores, axis=-1, keepdims=True), scores.dtype)
    ties = xp.sum(best, axis=-1, keepdims=True)
    return xp.astype(best / xp.where(ties > 0, ties, xp.nan), dtype, copy=False)


def average_weights(scores: Scores) -> Weights:
    """Equal weights for all keys: the limit of softmax as scores are scaled down to 0.

    Parameters
    ----------
    scores : array (..., n, m)
        Scores; only their shape, dtype and device matter.

    Returns
    -------
    array (..., n, m)
        The constant 1/m.

    Raises
    ------
    TypeError
        If the scores are no floating-point array.
    ValueError
        If there is no key.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import average_weights
    >>> average_weights(np.array([[1.0, 3.0, 2.0, 0.0]]))
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    xp = namespace(scores=scores)
    _checks.rows("scores", scores)
    return xp.full_like(scores, 1 / scores.shape[-1])


def pool(weights: Weights, values: Values) -> Pooled:
    r"""Pool the values, :math:`\sum_i \alpha_i v_i` for each row of weights.

    Parameters
    ----------
    weights : array (..., n, m)
        Weights, usually nonnegative with sum one, so that the result is a convex combination.
    values : array (..., m, d_v) or (..., m)
        Vectors have as many axes as the weights, scalars one fewer; (m,) always holds scalars.
        A value that is not finite spoils the result even where its weight is 0.

    Returns
    -------
    array (..., n, d_v) or (..., n)
        A vector or a scalar for each query.

    Raises
    ------
    TypeError
        If an argument is no floating-point array, or the two belong to different frameworks.
    ValueError
        If there is no key, or the number of values is not the number of keys.

    References
    ----------
    .. [1] D. Bahdanau, K. Cho and Y. Bengio, "Neural machine translation by jointly learning to
       align and translate", ICLR 2015, Equation (5).

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import pool
    >>> pool(np.array([[0.25, 0.75]]), np.array([10.0, 20.0]))
    array([17.5])
    """
    xp = namespace(weights=weights, values=values)
    _checks.rows("weights", weights)
    vectors, scalar = _checks.as_vectors(values, weights.shape[-1], max(weights.ndim, 2))
    return weighted_sum(xp, weights, vectors, scalar)


def attention(
    queries: Queries,
    keys: Keys,
    values: Values,
    *,
    score: Score = dot_product,
    mask: Mask | None = None,
    empty: str = "zero",
    method: str = "auto",
) -> Pooled:
    r"""Attention pooling, :math:`\sum_i \alpha(q, k_i) v_i` with the softmax of a score.

    Parameters
    ----------
    queries : array (..., n, d_k) or (n,)
        Floating-point numbers.
    keys : array (..., m, d_k) or (m,)
        At least one key.
    values : array (..., m, d_v) or (..., m)
        Vectors have as many axes as the keys (counted with d_k), scalars one fewer.
    score : function, optional
        Takes queries (..., n, d_k) and keys (..., m, d_k), returns scores (..., n, m). Half
        precision reaches it in float32. The default has no factor :math:`1/\sqrt{d_k}`.
    mask : boolean array that broadcasts against (..., n, m), optional
        True where the key may be used.
    empty : {"zero", "average", "nan"}, optional
        The weights of a query that may use no key, see `softmax_weights`.
    method : {"auto", "plain", "stream"}, optional
        How it is computed, see :mod:`attnlib.fast.choice`: with all weights at once or, for the
        scores `dot_product` and `squared_distance`, a tile of them at a time. By default the size
        decides. Results agree to 5e-5 in float32 and 1e-12 in float64, relative to the mean of
        ``|v|``, beside the rounding of scores.

    Returns
    -------
    array (..., n, d_v) or (..., n)
        A vector or a scalar for each query.

    Raises
    ------
    TypeError
        If an argument is no floating-point array (the mask: boolean), they belong to different
        frameworks, or the score is no function.
    ValueError
        If there is no key, the shapes do not fit, ``empty`` or ``method`` is unknown, or the method
        cannot do this.

    References
    ----------
    .. [1] D. Bahdanau, K. Cho and Y. Bengio, "Neural machine translation by jointly learning to
       align and translate", ICLR 2015.

    Examples
    --------
    The lookup of 4 in the database {(2, 10), (5, 20)}:

    >>> import numpy as np
    >>> from attnlib import attention
    >>> keys, values = np.array([2.0, 5.0]), np.array([10.0, 20.0])
    >>> attention(np.array([4.0]), keys, values, score=lambda q, k: -((q - k.T) ** 2)).round(3)
    array([19.526])
    """
    if method == "auto" and empty == "zero":
        known = choice.known_score(score)
        if known is not None and known[0] == "dot":
            found = small.dot_means(queries, keys, values, mask, known[1])
            if found is not None:
                return found
    xp = namespace(queries=queries, keys=keys, values=values)
    _, queries, keys, shape = _checks.as_pair(queries, keys)
    vectors, scalar = _checks.as_vectors(values, shape[-1], keys.ndim)
    (queries, keys, vectors), dtype = widen(xp, queries, keys, vectors)

    def plain(queries: Queries, keys: Keys, vectors: Values, score: Score, mask: Any) -> Pooled:
        scores = _checks.scored(score, queries, keys, (*shape[:-2], queries.shape[-2], shape[-1]))
        weights = softmax_weights(scores, mask=mask, empty=empty)
        return weighted_sum(namespace(weights=weights), weights, vectors, scalar=False)

    found = choice.attention(method, queries, keys, vectors, score, mask, empty, plain)
    if found is None:
        found = plain(queries, keys, vectors, score, mask)
    return xp.astype(found[..., 0] if scalar else found, dtype, copy=False)


def weighted_sum(xp: Any, weights: Array, vectors: Array, scalar: bool) -> Array:
    """Weighted sum of vectors (..., m, d_v), without the last axis if they stand for scalars."""
    (weights, vectors), dtype = widen(xp, weights, vectors)
    pooled = weights @ vectors
    return xp.astype(pooled[..., 0] if scalar else pooled, dtype, copy=False)


@fused("empty")
def _softmax(scores: Array, usable: Mask | None, *, empty: str) -> Array:
    """Compute `softmax_weights` of checked arguments."""
    xp = namespace(scores=scores)
    weights, unused = _normalised(xp, shifted_exp(xp, scores, usable))
    return _filled(xp, weights, unused, empty, usable)


@fused("kernel", "empty")
def _kernel(
    queries: Array,
    keys: Array,
    bandwidth: Bandwidth,
    usable: Mask | None,
    *,
    kernel: str,
    empty: str,
) -> Array:
    """Compute `kernel_weights` of checked arguments."""
    xp = namespace(queries=queries)
    with np.errstate(over="ignore"):  # too far to square is too far to have weight
        squares = scaled_squares(xp, queries, keys, bandwidth)
    if kernel == "gaussian":
        similarity = shifted_exp(xp, -squares / 2, usable)
    else:
        similarity = KERNELS[kernel](_root(xp, squares))
        similarity = similarity if usable is None else xp.where(usable, similarity, 0.0)
    weights, unused = _normalised(xp, similarity)
    if (kernel == "gaussian" or empty == "nearest") and not certainly(~xp.any(unused)):
        weights = xp.where(unused, _nearest(xp, queries, keys, bandwidth, usable), weights)
        unused = xp.sum(weights, axis=-1, keepdims=True) == 0
    empty = "zero" if empty == "nearest" else empty
    return _filled(xp, weights, unused, empty, usable)


def shifted_exp(xp: Any, scores: Array, usable: Mask | None) -> Array:
    """Return exp(score - largest score of its row), and 0 for keys that may not be used."""
    if usable is not None:
        scores = xp.where(usable, scores, -xp.inf)
    largest = stop_gradient(xp.max(scores, axis=-1, keepdims=True))
    return xp.exp(scores - xp.where(largest == -xp.inf, 0.0, largest))


def _normalised(xp: Any, similarity: Array) -> tuple[Array, Array]:
    """Divide rows by their sums; also tell which rows, (..., n, 1), sum to 0 and stay zeros."""
    total = xp.sum(similarity, axis=-1, keepdims=True)
    unused = total == 0
    # The inner `where` keeps 0/0 out of the gradient, which the outer one alone would not.
    return similarity / xp.where(unused, 1.0, total), unused


def _filled(xp: Any, weights: Array, unused: Array, empty: str, usable: Mask | None) -> Array:
    """Replace rows without weight as `empty` says; they are zeros already."""
    if empty == "zero":
        return weights
    if empty == "nan":
        return xp.where(unused, xp.nan, weights)
    if usable is None:
        return xp.where(unused, 1 / weights.shape[-1], weights)
    usable = usable | ~xp.any(usable, axis=-1, keepdims=True)
    equal, _ = _normalised(xp, xp.where(usable, xp.ones_like(weights), 0.0))
    return xp.where(unused, equal, weights)


def _root(xp: Any, squares: Array) -> Array:
    """Square root whose gradient at 0 is 0, where that of the root is infinite."""
    zero = squares == 0
    return xp.where(zero, 0.0, xp.sqrt(xp.where(zero, 1.0, squares)))


def _nearest(
    xp: Any, queries: Array, keys: Array, bandwidth: Bandwidth, usable: Mask | None
) -> Array:
    """One-hot at the usable key nearest in bandwidths, at distances whose squares may overflow.

    Distances are measured in units of the smallest one of their row, taken coordinate-wise: what
    overflows then is not the nearest. Rows without usable key are zeros.
    """
    gaps = stop_gradient(scaled_gaps(queries, keys, 1.0))
    if not isinstance(bandwidth, float):
        gaps = gaps * stop_gradient(xp.max(bandwidth) / bandwidth)[..., None]
    size = xp.max(xp.abs(gaps), axis=-1)
    size = size if usable is None else xp.where(usable, size, xp.inf)
    unit = xp.min(size, axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        gaps = gaps / xp.where((unit > 0) & (unit < xp.inf), unit, 1.0)[..., None]
        squares = xp.sum(gaps * gaps, axis=-1)
    squares = squares if usable is None else xp.where(usable, squares, xp.inf)
    best = squares == xp.min(squares, axis=-1, keepdims=True)
    best = best if usable is None else best & usable
    return _normalised(xp, xp.astype(best, queries.dtype))[0]
