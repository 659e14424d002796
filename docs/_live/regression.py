"""Kernel regression on the section's data: estimate, weights and errors."""

from __future__ import annotations

from typing import Any

import altair as alt
import controls
import estimator
import panels

from attnlib.plotting import COLORS

ENDS = (0.0, 5.0)
HEIGHT = 280
FOOT = alt.value(HEIGHT - 7)
TRUTH = "2 * sin(datum.q) + datum.q"
BLUE = COLORS["blue"]
CIRCLE = {"stroke": BLUE, "strokeWidth": 1.5, "size": 70}


def chart() -> alt.VConcatChart:
    """Draw estimate, truth and observations above the weights of the query."""
    return panels.figure(
        curves(),
        panels.weights(ENDS, "Query and keys"),
        params=[
            *controls.slider("query", "Query q", 2.0, ENDS, 0.05),
            *controls.rungs("bandwidth", "Bandwidth", 0.5, controls.ladder(0.05, 5)),
            *controls.choice("kernel", "Kernel", estimator.KERNELS),
            *estimator.section(),
        ],
        shows={"query": "format(query, '.2f')", "bandwidth_step": "format(bandwidth, '.3~r')"},
        numbers=[
            panels.number("Estimate at q", "here", "estimate", 3),
            panels.number("Truth at q", "here", "truth", 3),
            panels.number("Effective keys at q", "here", "effective", 2),
            panels.number("Mean squared error", "errors", "mse", 3),
            panels.number("Empty queries of 50", "errors", "empty", 0),
        ],
        pointer=("query", "x"),
    )


def curves() -> alt.LayerChart:
    """Draw the two curves, the observations shaded by their weights, and the query's estimate."""
    at = panels.axes(ENDS, (-3.0, 8.0), (None, "Estimate"))
    # Of the hundred steps of 0.05 each second is one of the section's fifty queries.
    grid = estimator.rows(101, q="datum.i / 20")
    here = estimator.pool(estimator.compare_one()).transform_calculate(q="query")
    here = here.transform_calculate(truth=TRUTH)
    bare = alt.Chart()
    return alt.layer(
        panels.at_query(at),
        panels.line(grid.transform_calculate(truth=TRUTH), *at("q", "truth"), **panels.TRUTH),
        panels.together(
            estimator.pool(estimator.compare_all(grid), "i", "q"),
            panels.empty(bare.transform_filter("datum.empty")).encode(*at("q"), y=FOOT),
            panels.line(bare, *at("q", "estimate")).properties(name="fitted"),
            errors(bare),
        ),
        observed().encode(*at("key", "value")),
        panels.dot(here, *at("q", "estimate")).properties(name="here"),
        panels.key(
            ("estimate", panels.sample_line()),
            ("truth", panels.sample_line(**panels.TRUTH)),
            ("observation", panels.sample_dot("blue", **CIRCLE, fillOpacity=0.4)),
        ),
    ).properties(height=HEIGHT)


def observed() -> Any:
    """Draw the observations, filled by their share of the largest weight."""
    shares = (
        estimator.weigh(estimator.compare_one())
        .transform_joinaggregate(most="max(weight)")
        .transform_calculate(share="datum.weight / datum.most")
    )
    shade = alt.FillOpacity("share:Q", scale=alt.Scale(domain=(0, 1), range=(0.06, 1)), legend=None)
    return shares.mark_point(fill=BLUE, **CIRCLE, clip=True, opacity=1).encode(shade)


def errors(fitted: Any) -> Any:
    """Reduce the section's fifty queries to two numbers; nothing is drawn."""
    errors = (
        fitted.transform_filter("datum.i % 2 == 0 && datum.i < 100")
        .transform_calculate(square=f"pow(datum.estimate - ({TRUTH}), 2)")
        .transform_aggregate(mse="mean(square)", empty="sum(empty)")
    )
    return panels.unseen(errors, "errors")
