"""The database {(2, 10), (5, 20)}: weights and output for every query and bandwidth."""

from __future__ import annotations

import altair as alt
import controls
import estimator
import panels

ENDS = (-1.0, 8.0)
#: The page's first score, -(q - k)^2, has the bandwidth 1/sqrt(2). Both ends are so far out that
#: the weights are those of the limits, to the last digit.
BANDWIDTHS = [1e-9, *controls.ladder(0.1, 0.63), 0.5**0.5, *controls.ladder(0.8, 100), 1e9]


def chart() -> alt.VConcatChart:
    """Draw the output over the query, with the stored pairs, above the two weights."""
    last = len(BANDWIDTHS) - 1
    limits = f"bandwidth_step == 0 ? '→ 0' : bandwidth_step == {last} ? '→ ∞'"
    return panels.figure(
        outputs(),
        panels.weights(ENDS, "Query and keys", width=28),
        params=[
            *controls.slider("query", "Query q", 4.0, ENDS, 0.05),
            *controls.rungs("bandwidth", "Bandwidth", 0.5**0.5, BANDWIDTHS),
            alt.param(name="kernel", value="gaussian"),
            alt.param(name="keys", value=[2.0, 5.0]),
            alt.param(name="values", value=[10.0, 20.0]),
        ],
        shows={
            "query": "format(query, '.2f')",
            "bandwidth_step": f"{limits} : format(bandwidth, '.3~r')",
        },
        numbers=[
            panels.number("Weight of the key 2", "weights", "weight", 4),
            panels.number("Weight of the key 5", "weights", "weight", 4, row=1),
            panels.number("Output", "output", "estimate", 4),
        ],
        pointer=("query", "x"),
    )


def outputs() -> alt.LayerChart:
    """Draw the curve of all outputs, the stored pairs, and the output of the query."""
    at = panels.axes(ENDS, (8.0, 22.0), (None, "Output"))
    grid = estimator.rows(901, q="datum.i / 100 - 1")
    curve = estimator.pool(estimator.compare_all(grid), "i", "q")
    stored = estimator.pairs(estimator.rows(1))
    output = estimator.pool(estimator.compare_one()).transform_calculate(q="query")
    return alt.layer(
        panels.at_query(at),
        panels.line(curve, *at("q", "estimate")),
        panels.dot(stored, *at("key", "value"), color="ink", size=80),
        panels.dot(output, *at("q", "estimate")).properties(name="output"),
        panels.key(
            ("stored pair", panels.sample_dot(fill="ink", size=80)),
            ("output of the query", panels.sample_dot(fill="vermillion")),
        ),
    ).properties(height=220)
