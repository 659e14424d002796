"""The numbers that a Matplotlib figure shows, as CSV: a row for each point, bar or cell.

This file runs where the figure is drawn: in the kernel of a page, or beside sphinx-gallery. A
panel without axes is a drawing, and has no numbers. Nor have lines across a whole panel without a
label, the area below a curve, and shapes that are not bars. What is new here raises an error, so
that no figure silently offers half of what it shows.
"""

import csv
import io
from collections import Counter

import numpy as np
from matplotlib.category import StrCategoryFormatter
from matplotlib.collections import FillBetweenPolyCollection, PathCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.image import AxesImage
from matplotlib.lines import AxLine, Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter

COLUMNS = ("panel", "series", "x", "y", "value", "x_label", "y_label")


def to_csv(figure):
    """Return the figure's numbers, each written so that no digit is lost; "" if it has none."""
    panels = [axes for axes in figure.axes if axes.axison and not is_colorbar(axes)]
    parts = [(axes, *part) for axes in panels for part in parts_of(axes)]
    names, rows = Names(parts), []
    for axes, label, look, word, *columns in parts:
        number = f"panel {panels.index(axes) + 1}" if len(panels) > 1 else ""
        fixed = plain(axes.get_title()) or number, names.of(axes, label, look, word)
        labels = label_of(axes, "x"), label_of(axes, "y")
        plain_columns = [np.ma.filled(np.ma.asarray(c, float), np.nan) for c in columns]
        for numbers in zip(*np.broadcast_arrays(*plain_columns), strict=True):
            texts = ("" if np.isnan(number) else repr(float(number)) for number in numbers)
            rows.append((*fixed, *texts, *labels))
    return written(rows)


def written(rows):
    """Return the rows as CSV, without the column of values where it is empty."""
    shown = [i for i, name in enumerate(COLUMNS) if name != "value"]
    if any(row[4] for row in rows):
        shown = range(len(COLUMNS))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerows([row[i] for i in shown] for row in (COLUMNS, *rows) if rows)
    return text.getvalue()


# --- what a panel shows: label, look (colour, shape), what it is, and columns x, y, value ---


def parts_of(axes):
    """Take a panel apart."""
    held = {id(child) for container in axes.containers for child in container.get_children()}
    for line in axes.lines:
        if id(line) not in held and not isinstance(line, AxLine):
            yield from of_line(line, axes)
    for patch in axes.patches:
        if isinstance(patch, Polygon) and named(patch):  # the outline of a histogram
            yield patch.get_label(), look_of(patch), "outline", *patch.get_xy().T, np.nan
    for container in axes.containers:
        yield from of_container(container)
    for shown in (*axes.collections, *axes.images):
        if id(shown) not in held:
            yield from of_collection(shown)


def of_line(line, axes):
    """A curve or marks; of a line across the whole panel the one coordinate that it has."""
    x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
    across, up = line.get_transform().contains_branch_seperately(axes.transData)
    if across and up:
        yield line.get_label(), look_of(line), word_of(line), x, y, np.nan
    elif (across or up) and named(line):
        place = (x[:1], np.nan) if across else (np.nan, y[:1])
        yield line.get_label(), look_of(line), "line", *place, np.nan


def of_container(container):
    """Bars, or means with the ends of their error bars."""
    label = container.get_label()
    if isinstance(container, ErrorbarContainer):
        line, _, bars = container.lines
        x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
        yield label, look_of(line), word_of(line), x, y, np.nan
        for bar in bars:
            ends = np.stack(bar.get_segments()).transpose(1, 2, 0)
            yield label, look_of(line), "lower end", *ends[0], np.nan
            yield label, look_of(line), "upper end", *ends[1], np.nan
    elif isinstance(container, BarContainer):
        boxes = [bar.get_bbox() for bar in container]
        middle, end = [0.5 * (b.x0 + b.x1) for b in boxes], [b.y1 for b in boxes]
        if container.orientation == "horizontal":
            middle, end = [b.x1 for b in boxes], [0.5 * (b.y0 + b.y1) for b in boxes]
        yield label, look_of(container[0]), "bars", middle, end, np.nan
    else:
        raise unknown(container)


def of_collection(shown):
    """Marks with their colours or areas, a band between two curves, or the cells of an image."""
    label, name = shown.get_label(), scale_of(shown)
    if isinstance(shown, PathCollection):
        word, value = "points", np.nan
        if shown.get_array() is not None:
            word, value = "points by colour", shown.get_array()
        elif len(shown.get_sizes()) > 1:
            word, value = "points by area", shown.get_sizes()
        yield label, look_of(shown), word, *shown.get_offsets().T, value
    elif isinstance(shown, FillBetweenPolyCollection):
        for path in shown.get_paths():
            half = (len(path.vertices) - 3) // 2
            lower = path.vertices[1 : half + 1].T
            upper = path.vertices[half + 2 : 2 * half + 2][::-1].T
            lower, upper = sorted((lower, upper), key=lambda edge: np.nanmean(edge[1]))
            if np.ptp(lower[1]) > 0 and np.ptp(upper[1]) > 0:
                yield label, look_of(shown), "lower end", *lower, np.nan
                yield label, look_of(shown), "upper end", *upper, np.nan
    elif isinstance(shown, QuadMesh):
        corners = shown.get_coordinates()
        yield name, look_of(shown), "cells", *cells(corners[0, :, 0], corners[:, 0, 1], shown)
    elif isinstance(shown, AxesImage):
        left, right, bottom, top = shown.get_extent()
        rows, columns = np.shape(shown.get_array())
        ends = (top, bottom) if shown.origin == "upper" else (bottom, top)
        edges = np.linspace(left, right, columns + 1), np.linspace(*ends, rows + 1)
        yield name, ("", "cells"), "cells", *cells(*edges, shown)
    else:
        raise unknown(shown)


