"""Weave the runs of the frameworks back into one notebook.

myst-nb renders one notebook with one set of outputs. The woven notebook holds
every cell once, or twice where the frameworks' outputs differ; marks in the
metadata tell `tabs.py` which cells stand beside each other.
"""

from __future__ import annotations

from copy import deepcopy

import nbformat
from nbformat import NotebookNode

from .common import FRAMEWORKS, Cell, warn
from .outputs import alternative_texts, check_outputs, has_image, same_outputs, tidy
from .running import Run

MARK = "framework_tabs"


def weave(notebook: NotebookNode, cells: list[Cell], runs: list[Run], docname: str) -> NotebookNode:
    """One notebook with the outputs of all runs, whose adjacent tagged cells are paired."""
    woven, lines = [], []

    def add(node: NotebookNode, line: int) -> None:
        woven.append(node)
        lines.append(line)

    for part in _parts(notebook, cells, docname):
        if isinstance(part, tuple):
            add(*part)
            continue
        captioned = False
        members = list(_members(part, cells, runs, docname))
        for i, framework, node in members:
            mystnb = node.metadata.get("mystnb", {})
            if mystnb.get("figure") and captioned:  # the caption stands once
                del mystnb["figure"]
            captioned |= bool(mystnb.get("figure"))
            node.metadata[MARK] = {
                "cell": i,
                "group": part[0],
                "framework": framework,
                "output_only": cells[i].framework is None and len(members) > 1,
                "alts": alternative_texts(cells[i], node.outputs),
                "csv": [output.metadata["csv"] for output in node.outputs if has_image(output)],
            }
            add(node, cells[i].line)

    result = nbformat.v4.new_notebook(metadata=deepcopy(notebook.metadata), cells=woven)
    result.metadata["source_map"] = [line - 2 for line in lines]  # myst-nb adds 1, and MyST adds 1
    result.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    return result


def _members(group: list[int], cells: list[Cell], runs: list[Run], docname: str):
    """The cells of a group as (position, framework, notebook cell) in reading order."""
    shown = {}
    for i in group:
        for run in runs:
            if cells[i].runs_in(run.framework):
                outputs = tidy(run.outputs.get(i, []), cells[i], run.framework)
                shown[i, run.framework] = outputs
                if not run.failed:
                    check_outputs(cells[i], outputs, run.framework, docname)
    if len(group) == 1 and cells[group[0]].framework is None:
        first, *others = shown.values()
        if all(same_outputs(first, other) for other in others):
            shown = {(group[0], None): first}
            for output, *twins in zip(first, *others, strict=True):
                for twin in filter(has_image, twins):  # one picture, the numbers of each
                    output.metadata["csv"] |= twin.metadata["csv"]
    for (i, framework), outputs in shown.items():
        node = nbformat.v4.new_code_cell(cells[i].source, metadata=deepcopy(cells[i].metadata))
        node.outputs = outputs
        yield i, framework, node


def _parts(notebook: NotebookNode, cells: list[Cell], docname: str):
    """The page in order: text cells as (node, line), code cells as groups of positions."""
    position, tagged = -1, []
    for node, line in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        if node.cell_type != "code":
            yield from _pairs(tagged, cells, docname)
            tagged = []
            yield node, line
            continue
        position += 1
        if cells[position].is_numbers:
            continue
        if cells[position].framework:
            tagged.append(position)
        else:
            yield from _pairs(tagged, cells, docname)
            tagged = []
            yield [position]
    yield from _pairs(tagged, cells, docname)


def _pairs(tagged: list[int], cells: list[Cell], docname: str) -> list[list[int]]:
    """Groups of adjacent cells that become one set of tabs each."""
    if not tagged:
        return []
    per_framework = {f: [i for i in tagged if cells[i].framework == f] for f in FRAMEWORKS}
    for framework, positions in per_framework.items():
        if not positions:
            message = "tab misses a framework: this cell has no counterpart for %s"
            location = (docname, cells[tagged[0]].line)
            warn("missing", message, FRAMEWORKS[framework], location=location)
    counts = {len(positions) for positions in per_framework.values()}
    if len(counts) == 1:
        return [list(pair) for pair in zip(*per_framework.values(), strict=True)]
    return [[i for positions in per_framework.values() for i in positions]]
