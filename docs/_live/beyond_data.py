"""Queries beyond the section's data: the estimate goes flat, the truth goes on."""

from __future__ import annotations

from typing import Any

import altair as alt
import controls
import estimator
import panels

from attnlib.plotting import COLORS

ENDS = (0.0, 20.0)
#: The kernel itself, not divided by that of the nearest key: its sum can underflow to 0.
PLAIN = (
    "kernel == 'gaussian' ? exp(-datum.u * datum.u / 2) : kernel == 'constant' ? 1"
    " : kernel == 'boxcar' ? datum.u <= 1 : max(0, 1 - datum.u)"
)


def chart() -> alt.VConcatChart:
    """Draw estimate and truth far beyond the keys, above the weights of the query."""
    return panels.figure(
        curves(),
        panels.weights(ENDS, "Query and keys"),
        params=[
            *controls.slider("query", "Query q", 8.0, ENDS, 0.1),
            *controls.rungs("bandwidth", "Bandwidth", 0.5, controls.ladder(0.1, 5)),
            *controls.choice("kernel", "Kernel", estimator.KERNELS),
            *estimator.section(),
        ],
        shows={"query": "format(query, '.1f')", "bandwidth_step": "format(bandwidth, '.3~r')"},
        numbers=[
            panels.number("Estimate at q", "here", "estimate", 3),
            panels.number("Truth at q", "here", "truth", 3),
            panels.number("Weight of the last key", "weights", "weight", 4, row=39),
            panels.number("Kernel over its sum", "plain", "estimate", 3),
        ],
        pointer=("query", "x"),
    )


def curves() -> alt.LayerChart:
    """Draw the two curves, and the band between the smallest and the largest value."""
    at = panels.axes(ENDS, (-2.0, 24.0), (None, "Estimate"))
    # Fine where the keys are, coarse beyond them
    grid = estimator.rows(161, q="datum.i < 100 ? datum.i / 20 : 5 + (datum.i - 100) / 4")
    truth = "2 * sin(datum.q) + datum.q"
    here = estimator.pool(estimator.compare_one()).transform_calculate(q="query")
    band = estimator.rows(1, low="extent(values)[0]", high="extent(values)[1]")
    area = band.mark_rect(color=COLORS["grid"], opacity=0.5)
    return alt.layer(
        area.encode(at("low", "low")[1], y2="high:Q"),
        panels.at_query(at),
        panels.line(grid.transform_calculate(truth=truth), *at("q", "truth"), **panels.TRUTH),
        panels.line(
            estimator.pool(estimator.compare_all(grid), "i", "q"), *at("q", "estimate")
        ).properties(name="fitted"),
        panels.dot(estimator.pairs(estimator.rows(1)), *at("key", "value"), color="muted", size=18),
        panels.dot(here.transform_calculate(truth=truth), *at("q", "estimate")).properties(
            name="here"
        ),
        plain(),
        panels.key(
            ("estimate", panels.sample_line()),
            ("truth", panels.sample_line(**panels.TRUTH)),
            ("range of the values", panels.sample_line("grid", strokeWidth=10)),
        ),
    ).properties(height=280)


def plain() -> Any:
    """Compute the estimate as it is written, kernel over sum; nothing is drawn."""
    pairs = estimator.compare_one().transform_calculate(plain=f"+({PLAIN})")
    estimate = (
        pairs.transform_calculate(part="datum.plain * datum.value")
        .transform_aggregate(part="sum(part)", total="sum(plain)")
        .transform_calculate(estimate="datum.part / datum.total")
    )
    return panels.unseen(estimate, "plain")
