"""The live figures compute what attnlib computes, and serve every reader."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from served import SITE, site_pages
from test_accessibility import violations

import attnlib
from attnlib.data import section_data, standard_normal, truth, unit_sphere

PAGES = {
    "two_entries": "section/lookup.html",
    "regression": "section/regression.html",
    "weights": "section/regression.html",
    "retrieval": "exercises/ex05-retrieval.html",
    "beyond_data": "exercises/ex08-beyond-data.html",
}
LIVE_PAGES = sorted({*PAGES.values(), "index.html"})
KERNELS = ("gaussian", "boxcar", "triangular", "constant")
TOLERANCE = 1e-9

# --- what attnlib says ---------------------------------------------------------------------------

Setting = dict[str, Any]
Signals = dict[str, Any]
Numbers = dict[str, list[float]]


@cache
def pairs(framework: str) -> tuple[np.ndarray, np.ndarray]:
    """The section's keys and values as float64."""
    data = section_data(framework)
    return np.asarray(data.x_train, np.float64), np.asarray(data.y_train, np.float64)


def answers(q: Any, keys: Any, values: Any, bandwidth: float, kernel: str) -> tuple[Any, ...]:
    """Weights, estimates and effective numbers of some queries."""
    q = np.asarray(q, np.float64)
    weights = attnlib.kernel_weights(q, keys, bandwidth, kernel)
    return weights, attnlib.pool(weights, values), attnlib.effective_number(weights)


def empty(q: Any, keys: Any, bandwidth: float, kernel: str) -> Any:
    """Whether each query has no key in reach."""
    return ~(attnlib.KERNELS[kernel](abs(q[:, None] - keys) / bandwidth) > 0).any(1)


def two_entries(s: Signals) -> Numbers:
    keys, values = np.array([2.0, 5.0]), np.array([10.0, 20.0])
    scores = -((np.array([[s["query"]]]) - keys) ** 2)
    if s["bandwidth"] == 1e-9:  # the two limits
        weights = attnlib.nearest_weights(scores)
    elif s["bandwidth"] == 1e9:
        weights = attnlib.average_weights(scores)
    else:
        weights = attnlib.softmax_weights(scores / (2 * s["bandwidth"] ** 2))
    return {"weights.weight": weights[0], "output.estimate": attnlib.pool(weights, values)}


def regression(s: Signals) -> Numbers:
    keys, values = pairs(s["draw"])
    with_these = (keys, values, s["bandwidth"], s["kernel"])
    weights, estimate, effective = answers([s["query"]], *with_these)
    fifty = np.arange(50) / 10
    errors = answers(fifty, *with_these)[1] - truth(fifty)
    return {
        "weights.weight": weights[0],
        "here.estimate": estimate,
        "here.truth": truth(np.array([float(s["query"])])),
        "here.effective": effective,
        "fitted.estimate": answers(np.arange(101) / 20, *with_these)[1],
        "errors.mse": [(errors**2).mean()],
        "errors.empty": [empty(fifty, keys, s["bandwidth"], s["kernel"]).sum()],
    }


def weights(s: Signals) -> Numbers:
    keys, values = pairs(s["draw"])
    with_these = (keys, values, s["bandwidth"], s["kernel"])
    matrix, _, effective = answers(np.arange(50) / 10, *with_these)
    row, _, here = answers([s["query"]], *with_these)
    return {
        "cells.weight": matrix.ravel(),
        "weights.weight": row[0],
        "here.effective": here,
        "largest.largest": [matrix.max()],
        "median.effective": [np.median(effective)],
    }


@cache
def database(framework: str) -> tuple[np.ndarray, np.ndarray]:
    """The keys and the noises of the figure of exercise 5, as float64."""
    keys = unit_sphere(framework, 200, 16, seed=3)
    noises = standard_normal(framework, (2, 16), seed=4)
    return np.asarray(keys, np.float64), np.asarray(noises, np.float64)


def retrieval(s: Signals) -> Numbers:
    keys, noises = database(s["draw"])
    keys = keys[: int(s["number"])]
    levels = np.append(np.arange(41) / 40, s["noise"])
    queries = keys[0] + levels[:, None] * noises[int(s["direction"])]
    weights = attnlib.kernel_weights(queries, keys, s["bandwidth"])
    distances = np.linalg.norm(queries[:, None] - keys, axis=-1)
    return {
        "levels.weight": weights[:-1, 0],
        "right.weight": weights[-1:, 0],
        "right.distance": distances[-1:, 0],
        "right.wrong": [distances[-1, 1:].min()],
    }


