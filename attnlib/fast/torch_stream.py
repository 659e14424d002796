"""Pooling in bounded memory for tensors of PyTorch that carry a gradient or lie on a device.

On the processor `dense` does the work on the tensors' own memory, forward and backward. Elsewhere
queries are taken some at a time, by the fused operator where it gives the same result, else by the
plain definition, whose intermediate results are made again in the backward pass.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from attnlib.fast import choice, dense
from attnlib.fast.choice import Task

ENTRIES = 1 << 24  # scores at a time on a device


def stream(task: Task, *, fused: bool) -> Any:
    """Means (..., n, p); None inside transformations, where the plain definition must serve."""
    torch = sys.modules["torch"]
    arrays = [x for x in (*task[:3], task.bandwidth, task.mask) if isinstance(x, torch.Tensor)]
    if torch.compiler.is_compiling():
        return None
    device = any(x.device.type != "cpu" for x in arrays)
    if not device and choice.views("torch", *arrays) is None:
        return None
    if fused and choice.is_fused(task):
        return _fused(task)
    if device:
        return blocks(task)
    return _function().apply(task, *task[:3], task.bandwidth)


def blocks(task: Task) -> Any:
    """Do a task by the plain definition, some queries at a time."""
    torch = sys.modules["torch"]
    checkpoint = torch.utils.checkpoint.checkpoint
    n, m = task.shape[-2:]
    step = max(1, ENTRIES // (m * task.keys.shape[-1]))
    index = torch.arange(m, device=task.keys.device)

    def rows(x: Any, part: slice) -> Any:
        """These rows of something that broadcasts against (..., n, m)."""
        return x[..., part, :] if getattr(x, "ndim", 0) > 1 and x.shape[-2] == n else x

    found = []
    for a in range(0, n, step):
        part = slice(a, a + step)
        mask = rows(task.mask, part)
        if task.others:
            apart = index[part, None] != index
            mask = apart if mask is None else mask & apart
        queries, bandwidth = task.queries[..., part, :], rows(task.bandwidth, part)
        found.append(
            checkpoint(
                task.plain, queries, task.keys, task.values, bandwidth, mask, use_reentrant=False
            )
        )
    return torch.cat(found, -2)


def _fused(task: Task) -> Any:
    """PyTorch's own attention, which holds no matrix on a device in single precision."""
    torch = sys.modules["torch"]
    operator = torch.nn.functional.scaled_dot_product_attention
    whole = (x.reshape(*(1,) * (4 - x.ndim), *x.shape) for x in task[:3])  # which it knows best
    means = operator(*whole, scale=task.scale)
    return means.reshape(*choice.batch_of(task), *means.shape[-2:])


@cache
def _function() -> Any:
    """The differentiable function; made when PyTorch is there."""
    torch = sys.modules["torch"]

    class Stream(torch.autograd.Function):  # type: ignore[misc,name-defined]
        """Forward and backward by `dense`, one batch entry after the other."""

        @staticmethod
        def forward(ctx: Any, task: Task, *arrays: Any) -> Any:
            numbers = choice.as_numpy(task)
            assert numbers is not None
            ctx.task, ctx.results = task, []
            tensors = [x if isinstance(x, torch.Tensor) else None for x in arrays]
            ctx.save_for_backward(*tensors)
            batch = choice.batch_of(numbers)
            out = np.empty((*batch, task.shape[-2], task.values.shape[-1]), numbers.values.dtype)
            for index, problem in choice.problems(numbers, batch):
                out[index], result = choice.problem_means(numbers, problem)
                ctx.results.append(result)
            return torch.from_numpy(out)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> Any:
            task = ctx.task
            queries, keys, values, bandwidth = ctx.saved_tensors
            bandwidth = task.bandwidth if bandwidth is None else bandwidth
            numbers = choice.as_numpy(
                task._replace(queries=queries, keys=keys, values=values, bandwidth=bandwidth)
            )
            assert numbers is not None
            batch = choice.batch_of(numbers)
            parts: list[list[Any]] = [[], [], [], []]
            problems = choice.problems(numbers, batch)
            for (index, problem), result in zip(problems, ctx.results, strict=True):
                inner = gradient[index].detach().numpy()
                found = list(dense.gradients(problem, result, inner))
                found[2] += _through_definition(task, numbers, problem, result, inner)
                for part, array in zip(parts, found, strict=True):
                    part.append(array)
            inputs = (queries, keys, values, bandwidth)
            return None, *(
                _gathered(part, array, batch)
                for part, array in zip(parts, inputs, strict=True)
            )  # fmt: skip

    def _through_definition(
        task: Task, numbers: Task, problem: Any, result: Any, gradient: Any
    ) -> Any:
        """Gradient in the values, of rows whose weights are the definition's and constant."""
        values = torch.from_numpy(np.array(problem.values)).requires_grad_()
        total = np.zeros_like(problem.values, dtype=np.float64)
        for rows, q, k, b, mask in choice.by_definition(numbers, problem, result.empty):
            tensors = [None if x is None else torch.from_numpy(np.array(x)) for x in (b, mask)]
            with torch.enable_grad():
                out = task.plain(
                    torch.from_numpy(q), torch.from_numpy(np.array(k)), values, *tensors
                )
            (found,) = torch.autograd.grad(out, values, torch.from_numpy(gradient[rows]))
            total += found.numpy()
        return total

    def _gathered(parts: list[Any], array: Any, batch: tuple[int, ...]) -> Any:
        """One gradient for each entry of the batch, summed to the shape of the argument."""
        if not isinstance(array, torch.Tensor):
            return None
        whole = np.stack(parts).reshape(*batch, *parts[0].shape)
        return torch.from_numpy(whole).to(array.dtype).sum_to_size(array.shape)

    return Stream
