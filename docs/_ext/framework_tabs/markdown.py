"""The text of a resolved page as plain Markdown, for the downloaded notebooks.

The page's source cannot be used: Jupyter knows neither roles nor directives.
The document that Sphinx has resolved holds all numbers of equations and
figures, citations, and the titles of links.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from docutils import nodes
from sphinx import addnodes

_SPECIAL = re.compile(r"([\\`*_$<])")
_LIST_MARK = re.compile(r"^(#+|[-+]|\d+[.)])(?=\s)")
_SKIPPED = (
    nodes.comment,
    nodes.target,
    nodes.raw,
    nodes.system_message,
    nodes.substitution_definition,
    nodes.transition,
    addnodes.index,
    addnodes.toctree,
    nodes.meta,
)
_ONLY_ON_THE_PAGE = {  # links to scripts, and what sphinx-gallery puts around one
    "script-link",
    "sphx-glr-download-link-note",
    "sphx-glr-footer",
    "sphx-glr-signature",
}


@dataclass(frozen=True)
class Cells:
    """The place of code cells in the text, by their position on the page."""

    positions: tuple[int, ...]


class Markdown:
    """Write a resolved document for one framework."""

    def __init__(self, app, docname: str, framework: str):
        self.framework = framework
        self.fignumbers = app.env.toc_fignumbers.get(docname, {})
        self.formats = app.config.numfig_format
        self.base = app.config.html_baseurl
        self.here = app.builder.get_target_uri(docname)

    # --- blocks ---

    def blocks(self, node: nodes.Element, level: int = 0) -> Iterator[str | Cells]:
        """The blocks in a node, in order."""
        for child in node.children:
            if isinstance(child, _SKIPPED) or _ONLY_ON_THE_PAGE & set(child.get("classes", ())):
                continue
            if "cells" in child:
                yield from self.cells(child, level)
            elif isinstance(child, nodes.section):
                yield from self.blocks(child, level + 1)
            elif isinstance(child, nodes.title):
                yield "#" * max(level, 1) + " " + self.inline(child)
            else:
                write = getattr(self, f"block_{_kind(child)}", None)
                if write is not None:
                    yield write(child)
                elif isinstance(child, nodes.TextElement):
                    yield self.inline(child)
                else:
                    yield from self.blocks(child, level)

    def cells(self, node: nodes.Element, level: int) -> Iterator[str | Cells]:
        """The place of cells, and the captions of what they show."""
        yield Cells(tuple(node["cells"]))
        yield from (self.caption(c) for c in node.findall(nodes.caption))

    def text(self, node: nodes.Element) -> str:
        """All blocks in a node as one text."""
        return "\n\n".join(b for b in self.blocks(node) if isinstance(b, str) and b)

    def block_paragraph(self, node) -> str:
        return _LIST_MARK.sub(r"\\\1", self.inline(node))

    def block_rubric(self, node) -> str:
        return f"**{self.inline(node)}**"

    def block_literal_block(self, node) -> str:
        language = node.get("language", "")
        return f"```{language if language.isalnum() else ''}\n{node.astext()}\n```"

    block_doctest_block = block_literal_block

    def block_math_block(self, node) -> str:
        tex = node.astext().strip()
        if r"\\" in tex and r"\begin" not in tex:
            tex = "\\begin{aligned}\n" + tex + "\n\\end{aligned}"
        number = self.number("displaymath", node) or node.get("number")
        tag = rf" \tag{{{number}}}" if number else ""
        return f"$$\n{tex}{tag}\n$$"

    def block_bullet_list(self, node) -> str:
        return "\n".join(_hang("- ", self.text(item)) for item in node.children)

    def block_enumerated_list(self, node) -> str:
        first = node.get("start", 1)
        items = enumerate(node.children, first)
        return "\n".join(_hang(f"{n}. ", self.text(item)) for n, item in items)

    def block_definition_list(self, node) -> str:
        items = []
        for item in node.children:
            terms = ", ".join(self.inline(c) for c in item if isinstance(c, nodes.term))
            body = [self.text(c) for c in item if isinstance(c, nodes.definition)]
            items.append(_hang("- ", f"**{terms}**: " + "\n\n".join(body)))
        return "\n".join(items)

    def block_block_quote(self, node) -> str:
        return _quote(self.text(node))

    def block_attribution(self, node) -> str:
        return "— " + self.inline(node)

    def block_line_block(self, node) -> str:
        return "  \n".join(self.inline(line) for line in node.children)

    def block_admonition(self, node) -> str:
        body = node.deepcopy()
        title = _kind(node).capitalize()
        if body.children and isinstance(body[0], nodes.title):
            title = self.inline(body.pop(0))
        return _quote(f"**{title.rstrip('.')}.** {self.text(body)}")

    block_note = block_tip = block_hint = block_important = block_admonition
    block_warning = block_caution = block_attention = block_danger = block_admonition
    block_seealso = block_topic = block_sidebar = block_admonition

    def block_image(self, node) -> str:
        if "only-dark" in node["classes"] or not node.get("alt"):
            return ""
        return f"*Picture: {_escape(node['alt'])}*"

    def block_figure(self, node) -> str:
        pictures = [self.block_image(image) for image in node.findall(nodes.image)]
        captions = [self.caption(c) for c in node.findall(nodes.caption)]
        return "\n\n".join(filter(None, [*pictures, *captions]))

    def block_answer_field(self, node) -> str:
        return ""  # a field needs a browser

    def block_footnote(self, node) -> str:
        label, *rest = node.children
        return f"[{label.astext()}] " + " ".join(self.text_of(child) for child in rest)

    block_citation = block_footnote

    def text_of(self, node) -> str:
        return self.inline(node) if isinstance(node, nodes.TextElement) else self.text(node)

    def block_table(self, node) -> str:
        titles = [self.inline(c) for c in node.children if isinstance(c, nodes.title)]
        number = self.number("table", node)
        name = self.formats.get("table", "Table %s") % number + ". " if number else ""
        rows = [
            "| " + " | ".join(self.entry(e) for e in row.children) + " |"
            for row in node.findall(nodes.row)
        ]
        columns = next(node.findall(nodes.tgroup))["cols"]
        rows.insert(1, "|" + " --- |" * columns)
        return "\n\n".join([*(f"**{name}{title}**" for title in titles), "\n".join(rows)])

    def entry(self, node) -> str:
        return self.text(node).replace("\n\n", "<br>").replace("\n", " ").replace("|", r"\|")

    def caption(self, node) -> str:
        figure = node.parent
        number = self.number("figure", figure)
        name = self.formats.get("figure", "Fig. %s") % number + ". " if number else ""
        return f"*{name}{self.inline(node)}*"

    def number(self, kind: str, node) -> str:
        """The number of a figure, table or equation, empty if it has none."""
        numbers = self.fignumbers.get(kind, {})
        found = (numbers[i] for i in node.get("ids", ()) if i in numbers)
        return ".".join(map(str, next(found, ())))

    # --- text inside a block ---

    def inline(self, node: nodes.Node) -> str:
        """A node's text as Markdown."""
        parts = []
        for child in node.children:
            write = getattr(self, f"inline_{_kind(child)}", None)
            parts.append(write(child) if write else self.inline(child))
        return "".join(parts)

    def inline_Text(self, node) -> str:
        return _escape(node.astext()).replace("\n", " ")

    def inline_inline(self, node) -> str:
        if shown := node.get("by_framework"):
            return _escape(shown[self.framework])
        return self.inline(node)

    def inline_emphasis(self, node) -> str:
        return f"*{self.inline(node)}*"

    def inline_strong(self, node) -> str:
        return f"**{self.inline(node)}**"

    def inline_literal(self, node) -> str:
        text = node.astext()
        fence = "``" if "`" in text else "`"
        return f"{fence}{text}{fence}"

    def inline_math(self, node) -> str:
        return f"${node.astext()}$"

    def inline_subscript(self, node) -> str:
        return f"<sub>{self.inline(node)}</sub>"

    def inline_superscript(self, node) -> str:
        return f"<sup>{self.inline(node)}</sup>"

    def inline_image(self, node) -> str:
        return _escape(node.get("alt", ""))

    def inline_raw(self, node) -> str:
        return ""

    inline_target = inline_comment = inline_index = inline_raw

    def inline_footnote_reference(self, node) -> str:
        return f"[{node.astext()}]"

    def inline_reference(self, node) -> str:
        text, uri = self.inline(node), node.get("refuri")
        if uri and node.get("internal"):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(self.here), uri))
            uri = self.base.rstrip("/") + "/" + path if self.base else None
        return f"[{text}]({uri})" if uri else text


def _kind(node: nodes.Node) -> str:
    return type(node).__name__


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _hang(mark: str, text: str) -> str:
    """Indent a list item's further lines under its mark."""
    first, *rest = text.split("\n")
    return "\n".join([mark + first, *(" " * len(mark) + line if line else "" for line in rest)])
