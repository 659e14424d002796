"""The numbers of a figure as CSV: all that it shows, under the names that a reader sees."""

from __future__ import annotations

import csv
import io
import math

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from figure_data.drawn import to_csv


@pytest.fixture
def axes():
    """Axes of a new figure."""
    mpl.use("agg")
    yield plt.figure().subplots()
    plt.close("all")


def read(figure) -> dict[tuple[str, str], list[tuple[float, ...]]]:
    """The numbers of a figure by panel and series."""
    found = {}
    for row in csv.DictReader(io.StringIO(to_csv(figure))):
        texts = [row[name] for name in ("x", "y", "value") if name in row]
        numbers = tuple(float(text) if text else None for text in texts)
        found.setdefault((row["panel"], row["series"]), []).append(numbers)
    return found


def test_line_marks_bars_and_band(axes):
    third = 1 / 3
    axes.plot([0, 1, 2], [third, math.nan, 3], "r-", label=r"$\sigma = 0.5$")
    axes.plot([1], [2], "rx")
    axes.scatter([5, 6], [7, 8], color="g")
    axes.fill_between([0, 1], [1, 2], [3, 5], color="r", alpha=0.1)
    axes.bar([1, 2], [4, -5], label="bars")
    axes.set(title="T", xlabel="across", ylabel="up")
    text = to_csv(axes.figure)
    assert text.splitlines()[:2] == [
        "panel,series,x,y,x_label,y_label",
        f"T,σ = 0.5,0.0,{third!r},across,up",
    ]
    found = {series: numbers for (_, series), numbers in read(axes.figure).items()}
    assert found == {
        "σ = 0.5": [(0, third), (1, None), (2, 3)],
        "bars": [(1, 4), (2, -5)],
        "σ = 0.5, points": [(1, 2)],
        "points": [(5, 7), (6, 8)],
        "σ = 0.5, lower end": [(0, 1), (1, 2)],
        "σ = 0.5, upper end": [(0, 3), (1, 5)],
    }


@pytest.mark.parametrize("draw", ["pcolormesh", "imshow"])
def test_cells_stand_at_their_places(axes, draw):
    values = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    x = [0.0, 1.0, 4.0] if draw == "pcolormesh" else [0.0, 1.0, 2.0]
    if draw == "pcolormesh":
        shown = axes.pcolormesh(x, [1.0, 2.0], values)
    else:
        shown = axes.imshow(values, extent=(-0.5, 2.5, 2.5, 0.5))
    axes.figure.colorbar(shown, label="Weight")
    places = [(a, b) for b in (1.0, 2.0) for a in x]
    cells = [(*place, value) for place, value in zip(places, values.ravel(), strict=True)]
    assert read(axes.figure) == {("", "Weight"): cells}


def test_cells_with_other_edges_stand_in_the_middle(axes):
    axes.pcolormesh([1, 2, 4], [0, 1], [[5, 6]])
    (cells,) = read(axes.figure).values()
    assert cells == [(1.5, 0.5, 5), (3, 0.5, 6)]


def test_error_bars_have_their_ends(axes):
    axes.errorbar([1, 2], [5, 6], [0.5, 1], label="mean")
    assert read(axes.figure) == {
        ("", "mean"): [(1, 5), (2, 6)],
        ("", "mean, lower end"): [(1, 4.5), (2, 5)],
        ("", "mean, upper end"): [(1, 5.5), (2, 7)],
    }


def test_areas_of_marks_are_values(axes):
    axes.scatter([1, 2], [3, 4], s=[10, 20])
    assert read(axes.figure) == {("", "points by area"): [(1, 3, 10), (2, 4, 20)]}


def test_lines_across_the_panel_are_named_or_left_out(axes):
    axes.axhline(1)
    axes.axvline(2)
    axes.axline((0, 0), slope=1)
    axes.axvspan(0, 1)
    assert to_csv(axes.figure) == ""
    axes.axhline(0.25, label="chance")
    assert read(axes.figure) == {("", "chance"): [(None, 0.25)]}


def test_the_area_below_a_curve_is_no_band(axes):
    axes.fill_between([0, 1, 2], [1, 2, 1])
    assert to_csv(axes.figure) == ""


def test_a_drawing_has_no_numbers(axes):
    axes.plot([1, 2])
    axes.set_axis_off()
    assert to_csv(axes.figure) == ""


def test_a_legend_in_one_panel_names_the_series_of_all(axes):
    plt.close(axes.figure)
    figure, (left, right) = plt.subplots(1, 2, sharex=True)
    left.plot([1], [2], "s", color="r", label="small")
    left.set_xlabel("step")
    right.plot([3], [4], "s", color="r")
    right.plot([5], [6], "o", color="r")
    right.plot([], [], "o", color="k", label="fresh")
    right.set_xticks([3, 5], ["a", "b"])
    assert read(figure) == {
        ("panel 1", "small"): [(1, 2)],
        ("panel 2", "small"): [(3, 4)],
        ("panel 2", "small, fresh"): [(5, 6)],
    }
    last = to_csv(figure).splitlines()[-1]
    assert last == 'panel 2,"small, fresh",5.0,6.0,"step (3: a, 5: b)",'


def test_what_is_not_known_is_an_error(axes):
    axes.vlines([1, 2], 0, 1)
    with pytest.raises(NotImplementedError, match="LineCollection"):
        to_csv(axes.figure)
