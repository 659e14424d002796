"""Look inside the figures: what is drawn, where, in which colour, and what is refused."""

from __future__ import annotations

import io
import re
from importlib.resources import files
from itertools import combinations

import jax.numpy as jnp
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlib.plotting import COLORS, DARK_TWINS, _spread, plot_curves, show_heatmaps

WEIGHTS = np.array([[[[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]], [[0.125, 0.0, 0.0], [0.0, 0.25, 0.0]]]])
AXES = {"xlabel": "Keys", "ylabel": "Queries"}


@pytest.fixture(autouse=True)
def _style():
    mpl.use("agg")
    with plt.style.context("attnlib.figures"):
        yield
    plt.close("all")


def meshes(fig):
    """The heat maps of a figure, without its colour bars."""
    return [m for ax in fig.axes if ax.get_label() != "<colorbar>" for m in ax.collections]


def bars(fig):
    return [ax for ax in fig.axes if ax.get_label() == "<colorbar>"]


def svg(fig) -> str:
    file = io.StringIO()
    fig.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


# Colours


def linear(color: str) -> np.ndarray:
    """Linear RGB of a hexadecimal colour (IEC 61966-2-1)."""
    c = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2.2."""
    low, high = sorted(linear(color) @ [0.2126, 0.7152, 0.0722] for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of linear RGB, white D65."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ rgb / [0.9505, 1.0, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Protanopia, deuteranopia, tritanopia in linear RGB: Machado, Oliveira and Fernandes (2009).
SIGHT = {
    "all cones": np.eye(3),
    "no L cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no M cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no S cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


# All but the two that carry no meaning.
@pytest.mark.parametrize("name", sorted(COLORS.keys() - {"grid", "paper"}))
def test_colours_stand_out_on_both_pages(name):
    least = 4.5 if name in {"ink", "muted"} else 3.0  # text, and graphics
    assert contrast(COLORS[name], COLORS["paper"]) >= least
    assert contrast(DARK_TWINS[COLORS[name]], DARK_TWINS[COLORS["paper"]]) >= least


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("twin", [str, DARK_TWINS.get], ids=["light", "dark"])
def test_colours_stay_apart_for_every_eye(sight, twin):
    seen = {
        name: lab(np.clip(np.array(SIGHT[sight]) @ linear(twin(color)), 0, 1))
        for name, color in COLORS.items()
        if name not in {"grid", "paper"}
    }
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 20, (one, other)


def test_twins_pair_each_colour_with_one_of_its_own():
    assert list(DARK_TWINS) == list(COLORS.values())
    assert len(set(COLORS.values())) == len(set(DARK_TWINS.values())) == len(COLORS)


def test_style_uses_colours_of_the_table_only():
    text = (files("attnlib") / "figures.mplstyle").read_text(encoding="utf-8")
    rules = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found = {f"#{color}" for color in re.findall(r"\b[0-9a-f]{6}\b", rules)}
    assert len(found) > 5
    assert found <= set(COLORS.values())


def test_svg_has_colours_of_the_table_only_and_the_same_bytes_each_time():
    def draw():
        fig, axes = plt.subplots(1, 2)
        plot_curves(range(3), np.eye(3), labels=list("abc"), ax=axes[0], points=([1], [1]), **AXES)
        plot_curves(range(3), np.eye(3), labels=list("abc"), ax=axes[1], direct=False, **AXES)
        return svg(fig) + svg(show_heatmaps(WEIGHTS, titles=["one", "two"], **AXES))

    first = draw()
    found = set(re.findall(r"#[0-9a-f]{6}\b", first))
    assert found <= set(COLORS.values())
    assert {COLORS[name] for name in ("ink", "muted", "grid", "blue", "vermillion")} <= found
    assert first == draw()


# Heat maps


@pytest.mark.parametrize(
    "convert",
    [
        np.float16,
        lambda a: a.tolist(),
        lambda a: torch.tensor(a, requires_grad=True),
        lambda a: torch.tensor(a, dtype=torch.bfloat16, requires_grad=True) * 1,
        lambda a: jnp.asarray(a, dtype=jnp.float32),
        lambda a: jnp.asarray(a, dtype=jnp.bfloat16),
    ],
    ids=["numpy", "list", "torch gradient", "torch bfloat16", "jax", "jax bfloat16"],
)
def test_heatmaps_of_every_framework(convert):
    fig = show_heatmaps(convert(WEIGHTS), **AXES)
    for mesh, matrix in zip(meshes(fig), WEIGHTS[0], strict=True):
        np.testing.assert_array_equal(mesh.get_array().reshape(matrix.shape), matrix)


def test_one_scale_from_zero_for_all_panels():
    fig = show_heatmaps(0.5 * WEIGHTS, **AXES)
    assert [mesh.get_clim() for mesh in meshes(fig)] == [(0, 0.5)] * 2
    (bar,) = bars(fig)
    assert bar.get_ylim() == (0, 0.5)
    assert bar.get_ylabel() == "Weight"


def test_a_scale_for_each_panel():
    fig = show_heatmaps(WEIGHTS, shared_scale=False, **AXES)
    assert [mesh.get_clim() for mesh in meshes(fig)] == [(0, 1), (0, 0.25)]
    assert [bar.get_ylim() for bar in bars(fig)] == [(0, 1), (0, 0.25)]


def test_scale_of_zeros_and_of_signed_weights():
    assert meshes(show_heatmaps(np.zeros((1, 1, 2, 2)), **AXES))[0].get_clim() == (0, 1)
    assert meshes(show_heatmaps(-WEIGHTS, **AXES))[0].get_clim() == (-1, 0)


def test_nan_is_blank_and_outside_the_scale():
    (mesh,) = meshes(show_heatmaps([[[[np.nan, 0.5]]]], **AXES))
    assert mesh.get_clim() == (0, 0.5)
    np.testing.assert_array_equal(np.ma.getmaskarray(mesh.get_array()).ravel(), [True, False])
    all_nan = show_heatmaps(np.full((1, 1, 2, 2), np.nan), **AXES)
    assert meshes(all_nan)[0].get_clim() == (0, 1)


def edges(mesh):
    corners = np.asarray(mesh.get_coordinates())
    return corners[0, :, 0].tolist(), corners[:, 0, 1].tolist()


def test_cells_reach_halfway_to_their_neighbours():
    fig = show_heatmaps(WEIGHTS, key_positions=[0.0, 1.0, 4.0], query_positions=[2.0, 3.0], **AXES)
    for mesh in meshes(fig):
        assert edges(mesh) == ([-0.5, 0.5, 2.5, 5.5], [1.5, 2.5, 3.5])
    low, high = fig.axes[0].get_ylim()
    assert low < high  # coordinates grow upwards


def test_positions_in_any_order_and_any_framework():
    fig = show_heatmaps(
        WEIGHTS,
        key_positions=torch.tensor([4.0, 0.0, 1.0], requires_grad=True),
        query_positions=jnp.array([3.0, 2.0]),
        **AXES,
    )
    mesh = meshes(fig)[0]
    assert edges(mesh) == ([-0.5, 0.5, 2.5, 5.5], [1.5, 2.5, 3.5])
    np.testing.assert_array_equal(
        mesh.get_array().reshape(2, 3), [[0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]
    )


def test_without_positions_row_0_is_on_top():
    fig = show_heatmaps(WEIGHTS, **AXES)
    assert edges(meshes(fig)[0]) == ([-0.5, 0.5, 1.5, 2.5], [-0.5, 0.5, 1.5])
    assert [ax.get_ylim() for ax in fig.axes[:2]] == [(1.5, -0.5)] * 2


@pytest.mark.parametrize("count", [1, 2, 7])
def test_rows_and_columns_are_counted_in_whole_numbers(count):
    fig = show_heatmaps(np.ones((1, 1, count, count)), **AXES)
    fig.draw_without_rendering()
    ticks = np.concatenate([fig.axes[0].get_xticks(), fig.axes[0].get_yticks()])
    np.testing.assert_array_equal(ticks, ticks.round())


def test_a_single_key_has_a_cell_of_width_one():
    fig = show_heatmaps([[[[1.0]]]], key_positions=[3.0], query_positions=[-1.0], **AXES)
    assert edges(meshes(fig)[0]) == ([2.5, 3.5], [-1.5, -0.5])


def test_grid_of_panels_with_titles_row_after_row_and_labels_on_the_edge():
    fig = show_heatmaps(np.zeros((2, 2, 3, 4)), titles=list("abcd"), **AXES)
    panels = fig.axes[:4]
    assert [ax.get_title() for ax in panels] == list("abcd")
    assert [ax.get_xlabel() for ax in panels] == ["", "", "Keys", "Keys"]
    assert [ax.get_ylabel() for ax in panels] == ["Queries", "", "Queries", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrices": np.eye(3)}, r"matrices: .*\(rows, columns, queries, keys\).*\(3, 3\)"),
        ({"matrices": np.zeros((1, 1, 0, 3))}, r"matrices: .*\(1, 1, 0, 3\)"),
        ({"matrices": np.full((1, 1, 2, 2), np.inf)}, "matrices: .*infinite"),
        ({"titles": ["one"]}, r"titles: expected 2 strings, .*1 x 2 panels.*, got 1"),
        ({"titles": ["one", "two", "three"]}, r"titles: expected 2 .*, got 3"),
        ({"titles": "ab"}, "titles: expected 2 strings.*, got 'ab'"),
        ({"key_positions": [0, 1]}, r"key_positions: expected shape \(3,\).*, got \(2,\)"),
        ({"key_positions": np.zeros((3, 1))}, r"key_positions: expected shape \(3,\).*\(3, 1\)"),
        ({"key_positions": [0, 1, 1]}, r"key_positions: expected finite and distinct .*1\. 1\."),
        ({"query_positions": [0, np.nan]}, "query_positions: expected finite and distinct"),
    ],
)
def test_heatmaps_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        show_heatmaps(**{"matrices": WEIGHTS, **AXES, **arguments})
    assert plt.get_fignums() == []  # nothing half drawn stays open


@pytest.mark.parametrize("make", [np.asarray, torch.tensor, jnp.asarray])
def test_heatmaps_refuse_complex_numbers(make):
    with pytest.raises(TypeError, match=r"matrices: expected real numbers, got dtype complex"):
        show_heatmaps(make([[[[1j]]]]), **AXES)


def test_functions_show_their_figure_and_change_no_setting():
    before = dict(mpl.rcParams)
    figs = [show_heatmaps(WEIGHTS, **AXES), plot_curves([0, 1], [[0, 1]], labels=["a"], **AXES)]
    assert [plt.figure(number) for number in plt.get_fignums()] == figs  # what plt.show() shows
    assert dict(mpl.rcParams) == before


def test_works_in_the_default_style():
    with plt.style.context("default"):
        svg(show_heatmaps(WEIGHTS, **AXES))
        svg(plot_curves([0, 1], [[0, 1]], labels=["a"], **AXES))


# Curves


def test_as_many_curves_and_labels_as_given():
    x = np.linspace(0, 1, 5)
    names = [f"curve {i}" for i in range(12)]
    fig = plot_curves(x, [i * x for i in range(12)], labels=names, **AXES)
    (ax,) = fig.axes
    assert [line.get_label() for line in ax.lines] == names
    assert [text.get_text() for text in ax.texts] == names
    for i, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_xydata(), np.stack([x, i * x], axis=1))
    assert [text.get_color() for text in ax.texts] == [line.get_color() for line in ax.lines]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Keys", "Queries")


def test_curves_of_every_framework_and_points():
    fig = plot_curves(
        torch.arange(3.0),
        [torch.ones(3, requires_grad=True), jnp.zeros(3, dtype=jnp.bfloat16), [1, 2, 3]],
        labels=["a", "b", "c"],
        points=(torch.tensor([0.5, 1.5]), jnp.array([2.0, 4.0])),
        **AXES,
    )
    lines, dots = fig.axes[0].lines, fig.axes[0].collections[0]
    assert [line.get_ydata().tolist() for line in lines] == [[1, 1, 1], [0, 0, 0], [1, 2, 3]]
    np.testing.assert_array_equal(dots.get_offsets(), [[0.5, 2.0], [1.5, 4.0]])


def test_size():
    curves = plot_curves([0, 1], [[0, 1]], labels=["a"], figsize=(3, 2), **AXES)
    maps = show_heatmaps(WEIGHTS, figsize=(3, 2), **AXES)
    assert [tuple(fig.get_size_inches()) for fig in (curves, maps)] == [(3, 2)] * 2


def test_styles_legend_limits_and_given_axes():
    fig, ax = plt.subplots()
    looks = [{"linestyle": "--"}, {"color": COLORS["ink"]}]
    curves = np.array([[1.0, 2.0], [3.0, 4.0]])
    given = {"styles": looks, "direct": False, "ylim": (0.5, 9), "yscale": "log", "ax": ax}
    assert plot_curves([1, 2], curves, labels=["a", "b"], **given, **AXES) is fig
    assert ax.lines[0].get_linestyle() == "--"
    assert ax.lines[1].get_color() == COLORS["ink"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert ax.get_ylim() == (0.5, 9)
    assert ax.get_yscale() == "log"
    assert plt.get_fignums() == [fig.number]


@pytest.mark.parametrize("yscale", ["linear", "log"])
def test_labels_stand_beside_their_ends_and_apart(yscale):
    curves = [[20.0, 1.0], [30.0, 1.001], [1.0, 100.0], [50.0, np.nan]]
    fig = plot_curves([0, 1], curves, labels=list("abcd"), yscale=yscale, **AXES)
    fig.draw_without_rendering()
    (ax,) = fig.axes
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(box.x0 > ax.get_window_extent().x1 for box in boxes)
    assert max(box.x1 for box in boxes) < fig.bbox.x1
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    middles = [(box.y0 + box.y1) / 2 for box in boxes]
    targets = [ax.transData.transform((1, end))[1] for end in (1.0, 1.001, 100.0, 50.0)]
    np.testing.assert_allclose(middles[2:], targets[2:], atol=6)  # free ones do not move
    np.testing.assert_allclose(middles[:2], targets[:2], atol=30)
    assert middles[0] < middles[1]


def test_a_curve_that_is_nowhere_known_keeps_its_label():
    fig = plot_curves([0, 1], [[np.nan, np.nan], [0, 1]], labels=["a", "b"], **AXES)
    assert [text.get_text() for text in fig.axes[0].texts] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": [[0, 1]]}, r"x: expected shape \(n,\), got \(1, 2\)"),
        ({"curves": [[0, 1], [0, 1, 2]]}, r"curves\[1\]: expected .*\(2,\), got \(3,\)"),
        ({"labels": ["a"]}, r"labels: expected 2 strings.*, got \['a'\]"),
        ({"labels": list("abc")}, r"labels: expected 2 strings"),
        ({"labels": "ab"}, r"labels: expected 2 strings.*'ab'"),
        ({"styles": [{}]}, r"styles: expected 2 mappings.*, got 1"),
    ],
)
def test_curves_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_curves(**{"x": [0, 1], "curves": np.eye(2), "labels": ["a", "b"], **AXES, **arguments})
    assert plt.get_fignums() == []


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12), st.floats(0.1, 50))
def test_spread_keeps_order_distance_and_mean(places, gap):
    places = np.array(places)
    moved = _spread(places, gap)
    order = np.argsort(places, kind="stable")
    steps = np.diff(moved[order])
    assert (steps >= gap - 1e-9).all()
    assert moved.mean() == pytest.approx(places.mean(), abs=1e-9)
    if (np.diff(places[order]) >= gap).all():
        np.testing.assert_allclose(moved, places, atol=1e-9)
