"""A Markdown twin of every page, and llms.txt, which lists them.

Programs that read the web for people do better with Markdown than with HTML. The page's source
will not do: roles and directives are not resolved in it, and the numbers are not there. So the
resolved document is written, as for the downloaded notebooks, with the code of both frameworks.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

import figure_data
from docutils import nodes
from framework_tabs.markdown import Cells, Markdown
from sphinx import addnodes
from sphinx.application import Sphinx


class Twin(Markdown):
    """Write a resolved document with the code and the numbers of both frameworks."""

    def __init__(self, app: Sphinx, docname: str):
        super().__init__(app, docname, framework="")
        self.docname = docname

    def cells(self, node: nodes.Element, level: int) -> Iterator[str | Cells]:
        """The code, where a notebook has its cells."""
        return self.blocks(node, level)

    def block_literal_block(self, node: nodes.Element) -> str:
        """Code of a cell is Python to everybody but IPython."""
        return super().block_literal_block(node).replace("```ipython3\n", "```python\n", 1)

    def block_code_links_block(self, node: nodes.Element) -> str:
        """The code of a gallery script, in which sphinx-gallery has linked names."""
        return f"```python\n{node.astext().rstrip()}\n```"

    def block_desc_signature(self, node: nodes.Element) -> str:
        """A function of the reference."""
        return f"`{node.astext()}`"

    def block_sd_tab_label(self, node: nodes.Element) -> str:
        """The framework of the code that follows."""
        return self.block_rubric(node)

    def block_caption(self, node: nodes.Element) -> str:
        """The caption of a figure whose pictures stand in tabs."""
        return self.caption(node)

    def block_figure_data(self, node: nodes.Element) -> str:
        """The numbers of a figure."""
        links = figure_data.files(node, self.docname)
        return "Data (CSV): " + ", ".join(
            f"[{name or 'figure'}]({self.base}{path})" for name, path, _ in links
        )

    def inline_inline(self, node: nodes.Element) -> str:
        """A number: its text names both frameworks where they differ."""
        return self.inline(node)


def path(docname: str) -> str:
    """Where the twin of a page lies in the site."""
    return f"{docname}.md"


def write(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the twin of a page that is about to be written."""
    if app.builder.format != "html":
        return
    blocks = [block for block in Twin(app, docname).blocks(doctree) if block]
    target = Path(app.outdir, path(docname))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n\n".join(blocks) + "\n", "utf-8")


def link(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    """Name the twin in the page's head."""
    if doctree is not None:
        href = escape(context["pathto"](path(pagename), resource=True))
        tag = f'<link rel="alternate" type="text/markdown" href="{href}">\n'
        context["metatags"] = context.get("metatags", "") + tag


def in_order(app: Sphinx) -> Iterator[tuple[str, list[str]]]:
    """The captions of the home page's contents, each with the pages below it."""

    def below(docname: str) -> Iterator[str]:
        yield docname
        for child in app.env.toctree_includes.get(docname, ()):
            yield from below(child)

    root = app.env.get_doctree(app.config.root_doc)
    for toctree in root.findall(addnodes.toctree):
        pages = [page for name in toctree["includefiles"] for page in below(name)]
        yield toctree.get("caption") or app.config.project, list(dict.fromkeys(pages))


def write_list(app: Sphinx, exception: Exception | None) -> None:
    """Write llms.txt, in the form that https://llmstxt.org describes."""
    if exception is not None or app.builder.format != "html":
        return
    env, base = app.env, app.config.html_baseurl
    lines = [f"# {app.config.project}", ""]
    if description := env.metadata[app.config.root_doc].get("description"):
        lines += [f"> {description}", ""]
    lines += [
        f"Each page is here as Markdown, with its code in PyTorch and in JAX; the home page: "
        f"[{app.config.project}]({base}{path(app.config.root_doc)}). Every computed number, for "
        f"each framework: [results.json]({base}results.json)."
    ]
    for caption, pages in in_order(app):
        lines += ["", f"## {caption}", ""]
        for page in pages:
            about = env.metadata[page].get("description", "")
            item = f"- [{env.titles[page].astext()}]({base}{path(page)})"
            lines.append(f"{item}: {about}" if about else item)
    Path(app.outdir, "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write with the pages, and the list at the end."""
    app.connect("doctree-resolved", write)
    app.connect("html-page-context", link)
    app.connect("build-finished", write_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
