"""Which method does the work: the caller sees one function.

- ``"plain"`` is the definition, as on the pages: all weights at once, O(n m) time and memory.
- ``"stream"`` makes a tile of weights at a time: O(n m) time, memory that does not grow with n m.
  For Gaussian and dot-product scores.
- ``"line"`` is for scalar positions without gradients: O(n + m) time and memory, see `line`.

``"auto"`` takes the plain definition up to `FEW` pairs of a query and a key, where it is fastest,
and goes straight to its formula if the call has a usual form (see `small`). Beyond, it takes the
line where it can, else the stream where it can, else the plain definition. For dot products in
single precision without a mask, the stream of PyTorch is its own fused operator.

Results of the Gaussian kernel and of both scores are off by at most this part of the mean of
``|v|`` with the same weights (or of the smallest ``|v|`` that is not 0, where that is more):

=================================  =======  =======
method                             float32  float64
=================================  =======  =======
plain                              1e-5     1e-13
stream (NumPy, PyTorch)            5e-5     1e-12
stream (JAX, and PyTorch's fused)  1e-5     1e-13
line                               1e-7     1e-12
=================================  =======  =======

To this all but the line add the rounding of scores, ``4 eps a``: for a Gaussian, a is half the
squared distance to the nearest key, in bandwidths; for a dot product, ``scale |q| max |k|``. Sums
over windows (the line's other kernels) are exact but for the rounding of each weight. XLA takes
subnormal numbers for 0. Half precision is computed in single, and rounded once.

The stream of PyTorch has first derivatives; for second ones ask for ``"plain"``, or differentiate
by ``torch.func``, inside of which the plain definition serves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attnlib import _checks
from attnlib.fast import dense, line
from attnlib.frameworks import framework_of
from attnlib.kernels import KERNELS
from attnlib.scores import dot_product, squared_distance

if TYPE_CHECKING:
    from attnlib._typing import Array, Bandwidth, Mask, Score

METHODS = ("auto", "plain", "stream", "line")
FEW = {"numbers": 1 << 16, "gradient": 1 << 18, "dot": 1 << 21}  # measured crossovers
ENTRIES = 1 << 20  # numbers in the differences of the rows that the plain definition does at a time

Plain = Callable[..., Any]


class Task(NamedTuple):
    """Arguments in one floating-point dtype of at least single precision, with all axes."""

    queries: Array  # (..., n, d)
    keys: Array  # (..., m, d)
    values: Array  # (..., m, p)
    shape: tuple[int, ...]  # (..., n, m)
    kernel: str  # or a score: "dot", "distance"
    bandwidth: Bandwidth | None
    scale: float
    mask: Mask | None
    others: bool  # query i may not use key i
    empty: str
    plain: Plain  # (queries, keys, values, bandwidth, mask) -> means, by the definition


def regression(
    method: str,
    queries: Array,
    keys: Array,
    values: Array,
    bandwidth: Bandwidth,
    kernel: str,
    mask: Mask | None,
    empty: str,
    plain: Plain,
    *,
    others: bool = False,
) -> Array | None:
    """Estimates (..., n, p) by the method; None if that is the plain one."""
    if _is_plain(method, queries, keys, FEW["numbers"]):
        return None
    xp, queries, keys, shape = _checks.as_pair(queries, keys)
    _checks.same_width(queries, keys)
    _checks.one_of("kernel", kernel, KERNELS)
    _checks.one_of("empty", empty, ("nearest", "average", "zero", "nan"))
    bandwidth = _checks.as_bandwidth(xp, bandwidth, keys, shape)
    mask = _checks.as_mask(mask, keys, shape)
    return _run(
        method,
        Task(
            queries, keys, values, shape, kernel, bandwidth, 1.0, mask, others, empty, plain
        ),
    )  # fmt: skip


def attention(
    method: str,
    queries: Array,
    keys: Array,
    values: Array,
    score: Score,
    mask: Mask | None,
    empty: str,
    plain: Plain,
) -> Array | None:
    """Pooled values (..., n, p) by the method; None if that is the plain one."""
    few = FEW["numbers" if _fusible(values, mask) else "dot"]
    if _is_plain(method, queries, keys, few):
        return None
    known = known_score(score)
    if known is None:
        if method != "auto":
            raise ValueError(
                f"method: {method!r} is for the scores dot_product and squared_distance, alone or "
                f"in a functools.partial with their keyword; got {score!r}"
            )
        return None
    xp, queries, keys, shape = _checks.as_pair(queries, keys)
    _checks.same_width(queries, keys)
    _checks.one_of("empty", empty, ("zero", "average", "nan"))
    kernel, scale, bandwidth = known
    if kernel != "dot":
        bandwidth = _checks.as_bandwidth(xp, bandwidth, keys, shape)
    mask = _checks.as_mask(mask, keys, shape)

    def definition(queries: Array, keys: Array, values: Array, bandwidth: Any, mask: Any) -> Array:
        scores = score if kernel == "dot" else partial(squared_distance, bandwidth=bandwidth)
        return plain(queries, keys, values, scores, mask)

    return _run(
        method,
        Task(
            queries, keys, values, shape, kernel, bandwidth, scale, mask, False, empty, definition
        ),
    )  # fmt: skip


def _is_plain(method: str, queries: Array, keys: Array, few: int) -> bool:
    """Whether that is clear from the name of the method and the sizes."""
    _checks.one_of("method", method, METHODS)
    if method != "auto":
        return method == "plain"
    if 0 in (queries.ndim, keys.ndim):
        return True  # which says what is wrong
    points = [1 if x.ndim == 1 else x.shape[-1] for x in (queries, keys)]
    pairs = prod(prod(x.shape) // max(p, 1) for x, p in zip((queries, keys), points, strict=True))
    return bool(pairs <= few)


def known_score(score: Score) -> tuple[str, float, Any] | None:
    """Kernel, scale and bandwidth of a score that can be streamed."""
    options: dict[str, Any] = {}
    function: Any = score
    if isinstance(score, partial) and not score.args:
        function, options = score.func, score.keywords
    if function is dot_product and set(options) <= {"scale"}:
        scale = options.get("scale", 1.0)
        return ("dot", float(scale), None) if isinstance(scale, int | float) else None
    if function is squared_distance and set(options) <= {"bandwidth"}:
        return "distance", 1.0, options.get("bandwidth", 1.0)
    return None


def _run(method: str, task: Task) -> Array | None:
    """Do the task; None if it is left to the plain definition."""
    numbers = as_numpy(task)
    reason = _not_on_a_line(task, numbers)
    if method == "line" and reason:
        raise ValueError(f"method: 'line' {reason}")
    if not reason and method != "stream":
        assert numbers is not None
        return like(task.queries, on_a_line(numbers))
    reason = _not_streamed(task)
    if method == "stream" and reason:
        raise ValueError(f"method: 'stream' {reason}")
    few = numbers is None and method == "auto" and prod(task.shape) <= FEW["gradient"]
    if reason or few or 0 in task.shape:
        return None
    kind = framework_of(task.queries)
    if numbers is not None and not (kind == "torch" and method == "auto" and is_fused(task)):
        return like(task.queries, streamed(numbers))
    return import_module(f"attnlib.fast.{kind}_stream").stream(task, fused=method == "auto")


def is_fused(task: Task) -> bool:
    """Whether PyTorch's fused operator gives the same: it is exact enough, and knows no policy."""
    return task.kernel == "dot" and _fusible(task.values, task.mask)


