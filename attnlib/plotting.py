"""Figures of attention weights and of curves.

The only module that needs Matplotlib (``pip install attnlib[plot]``).  The look comes with it as a
style sheet, switched on by ``plt.style.use("attnlib.figures")``; the functions below never change
Matplotlib's settings, and draw on explicit axes.  They open their figures through
:mod:`matplotlib.pyplot`, so that ``plt.show()`` and notebooks display them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import MaxNLocator

from attnlib.frameworks import framework_of

if TYPE_CHECKING:
    from jaxtyping import Shaped
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from attnlib._typing import Array

    # Real numbers of any dtype, from NumPy, PyTorch, JAX or a list.
    Panels = Shaped[Array, "rows columns queries keys"]
    KeyPositions = Shaped[Array, " keys"]
    QueryPositions = Shaped[Array, " queries"]
    Curve = Shaped[Array, " n"]
    Curves = Sequence[Curve] | Shaped[Array, "curves n"]
    Coordinate = Shaped[Array, " p"]
    Points = tuple[Coordinate, Coordinate]
    Floats = NDArray[np.float64]

__all__ = ["COLORS", "DARK_TWINS", "plot_curves", "show_heatmaps"]

_TABLE = {  # name: (on a white page, on the dark page #14181e)
    "ink": ("#1f2933", "#e6edf3"),  # text, the truth
    "muted": ("#66707c", "#9aa7b4"),  # axes, data points
    "grid": ("#d9dfe5", "#333d48"),  # grid lines and faint areas: never alone in carrying meaning
    "paper": ("#ffffff", "#14181e"),  # the page, for gaps around marks
    "blue": ("#1f6fe0", "#5aa4ea"),
    "vermillion": ("#a8320a", "#d87a42"),
    "green": ("#12a06c", "#35e39c"),
    "purple": ("#6a1482", "#b93fff"),
    "amber": ("#b08a10", "#ffcf5c"),
}

COLORS: dict[str, str] = {name: light for name, (light, _) in _TABLE.items()}
"""The colours of all figures by name, as they stand on a white page.

