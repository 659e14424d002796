"""Figures that compute in the reader's browser.

A figure is a module of ``docs/_live`` whose ``chart`` returns an Altair chart. The directive
``live-figure`` places it as a numbered figure::

    ```{live-figure} regression
    :name: fig-live-regression
    :alt: What the figure shows.

    What to try.
    ```

Altair's own HTML loads its scripts from somebody else's server, makes inputs that name their place
in a list rather than a bandwidth, and shows nothing without JavaScript. Here the specification
stands in the page, beside a picture and inputs that have labels; ``live.js`` joins them with a
copy of Vega that is loaded only where a figure stands.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from html import escape
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from figure_data import name_of
from fingerprint import fingerprint
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from attnlib.plotting import DARK_TWINS

RENDER = Path(__file__).with_name("render.py")
FIGURES = "_live"
STILL = "This is a picture of how the figure starts. To move it, allow JavaScript."


# --- rendering, once for each state of the sources -------------------------------------------


def sources(srcdir: Path) -> list[Path]:
    """Return the files that the figures are made from."""
    return sorted([*Path(srcdir, FIGURES).glob("*.py"), *RENDER.parent.glob("[!_]*.*")])


@cache
def rendered(srcdir: Path, cache: Path) -> Path:
    """Return the folder of the rendered figures, after rendering them if something changed."""
    digest = hashlib.sha256(fingerprint().encode())
    for package in ("altair", "vl-convert-python"):
        digest.update(f"{package}={metadata.version(package)}".encode())
    for path in sources(srcdir):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    folder = cache / f"live-{digest.hexdigest()[:16]}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            out = Path(temporary, "out")
            command = [sys.executable, str(RENDER), str(Path(srcdir, FIGURES)), str(out)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                raise ExtensionError(f"live figures: {run.stderr}")
            out.rename(folder)
    return folder


def folder(app: Sphinx) -> Path:
    """Return the folder of the rendered figures, beside the results of the executed pages."""
    return rendered(Path(app.srcdir), Path(app.config.nb_execution_cache_path).parent)


def prepare(app: Sphinx) -> None:
    """Render before Sphinx forks its workers, and offer Vega to the pages."""
    app.config.html_static_path.append(str(folder(app) / "static"))


# --- the directive -----------------------------------------------------------------------------


class live(nodes.General, nodes.Element):
    """The picture of a live figure, and all that is needed to bring it to life."""


class LiveFigure(SphinxDirective):
    """Place a live figure; the content is its caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "name": directives.unchanged_required,
        "alt": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Make a figure of the picture and the caption."""
        name = self.arguments[0]
        path = folder(self.env.app) / f"{name}.json"
        if not path.is_file():
            raise self.error(f"live-figure: no such figure: {name}")
        for option in self.option_spec:
            if option not in self.options:
                raise self.error(f"live-figure: {name}: the option '{option}' is missing")
        if not self.content:
            raise self.error(f"live-figure: {name}: the caption is missing; say what to try")
        for source in sources(Path(self.env.srcdir)):
            self.env.note_dependency(str(source))

        picture = os.path.relpath(path.with_name(f"live-{name}.svg"), self.env.srcdir)
        width, height = json.loads(path.read_text("utf-8"))["size"]
        image = nodes.image(
            uri="/" + PurePosixPath(picture).as_posix(),
            alt=" ".join(self.options["alt"].split()),
            width=str(width),
            height=str(height),
            classes=["no-scaled-link"],
        )
        text, messages = self.parse_inline(" ".join(self.content), lineno=self.content_offset + 1)
        figure = nodes.figure("", live("", image, figure=name), nodes.caption("", "", *text))
        self.set_source_info(figure)
        self.set_source_info(image)
        self.add_name(figure)
        return [figure, *messages]


# --- HTML --------------------------------------------------------------------------------------


def visit_live(self: Any, node: live) -> None:
    """Write the controls, and open the stage that the picture stands on."""
    found = _read(self.builder.app, node)
    prefix = f"live-{node['figure']}"
    self.body.append(
        f'<div class="live" data-figure="{node["figure"]}">\n'
        '<div class="live-controls" role="group" aria-label="Controls of the figure">\n'
        f"{''.join(_control(prefix, control) for control in found['controls'])}</div>\n"
        f'<div class="live-stage" style="height: {found["size"][1]}px">\n'
    )


def depart_live(self: Any, node: live) -> None:
    """Close the stage, and write the numbers and the specification."""
    found = _read(self.builder.app, node)
    numbers = "".join(
        f"<div><dt>{escape(number['label'])}</dt><dd>–</dd></div>\n" for number in found["numbers"]
    )
    kept = ("layers", "numbers", "pointer", "spec")
    data = {**{name: found[name] for name in kept}, "dark": DARK_TWINS}
    data = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", r"\u003c")
    alt = escape(next(node.findall(nodes.image))["alt"])
    label = f"Data (CSV) of {name_of(self, node.parent['ids'][0])}, as it is now"
    self.body.append(
        f'<div class="live-view" role="img" aria-label="{alt}">\n'
        '<div aria-hidden="true"></div>\n</div>\n</div>\n'
        f'<dl class="live-numbers">\n{numbers}</dl>\n'
        f'<p class="figure-data"><a href="#" download="live-{node["figure"]}.csv" '
        f'aria-label="{escape(label)}">Data (CSV)</a></p>\n'
        '<p class="live-status" role="status"></p>\n'
        f'<p class="live-still">{STILL}</p>\n'
        f'<script type="application/json">{data}</script>\n</div>\n'
    )


def _control(prefix: str, control: dict[str, Any]) -> str:
    """Return an input with its label, and the place where its value is written."""
    name = control["signal"]
    label = f'<label for="{prefix}-{name}">{escape(control["name"])}</label>'
    common = f'id="{prefix}-{name}" data-signal="{name}"'
    if control["input"] == "select":
        named = zip(control["options"], control["labels"], strict=True)
        options = "".join(
            f'<option value="{value}">{escape(text)}</option>' for value, text in named
        )
        return f'<div class="live-control">{label}<select {common}>{options}</select></div>\n'
    ends = " ".join(f'{end}="{control[end]:g}"' for end in ("min", "max", "step"))
    shows = f'<span class="live-shown" aria-hidden="true" data-shows="{control["shows"]}"></span>'
    field = f'<input type="range" {common} {ends} value="{control["value"]:g}">'
    return f'<div class="live-control">{label}{shows}{field}</div>\n'


def _read(app: Sphinx, node: live) -> dict[str, Any]:
    return json.loads((folder(app) / f"{node['figure']}.json").read_text("utf-8"))


def add_assets(
    app: Sphinx,
    pagename: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Load the scripts and the style sheet on pages that hold a live figure, and on no others."""
    if doctree is not None and any(doctree.findall(live)):
        app.add_css_file("live.css")
        app.add_js_file("vega.js", defer="defer")
        app.add_js_file("live.js", defer="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive and its node."""
    app.connect("builder-inited", prepare)
    app.connect("html-page-context", add_assets)
    app.add_directive("live-figure", LiveFigure)
    app.add_node(live, html=(visit_live, depart_live))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
