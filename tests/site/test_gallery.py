"""The gallery's downloads run alone on either framework, and their figures can be read."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from attnlib.plotting import COLORS

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "html"
SOURCES = sorted((ROOT / "gallery").glob("*/plot_*.py"))
FRAMEWORKS = ("torch", "jax")

# Runs a downloaded script, then the cells of its notebook, as a reader would: in this folder,
# with one framework. The figures that are left open are judged.
READER = """
import json, runpy, sys
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.text import Text

framework, other, script, notebook = sys.argv[1:]


def judge(name):
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures, f"{name}: no figure"
    for figure in figures:
        assert len(figure.get_label().split()) > 5, f"{name}: fig.set_label says nothing"
        assert figure.get_figwidth() <= 7.5, f"{name}: too wide for a phone"
        figure.draw_without_rendering()
        small = {
            text.get_text() for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and text.get_fontsize() < 9
        }
        assert not small, f"{name}: too small to read: {small}"
    plt.close("all")


runpy.run_path(script, run_name="__main__")
judge(script)
shell = InteractiveShell.instance()
for cell in json.loads(Path(notebook).read_text("utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
judge(notebook)
assert framework in sys.modules, f"{framework} was not used"
assert other not in sys.modules, f"{other} was imported too"
"""


def downloads(name: str) -> list[Path]:
    return sorted((SITE / "_downloads").glob(f"*/{name}"))


def download(name: str) -> Path:
    found = downloads(name)
    assert len(found) == 1, f"{name}: the site offers {len(found)} downloads of it"
    return found[0]


def test_there_are_scripts():
    assert {path.parent.name for path in SOURCES} == {"section", "experiments"}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_script_and_notebook_run_alone(source, framework, tmp_path):
    (other,) = set(FRAMEWORKS) - {framework}
    files = [download(source.with_suffix(suffix).name) for suffix in (".py", ".ipynb")]
    run = subprocess.run(
        [sys.executable, "-c", READER, framework, other, *map(str, files)],
        cwd=tmp_path,
        env={**os.environ, "ATTNLIB_FRAMEWORK": framework, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert list(tmp_path.iterdir()) == []  # nothing left behind


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_download_is_the_script(source, site):
    """Word for word, except that its header names the place of attnlib."""
    (wheel,) = (site.folder / "wheels").glob("*.whl")
    address = rf'\1 @ {site.base}wheels/{wheel.name}"'
    expected = re.sub(r'("attnlib\[plot,(?:torch|jax)\])"', address, source.read_text("utf-8"))
    assert address[2:] in expected
    assert download(source.name).read_text("utf-8") == expected
    for archive in (source.with_suffix(".zip").name, "gallery_python.zip"):
        with zipfile.ZipFile(download(archive)) as held:
            (member,) = (n for n in held.namelist() if n.split("/")[-1] == source.name)
            assert held.read(member).decode() == expected


def header(text: str) -> dict:
    """The metadata of a script (PEP 723)."""
    (block,) = re.findall(r"^# /// script$\n((?:^#(?: .*)?$\n)+)^# ///$", text, re.MULTILINE)
    return tomllib.loads("\n".join(line[2:] for line in block.splitlines()))


def imported(text: str) -> set[str]:
    """Top-level packages that a script imports, the standard library's left out."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names - set(sys.stdlib_module_names)


def provided(requirements: list[str]) -> set[str]:
    """Packages that a list of requirements brings, attnlib's own requirements included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = set()
    for requirement in requirements:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", requirement).groups()
        names.add(name.replace("-", "_"))
        if name == "attnlib":
            names |= provided(project["dependencies"])
            for extra in (extras or "").split(",") if extras else ():
                names |= provided(project["optional-dependencies"][extra])
    return names


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_header_covers_what_the_script_imports(source):
    text = source.read_text("utf-8")
    script = header(text)
    assert text.startswith("# /// script")
    assert script["requires-python"] == ">=3.11"
    either = set(FRAMEWORKS)  # the header names one framework, the reader may choose the other
    brought = provided(script["dependencies"])
    assert brought & either, "the header brings no framework"
    assert imported(text) - either <= brought


#: Marks over a heat map, whose colours are the same on both pages.
ON_HEAT_MAP = "#fefefe"
FIGURES = sorted(path for path in (SITE / "_images").glob("*.svg") if "-dark" not in path.stem)
THUMBNAILS = [path for path in FIGURES if path.stem.endswith("_thumb")]


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_every_colour_of_a_figure_has_a_dark_twin(path):
    """A colour outside the table stays as it is on a dark page, where it may vanish."""
    seen = re.sub(r'stroke="[^"]*" stroke-width="0"', "", path.read_text("utf-8"))
    drawn = set(re.findall(r"#[0-9a-f]{6}\b", seen))
    assert drawn <= {*COLORS.values(), ON_HEAT_MAP}


@pytest.mark.parametrize("path", THUMBNAILS, ids=lambda path: path.name)
def test_picture_of_a_card_is_without_letters(path):
    svg = path.read_text("utf-8")
    assert "<path" in svg
    assert not re.search(r'id="(text|legend|matplotlib\.axis)_', svg)
    assert not re.search(r"\d\.\d\d|\d\d\.\d", svg.partition("<defs>")[2])


def test_there_are_figures():
    assert len(THUMBNAILS) == len(SOURCES)
    assert len(FIGURES) > 2 * len(SOURCES)


def drawing(path: Path) -> list[float]:
    """All coordinates of a figure."""
    places = re.findall(r'\b(?:d|x|y|transform)="([^"]*)"', path.read_text("utf-8"))
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", " ".join(places))]


@pytest.mark.parametrize("twin", ["", "-dark"])
def test_picture_of_the_readme_is_current(twin):
    """To renew it, copy the two built files over those of ``docs/_static``."""
    built = drawing(SITE / "_images" / f"sphx_glr_plot_one_lookup_001{twin}.svg")
    stored = drawing(ROOT / "docs" / "_static" / f"one-lookup{twin}.svg")
    assert len(built) > 1000
    np.testing.assert_allclose(stored, built, atol=0.05)  # points; machines round differently
