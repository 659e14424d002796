"""Offer the numbers that a figure shows as a CSV file.

A text alternative states what a figure shows, not its numbers: whoever wants to read them, draw
them anew or put them on a slide would have to run the page. `drawn.py` takes them from the figure
where it is drawn; here they become files of the site and links below the figures. They are not
part of a page: nobody fetches them unasked.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

DRAWN = Path(__file__).with_name("drawn.py")
FOLDER = "data"
NAMES = {"torch": "PyTorch", "jax": "JAX"}


class figure_data(nodes.General, nodes.Element):
    """The line below a figure that offers its numbers: `csv` by framework, `figure` its id."""


class FigureData(SphinxDirective):
    """Offer a CSV file of one framework: sphinx-gallery writes text, in which no node can stand."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Read the file, which was written beside the figure."""
        name, framework = self.arguments
        _, path = self.env.relfn2path(name)
        number = str(int(Path(path).stem.rpartition("_")[2]))
        text = Path(path).read_text("utf-8")
        return [figure_data(csv={framework: text}, figure=number)]


def files(node: figure_data, docname: str) -> list[tuple[str, str, str]]:
    """The files of a figure: name of the framework, place in the site, and content.

    One without a framework where both have the same numbers, to the last digit.
    """
    stem = f"{FOLDER}/{docname.rpartition('/')[2]}-{node['figure'].removeprefix('fig-')}"
    texts = {key: node["csv"][key] for key in NAMES if node["csv"].get(key)}
    if len(set(texts.values())) < len(texts):
        return [("", f"{stem}.csv", texts["torch"])]
    return [(NAMES[key], f"{stem}-{key}.csv", text) for key, text in texts.items()]


def write(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the files of a page that is about to be written."""
    if app.builder.format != "html":
        return
    for node in doctree.findall(figure_data):
        for _, path, text in files(node, docname):
            target = Path(app.outdir, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")


def name_of(translator: Any, identifier: str) -> str:
    """What a figure is called: "Fig. 4.1", or the title of its page if it has no number."""
    env, docname = translator.builder.env, translator.builder.current_docname
    number = env.toc_fignumbers.get(docname, {}).get("figure", {}).get(identifier)
    if number:
        return translator.config.numfig_format["figure"] % ".".join(map(str, number))
    return env.titles[docname].astext()


def visit(self: Any, node: figure_data) -> None:
    """Write the links; to a screen reader each says of which figure it is."""
    docname, links = self.builder.current_docname, []
    found = files(node, docname)
    for name, path, _ in found:
        label = f"Data (CSV) of {name_of(self, node['figure'])}" + (name and f", {name}")
        href = escape(relative_uri(self.builder.get_target_uri(docname), path))
        shown = name if len(found) > 1 else "Data (CSV)"
        links.append(f'<a href="{href}" download aria-label="{escape(label)}">{shown}</a>')
    before = "Data (CSV): " if len(found) > 1 else ""
    self.body.append(f'<p class="figure-data">{before}{" · ".join(links)}</p>\n')
    raise nodes.SkipNode


def skip(self: Any, node: figure_data) -> None:
    """Write nothing where there are no files."""
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the node, and the directive of the gallery's pages."""
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (skip, None))
    app.add_node(figure_data, html=(visit, None), **others)
    app.add_directive("figure-data", FigureData)
    app.connect("doctree-resolved", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
