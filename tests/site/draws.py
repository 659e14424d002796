"""The section's data, drawn by each framework's own recipe and continued in double precision.

The draws are facts (seed, order, single precision); nothing of attnlib is used here, so that the
checks of the site's numbers do not share a mistake with the site.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
import torch


class Draws(NamedTuple):
    """40 observations with their noise, and 50 queries with the truth at them, in float64."""

    x_train: np.ndarray
    y_train: np.ndarray
    noise: np.ndarray
    x_val: np.ndarray
    y_val: np.ndarray


def truth(x: np.ndarray) -> np.ndarray:
    """The curve of the section."""
    return 2 * np.sin(x) + x


def section(framework: str) -> Draws:
    """Draw in float32, then go on in float64."""
    if framework == "torch":
        generator = torch.Generator()
        generator.manual_seed(0)
        inputs = (torch.rand(40, generator=generator) * 5).numpy()
        noise = torch.randn(40, generator=generator).numpy()
    else:
        first, second = jax.random.split(jax.random.key(0))
        inputs = np.asarray(jax.random.uniform(first, (40,), dtype="float32") * 5)
        noise = np.asarray(jax.random.normal(second, (40,), dtype="float32"))
    x_train = np.sort(inputs).astype(np.float64)
    noise = noise.astype(np.float64)
    x_val = np.arange(50) / 10
    return Draws(x_train, truth(x_train) + noise, noise, x_val, truth(x_val))


def gaussian_weights(queries: np.ndarray, keys: np.ndarray, bandwidth: float) -> np.ndarray:
    """Normalised Gaussian kernel, a row a query, in float64."""
    log_kernel = -((queries[:, None] - keys) ** 2) / (2 * bandwidth**2)
    kernel = np.exp(log_kernel - log_kernel.max(axis=1, keepdims=True))
    return kernel / kernel.sum(axis=1, keepdims=True)


def normals(
    framework: str, seed: int, *shapes: Sequence[int], keys: int | None = None
) -> list[np.ndarray]:
    """Standard normal draws in float64, one after the other, as the exercises make them.

    PyTorch takes them from one generator; JAX splits its key into `keys` and uses one for each.
    """
    if framework == "torch":
        generator = torch.Generator().manual_seed(seed)
        return [
            torch.randn(tuple(shape), generator=generator, dtype=torch.float64).numpy()
            for shape in shapes
        ]
    with jax.enable_x64(True):
        split = jax.random.split(jax.random.key(seed), keys or len(shapes))
        return [
            np.asarray(jax.random.normal(key, tuple(shape), dtype="float64"))
            for key, shape in zip(split, shapes, strict=False)
        ]
