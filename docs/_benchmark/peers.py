"""The contestants: what a reader would use for the same problem, each as its makers intend.

A contestant takes a `Problem`, brings its arrays into its own form, and returns a function without
arguments that solves it; only that function is timed. It returns None where it does not apply.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from problems import Problem

Solve = Callable[[], Any]

NEEDED = {  # packages, by the beginning of a contestant's name
    "KeOps": "pykeops",
    "scikit-learn": "sklearn",
    "statsmodels": "statsmodels",
    "PyTorch": "torch",
    "JAX": "jax",
}


def missing(name: str) -> str | None:
    """Why a contestant cannot take part here."""
    for start, package in NEEDED.items():
        if name.startswith(start) and find_spec(package) is None:
            return f"the package {package} is not installed"
    if name == "KeOps" and not any(map(shutil.which, (os.environ.get("CXX", "c++"), "g++"))):
        return "KeOps compiles its kernels and needs a C++ compiler (g++); none was found"
    return None


def attnlib(problem: Problem, method: str = "auto", like: Callable[..., Any] = np.asarray) -> Solve:
    """Our functions, on arrays of NumPy or of a framework."""
    from attnlib import attention, dot_product, nadaraya_watson  # noqa: PLC0415

    q, k, v = map(like, _narrow(problem))
    options = {"mask": None if problem.mask is None else like(problem.mask), "method": method}
    if problem.bandwidth is None:
        score = partial(dot_product, scale=problem.scale)
        return lambda: attention(q, k, v, score=score, **options)
    return lambda: nadaraya_watson(q, k, v, problem.bandwidth, **options)


def attnlib_torch(problem: Problem, like: Callable[..., Any] | None = None) -> Solve:
    """Our functions on tensors of PyTorch."""
    import torch  # noqa: PLC0415

    return attnlib(problem, like=like or torch.from_numpy)


def attnlib_jax(problem: Problem) -> Solve:
    """Our functions on arrays of JAX."""
    import jax  # noqa: PLC0415

    solve = attnlib(problem, like=jax.numpy.asarray)
    return lambda: jax.block_until_ready(solve())


def numpy_broadcast(problem: Problem) -> Solve:
    """The formula as one writes it, with the whole matrix of weights."""
    q, k, v = _narrow(problem)
    if problem.bandwidth is None:
        return partial(_numpy_attention, problem)
    bandwidth = problem.bandwidth

    def solve() -> Any:
        squares = (q[:, None] - k) ** 2
        weights = np.exp(-(squares if q.ndim == 1 else squares.sum(-1)) / (2 * bandwidth**2))
        if problem.mask is not None:
            weights = weights * problem.mask
        sums = weights.sum(1)
        return weights @ v / (sums if v.ndim == 1 else sums[:, None])

    return solve


def _numpy_attention(problem: Problem) -> Any:
    scores = _scores(problem, problem.queries, problem.keys)
    if problem.mask is not None:
        scores = np.where(problem.mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights @ problem.values / weights.sum(1, keepdims=True)


def torch_broadcast(problem: Problem, like: Callable[..., Any] | None = None) -> Solve:
    """The formula in PyTorch."""
    import torch  # noqa: PLC0415

    q, k, v = map(like or torch.from_numpy, _narrow(problem))
    mask = None if problem.mask is None else torch.from_numpy(problem.mask)

    def solve() -> Any:
        scores = _scores(problem, q, k)
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        return torch.softmax(scores, 1) @ v

    return solve


def jax_broadcast(problem: Problem, *, bare: bool = False) -> Solve | None:
    """The formula in JAX, compiled; bare, nothing guards it against underflow."""
    import jax  # noqa: PLC0415

    xp = jax.numpy
    if bare and (problem.bandwidth is None or problem.mask is not None):
        return None
    arrays = [*map(xp.asarray, _narrow(problem))]
    mask = None if problem.mask is None else xp.asarray(problem.mask)

    def means(q: Any, k: Any, v: Any, mask: Any) -> Any:
        scores = _scores(problem, q, k)
        if bare:
            weights = xp.exp(scores)
            return weights @ v / weights.sum(1).reshape(-1, *(1,) * (v.ndim - 1))
        return jax.nn.softmax(scores if mask is None else xp.where(mask, scores, -xp.inf), 1) @ v

    compiled = jax.jit(means)
    return lambda: jax.block_until_ready(compiled(*arrays, mask))


def _scores(problem: Problem, q: Any, k: Any) -> Any:
    """Scores of which the softmax are the weights."""
    if problem.bandwidth is None:
        return q @ k.T * problem.scale
    squares = (q[:, None] - k) ** 2
    return (squares if q.ndim == 1 else squares.sum(-1)) * (-1 / (2 * problem.bandwidth**2))


def with_gradient(solver: Callable[..., Solve]) -> Callable[[Problem], Solve]:
    """Forward and backward in PyTorch: gradients of the means' squares in all three arrays."""

    def make(problem: Problem) -> Solve:
        import torch  # noqa: PLC0415

        leaves = []

        def leaf(x: Any) -> Any:
            tensor = torch.from_numpy(x)
            if tensor.is_floating_point():
                leaves.append(tensor.requires_grad_())
            return tensor

        solve = solver(problem, like=leaf)

        def run() -> Any:
            means = solve()
            torch.autograd.grad(means.square().sum(), leaves)
            return means.detach()

        return run

    return make


