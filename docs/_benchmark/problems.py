"""The problems that every contestant solves: plain NumPy arrays, the same for all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Problem(NamedTuple):
    """Pool the values with Gaussian weights of a bandwidth; without one, with dot products."""

    queries: Any  # (n, d)
    keys: Any  # (m, d)
    values: Any  # (m, p)
    bandwidth: float | None
    mask: Any = None  # (n, m), True where a key may be used

    def part(self, n: int) -> Problem:
        """The problem of the first n queries and keys."""
        return self._replace(queries=self.queries[:n], keys=self.keys[:n], values=self.values[:n])

    @property
    def scale(self) -> float:
        """Of the dot products, as is usual in attention."""
        return float(self.queries.shape[1] ** -0.5)


def line(n: int, m: int, bandwidth: float = 0.1, dtype: str = "float64") -> Problem:
    """The section's data, but more of them: positions in [0, 5], and noisy labels."""
    draw = np.random.default_rng(0)
    keys, queries = draw.uniform(0, 5, (m, 1)), draw.uniform(0, 5, (n, 1))
    values = 2 * np.sin(keys) + keys + draw.normal(0, 0.5, (m, 1))
    return Problem(*(x.astype(dtype) for x in (queries, keys, values)), bandwidth)


def space(n: int, m: int, d: int = 5, dtype: str = "float32") -> Problem:
    """Normal positions in d dimensions and scalar values."""
    draw = np.random.default_rng(0)
    keys, queries = draw.normal(size=(m, d)), draw.normal(size=(n, d))
    values = np.sin(keys[:, :1]) + draw.normal(0, 0.5, (m, 1))
    return Problem(*(x.astype(dtype) for x in (queries, keys, values)), 1.0)


def heads(n: int, m: int, d: int = 64) -> Problem:
    """One attention head: normal queries, keys and values of width d, in single precision."""
    draw = np.random.default_rng(0)
    return Problem(*(draw.normal(size=(k, d)).astype("float32") for k in (n, m, m)), None)


def masked(problem: Problem) -> Problem:
    """The same, where each query may use only some of the keys, and always the first."""
    mask = np.random.default_rng(1).random((len(problem.queries), len(problem.keys))) < 0.7
    mask[:, 0] = True
    return problem._replace(mask=mask)
