"""The weights of all queries over all keys of the section's data, as a heat map."""

from __future__ import annotations

import altair as alt
import controls
import estimator
import panels

ENDS = (0.0, 5.0)
LIGHT = "#fefefe"  # the same in both themes, as the colours of the weights are


def chart() -> alt.VConcatChart:
    """Draw the heat map above the row of the query."""
    return panels.figure(
        heat_map(),
        panels.weights(ENDS, "Key"),
        params=[
            *controls.rungs("bandwidth", "Bandwidth", 0.5, controls.ladder(0.05, 5)),
            *controls.slider("query", "Query q", 2.0, (0.0, 4.9), 0.1),
            *controls.choice("kernel", "Kernel", estimator.KERNELS),
            *estimator.section(),
        ],
        shows={"query": "format(query, '.1f')", "bandwidth_step": "format(bandwidth, '.3~r')"},
        numbers=[
            panels.number("Largest weight of all", "largest", "largest", 3),
            panels.number("Effective keys at q", "here", "effective", 2),
            panels.number("Median effective keys", "median", "effective", 2),
        ],
        pointer=("query", "concat_0_y"),
    )


def heat_map() -> alt.LayerChart:
    """Draw a cell for each query and key, as wide as the key's surroundings."""
    at = panels.axes(ENDS, (-0.05, 4.95), (None, "Query"), grid=False)
    columns = {"left": "slice(edges, 0, -1)", "right": "slice(edges, 1)"}
    pairs = estimator.pairs(estimator.rows(50, q="datum.i / 10"), **columns)
    bare = alt.Chart()
    weighed = estimator.weigh(bare, "i")
    cells = weighed.transform_calculate(bottom="datum.q - 0.05", top="datum.q + 0.05")
    color = alt.Color(
        "weight:Q",
        title="Weight",
        scale=alt.Scale(type="sqrt", domain=(0, 1), scheme="viridis"),
        legend=alt.Legend(orient="top", gradientLength=180, values=[0, 0.1, 0.5, 1]),
    )
    place = {"x2": "right:Q", "y2": "top:Q", "color": color}
    effective = estimator.pool(bare, "i").transform_aggregate(effective="median(effective)")
    return alt.layer(
        panels.together(
            estimator.compare(pairs, "abs(datum.q - datum.key)", "i"),
            cells.mark_rect(clip=True, strokeWidth=0)
            .encode(*at("left", "bottom"), **place)
            .properties(name="cells"),
            panels.unseen(weighed.transform_aggregate(largest="max(weight)"), "largest"),
            panels.unseen(effective, "median"),
        ),
        row_of_the_query(at),
        panels.unseen(estimator.pool(estimator.compare_one()), "here"),
    ).properties(height=320)


def row_of_the_query(at: panels.Axes) -> alt.LayerChart:
    """Frame the row of the query."""
    sides = estimator.rows(2, side="query + (datum.i - 0.5) / 10")
    return sides.mark_rule(color=LIGHT).encode(at("side", "side")[1])
