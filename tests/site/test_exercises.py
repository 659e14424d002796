"""Every part of every exercise is answered on its page, with figures from both frameworks."""

from __future__ import annotations

import json
import re

import pytest

#: The parts that each exercise asks for.
PARTS = {1: "abc", 2: "abc", 3: "abc", 4: "abcd", 5: "abcd",
         6: "abc", 7: "abcd", 8: "abc", 9: "abc", 10: "abcd"}  # fmt: skip
ALL = [(number, part) for number, parts in PARTS.items() for part in parts]


@pytest.fixture(scope="module")
def exercise(site):
    """The parsed page of an exercise, by its number."""

    def page(number: int):
        (found,) = (
            tree for name, tree in site.pages.items() if name.startswith(f"exercises/ex{number:02}")
        )
        return found

    return page


@pytest.fixture(scope="module")
def recorded(site) -> set[tuple[str, str | None]]:
    """(exercise/part, framework) of every number in ``results.json``."""
    results = json.loads((site.folder / "results.json").read_text())
    return {("/".join(r["key"].split("/")[:2]), r["framework"]) for r in results}


@pytest.mark.parametrize("number", PARTS)
def test_the_page_has_its_folds(exercise, number):
    titles = [" ".join(s.text_content().split()) for s in exercise(number).xpath("//summary")]
    assert any(title.startswith("Hint") for title in titles)
    assert any(title.startswith("What goes wrong") for title in titles)
    parts = [m.group(1) for title in titles if (m := re.match(r"Solution \((\w)\)", title))]
    assert parts == list(PARTS[number])


@pytest.mark.parametrize(("number", "part"), ALL)
def test_the_solution_of_each_part_is_whole(exercise, number, part):
    """It opens with the result, says enough to be one, and can be linked to."""
    tree = exercise(number)
    (anchor,) = tree.xpath(f"//*[@id='ex{number}-{part}']")
    (fold,) = anchor.xpath("ancestor-or-self::details | .//details | following::details[1]")[:1]
    text = " ".join(fold.text_content().split())
    assert "Result." in text[:200]
    assert len(text.split()) > 80


@pytest.mark.parametrize(("number", "part"), ALL)
def test_each_part_has_numbers_of_both_frameworks(recorded, number, part):
    frameworks = {f for key, f in recorded if key == f"ex{number}/{part}"}
    assert frameworks >= {"torch", "jax"} or None in frameworks
