"""What the page on speed says, from the raw measurements of the benchmark.

They do not repeat, so the numbers themselves cannot be computed by another route; what is made of
them can.
"""

import json
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[3] / "docs" / "_benchmark" / "results.json"
# goal: contest, numerator, denominator, gate, stretch
RATIOS = {
    "line_keops": ("line", "KeOps", "attnlib", 30, 100),
    "line_statsmodels": ("line", "statsmodels", "attnlib", 100, 400),
    "loo_statsmodels": ("loo", "statsmodels", "attnlib", 100, 300),
    "space_keops": ("space", "KeOps", "attnlib", 6, 12),
    "space_sklearn": ("space", "scikit-learn", "attnlib", 8, 14),
    "space_sdpa": ("space", "PyTorch SDPA", "attnlib", 2, 4),
    "heads_sdpa": ("heads", "PyTorch SDPA", "attnlib", 1.3, 1.7),
    "limit": ("limit", "limit", "attnlib", 0.65, 0.85),
    **{
        f"{part}_{kind}": (part.replace("_", "-"), ours, theirs, 1.2, 1)
        for part in ("section", "section_mask", "section_heads", "section_heads_mask")
        for kind, ours, theirs in (
            ("numpy", "attnlib", "NumPy broadcast"),
            ("torch", "attnlib on PyTorch", "PyTorch broadcast"),
            ("gradient", "attnlib on PyTorch, with gradient", "PyTorch broadcast, with gradient"),
            ("jax", "attnlib on JAX", "JAX broadcast"),
        )
    },
    "import": ("import", "attnlib", "numpy", 1.2, 1.05),
}
FROM_BELOW = ("section", "import", "memory")
MEMORY = {"line": (16, 4), "space": (16, 4), "heads": (16, 4), "line-million": (100, 100),
          "space-million": (100, 100), "heads-million": (100, 100)}  # fmt: skip


def slug(name):
    return name.lower().replace(",", "").replace(" ", "_").replace("-", "_")


def goal(key, quartiles, gate, stretch):
    low, middle, high = map(float, quartiles)
    met = middle <= gate if key.startswith(FROM_BELOW) else middle >= gate
    fields = {"low": low, "median": middle, "high": high, "gate": gate, "stretch": stretch}
    # The file holds five digits, of the measurements and of what was made of them.
    fields = {name: pytest.approx(float(value), rel=1e-4) for name, value in fields.items()}
    return {f"speed/goals/{key}/{name}": value for name, value in fields.items()} | {
        f"speed/goals/{key}/met": met
    }


def expected(framework):
    if framework is not None:
        return {}
    results = json.loads(FILE.read_text("utf-8"))
    times, memory, machine = results["times"], results["memory"], results["machine"]
    numbers = {f"speed/{k}": machine[k] for k in ("date", "processor", "system", "threads")}
    numbers |= {f"speed/version/{slug(k)}": v for k, v in machine["versions"].items()}
    for key, (part, over, under, gate, stretch) in RATIOS.items():
        a, b = (np.array(times[part]["seconds"][name]) for name in (over, under))
        numbers |= goal(key, np.percentile(a / b, (25, 50, 75)), gate, stretch)
    small = {k: np.array(v) for k, v in times["section"]["seconds"].items()}
    bare = small["attnlib on JAX"] / small["JAX broadcast, bare"]
    numbers["speed/section/bare"] = float(np.median(bare))
    numbers["speed/section/microseconds"] = 1e6 * float(np.median(small["NumPy broadcast"]))
    numbers["speed/section/places"] = 4 * 4
    met = [v for k, v in numbers.items() if "/section" in k and k.endswith("/met")]
    numbers["speed/section/missed"] = met.count(False)
    # Of one thread: an exponential for each pair, and 64 multiplications in each product.
    limit = {k: machine["threads"] * np.min(v) for k, v in times["limit"]["seconds"].items()}
    seconds = limit["exponentials"] + limit["product"] * 2 * 64 * 1e8 / 2048**3
    numbers["speed/heads/limit_ms"] = 1000 * float(seconds)
    fused = times["heads"]["seconds"]["PyTorch SDPA"]
    numbers["speed/heads/best_ms"] = 1000 * float(np.min(fused))
    numbers["speed/heads/room"] = float(np.min(fused) / seconds)
    first, numpy = (np.array(times["import"]["seconds"][k]) for k in ("nadaraya_watson", "numpy"))
    numbers["speed/import/nadaraya_watson"] = float(np.median(first / numpy))
    for part, goals in MEMORY.items():
        size = memory[part]["megabytes"]["attnlib"]
        numbers |= goal(f"memory_{slug(part)}", (size, size, size), *goals)
    for part in ("line", "space", "heads"):
        ours = np.array(times[part]["seconds"]["attnlib"])
        for name, seconds in times[part]["seconds"].items():
            key = f"speed/{part}/{slug(name)}"
            numbers[f"{key}/ms"] = 1000 * float(np.median(seconds))
            numbers[f"{key}/ratio"] = float(np.median(seconds / ours))
            numbers[f"{key}/error"] = times[part]["errors"][name]
        for name, size in memory[part]["megabytes"].items():
            numbers[f"speed/memory/{part}/{slug(name)}"] = size
    numbers |= {f"speed/loo/{slug(k)}": v for k, v in times["loo"]["bandwidths"].items()}
    for width, seconds in times["bandwidths"]["seconds"].items():
        numbers[f"speed/bandwidth/{width}"] = 1000 * float(np.median(seconds))
    return numbers | {
        "speed/few": 2**16,  # as measured; see attnlib.fast.choice
        "speed/few_dot": 2**21,
        "speed/order": 16,
        "speed/tolerated": 2e-5,
    }
