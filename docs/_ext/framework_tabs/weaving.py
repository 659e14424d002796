"""Weave the runs of the frameworks back into one notebook.

myst-nb renders one notebook with one set of outputs. The woven notebook holds
every cell once, or twice where the frameworks' outputs differ; marks in the
metadata tell `tabs.py` which cells stand beside each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy

import nbformat
from nbformat import NotebookNode
from sphinx.util import logging

from .common import FRAMEWORKS, NUMBERS_MIME, Cell, Number
from .figures import same_figure
from .running import Run

LOGGER = logging.getLogger(__name__)
MARK = "framework_tabs"
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


def warn(message: str, *args, docname: str, line: int, subtype: str) -> None:
    LOGGER.warning(message, *args, location=(docname, line), type="framework_tabs", subtype=subtype)


# --- numbers ---------------------------------------------------------------


def take_numbers(cells: list[Cell], runs: list[Run], docname: str) -> dict[str, Number]:
    """Remove the recorded numbers from the outputs and return them."""
    numbers: dict[str, Number] = {}
    for run in runs:
        for i, outputs in run.outputs.items():
            run.outputs[i] = [o for o in outputs if NUMBERS_MIME not in o.get("data", {})]
            for output in outputs:
                bundle = output.get("data", {}).get(NUMBERS_MIME, {"values": {}})
                for key, value in bundle["values"].items():
                    number = numbers.setdefault(key, Number(shared=bundle["shared"]))
                    for problem in _add_value(number, run.framework, value, bundle["shared"]):
                        warn(
                            "the %snumber %r %s",
                            "shared " * number.shared,
                            key,
                            problem,
                            docname=docname,
                            line=cells[i].line,
                            subtype="numbers",
                        )
    return numbers


def _add_value(number: Number, framework: str, value: object, shared: bool) -> Iterator[str]:
    """Note a value, and say what is wrong with it."""
    if framework in number.values:
        yield "is recorded twice"
    if shared != number.shared:
        yield "is recorded with shared=True and with shared=False"
    number.values[framework] = value
    if number.shared and len(set(map(repr, number.values.values()))) > 1:
        given = (f"{v!r} ({FRAMEWORKS[f]})" for f, v in number.values.items())
        yield "differs: " + ", ".join(given)


# --- outputs ---------------------------------------------------------------


def tidy(outputs: list[NotebookNode], cell: Cell) -> list[NotebookNode]:
    """Outputs as the page shows them: short errors, of a script only its figures."""
    kept = []
    for output in deepcopy(outputs):
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        if "execution_count" in output:
            output.execution_count = None
        if "image/svg+xml" in output.get("data", {}):
            output.data.pop("text/plain", None)
        if cell.script is None or has_image(output):
            kept.append(output)
    return kept


def has_image(output: NotebookNode) -> bool:
    return any(mime.startswith("image/") for mime in output.get("data", {}))


def same_outputs(one: list[NotebookNode], other: list[NotebookNode]) -> bool:
    """Whether a reader would see the same."""
    if len(one) != len(other):
        return False
    for a, b in zip(deepcopy(one), deepcopy(other), strict=True):
        svg_a, svg_b = (o.get("data", {}).pop("image/svg+xml", "") for o in (a, b))
        if a != b or not same_figure(svg_a, svg_b):
            return False
    return True


# --- checks ----------------------------------------------------------------


def check_outputs(cell: Cell, outputs: list[NotebookNode], framework: str, docname: str) -> None:
    """Report what would be unreadable, unnumbered or different in the next build."""
    if {"remove-cell", "remove-output"} & set(cell.tags):
        return
    label = FRAMEWORKS[framework]
    options = cell.metadata.get("mystnb", {})
    place = {"docname": docname, "line": cell.line}
    images = [o for o in outputs if has_image(o)]
    displays = [o for o in outputs if "data" in o]
    if images and not str(options.get("image", {}).get("alt", "")).strip():
        warn(
            "%s: the cell shows an image without alternative text (mystnb: image: alt)",
            label,
            **place,
            subtype="alt",
        )
    if options.get("figure") and (len(images) != 1 or len(displays) != 1):
        warn(
            "%s: a cell with a caption must show one image and no other value; "
            "it shows %d images and %d other values",
            label,
            len(images),
            len(displays) - len(images),
            **place,
            subtype="figure",
        )
    for output in outputs:
        text = output.get("text", "") or "".join(output.get("data", {}).get("text/plain", ""))
        if _ADDRESS.search(text):
            warn(
                "%s: the output holds a memory address, which changes with every run: %s",
                label,
                text.strip()[:80],
                **place,
                subtype="output",
            )


# --- the woven notebook ----------------------------------------------------


def weave(notebook: NotebookNode, cells: list[Cell], runs: list[Run], docname: str) -> NotebookNode:
    """One notebook with the outputs of all runs, whose adjacent tagged cells are paired."""
    by_framework = {run.framework: run.outputs for run in runs}
    woven, lines = [], []

    def add(node: NotebookNode, line: int) -> None:
        woven.append(node)
        lines.append(line)

    for part in _parts(notebook, cells, docname):
        if isinstance(part, tuple):
            add(*part)
            continue
        captioned = False
        members = list(_members(part, cells, by_framework, docname))
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
            }
            add(node, cells[i].line)

    result = nbformat.v4.new_notebook(metadata=deepcopy(notebook.metadata), cells=woven)
    result.metadata["source_map"] = [line - 2 for line in lines]  # myst-nb adds 1, and MyST adds 1
    result.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    return result


def _members(group: list[int], cells, by_framework, docname):
    """The cells of a group as (position, framework, notebook cell) in reading order."""
    shown = {}
    for i in group:
        for framework, outputs in by_framework.items():
            if cells[i].runs_in(framework):
                shown[i, framework] = tidy(outputs.get(i, []), cells[i])
                check_outputs(cells[i], shown[i, framework], framework, docname)
    if len(group) == 1 and cells[group[0]].framework is None:
        first, *others = shown.values()
        if all(same_outputs(first, other) for other in others):
            shown = {(group[0], None): first}
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
            warn(
                "tab misses a framework: this cell has no counterpart for %s",
                FRAMEWORKS[framework],
                docname=docname,
                line=cells[tagged[0]].line,
                subtype="missing",
            )
    counts = {len(positions) for positions in per_framework.values()}
    if len(counts) == 1:
        return [list(pair) for pair in zip(*per_framework.values(), strict=True)]
    return [[i for positions in per_framework.values() for i in positions]]