All but grid and paper keep a contrast of 3 to 1 with the page (text 4.5 to 1) and stay apart for
colour-blind readers.
"""

DARK_TWINS: dict[str, str] = dict(_TABLE.values())
"""For each colour of :data:`COLORS`, the one that takes its place on a dark page."""


def show_heatmaps(
    matrices: Panels,
    *,
    xlabel: str,
    ylabel: str,
    titles: Sequence[str] | None = None,
    key_positions: KeyPositions | None = None,
    query_positions: QueryPositions | None = None,
    shared_scale: bool = True,
    figsize: tuple[float, float] | None = None,
    cmap: str | None = None,
) -> Figure:
    """Draw a grid of weight matrices as heat maps.

    Parameters
    ----------
    matrices : array of shape (rows, columns, queries, keys)
        One matrix a panel, from NumPy, PyTorch (gradients and bfloat16 included) or JAX.  A NaN
        is left blank.
    xlabel, ylabel : str
        Labels of the key axis and of the query axis, written once along the edge of the grid.
    titles : sequence of str, optional
        One a panel, row after row: exactly ``rows * columns`` of them.
    key_positions : array of shape (keys,), optional
        Where the keys lie.  The axis then shows these coordinates, and each cell reaches halfway
        to the next key, however irregular the spacing.  The end cells are as wide on their outer
        side as on their inner side.  The order is free, columns are drawn in order of position;
        two equal positions are an error, since they would hide one another.
    query_positions : array of shape (queries,), optional
        The same for the queries; the axis then grows upwards.  Without positions the axes count
        rows and columns from 0, with row 0 on top as a matrix is written.
    shared_scale : bool, default True
        One colour scale for all panels, from 0 to the largest weight of all, and one colour bar.
        False gives each panel its own scale from 0 and its own colour bar.  With negative entries
        the scale starts at the smallest instead of at 0.
    figsize : (float, float), optional
        Width and height in inches.  By default about 2 inches a panel.
    cmap : str, optional
        Name of a Matplotlib colour map, by default the one of the style in use.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, open in pyplot.  In a notebook assign it, or end the line with a semicolon,
        so that it is not shown twice.

    Raises
    ------
    ValueError
        If `matrices` does not have four axes or a panel is empty, an entry is infinite, or the
        number of titles or of positions does not match.
    TypeError
        If an array does not hold real numbers.

    Examples
    --------
    Exact lookup: each of three queries reads the key that equals it.

    >>> import numpy as np
    >>> from attnlib.plotting import show_heatmaps
    >>> fig = show_heatmaps(np.eye(3)[None, None], xlabel="Keys", ylabel="Queries")
    >>> [axes.get_xlabel() for axes in fig.axes]
    ['Keys', '']

    Four keys at irregular places, two bandwidths on one colour scale:

    >>> from attnlib import kernel_weights
    >>> keys, queries = np.array([0.0, 0.3, 2.0, 5.0]), np.linspace(0.0, 5.0, 11)
    >>> weights = np.stack([kernel_weights(queries, keys, width) for width in (0.5, 2.0)])
    >>> fig = show_heatmaps(
    ...     weights[None], xlabel="Keys", ylabel="Queries", titles=["narrow", "wide"],
    ...     key_positions=keys, query_positions=queries,
    ... )
    """
    panels = _numbers("matrices", matrices)
    if panels.ndim != 4 or 0 in panels.shape:
        raise ValueError(
            "matrices: expected shape (rows, columns, queries, keys), none of them 0, "
            f"got {panels.shape}"
        )
    if np.isinf(panels).any():
        raise ValueError("matrices: expected finite entries or NaN, got an infinite one")
    rows, columns, n, m = panels.shape
    if titles is not None and (isinstance(titles, str) or len(titles) != rows * columns):
        got = repr(titles) if isinstance(titles, str) else len(titles)
        raise ValueError(
            f"titles: expected {rows * columns} strings, one a panel "
            f"({rows} x {columns} panels), got {got}"
        )
    key_order, key_edges = _cells("key_positions", key_positions, m)
    query_order, query_edges = _cells("query_positions", query_positions, n)
    panels = panels[:, :, query_order][:, :, :, key_order]

    fig, axes = plt.subplots(
        rows,
        columns,
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
        figsize=figsize or (2.1 * columns + 1.2, 2.1 * rows + 0.7),
    )
    for i, (ax, matrix) in enumerate(zip(axes.flat, panels.reshape(-1, n, m), strict=True)):
        low, high = _limits(panels if shared_scale else matrix)
        mesh = ax.pcolormesh(
            key_edges, query_edges, matrix, vmin=low, vmax=high, cmap=cmap, rasterized=True
        )
        ax.grid(False)
        if titles is not None:
            ax.set_title(titles[i])
        if not shared_scale:
            fig.colorbar(mesh, ax=ax, label="Weight")
    if shared_scale:
        fig.colorbar(mesh, ax=axes, label="Weight")

    first = axes[0, 0]
    if key_positions is None:
        first.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    if query_positions is None:
        first.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        first.invert_yaxis()
    for ax in axes[-1]:
        ax.set_xlabel(xlabel)
    for ax in axes[:, 0]:
        ax.set_ylabel(ylabel)
    return fig


def plot_curves(
    x: Curve,
    curves: Curves,
    *,
    labels: Sequence[str],
    xlabel: str,
    ylabel: str,
    points: Points | None = None,
    styles: Sequence[Mapping[str, Any]] | None = None,
    direct: bool = True,
    xscale: str = "linear",
    yscale: str = "linear",
    ylim: tuple[float, float] | None = None,
    figsize: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw curves over a common axis, each labelled, with data points behind them if given.

    Parameters
    ----------
    x : array of shape (n,)
        Where the curves are known.
    curves : sequence of arrays of shape (n,), or array of shape (curves, n)
        The values, from NumPy, PyTorch or JAX.  A NaN leaves a gap.
    labels : sequence of str
        One a curve: exactly as many as there are curves.
    xlabel, ylabel : str
        Axis labels.
    points : (array of shape (p,), array of shape (p,)), optional
        Horizontal and vertical coordinates of data points.
    styles : sequence of mappings, optional
        For each curve the properties of its :class:`~matplotlib.lines.Line2D`, such as
        ``{"color": COLORS["ink"], "linestyle": "--"}``.
    direct : bool, default True
        Write each label at the right end of its curve, in its colour, moved apart where they
        would overlap.  False makes a legend, for curves that end together or have long labels.
    xscale, yscale : str, default "linear"
        Scales of the axes, such as ``"log"``.  Set them here: labels are placed for them.
    ylim : (float, float), optional
        Limits of the vertical axis.
    figsize : (float, float), optional
        Width and height in inches, by default those of the style in use.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, in place of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, open in pyplot.  In a notebook assign it, or end the line with a semicolon,
        so that it is not shown twice.

    Raises
    ------
    ValueError
        If the numbers of curves, labels and styles differ, or a curve is not as long as `x`.
    TypeError
        If an array does not hold real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib.plotting import plot_curves
    >>> x = np.linspace(0.0, 3.0, 31)
    >>> fig = plot_curves(x, [x, x**2], labels=["x", "x squared"], xlabel="x", ylabel="y")
    >>> [line.get_label() for line in fig.axes[0].lines]
    ['x', 'x squared']
    """
    across = _numbers("x", x)
    if across.ndim != 1:
        raise ValueError(f"x: expected shape (n,), got {across.shape}")
    heights = [_numbers(f"curves[{i}]", curve) for i, curve in enumerate(curves)]
    for i, height in enumerate(heights):
        if height.shape != across.shape:
            raise ValueError(
                f"curves[{i}]: expected the shape of x, {across.shape}, got {height.shape}"
            )
    if isinstance(labels, str) or len(labels) != len(heights):
        raise ValueError(f"labels: expected {len(heights)} strings, one a curve, got {labels!r}")
    if styles is not None and len(styles) != len(heights):
        raise ValueError(
            f"styles: expected {len(heights)} mappings, one a curve, got {len(styles)}"
        )

    if ax is None:
        _, ax = plt.subplots(figsize=figsize, layout="constrained")
    fig = ax.get_figure(root=True)
    assert fig is not None  # axes that are drawn on belong to a figure
    if points is not None:
        right, up = (_numbers(f"points[{i}]", coordinate) for i, coordinate in enumerate(points))
        ax.scatter(right, up, s=16, color=COLORS["muted"], alpha=0.7, linewidths=0, zorder=1.5)
    lines = [
        ax.plot(across, height, **{"label": label, **style})[0]
        for height, label, style in zip(heights, labels, styles or [{}] * len(heights), strict=True)
    ]
    ax.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale)
    if ylim is not None:
        ax.set_ylim(*ylim)
    if direct:
        _label_ends(ax, lines)
    else:
        ax.legend()
    return fig