def beyond_data(s: Signals) -> Numbers:
    keys, values = pairs(s["draw"])
    with_these = (keys, values, s["bandwidth"], s["kernel"])
    grid = np.append(np.arange(100) / 20, 5 + np.arange(61) / 4)
    row, estimate, _ = answers([s["query"]], *with_these)
    plain = attnlib.KERNELS[s["kernel"]](abs(s["query"] - keys) / s["bandwidth"])
    with np.errstate(invalid="ignore"):
        written = (plain @ values) / plain.sum()
    return {
        "weights.weight": row[0],
        "here.estimate": estimate,
        "here.truth": truth(np.array([float(s["query"])])),
        "fitted.estimate": answers(grid, *with_these)[1],
        "plain.estimate": [written],
    }


EXPECTED: dict[str, Callable[[Signals], Numbers]] = {
    "two_entries": two_entries,
    "regression": regression,
    "weights": weights,
    "retrieval": retrieval,
    "beyond_data": beyond_data,
}


def settings(name: str) -> Iterator[Setting]:
    """A grid of settings for each figure, with the ends of its sliders."""
    if name == "two_entries":
        for query, step in product((-1, 2, 3.5, 4, 8), (0, 1, 18, 30, 60, 61)):
            yield {"query": query, "bandwidth_step": step}
    elif name == "retrieval":
        grid = product((0, 0.25, 1), (0, 6, 12), (0, 14, 28), ("0", "1"), ("torch", "jax"))
        for noise, number, step, direction, draw in grid:
            yield {
                "noise": noise,
                "number_step": number,
                "bandwidth_step": step,
                "direction": direction,
                "draw": draw,
            }
    else:
        queries = {"regression": (0, 2.35, 5), "weights": (0, 4.9), "beyond_data": (2.3, 9, 20)}
        grid = product(queries[name], (0, 6, 20, 34), KERNELS, ("torch", "jax"))
        for query, step, kernel, draw in grid:
            yield {"query": query, "bandwidth_step": step, "kernel": kernel, "draw": draw}


READ = """async ([name, settings, columns, signals]) => {
  const figure = liveFigures[name];
  await figure.ready;
  const found = [];
  for (const setting of settings) {
    await figure.set(setting);
    found.push([
      columns.map(([layer, field]) => figure.rows(layer).map((row) => row[field])),
      signals.map((signal) => figure.signal(signal)),
    ]);
  }
  return found;
}"""
SIGNALS = ("query", "bandwidth", "kernel", "draw", "noise", "number", "direction")


def wake(page: Any, address: str, name: str) -> None:
    """Open a figure's page, and bring the figure into sight."""
    page.goto(address + PAGES[name])
    figure = page.locator(f".live[data-figure={name}]")
    figure.scroll_into_view_if_needed()
    page.wait_for_selector(f".live[data-figure={name}][data-ready]")


def differences(page: Any, name: str) -> dict[str, float]:
    """The largest difference from attnlib in each column of numbers, over all settings."""
    grid = list(settings(name))
    known = [s for s in SIGNALS if page.evaluate(KNOWS, [name, s])]
    expect = EXPECTED[name]
    first = {s: page.evaluate("([n, s]) => liveFigures[n].signal(s)", [name, s]) for s in known}
    columns = list(expect(first))
    worst = dict.fromkeys(columns, 0.0)
    split = [column.split(".") for column in columns]
    for found, values in page.evaluate(READ, [name, grid, split, known]):
        expected = expect(dict(zip(known, values, strict=True)))
        for column, numbers in zip(columns, found, strict=True):
            wanted = np.asarray(expected[column], np.float64)
            got = np.asarray(numbers, np.float64)
            assert got.shape == wanted.shape, column
            assert (np.isnan(got) == np.isnan(wanted)).all(), column
            difference = np.nanmax(abs(got - wanted), initial=0.0)
            worst[column] = max(worst[column], float(difference))
    return worst


KNOWS = """([name, signal]) => {
  try { liveFigures[name].signal(signal); return true; } catch { return false; }
}"""


@pytest.mark.parametrize("name", PAGES)
def test_numbers_are_those_of_attnlib(page, address, name):
    wake(page, address, name)
    assert max(differences(page, name).values()) < TOLERANCE


@pytest.mark.parametrize("name", PAGES)
def test_a_formula_that_is_one_percent_off_is_seen(page, address, name):
    def spoil(route: Any) -> None:
        html, found = re.subn(r"\) / bandwidth", ") / (1.01 * bandwidth)", route.fetch().text())
        assert found
        route.fulfill(body=html, content_type="text/html")

    page.route("**/*.html", spoil)
    wake(page, address, name)
    assert max(differences(page, name).values()) > 1e-4


