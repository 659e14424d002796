"""Similarity kernels: similarity as a function of u = distance / bandwidth >= 0."""

from __future__ import annotations

from typing import Any

from attnlib.frameworks import namespace


def gaussian(u: Any) -> Any:
    """``exp(-u^2 / 2)``."""
    xp = namespace(u=u)
    return xp.exp(-u * u / 2)


def boxcar(u: Any) -> Any:
    """1 where u <= 1, else 0."""
    xp = namespace(u=u)
    return xp.astype(u <= 1, u.dtype)


def triangular(u: Any) -> Any:
    """``max(0, 1 - u)``."""
    xp = namespace(u=u)
    return xp.where(u < 1, 1 - u, xp.zeros_like(u))


def constant(u: Any) -> Any:
    """1 everywhere."""
    xp = namespace(u=u)
    return xp.ones_like(u)


KERNELS = {
    "gaussian": gaussian,
    "boxcar": boxcar,
    "triangular": triangular,
    "constant": constant,
}
