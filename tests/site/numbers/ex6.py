"""Effective numbers and redraws, in float64 from the raw draws, with SciPy's chi-square.

The redraws are those of the page (the framework's own numbers from the stated seed). Estimates are
built from them in float64, and the share inside the band must also be what the theory says.
"""

import jax
import numpy as np
import pytest
import torch
from draws import gaussian_weights, section, truth
from scipy import stats

BANDWIDTHS = {"0.1": 0.1, "0.5": 0.5, "2": 2.0}
REDRAWS, REPEATS = 200, 400
#: Range of measured over true standard deviation that holds 95% of the sampling distribution.
BAND = np.sqrt(stats.chi2(REDRAWS - 1).ppf([0.025, 0.975]) / (REDRAWS - 1))


def normal(framework, shape, seed):
    """The framework's own standard normal numbers, continued in float64."""
    if framework == "torch":
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(shape, generator=generator).double().numpy()
    return np.asarray(jax.random.normal(jax.random.key(seed), shape, "float32"), np.float64)


def measured_over_true(noise, weights):
    """Ratio of the two standard deviations of the estimate: (..., queries)."""
    estimates = noise @ weights.T
    centred = estimates - estimates.mean(axis=-2, keepdims=True)
    variance = np.sum(centred**2, axis=-2) / (noise.shape[-2] - 1)
    return np.sqrt(variance / np.sum(weights**2, axis=1))


def inside(ratios):
    return np.mean((ratios >= BAND[0]) & (ratios <= BAND[1]), axis=-1)


def one_bandwidth(name, weights, data, noise, many):
    squared = np.sum(weights**2, axis=1)
    effective = 1 / squared
    cosines = weights @ weights.T / np.sqrt(np.outer(squared, squared))
    ratios = measured_over_true(noise, weights)
    shares = inside(measured_over_true(many, weights))
    spread = shares.std(ddof=1)
    assert abs(shares.mean() - 0.95) < 5 * spread / np.sqrt(REPEATS), "no 95% band"
    # The page's band is off by 10^-5, so of its 20 000 ratios one or two may change sides.
    few = 3 / (50 * REPEATS)
    return {
        f"ex6/c/min_s{name}": float(effective.min()),
        f"ex6/c/argmin_s{name}": float(data.x_val[effective.argmin()]),
        f"ex6/c/mean_s{name}": float(effective.mean()),
        f"ex6/c/max_s{name}": float(effective.max()),
        f"ex6/c/inside_s{name}": pytest.approx(inside(ratios), abs=1e-9),
        f"ex6/c/largest_deviation_s{name}": float(np.abs(ratios - 1).max()),
        f"ex6/c/neighbour_s{name}": float(np.mean(np.diagonal(cosines, 1))),
        f"ex6/c/independent_s{name}": float(50**2 / np.sum(cosines**2)),
        f"ex6/c/coverage_s{name}": pytest.approx(shares.mean(), abs=few),
        f"ex6/c/coverage_se_s{name}": pytest.approx(spread / np.sqrt(REPEATS), rel=5e-3),
        f"ex6/c/coverage_sd_s{name}": pytest.approx(spread, rel=5e-3),
        f"ex6/c/all_inside_s{name}": pytest.approx(np.mean(shares == 1), abs=1.5 / REPEATS),
        f"ex6/c/variance_s{name}": float(squared.mean()),
        f"ex6/c/bias2_s{name}": float(np.mean((weights @ truth(data.x_train) - data.y_val) ** 2)),
    }


def lone_key(data, effective):
    """The key that a whole run of queries copies, and the run of queries around it."""
    lone = np.abs(data.x_train - data.x_val[effective.argmin()]).argmin()
    copying = effective < 1.01
    first = last = effective.argmin()
    while copying[first - 1]:
        first -= 1
    while copying[last + 1]:
        last += 1
    return {
        "ex6/c/lone_key": float(data.x_train[lone]),
        "ex6/c/lone_gap_left": float(data.x_train[lone] - data.x_train[lone - 1]),
        "ex6/c/lone_gap_right": float(data.x_train[lone + 1] - data.x_train[lone]),
        "ex6/c/copied_from": float(data.x_val[first]),
        "ex6/c/copied_to": float(data.x_val[last]),
    }


def expected(framework):
    if framework is None:
        # Spread of the Gaussian kernel's mass: 8 keys a unit length, over the mass of its square.
        dense = {
            f"ex6/c/dense_s{n}": 8 / stats.norm(0, np.sqrt(2) * s).pdf(0)
            for n, s in BANDWIDTHS.items()
        }
        return dense | {
            "ex6/a/signed": 0.2,
            "ex6/a/one_hot": 1.0,
            "ex6/a/uniform": pytest.approx(40, rel=1e-12),
            "ex6/b/exact": True,
            # The page approximates the quantiles (Wilson and Hilferty).
            "ex6/c/band_low": pytest.approx(BAND[0], abs=2e-5),
            "ex6/c/band_high": pytest.approx(BAND[1], abs=2e-5),
        }
    data = section(framework)
    weights = {
        name: gaussian_weights(data.x_val, data.x_train, s) for name, s in BANDWIDTHS.items()
    }
    effective = {name: 1 / np.sum(w**2, axis=1) for name, w in weights.items()}
    widest = np.diff(data.x_train).argmax()
    wanted = {
        "ex6/c/gap_from": float(data.x_train[widest]),
        "ex6/c/gap_to": float(data.x_train[widest + 1]),
        "ex6/c/wrong_axis": float(1 / np.sum(weights["0.1"] ** 2, axis=0).max()),
        "ex6/c/highest_prediction": float(1 / np.sqrt(effective["0.1"].min())),
        "ex6/c/lowest_prediction": float(1 / np.sqrt(effective["2"].max())),
    }
    if framework == "jax":
        wanted |= lone_key(data, effective["0.1"])
    noise = normal(framework, (REDRAWS, 40), 6)
    many = normal(framework, (REPEATS * REDRAWS, 40), 66).reshape(REPEATS, REDRAWS, 40)
    for name in BANDWIDTHS:
        wanted |= one_bandwidth(name, weights[name], data, noise, many)
    return wanted