def cells(across, up, shown):
    """The places of all cells, row after row, and their values."""
    x, y = np.meshgrid(places(across), places(up))
    return x.ravel(), y.ravel(), shown.get_array().ravel()


def places(edges):
    """The places between which the edges of cells lie halfway; else the middles of the cells."""
    found = [(edges[0] + edges[1]) / 2]
    for edge in edges[1:-1]:
        found.append(2 * edge - found[-1])
    end = 2 * edges[-1] - found[-1]  # as far outside as the last place is inside
    fits = len(found) == 1 or np.isclose(end - found[-1], found[-1] - found[-2])
    return np.array(found) if fits else (edges[:-1] + edges[1:]) / 2


def unknown(artist):
    """What an author is told who draws something new."""
    return NotImplementedError(f"figure_data: which numbers does a {type(artist).__name__} show?")


# --- names ----------------------------------------------------------------------------------------


class Names:
    """The names of series: their labels; else those of what looks alike, as a reader would say."""

    def __init__(self, parts):
        self.by_look, self.by_color, self.by_shape, self.used = {}, {}, {}, Counter()
        for axes, label, look, _, x, *_ in parts:
            if label.startswith("_"):
                continue
            if np.size(x) == 0:  # stands in the legend for all of its shape
                self.by_shape[axes, look[1]] = plain(label)
                continue
            self.by_color.setdefault(look[0], plain(label))
            for where in (axes, None):
                self.by_look.setdefault((where, look), plain(label))

    def of(self, axes, label, look, word):
        """Name a part of a panel."""
        end = f", {word}" if word.endswith(" end") else ""
        if not label.startswith("_"):
            return plain(label) + end
        if (axes, look) in self.by_look:
            return self.by_look[axes, look] + end
        shape = self.by_shape.get((axes, look[1]))
        if (None, look) in self.by_look and not shape:
            return self.by_look[None, look] + end
        if look[0] in self.by_color:
            return f"{self.by_color[look[0]]}, {shape or word}" + (end if shape else "")
        self.used[axes, shape or word] += 1
        count = self.used[axes, shape or word]
        name = f"{shape or word} {count}" if count > 1 else shape or word
        if not end:
            self.by_look[axes, look] = name
        return name


def named(artist):
    return not str(artist.get_label()).startswith("_")


def word_of(line):
    return "points" if line.get_linestyle() == "None" else "line"


def look_of(artist):
    """Colour and shape of an artist, by which a legend tells it from others."""
    if isinstance(artist, Line2D):
        shape = artist.get_linestyle(), artist.get_marker()
        bare = artist.get_linestyle() == "None"
        return to_hex(artist.get_markeredgecolor() if bare else artist.get_color()), str(shape)
    fill, edge = map(to_rgba_array, (artist.get_facecolor(), artist.get_edgecolor()))
    seen = [color for color in (*fill, *edge) if color[3]]
    return to_hex(seen[0]) if seen else "", type(artist).__name__


def is_colorbar(axes):
    return axes.get_label() == "<colorbar>"


def scale_of(shown):
    """What a heat map's colours mean: the label of its colour bar, or of the only one."""
    bars = [axes for axes in shown.figure.axes if is_colorbar(axes)]
    if shown.colorbar is not None:
        bars = [shown.colorbar.ax]
    return plain(bars[0].get_ylabel() or bars[0].get_xlabel()) if bars else shown.get_label()


def label_of(axes, name):
    """An axis's label, which may stand on a neighbour or on the figure, and names of its ticks."""
    shared = getattr(axes, f"get_shared_{name}_axes")().get_siblings(axes)
    labels = [getattr(other, f"get_{name}label")() for other in (axes, *shared)]
    text = next(filter(None, labels), getattr(axes.figure, f"get_sup{name}label")())
    axis = getattr(axes, f"{name}axis")
    if isinstance(axis.get_major_formatter(), FuncFormatter | StrCategoryFormatter):
        ticks = [f"{tick:g}" for tick in axis.get_majorticklocs()]
        words = axis.get_major_formatter().format_ticks(axis.get_majorticklocs())
        if ticks != words:
            text += f" ({', '.join(map(': '.join, zip(ticks, words, strict=True)))})"
    return plain(text)


def plain(label):
    r"""A label without TeX: $\sigma = 0.5$ becomes σ = 0.5."""
    text = str(label)
    for tex, letter in (("sigma", "σ"), ("tau", "τ"), ("alpha", "α"), ("leq", "≤")):
        text = text.replace(f"\\{tex}", letter)
    return " ".join(text.replace("$", "").replace("\\", "").split())
