"""Similarity kernels: how similar a query and a key are, given their distance.

A kernel is a function of ``u``, the distance divided by the bandwidth (for boxcar and triangular
this is the radius). The sign of ``u`` plays no role. None is normalised: each is 1 at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from attnlib.frameworks import namespace, widen

if TYPE_CHECKING:
    from attnlib._typing import Array, Elements


def gaussian(u: Elements) -> Elements:
    r"""Gaussian kernel, :math:`\exp(-u^2/2)`.

    Parameters
    ----------
    u : array of any shape
        Distance divided by the bandwidth.

    Returns
    -------
    array of the same shape
        Similarities in [0, 1]; positive until the exponential underflows.

    See Also
    --------
    attnlib.pooling.kernel_weights : Normalises this kernel in logarithms, so none underflows.

    References
    ----------
    .. [1] E. Parzen, "On estimation of a probability density function and mode", The Annals of
       Mathematical Statistics 33 (1962), 1065-1076.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import gaussian
    >>> gaussian(np.array([0.0, 1.0, 2.0])).round(4)
    array([1.    , 0.6065, 0.1353])
    """
    xp = namespace(u=u)
    (u,), dtype = widen(xp, u)
    with np.errstate(over="ignore"):
        return xp.astype(xp.exp(-u * u / 2), dtype, copy=False)


def boxcar(u: Elements) -> Elements:
    r"""Boxcar kernel: 1 where :math:`|u| \le 1`, else 0.

    Parameters
    ----------
    u : array of any shape
        Distance divided by the radius.

    Returns
    -------
    array of the same shape
        Similarities, 0 or 1. Their gradient is 0 wherever it exists.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import boxcar
    >>> boxcar(np.array([0.0, 1.0, 1.5]))
    array([1., 1., 0.])
    """
    xp = namespace(u=u)
    inside = xp.astype(xp.abs(u) <= 1, u.dtype)
    return xp.where(xp.isnan(u), u, inside)  # a comparison alone would hide NaN


def triangular(u: Elements) -> Elements:
    r"""Triangular kernel, :math:`\max(0, 1 - |u|)`.

    Parameters
    ----------
    u : array of any shape
        Distance divided by the radius.

    Returns
    -------
    array of the same shape
        Similarities in [0, 1]. At the kinks, :math:`|u| = 0` and :math:`|u| = 1`, the
        gradient returned is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import triangular
    >>> triangular(np.array([0.0, 0.25, 1.5]))
    array([1.  , 0.75, 0.  ])
    """
    xp = namespace(u=u)
    (u,), dtype = widen(xp, u)
    distance = xp.abs(u)
    inside = xp.where(u == 0, 1.0, 1 - distance)  # at 0 the frameworks' slopes of |u| differ
    return xp.astype(xp.where(distance >= 1, 0.0, inside), dtype, copy=False)


def constant(u: Elements) -> Elements:
    """Constant kernel: 1 at every distance, so that all keys are averaged.

    Parameters
    ----------
    u : array of any shape
        Distance divided by the bandwidth; neither matters.

    Returns
    -------
    array of the same shape
        Ones.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import constant
    >>> constant(np.array([0.0, 100.0]))
    array([1., 1.])
    """
    return namespace(u=u).ones_like(u)


KERNELS: dict[str, Callable[[Array], Array]] = {
    "gaussian": gaussian,
    "boxcar": boxcar,
    "triangular": triangular,
    "constant": constant,
}
"""The kernels by the name under which `kernel_weights` and `nadaraya_watson` know them."""
