"""Panels of live figures: their axes, marks and look, and the figure they make together.

What Altair has no words for (how a slider's value is written, which numbers stand below the
figure, which slider follows the pointer) travels in the chart's ``usermeta``, which Vega ignores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
from controls import Params
from estimator import compare_one, rows, weigh

from attnlib.plotting import COLORS

Range = tuple[float, float]
Axes = Callable[..., list[alt.X | alt.Y]]


def axes(
    across: Range, up: Range, names: tuple[str | None, str], ticks: int = 5, grid: bool = True
) -> Axes:
    """Return a function from two columns to places in a panel.

    Parameters
    ----------
    across, up : (float, float)
        Ends of the axes.
    names : (str or None, str)
        Titles of the axes. A panel that stands on another has no title, and no labels, across.
    ticks : int
        About how many labels the vertical axis has.
    grid : bool
        Whether each of them has a line.
    """
    labelled = names[0] is not None
    below = alt.Axis(title=names[0], labels=labelled, ticks=labelled, tickCount=6)
    beside = alt.Axis(title=names[1], tickCount=ticks, grid=grid)

    def places(x: str, y: str | None = None) -> list[alt.X | alt.Y]:
        found = [alt.X(f"{x}:Q", axis=below, scale=alt.Scale(domain=across, nice=False, padding=0))]
        if y is not None:
            found.append(alt.Y(f"{y}:Q", axis=beside, scale=alt.Scale(domain=up, nice=False)))
        return found

    return places


def together(data: Any, *layers: Any) -> alt.LayerChart:
    """Draw several layers from the same data, which Vega-Lite would else compute for each."""
    shared = alt.layer(*layers, data=data.data)
    shared.transform = data.transform
    return shared


def line(chart: Any, *places: Any, color: str = "blue", **style: Any) -> Any:
    """Draw a curve."""
    style = {"color": COLORS[color], "strokeWidth": 2.5, "clip": True, **style}
    return chart.mark_line(**style).encode(*places)


def dot(chart: Any, *places: Any, color: str = "vermillion", **style: Any) -> Any:
    """Draw points."""
    style = {"color": COLORS[color], "size": 120, "opacity": 1, "clip": True, **style}
    return chart.mark_point(filled=True, **style).encode(*places)


def at_query(at: Axes, query: str = "query") -> alt.Chart:
    """Draw the line at the query."""
    rule = rows(1, q=query).mark_rule(color=COLORS["vermillion"], strokeDash=[4, 3])
    return rule.encode(*at("q"))


def weights(ends: Range, title: str, width: float = 3, height: int = 80) -> alt.LayerChart:
    """Draw the weights of the query as bars that stand at the keys: the lower panel of a figure."""
    at = axes(ends, (0.0, 1.0), (title, "Weight"), ticks=3)
    bars = weigh(compare_one()).mark_bar(color=COLORS["blue"], width=width)
    named = bars.encode(*at("key", "weight")).properties(name="weights")
    return alt.layer(at_query(at), named).properties(height=height)


def stem(chart: Any, *places: Any, color: str) -> Any:
    """Draw a thin line from 0 to each point."""
    return chart.mark_rule(color=COLORS[color], y2=0).encode(*places, y2=alt.datum(0))


def empty(chart: Any) -> Any:
    """Draw short bars at the foot of a panel, for queries that go wrong."""
    style = {
        "color": COLORS["vermillion"],
        "orient": "vertical",
        "size": 14,
        "thickness": 4,
        "opacity": 1,
    }
    return chart.mark_tick(**style)


def unseen(chart: Any, name: str) -> Any:
    """Draw nothing, and keep the data for a number that stands below the figure."""
    return chart.mark_text(text="").properties(name=name)


TRUTH: dict[str, Any] = {"color": "ink", "strokeWidth": 1.8, "strokeDash": [6, 4]}
"""How the curve is drawn that estimates are compared with."""

Sample = tuple[str, dict[str, Any]]


def sample_line(color: str = "blue", **style: Any) -> Sample:
    """Return a short piece of a line for `key`."""
    return "rule", {"color": COLORS[color], "strokeWidth": 2.5, **style}


def sample_dot(fill: str, size: int = 120, **style: Any) -> Sample:
    """Return a point for `key`."""
    return "point", {"fill": COLORS[fill], "strokeWidth": 0, "size": size, "opacity": 1, **style}


def key(*entries: tuple[str, Sample], left: float = 10) -> alt.LayerChart:
    """Say in a corner of a panel what its marks are, from the right end if `left` is negative."""
    corner = "width" if left < 0 else "0"

    def place(x: float) -> Any:
        return alt.value({"expr": f"{corner} + {left + x}"})

    layers = []
    for i, (label, (mark, style)) in enumerate(entries):
        y = alt.value(12 + 18 * i)
        ends = {"x": place(0), "x2": place(22)}
        if mark == "point":
            ends = {"x": place(11)}
        words = rows(1).mark_text(text=label, align="left", baseline="middle")
        layers += [
            getattr(rows(1), f"mark_{mark}")(**style).encode(y=y, **ends),
            words.encode(x=place(30), y=y),
        ]
    return alt.layer(*layers)


def number(label: str, layer: str, field: str, digits: int, row: int = 0) -> dict[str, Any]:
    """Return a number to show below the figure: from a row of the data of a named layer."""
    return {"label": label, "layer": layer, "field": field, "digits": digits, "row": row}


def figure(
    *panels: Any,
    params: Params,
    shows: dict[str, str],
    numbers: list[dict[str, Any]],
    pointer: tuple[str, str],
    apart: bool = False,
) -> alt.VConcatChart:
    """Put the panels of a figure below one another and finish it.

    Parameters
    ----------
    *panels : altair charts
        From top to bottom.
    params : list of parameters
        The controls in the order in which they stand, and what is computed from them.
    shows : dict
        For a slider, the expression of the text that stands beside it.
    numbers : list
        What stands below the figure, each from `number`.
    pointer : (str, str)
        The slider that follows the pointer, and the scale along which it does.
    apart : bool, default False
        Whether each panel has a horizontal axis of its own.
    """
    meta = {
        "shows": {name: f"{name}_text" for name in shows},
        "numbers": numbers,
        "pointer": pointer,
    }
    readouts = [alt.param(name=f"{name}_text", expr=text) for name, text in shows.items()]
    return (
        alt.vconcat(*panels, bounds="flush", spacing=76 if apart else 36)
        .resolve_scale(x="independent" if apart else "shared")
        .add_params(*params, *readouts)
        .properties(usermeta=meta, background="transparent", padding=PADDING)
        .configure(**LOOK)
    )


MARGIN = 32
"""Pixels to the left of all panels, for the labels of the vertical axes."""
PADDING = {"left": 2, "right": 8, "top": 22, "bottom": 2}
LOOK: dict[str, Any] = {
    # The figure has a text of its own; its marks are not worth a word each.
    "aria": False,
    "mark": {"aria": False},
    "font": "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": COLORS["muted"],
        "tickColor": COLORS["muted"],
        "gridColor": COLORS["grid"],
        "labelColor": COLORS["ink"],
        "titleColor": COLORS["ink"],
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
    },
    "axisX": {"grid": False, "titlePadding": 6, "labelFlush": True},
    # The title lies above the axis, where it costs no width on a phone.
    "axisY": {
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
        "minExtent": MARGIN,
        "maxExtent": MARGIN,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleBaseline": "bottom",
        "titleX": -MARGIN,
        "titleY": -8,
    },
    "text": {"fontSize": 12, "color": COLORS["ink"]},
    "legend": {
        "labelColor": COLORS["ink"],
        "titleColor": COLORS["ink"],
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 13,
    },
}
