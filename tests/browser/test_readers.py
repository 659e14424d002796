"""Readers with a keyboard alone, without JavaScript, in the dark, and without a network."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from served import SITE

EXERCISE = "exercises/ex05-retrieval.html"
FOCUSED = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const label = element.labels?.[0] ?? element;
  const shown = [element, label, element.firstElementChild ?? element].some((e) => {
    const s = getComputedStyle(e);
    return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none";
  });
  return {
    tag: element.tagName.toLowerCase(), type: element.type ?? "", classes: element.className,
    name: element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 40), shown,
  };
}"""


def tabbed(page, steps: int) -> list[dict]:
    """What the tabulator key reaches, one step after another."""
    reached = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    return reached


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("section/kernels.html", {"search", "menu", "tab", "reference"}),
        (EXERCISE, {"search", "menu", "fold", "reference"}),
    ],
)
def test_keyboard_reaches_everything_and_shows_where_it_is(page, address, path, wanted):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address + path)
    reached = tabbed(page, 150)
    kinds = {
        "search": any("search" in e["classes"] for e in reached),
        "menu": any(e["name"].endswith("Pooling with fixed kernels") for e in reached),
        "tab": any(e["type"] == "radio" for e in reached),
        "fold": any(e["tag"] == "summary" and "Solution (a)" in e["name"] for e in reached),
        "reference": any("reference internal" in e["classes"] for e in reached),
    }
    assert wanted <= {kind for kind, found in kinds.items() if found}
    unseen = {(e["tag"], e["name"]) for e in reached if not e["shown"] and e["tag"] != "body"}
    assert not unseen


def test_keyboard_searches(page, address):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address)
    page.keyboard.press("Control+k")
    page.keyboard.type("bandwidth")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=bandwidth*")
    expect(page.locator("#search-results li a").first).to_be_visible()


def test_search_works_from_the_disk(page):
    page.goto((SITE / "search.html").as_uri() + "?q=bandwidth")
    expect(page.locator("#search-results li a").first).to_be_visible()
    page.locator("#search-results li a").first.click()
    expect(page.locator("main h1")).to_be_visible()
    assert page.url.startswith("file:")


def test_without_javascript_everything_can_be_read(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address + EXERCISE)
        expect(page.get_by_text("Result.").first).to_be_visible()
        torch = page.locator("pre", has_text="import torch").first
        jax = page.locator("pre", has_text="import jax").first
        if not torch.is_visible():  # the set-up is folded
            page.locator("summary").filter(has_text="Set-up").click()
        expect(torch).to_be_visible()
        expect(jax).to_be_hidden()
        page.locator("label[data-sync-id=jax]").first.click()
        expect(jax).to_be_visible()
        expect(torch).to_be_hidden()
        background = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(background) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_have_the_colours_of_the_theme(browser, address, theme):
    with browser.new_context(color_scheme=theme) as context:
        page = context.new_page()
        page.goto(address + "section/kernels.html")
        sources = page.evaluate(
            """() => [...document.querySelectorAll("main figure img")]
                .filter((image) => image.checkVisibility()).map((image) => image.src)"""
        )
        assert sources
        assert all(("-dark." in source) == (theme == "dark") for source in sources)


@pytest.mark.parametrize("place", ["web", "disk"])
def test_numbers_of_a_figure_are_a_file_to_take(page, address, place):
    page.goto((address if place == "web" else f"{SITE.as_uri()}/") + "section/kernels.html")
    link = page.get_by_role("link", name=re.compile(r"Data \(CSV\) of Fig\. 3\.1(, PyTorch)?$"))
    with page.expect_download() as started:
        link.press("Enter")
    assert re.fullmatch(r"kernels-kernels(-torch)?\.csv", started.value.suggested_filename)
    assert started.value.path().read_text("utf-8").startswith("panel,series,x,y,")
    page.emulate_media(media="print")
    expect(link).to_be_hidden()


def test_motion_is_reduced_where_asked(browser, address):
    with browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(address + EXERCISE)
        moving = page.evaluate(
            """() => [...document.querySelectorAll("*")].filter((element) => {
                const style = getComputedStyle(element);
                const lasts = (times) => times.split(",").some((t) => parseFloat(t) > 0.01);
                return style.animationName !== "none" && lasts(style.animationDuration)
                    || style.scrollBehavior === "smooth" || lasts(style.transitionDuration);
            }).map((element) => element.tagName + "." + element.className).slice(0, 5)"""
        )
        assert moving == []


def test_on_paper_the_solutions_are_open_and_one_framework_is_left(page, address):
    page.goto(f"{address}{EXERCISE}?framework=jax")
    page.emulate_media(media="print")
    for hidden in (".bd-header", ".bd-sidebar-primary", ".bd-sidebar-secondary", ".copybtn",
                   ".check-answer", ".prev-next-area", "label[data-sync-id=torch]"):  # fmt: skip
        for element in page.locator(hidden).all():
            assert not element.is_visible(), hidden
    assert page.locator(".fold-content").count() > 3
    page.wait_for_function(  # a frame or two later
        """() => [...document.querySelectorAll(".fold-content")]
            .every((content) => content.checkVisibility({ contentVisibilityAuto: true }))"""
    )
    expect(page.locator("pre", has_text="import torch").first).to_be_hidden()
    expect(page.locator("pre", has_text="import jax").first).to_be_visible()
