"""Argument checks whose messages name the argument, what was expected and what came."""

from __future__ import annotations

from typing import Any

from attnlib.frameworks import certainly, dtype_name, framework_of, namespace


def describe(array: Any) -> str:
    """Shape and dtype of an array, for an error message."""
    return f"shape {tuple(array.shape)} and dtype {dtype_name(array)}"


def positions(name: str, array: Any) -> Any:
    """(..., n, d) as it is; (n,) becomes (n, 1)."""
    if array.ndim == 0:
        raise ValueError(
            f"{name}: expected shape (..., number, d_k), or (number,) for scalar positions, "
            f"got {describe(array)}"
        )
    return array[:, None] if array.ndim == 1 else array


def queries_and_keys(queries: Any, keys: Any) -> tuple[Any, Any, Any]:
    """Namespace, queries (..., n, d_k) and keys (..., m, d_k), checked against each other."""
    xp = namespace(queries=queries, keys=keys)
    queries, keys = positions("queries", queries), positions("keys", keys)
    if keys.shape[-2] == 0:
        raise ValueError(f"keys: expected at least one key, got {describe(keys)}")
    return xp, queries, keys


def same_width(queries: Any, keys: Any) -> None:
    """Raise unless queries and keys have the same last axis."""
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            "queries and keys: expected the same d_k (last axis), "
            f"got queries of {describe(queries)} and keys of {describe(keys)}"
        )


def bandwidth_for(xp: Any, bandwidth: Any, like: Any) -> Any:
    """A positive number as it is, an array in the dtype of ``like``."""
    if framework_of(bandwidth) == "numpy" and bandwidth.ndim == 0:
        bandwidth = float(bandwidth)
    if isinstance(bandwidth, (int, float)) and not isinstance(bandwidth, bool):
        if not bandwidth > 0:
            raise ValueError(f"bandwidth: expected a positive number, got {bandwidth!r}")
        # A number too small for the dtype would become 0, and 0/0 at distance 0.
        return max(float(bandwidth), float(xp.finfo(like.dtype).smallest_normal))
    namespace(bandwidth=bandwidth, keys=like)
    if certainly(xp.any(~(bandwidth > 0))):
        raise ValueError(f"bandwidth: expected positive numbers, got {bandwidth!r}")
    return xp.astype(bandwidth, like.dtype, copy=False)


def mask_for(mask: Any, like: Any) -> None:
    """Raise unless the mask is a boolean array of the same framework."""
    if framework_of(mask) is None:
        raise TypeError(f"mask: expected a boolean array or None, got {type(mask).__name__}")
    if framework_of(mask) != framework_of(like):
        raise TypeError(
            f"expected arrays of one framework, got mask from {framework_of(mask)} "
            f"and keys from {framework_of(like)}"
        )
    if dtype_name(mask) != "bool":
        raise TypeError(f"mask: expected dtype bool (True = may be used), got {describe(mask)}")


def one_of(name: str, value: Any, allowed: Any) -> None:
    """Raise unless the value is among those allowed."""
    if value not in allowed:
        raise ValueError(f"{name}: expected one of {sorted(allowed)}, got {value!r}")
