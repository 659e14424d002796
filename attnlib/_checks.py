"""Checks of arguments. A message names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from attnlib.frameworks import certainly, dtype_name, framework_of, namespace

if TYPE_CHECKING:
    from attnlib._typing import Array, Bandwidth, Keys, Mask, Queries, Values

Shape = tuple[int, ...]


def describe(array: Array) -> str:
    """Describe an array in a message."""
    return f"shape {tuple(array.shape)} and dtype {dtype_name(array)}"


def one_of(name: str, choice: object, allowed: Collection[str]) -> None:
    """Raise unless the choice is among the allowed ones."""
    if choice not in tuple(allowed):
        raise ValueError(f"{name}: expected one of {', '.join(allowed)}; got {choice!r}")


def rows(name: str, array: Array) -> None:
    """Raise unless the last axis can hold one entry a key, and there is a key."""
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(
            f"{name}: expected shape (..., n, m) with at least one key, got {describe(array)}"
        )


def as_points(name: str, array: Array) -> Array:
    """Return positions as (..., number, width); a 1-D array holds scalar positions."""
    if array.ndim == 0:
        raise ValueError(
            f"{name}: expected shape (..., number, width), or (number,) for scalar positions; "
            f"got {describe(array)}"
        )
    return array[:, None] if array.ndim == 1 else array


def as_pair(queries: Queries, keys: Keys) -> tuple[Any, Array, Array, Shape]:
    """Return array functions, queries (..., n, d_q), keys (..., m, d_k) and (..., n, m)."""
    xp = namespace(queries=queries, keys=keys)
    queries, keys = as_points("queries", queries), as_points("keys", keys)
    if keys.shape[-2] == 0:
        raise ValueError(f"keys: expected at least one key, got {describe(keys)}")
    try:
        batch = np.broadcast_shapes(tuple(queries.shape[:-2]), tuple(keys.shape[:-2]))
    except ValueError:
        raise ValueError(
            "queries and keys: expected batch axes (all but the last two) that broadcast, "
            f"got queries of {describe(queries)} and keys of {describe(keys)}"
        ) from None
    return xp, queries, keys, (*batch, queries.shape[-2], keys.shape[-2])


def same_width(queries: Array, keys: Array) -> None:
    """Raise unless a query can be compared with a key coordinate by coordinate."""
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            "queries and keys: expected the same d_k (last axis), "
            f"got queries of {describe(queries)} and keys of {describe(keys)}"
        )


def as_vectors(values: Values, m: int, rank: int) -> tuple[Array, bool]:
    """Return values as (..., m, d_v), and whether they were scalars (..., m).

    Scalars are told from vectors by the number of axes, never by a size: vectors have as many
    axes as the keys or weights that they go with (``rank``) or more, scalars have fewer.
    """
    scalar = values.ndim < rank
    if values.ndim == 0 or values.shape[-1 if scalar else -2] != m:
        raise ValueError(
            f"values: expected one for each of the {m} keys, as vectors (..., {m}, d_v) with "
            f"{rank} or more axes, or scalars (..., {m}) with fewer; got {describe(values)}"
        )
    missing_axes = (None,) * (rank - 1 - values.ndim)
    return (values[(*missing_axes, ..., None)] if scalar else values), scalar


def as_pairs(keys: Keys, values: Values) -> tuple[Any, Array, Array, bool]:
    """Return array functions, keys and values with all axes, and if values were scalars."""
    xp = namespace(keys=keys, values=values)
    keys = as_points("keys", keys)
    return xp, keys, *as_vectors(values, keys.shape[-2], keys.ndim)


def scored(score: Any, queries: Array, keys: Array, shape: Shape) -> Array:
    """Return score(queries, keys), which must be a row of m scores for each query."""
    if not callable(score):
        raise TypeError(f"score: expected a function of (queries, keys), got {score!r}")
    scores: Array = score(queries, keys)
    namespace(**{"result of score": scores, "queries": queries})
    if tuple(scores.shape[-2:]) != shape[-2:]:
        raise ValueError(
            f"score: expected a function that returns scores of shape (..., n, m) = {shape}, "
            f"got {describe(scores)}"
        )
    return scores


def as_bandwidth(xp: Any, bandwidth: Bandwidth, keys: Array, shape: Shape) -> Bandwidth:
    """Return the bandwidth as a float, or as an array in the dtype of the keys."""
    number: Any = bandwidth
    if framework_of(number) == "numpy" and number.ndim == 0:
        number = number.item()  # whatever the framework of the keys
    limits = xp.finfo(keys.dtype)
    if isinstance(number, int | float) and not isinstance(number, bool):
        if not number > 0:
            raise ValueError(f"bandwidth: expected a positive number, got {number!r}")
        # What the dtype would round to 0 or infinity acts like its smallest or largest number.
        return min(max(float(number), float(limits.smallest_normal)), float(limits.max))
    namespace(bandwidth=number, keys=keys)
    if certainly(xp.any(~(number > 0))):
        raise ValueError(f"bandwidth: expected positive numbers, got {number!r}")
    _broadcasts("bandwidth", number, shape)
    number = xp.astype(number, keys.dtype, copy=False)
    return xp.where(number > limits.max, limits.max, number)


def as_mask(mask: Mask | None, like: Array, shape: Shape) -> Mask | None:
    """Return the mask, which must be boolean and broadcast against (..., n, m)."""
    if mask is None:
        return None
    owner = framework_of(mask)
    if owner is None:
        raise TypeError(f"mask: expected a boolean array or None, got {type(mask).__name__}")
    if owner != framework_of(like):
        raise TypeError(f"mask: expected an array of {framework_of(like)}, got one of {owner}")
    if dtype_name(mask) != "bool":
        raise TypeError(f"mask: expected dtype bool, True = may be used; got {describe(mask)}")
    _broadcasts("mask", mask, shape)
    return mask


def _broadcasts(name: str, array: Array, shape: Shape) -> None:
    """Raise unless the array broadcasts against (..., n, m) and leaves n and m as they are."""
    try:
        fits = np.broadcast_shapes(tuple(array.shape), shape)[-2:] == shape[-2:]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"{name}: expected a shape that broadcasts against (..., n, m) = {shape}, "
            f"got {describe(array)}"
        )