@pytest.mark.parametrize("name", PAGES)
def test_the_grid_reaches_the_ends_of_the_sliders(page, address, name):
    wake(page, address, name)
    grid = list(settings(name))
    for field in page.locator(f".live[data-figure={name}] input").all():
        signal = field.get_attribute("data-signal")
        tried = {setting[signal] for setting in grid}
        assert max(tried) == float(field.get_attribute("max")) or signal == "bandwidth_step"
        assert min(tried) >= float(field.get_attribute("min"))


# --- speed and scripts ---------------------------------------------------------------------------

UPDATES = """async ([name, times]) => {
  const figure = liveFigures[name];
  const step = document.querySelector(`[data-figure=${name}] [data-signal=bandwidth_step]`);
  for (let i = 0; i < times; i++) {
    await figure.set({ bandwidth_step: i % (Number(step.max) + 1) });
    await new Promise(requestAnimationFrame); // style, layout and painting belong to it
  }
}"""


@pytest.mark.parametrize("name", PAGES)
def test_an_update_takes_less_than_50_ms(page, address, name):
    wake(page, address, name)
    # Time of the page's own thread: what else the machine does is not counted.
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    page.evaluate(UPDATES, [name, 10])
    before = seconds()
    page.evaluate(UPDATES, [name, 40])
    milliseconds = 1000 * (seconds() - before) / 40
    print(f"{name}: {milliseconds:.1f} ms an update")
    assert 0.5 < milliseconds < 50


def test_scripts_are_loaded_only_where_a_figure_stands():
    for path in site_pages():
        html = (SITE / path).read_text("utf-8")
        assert ("_static/vega.js" in html) == ('class="live"' in html), path
        assert ('class="live"' in html) == (path in LIVE_PAGES), path


# --- every reader --------------------------------------------------------------------------------


def written(page: Any, name: str, label: str) -> str:
    """The number that stands below a figure."""
    row = page.locator(f".live[data-figure={name}] dl > div", has_text=label)
    return row.locator("dd").inner_text()


