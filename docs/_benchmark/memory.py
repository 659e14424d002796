"""Extra memory of one call, in a fresh process: the highest that is resident, less what was before.

Needs Linux, which lets a process forget its highest mark.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import peers
import problems

BROADCASTS = ("NumPy broadcast", "JAX broadcast")
PROBLEMS = {  # name: title, problem, whose memory is measured
    "line": (
        "one dimension, float64, 10,000 x 10,000",
        partial(problems.line, 10_000, 10_000),
        ("attnlib", "KeOps", "PyTorch SDPA", "scikit-learn", *BROADCASTS),
    ),
    "space": (
        "five dimensions, float32, 10,000 x 10,000",
        partial(problems.space, 10_000, 10_000),
        ("attnlib", "KeOps", "PyTorch SDPA", "scikit-learn", *BROADCASTS),
    ),
    "heads": (
        "attention of width 64, float32, 10,000 x 10,000",
        partial(problems.heads, 10_000, 10_000),
        ("attnlib", "PyTorch SDPA", "JAX attention", "NumPy broadcast"),
    ),
    "line-million": (
        "one dimension, float64, 1,000 x 1,000,000",
        partial(problems.line, 1000, 1_000_000),
        ("attnlib", "KeOps", "PyTorch SDPA"),
    ),
    "space-million": (
        "five dimensions, float32, 1,000 x 1,000,000",
        partial(problems.space, 1000, 1_000_000),
        ("attnlib", "KeOps", "PyTorch SDPA"),
    ),
    "heads-million": (
        "attention of width 64, float32, 1,000 x 1,000,000",
        partial(problems.heads, 1000, 1_000_000),
        ("attnlib", "PyTorch SDPA"),
    ),
}
FORGET = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")


def unable() -> str | None:
    """Why memory cannot be measured here."""
    try:
        FORGET.write_text("5")
    except OSError:
        return "this system does not let a process reset its highest mark of memory"
    return None


def extra(task: Callable[[], object]) -> float:
    """Megabytes (of 10^6 bytes) that the task needs at its height beyond what is there before."""
    FORGET.write_text("5")
    before = _resident("VmRSS")
    result = task()
    peak = _resident("VmHWM")
    del result
    return max(0.0, peak - before)


def _resident(mark: str) -> float:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(mark))
    return int(line.split()[1]) * 1024 / 1e6


def of_contestant(problem: problems.Problem, name: str, small: int = 300) -> float | None:
    """Extra memory of a contestant, after a small problem that loads what it needs."""
    for size in (small, len(problem.keys)):
        solve = peers.solvers([name], problem.part(size)).get(name)
        if solve is None:
            return None
        if size == small:
            solve()
    return extra(solve)
