"""Live figures: what a page holds of them, and what is said of a figure that is not right."""

import json
import re

import pytest
from sites import Build, Site

CHART = """
    import altair as alt

    COLOR = "#1f2933"
    META = {
        "shows": {"step": "step_text"},
        "numbers": [
            {"label": "Height <1>", "layer": "bar", "field": "height", "digits": 2, "row": 0}
        ],
        "pointer": ["step", "x"],
    }


    def chart():
        step = alt.param(
            name="step", value=2, bind=alt.binding_range(min=0, max=5, step=0.5, name="How far")
        )
        shape = alt.param(
            name="shape", value="a", bind=alt.binding_select(
                options=["a", "b"], labels=["A & B", "B"], name="Which"
            )
        )
        text = alt.param(name="step_text", expr="format(step, '.1f')")
        rows = alt.Chart(alt.sequence(0, 3, as_="i")).transform_calculate(
            height="step + datum.i", note="'</script>'"
        )
        bar = rows.mark_bar(color=COLOR).encode(x="i:Q", y="height:Q").properties(name="bar")
        return bar.add_params(step, shape, text).properties(usermeta=META)
"""
FIGURE = """
    # Tiny

    ```{live-figure} tiny
    :name: fig-tiny
    :alt: Three bars that rise & rise.

    Move the slider; $x$ is a number.
    ```

    See {numref}`fig-tiny`.
"""
FAULTY = """
    # Faulty

    ```{live-figure} huge
    :name: fig-huge
    :alt: Bars.

    Try.
    ```

    ```{live-figure} tiny
    :name: fig-mute

    Try.
    ```

    ```{live-figure} tiny
    :alt: Bars.

    Try.
    ```

    ```{live-figure} tiny
    :name: fig-bare
    :alt: Bars.
    ```
"""


def make(root, *pages: str) -> Site:
    site = Site(root)
    site.edit(
        "docs/conf.py",
        '["framework_tabs", "folds", "backlinks"]',
        '["myst_nb", "live_figures", "dark_figures"]',
    )
    site.edit("docs/conf.py", "exclude_patterns = [", 'exclude_patterns = ["_*", ')
    site.write("attnlib/plotting.py", 'DARK_TWINS = {"#1f2933": "#e6edf3"}\n')
    site.write("docs/_live/tiny.py", CHART)
    site.write("docs/index.md", "# Home\n\n```{toctree}\n" + "\n".join(pages) + "\n```\n")
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = make(tmp_path_factory.mktemp("live"), "tiny", "plain")
    site.write("docs/tiny.md", FIGURE)
    site.write("docs/plain.md", "# Plain\n\nNothing moves.\n")
    build = site.build("-W", "--keep-going")
    assert build.code == 0, build.warnings
    return site


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Build:
    site = make(tmp_path_factory.mktemp("faulty"), "faulty")
    site.write("docs/faulty.md", FAULTY)
    return site.build()


def test_a_figure_is_numbered_and_has_a_caption(site: Site):
    page = site.html("tiny")
    (figure,) = page.xpath("//figure[@id='fig-tiny']")
    assert figure.xpath(".//figcaption//*[@class='caption-number']")
    assert "Move the slider" in figure.xpath(".//figcaption")[0].text_content()
    assert page.xpath("//a[@href='#fig-tiny']//*[contains(@class, 'std-numref')]")


def test_controls_have_labels_and_start_values(site: Site):
    (slider,) = site.html("tiny").xpath("//input[@type='range']")
    assert {k: slider.get(k) for k in ("min", "max", "step", "value", "data-signal")} == {
        "min": "0",
        "max": "5",
        "step": "0.5",
        "value": "2",
        "data-signal": "step",
    }
    (choice,) = site.html("tiny").xpath("//select")
    assert [(o.get("value"), o.text) for o in choice] == [("a", "A & B"), ("b", "B")]
    for control, label in ((slider, "How far"), (choice, "Which")):
        (found,) = site.html("tiny").xpath(f"//label[@for='{control.get('id')}']")
        assert found.text == label


def test_the_specification_stands_in_the_page(site: Site):
    html = (site.out / "tiny.html").read_text("utf-8")
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    data = json.loads(text)
    assert data["layers"]["bar"] in {source["name"] for source in data["spec"]["data"]}
    assert data["dark"] == {"#1f2933": "#e6edf3"}
    assert data["pointer"] == ["step", "x"]
    # The page's own inputs take the place of Vega's.
    assert not any("bind" in signal for signal in data["spec"]["signals"])
    assert site.html("tiny").xpath("//dl[@class='live-numbers']//dt")[0].text == "Height <1>"


def test_a_picture_for_each_theme_stands_below(site: Site):
    light, dark = site.html("tiny").xpath("//div[@class='live-stage']/img")
    assert light.get("alt") == dark.get("alt") == "Three bars that rise & rise."
    assert site.html("tiny").xpath("//div[@class='live-view']")[0].get("aria-label") == light.get(
        "alt"
    )
    images = [(site.out / image.get("src")).read_text("utf-8") for image in (light, dark)]
    assert ["#1f2933" in svg for svg in images] == [True, False]
    assert ["#e6edf3" in svg for svg in images] == [False, True]
    # The picture's height is kept free for the drawing.
    (stage,) = site.html("tiny").xpath("//div[@class='live-stage']")
    assert stage.get("style") == f"height: {light.get('height')}px"


def test_scripts_are_loaded_only_where_a_figure_stands(site: Site):
    def loaded(name: str) -> set[str]:
        files = [*site.html(name).xpath("//script/@src"), *site.html(name).xpath("//link/@href")]
        return {file.partition("?")[0] for file in files}

    ours = {"_static/vega.js", "_static/live.js", "_static/live.css"}
    assert ours <= loaded("tiny")
    assert not ours & loaded("plain")
    assert "University of Washington" in (site.out / "_static" / "vega.js").read_text("utf-8")


def test_a_changed_figure_is_made_anew(site: Site):
    def labels() -> list[str]:
        return site.html("tiny").xpath("//label/text()")

    site.edit("docs/_live/tiny.py", 'name="How far"', 'name="How wide"')
    build = site.build("-W", "--keep-going")
    assert build.code == 0, build.warnings
    assert build.read == ["tiny"]
    assert labels() == ["How wide", "Which"]
    site.edit("docs/_live/tiny.py", 'name="How wide"', 'name="How far"')
    assert site.build("-W", "--keep-going").code == 0
    assert labels() == ["How far", "Which"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (3, "no such figure: huge"),
        (10, "tiny: the option 'alt' is missing"),
        (16, "tiny: the option 'name' is missing"),
        (22, "tiny: the caption is missing"),
    ],
)
def test_a_fault_is_reported_at_its_line(faulty: Build, line: int, message: str):
    assert re.search(rf"faulty\.md:{line}: ERROR: .*{message}", faulty.warnings), faulty.warnings


def test_a_figure_that_fails_ends_the_build(tmp_path):
    site = make(tmp_path, "tiny")
    site.write("docs/tiny.md", FIGURE)
    site.edit("docs/_live/tiny.py", "def chart():", "def chart():\n    1 / 0")
    build = site.build()
    assert build.code != 0
    assert "tiny.py" in build.warnings
    assert "ZeroDivisionError" in build.warnings
