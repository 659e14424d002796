"""The fields at the exercises hold the numbers of ``results.json``, at the questions."""

from __future__ import annotations

import base64
import json
import re

import pytest


@pytest.fixture(scope="module")
def results(site) -> dict[str, dict]:
    """For each key, its value in each framework."""
    values: dict[str, dict] = {}
    for row in json.loads((site.folder / "results.json").read_text("utf-8")):
        frameworks = [row["framework"]] if row["framework"] else ["torch", "jax"]
        for framework in frameworks:
            values.setdefault(row["key"], {})[framework] = row["value"]
    return values


@pytest.fixture(scope="module")
def fields(site) -> dict[str, list]:
    """The fields of each exercise."""
    return {
        page: tree.xpath("//form[contains(@class, 'check-answer')]")
        for page, tree in site.pages.items()
        if re.search(r"exercises/ex\d", page)
    }


def test_every_exercise_has_one(fields):
    assert len(fields) == 10
    assert all(fields.values())


def test_answers_are_the_recorded_numbers(fields, results):
    by_name = {"answer-" + re.sub(r"[/.]", "-", key): values for key, values in results.items()}
    for page, forms in fields.items():
        for form in forms:
            (field,) = form.xpath(".//input")
            answers = json.loads(base64.b64decode(form.get("data-answer")))
            assert answers == by_name[field.get("id")], page
            assert all(isinstance(value, (int, float)) for value in answers.values())
            tolerance = float(form.get("data-within"))
            assert all(0 <= tolerance <= 0.12 * abs(value) for value in answers.values())


def test_fields_stand_at_the_question_and_have_a_label(fields):
    for page, forms in fields.items():
        for form in forms:
            assert not form.xpath("ancestor::details"), page
            (field,) = form.xpath(".//input")
            (label,) = form.xpath(f".//label[@for='{field.get('id')}']")
            assert len(label.text_content().split()) > 2
