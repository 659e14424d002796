"""Small sites that the tests write, build and read."""

import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from lxml import html

EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_ext"

CONF = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(EXTENSIONS)!r})
from fingerprint import fingerprint
root = Path(__file__).parents[1]
project = "Fixture"
extensions = ["framework_tabs", "folds", "backlinks"]
exclude_patterns = ["gallery/**.ipynb"]
html_theme = "basic"
html_static_path = [{str(EXTENSIONS.parent / "_static")!r}]
html_baseurl = "https://example.org/site/"
numfig = math_numfig = True
numfig_secnum_depth = 1
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "cache"
nb_execution_cache_path = str(root / "build" / "cache" / fingerprint(root))
nb_execution_in_temp = True
nb_execution_timeout = 60
nb_merge_streams = True
nb_output_stderr = "warn"
framework_tabs_attnlib = "https://example.org/site/attnlib-1-py3-none-any.whl"
"""

NOTEBOOK = """\
---
file_format: mystnb
kernelspec: {name: python3, display_name: Python 3}
---
"""


@dataclass
class Build:
    """What a build said and how it ended."""

    code: int
    output: str
    warnings: str

    @property
    def executed(self) -> list[str]:
        """The runs that a kernel did, as `page (framework)`."""
        return sorted(re.findall(r": (\S+ \(\w+\)): Executing notebook", self.output))

    @property
    def read(self) -> list[str]:
        """The pages that were read."""
        return sorted(set(re.findall(r"reading sources\.\.\. \[ *\d+%\] (.+)", self.output)))


class Site:
    """A site in a folder of its own, laid out as the repository is."""

    def __init__(self, root: Path):
        self.root = root
        self.docs = root / "docs"
        self.out = root / "build" / "html"
        self.write("docs/conf.py", CONF)
        self.write("attnlib/__init__.py", "VALUE = 1\n")

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text).lstrip("\n"), "utf-8")

    def page(self, name: str, text: str) -> None:
        """Write a page with code."""
        self.write(f"docs/{name}.md", NOTEBOOK + textwrap.dedent(text).lstrip("\n"))

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text("utf-8")
        assert text.count(old) == 1, (path, old)
        (self.root / path).write_text(text.replace(old, new), "utf-8")

    def build(self, *options: str) -> Build:
        command = [
            sys.executable,
            "-m",
            "sphinx",
            "-b",
            "html",
            "-n",
            "--no-color",
            "-d",
            "build/doctrees",
            *options,
            "docs",
            "build/html",
        ]
        ours = ("JUPYTER_PATH", "PYTHONPATH")
        environment = {k: v for k, v in os.environ.items() if k not in ours}
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        return Build(done.returncode, done.stdout, done.stderr)

    def html(self, name: str) -> html.HtmlElement:
        return html.fromstring((self.out / f"{name}.html").read_text("utf-8"))

    def results(self) -> list[dict]:
        return json.loads((self.out / "results.json").read_text("utf-8"))

    def notebook(self, name: str, framework: str) -> dict:
        return json.loads((self.out / "notebooks" / f"{name}-{framework}.ipynb").read_text("utf-8"))


def text(node: html.HtmlElement) -> str:
    return " ".join(node.text_content().split())


def cells(notebook: dict, kind: str) -> list[str]:
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind]
