"""The parser of pages: myst-nb's own, which runs a page in each framework first."""

from __future__ import annotations

from pathlib import Path

import nbformat
from docutils import nodes
from myst_nb.core.nb_to_tokens import nb_node_to_dict
from myst_nb.core.read import create_nb_reader
from myst_nb.sphinx_ import Parser

from . import notebooks, running, scripts, tabs, weaving
from .common import FRAMEWORKS, Cell, Page, warn
from .numbers import take_numbers


class FrameworkParser(Parser):
    """Parse a MyST notebook that is written for several frameworks."""

    def parse(self, inputstring: str, document: nodes.document) -> None:
        env = document.settings.env
        path = env.doc2path(env.docname)
        text = scripts.keep_from_reader(inputstring)
        reader = create_nb_reader(path, env.myst_config, env.mystnb_config, text)
        if reader is None or not str(path).endswith(".md"):
            super().parse(inputstring, document)
            return
        notebook = reader.read(text)
        correct_lines(notebook, text)
        cells = read_cells(notebook, env)
        if not cells:
            super().parse(inputstring, document)
            return
        nb_config = page_config(env.mystnb_config, notebook)
        runs = [
            running.run(cells, framework, document=document, path=str(path), nb_config=nb_config)
            for framework in FRAMEWORKS
        ]
        recorded = take_numbers(cells, runs, env.docname)
        woven = weaving.weave(notebook, cells, runs, env.docname)
        self.render(woven, document)
        tabs.arrange(document, cells)
        notebooks.add_links(document)
        env.framework_pages[env.docname] = Page(cells, recorded, any(run.failed for run in runs))

    def render(self, woven: nbformat.NotebookNode, document: nodes.document) -> None:
        """Let myst-nb render the woven notebook, with execution off."""
        env = document.settings.env
        whole = env.mystnb_config
        as_json = {".md": ("nbformat.reads", {"as_version": 4}, False)}
        env.mystnb_config = whole.copy(execution_mode="off", custom_formats=as_json)
        try:
            super().parse(nbformat.writes(woven), document)
        finally:
            env.mystnb_config = whole


def correct_lines(notebook: nbformat.NotebookNode, text: str) -> None:
    """Let the source map hold the line, counted from 1, at which each cell starts.

    myst-nb counts a text cell from 0, and from the blank lines before it.
    """
    lines = text.splitlines()
    starts = notebook.metadata["source_map"]
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            while not lines[starts[i]].strip():
                starts[i] += 1
            starts[i] += 1


def page_config(nb_config, notebook):
    """The settings of the site, changed by those in the page's front matter."""
    overrides = nb_node_to_dict(notebook.metadata.get(nb_config.metadata_key, {}))
    return nb_config.copy(**overrides)


def read_cells(notebook: nbformat.NotebookNode, env) -> list[Cell]:
    """The code cells of a page; scripts are read and noted as what the page depends on."""
    cells = []
    for node, line in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        if node.cell_type != "code":
            continue
        option = node.metadata.pop("script", None)
        tags = list(node.metadata.get("tags", []))
        script = None
        if option is not None:
            if not option.strip().endswith(".json"):
                script = scripts.gallery_page(option)
            node.source = read_script(option, env, line)
            tags = [t for t in tags if t != "hide-input"] + ["remove-input"]
            node.metadata["tags"] = tags
        cells.append(Cell(node.source, line, tuple(tags), nb_node_to_dict(node.metadata), script))
    return cells


def read_script(option: str, env, line: int) -> str:
    path = Path(env.srcdir).parent / option.strip().lstrip("/")
    env.note_dependency(str(path))
    if not path.is_file():
        warn("script", "no such script: %s", option.strip(), location=(env.docname, line))
        return ""
    return scripts.data_code(path) if path.suffix == ".json" else scripts.script_code(path)