def test_sliders_and_lists_work_by_keyboard(page, address):
    wake(page, address, "regression")
    figure = page.locator(".live[data-figure=regression]")
    before = written(page, "regression", "Mean squared error")
    bandwidth = figure.get_by_label("Bandwidth", exact=True)
    assert bandwidth.get_attribute("aria-valuetext") == "0.5"
    bandwidth.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        """() => document.activeElement.getAttribute("aria-valuetext") === "0.45" """
    )
    narrower = written(page, "regression", "Mean squared error")
    assert narrower != before
    figure.get_by_label("Kernel", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(100)
    assert page.evaluate("liveFigures.regression.signal('kernel')") == "boxcar"
    # A screen reader hears the numbers once they have come to rest.
    status = figure.get_by_role("status")
    page.wait_for_function(
        """() => document.querySelector("[data-figure=regression] .live-status").textContent"""
    )
    assert "Mean squared error: " in status.inner_text()


def test_the_data_follow_the_framework_of_the_page(page, address):
    page.goto(f"{address}index.html?framework=jax")
    wake(page, address, "regression")
    drawn = page.locator(".live[data-figure=regression]").get_by_label("Data drawn by")
    assert drawn.input_value() == "jax"
    page.locator(".framework-tabs > label[data-sync-id=torch]").first.click()
    assert drawn.input_value() == "torch"
    page.wait_for_function("liveFigures.regression.signal('draw') === 'torch'")


def test_each_control_is_reached_in_order_and_shows_its_focus(page, address):
    wake(page, address, "regression")
    fields = page.locator(".live[data-figure=regression] :is(input, select)")
    fields.first.focus()
    for i in range(fields.count()):
        assert fields.nth(i).evaluate("field => field === document.activeElement")
        assert fields.nth(i).evaluate("field => getComputedStyle(field).outlineStyle") != "none"
        page.keyboard.press("Tab")


def test_what_is_drawn_can_be_taken_as_csv(page, address):
    wake(page, address, "regression")
    page.evaluate("liveFigures.regression.set({ query: 4, kernel: 'boxcar' })")
    link = page.locator(".live[data-figure=regression]").get_by_text("Data (CSV)")
    assert re.fullmatch(
        r"Data \(CSV\) of Fig\. 4\.\d, as it is now", link.get_attribute("aria-label")
    )
    with page.expect_download() as started:
        link.press("Enter")
    assert started.value.suggested_filename == "live-regression.csv"
    with started.value.path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = regression({"draw": "torch", "query": 4, "bandwidth": 0.5, "kernel": "boxcar"})
    for name in ("weights.weight", "fitted.estimate", "errors.mse"):
        series, field = name.split(".")
        found = [float(row[field]) for row in rows if row["series"] == series]
        np.testing.assert_allclose(found, expected[name], atol=TOLERANCE)


def test_the_query_follows_the_pointer(page, address):
    wake(page, address, "regression")
    stage = page.locator(".live[data-figure=regression] .live-view")
    stage.scroll_into_view_if_needed()
    panel = stage.locator(".concat_0_group .background").first.bounding_box()
    page.mouse.move(panel["x"] + 0.8 * panel["width"], panel["y"] + 50)
    page.wait_for_function("Math.abs(liveFigures.regression.signal('query') - 4) <= 0.05")


def test_a_row_of_the_heat_map_follows_the_pointer(page, address):
    wake(page, address, "weights")
    stage = page.locator(".live[data-figure=weights] .live-view")
    stage.scroll_into_view_if_needed()
    panel = stage.locator(".concat_0_group .background").first.bounding_box()
    page.mouse.move(panel["x"] + 50, panel["y"] + 0.2 * panel["height"])
    page.wait_for_function("Math.abs(liveFigures.weights.signal('query') - 3.95) <= 0.1")


def test_a_finger_moves_the_query(browser, address):
    with browser.new_context(has_touch=True, viewport={"width": 360, "height": 800}) as context:
        page = context.new_page()
        wake(page, address, "regression")
        stage = page.locator(".live[data-figure=regression] .live-view")
        stage.scroll_into_view_if_needed()
        panel = stage.locator(".concat_0_group .background").first.bounding_box()
        page.touchscreen.tap(panel["x"] + 0.2 * panel["width"], panel["y"] + 50)
        page.wait_for_function("Math.abs(liveFigures.regression.signal('query') - 1) <= 0.05")
        # Up and down still scrolls the page.
        assert stage.evaluate("e => getComputedStyle(e.parentElement).touchAction") == "pan-y"


@pytest.mark.parametrize("name", PAGES)
def test_at_320_pixels_all_of_it_is_in_the_column(browser, address, name):
    with browser.new_context(viewport={"width": 320, "height": 800}) as context:
        page = context.new_page()
        wake(page, address, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        svg = page.locator(f".live[data-figure={name}] svg").first.bounding_box()
        assert svg["x"] >= 0
        assert svg["x"] + svg["width"] <= 320


@pytest.mark.parametrize("name", PAGES)
def test_the_drawing_changes_with_the_theme(page, address, name):
    page.emulate_media(color_scheme="light")
    wake(page, address, name)
    svg = page.locator(f".live[data-figure={name}] svg").first
    light = svg.inner_html().lower()
    page.evaluate(f"liveFigures.{name}.set({{ bandwidth_step: 3 }})")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    ink, night = "#1f2933", "#e6edf3"
    page.wait_for_function(
        "([name, color]) => document.querySelector(`[data-figure=${name}] svg`)"
        ".innerHTML.toLowerCase().includes(color)",
        arg=[name, night],
    )
    dark = svg.inner_html().lower()
    assert (ink in light, night in light) == (True, False)
    assert (ink in dark, night in dark) == (False, True)
    assert page.evaluate(f"liveFigures.{name}.signal('bandwidth_step')") == 3  # nothing is lost


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_no_violation_once_it_is_drawn(browser, address, name, theme):
    with browser.new_context(color_scheme=theme) as context:
        page = context.new_page()
        wake(page, address, name)
        assert violations(page) == []


@pytest.mark.parametrize("path", LIVE_PAGES)
def test_from_the_disk(page, path):
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto((SITE / path).as_uri())
    page.locator(".live").first.scroll_into_view_if_needed()
    page.wait_for_selector(".live[data-ready]")
    assert failures == []


@pytest.mark.parametrize("path", LIVE_PAGES)
def test_without_javascript_a_picture_stands_there(browser, address, path):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address + path)
        for figure in page.locator(".live").all():
            picture = figure.locator("img.only-light")
            picture.scroll_into_view_if_needed()
            assert picture.is_visible()
            assert len(picture.get_attribute("alt").split()) > 10
            assert figure.get_by_text("allow JavaScript").is_visible()
            assert not figure.locator(".live-controls").is_visible()
            assert not figure.locator(".live-numbers").is_visible()
            assert not figure.locator(".figure-data").is_visible()


def test_on_paper_the_picture_stands_for_the_figure(page, address):
    wake(page, address, "regression")
    figure = page.locator(".live[data-figure=regression]")
    assert not figure.locator("img.only-light").is_visible()
    page.emulate_media(media="print")
    assert figure.locator("img.only-light").is_visible()
    for part in ("live-view", "live-controls", "live-numbers", "figure-data"):
        assert not figure.locator(f".{part}").is_visible()


def test_text_is_never_cut_off_at_twice_its_size(page, address):
    wake(page, address, "regression")
    page.add_style_tag(content="html { font-size: 200% }")
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".live :is(label, dt, dd, select)")]
            .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"""
    )
    assert cut == []
    assert not math.isnan(float(written(page, "regression", "Mean squared error")))
