"""Bias and variance of kernel regression on equally spaced keys, in double precision."""

import numpy as np
import pytest
from draws import gaussian_weights, truth


def bias_and_variance(m, bandwidth):
    keys = np.linspace(2.5 / m, 5 - 2.5 / m, m)
    queries = np.arange(50) / 10
    weights = gaussian_weights(queries, keys, bandwidth)
    bias = np.einsum("nm,m->n", weights, truth(keys)) - truth(queries)
    return np.mean(bias**2), np.mean(np.einsum("nm,nm->n", weights, weights))


def expected(framework):
    if framework is None:
        return {}
    wanted, total = {}, {}
    for m in (40, 400, 4000):
        for rule, bandwidth in {
            "fixed": 0.5,
            "fast": 20 / m,
            "slow": 0.5 * (m / 40) ** -0.2,
        }.items():
            squared_bias, variance = bias_and_variance(m, bandwidth)
            # Some of these are as small as 3e-6, so the tolerance is relative.
            wanted[f"kernels/{rule}_m{m}_bias2"] = pytest.approx(squared_bias, rel=1e-4, abs=0)
            wanted[f"kernels/{rule}_m{m}_variance"] = pytest.approx(variance, rel=1e-4, abs=0)
            total[rule, m] = squared_bias + variance
    wanted["kernels/slow_gain"] = pytest.approx(total["slow", 40] / total["slow", 4000], rel=1e-4)
    return wanted
