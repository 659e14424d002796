"""The stream under PyTorch: derivatives, transformations, its fused operator, memory."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import references
import torch

import attnlib
from attnlib.fast import choice, dense, torch_stream

DRAW = np.random.default_rng(6)


def tensors(*shapes, dtype=torch.float64):
    return [torch.tensor(DRAW.standard_normal(shape), dtype=dtype) for shape in shapes]


MASK = torch.tensor(DRAW.uniform(size=(4, 6)) < 0.7)
PROBLEMS = {
    "gaussian": (attnlib.nadaraya_watson, tensors((4, 2), (6, 2), (6, 2)), 0.6),
    "a bandwidth each": (attnlib.nadaraya_watson, tensors((4, 2), (6, 2), (6, 2)),
                         torch.tensor([[0.3], [0.5], [0.9], [2.0]])),
    "scalars": (attnlib.nadaraya_watson, tensors((4,), (6,), (6,)), 0.6),
    "masked": (partial(attnlib.nadaraya_watson, mask=MASK),
               tensors((4, 2), (6, 2), (6, 2)), 0.6),
    "batch": (attnlib.nadaraya_watson, tensors((2, 1, 4, 2), (3, 6, 2), (1, 6, 1)), 0.6),
    "leave one out": (attnlib.leave_one_out_error, tensors((6, 2), (6, 1)), 0.6),
    "attention": (attnlib.attention, tensors((4, 2), (6, 2), (6, 3)), None),
    "attention, masked": (partial(attnlib.attention, mask=MASK),
                          tensors((4, 2), (6, 2), (6, 3)), None),
}  # fmt: skip


def arguments(case):
    function, arrays, bandwidth = PROBLEMS[case]
    if bandwidth is not None:
        arrays = [*arrays, torch.as_tensor(bandwidth, dtype=torch.float64)]
    return function, arrays


@pytest.mark.parametrize("case", PROBLEMS)
def test_gradcheck(case):
    function, arrays = arguments(case)
    leaves = [x.clone().requires_grad_() for x in arrays]
    assert torch.autograd.gradcheck(partial(function, method="stream"), leaves)


@pytest.mark.parametrize("case", PROBLEMS)
def test_transformations_take_the_definition(case):
    """Inside torch.func and vmap, where NumPy cannot follow."""
    function, arrays = arguments(case)
    run = partial(function, method="stream")
    expected = run(*arrays)
    every = tuple(range(len(arrays)))
    loss = lambda *xs: run(*xs).square().sum()  # noqa: E731
    leaves = [x.clone().requires_grad_() for x in arrays]
    exact = torch.autograd.grad(loss(*leaves), leaves)
    for found, gradient in zip(torch.func.grad(loss, every)(*arrays), exact, strict=True):
        torch.testing.assert_close(found, gradient, rtol=1e-9, atol=1e-11)
    twice = torch.func.vmap(run)(*(torch.stack([x, x]) for x in arrays))
    torch.testing.assert_close(twice, torch.stack([expected, expected]), rtol=1e-10, atol=1e-12)


# Dynamo traces through the caches of array-api-compat, and says so.
@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")
@pytest.mark.parametrize("method", ["stream", "auto"])
def test_compiled(method):
    function, arrays = arguments("gaussian")
    run = partial(function, method=method)
    compiled = torch.compile(run, backend="eager")(*arrays)
    torch.testing.assert_close(compiled, run(*arrays), rtol=1e-10, atol=1e-12)
    torch.compiler.reset()


def test_second_derivatives_need_the_definition():
    function, arrays = arguments("gaussian")
    leaves = [x.clone().requires_grad_() for x in arrays]
    loss = function(*leaves, method="stream").square().sum()
    (first,) = torch.autograd.grad(loss, leaves[:1], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_no_graph_where_none_is_wanted():
    function, arrays = arguments("gaussian")
    leaves = [x.clone().requires_grad_() for x in arrays]
    assert function(*leaves, method="stream").requires_grad
    with torch.no_grad():
        assert not function(*leaves, method="stream").requires_grad
    assert not function(*arrays, method="stream").requires_grad


def test_only_wanted_gradients(monkeypatch):
    """Values alone, as in a readout: the others stay without."""
    function, (queries, keys, values, bandwidth) = arguments("gaussian")
    values.requires_grad_()
    function(queries, keys, values, bandwidth, method="stream").sum().backward()
    weights = attnlib.kernel_weights(queries, keys, bandwidth)
    expected = weights.sum(0)[:, None].expand(-1, 2)
    torch.testing.assert_close(values.grad, expected, rtol=1e-12, atol=0)
    assert queries.grad is None


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("gradient", [False, True])
def test_fused_operator(monkeypatch, batch, gradient):
    """Taken for plain attention in single precision, and exact to the bound of the table."""
    monkeypatch.setitem(choice.FEW, "dot", 0)
    monkeypatch.setitem(choice.FEW, "gradient", 0)
    for engine in ("pooled", "gradients"):
        monkeypatch.setattr(dense, engine, None)
    queries, keys, values = tensors((*batch, 20, 8), (*batch, 30, 8), (*batch, 30, 4),
                                    dtype=torch.float32)  # fmt: skip
    queries.requires_grad_(gradient)
    found = attnlib.attention(queries, keys, values)
    assert found.requires_grad == gradient
    assert found.shape == (*batch, 20, 4)
    for index in np.ndindex(*batch):
        q, k, v = (x.detach()[index].numpy() for x in (queries, keys, values))
        error = references.error(found.detach()[index].numpy(), references.dot_weights(q, k), v)
        assert error.max() < references.bound("stream (JAX", "float32")
    if gradient:
        (fast,) = torch.autograd.grad(found.square().sum(), queries)
        plain = attnlib.attention(queries, keys, values, method="plain").square().sum()
        torch.testing.assert_close(
            fast, torch.autograd.grad(plain, queries)[0], rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("case", PROBLEMS)
def test_blocks_of_queries(monkeypatch, case):
    """What devices do; here on the processor, which gives the same."""
    monkeypatch.setattr(torch_stream, "ENTRIES", 40)  # three queries at a time
    function, arrays = arguments(case)
    plain = [x.clone().requires_grad_() for x in arrays]
    leaves = [x.clone().requires_grad_() for x in arrays]
    monkeypatch.setattr(choice, "as_numpy", lambda task: None)
    monkeypatch.setattr(torch_stream, "stream", lambda task, fused: torch_stream.blocks(task))
    found = function(*leaves, method="stream")
    expected = function(*plain, method="plain")
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
    pairs = zip(
        torch.autograd.grad(found.square().sum(), leaves),
        torch.autograd.grad(expected.square().sum(), plain),
        strict=True,
    )
    for one, other in pairs:
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


MEMORY = """
import resource
import torch
import attnlib

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def run(n, m, dtype, masked):
    q, k = torch.randn(n, 2, dtype=dtype), torch.randn(m, 2, dtype=dtype, requires_grad=True)
    mask = torch.rand(n, 1) < 0.7 if masked else None
    out = torch.empty(m * 10, dtype=dtype).fill_(0)  # room for the gradient and what autograd keeps
    del out
    before = peak()
    attnlib.nadaraya_watson(q, k, k[:, :1], 0.5, mask=mask, method="stream").sum().backward()
    return (peak() - before) / 1e6

run(100, 100, torch.float32, False)
print(run(10_000, 10_000, torch.float32, True))
print(run(10_000, 10_000, torch.float64, False))
print(run(1000, 1_000_000, torch.float32, False))
"""


def test_memory_of_both_passes():
    """Megabytes beyond arguments and gradients."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    *squares, million = map(float, done.stdout.split())
    assert max(squares) < 16
    assert million < 100