def _fusible(values: Any, mask: Any) -> bool:
    return mask is None and str(getattr(values, "dtype", "")) == "torch.float32"


def _not_on_a_line(task: Task, numbers: Task | None) -> str | None:
    """Why the line methods cannot do it."""
    if task.kernel in ("dot", "distance") or task.keys.shape[-1] != 1 or task.mask is not None:
        return "is for kernels of scalar positions, without a mask"
    if prod(getattr(task.bandwidth, "shape", ())[-2:]) != 1:
        return "needs one bandwidth for all queries and keys"
    if numbers is None:
        return "has no gradient, and needs numbers that are known and in the processor's memory"
    if not line.fits(numbers.queries, numbers.keys, numbers.values):
        return "needs finite positions and values, whose sums do not overflow"
    return None


def _not_streamed(task: Task) -> str | None:
    """Why the stream cannot do it."""
    if task.kernel not in ("dot", "distance", "gaussian"):
        return f"is for Gaussian and dot-product scores, not for kernel {task.kernel!r}"
    shape = getattr(task.bandwidth, "shape", ())
    if shape and shape[-1] != 1:
        return "needs a bandwidth that is the same for all keys"
    return None


def as_numpy(task: Task) -> Task | None:
    """The same task on NumPy arrays that share its memory, if that is possible.

    It is not for arrays that carry a gradient, are traced, or lie on another device.
    """
    names = ("queries", "keys", "values", "bandwidth", "mask")
    arrays = {name: getattr(task, name) for name in names}
    arrays = {name: x for name, x in arrays.items() if not isinstance(x, float | None)}
    kind = framework_of(task.queries)
    if kind == "torch" and carries_gradient(*arrays.values()):
        return None
    found = views(kind, *arrays.values())
    return None if found is None else task._replace(**dict(zip(arrays, found, strict=True)))


def carries_gradient(*tensors: Any) -> bool:
    """Whether PyTorch would record what is done with one of the tensors."""
    return any(x.requires_grad for x in tensors) and sys.modules["torch"].is_grad_enabled()


