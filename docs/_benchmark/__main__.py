"""Time attnlib beside what one would use instead: ``nox -s benchmark``.

``nox -s benchmark -- quick`` takes fewer rounds and smaller sweeps; names of parts (``line``,
``memory``) run just these. Only a whole run writes ``results.json``, which the page "How fast, how
large" shows.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import contests
import gates
import memory
import peers
from timing import ratio

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PACKAGES = (
    "attnlib", "numpy", "torch", "jax", "pykeops", "statsmodels", "scikit-learn", "threadpoolctl",
)  # fmt: skip
SPECIAL = {  # title, function, rounds in a whole run
    "limit": (
        "The dense limit: five dimensions, float32, 10,000 queries and 10,000 keys",
        contests.dense_limit,
        9,
    ),
    "loo": (
        "The bandwidth of smallest leave-one-out error, 2,000 pairs in one dimension",
        contests.left_out_search,
        3,
    ),
    "bandwidths": (
        "The line method at several bandwidths, 10,000 x 10,000",
        contests.bandwidths,
        7,
    ),
    "import": ("Imports in fresh processes", contests.imports, 15),
}
TITLES = {
    **{name: contest.title for name, contest in contests.CONTESTS.items()},
    **{name: title for name, (title, _, _) in SPECIAL.items()},
    **{name: f"Growing sizes: {sweep.title}" for name, sweep in contests.SWEEPS.items()},
}


def part(name: str, quick: bool) -> dict[str, Any]:
    """Do one part, in this process."""
    if name in contests.CONTESTS:
        contest = contests.CONTESTS[name]
        return contests.compare(contest, 2 if quick else contest.rounds)
    if name in SPECIAL:
        _, function, rounds = SPECIAL[name]
        return function(2 if quick else rounds)
    sizes = contests.SIZES[: 8 if quick else None]
    return contests.sweep(contests.SWEEPS[name], sizes, 1 if quick else 3)


def in_fresh_process(*words: str, threads: int) -> Any:
    """Run this file in a process that may use so many threads; the last line it prints is JSON."""
    count = str(threads)
    environment = os.environ | {
        "OMP_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
    }
    command = [sys.executable, str(HERE), "--fresh", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def fresh(words: list[str]) -> Any:
    """What a fresh process does: a part, or the memory of a contestant."""
    threads = int(os.environ["OMP_NUM_THREADS"])
    if hasattr(os, "sched_setaffinity"):  # JAX takes as many threads as it sees processors
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    kind, name, *rest = words
    if kind == "memory":
        return memory.of_contestant(memory.PROBLEMS[name][1](), rest[0])
    return part(name, "quick" in rest)


def rounded(x: Any) -> Any:
    """The same with numbers to five digits, which is more than can be measured."""
    if isinstance(x, dict):
        return {key: rounded(value) for key, value in x.items()}
    if isinstance(x, list):
        return [rounded(value) for value in x]
    return float(f"{x:.5g}") if isinstance(x, float) else x


def as_text(results: dict[str, Any]) -> str:
    """JSON with a line for each part, so that one sees what changed."""

    def lines(table: dict[str, Any], depth: int) -> str:
        inner = (
            f"{json.dumps(key)}: "
            + (lines(x, depth - 1) if depth and isinstance(x, dict) else json.dumps(x))
            for key, x in table.items()
        )
        return "{\n" + ",\n".join(inner) + "\n}"

    return lines(results, 1) + "\n"


def machine(threads: int) -> dict[str, Any]:
    """Where and with what it ran."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        model = next((x.split(": ")[1] for x in lines if x.startswith("model name")), model)
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package).partition("+")[0]
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": model,
        "system": platform.system(),
        "threads": threads,
        "versions": versions,
    }


