"""Render the live figures: a Vega specification, a picture and a list of controls for each.

Run as a program of its own, ``render.py FIGURES OUT``: it loads Altair, a JavaScript engine, and
both frameworks for their random draws. None of them would survive the fork of Sphinx's workers.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vl_convert

WIDTH = 640
"""Width of the panels in the picture, in pixels; in the browser they fill the column."""

SIZE = r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"'
LICENCE = Path(__file__).with_name("vega-licence.txt")


MODULES = {
    "{ transforms }": "vega-dataflow@6.1.0",
    "* as data": "vega-transforms@5.1.0",
    "* as drawing": "vega-view-transforms@5.1.0",
    "* as encoding": "vega-encode@5.1.0",
    "{ View }": "vega-view@6.1.0",
    "{ parse }": "vega-parser@7.1.0",
}
"""What the figures need of Vega: without maps, trees, forces and words, three quarters of its size.

The versions are those of which the pinned vl-convert holds a copy; others fail the build.
"""


def vega() -> str:
    """Return the part of Vega that draws, as one script.

    A function around it keeps its many short names from the page.
    """
    imports = "".join(
        f'import {names} from "https://cdn.jsdelivr.net/npm/{module}/+esm.js";\n'
        for names, module in MODULES.items()
    )
    script = vl_convert.javascript_bundle(
        imports
        + "Object.assign(transforms, data, drawing, encoding);\n"
        + "window.liveVega = { View, parse };\n"
    )
    return f"/*!\n{LICENCE.read_text('utf-8')}*/\n(() => {{\n{script}\n}})();\n"


def controls(signals: list[dict[str, Any]], shows: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Take the controls out of Vega's signals; the page has inputs of its own for them."""
    for signal in signals:
        bind = signal.pop("bind", None)
        if bind is not None:
            name = signal["name"]
            text = shows.get(name.removesuffix("_step")) or shows.get(name)
            yield {"signal": name, "value": signal["value"], "shows": text, **bind}


def layers(mark: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name the data sets of the layers that have a name, which Altair numbers."""
    for child in mark.get("marks", []):
        if "data" in child.get("from", {}):
            yield re.sub(r"(_\d+)?_marks$", "", child["name"]), child["from"]["data"]
        yield from layers(child)


def figure(chart: Any) -> tuple[dict[str, Any], str]:
    """Return what the page needs of a figure, and its picture."""
    spec = vl_convert.vegalite_to_vega(chart.to_dict())
    spec.pop("$schema")
    meta = spec.pop("usermeta")
    shows = meta.pop("shows")
    spec["width"] = WIDTH
    # Neighbouring cells of a heat map would let the page shine through between them.
    svg = vl_convert.vega_to_svg(spec).replace(
        '<g class="mark-rect ', '<g shape-rendering="crispEdges" class="mark-rect '
    )
    width, height = (float(size) for size in re.search(SIZE, svg).groups())
    found = {
        **meta,
        "controls": list(controls(spec["signals"], shows)),
        "layers": dict(layers(spec)),
        "size": [round(width), round(height)],
        "spec": spec,
    }
    return found, svg


def main(source: Path, out: Path) -> None:
    """Render each module of a folder that has a chart."""
    (out / "static").mkdir(parents=True)
    (out / "static" / "vega.js").write_text(vega(), "utf-8")
    sys.path.insert(0, str(source))
    for path in sorted(source.glob("*.py")):
        module = importlib.import_module(path.stem)
        if hasattr(module, "chart"):
            found, svg = figure(module.chart())
            (out / f"{path.stem}.json").write_text(json.dumps(found, ensure_ascii=False), "utf-8")
            (out / f"live-{path.stem}.svg").write_text(svg, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
