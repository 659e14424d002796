"""The section's regression, recomputed in double precision from the raw draws."""

import numpy as np
import pytest
from draws import gaussian_weights, section, truth
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from statsmodels.nonparametric.kernel_regression import KernelReg

BANDWIDTHS = {"0.1": 0.1, "0.5": 0.5, "2": 2.0}


def kernel_estimate(data, bandwidth):
    """The local constant estimate of statsmodels, an outside implementation."""
    unused = np.random.default_rng(0)  # it draws only to search a bandwidth, and warns without
    model = KernelReg(data.y_train, data.x_train, "c", "lc", bw=[bandwidth], rng=unused)
    return model.fit(data.x_val)[0]


def adaptive(data, bandwidth):
    """Adaptive kernel regression, with the widths along which the normal densities spread."""

    def densities(at, widths):
        return norm.pdf(at[:, None], loc=data.x_train, scale=widths)

    pilot = densities(data.x_train, bandwidth).mean(axis=1)
    widths = bandwidth * np.sqrt(np.exp(np.mean(np.log(pilot))) / pilot)
    bumps = densities(data.x_val, widths)
    return bumps @ data.y_train / bumps.sum(axis=1), widths


def expected(framework):
    if framework is None:
        return {}
    data = section(framework)

    def mse(estimate):
        return float(np.mean((estimate - data.y_val) ** 2))

    wanted = {
        "regression/same_data": True,
        "regression/largest_difference": pytest.approx(0, abs=1e-5),
        "regression/mse_constant": mse(data.y_train.mean()),
        "regression/mean_label": float(data.y_train.mean()),
        "regression/truth_low": 0.0,
        "regression/truth_high": float(data.y_val.max()),
        "regression/noise_mean": float(data.noise.mean()),
        "regression/noise_z": float(data.noise.sum() / np.sqrt(40)),
        "regression/noise_probability": float(2 * norm.sf(abs(data.noise.sum()) / np.sqrt(40))),
    }
    for name, bandwidth in BANDWIDTHS.items():
        weights = gaussian_weights(data.x_val, data.x_train, bandwidth)
        estimate = kernel_estimate(data, bandwidth)
        squared = np.sum(weights**2, axis=1)
        wanted |= {
            f"regression/mse_s{name}": mse(estimate),
            f"regression/expected_s{name}": mse(weights @ truth(data.x_train))
            + float(squared.mean()),
            f"regression/centred_s{name}": mse(estimate - data.noise.mean()),
            f"regression/largest_s{name}": float(weights.max()),
            f"regression/neff_s{name}": float(np.median(1 / squared)),
        }
        if name == "0.1":
            wanted["regression/narrow_low"] = float(estimate.min())
        if name == "0.5":
            wanted["regression/below"] = int(np.sum(estimate < data.y_val))
            wanted["regression/bias_at_0"] = float(weights[0] @ truth(data.x_train))
        if name == "2":
            wanted["regression/wide_low"] = float(estimate.min())
            wanted["regression/wide_high"] = float(estimate.max())

    best = minimize_scalar(
        lambda s: mse(gaussian_weights(data.x_val, data.x_train, s) @ data.y_train),
        bounds=(0.1, 3.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    estimate, widths = adaptive(data, 0.5)
    return wanted | {
        # The page searches a grid with steps of 0.23 % in float32, and the minimum is flat.
        "regression/best_bandwidth": pytest.approx(best.x, rel=1e-2),
        "regression/best_mse": best.fun,
        "regression/mse_adaptive": mse(estimate),
        "regression/widths_low": float(widths.min()),
        "regression/widths_high": float(widths.max()),
    }