def run(names: list[str], quick: bool) -> dict[str, Any]:
    """Do the parts, telling of each as it is done."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = int(os.environ.get("OMP_NUM_THREADS", count or 1))
    absent = {name: reason for name in peers.PEERS if (reason := peers.missing(name))}
    results = {"machine": machine(threads), "missing": absent, "times": {}, "memory": {}}
    print_head(results)
    for name in (name for name in TITLES if not names or name in names):
        start = perf_counter()
        contest = contests.CONTESTS.get(name)
        use = contest.threads if contest and contest.threads else threads
        words = ["part", name, *(["quick"] if quick else [])]
        found = rounded(in_fresh_process(*words, threads=use))
        results["times"][name] = {"threads": use, **found}
        print_part(name, results["times"][name], perf_counter() - start)
    if not names or "memory" in names:
        results["memory"] = measure_memory(threads, quick)
    results["goals"] = [rounded(row._asdict()) for row in gates.rows(results)]
    print_goals(gates.rows(results))
    return results


def measure_memory(threads: int, quick: bool) -> dict[str, Any]:
    """Extra memory of each contestant, a fresh process each."""
    print("\nExtra memory of a fresh process, in MB")
    if reason := memory.unable():
        print(f"  not measured: {reason}")
        return {}
    found: dict[str, Any] = {}
    for name, (title, _, contestants) in memory.PROBLEMS.items():
        names = ("attnlib",) if quick else contestants
        able = [c for c in names if peers.missing(c) is None]
        sizes = {c: rounded(in_fresh_process("memory", name, c, threads=threads)) for c in able}
        found[name] = {"title": title, "megabytes": sizes}
        print(f"  {title}: " + ", ".join(f"{c} {size:.4g}" for c, size in sizes.items()))
    return found


def print_head(results: dict[str, Any]) -> None:
    """Say where and with what."""
    here = results["machine"]
    print(f"{here['date']}, {here['processor']}, {here['system']}, {here['threads']} threads")
    print(", ".join(f"{package} {v}" for package, v in here["versions"].items()))
    for name, reason in results["missing"].items():
        print(f"{name} is left out: {reason}")


def print_part(name: str, found: dict[str, Any], took: float) -> None:
    """Show the times of a part, and their ratios to ours with quartiles."""
    threads = f"{found['threads']} thread{'s' if found['threads'] > 1 else ''}"
    print(f"\n{name}: {TITLES[name]} ({threads}, measured in {took:.0f} s)")
    if "sizes" in found:
        for size, times in found["sizes"].items():
            row = ", ".join(f"{who} {min(s) * 1e3:.4g}" for who, s in times.items())
            print(f"  {size:>8}: {row} ms")
        return
    for who, seconds in found["seconds"].items():
        line = f"  {who:20} {sorted(seconds)[len(seconds) // 2] * 1e3:11.4g} ms"
        first = next(iter(found["seconds"].values()))
        times = ratio(seconds, first)
        line += f"   x {times.median:8.3g} [{times.low:.3g}, {times.high:.3g}]"
        if who in found.get("errors", {}):
            line += f"   error {found['errors'][who]:.0e}"
        if who in found.get("bandwidths", {}):
            line += f"   bandwidth {found['bandwidths'][who]:.5g}"
        print(line)


def print_goals(rows: list[gates.Row]) -> None:
    """Show each goal, what was reached, and whether that is enough."""
    print("\nGoals: median [quartiles], gate, stretch")
    for row in rows:
        sign = "at most" if row.most else "at least"
        word = "met" if row.reaches(row.gate) else "MISSED"
        far = "reached" if row.reaches(row.stretch) else "not reached"
        print(
            f"  {row.what:58} {row.median:7.3g} [{row.low:.3g}, {row.high:.3g}] {row.unit:2}  "
            f"{sign} {row.gate:g}: {word}; stretch {row.stretch:g}: {far}"
        )


def main(words: list[str]) -> None:
    """Run what is asked for."""
    if words[:1] == ["--fresh"]:
        print("\n" + json.dumps(fresh(words[1:])))
        return
    names = [word for word in words if word != "quick"]
    if unknown := set(names) - {*TITLES, "memory"}:
        raise SystemExit(
            f"unknown: {', '.join(unknown)}; parts: {', '.join(TITLES)}, memory, quick"
        )
    start = perf_counter()
    results = run(names, "quick" in words)
    print(f"\n{perf_counter() - start:.0f} s in all")
    if not words:
        RESULTS.write_text(as_text(results), "utf-8")
        print(f"Written: {RESULTS.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
