"""The section's draws and the exercises' databases. No draw touches a global seed."""

from __future__ import annotations

from typing import Any, NamedTuple

from attnlib.frameworks import load, namespace

BANDWIDTHS = (0.1, 0.5, 2.0)


class SectionData(NamedTuple):
    """Forty noisy observations, and the queries with the truth at them."""

    x_train: Any
    y_train: Any
    x_val: Any
    y_val: Any


def truth(x: Any) -> Any:
    """The curve behind the section's data, ``2 sin(x) + x``."""
    xp = namespace(x=x)
    return x + 2 * xp.sin(x)


def section_data(framework: str) -> SectionData:
    """The section's data, float32: 40 training pairs and 50 queries."""
    xp = load(framework)
    if framework == "torch":
        stream = xp.Generator().manual_seed(0)
        inputs = xp.rand(40, generator=stream, dtype=xp.float32)
        noise = xp.randn(40, generator=stream, dtype=xp.float32)
        x_train = xp.sort(5 * inputs).values
    else:
        import jax

        for_inputs, for_noise = jax.random.split(jax.random.key(0))
        inputs = jax.random.uniform(for_inputs, (40,), dtype=xp.float32)
        noise = jax.random.normal(for_noise, (40,), dtype=xp.float32)
        x_train = xp.sort(5 * inputs)
    x_val = xp.arange(0, 5, 0.1, dtype=xp.float32)
    return SectionData(x_train, truth(x_train) + noise, x_val, truth(x_val))


def normal(framework: str, shape: tuple[int, ...], seed: int) -> Any:
    """Standard normal numbers, float32."""
    xp = load(framework)
    if framework == "torch":
        return xp.randn(shape, generator=xp.Generator().manual_seed(seed), dtype=xp.float32)
    import jax

    return jax.random.normal(jax.random.key(seed), shape, dtype=xp.float32)


def section_noise(framework: str, redraws: int, seed: int) -> Any:
    """Fresh noise for the section's 40 training labels: (redraws, 40), float32."""
    return normal(framework, (redraws, 40), seed)


def metric_data(framework: str, n: int, seed: int) -> tuple[Any, Any]:
    """Inputs (n, 5) uniform on [0, 5]^5 and labels (n,), truth of the first coordinate plus noise."""
    xp = load(framework)
    if framework == "torch":
        stream = xp.Generator().manual_seed(seed)
        x = 5 * xp.rand((n, 5), generator=stream, dtype=xp.float32)
        noise = xp.randn(n, generator=stream, dtype=xp.float32)
    else:
        import jax

        for_inputs, for_noise = jax.random.split(jax.random.key(seed))
        x = 5 * jax.random.uniform(for_inputs, (n, 5), dtype=xp.float32)
        noise = jax.random.normal(for_noise, (n,), dtype=xp.float32)
    return x, truth(x[:, 0]) + noise


def unit_sphere(framework: str, m: int, d: int, seed: int, *, databases: int | None = None) -> Any:
    """Points uniform on the unit sphere of R^d: (m, d), or (databases, m, d), float32."""
    xp = load(framework)
    draws = normal(framework, (m, d) if databases is None else (databases, m, d), seed)
    return draws / xp.sqrt(xp.sum(draws * draws, -1))[..., None]


def two_entry_database(framework: str) -> tuple[Any, Any]:
    """Keys [[2], [5]] and values [[10], [20]], float32."""
    xp = load(framework)
    asarray = xp.asarray
    keys, values = [[2.0], [5.0]], [[10.0], [20.0]]
    return asarray(keys, dtype=xp.float32), asarray(values, dtype=xp.float32)
