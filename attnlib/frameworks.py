"""Whose array is this, and the few things on which the frameworks differ."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from array_api_compat import array_namespace, is_jax_array, is_numpy_array, is_torch_array

FRAMEWORKS = ("torch", "jax")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def preferred() -> str:
    """The framework for a script that runs on either: "torch" or "jax"."""
    chosen = os.environ.get("ATTNLIB_FRAMEWORK", "")
    if chosen:
        if chosen not in FRAMEWORKS:
            raise ValueError(f"ATTNLIB_FRAMEWORK: expected 'torch' or 'jax', got {chosen!r}")
        return chosen
    for name in FRAMEWORKS:
        if find_spec(name):
            return name
    raise ModuleNotFoundError("neither PyTorch nor JAX is installed")


def load(framework: str) -> Any:
    """The array namespace of a framework given by name."""
    modules = {"numpy": "numpy", "torch": "torch", "jax": "jax.numpy"}
    if framework not in modules:
        raise ValueError(f"framework: expected one of {list(modules)}, got {framework!r}")
    return import_module(modules[framework])


def framework_of(array: Any) -> str | None:
    """Name of the framework an array belongs to, or None."""
    if is_torch_array(array):
        return "torch"
    if is_jax_array(array):
        return "jax"
    if is_numpy_array(array):
        return "numpy"
    return None


def dtype_name(array: Any) -> str:
    """The dtype without its framework: "float32"."""
    return str(array.dtype).rpartition(".")[2]


def namespace(**arrays: Any) -> Any:
    """The array namespace shared by named floating-point arrays; errors name the argument."""
    owners = {}
    for name, array in arrays.items():
        owner = framework_of(array)
        if owner is None:
            raise TypeError(
                f"{name}: expected an array of NumPy, PyTorch or JAX, got {type(array).__name__}"
            )
        if dtype_name(array) not in FLOATS:
            raise TypeError(
                f"{name}: expected a dtype among {', '.join(FLOATS)}, got {dtype_name(array)}"
            )
        owners[name] = owner
    if len(set(owners.values())) > 1:
        listed = ", ".join(f"{name} from {owner}" for name, owner in owners.items())
        raise TypeError(f"expected arrays of one framework, got {listed}")
    return array_namespace(*arrays.values())


def widen(xp: Any, *arrays: Any) -> tuple[list[Any], Any]:
    """Arrays in the precision to compute in, and the dtype of the result.

    Half precision is computed in float32.
    """
    result = xp.result_type(*arrays)
    half = str(result).rpartition(".")[2] in ("float16", "bfloat16")
    working = xp.float32 if half else result
    return [xp.astype(array, working, copy=False) for array in arrays], result


def stop_gradient(array: Any) -> Any:
    """The same numbers, constant to differentiation."""
    if is_torch_array(array):
        return array.detach()
    if is_jax_array(array):
        from jax.lax import stop_gradient as stop

        return stop(array)
    return array


def certainly(condition: Any) -> bool:
    """True when the condition has a value now and it is true; a traced one is never certain."""
    try:
        return bool(condition)
    except (TypeError, RuntimeError):
        return False
