"""Mathematics as HTML and MathML at build time.

Sphinx leaves formulas to JavaScript in the reader's browser, fetched from somebody else's server.
Here KaTeX runs once, during the build, in a small JavaScript engine (the package ``quickjs``): the
reader needs no JavaScript, a screen reader gets MathML, and wrong TeX is a warning at its line,
which fails a strict build.
"""

import functools
import json
import os
import re
from pathlib import Path
from typing import Any

import quickjs
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

SCRIPT = Path(__file__).with_name("katex.min.js")
OPTIONS = {"output": "htmlAndMathml", "strict": "error", "throwOnError": True}


class BadTex(ValueError):
    """TeX that KaTeX refuses, with its reason."""


@functools.cache
def _engine(process: int) -> Any:
    """Return KaTeX's function, loaded once in each process of a parallel build."""
    context = quickjs.Context()
    context.eval(SCRIPT.read_text(encoding="utf-8"))
    context.eval("render = (tex, options) => katex.renderToString(tex, JSON.parse(options))")
    return context.get("render")


def _valid(html: str) -> str:
    r"""Mend two slips of KaTeX's MathML, which browsers would misread.

    In ``s_{\max}`` the operator "apply function" becomes a third child of a pair, and an empty list
    of column gaps is no value for its attribute.
    """
    html = re.sub(r"<mo>\u2061</mo>(?=</m(?:sub|sup|subsup)>)", "", html)
    return html.replace(' columnspacing=""', "")


def render(tex: str, *, display: bool = False, macros: dict[str, str] | None = None) -> str:
    """Return the HTML of a formula; raise `BadTex` where KaTeX cannot read it."""
    options = json.dumps({**OPTIONS, "displayMode": display, "macros": macros or {}})
    try:
        return _valid(_engine(os.getpid())(tex, options))
    except quickjs.JSException as error:
        reason = str(error).splitlines()[0].removeprefix("ParseError: ")
        raise BadTex(reason) from None


def as_display(text: str) -> str:
    """Return a block of TeX as one display: lines that break are split, paragraphs are stacked."""
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    if len(parts) > 1:
        return r"\begin{gathered}" + r"\\".join(parts) + r"\end{gathered}"
    if r"\\" in text and r"\begin{" not in text:
        return rf"\begin{{split}}{text}\end{{split}}"
    return text


def _html(translator: Any, node: nodes.Element, tex: str, display: bool) -> str:
    macros = translator.builder.config.katex_macros
    try:
        return render(tex, display=display, macros=macros)
    except BadTex as error:
        logger.warning("bad TeX: %s", error, location=node, type="katex")
        return f"<code>{translator.encode(tex)}</code>"


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula inside a line."""
    tex = node.astext()
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate"))
    translator.body.append(_html(translator, node, tex, display=False) + "</span>")
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a displayed formula, which scrolls inside itself, and its number if it has one."""
    # A browser ends a paragraph at a div.
    tag = "span" if isinstance(node.parent, nodes.TextElement) else "div"
    body = translator.body
    body.append(translator.starttag(node, tag, "", CLASS="math math-display notranslate"))
    html = _html(translator, node, as_display(node.astext()), display=True)
    body.append(f'<{tag} class="math-scroll">{html}</{tag}>')
    if node["number"]:
        number = get_node_equation_number(translator, node)
        body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        body.append("</span>")
    body.append(f"</{tag}>\n")
    raise nodes.SkipNode


def add_style(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Ask for KaTeX's style sheet on the pages that hold a formula, and on no other."""
    if context.get("has_maths_elements"):
        app.add_css_file("katex/katex.min.css")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name that ``html_math_renderer`` takes."""
    app.add_config_value("katex_macros", {}, "html", types=frozenset({dict}))
    app.add_html_math_renderer(
        "katex", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None)
    )
    app.connect("html-page-context", add_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
