"""The goals, and what was reached: every figure from the measurements alone."""

from __future__ import annotations

from typing import Any, NamedTuple

from timing import ratio

Results = dict[str, Any]


class Row(NamedTuple):
    """A goal: what it is, the figure with its quartiles, what it must reach and what would be fine.

    ``most`` tells whether the figure must stay below.
    """

    key: str
    what: str
    unit: str
    median: float
    low: float
    high: float
    gate: float
    stretch: float
    most: bool

    def reaches(self, goal: float) -> bool:
        """Whether the median reaches it."""
        return self.median <= goal if self.most else self.median >= goal


# key, contest, whose time is divided by whose, what, gate, stretch
FASTER = [
    ("line-keops", "line", "KeOps", "attnlib", "one dimension, float64: KeOps' time over ours", 30, 100),
    ("line-statsmodels", "line", "statsmodels", "attnlib", "the same, statsmodels", 100, 400),
    ("loo-statsmodels", "loo", "statsmodels", "attnlib", "leave-one-out bandwidth, statsmodels", 100, 300),
    ("space-keops", "space", "KeOps", "attnlib", "five dimensions, float32: KeOps", 6, 12),
    ("space-sklearn", "space", "scikit-learn", "attnlib", "the same, scikit-learn", 8, 14),
    ("space-sdpa", "space", "PyTorch SDPA", "attnlib", "the same, PyTorch SDPA", 2, 4),
    ("heads-sdpa", "heads", "PyTorch SDPA", "attnlib", "attention of width 64, one thread: SDPA", 1.3, 1.7),
    ("limit", "limit", "limit", "attnlib", "share of the dense limit, five dimensions", 0.65, 0.85),
]  # fmt: skip
SLOWER = [
    ("section", "section", "attnlib", "NumPy broadcast", "the section's size: our time over NumPy's", 1.2, 1.0),
    ("import", "import", "attnlib", "numpy", "import of attnlib over import of NumPy", 1.2, 1.05),
    ("import-function", "import", "nadaraya_watson", "numpy", "the same with nadaraya_watson loaded", 1.2, 1.05),
]  # fmt: skip
SMALLER = [("line", 16, 4), ("space", 16, 4), ("heads", 16, 4), ("line-million", 100, 100),
           ("space-million", 100, 100), ("heads-million", 100, 100)]  # fmt: skip


def rows(results: Results) -> list[Row]:
    """The goals whose contestants took part."""
    found = []
    for most, table in ((False, FASTER), (True, SLOWER)):
        for key, contest, over, under, what, gate, stretch in table:
            seconds = results["times"].get(contest, {}).get("seconds", {})
            if {over, under} <= seconds.keys():
                middle = ratio(seconds[over], seconds[under])
                found.append(Row(key, what, "", *middle, gate, stretch, most))
    for name, gate, stretch in SMALLER:
        megabytes = results["memory"].get(name, {}).get("megabytes", {})
        if "attnlib" in megabytes:
            figure = megabytes["attnlib"]
            what = f"extra memory, {results['memory'][name]['title']}"
            found.append(
                Row(f"memory-{name}", what, "MB", figure, figure, figure, gate, stretch, True)
            )
    return found
