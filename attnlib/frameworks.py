"""Whose array is this, and the few things on which the frameworks differ.

A framework is recognised by the type of the array that arrives and is never imported to find out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace, is_jax_array, is_numpy_array, is_torch_array

if TYPE_CHECKING:
    from attnlib._typing import Array

FLOATS = ("float16", "bfloat16", "float32", "float64")
_MODULES = {"torch": "torch", "jax": "jax.numpy", "numpy": "numpy"}


def preferred() -> str:
    """Name the framework for a script that runs on either.

    Returns
    -------
    str
        "torch" or "jax": the environment variable ``ATTNLIB_FRAMEWORK`` where it is set, else
        the first of the two that is installed.

    Raises
    ------
    ValueError
        If ``ATTNLIB_FRAMEWORK`` names anything else.
    ModuleNotFoundError
        If neither PyTorch nor JAX is installed.

    Examples
    --------
    >>> from attnlib.frameworks import preferred
    >>> preferred() in ("torch", "jax")
    True
    """
    chosen = os.environ.get("ATTNLIB_FRAMEWORK")
    if chosen:
        if chosen not in ("torch", "jax"):
            raise ValueError(f"ATTNLIB_FRAMEWORK: expected 'torch' or 'jax', got {chosen!r}")
        return chosen
    for name in ("torch", "jax"):
        if find_spec(name):
            return name
    raise ModuleNotFoundError(
        "neither PyTorch nor JAX is installed: pip install attnlib[torch] or attnlib[jax]"
    )


def load(framework: str) -> Any:
    """Import a framework by name and return the module with its array functions.

    Parameters
    ----------
    framework : {"torch", "jax", "numpy"}
        Name of the framework.

    Returns
    -------
    module
        ``torch``, ``jax.numpy`` or ``numpy``.

    Raises
    ------
    ValueError
        If the name is none of these.

    Examples
    --------
    >>> from attnlib.frameworks import load
    >>> xp = load("numpy")
    >>> xp.arange(3)
    array([0, 1, 2])
    """
    if framework not in _MODULES:
        raise ValueError(f"framework: expected one of {list(_MODULES)}, got {framework!r}")
    return import_module(_MODULES[framework])


def framework_of(array: object) -> str | None:
    """Name the framework that an array belongs to; None if it is no array of the three.

    Parameters
    ----------
    array : object
        Anything.

    Returns
    -------
    {"torch", "jax", "numpy"} or None
        A traced array of JAX counts as JAX's, a NumPy scalar as NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib.frameworks import framework_of
    >>> framework_of(np.ones(3)), framework_of([1.0, 1.0])
    ('numpy', None)
    """
    if type(array) is np.ndarray and array.dtype.kind == "f":
        return "numpy"  # at once; the questions below take longer
    if is_torch_array(array):
        return "torch"
    if is_jax_array(array):
        return "jax"
    return "numpy" if is_numpy_array(array) else None


def dtype_name(array: Array) -> str:
    """Name the dtype without its framework: "float32" for ``torch.float32``."""
    return _name(array.dtype)


@cache
def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]  # slow in NumPy


def namespace(**arrays: Array) -> Any:
    """Return the array functions for named floating-point arrays of one framework.

    The names go into the message when an argument is no array, holds no floating-point numbers,
    or belongs to another framework than the rest.
    """
    owners = {name: framework_of(array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if owners[name] is None:
            kind = type(array).__name__
            raise TypeError(f"{name}: expected an array of NumPy, PyTorch or JAX, got {kind}")
        if dtype_name(array) not in FLOATS:
            raise TypeError(
                f"{name}: expected one of the dtypes {', '.join(FLOATS)}, got {dtype_name(array)}"
            )
    if len(set(owners.values())) > 1:
        found = ", ".join(f"{name} from {owner}" for name, owner in owners.items())
        raise TypeError(f"expected arrays of one framework, got {found}")
    return array_namespace(next(iter(arrays.values())))


def widen(xp: Any, *arrays: Array) -> tuple[list[Array], Any]:
    """Return the arrays in the precision to compute in, and the dtype for the result.

    Half precision is computed in float32: float16 ends at 65504, and a bfloat16 has 8 bits.
    """
    dtype = xp.result_type(*arrays)
    half = _name(dtype).endswith("float16")  # bfloat16 too
    working = xp.float32 if half else dtype
    return [xp.astype(array, working, copy=False) for array in arrays], dtype


def stop_gradient(array: Array) -> Array:
    """Return the same numbers, constant under differentiation."""
    if is_torch_array(array):
        return array.detach()
    if is_jax_array(array):
        return import_module("jax").lax.stop_gradient(array)
    return array


def fused(*choices: str) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Run a function of arrays as one program where these are JAX's; name its other arguments.

    Step by step, JAX compiles every step by itself: seconds in place of tenths, at each new shape.
    """

    def decorate(function: Callable[..., Array]) -> Callable[..., Array]:
        @cache
        def program() -> Callable[..., Array]:
            jit: Callable[..., Array] = import_module("jax").jit(function, static_argnames=choices)
            return jit

        @wraps(function)
        def run(array: Array, *arrays: Array, **chosen: str) -> Array:
            return (program() if is_jax_array(array) else function)(array, *arrays, **chosen)

        return run

    return decorate


def certainly(condition: Any) -> bool:
    """Tell whether a condition is true and known: one that is traced has no value yet."""
    try:
        return bool(condition)
    except (TypeError, RuntimeError):  # what JAX and PyTorch raise while tracing
        return False
