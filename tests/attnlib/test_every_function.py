"""What holds for every function: one answer whatever the framework, dtype or transformation."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import torch

import attnlib

pytestmark = pytest.mark.usefixtures("every_method")

# Each takes a problem: q (6, 3), k (9, 3), v (9, 2), y (9,), s (6, 9), M (3, 3), w (3,), b (6, 1)
# and a mask (6, 9). At a radius of 1.2 some queries have no key in reach.
SMOOTH: dict[str, Callable] = {
    "dot_product": lambda p: attnlib.dot_product(p.q, p.k, scale=0.5),
    "bilinear": lambda p: attnlib.bilinear(p.q, p.k, p.M),
    "squared_distance": lambda p: attnlib.squared_distance(p.q, p.k, p.b),
    "metric, diagonal": lambda p: attnlib.metric(p.q, p.k, p.w),
    "metric, matrix": lambda p: attnlib.metric(p.q, p.k, p.M),
    "gaussian": lambda p: attnlib.gaussian(p.s),
    "triangular": lambda p: attnlib.triangular(p.s),
    "softmax_weights": lambda p: attnlib.softmax_weights(p.s),
    "softmax_weights, masked": lambda p: attnlib.softmax_weights(p.s, mask=p.mask),
    "kernel_weights, gaussian": lambda p: attnlib.kernel_weights(p.q, p.k, p.b),
    "kernel_weights, triangular": lambda p: attnlib.kernel_weights(p.q, p.k, 1.2, "triangular"),
    "kernel_weights, masked": lambda p: attnlib.kernel_weights(
        p.q, p.k, p.b, "triangular", mask=p.mask, empty="average"
    ),
    "pool": lambda p: attnlib.pool(p.s, p.v),
    "pool, scalars": lambda p: attnlib.pool(p.s, p.y),
    "attention": lambda p: attnlib.attention(p.q, p.k, p.v, mask=p.mask),
    "attention, scalars": lambda p: attnlib.attention(
        p.q, p.k, p.y, score=partial(attnlib.metric, matrix=p.w)
    ),
    "nadaraya_watson": lambda p: attnlib.nadaraya_watson(p.q, p.k, p.v, p.b),
    "nadaraya_watson, scalars": lambda p: attnlib.nadaraya_watson(
        p.q, p.k, p.y, p.b, "triangular", mask=p.mask
    ),
    "leave_one_out": lambda p: attnlib.leave_one_out(p.k, p.y, 0.7),
    "leave_one_out_error": lambda p: attnlib.leave_one_out_error(p.k, p.v, p.b[..., :1, :]),
    "effective_number": lambda p: attnlib.effective_number(p.s),
}
FLAT: dict[str, Callable] = {  # without gradient
    "constant": lambda p: attnlib.constant(p.s),
    "kernel_weights, constant": lambda p: attnlib.kernel_weights(p.q, p.k, p.b, "constant"),
    "boxcar": lambda p: attnlib.boxcar(p.s),
    "kernel_weights, boxcar": lambda p: attnlib.kernel_weights(p.q, p.k, 1.2, "boxcar"),
    "nearest_weights": lambda p: attnlib.nearest_weights(p.s),
    "average_weights": lambda p: attnlib.average_weights(p.s),
}
CALLS = SMOOTH | FLAT
FIELDS = ("q", "k", "v", "y", "s", "M", "w", "b")
BATCHED = ("q", "k", "v", "y", "s", "b")


def problem(lib, dtype="float64", batch=()) -> SimpleNamespace:
    """The same random problem for each framework; M, w and the mask have no batch axes."""
    draw = np.random.default_rng(12)
    fields = {
        "q": draw.standard_normal((*batch, 6, 3)),
        "k": draw.standard_normal((*batch, 9, 3)),
        "v": draw.standard_normal((*batch, 9, 2)),
        "y": draw.standard_normal((*batch, 9)),
        "s": draw.standard_normal((*batch, 6, 9)),
        "M": draw.standard_normal((3, 3)),
        "w": draw.uniform(0.5, 2, 3),
        "b": draw.uniform(0.7, 2, (*batch, 6, 1)),
    }
    arrays = {name: lib.array(numbers, dtype) for name, numbers in fields.items()}
    return SimpleNamespace(mask=lib.array(draw.uniform(size=(6, 9)) < 0.7, "bool"), **arrays)


def replaced(p, names, arrays) -> SimpleNamespace:
    """The problem with some fields replaced."""
    return SimpleNamespace(**(vars(p) | dict(zip(names, arrays, strict=True))))


def squares(call) -> Callable:
    """The sum of squares of the result. The plain sum of weights would be constant."""
    return lambda p: (call(p) ** 2).sum()


def of_arrays(call, p, names=FIELDS) -> tuple[Callable, list]:
    """The call as a function of the arrays in these fields, and the arrays."""
    return (
        lambda *arrays: call(replaced(p, names, arrays)),
        [getattr(p, name) for name in names],
    )


@pytest.fixture(autouse=True)
def _signatures_tell_the_shapes(typed):
    """Every call in this file has its annotations checked."""


@pytest.fixture(params=CALLS)
def call(request) -> Callable:
    return CALLS[request.param]


@pytest.fixture(params=SMOOTH)
def smooth(request) -> Callable:
    return SMOOTH[request.param]


def test_every_public_function_is_called():
    functions = {name for name in attnlib.__all__ if callable(getattr(attnlib, name))}
    elsewhere = {"BandwidthSearch", "Minimum", "choose_bandwidth", "plot_curves", "show_heatmaps"}
    assert {name.split(",")[0] for name in CALLS} == functions - elsewhere


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-12)])
def test_each_framework_gives_the_same_answer(lib, call, dtype, tolerance):
    p = problem(lib, dtype)
    result = call(p)
    assert str(result.dtype).endswith(dtype)
    function, arrays = of_arrays(call, replaced(p, ["mask"], [np.asarray(p.mask)]))
    expected = function(*map(lib.numbers, arrays))  # NumPy, float64, on the same rounded numbers
    slack = tolerance * np.abs(expected).max()
    np.testing.assert_allclose(lib.numbers(result), expected, rtol=tolerance, atol=slack)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_float32_rounded_once(lib, call, dtype):
    function, arrays = of_arrays(call, problem(lib, dtype))
    result = function(*arrays)
    wide = function(*(lib.array(lib.numbers(array), "float32") for array in arrays))
    assert str(result.dtype).endswith(dtype)
    once = lib.numbers(lib.array(lib.numbers(wide), dtype))
    np.testing.assert_array_equal(lib.numbers(result), once)


def test_batch_axes_are_a_loop(lib, call):
    function, arrays = of_arrays(call, problem(lib, batch=(2, 4)), BATCHED)
    whole = lib.numbers(function(*arrays))
    for index in np.ndindex(2, 4):
        alone = lib.numbers(function(*(array[index] for array in arrays)))
        np.testing.assert_allclose(whole[index], alone, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", [n for n in CALLS if not n.startswith(("leave", "pool"))])
def test_many_queries_share_a_database(lib, name):
    many = problem(lib, batch=(4,))
    function, _ = of_arrays(CALLS[name], problem(lib), ("q", "s", "b"))
    arrays = [many.q, many.s, many.b]
    whole = lib.numbers(function(*arrays))
    for i in range(4):
        alone = lib.numbers(function(*(array[i] for array in arrays)))
        np.testing.assert_allclose(whole[i], alone, rtol=1e-12, atol=1e-14)


def test_jax_jit_and_vmap(jax_lib, numpy_lib, call):
    names = (*BATCHED, "mask")
    function, arrays = of_arrays(call, problem(jax_lib, batch=(4,)), names)
    in_numpy, copies = of_arrays(call, problem(numpy_lib, batch=(4,)), names)
    mapped = jax.jit(jax.vmap(function, (*(0 for _ in BATCHED), None)))
    np.testing.assert_allclose(mapped(*arrays), in_numpy(*copies), rtol=1e-11, atol=1e-13)


def test_jax_gradients(jax_lib, torch_lib, smooth):
    """Reverse mode agrees with PyTorch, whose gradients are checked below, and forward mode too."""
    function, arrays = of_arrays(squares(smooth), problem(jax_lib))
    in_torch, copies = of_arrays(squares(smooth), problem(torch_lib))

    @jax.jit
    def both_modes(*arrays):
        gradients = jax.grad(function, tuple(range(len(arrays))))(*arrays)
        return gradients, jax.jvp(function, arrays, gradients)[1]

    gradients, slope = both_modes(*arrays)
    for gradient, other in zip(gradients, torch_lib.gradients(in_torch, *copies), strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-9, atol=1e-11)
    steepest = sum((np.asarray(gradient) ** 2).sum() for gradient in gradients)
    np.testing.assert_allclose(slope, steepest, rtol=1e-9)


def test_torch_func(torch_lib, call):
    function, arrays = of_arrays(call, problem(torch_lib, batch=(4,)), BATCHED)
    result = torch.func.vmap(function)(*arrays)
    torch.testing.assert_close(result, function(*arrays), rtol=1e-12, atol=1e-14)


def test_torch_gradients(torch_lib, smooth):
    function, arrays = of_arrays(squares(smooth), problem(torch_lib))
    expected = torch_lib.gradients(function, *arrays)
    by_func = torch.func.grad(function, tuple(range(len(arrays))))(*arrays)
    for gradient, other in zip(expected, by_func, strict=True):
        np.testing.assert_allclose(gradient, other.numpy(), rtol=1e-12, atol=1e-14)
    function, _ = of_arrays(smooth, problem(torch_lib))
    leaves = [array.requires_grad_() for array in arrays]
    assert torch.autograd.gradcheck(function, leaves, fast_mode=True)


def test_torch_keeps_the_device(torch_lib, call):
    p = problem(torch_lib)
    moved = {name: array.to("meta") for name, array in vars(p).items()}
    assert call(SimpleNamespace(**moved)).device.type == "meta"