def jax_attention(problem: Problem) -> Solve | None:
    """JAX's own attention, compiled."""
    import jax  # noqa: PLC0415

    if problem.bandwidth is not None:
        return None
    q, k, v = (jax.numpy.asarray(x)[:, None] for x in problem[:3])  # (points, heads, width)
    compiled = jax.jit(jax.nn.dot_product_attention)
    return lambda: jax.block_until_ready(compiled(q, k, v))[:, 0]


def sdpa(problem: Problem) -> Solve:
    """PyTorch's fused attention.

    Gaussian weights are dot products as well, with keys that carry their squared length; what
    belongs to the query alone cancels. The positions are centred first, else digits are lost. The
    fused operator wants values as wide as the keys: zeros fill them up.
    """
    import torch  # noqa: PLC0415

    attend = torch.nn.functional.scaled_dot_product_attention
    q, k, v = map(torch.from_numpy, problem[:3])
    if problem.bandwidth is None:
        return lambda: attend(q[None, None], k[None, None], v[None, None])[0, 0]
    centre, near = k.mean(0), problem.bandwidth**-2
    wide = q.shape[1] + 1

    def solve() -> Any:
        moved = k - centre
        queries = torch.cat((q - centre, torch.ones_like(q[:, :1])), 1)
        squares = (moved * moved).sum(1, keepdim=True)
        keys = torch.cat((near * moved, -near / 2 * squares), 1)
        values = torch.nn.functional.pad(v, (0, wide - v.shape[1]))
        found = attend(queries[None, None], keys[None, None], values[None, None], scale=1.0)
        return found[0, 0, :, : v.shape[1]]

    return solve


def keops(problem: Problem) -> Solve | None:
    """KeOps on tensors of PyTorch: numerator and denominator in one reduction."""
    if problem.bandwidth is None:
        return None
    import torch  # noqa: PLC0415
    from pykeops.torch import LazyTensor  # noqa: PLC0415

    q, k, v = map(torch.from_numpy, problem[:3])
    factor = 1 / (2 * problem.bandwidth**2)

    def solve() -> Any:
        gaps = LazyTensor(q[:, None, :]) - LazyTensor(k[None, :, :])
        sums = (-(gaps**2).sum(-1) * factor).exp() @ torch.cat((v, torch.ones_like(v[:, :1])), 1)
        return sums[:, :-1] / sums[:, -1:]

    return solve


