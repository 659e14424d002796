"""Offer each page as a notebook for PyTorch and one for JAX.

A MyST source holds both frameworks' cells and Sphinx's roles, which Jupyter
does not know. The notebooks are written together with the pages, when all
numbers are known, and hold no outputs.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.util.osutil import relative_uri

from .common import FRAMEWORKS, Cell
from .markdown import Cells, Markdown

DISTRIBUTIONS = {"sklearn": "scikit-learn"}
INSTALL = """\
# Install what is missing, in Colab as in Jupyter. Nothing happens when everything is there.
import importlib.util
import os
import subprocess
import sys

os.environ["ATTNLIB_FRAMEWORK"] = {framework!r}  # for code that serves several frameworks

wanted = {{
{wanted}}}
missing = [source for name, source in wanted.items() if importlib.util.find_spec(name) is None]
if missing:
    print("Installing", ", ".join(missing))
    subprocess.run([sys.executable, "-m", "pip", "install", *missing], check=True)
"""


def path(docname: str, framework: str) -> str:
    """Where a page's notebook lies in the site."""
    return f"notebooks/{docname}-{framework}.ipynb"


def write(app, doctree: nodes.document, docname: str) -> None:
    """Write the notebooks of a page that is about to be written."""
    page = app.env.framework_pages.get(docname)
    if page is None or app.builder.format != "html":
        return
    for framework in FRAMEWORKS:
        notebook = make(app, doctree, docname, page.cells, framework)
        target = Path(app.outdir, path(docname, framework))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(nbformat.writes(notebook) + "\n", "utf-8")


def make(app, doctree, docname: str, cells: list[Cell], framework: str) -> nbformat.NotebookNode:
    """The page as a notebook for one framework."""
    wanted = {i: c for i, c in enumerate(cells) if c.runs_in(framework) and not c.is_numbers}
    parts = [
        ("markdown", introduction(app, doctree, docname, framework), ()),
        ("code", install_code(wanted.values(), framework, app.config.framework_tabs_attnlib), ()),
        *contents(Markdown(app, docname, framework).blocks(doctree), wanted),
    ]
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    notebook.metadata["language_info"] = {"name": "python"}
    for number, (kind, source, tags) in enumerate(parts):
        new = getattr(nbformat.v4, f"new_{kind}_cell")
        cell = new(source.strip(), id=_id(docname, framework, number))
        if "raises-exception" in tags:
            cell.metadata["tags"] = ["raises-exception"]
        notebook.cells.append(cell)
    return notebook


def contents(blocks: Iterator[str | Cells], cells: dict[int, Cell]) -> Iterator[tuple]:
    """Text and code in the order of the page; a heading starts a new text cell.

    Cells that the page does not show run all the same, before the next that it shows.
    """
    left = sorted(cells)
    text: list[str] = []

    def flush() -> Iterator[tuple]:
        if text:
            yield "markdown", "\n\n".join(text), ()
            text.clear()

    def code(last: float) -> Iterator[tuple]:
        while left and left[0] <= last:
            cell = cells[left.pop(0)]
            yield "code", cell.source, cell.tags

    for block in blocks:
        if isinstance(block, Cells):
            yield from flush()
            yield from code(max(block.positions))
        elif block:
            if block.startswith("#"):
                yield from flush()
            text.append(block)
    yield from flush()
    yield from code(float("inf"))


def introduction(app, doctree, docname: str, framework: str) -> str:
    title = next(doctree.findall(nodes.title)).astext()
    base = app.config.html_baseurl
    if base:
        title = f"[{title}]({base.rstrip('/')}/{app.builder.get_target_uri(docname)})"
    return (
        f"*{app.config.project}*: the page {title} as a notebook for {FRAMEWORKS[framework]}.\n\n"
        "Run the next cell first: it installs what is missing."
    )


def install_code(cells, framework: str, attnlib: str) -> str:
    """The cell that installs what the notebook imports and the reader does not have."""
    sources = DISTRIBUTIONS | {"attnlib": attnlib}
    modules = sorted({framework, *imported(cells)} - set(sys.stdlib_module_names))
    wanted = "".join(f'    "{m}": "{sources.get(m, m)}",\n' for m in modules)
    return INSTALL.format(framework=framework, wanted=wanted).replace("'", '"')


def imported(cells) -> Iterator[str]:
    """The top-level modules that cells import."""
    for cell in cells:
        if "raises-exception" in cell.tags:
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield node.module.partition(".")[0]


def _id(docname: str, framework: str, number: int) -> str:
    return hashlib.sha256(f"{docname} {framework} {number}".encode()).hexdigest()[:12]


# --- the links on the page -----------------------------------------------------


class notebook_links(nodes.General, nodes.Element):
    """The line under a page's title that offers the notebooks."""


def add_links(document: nodes.document) -> None:
    """Put the line under the title."""
    title = next(document.findall(nodes.title), None)
    if title is not None:
        title.parent.insert(title.parent.index(title) + 1, notebook_links())


def visit_links(self, node: notebook_links) -> None:
    docname = self.builder.current_docname
    here = self.builder.get_target_uri(docname)
    links = [
        f'<a href="{escape(relative_uri(here, path(docname, framework)))}" download>{name}</a>'
        for framework, name in FRAMEWORKS.items()
    ]
    self.body.append(
        f'<p class="notebook-links">This page as a notebook: {" · ".join(links)}</p>\n'
    )
    raise nodes.SkipNode


def skip(self, node) -> None:
    raise nodes.SkipNode
