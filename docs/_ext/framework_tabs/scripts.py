"""Cells that run a gallery script, so that its figure stands on a page without a second copy.

myst-nb resolves `:load:` from the page's folder and takes the file as it is.
Here a path with a leading slash starts at the repository's root, as Sphinx's
own paths start at the source folder, and the parts of a script that make no
sense in a cell (its PEP 723 header, its docstring) are dropped.

A JSON file becomes a cell that holds its content under the name of the file: the
page runs again when the file changes, and its downloads run alone.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

_LOAD = re.compile(r"^(:?)load:(?=\s*/)", re.MULTILINE)
_CELL = re.compile(r"^# %%.*\n", re.MULTILINE)
_MATH = re.compile(r":math:`([^`]*)`")
_PEP723 = re.compile(r"^# /// script$.*?^# ///$\n?", re.MULTILINE | re.DOTALL)


def keep_from_reader(text: str) -> str:
    """Rename the `load` option with a path from the root, which myst-nb would not find."""
    return _LOAD.sub(r"\1script:", text)


def script_code(path: Path) -> str:
    """The code of a script, without header, docstring and the gallery's marks in comments."""
    text = _PEP723.sub("", path.read_text("utf-8"))
    first = ast.parse(text).body[:1]
    if first and isinstance(first[0], ast.Expr) and isinstance(first[0].value, ast.Constant):
        lines = text.splitlines()
        del lines[first[0].lineno - 1 : first[0].end_lineno]
        text = "\n".join(lines)
    return _MATH.sub(r"$\1$", _CELL.sub("", text)).strip() + "\n"


def data_code(path: Path) -> str:
    """A cell that gives the content of the JSON file `results.json` the name `results`."""
    text = json.dumps(json.loads(path.read_text("utf-8")))
    return f"import json\n\n{path.stem} = json.loads({text!r})\n"


def gallery_page(option: str) -> str:
    """The page that sphinx-gallery makes of the script `/gallery/section/plot_x.py`."""
    return option.strip().lstrip("/").removesuffix(".py")