def views(kind: str | None, *arrays: Any) -> tuple[Any, ...] | None:
    """Arrays as NumPy's that share their memory, without a gradient, if that is possible.

    It is not while they are traced, or if they lie on another device.
    """
    if kind == "numpy":
        return arrays
    if kind == "jax":
        jax = sys.modules["jax"]
        for x in arrays:
            if isinstance(x, jax.core.Tracer) or [d.platform for d in x.devices()] != ["cpu"]:
                return None
        return tuple(map(np.asarray, arrays))
    if sys.modules["torch"].compiler.is_compiling():
        return None
    try:
        return tuple([x.detach().numpy() for x in arrays])
    except (RuntimeError, TypeError):  # inside torch.func, on another device, in bfloat16
        return None


def like(array: Array, result: Any) -> Array:
    """Make the result of NumPy an array of the framework."""
    kind = framework_of(array)
    if kind == "torch":
        return sys.modules["torch"].from_numpy(result)
    return sys.modules["jax"].numpy.asarray(result) if kind == "jax" else result


def on_a_line(task: Task) -> Any:
    """Do a task on NumPy arrays by the line methods, one batch entry after the other."""

    def means(problem: dense.Problem) -> Any:
        queries, keys = problem.queries[:, 0], problem.keys[:, 0]
        options = float(problem.bandwidth[0, 0]), task.kernel, task.empty
        if task.others:
            return line.left_out(keys, problem.values, *options)
        return line.means(queries, keys, problem.values, *options)

    return each_problem(task, means)


def streamed(task: Task) -> Any:
    """Do a task on NumPy arrays by the dense engine."""
    return each_problem(task, lambda problem: problem_means(task, problem)[0])


def each_problem(task: Task, means: Callable[[dense.Problem], Any]) -> Any:
    """Means (..., n, p) from those of each problem in the batch."""
    batch = batch_of(task)
    if not batch:
        ((_, problem),) = problems(task, batch)
        return np.asarray(means(problem), task.values.dtype)
    out = np.empty((*batch, task.shape[-2], task.values.shape[-1]), task.values.dtype)
    for index, problem in problems(task, batch):
        out[index] = means(problem)
    return out


def batch_of(task: Task) -> tuple[int, ...]:
    """Batch axes of the result."""
    arrays = (task.values, task.bandwidth, task.mask)
    shapes = (tuple(getattr(x, "shape", ()))[:-2] for x in arrays)
    return np.broadcast_shapes(task.shape[:-2], *shapes)


def problems(task: Task, batch: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], dense.Problem]]:
    """The problems of a task, each with its place in the batch."""
    n, m = task.shape[-2:]

    def whole(x: Any, *tail: int) -> Any:
        return np.broadcast_to(x, (*batch, *tail))

    q, k, v = (whole(x, *x.shape[-2:]) for x in task[:3])
    b, mask = np.asarray(1.0 if task.bandwidth is None else task.bandwidth), task.mask
    b = whole(b, n if b.ndim > 1 and b.shape[-2] == n else 1, 1)
    mask = None if mask is None else whole(mask, n, m)
    for index in np.ndindex(batch):
        yield (
            index,
            dense.Problem(
                q[index],
                k[index],
                v[index],
                None if task.bandwidth is None else b[index],
                task.scale,
                None if mask is None else mask[index],
                np.arange(n) if task.others else None,
            ),
        )


def problem_means(task: Task, problem: dense.Problem) -> tuple[Any, dense.Pooled]:
    """Means (n, p) of a problem, its empty rows filled as the definition says; and the sums."""
    result = dense.pooled(problem)
    for rows, q, k, b, mask in by_definition(task, problem, result.empty):
        result.means[rows] = task.plain(q, k, problem.values, b, mask)
    return result.means, result


def by_definition(
    task: Task, problem: dense.Problem, rows: Any
) -> Iterator[tuple[Any, Any, Any, Any, Any]]:
    """Rows that must be done by the definition, some at a time: numbers and arguments.

    The other ones of the rows are those that may use no key, where that means a result of 0.
    """
    if problem.mask is not None and task.empty in ("nearest", "zero"):
        rows = np.array([i for i in rows if problem.mask[i].any()], dtype=np.intp)
    m, d = problem.keys.shape
    step = max(1, ENTRIES // (m * d))
    for a in range(0, rows.size, step):
        some = rows[a : a + step]
        mask = None if problem.mask is None else problem.mask[some]
        if problem.own is not None:
            apart = np.arange(m) != problem.own[some, None]
            mask = apart if mask is None else mask & apart
        b = problem.bandwidth
        b = None if b is None else (b if len(b) == 1 else b[some]).astype(problem.queries.dtype)
        yield some, problem.queries[some], problem.keys, b, mask
