"""Retrieval among random keys on a sphere: the weight on the right key."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import controls
import estimator
import numpy as np
import panels

from attnlib.data import standard_normal, unit_sphere

DIMENSION = 16
MOST = 200
DIRECTIONS = {"0": "first", "1": "second"}
DECIMALS = 12  # of squares: enough for nine in the weights, and a lighter page
NUMBERS = [2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 140, 200]
HEIGHT = 160


def nine_tenths(m: int) -> float:
    """Return the bandwidth that would give orthogonal keys the weight 0.9 without noise."""
    return 1 / math.sqrt(math.log(9 * (m - 1)))


BANDWIDTHS = sorted([*controls.ladder(0.1, 2), nine_tenths(20), nine_tenths(200)])


def database(framework: str) -> dict[str, Any]:
    """Draw keys and some noises, and reduce them to what distances are made of.

    The query is the first key plus tau times a noise z; its squared distance from key k is
    apart - 2 tau along + tau^2 length, where apart = |k - k_1|^2, along = z.(k - k_1) and
    length = |z|^2.
    """
    keys = unit_sphere(framework, MOST, DIMENSION, seed=3)
    noise = standard_normal(framework, (len(DIRECTIONS), DIMENSION), seed=4)
    keys, noise = (np.asarray(draw, dtype=np.float64) for draw in (keys, noise))
    gaps = keys - keys[0]
    return {
        "apart": (gaps**2).sum(-1).round(DECIMALS).tolist(),
        "along": (noise @ gaps.T).round(DECIMALS).tolist(),
        "length": (noise**2).sum(-1).round(DECIMALS).tolist(),
    }


def chart() -> alt.VConcatChart:
    """Draw the keys' weights over their distances, and the right key's weight over the noise."""
    return panels.figure(
        by_distance(),
        by_noise(),
        apart=True,
        params=[
            *controls.slider("noise", "Noise τ", 0.1, (0.0, 1.0), 0.01),
            *controls.rungs("number", "Keys m", 20, NUMBERS),
            *controls.rungs("bandwidth", "Bandwidth", nine_tenths(20), BANDWIDTHS),
            *controls.choice("direction", "Noise direction", DIRECTIONS),
            *controls.choice("draw", "Keys drawn by", estimator.DRAWS),
            alt.param(name="kernel", value="gaussian"),
            alt.param(name="drawn", value={name: database(name) for name in estimator.DRAWS}),
            alt.param(name="apart", expr="slice(drawn[draw].apart, 0, number)"),
            alt.param(name="along", expr="slice(drawn[draw].along[+direction], 0, number)"),
            alt.param(name="length", expr="drawn[draw].length[+direction]"),
        ],
        shows={
            "noise": "format(noise, '.2f')",
            "number_step": "format(number, 'd')",
            "bandwidth_step": "format(bandwidth, '.3~r')",
        },
        numbers=[
            panels.number("Weight on the right key", "right", "weight", 4),
            panels.number("Retrieved", "right", "retrieved", 0),
            panels.number("Distance to the right key", "right", "distance", 3),
            panels.number("To the nearest wrong key", "right", "wrong", 3),
        ],
        pointer=("noise", "concat_1_x"),
    )


def compared(noises: alt.Chart) -> Any:
    """Compare the query of each noise level, in the column ``tau``, with all keys."""
    lists = noises.transform_calculate(apart="apart", along="along")
    pairs = lists.transform_flatten(["apart", "along"])
    square = "datum.apart - 2 * datum.tau * datum.along + datum.tau * datum.tau * length"
    measured = pairs.transform_calculate(
        distance=f"sqrt(max(0, {square}))", right="datum.apart == 0"
    )
    return estimator.compare(measured, "datum.distance", "i")


def right_key(compared: Any) -> Any:
    """Reduce each query's pairs to what concerns the right key."""
    return (
        compared.transform_calculate(
            on_right="datum.right ? datum.similarity : 0",
            to_right="datum.right ? datum.distance : 0",
            to_wrong="datum.right ? 1e9 : datum.distance",
        )
        .transform_aggregate(
            total="sum(similarity)",
            on_right="sum(on_right)",
            distance="sum(to_right)",
            wrong="min(to_wrong)",
            groupby=["i", "tau"],
        )
        .transform_calculate(
            weight="datum.on_right / datum.total", lost="datum.distance >= datum.wrong"
        )
        .transform_calculate(retrieved="datum.lost ? 'a wrong key' : 'the right key'")
    )


def by_distance() -> alt.LayerChart:
    """Draw each key's weight over its distance from the query."""
    at = panels.axes((0.0, 6.0), (0.0, 1.0), ("Distance of a key from the query", "Weight"), 3)
    keys = estimator.weigh(compared(estimator.rows(1, tau="noise")), "i")
    wrong, right = (keys.transform_filter(which) for which in ("!datum.right", "datum.right"))
    place = at("distance", "weight")
    return alt.layer(
        panels.stem(wrong, *place, color="blue"),
        panels.dot(wrong, *place, color="blue", size=30),
        panels.stem(right, *place, color="vermillion"),
        panels.dot(right, *place),
        panels.key(
            ("right key", panels.sample_dot("vermillion")),
            ("wrong keys", panels.sample_dot("blue", size=30)),
            left=-105,
        ),
    ).properties(height=HEIGHT)


def by_noise() -> alt.LayerChart:
    """Draw the weight on the right key over the noise, and mark where a wrong key is nearer."""
    at = panels.axes((0.0, 1.0), (0.0, 1.0), ("Noise τ", "Weight on the right key"), 3)
    levels = right_key(compared(estimator.rows(41, tau="datum.i / 40")))
    here = right_key(compared(estimator.rows(1, tau="noise")))
    bare = alt.Chart()
    return alt.layer(
        panels.at_query(at, "noise"),
        panels.together(
            levels,
            panels.empty(bare.transform_filter("datum.lost")).encode(
                *at("tau"), y=alt.value(HEIGHT - 7)
            ),
            panels.line(bare, *at("tau", "weight")).properties(name="levels"),
        ),
        panels.dot(here, *at("tau", "weight")).properties(name="right"),
        panels.key(
            ("a wrong key is nearer", panels.sample_line("vermillion", strokeWidth=10)), left=-160
        ),
    ).properties(height=HEIGHT)
