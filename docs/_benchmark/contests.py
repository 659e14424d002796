"""What is timed: each contest a problem and those who solve it, in one process and interleaved."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import peers
import problems
from problems import Problem
from scipy.optimize import minimize_scalar
from timing import interleaved

Found = dict[str, Any]
GRID = np.geomspace(0.02, 5, 21)  # bandwidths of a search
PATIENCE = 30.0  # seconds after which three rounds of a comparison are enough
LARGEST = 2e9  # bytes that a contestant of a sweep may hold
LONGEST = 0.6  # seconds that a call in a sweep may take; ours three times as long


class Contest(NamedTuple):
    """A problem, its contestants, and how often they go."""

    title: str
    problem: Callable[[], Problem]
    names: tuple[str, ...]
    rounds: int = 7
    threads: int | None = None  # as many as there are processors


BROADCASTS = ("NumPy broadcast", "PyTorch broadcast", "JAX broadcast")
OURS = ("attnlib", "attnlib on PyTorch", "attnlib on JAX")
TWINS = (*OURS, *BROADCASTS)
RECORDED = ("attnlib on PyTorch, with gradient", "PyTorch broadcast, with gradient")

CONTESTS = {
    "line": Contest(
        "Gaussian weights in one dimension, float64, 10,000 queries and 10,000 keys",
        partial(problems.line, 10_000, 10_000),
        (*OURS, "KeOps", "PyTorch SDPA", "scikit-learn", "statsmodels", "JAX broadcast"),
    ),
    "line-million": Contest(
        "Gaussian weights in one dimension, float64, 1,000 queries and 1,000,000 keys",
        partial(problems.line, 1000, 1_000_000),
        ("attnlib", "KeOps", "PyTorch SDPA"),
    ),
    "space": Contest(
        "Gaussian weights in five dimensions, float32, 10,000 queries and 10,000 keys",
        partial(problems.space, 10_000, 10_000),
        (*OURS, "KeOps", "PyTorch SDPA", "scikit-learn", "JAX broadcast"),
    ),
    "space64": Contest(
        "Gaussian weights in five dimensions, float64, 10,000 queries and 10,000 keys",
        partial(problems.space, 10_000, 10_000, dtype="float64"),
        ("attnlib", "KeOps", "PyTorch SDPA"),
    ),
    "heads": Contest(
        "Attention of width 64, float32, 10,000 queries and 10,000 keys, one thread",
        partial(problems.heads, 10_000, 10_000),
        (*OURS, "PyTorch SDPA", "JAX attention"),
        threads=1,
    ),
    "heads-thousand": Contest(
        "Attention of width 64, float32, 1,000 queries and 1,000 keys, one thread",
        partial(problems.heads, 1000, 1000),
        (*OURS, "PyTorch SDPA", "JAX attention", "NumPy broadcast"),
        rounds=15,
        threads=1,
    ),
    "section": Contest(
        "The section's own size: 50 queries and 40 keys on a line, float32",
        partial(problems.line, 50, 40, 0.5, "float32"),
        (*TWINS, *RECORDED, "JAX broadcast, bare"),
        rounds=25,
    ),
    "section-mask": Contest(
        "The section's own size, with a mask",
        lambda: problems.masked(problems.line(50, 40, 0.5, "float32")),
        (*TWINS, *RECORDED),
        rounds=25,
    ),
    "section-heads": Contest(
        "Attention at the section's size: 50 queries and 40 keys of width 64, float32",
        partial(problems.heads, 50, 40),
        (*TWINS, *RECORDED, "PyTorch SDPA"),
        rounds=25,
    ),
    "section-heads-mask": Contest(
        "Attention at the section's size, with a mask",
        lambda: problems.masked(problems.heads(50, 40)),
        (*TWINS, *RECORDED),
        rounds=25,
    ),
}


def compare(contest: Contest, rounds: int) -> Found:
    """Seconds of each contestant in each round, and its largest error."""
    problem = contest.problem()
    solvers = peers.solvers(list(contest.names), problem)
    errors = {name: peers.error(solve, problem) for name, solve in solvers.items()}
    return {"seconds": interleaved(solvers, rounds, warm=True, patience=PATIENCE), "errors": errors}


def dense_limit(rounds: int, problem: Problem | None = None) -> Found:
    """How fast the dense method could be, beside how fast it is.

    It must take an exponential for each pair, and do one product before and one after it. The
    machine's speed in each is taken where it is best: exponentials in cache, a square product.
    """
    problem = problem or CONTESTS["space"].problem()
    n, m, d = len(problem.queries), *problem.keys.shape
    side, threads = 2048, int(os.environ["OMP_NUM_THREADS"])
    square, out = np.ones((side, side), np.float32), np.empty((side, side), np.float32)
    tiles = [np.linspace(-20, 0, 1 << 16, dtype=np.float32) for _ in range(threads)]
    spaces = [np.empty_like(tile) for tile in tiles]
    calls = -(-n * m // (threads * tiles[0].size))

    def exponentials(thread: int) -> None:
        for _ in range(calls):
            np.exp(tiles[thread], out=spaces[thread])

    with ThreadPoolExecutor(threads) as pool:
        seconds = interleaved(
            {
                "attnlib": peers.attnlib(problem),
                "exponentials": lambda: list(pool.map(exponentials, range(threads))),
                "product": lambda: np.matmul(square, square, out=out),
            },
            rounds,
        )
    share = n * m * (d + 1 + problem.values.shape[1] + 1) / side**3
    seconds["limit"] = [
        a + share * b for a, b in zip(seconds["exponentials"], seconds["product"], strict=True)
    ]
    return {"seconds": seconds}


def left_out_search(rounds: int, m: int = 2000) -> Found:
    """The bandwidth of smallest leave-one-out error: by a grid and a search between its neighbours.

    statsmodels searches from a bandwidth of its own choice, without a grid.
    """
    data = problems.line(1, m)
    keys, values, found = data.keys[:, 0], data.values[:, 0], {}

    def ours() -> None:
        from attnlib import choose_bandwidth, leave_one_out_error  # noqa: PLC0415

        def error(bandwidth: float) -> float:
            return float(leave_one_out_error(keys, values, float(bandwidth)))

        best = choose_bandwidth(keys, values, GRID).bandwidth
        step = GRID[1] / GRID[0]
        search = minimize_scalar(
            error,
            bounds=(best / step, best * step),
            method="bounded",
            options={"xatol": 1e-4 * best},
        )
        found["attnlib"] = float(search.x)

    def theirs() -> None:
        found["statsmodels"] = float(peers.kernel_reg(values, data.keys, "cv_ls").bw[0])

    tasks = {"attnlib": ours, "statsmodels": theirs}
    tasks = {name: task for name, task in tasks.items() if peers.missing(name) is None}
    return {"seconds": interleaved(tasks, rounds), "bandwidths": found}


def bandwidths(rounds: int, n: int = 10_000) -> Found:
    """The line method at several bandwidths: how much its time depends on them."""
    widths = (0.001, 0.01, 0.1, 1.0, 10.0)
    tasks = {str(b): peers.attnlib(problems.line(n, n, b)) for b in widths}
    return {"seconds": interleaved(tasks, rounds)}


def imports(rounds: int) -> Found:
    """Seconds that an import takes in a fresh process, as the process itself sees it."""

    def fresh(statement: str) -> Callable[[], float]:
        code = f"from time import perf_counter as t; a = t(); {statement}; print(t() - a)"
        command = [sys.executable, "-c", code]
        return lambda: float(subprocess.run(command, check=True, capture_output=True).stdout)

    statements = {
        "numpy": "import numpy",
        "attnlib": "import numpy; import attnlib",
        "nadaraya_watson": "import numpy; from attnlib import nadaraya_watson",
        "torch": "import torch",
        "jax": "import jax",
    }
    tasks = {name: fresh(statement) for name, statement in statements.items()}
    for task in tasks.values():
        task()
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            seconds[name].append(task())
    return {"seconds": seconds}


class Sweep(NamedTuple):
    """A problem at growing sizes, n queries and n keys."""

    title: str
    problem: Callable[[int], Problem]
    names: tuple[str, ...]
    width: int  # numbers that a broadcast holds for each pair


SWEEPS = {
    "sweep-line": Sweep(
        "One dimension, float64",
        lambda n: problems.line(n, n),
        ("attnlib", "attnlib, plain", "attnlib, stream", "attnlib, line", "KeOps",
         "PyTorch SDPA", "scikit-learn", "statsmodels", *BROADCASTS),
        width=8 * 3,
    ),
    "sweep-space": Sweep(
        "Five dimensions, float32",
        lambda n: problems.space(n, n),
        ("attnlib", "attnlib, plain", "attnlib, stream", "KeOps", "PyTorch SDPA", "scikit-learn",
         *BROADCASTS),
        width=4 * 11,
    ),
}  # fmt: skip
SIZES = [round(10 ** (i / 4)) for i in (6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 22, 24)]
FULL_MATRIX = {"attnlib, plain", "scikit-learn", "statsmodels", *BROADCASTS}


def sweep(chosen: Sweep, sizes: list[int], rounds: int, longest: float = LONGEST) -> Found:
    """Seconds for each size; a contestant drops out where a call would take too long or too much.

    The next time is foreseen from the last two; at most a square law, since that is the worst.
    """
    found: dict[str, dict[str, list[float]]] = {}
    left = list(chosen.names)
    for n in sizes:
        left = [name for name in left if _goes_on(name, n, chosen.width, found, longest)]
        if not left:
            break
        found[str(n)] = interleaved(peers.solvers(left, chosen.problem(n)), rounds)
        left = [name for name in left if name in found[str(n)]]
    return {"sizes": found}


def _goes_on(name: str, n: int, width: int, found: dict[str, Any], longest: float) -> bool:
    """Whether a contestant can be expected to manage the size n."""
    if name in FULL_MATRIX and n * n * width > LARGEST:
        return False
    past = [(int(size), min(times[name])) for size, times in found.items() if name in times]
    if len(past) < 2:
        return True
    (a, s), (b, t) = past[-2:]
    power = min(2.0, max(1.0, np.log(t / s) / np.log(b / a)))
    return bool(t * (n / b) ** power <= longest * (3 if name == "attnlib" else 1))
