"""The fonts that were cut down hold every letter of a formula and every icon."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

THEME = "_static/styles/pydata-sphinx-theme.css"


def characters(folder: Path) -> set[str]:
    """What the fonts of a folder can show."""
    fonts = list(folder.rglob("*.woff2"))
    assert fonts
    return {chr(code) for font in fonts for code in TTFont(font).getBestCmap()}


def test_letters_of_formulas(site):
    held = characters(site.folder / "_static" / "katex" / "fonts")
    shown = {
        letter
        for tree in site.pages.values()
        for formula in tree.find_class("katex-html")
        for letter in formula.text_content()
    }
    assert {"α", "∑", "σ", "ℝ"} & shown
    assert {c for c in shown - held if not c.isspace() and c != "\u200b"} == set()


def test_icons(site):
    css = (site.folder / THEME).read_text("utf-8")
    held = characters(site.folder / "_static" / "vendor")
    icons = {
        name
        for tree in site.pages.values()
        for names in tree.xpath("//i/@class | //span/@class")
        for name in re.findall(r"\bfa-(?!solid|brands|regular|lg|fw)[a-z-]+", names)
    }
    assert {"fa-moon", "fa-chevron-down", "fa-square-github"} <= icons
    for icon in icons | {"fa-xmark"}:
        code = re.search(rf'\.{icon}\b[^{{}}]*\{{--fa:"\\([0-9a-f]+)"\}}', css)
        assert code, icon
        assert chr(int(code[1], 16)) in held, icon
    own = dict(re.findall(r'--pst-icon-([a-z-]+):"(.)"', css))
    assert own["download"] in held  # beside each file to take away
    assert set(own.values()) <= held


@pytest.mark.parametrize("folder", ["katex/fonts", "vendor"])
def test_nothing_else_is_sent(site, folder):
    total = sum(font.stat().st_size for font in (site.folder / "_static" / folder).rglob("*.woff2"))
    assert total < (200_000 if folder == "katex/fonts" else 20_000)