def statsmodels(problem: Problem) -> Solve | None:
    """`KernelReg` with a local constant; it computes the slopes at the queries as well."""
    if problem.bandwidth is None or problem.keys.dtype != np.float64:
        return None
    bandwidths = [problem.bandwidth] * problem.keys.shape[1]
    model = kernel_reg(problem.values[:, 0], problem.keys, bandwidths)
    return lambda: model.fit(problem.queries)[0]


def kernel_reg(values: Any, keys: Any, bandwidths: Any) -> Any:
    """The regression of statsmodels with a local constant."""
    from statsmodels.nonparametric.kernel_regression import KernelReg  # noqa: PLC0415

    kinds = "c" * keys.shape[1]
    return KernelReg(values, keys, kinds, reg_type="lc", bw=bandwidths, rng=0)


def sklearn(problem: Problem) -> Solve | None:
    """The Gaussian kernel matrix of scikit-learn, normalised row by row."""
    if problem.bandwidth is None:
        return None
    from sklearn.metrics.pairwise import rbf_kernel  # noqa: PLC0415

    gamma = 1 / (2 * problem.bandwidth**2)

    def solve() -> Any:
        weights = rbf_kernel(problem.queries, problem.keys, gamma=gamma)
        return weights @ problem.values / weights.sum(1, keepdims=True)

    return solve


def _narrow(problem: Problem) -> Any:
    """Queries, keys and values; without the axis of positions where it has length 1."""
    q, k, v = problem[:3]
    return (q[:, 0], k[:, 0], v[:, 0]) if problem.keys.shape[1] == 1 else (q, k, v)


PEERS: dict[str, Callable[[Problem], Solve | None]] = {
    "attnlib": attnlib,
    "attnlib, plain": partial(attnlib, method="plain"),
    "attnlib, stream": partial(attnlib, method="stream"),
    "attnlib, line": partial(attnlib, method="line"),
    "attnlib on PyTorch": attnlib_torch,
    "attnlib on JAX": attnlib_jax,
    "NumPy broadcast": numpy_broadcast,
    "PyTorch broadcast": torch_broadcast,
    "JAX broadcast": jax_broadcast,
    "JAX broadcast, bare": partial(jax_broadcast, bare=True),
    "attnlib on PyTorch, with gradient": with_gradient(attnlib_torch),
    "PyTorch broadcast, with gradient": with_gradient(torch_broadcast),
    "JAX attention": jax_attention,
    "PyTorch SDPA": sdpa,
    "KeOps": keops,
    "statsmodels": statsmodels,
    "scikit-learn": sklearn,
}


def solvers(names: list[str], problem: Problem) -> dict[str, Solve]:
    """What solves the problem, of those that are installed and apply to it."""
    if problem.mask is not None:
        names = [name for name in names if name.startswith("attnlib") or "broadcast" in name]
    able = {name: PEERS[name](problem) for name in names if missing(name) is None}
    return {name: solve for name, solve in able.items() if solve is not None}


def error(solve: Solve, problem: Problem) -> float:
    """Largest difference from the formula in float64, at some queries, over the largest value."""
    q, k, v = (np.asarray(x, np.float64) for x in problem[:3])
    rows = max(1_000_000 // len(k), 1)
    q = q[:rows]
    if problem.bandwidth is None:
        scores = q @ k.T * problem.scale
    else:
        scores = np.zeros((len(q), len(k)))
        for i in range(k.shape[1]):
            scores -= (q[:, i, None] - k[:, i]) ** 2 / (2 * problem.bandwidth**2)
    if problem.mask is not None:
        scores = np.where(problem.mask[:rows], scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    wanted = weights @ v / weights.sum(1, keepdims=True)
    found = np.asarray(solve(), np.float64).reshape(len(problem.queries), -1)[:rows]
    return float(np.abs(found - wanted).max() / np.abs(v).max())
