"""The kernel estimator as transforms that Vega computes in the reader's browser."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import altair as alt
import controls

from attnlib.data import section_data

KERNELS = {name: name.title() for name in ("gaussian", "boxcar", "triangular", "constant")}
DRAWS = {"torch": "PyTorch", "jax": "JAX"}


def section() -> controls.Params:
    """Return the section's data and the choice between the two draws.

    The numbers are float32 as drawn, written so that the browser reads exactly these. The edges lie
    halfway between neighbouring keys.
    """
    drawn = {}
    for framework in DRAWS:
        data = section_data(framework)
        keys = data.x_train.tolist()
        middles = [(left + right) / 2 for left, right in pairwise(keys)]
        edges = [2 * keys[0] - middles[0], *middles, 2 * keys[-1] - middles[-1]]
        drawn[framework] = {"keys": keys, "values": data.y_train.tolist(), "edges": edges}
    return [
        *controls.choice("draw", "Data drawn by", DRAWS),
        alt.param(name="drawn", value=drawn),
        alt.param(name="keys", expr="drawn[draw].keys"),
        alt.param(name="values", expr="drawn[draw].values"),
        alt.param(name="edges", expr="drawn[draw].edges"),
    ]


def rows(n: int, **columns: str) -> alt.Chart:
    """Return n rows that number from 0 in the column ``i``, with columns computed from it."""
    return alt.Chart(alt.sequence(0, n, as_="i")).transform_calculate(**columns)


def pairs(queries: alt.Chart, **columns: str) -> Any:
    """Give each query a row for each key and its value (and for each item of further lists)."""
    columns = {"key": "keys", "value": "values", **columns}
    return queries.transform_calculate(**columns).transform_flatten(list(columns))


EMPTY = "(kernel == 'boxcar' ? datum.nearest > 1 : kernel == 'triangular' && datum.nearest >= 1)"
#: The kernel of u; the Gaussian is divided by that of the nearest key, so that it cannot underflow
#: for all keys. Where no key is in reach the nearest takes all, shared among ties, as in attnlib.
SIMILARITY = (
    "kernel == 'gaussian' ? exp((datum.nearest - datum.u) * (datum.nearest + datum.u) / 2)"
    " : kernel == 'constant' ? 1"
    f" : {EMPTY} ? datum.u == datum.nearest"
    " : kernel == 'boxcar' ? datum.u <= 1"
    " : max(0, 1 - datum.u)"
)


def compare(pairs: Any, distance: str, *per: str) -> Any:
    """Add each pair's similarity, by the parameters ``bandwidth`` and ``kernel``.

    Parameters
    ----------
    pairs : altair chart
        A row for each pair of a query and a key.
    distance : str
        How far they are from one another, as an expression.
    *per : str
        The columns that tell one query from another.
    """
    return (
        pairs.transform_calculate(u=f"({distance}) / bandwidth")
        .transform_joinaggregate(nearest="min(u)", groupby=list(per))
        .transform_calculate(similarity=f"+({SIMILARITY})")
    )


def compare_one() -> Any:
    """Compare the query of the slider with all keys."""
    return compare(pairs(rows(1)), "abs(query - datum.key)")


def compare_all(queries: alt.Chart) -> Any:
    """Compare each query, in the column ``q`` of a chart, with all keys."""
    return compare(pairs(queries), "abs(datum.q - datum.key)", "i")


def weigh(compared: Any, *per: str) -> Any:
    """Add each pair's weight."""
    total = compared.transform_joinaggregate(total="sum(similarity)", groupby=list(per))
    return total.transform_calculate(weight="datum.similarity / datum.total")


def pool(compared: Any, *per: str) -> Any:
    """Reduce the pairs of each query to its estimate and its effective number of keys."""
    return (
        compared.transform_calculate(
            part="datum.similarity * datum.value", square="datum.similarity * datum.similarity"
        )
        .transform_aggregate(
            total="sum(similarity)",
            part="sum(part)",
            square="sum(square)",
            nearest="min(nearest)",
            groupby=list(per),
        )
        .transform_calculate(
            estimate="datum.part / datum.total",
            effective="datum.total * datum.total / datum.square",
            empty=f"+{EMPTY}",
        )
    )
