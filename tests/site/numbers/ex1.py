"""Two stored pairs: closed forms, and what the number formats say about the ends."""

import math

import pytest
from scipy.special import expit

EXACT = 1e-13  # double precision, a few operations
STEP = 0.001  # of the page's scan in single precision


def output(q, variance=0.5):
    """The hyperbolic form; the page computes a softmax."""
    return 15 + 5 * math.tanh(1.5 * (q - 3.5) / variance)


def exactly(value):
    return pytest.approx(value, rel=EXACT, abs=0)


def next_in_scan(limit, direction):
    """The first scanned query on the other side of a limit.

    It is at most a step away. Rounding of the score, at most 350 * 2^-24 where a weight is lost,
    moves the limit itself by less than 1e-5, since the score has the slope 6.
    """
    return pytest.approx(limit + direction * STEP / 2, rel=0, abs=STEP / 2 + 1e-5)


def expected(framework):
    if framework is None:
        return {}
    # Near 20 the weight of key 5 must round to 1: the denominator 1 + x does, at x = 2^-24, a tie
    # that goes to the even neighbour. Near 10 the neighbour above is 10 + 2^-20, and 20 x must not
    # reach half of it.
    upper = 3.5 + 24 * math.log(2) / 6
    lower = 3.5 - (math.log(20) + 21 * math.log(2)) / 6
    # Smallest positive number: 2^-149 with subnormal numbers, of which half rounds to 0; XLA on a
    # processor flushes everything below the smallest normal number, 2^-126.
    gone = 3.5 + {"torch": 150, "jax": 126}[framework] * math.log(2) / 6
    return {
        "ex1/a/weight_key2": exactly(expit(-3.0)),
        "ex1/a/weight_key5": exactly(expit(3.0)),
        "ex1/a/output": exactly(output(4)),
        "ex1/b/query_for_15": pytest.approx(7 / 2, abs=1e-14, rel=0),
        "ex1/b/infimum": exactly(10.0),
        "ex1/b/supremum": exactly(20.0),
        "ex1/b/output_at_2": exactly(output(2)),
        "ex1/b/output_at_5": exactly(output(5)),
        "ex1/b/float32_upper": next_in_scan(upper, +1),
        "ex1/b/float32_lower": next_in_scan(lower, -1),
        "ex1/b/float32_zero_weight": next_in_scan(gone, +1),
        "ex1/b/float32_predicted_upper": exactly(upper),
        "ex1/b/float32_predicted_lower": exactly(lower),
        "ex1/b/float32_predicted_zero_weight": exactly(gone),
        "ex1/c/output_at_tie": exactly(15.0),
        "ex1/c/narrow_output_at_3": exactly(output(3, 0.1**2)),
        "ex1/c/narrow_output_at_4": exactly(output(4, 0.1**2)),
        "ex1/c/wide_output_at_4": exactly(output(4, 100.0**2)),
        # 32 (f - 15) loses the digits that f and 15 share.
        "ex1/c/wide_rate_at_4": pytest.approx(160 * math.tanh(0.75 / 32), rel=1e-12),
        "ex1/c/narrow_missing_at_5": exactly(10 * expit(-18.0)),
        "ex1/c/slope_sigma1": exactly(7.5),
        "ex1/wrong/odds_at_4": exactly(math.exp(3)),
    }
