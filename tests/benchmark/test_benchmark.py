"""The benchmark times what it says, and its results hold what the page shows; nothing is timed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import contests
import gates
import memory
import numpy as np
import peers
import problems
import pytest
from timing import interleaved, ratio

ROOT = Path(__file__).resolve().parents[2]
RESULTS = json.loads((ROOT / "docs" / "_benchmark" / "results.json").read_text("utf-8"))
IMPORT = {"numpy", "attnlib", "nadaraya_watson", "torch", "jax"}


class Machine:
    """A clock that only tasks move, on a machine that gets slower with every call."""

    def __init__(self, drift: float = 0.0):
        self.time, self.calls, self.drift = 0.0, [], drift

    def __call__(self) -> float:
        return self.time

    def task(self, name: str, seconds: float):
        def run() -> None:
            self.time += seconds * (1 + self.drift * len(self.calls))
            self.calls.append(name)

        return run


def test_rounds_alternate():
    machine = Machine()
    tasks = {name: machine.task(name, 1.0) for name in "abc"}
    seconds = interleaved(tasks, 4, clock=machine)
    assert seconds == {name: [1.0] * 4 for name in "abc"}
    once = "abc" + "abc"  # to get warm, and to see how long it takes
    assert "".join(machine.calls) == once + "abc" + "cba" + "abc" + "cba"


def test_a_warm_task_is_not_warmed_again():
    machine = Machine()
    interleaved({"a": machine.task("a", 1.0)}, 3, warm=True, clock=machine)
    assert len(machine.calls) == 1 + 3


def test_three_rounds_are_enough_when_patience_ends():
    machine = Machine()
    tasks = {"a": machine.task("a", 1.0), "b": machine.task("b", 2.0)}
    assert len(interleaved(tasks, 9, patience=10.0, clock=machine)["a"]) == 3
    assert len(interleaved(tasks, 9, patience=24.5, clock=machine)["b"]) == 7


def test_short_calls_are_repeated():
    machine = Machine()
    seconds = interleaved({"a": machine.task("a", 0.001)}, 1, shortest=0.1, clock=machine)
    assert seconds["a"] == [pytest.approx(0.001)]
    assert len(machine.calls) > 100


def test_a_machine_that_slows_down_does_not_change_the_ratio():
    """Timed one after the other, the second contestant would look more than twice as slow."""
    machine = Machine(drift=0.05)
    tasks = {"fast": machine.task("fast", 1.0), "slow": machine.task("slow", 3.0)}
    seconds = interleaved(tasks, 20, clock=machine)
    assert ratio(seconds["slow"], seconds["fast"]).median == pytest.approx(3, rel=0.03)
    assert seconds["fast"][-1] > 2 * seconds["fast"][0]


def test_ratio_is_taken_within_rounds():
    draw = random.Random(0)
    speed = [draw.uniform(1, 10) for _ in range(9)]
    factors = [2.0, 2.1, 1.9, 2.0, 2.2, 1.8, 2.05, 1.95, 2.0]
    found = ratio([a * b for a, b in zip(speed, factors, strict=True)], speed)
    assert found == pytest.approx(np.percentile(factors, (50, 25, 75)))
    assert ratio([6.0], [2.0]) == (3, 3, 3)


def test_memory_sees_what_is_allocated_and_freed():
    def forty_megabytes() -> None:
        np.ones(5_000_000).sum()

    if memory.unable():  # told to whoever runs the benchmark, and nothing is measured
        with pytest.raises(OSError, match="clear_refs"):
            memory.extra(forty_megabytes)
        return
    assert memory.extra(forty_megabytes) == pytest.approx(40, abs=4)
    assert memory.extra(lambda: None) < 4


SMALL = {
    "line": problems.line(30, 40),
    "line32": problems.line(30, 40, dtype="float32"),
    "space": problems.space(30, 40),
    "space64": problems.space(30, 40, dtype="float64"),
    "heads": problems.heads(30, 40),
    "line, mask": problems.masked(problems.line(30, 40)),
    "heads, mask": problems.masked(problems.heads(30, 40)),
}


@pytest.mark.parametrize("problem", SMALL)
@pytest.mark.parametrize("name", peers.PEERS)
def test_every_contestant_solves_the_problem(name, problem):
    """Those that are installed here; KeOps, which compiles for a minute, in the benchmark."""
    if name == "KeOps" or (name == "attnlib, line" and problem not in ("line", "line32")):
        return
    solve = peers.solvers([name], SMALL[problem]).get(name)
    if solve is None:
        assert peers.missing(name) or is_for_others(name, problem)
        return
    assert peers.error(solve, SMALL[problem]) < 1e-5
    wrong = SMALL[problem]._replace(values=SMALL[problem].values + 1)
    assert peers.error(solve, wrong) > 1e-3  # it would see another result


def is_for_others(name: str, problem: str) -> bool:
    """Whether a contestant is for other problems."""
    if "mask" in problem:
        return name.endswith("bare") or not (name.startswith("attnlib") or "broadcast" in name)
    if problem == "heads":
        return name in ("scikit-learn", "statsmodels", "JAX broadcast, bare")
    return name == "JAX attention" or (name == "statsmodels" and problem in ("line32", "space"))


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert "pykeops" in peers.missing("KeOps")
    assert peers.missing("attnlib") is None
    assert peers.solvers(["KeOps", "statsmodels"], SMALL["line"]) == {}


def test_a_missing_compiler_is_told(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: name)
    monkeypatch.setattr(peers.shutil, "which", lambda name: None)
    assert "compiler" in peers.missing("KeOps")


def test_the_parts_run_at_a_tiny_size(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    contest = contests.Contest("tiny", lambda: SMALL["line"], ("attnlib", "NumPy broadcast"))
    found = contests.compare(contest, 2)
    assert {len(seconds) for seconds in found["seconds"].values()} == {2}
    found = contests.dense_limit(1, SMALL["space"])["seconds"]
    assert found["limit"][0] > found["exponentials"][0] > 0
    found = contests.left_out_search(1, m=60)["bandwidths"]
    assert found["attnlib"] == pytest.approx(found["statsmodels"], rel=1e-2)
    assert contests.bandwidths(1, n=50)["seconds"].keys() == {"0.001", "0.01", "0.1", "1.0", "10.0"}


def test_a_sweep_drops_what_takes_too_long(monkeypatch):
    calls = []

    def slow_as_square(tasks, rounds):
        calls.append(list(tasks))
        return {name: [task() ** 2 / 1e6] for name, task in tasks.items()}

    monkeypatch.setattr(contests, "interleaved", slow_as_square)
    monkeypatch.setattr(
        contests.peers, "solvers", lambda names, n: {name: lambda: n for name in names}
    )
    chosen = contests.Sweep("", lambda n: n, ("KeOps", "NumPy broadcast"), width=8)
    found = contests.sweep(chosen, [10, 100, 1000, 10_000, 20_000], 1, longest=200.0)["sizes"]
    assert list(found) == ["10", "100", "1000", "10000"]
    assert calls[-1] == ["KeOps", "NumPy broadcast"]
    chosen = chosen._replace(width=80)  # a matrix of 10,000 x 10,000 takes 8 GB
    found = contests.sweep(chosen, [10, 100, 1000, 10_000], 1, longest=200.0)["sizes"]
    assert list(found["10000"]) == ["KeOps"]


def test_results_hold_every_part_and_contestant():
    for name, contest in contests.CONTESTS.items():
        found = RESULTS["times"][name]
        wanted = set(contest.names)
        assert found["seconds"].keys() == wanted == found["errors"].keys(), name
        (rounds,) = {len(s) for s in found["seconds"].values()}
        assert 3 <= rounds <= contest.rounds
        assert found["threads"] == (contest.threads or RESULTS["machine"]["threads"])
    for name, sweep in contests.SWEEPS.items():
        sizes = RESULTS["times"][name]["sizes"]
        assert sizes[str(contests.SIZES[0])].keys() == set(sweep.names), name
    assert RESULTS["times"]["import"]["seconds"].keys() == IMPORT
    assert RESULTS["missing"] == {}
    for name, (_, _, names) in memory.PROBLEMS.items():
        assert RESULTS["memory"][name]["megabytes"].keys() == set(names)


def test_results_are_accurate():
    for name in contests.CONTESTS:
        for who, error in RESULTS["times"][name]["errors"].items():
            bound = 1e-12 if name in ("line", "space64") else 1e-6
            assert error < bound or who != "attnlib", (name, who)


def test_goals_follow_from_the_measurements():
    keys = [key for key, *_ in (*gates.FASTER, *gates.SLOWER)]
    keys += [f"memory-{name}" for name, *_ in gates.SMALLER]
    assert [goal["key"] for goal in RESULTS["goals"]] == keys
    for row, goal in zip(gates.rows(RESULTS), RESULTS["goals"], strict=True):
        for field, value in row._asdict().items():
            wanted = goal[field]
            if isinstance(wanted, float):
                wanted = pytest.approx(wanted, rel=1e-4)
            assert value == wanted, (row.key, field)


def test_a_goal_is_reached_from_the_right_side():
    row = gates.Row("", "", "", 5.0, 4.0, 6.0, 5.0, 7.0, most=False)
    assert (row.reaches(row.gate), row.reaches(row.stretch)) == (True, False)
    row = row._replace(most=True, stretch=4.0)
    assert (row.reaches(row.gate), row.reaches(row.stretch)) == (True, False)
