"""Downloads run where nothing is installed: a fresh environment and an empty folder.

A script gets what its header names, a notebook what its first cell installs, attnlib from the
site's own wheel, and only one framework. ``test_notebooks.py`` and ``test_gallery.py`` run all the
downloads, and see that none imports the other framework; here the way to them is tested. The site
is not on the web while it is tested: its address is replaced by the folder in which it lies.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = re.compile(r"^# /// script$\n((?:^#(?: .*)?$\n)+)^# ///$", re.MULTILINE)

# Runs the code cells of a notebook in one namespace, as Jupyter would, without needing Jupyter.
NOTEBOOK = """
import json, sys
from pathlib import Path
namespace = {"__name__": "__main__"}
for cell in json.loads(Path(sys.argv[1]).read_text("utf-8"))["cells"]:
    if cell["cell_type"] == "code" and "raises-exception" not in cell["metadata"].get("tags", []):
        exec("".join(cell["source"]), namespace)
"""


@pytest.fixture(scope="module", params=["torch", "jax"])
def fresh(request, tmp_path_factory):
    """A framework, and the Python of an environment that holds pip alone."""
    folder = tmp_path_factory.mktemp(request.param)
    venv.create(folder, with_pip=True)
    binaries = "Scripts" if os.name == "nt" else "bin"
    return request.param, folder / binaries / "python"


@pytest.fixture
def run(fresh, tmp_path):
    """Run a command with that Python, in an empty folder, and return what it prints."""
    framework, python = fresh
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ATTNLIB"))}
    environment = {
        **clean,
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "ATTNLIB_FRAMEWORK": framework,
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(tmp_path),
        "OMP_NUM_THREADS": "1",
    }

    def call(*command: str) -> str:
        done = subprocess.run(
            [str(python), *command],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    return call


def local(site, text: str) -> str:
    """A download that finds the site in its folder."""
    assert f"@ {site.base}wheels/attnlib-" in text
    return text.replace(site.base, site.folder.as_uri() + "/")


def test_notebook_installs_what_it_needs(site, fresh, run, tmp_path):
    framework, _ = fresh
    page = site.folder / "notebooks" / "exercises" / f"ex01-two-entries-{framework}.ipynb"
    path = tmp_path / page.name
    path.write_text(local(site, page.read_text("utf-8")), "utf-8")
    run("-c", NOTEBOOK, str(path))
    installed = {row["name"] for row in json.loads(run("-m", "pip", "list", "--format", "json"))}
    assert {"attnlib", "matplotlib", framework} <= installed
    assert not {"torch", "jax", "sphinx"} & installed - {framework}


def test_script_runs_with_what_its_header_names(site, fresh, run, tmp_path):
    framework, _ = fresh
    (download,) = (site.folder / "_downloads").glob("*/plot_regression.py")
    script = local(site, download.read_text("utf-8"))
    block = HEADER.search(script)[1]
    header = tomllib.loads("".join(line[2:] for line in block.splitlines(keepends=True)))
    assert sys.version_info >= (3, 11)
    assert header["requires-python"] == ">=3.11"
    # The header names PyTorch; a reader who wants JAX writes its name there.
    wanted = [r.replace("torch]", f"{framework}]") for r in header["dependencies"]]
    run("-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", *wanted)
    run("-m", "pip", "install", "--quiet", *wanted)
    path = tmp_path / download.name
    path.write_text(script, "utf-8")
    run(str(path))


def test_notebook_of_the_gallery_finds_everything(site, fresh, run, tmp_path):
    """Its first cell takes the framework that is there, and asks for nothing else."""
    (download,) = (site.folder / "_downloads").glob("*/plot_regression.ipynb")
    path = tmp_path / download.name
    path.write_text(local(site, download.read_text("utf-8")), "utf-8")
    assert "Installing" not in run("-c", NOTEBOOK, str(path))
