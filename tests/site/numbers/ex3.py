"""The average of two values: weights from the scores alone, thresholds by root finding."""

import math

import numpy as np
import pytest
from draws import normals
from scipy.optimize import brentq
from scipy.special import softmax

M, A, B = 10, 3, 7
EXACT = 1e-12  # double precision; the page's keys are orthonormal to about 1e-15


def weights(score_a, score_b, m=M):
    """Softmax of two given scores and zeros for the other keys."""
    return softmax(np.array([score_a, score_b] + [0.0] * (m - 2)))


def smallest_c(m, target=0.99):
    """Where the pair holds the target, from the softmax itself."""
    return brentq(lambda c: weights(c, c, m)[:2].sum() - target, 0, 50, xtol=1e-14)


def exactly(value):
    return pytest.approx(float(value), rel=EXACT, abs=0)


def expected(framework):
    # The weight is flat near 0.99: half a unit in its last place is 6e-15 in c, but sums of ten
    # weights round several times, and so do two root searches.
    threshold = {m: pytest.approx(smallest_c(m), abs=1e-12) for m in (3, 10, 16, 100, 1000)}
    if framework is None:
        return {
            "ex3/b/log10": exactly(math.log(10)),
            "ex3/b/c_m100": threshold[100],
            "ex3/b/c_m1000": threshold[1000],
            # The largest number in single precision is just below 2^128.
            "ex3/wrong/overflow_c": pytest.approx(math.log(np.finfo("f4").max), rel=1e-8),
            "ex3/wrong/zero_from_c": pytest.approx(math.log(np.finfo("f4").max / 2), rel=1e-8),
        }

    _, values = normals(framework, 3, (16, 16), (M, 3))
    average = (values[A] + values[B]) / 2
    wanted = {
        "ex3/b/c_m3": threshold[3],
        "ex3/b/c_m10": threshold[10],
        "ex3/b/c_m16": threshold[16],
        "ex3/b/query_norm_m10": pytest.approx(math.hypot(*2 * [smallest_c(10)]), abs=1e-12),
        "ex3/b/weight_at_c_m10": exactly(0.99),
        "ex3/wrong/other_weight_c1": exactly(weights(1, 1)[2:].sum()),
    }
    for c in (1, 3, 6):
        picked, _, other, *_ = weights(c, c)
        at_position = np.full(M, other)
        at_position[[A, B]] = picked
        wanted |= {
            f"ex3/a/weight_picked_c{c}": exactly(picked),
            f"ex3/a/weight_other_c{c}": exactly(other),
            f"ex3/a/error_c{c}": exactly(np.linalg.norm(at_position @ values - average)),
        }
    for c in (1, 2, 6):
        good, plain = weights(c, c), weights(c, 4 * c)  # the lengths are 1 and 2
        wanted |= {
            f"ex3/c/averaging_weight_a_c{c}": exactly(good[0]),
            f"ex3/c/averaging_weight_b_c{c}": exactly(good[1]),
            f"ex3/c/sum_weight_a_c{c}": exactly(plain[0]),
            f"ex3/c/sum_weight_b_c{c}": exactly(plain[1]),
        }
    return wanted
