"""Each figure that carries data offers its numbers, and they are the right ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from draws import gaussian_weights, section

#: Drawings without an axis, which show no data.
DRAWINGS = {"fig-schematic", "plot_schematic"}
FRAMEWORKS = {"PyTorch": "torch", "JAX": "jax"}
HEADERS = (
    ["panel", "series", "x", "y", "x_label", "y_label"],
    ["panel", "series", "x", "y", "value", "x_label", "y_label"],
)


def numbered(site) -> dict[tuple[str, str], object]:
    """The numbered figures that Matplotlib has drawn, by page and id."""
    return {
        (page, figure.get("id")): figure
        for page, tree in site.pages.items()
        for figure in tree.xpath("//main//figure[@id][.//img][not(.//div[@class='live'])]")
    }


def links(figure) -> list:
    """The links to the numbers of a figure: before the next figure."""
    places = figure.xpath("following::p[@class='figure-data'][not(ancestor::figure)][1]")
    return [a for p in places if p.xpath("preceding::figure[1]")[0] is figure for a in p.iter("a")]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def curve(rows, **wanted) -> np.ndarray:
    """x, y and perhaps value of one series, a column each."""
    found = [row for row in rows if all(row[key] == text for key, text in wanted.items())]
    names = [name for name in ("x", "y", "value") if found[0].get(name)]
    return np.array([[float(row[name]) for name in names] for row in found]).T


@pytest.fixture(scope="module")
def data(site):
    """Read the numbers of a figure by its id."""

    def rows(identifier: str, framework: str) -> list[dict[str, str]]:
        ((page, figure),) = (
            (page, figure) for (page, name), figure in numbered(site).items() if name == identifier
        )
        found = {a.text: (site.folder / page).parent / a.get("href") for a in links(figure)}
        return read(found.get(framework) or found["Data (CSV)"])

    return rows


def test_each_figure_with_data_offers_those_of_both_frameworks(site):
    without, found = set(), numbered(site)
    assert len(found) > 20
    for (page, identifier), figure in found.items():
        offered = links(figure)
        number = figure.xpath(".//*[@class='caption-number']")[0].text.strip()
        if not offered:
            without.add(identifier)
        elif len(offered) == 1:  # the same numbers, or a name for each would be here
            assert offered[0].get("aria-label") == f"Data (CSV) of {number}", (page, identifier)
        else:
            labels = [f"Data (CSV) of {number}, {name}" for name in FRAMEWORKS]
            assert [a.get("aria-label") for a in offered] == labels, (page, identifier)
            assert [a.text for a in offered] == list(FRAMEWORKS), (page, identifier)
    assert without == {name for name in DRAWINGS if name.startswith("fig-")}


def test_each_script_with_data_offers_them(site):
    pages = {page: tree for page, tree in site.pages.items() if "/plot_" in page}
    assert pages
    for page, tree in pages.items():
        name = Path(page).stem
        offered = tree.xpath("//img[contains(@class, 'only-dark')]/following-sibling::*[1]/a")
        hrefs = [a.get("href") for a in offered]
        wanted = [] if name in DRAWINGS else [f"../../data/{name}-1-torch.csv"]
        assert hrefs == wanted, page


def test_each_link_leads_to_a_table_of_numbers(site):
    seen = set()
    for page, tree in site.pages.items():
        for link in tree.xpath("//p[@class='figure-data']/a[not(@href='#')]"):
            path = (site.folder / page).parent.joinpath(link.get("href")).resolve()
            seen.add(path)
            assert "download" in link.attrib, (page, path.name)
            rows = read(path)
            assert list(rows[0]) in HEADERS, path.name
            assert all(row["series"] and None not in row for row in rows), path.name
            for name in {"x", "y", "value"} & set(rows[0]):
                texts = [row[name] for row in rows if row[name]]
                assert texts, (path.name, name)
                assert [repr(float(text)) for text in texts] == texts, (path.name, name)
            assert any(row["y_label"] for row in rows), path.name
    assert seen == {path.resolve() for path in (site.folder / "data").iterdir()}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_estimates_are_those_of_the_section(data, framework):
    drawn = section(FRAMEWORKS[framework])
    rows = data("fig-regression", framework)
    assert {row["y_label"] for row in rows} == {"y: labels (values)"}
    for width in (0.1, 0.5, 2):
        x, y = curve(rows, series=f"σ = {width:g}")
        estimate = gaussian_weights(drawn.x_val, drawn.x_train, width) @ drawn.y_train
        np.testing.assert_allclose(x, drawn.x_val, atol=1e-6)
        np.testing.assert_allclose(y, estimate, atol=1e-4)
    np.testing.assert_allclose(curve(rows, series="truth")[1], drawn.y_val, atol=1e-5)
    observations = drawn.x_train, drawn.y_train
    np.testing.assert_allclose(curve(rows, series="points"), observations, atol=1e-5)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_weights_stand_at_their_keys_and_sum_to_1(data, site, framework):
    drawn = section(FRAMEWORKS[framework])
    rows = data("fig-heatmaps", framework)
    recorded = {
        row["key"]: row["value"]
        for row in json.loads((site.folder / "results.json").read_text("utf-8"))
        if row["framework"] == FRAMEWORKS[framework]
    }
    for width in (0.1, 2):
        x, y, weights = curve(rows, panel=f"σ = {width:g}", series="Weight").reshape(3, 50, 40)
        np.testing.assert_allclose(x, np.tile(drawn.x_train, (50, 1)), atol=1e-6)
        np.testing.assert_allclose(y, np.tile(drawn.x_val, (40, 1)).T, atol=1e-6)
        np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
        expected = gaussian_weights(drawn.x_val, drawn.x_train, width)
        np.testing.assert_allclose(weights, expected, atol=1e-4)
        largest = recorded[f"regression/largest_s{width:g}"]
        assert weights.max() == pytest.approx(largest, rel=1e-6)  # the page has it by its own code


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_kernels_are_their_formulas(data, framework):
    rows = data("fig-kernels", framework)
    x, y = curve(rows, panel="Gaussian: exp(-u^2/2)")
    np.testing.assert_allclose(y, np.exp(-(x**2) / 2), atol=1e-6)
    x, y = curve(rows, panel="Triangular: max(0, 1 - u)")
    np.testing.assert_allclose(y, np.maximum(0, 1 - abs(x)), atol=1e-6)


def test_areas_of_marks_are_their_weights(site):
    drawn = section("torch")
    rows = read(site.folder / "data" / "plot_one_lookup-1-torch.csv")
    keys, values, area = curve(rows, series="points by area")
    weights = gaussian_weights(np.array([2.5]), drawn.x_train, 0.5)[0]
    np.testing.assert_allclose([keys, values], [drawn.x_train, drawn.y_train], atol=1e-5)
    np.testing.assert_allclose(area / area.sum(), weights, atol=1e-5)