def _numbers(name: str, array: Array) -> Floats:
    """Copy an array of any framework to the host, without gradients, in float64."""
    if framework_of(array) == "torch":
        array = array.detach().cpu()
        array = array if array.is_complex() else array.double()  # NumPy knows no bfloat16
    numbers = np.asarray(array)
    try:
        return numbers.astype(np.float64, casting="same_kind")
    except TypeError:
        raise TypeError(f"{name}: expected real numbers, got dtype {numbers.dtype}") from None


def _cells(name: str, positions: Array | None, count: int) -> tuple[NDArray[np.intp], Floats]:
    """Give the order in which cells are drawn, and the ``count + 1`` edges between them."""
    if positions is None:
        return np.arange(count), np.arange(count + 1, dtype=np.float64) - 0.5
    places = _numbers(name, positions)
    if places.shape != (count,):
        raise ValueError(f"{name}: expected shape ({count},), a position each, got {places.shape}")
    order = np.argsort(places, kind="stable")
    places = places[order]
    gaps = np.diff(places)
    if not np.isfinite(places).all() or not (gaps > 0).all():
        raise ValueError(f"{name}: expected finite and distinct positions, got {places}")
    if count == 1:
        return order, np.array([places[0] - 0.5, places[0] + 0.5])
    middles = places[:-1] + gaps / 2
    first, last = places[0] - gaps[0] / 2, places[-1] + gaps[-1] / 2
    return order, np.array([first, *middles, last])


def _limits(weights: Floats) -> tuple[float, float]:
    """Give the ends of a colour scale that contains 0 and every weight that is not NaN."""
    known = weights[~np.isnan(weights)]
    low, high = float(known.min(initial=0.0)), float(known.max(initial=0.0))
    return low, (high if high > low else low + 1.0)


def _label_ends(ax: Axes, lines: Sequence[Any]) -> None:
    """Write each line's label beside its right end, moved apart where labels would overlap."""
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]  # final limits and heights
    ends = []  # in pixels from the bottom of the figure
    bottom, top = ax.get_window_extent().intervaly
    for line in lines:
        path = line.get_transform().transform(line.get_xydata())
        known = path[np.isfinite(path).all(axis=1), 1]
        ends.append(float(np.clip(known[-1], bottom, top)) if known.size else bottom)
    pixel = 72 / ax.figure.dpi  # in points
    size = FontProperties(size=plt.rcParams["legend.fontsize"]).get_size_in_points()
    places = _spread(np.array(ends), 1.25 * size / pixel)
    for line, place in zip(lines, places, strict=True):
        ax.annotate(
            line.get_label(),
            xy=(1.0, 0.0),
            xycoords="axes fraction",
            xytext=(6.0, (place - bottom) * pixel),
            textcoords="offset points",
            va="center",
            fontsize=size,
            color=line.get_color(),
            annotation_clip=False,
        )


def _spread(places: Floats, gap: float) -> Floats:
    """Move places as little as possible (least squares) until neighbours are a gap apart.

    After subtracting 0, gap, 2 gap, ... from the sorted places this is isotonic regression:
    neighbours in the wrong order are pooled into their mean.
    """
    order = np.argsort(places, kind="stable")
    shift = gap * np.arange(len(places))
    pools: list[list[float]] = []
    for place in places[order] - shift:
        pools.append([place])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    moved = np.empty_like(places)
    moved[order] = [np.mean(pool) for pool in pools for _ in pool] + shift
    return moved
