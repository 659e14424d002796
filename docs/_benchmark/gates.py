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


# key, what; contest, whose time is divided by whose; gate, stretch
FASTER = [
    ("line-keops", "one dimension, float64: KeOps' time over ours",
     "line", "KeOps", "attnlib", 30, 100),
    ("line-statsmodels", "the same, statsmodels",
     "line", "statsmodels", "attnlib", 100, 400),
    ("loo-statsmodels", "leave-one-out bandwidth, statsmodels",
     "loo", "statsmodels", "attnlib", 100, 300),
    ("space-keops", "five dimensions, float32: KeOps",
     "space", "KeOps", "attnlib", 6, 12),
    ("space-sklearn", "the same, scikit-learn",
     "space", "scikit-learn", "attnlib", 8, 14),
    ("space-sdpa", "the same, PyTorch SDPA",
     "space", "PyTorch SDPA", "attnlib", 2, 4),
    ("heads-sdpa", "attention of width 64, one thread: PyTorch SDPA",
     "heads", "PyTorch SDPA", "attnlib", 1.3, 1.7),
    ("limit", "share of the dense limit, five dimensions, float32",
     "limit", "limit", "attnlib", 0.65, 0.85),
]  # fmt: skip
SIZES = {
    "section": "Gaussian weights",
    "section-mask": "Gaussian weights with a mask",
    "section-heads": "attention",
    "section-heads-mask": "attention with a mask",
}
ARRAYS = {
    "numpy": ("attnlib", "NumPy broadcast"),
    "torch": ("attnlib on PyTorch", "PyTorch broadcast"),
    "gradient": ("attnlib on PyTorch, with gradient", "PyTorch broadcast, with gradient"),
    "jax": ("attnlib on JAX", "JAX broadcast"),
}
SLOWER = [
    *(
        (f"{contest}-{kind}", f"{what}, 50 x 40: our time over that of the {under}",
         contest, ours, under, 1.2, 1.0)
        for contest, what in SIZES.items() for kind, (ours, under) in ARRAYS.items()
    ),
    ("import", "import of attnlib over import of NumPy",
     "import", "attnlib", "numpy", 1.2, 1.05),
]  # fmt: skip
SMALLER = [
    ("line", 16, 4), ("space", 16, 4), ("heads", 16, 4),
    ("line-million", 100, 100), ("space-million", 100, 100), ("heads-million", 100, 100),
]  # fmt: skip


def rows(results: Results) -> list[Row]:
    """The goals whose contestants took part."""
    found = []
    for most, table in ((False, FASTER), (True, SLOWER)):
        for key, what, contest, over, under, gate, stretch in table:
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
