"""Tabs and folds in a real browser, on the fixture site opened from the disk."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from sites import Site

SHOWN = """() => [...document.querySelectorAll(".framework-tabs > label")]
    .filter((label) => getComputedStyle(label.nextElementSibling).display !== "none")
    .map((label) => label.textContent.trim())"""
OPEN = """() => [...document.querySelectorAll("details.fold")].map((fold) => fold.open)"""
VISIBLE = """() => [...document.querySelectorAll(".fold-content")]
    .map((content) => content.checkVisibility({ contentVisibilityAuto: true }))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium or Chrome, else the one that Playwright has installed."""
    found = [shutil.which(name) for name in ("chromium", "google-chrome")]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=next(filter(None, found), None), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose scripts must not fail."""
    with browser.new_context() as context:
        page = context.new_page()
        failures: list[str] = []
        page.on("pageerror", lambda error: failures.append(str(error)))
        yield page
        assert failures == []


def address(site: Site, name: str) -> str:
    return (site.out / f"{name}.html").as_uri()


def test_choice_is_taken_from_the_address_and_kept(good: Site, page: Page):
    page.goto(address(good, "tabs"))
    assert set(page.evaluate(SHOWN)) == {"PyTorch"}
    page.goto(address(good, "tabs") + "?framework=jax")
    assert set(page.evaluate(SHOWN)) == {"JAX"}
    page.goto(address(good, "figures"))
    assert set(page.evaluate(SHOWN)) == {"JAX"}


def test_choice_on_a_page_without_tabs(good: Site, page: Page):
    page.goto(address(good, "quotes") + "?framework=jax")
    page.goto(address(good, "tabs"))
    assert set(page.evaluate(SHOWN)) == {"JAX"}


def test_unknown_framework_changes_nothing(good: Site, page: Page):
    page.goto(address(good, "tabs") + "?framework=abacus")
    assert set(page.evaluate(SHOWN)) == {"PyTorch"}


def test_all_tabs_switch_with_the_keyboard(good: Site, page: Page):
    page.goto(address(good, "tabs"))
    page.locator(".framework-tabs > input").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(SHOWN) == ["JAX"] * 4


def test_the_used_tab_stays_in_its_place(good: Site, page: Page):
    page.set_viewport_size({"width": 800, "height": 300})
    page.goto(address(good, "tabs"))
    page.add_style_tag(  # without the help that some browsers give
        content="* { overflow-anchor: none } .sd-tab-content { padding-bottom: 300px !important }"
        "[data-sync-id=jax] + .sd-tab-content { padding-bottom: 0 !important }"
    )
    label = page.locator("label[data-sync-id=jax]").last
    label.scroll_into_view_if_needed()
    before = label.bounding_box()
    label.click()
    after = label.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) < 2


def test_the_chosen_framework_shows_before_the_page_is_ready(good: Site, page: Page):
    page.add_init_script(
        "addEventListener('DOMContentLoaded', (e) => e.stopImmediatePropagation(), true)"
    )
    page.goto(address(good, "tabs") + "?framework=jax")
    assert set(page.evaluate(SHOWN)) == {"JAX"}


def test_a_link_opens_its_fold(good: Site, page: Page):
    page.goto(address(good, "exercises/ex01-fold"))
    assert page.evaluate(OPEN) == [False, False, False]
    page.locator("p a[href='#ex1-a']").click()
    page.wait_for_function("document.querySelectorAll('details.fold')[1].open")
    assert page.evaluate(OPEN) == [False, True, False]
    for target in ("ex1-a", "in-detail"):  # the fold, and a part of it
        page.goto(address(good, "index"))
        page.goto(address(good, "exercises/ex01-fold") + "#" + target)
        assert page.evaluate(OPEN) == [False, True, False]


def test_folds_open_and_close_with_the_keyboard(good: Site, page: Page):
    page.goto(address(good, "exercises/ex01-fold"))
    page.locator("details.fold > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(OPEN) == [True, False, False]
    page.keyboard.press("Enter")
    assert page.evaluate(OPEN) == [False, False, False]


def test_folds_are_open_on_paper(good: Site, page: Page):
    page.goto(address(good, "exercises/ex01-fold"))
    assert page.evaluate(VISIBLE) == [False, False, False]
    page.emulate_media(media="print")
    page.wait_for_function(f"() => ({VISIBLE})().every((shown) => shown)")  # a frame or two later
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(OPEN) == [True, True, True]
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(OPEN) == [False, False, False]


def test_without_javascript(good: Site, browser: Browser):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address(good, "exercises/ex01-fold"))
        assert page.get_by_text("Result.").is_visible()
        page.goto(address(good, "tabs"))
        assert page.get_by_text("x = 0.25").is_visible()
        assert not page.get_by_text("x = -0.5").is_visible()
        page.locator("label[data-sync-id=jax]").first.click()
        assert page.get_by_text("x = -0.5").is_visible()
