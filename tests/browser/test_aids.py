"""Previews of references, and the fields in which readers check their answers."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect
from served import SITE

EXERCISE = "exercises/ex05-retrieval.html"
REFERENCE = "main a.reference.internal"


@pytest.fixture
def exercise(page, address):
    page.goto(address + EXERCISE)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    return page


@pytest.mark.parametrize(
    ("target", "shows"),
    [
        ("#equation-eq-ex5-weight", "(E5.1)"),
        ("../section/kernels.html#equation-eq-nw", "(3."),
        ("../section/lookup.html#equation-eq-softmax", "(1."),
    ],
)
def test_pointer_shows_and_hides(exercise, target, shows):
    link = exercise.locator(f"{REFERENCE}[href='{target}']").first
    preview = exercise.get_by_role("tooltip")
    expect(preview).to_be_hidden()
    link.scroll_into_view_if_needed()
    before = link.bounding_box()
    link.hover()
    expect(preview).to_be_visible()
    expect(preview).to_contain_text(shows)
    assert link.get_attribute("aria-describedby") == preview.get_attribute("id")
    assert link.bounding_box() == before  # nothing moved
    preview.hover()  # the pointer may go into it
    exercise.wait_for_timeout(400)
    expect(preview).to_be_visible()
    exercise.mouse.move(1, 1)
    expect(preview).to_be_hidden()
    assert link.get_attribute("aria-describedby") is None


def test_keyboard_shows_and_escape_hides(exercise):
    link = exercise.locator(f"{REFERENCE}[href='#equation-eq-ex5-weight']").first
    preview = exercise.get_by_role("tooltip")
    link.focus()
    exercise.keyboard.press("Shift+Tab")
    exercise.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(preview).to_be_visible()
    exercise.keyboard.press("Escape")
    expect(preview).to_be_hidden()
    expect(link).to_be_focused()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_of_another_page_is_shown_in_the_theme(browser, address, theme):
    with browser.new_context(color_scheme=theme) as context:
        page = context.new_page()
        page.goto(address + "exercises/ex07-kernels.html")
        link = page.locator(f"{REFERENCE}[href='../section/kernels.html#fig-kernels']").first
        link.scroll_into_view_if_needed()
        link.hover()
        images = page.get_by_role("tooltip").locator("img").filter(visible=True)
        expect(images).to_have_count(1)
        page.wait_for_function(
            "() => [...document.querySelectorAll('.preview img')].some((i) => i.naturalWidth > 99)"
        )
        assert ("-dark" in images.first.get_attribute("src")) == (theme == "dark")


def test_works_from_the_disk(page):
    page.goto((SITE / EXERCISE).as_uri())
    link = page.locator(f"{REFERENCE}[href='../section/kernels.html#equation-eq-nw']").first
    link.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("(3.")


# --- check your answer ---------------------------------------------------------------------------


def recorded(key: str) -> dict:
    rows = json.loads((SITE / "results.json").read_text("utf-8"))
    return {row["framework"]: row["value"] for row in rows if row["key"] == key}


def answer(page, name: str, text: str) -> str:
    """Type into a field as a reader does, and read the reply."""
    field = page.locator(f"input[id='{name}']")
    field.fill(text)
    field.press("Enter")
    return page.locator(f"output[for='{name}']").inner_text()


def test_an_answer_is_judged(page, address):
    page.goto(address + "exercises/ex01-two-entries.html")
    true = recorded("ex1/a/output")["torch"]
    for text in (f"{true:.2f}", f"{true:.2f}".replace(".", ","), f"{true:.6e}", "390.51/20"):
        assert answer(page, "answer-ex1-a-output", text) == "Right."
    for text in (f"{true + 0.02:.2f}", "0", "-19.53"):
        assert "is not the answer" in answer(page, "answer-ex1-a-output", text)
    for text in ("", "many", "1/2/3", "1/0"):
        assert answer(page, "answer-ex1-a-output", text).startswith("Write a number")
    output = page.locator("output[for='answer-ex1-a-output']")
    assert output.evaluate("(element) => element.checkVisibility()")
    assert page.url.endswith("two-entries.html")  # a form that is sent would change it


def test_answer_is_that_of_the_chosen_framework(page, address):
    values = recorded("ex7/b/empty_boxcar")
    assert values["torch"] != values["jax"]
    for framework, name in (("torch", "PyTorch"), ("jax", "JAX")):
        page.goto(f"{address}exercises/ex07-kernels.html?framework={framework}")
        field = "answer-ex7-b-empty_boxcar"
        assert answer(page, field, str(values[framework])) == f"Right for the draw of {name}."
        (other,) = set(values) - {framework}
        assert f"is not the answer for the draw of {name}" in answer(
            page, field, str(values[other])
        )


def test_field_has_a_name_and_a_button(page, address):
    page.goto(address + "exercises/ex01-two-entries.html")
    field = page.get_by_role("textbox", name="The query whose output is 15")
    field.focus()
    page.keyboard.type("3.5")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Check").nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Right.")).to_be_visible()


def test_without_javascript_the_solution_is_named(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address + "exercises/ex01-two-entries.html")
        expect(page.locator("form.check-answer").first).to_be_hidden()
        expect(page.locator(".check-answer-off").first).to_be_visible()
