"""The two-entry database and the softmax Jacobian of two scores, in closed form."""

from math import ceil, exp, log, sqrt

import pytest


def logistic(t):
    return 1 / (1 + exp(-t))


def output(q):
    """10 + 10 w with w the weight of key 5: its score leads by (q-2)^2 - (q-5)^2 = 6q - 21."""
    return 10 + 10 * logistic(6 * q - 21)


def norm(scale):
    """Norm of the Jacobian for scores -4c and -1c: the matrix is d(1-d) [[1, -1], [-1, 1]]."""
    rest = logistic(-3 * scale)
    return 2 * rest * (1 - rest)


def expected(framework):
    if framework is None:
        bits = 1024 * 32
        return {
            "lookup/summary_bits": bits,
            "lookup/longest": ceil(bits * log(2) / log(50_000)),  # the quotient is no integer
            "lookup/jacobian_exact_x64": pytest.approx(2 * exp(-192), rel=1e-9, abs=0),
        }
    return {
        "lookup/weight_far": logistic(-3),
        "lookup/weight_near": logistic(3),
        "lookup/output_at_4": output(4),
        "lookup/output_at_5": output(5),
        "lookup/output_at_middle": 15.0,
        "lookup/output_at_100": 20.0,
        "lookup/jacobian_norm_x1": norm(1),
        # In float32, 1 - alpha of the heavy key keeps two digits.
        "lookup/jacobian_norm_x4": pytest.approx(norm(4), rel=1e-2, abs=0),
        # exp(-192) is below the smallest float32: exactly zero.
        "lookup/jacobian_norm_x64": pytest.approx(0, abs=0),
        # Where float32 rounds the heavy key's entry to 0 the matrix is d [[1, -1], [-1, 0]], whose
        # norm is d times the golden ratio, while the true norm is 2d.
        "lookup/jacobian_ratio_x16": (1 + sqrt(5)) / 4,
    }
