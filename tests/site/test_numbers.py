"""Every number of the site against an independent route.

`results.json` holds what the pages computed. For each prefix of its keys (`lookup/...`,
`ex5/...`) the file `numbers/<prefix>.py` computes the same numbers without attnlib and without
the page's code: by a closed form, in double precision with NumPy, or with another library. Its
function `expected(framework)` returns a dictionary from keys to values, for "torch", for "jax",
and for None, which stands for numbers that do not depend on the framework. A float means agreement
to 1e-5, relative for numbers above 1 and absolute below; `pytest.approx` states another tolerance;
everything else must be equal.

A key without a check fails, and so does a check without a key.
"""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "numbers"
PREFIXES = sorted(path.stem for path in FOLDER.glob("*.py"))


def load(prefix: str) -> ModuleType:
    """Import `numbers/<prefix>.py`, which is no package: its name would hide a standard module."""
    spec = spec_from_file_location(f"site_numbers_{prefix}", FOLDER / f"{prefix}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def agrees(value: Any, wanted: Any) -> bool:
    """Whether a recorded value is what the independent route gives."""
    if isinstance(wanted, float) and not isinstance(value, bool):
        return value == pytest.approx(wanted, rel=1e-5, abs=1e-5)
    if type(wanted) in (bool, int, str):
        return type(value) is type(wanted) and value == wanted
    return value == wanted


def disagreements(recorded: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """What differs between the recorded numbers and the expected ones, key by key."""
    problems = [f"{key}: recorded, but nothing checks it" for key in recorded.keys() - wanted]
    problems += [f"{key}: checked, but not recorded" for key in wanted.keys() - recorded]
    for key in recorded.keys() & wanted:
        if not agrees(recorded[key], wanted[key]):
            problems.append(f"{key}: recorded {recorded[key]!r}, expected {wanted[key]!r}")
    return sorted(problems)


@pytest.fixture(scope="module")
def results(site) -> list[dict[str, Any]]:
    return json.loads((site.folder / "results.json").read_text("utf-8"))


@pytest.mark.parametrize("framework", ["torch", "jax", None])
@pytest.mark.parametrize("prefix", PREFIXES)
def test_numbers_agree(results, prefix, framework):
    recorded = {
        row["key"]: row["value"]
        for row in results
        if row["framework"] == framework and row["key"].split("/")[0] == prefix
    }
    wanted = dict(load(prefix).expected(framework))
    assert not disagreements(recorded, wanted)


def test_every_prefix_has_a_file(results):
    assert {row["key"].split("/")[0] for row in results} == set(PREFIXES)


def test_no_number_stands_twice(results):
    names = [(row["key"], row["framework"]) for row in results]
    assert len(names) == len(set(names))


def test_a_check_can_fail():
    wanted = {"a": 0.5, "b": True, "c": 3, "d": pytest.approx(1e-9, rel=1e-2)}
    right = {"a": 0.500001, "b": True, "c": 3, "d": 1.001e-9}
    assert disagreements(right, wanted) == []
    for key, wrong in {"a": 0.50002, "b": 1, "c": 4, "d": 1.1e-9}.items():
        assert [p.split(":")[0] for p in disagreements(right | {key: wrong}, wanted)] == [key]
    assert disagreements(right | {"e": 1.0}, wanted) == ["e: recorded, but nothing checks it"]
    assert disagreements(right, wanted | {"e": 1.0}) == ["e: checked, but not recorded"]
