"""What one asks of attention weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnlib import _checks
from attnlib.frameworks import namespace, widen

if TYPE_CHECKING:
    from attnlib._typing import PerRow, Row


def effective_number(weights: Row) -> PerRow:
    r"""Effective number of keys, :math:`n_\mathrm{eff} = 1 / \sum_i \alpha_i^2`.

    For m nonnegative weights that sum to one it lies between 1 (one key has all the weight) and
    m (all weights are equal). The variance of a weighted mean of values with independent noise of
    variance :math:`s^2` is :math:`s^2 / n_\mathrm{eff}`.

    Parameters
    ----------
    weights : array (..., n, m)
        Weights that sum to one in each row.

    Returns
    -------
    array (..., n)
        The effective number for each query; 0 for a row of zeros, which uses no key.

    Raises
    ------
    TypeError
        If the weights are no floating-point array.
    ValueError
        If there is no axis of keys, or no key.

    References
    ----------
    .. [1] L. Kish, *Survey Sampling*, Wiley, 1965.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import effective_number
    >>> effective_number(np.array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]]))
    array([1., 4.])
    """
    xp = namespace(weights=weights)
    _checks.rows("weights", weights)
    (weights,), dtype = widen(xp, weights)
    squares = xp.sum(weights * weights, axis=-1)
    unused = squares == 0
    number = xp.where(unused, 0.0, 1 / xp.where(unused, 1.0, squares))
    return xp.astype(number, dtype, copy=False)
