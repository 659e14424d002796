"""Interleaved timing: every contestant in every round, and ratios within the rounds.

A shared machine is faster in one minute than in the next. Contestants that are timed one after the
other meet different machines; those of one round meet nearly the same. So a ratio is taken within
each round, and its median and quartiles over the rounds are what is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from statistics import median, quantiles
from time import perf_counter
from typing import NamedTuple

SHORTEST = 0.02  # seconds: a shorter call is repeated, and the mean is taken


class Ratio(NamedTuple):
    """Median and quartiles of a ratio over the rounds."""

    median: float
    low: float
    high: float


def interleaved(
    tasks: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    warm: bool = False,
    patience: float = inf,
    shortest: float = SHORTEST,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, list[float]]:
    """Seconds that a call of each task takes, one number for each round.

    Every other round goes backwards through the tasks, so that none of them always stands behind
    the same neighbour. Each task is called once before, and not timed, since that call may compile;
    unless all are ``warm`` already. After so many seconds of ``patience`` three rounds are enough.
    """
    start = clock()
    for task in () if warm else tasks.values():
        task()
    calls = {name: _calls(task, shortest, clock) for name, task in tasks.items()}
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(rounds):
        if number >= 3 and clock() - start > patience:
            break
        for name in list(tasks) if number % 2 == 0 else reversed(list(tasks)):
            seconds[name].append(_time(tasks[name], calls[name], clock))
    return seconds


def _calls(task: Callable[[], object], shortest: float, clock: Callable[[], float]) -> int:
    """How many calls in a row take as long as ``shortest``."""
    calls = 1
    while (once := _time(task, calls, clock)) * calls < shortest:
        calls = max(2 * calls, min(int(shortest / max(once, 1e-9)) + 1, 100 * calls))
    return calls


def _time(task: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    """Seconds for one of so many calls in a row."""
    start = clock()
    for _ in range(calls):
        task()
    return (clock() - start) / calls


def ratio(over: Sequence[float], under: Sequence[float]) -> Ratio:
    """Compare two contestants round by round."""
    ratios = [a / b for a, b in zip(over, under, strict=True)]
    if len(ratios) == 1:
        return Ratio(ratios[0], ratios[0], ratios[0])
    low, _, high = quantiles(ratios, n=4, method="inclusive")
    return Ratio(median(ratios), low, high)
