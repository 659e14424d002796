"""Each page has a Markdown twin, complete and resolved, and llms.txt lists them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROLE = re.compile(r"\{(?:num|num-torch|num-jax|ref|eq|numref|cite:\w+)\}`")


@pytest.fixture(scope="module")
def twins(site) -> dict[str, str]:
    """The text of the twins by page, as the pages name them."""
    found = {}
    for page, tree in site.pages.items():
        for href in tree.xpath("//link[@rel='alternate' and @type='text/markdown']/@href"):
            found[page] = (site.folder / page).parent.joinpath(href).resolve().read_text("utf-8")
    return found


def test_each_page_has_one(site, twins):
    made_by_sphinx = {"404.html", "genindex.html", "py-modindex.html", "search.html"}
    assert site.pages.keys() - twins.keys() == made_by_sphinx & site.pages.keys()


def test_title_is_that_of_the_page(site, twins):
    for page, text in twins.items():
        (title,) = site.pages[page].xpath("//main//h1[1]")
        words = re.findall(r"[A-Za-z]{3,}", title.text_content())
        assert text.startswith("# "), page
        assert set(words) <= set(re.findall(r"[A-Za-z]{3,}", text.splitlines()[0])), page


def test_nothing_is_left_to_resolve(twins):
    for page, text in twins.items():
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        assert not ROLE.search(prose), page
        assert ":::" not in prose, page


def test_code_of_both_frameworks_is_there(twins):
    exercises = {page: text for page, text in twins.items() if re.search(r"exercises/ex\d", page)}
    assert len(exercises) == 10
    for page, text in exercises.items():
        code = "\n".join(re.findall(r"^```python$(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        assert "import torch" in code, page
        assert "import jax" in code, page


def test_numbers_of_figures_are_linked(site, twins):
    seen = set()
    for page, text in twins.items():
        links = site.pages[page].xpath("//p[@class='figure-data']/a[not(@href='#')]/@href")
        names = {href.rpartition("/")[2] for href in links}
        assert names == set(re.findall(rf"\({re.escape(site.base)}data/([^)]+)\)", text)), page
        seen |= names
    assert seen == {path.name for path in (site.folder / "data").iterdir()}


def test_scripts_are_there_as_code(twins):
    scripts = {page: text for page, text in twins.items() if "/plot_" in page}
    assert scripts
    for page, text in scripts.items():
        code = "\n".join(re.findall(r"^```python$(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        assert "plt.style.use(" in code, page
        assert "Download" not in text, page


def test_llms_txt_lists_every_page(site, twins):
    text = (site.folder / "llms.txt").read_text("utf-8")
    assert text.startswith("# Queries, Keys, and Values\n\n> ")
    listed = re.findall(rf"\({re.escape(site.base)}([^)]+)\.md\)", text)
    assert sorted(listed) == sorted(page.removesuffix(".html") for page in twins)
