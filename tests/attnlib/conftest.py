"""Each framework in turn: how to make arrays, read them and differentiate; and checked types."""

import inspect
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType

import array_api_compat
import jax
import numpy as np
import pytest
import torch
from beartype import beartype
from hypothesis import settings
from jaxtyping import jaxtyped

import attnlib
from attnlib import _typing
from attnlib.fast import choice, small

# The same examples in every run, however slow the machine.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")
jax.config.update("jax_enable_x64", True)  # so that JAX has float64 at all


class Library:
    """NumPy, PyTorch or JAX."""

    def __init__(self, name: str):
        self.name = name
        ones = {"numpy": np.ones, "torch": torch.ones, "jax": jax.numpy.ones}[name]
        self.xp = array_api_compat.array_namespace(ones(1))

    def array(self, data, dtype: str = "float64"):
        """Make an array. NumPy's is read-only, so that nothing can be changed in place."""
        if self.name == "numpy" and dtype == "bfloat16":
            array = np.asarray(data).astype(jax.numpy.bfloat16.dtype)  # from the package ml_dtypes
        else:
            array = self.xp.asarray(np.array(data), dtype=getattr(self.xp, dtype))
        if self.name == "numpy":
            array.flags.writeable = False
        return array

    @staticmethod
    def numbers(array) -> np.ndarray:
        """Read an array of any framework and dtype into float64."""
        if isinstance(array, torch.Tensor):
            array = array.detach().double().numpy()
        return np.asarray(array).astype(np.float64)

    def gradients(self, function: Callable, *arrays) -> list[np.ndarray]:
        """Gradients of the sum of function(*arrays) in each of the arrays."""
        if self.name == "jax":
            gradient = jax.grad(lambda *a: function(*a).sum(), tuple(range(len(arrays))))
            found = jax.jit(gradient)(*arrays)  # to compile the whole is faster than each step
        else:
            leaves = [array.detach().clone().requires_grad_() for array in arrays]
            total = function(*leaves).sum()
            total = total + 0 * sum(leaf.sum() for leaf in leaves)  # a graph even for constants
            found = torch.autograd.grad(total, leaves)
        return [self.numbers(gradient) for gradient in found]


@pytest.fixture(params=["numpy", "torch", "jax"])
def lib(request: pytest.FixtureRequest) -> Library:
    """Each framework in turn."""
    return Library(request.param)


@pytest.fixture(params=["torch", "jax"])
def gradlib(request: pytest.FixtureRequest) -> Library:
    """Each framework that differentiates."""
    return Library(request.param)


@pytest.fixture
def numpy_lib() -> Library:
    """NumPy alone."""
    return Library("numpy")


@pytest.fixture
def torch_lib() -> Library:
    """PyTorch alone."""
    return Library("torch")


@pytest.fixture
def jax_lib() -> Library:
    """JAX alone."""
    return Library("jax")


def checked(function: FunctionType) -> FunctionType:
    """The function with its annotations, which are only text at run time, checked at each call."""
    names = vars(_typing) | vars(sys.modules[function.__module__])
    copy = FunctionType(function.__code__, function.__globals__, function.__name__)
    copy.__module__ = function.__module__
    copy.__defaults__, copy.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    copy.__annotations__ = {
        name: eval(annotation, names) for name, annotation in function.__annotations__.items()
    }
    return jaxtyped(copy, typechecker=beartype)


TYPED = {
    name: checked(function)
    for name in attnlib.__all__
    if attnlib._FILE_OF.get(name) != "plotting"  # annotated in NumPy's own way
    and inspect.isfunction(function := getattr(attnlib, name))
}


@pytest.fixture(name="checked")
def checked_fixture() -> Callable:
    """`checked`, for functions that the package does not list."""
    return checked


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package, with the shapes of every call of its public functions checked."""
    for name, function in TYPED.items():
        monkeypatch.setattr(attnlib, name, function)
    return attnlib


@pytest.fixture(scope="module", params=["plain", "large"])
def every_method(request: pytest.FixtureRequest):
    """The same tests again as if each problem were large: line or stream wherever they apply."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "large":
            for kind in choice.FEW:
                patch.setitem(choice.FEW, kind, 0)
            patch.setattr(small, "FEW", 0)
        yield
