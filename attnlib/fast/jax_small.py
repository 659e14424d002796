"""The plain expression in JAX: small problems as one compiled program each.

Step by step, JAX takes ten times as long. The arguments are checked while the program is traced,
once for each shape. Nothing looks at the result, since a look would wait for it.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from attnlib import pooling, regression
from attnlib.fast.small import is_usual
from attnlib.kernels import KERNELS
from attnlib.scores import dot_product


def kernel_means(q: Any, k: Any, v: Any, mask: Any, bandwidth: float, kernel: str) -> Any:
    """Kernel means, for a bandwidth whose square is far from the ends of single precision."""
    return _kernel(kernel, bandwidth, q.dtype, k.dtype, v.dtype)(q, k, v, mask)


def dot_means(q: Any, k: Any, v: Any, mask: Any, scale: float) -> Any:
    """Means by the softmax of scaled dot products."""
    return _dot(scale, q.dtype, k.dtype, v.dtype)(q, k, v, mask)


@lru_cache(256)
def _kernel(kernel: str, bandwidth: float, *dtypes: Any) -> Any:
    return partial(_kernel_program(kernel), _array(bandwidth, dtypes))


@lru_cache(256)
def _dot(scale: float, *dtypes: Any) -> Any:
    return partial(_dot_program(), _array(scale, dtypes))


def _array(number: float, dtypes: tuple[Any, ...]) -> Any:
    """The number on the device: to bring it there each time takes as long as a small problem."""
    with jax.ensure_compile_time_eval():
        return jnp.asarray(number, "float64" if "float64" in dtypes else "float32")


@cache
def _kernel_program(kernel: str) -> Any:
    def means(bandwidth: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
        if is_usual(q, k, v, mask, 1):
            return _on_a_line(q, k, v, mask, bandwidth, kernel)
        return regression.nadaraya_watson(q, k, v, bandwidth, kernel, mask=mask, method="plain")

    return jax.jit(means)


@cache
def _dot_program() -> Any:
    def means(scale: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
        if is_usual(q, k, v, mask, 2):
            return _means(pooling.shifted_exp(jnp, (q @ k.T) * scale, mask), v)
        score = partial(dot_product, scale=scale)
        return pooling.attention(q, k, v, score=score, mask=mask, method="plain")

    return jax.jit(means)


def _on_a_line(q: Any, k: Any, v: Any, mask: Any, bandwidth: Any, kernel: str) -> Any:
    """Means on a line, by the nearest key where the kernel reaches none.

    The score of a Gaussian, less that of the nearest key, is a difference of squares. As a product
    it cannot cancel or make NaN, and quarters of the positions leave room for the sum in it.
    """
    farthest = jnp.finfo(q.dtype).max / 2
    gaps = jnp.clip(q[:, None] / 4 - k / 4, -farthest, farthest)
    gaps = gaps if mask is None else jnp.where(mask, gaps, farthest)
    nearest = jax.lax.stop_gradient(jnp.abs(gaps).min(1, keepdims=True))
    if kernel == "gaussian":
        weights = jnp.exp((nearest - gaps) * (nearest + gaps) * (8 / (bandwidth * bandwidth)))
    else:
        weights = KERNELS[kernel](gaps / (bandwidth / 4))
        within = weights.sum(1, keepdims=True) != 0
        weights = jnp.where(within, weights, jnp.abs(gaps) == nearest)
    return _means(weights if mask is None else jnp.where(mask, weights, 0), v)


def _means(weights: Any, v: Any) -> Any:
    """Weighted means of the values; 0 without weight. The quotient last is the shortest one."""
    totals = weights.sum(1)
    totals = jnp.where(totals == 0, 1, totals)
    return weights @ v / (totals if v.ndim == 1 else totals[:, None])
