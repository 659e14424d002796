"""Outputs of a cell: as a page shows them, compared, and checked.

myst-nb shows what the kernel gives. It neither asks for a text in place of an
image nor sees that an output will differ in the next build.
"""

from __future__ import annotations

import re
from copy import deepcopy

from nbformat import NotebookNode

from .common import FRAMEWORKS, Cell, warn
from .figures import same_figure

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


def tidy(outputs: list[NotebookNode], cell: Cell, framework: str) -> list[NotebookNode]:
    """Outputs as the page shows them: short errors, of a script only its figures."""
    kept = []
    for output in deepcopy(outputs):
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        if "execution_count" in output:
            output.execution_count = None
        if has_image(output):  # the prelude makes a figure's label its plain text
            output.metadata["alt"] = output.data.pop("text/plain", "").strip()
            output.metadata["csv"] = {framework: output.data.pop("text/csv", "")}
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
        for output in (a, b):
            output.get("metadata", {}).pop("csv", None)
        if a != b or not same_figure(svg_a, svg_b):
            return False
    return True


def alternative_texts(cell: Cell, outputs: list[NotebookNode]) -> list[str]:
    """A text for each image: what the page says, else the label of the figure."""
    given = str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")).strip()
    return [given or output.metadata["alt"] for output in outputs if has_image(output)]


def check_outputs(cell: Cell, outputs: list[NotebookNode], framework: str, docname: str) -> None:
    """Report what would be unreadable, unnumbered or different in the next build."""
    if {"remove-cell", "remove-output"} & set(cell.tags):
        return
    name, location = FRAMEWORKS[framework], (docname, cell.line)
    if not all(alternative_texts(cell, outputs)):
        message = "%s: the cell shows an image without alternative text (mystnb: image: alt)"
        warn("alt", message, name, location=location)
    images = sum(map(has_image, outputs))
    others = sum("data" in output for output in outputs) - images
    if cell.metadata.get("mystnb", {}).get("figure") and (images, others) != (1, 0):
        message = (
            "%s: a cell with a caption must show one image and no other value; "
            "it shows %d images and %d other values"
        )
        warn("figure", message, name, images, others, location=location)
    for output in outputs:
        text = output.get("text", "") or output.get("data", {}).get("text/plain", "")
        if _ADDRESS.search(text):
            message = "%s: the output holds a memory address, which changes with every run: %s"
            warn("output", message, name, text.strip()[:80], location=location)
