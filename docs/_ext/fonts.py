"""Send only the letters and icons that the site uses.

The theme's icon fonts hold two thousand icons, of which a page shows ten, and its style sheet a
rule for each; KaTeX's fonts hold more alphabets than our formulas. Together they would be most of
what a first visit fetches. When all pages are written, their text says what is needed.

The three fonts of nearly every formula then go into the style sheet itself: a font that arrives
after the text would change the widths of formulas, and break the lines of a paragraph anew.
"""

from __future__ import annotations

import base64
import logging
import re
from pathlib import Path

from fontTools.subset import Options, Subsetter, load_font, save_font
from lxml import html
from sphinx.application import Sphinx

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells each step of its work
THEME = Path("_static", "styles", "pydata-sphinx-theme.css")
KATEX = Path("_static", "katex")
AT_ONCE = ("KaTeX_Main-Regular", "KaTeX_Main-Bold", "KaTeX_Math-Italic")
ICON = re.compile(r"\bfa-[a-z0-9-]+")
ICON_VALUE = re.compile(r'--pst-icon-[a-z-]+:"(.)"')  # drawn by the theme's own rules
ICON_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+,?)+)\{--fa:"\\?([^"]+)"\}')


def letters(page: str) -> str:
    """What the formulas of a page show."""
    formulas = html.document_fromstring(page).find_class("katex-html")
    return "".join(formula.text_content() for formula in formulas)


def keep_icons(css: str, used: set[str]) -> tuple[str, set[int]]:
    """The style sheet without the icons that nobody uses, and the characters of the others."""
    kept = {ord(letter) for letter in ICON_VALUE.findall(css)}

    def judge(rule: re.Match) -> str:
        if not used & {name.lstrip(".") for name in rule[1].split(",")}:
            return ""
        kept.add(int(rule[2], 16) if len(rule[2]) > 1 else ord(rule[2]))
        return rule[0]

    return ICON_RULE.sub(judge, css), kept


def subset(font: Path, characters: set[int]) -> None:
    """Leave only some characters in a font file."""
    options = Options(flavor="woff2", layout_features=["*"], recalc_timestamp=False)
    content = load_font(font, options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(content)
    save_font(content, font, options)


def with_fonts(css: str, folder: Path) -> str:
    """The style sheet with the fonts in it that may not come late."""
    for name in AT_ONCE:
        content = base64.b64encode((folder / f"{name}.woff2").read_bytes()).decode()
        css = css.replace(f"url(fonts/{name}.woff2)", f"url(data:font/woff2;base64,{content})")
    return css


def shrink(app: Sphinx, exception: Exception | None) -> None:
    """Shrink style sheet and fonts of the finished site."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    pages = [path.read_text("utf-8") for path in sorted(site.rglob("*.html"))]
    scripts = [path.read_text("utf-8") for path in sorted(site.glob("_static/**/*.js"))]
    used = {icon for text in (*pages, *scripts) for icon in ICON.findall(text)}
    math = {ord(letter) for page in pages if "katex-html" in page for letter in letters(page)}
    theme = site / THEME
    css, characters = keep_icons(theme.read_text("utf-8"), used)
    theme.write_text(css, "utf-8")
    for font in sorted((site / "_static" / "vendor").rglob("*.woff2")):
        subset(font, characters)
    for font in sorted((site / KATEX).rglob("*.woff2")):
        subset(font, math)
    style = site / KATEX / "katex.min.css"
    style.write_text(with_fonts(style.read_text("utf-8"), site / KATEX / "fonts"), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Run when all pages are written, and before the site is packed."""
    app.connect("build-finished", shrink, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
