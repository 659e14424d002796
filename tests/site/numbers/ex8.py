"""Far queries: formulas of the limit, and what IEEE 754 says about the arithmetic before the NaN.

The failing estimator is modelled by integers: a kernel value is so many steps of the smallest
number that the precision holds. Nothing here calls a framework's exponential.
"""

import numpy as np
import pytest
from draws import gaussian_weights, section, truth
from scipy.optimize import brentq
from statsmodels.nonparametric.kernel_regression import KernelReg

SIGMA = 0.5
LIMITS = {name: np.finfo(name) for name in ("float32", "float64")}


def lowest_exponent(framework, precision):
    """Exponents below this one have the exponential 0.

    PyTorch rounds to steps of the smallest subnormal number, so half a step is the border. JAX
    compiles with subnormal numbers replaced by 0, so the border is the smallest normal number.
    """
    limits = LIMITS[precision]
    border = limits.smallest_normal if framework == "jax" else limits.smallest_subnormal
    return np.log(2) * (np.log2(border) - (framework == "torch"))


def ratio_in_steps(framework, precision, data, queries):
    """The kernel ratio, with each kernel value rounded to a whole number of smallest steps."""
    scores = -((queries[:, None] - data.x_train) ** 2) / (2 * SIGMA**2)
    step = np.log(2) * np.log2(LIMITS[precision].smallest_subnormal)
    kernel = np.rint(np.exp(scores - step))
    kernel[scores < lowest_exponent(framework, precision)] = 0
    return kernel @ data.y_train / kernel.sum(axis=1)


def rounding_bound(precision, data, queries):
    """First-order bound on the rounding error of the kernel ratio where nothing underflows.

    A score has at most 4 rounding errors, each of which is multiplied by the score in the
    exponential; the exponential itself, two sums of 40 terms and a quotient add at most 90.
    """
    weights = gaussian_weights(queries, data.x_train, SIGMA)
    scores = (queries[:, None] - data.x_train) ** 2 / (2 * SIGMA**2)
    size = np.abs(data.y_train)
    shift = np.abs(data.y_train - (weights @ data.y_train)[:, None])
    bound = np.sum(weights * (4 * scores * shift + 90 * size), axis=1)
    return float(bound.max() * LIMITS[precision].eps / 2)


def between(low, high):
    return pytest.approx((low + high) / 2, abs=(high - low) / 2)


def arithmetic(framework, data):
    """Part (c): where which formula ends, and what it is worth before."""
    last, far = data.x_train[-1], {}
    for name, limits in LIMITS.items():
        reach = np.sqrt(-2 * lowest_exponent(framework, name))
        end = last + SIGMA * reach
        near = end - np.arange(1, 20_001) / 10_000
        exact = gaussian_weights(near, data.x_train, SIGMA) @ data.y_train
        error = np.abs(ratio_in_steps(framework, name, data, near) - exact)
        level = 1e-4 if name == "float32" else 1e-12
        overflow = np.sqrt(float(limits.max) / 2)
        # Rounding moves the border by the spacing of queries near 12 or 24 (1e-6 and 4e-15) and
        # by the error of the score, which the slope 2(q - x_m)/(2 sigma^2) > 26 divides.
        tight = 5e-6 if name == "float32" else 1e-12
        far |= {
            f"ex8/c/nan_predicted_{name}": pytest.approx(end, rel=1e-12),
            f"ex8/c/nan_from_{name}": pytest.approx(end, abs=tight),
            # The jumps lie where a count of steps changes; a rounded score moves them a little.
            f"ex8/c/worst_{name}": pytest.approx(error.max(), rel=0.02),
            f"ex8/c/wrong_from_{name}": pytest.approx(near[error > level].min(), abs=0.02),
            f"ex8/c/softmax_nan_from_{name}": pytest.approx(overflow, rel=4 * float(limits.eps)),
        }
        if name == "float32":
            alone = np.abs(data.x_val[:, None] - data.x_train).min(axis=1) > 0.005 * reach
            bound = rounding_bound(name, data, np.linspace(5, 9, 1001))
            far |= {
                "ex8/c/reach": float(reach),
                "ex8/c/nan_inside": int(alone.sum()),
                # Of 20000 results not all are nearer than a quarter of the spacing to exact ones.
                "ex8/c/usual_float32": between(float(np.spacing(np.float32(1.4))) / 4, bound),
            }

    # Subtraction, square and the factor 2 are rounded alike everywhere (IEEE 754).
    queries = 10.0 ** (2 + np.arange(900) / 100)
    gaps = queries.astype(np.float32)[:, None] - data.x_train.astype(np.float32)
    scores = (-2 * (gaps * gaps)).astype(np.float64)
    kernel = np.exp(scores - scores.max(axis=1, keepdims=True))
    estimate = kernel @ data.y_train / kernel.sum(axis=1)
    wrong = queries[np.abs(estimate - data.y_train[-1]) > 1e-3][0]
    still = np.flatnonzero(np.abs(estimate - data.y_train.mean()) > 1e-5)[-1]
    return far | {
        "ex8/c/exponent_at_15": float(-((15 - last) ** 2) / 0.5),
        "ex8/c/softmax_at_15": float(
            (gaussian_weights(np.array([15.0]), data.x_train, SIGMA) @ data.y_train)[0]
        ),
        "ex8/c/softmax_wrong_from": pytest.approx(wrong, rel=1e-9),
        "ex8/c/softmax_mean_from": pytest.approx(queries[still + 1], rel=1e-9),
    }


def best_nonnegative(data):
    """Largest of the estimates at 10 by five kernels with 60 widths, nearest value where empty."""
    u = np.abs(10 - data.x_train) / 10 ** (-2 + np.arange(60)[:, None] / 10)
    nearest = np.where(u == u.min(axis=1, keepdims=True), 1.0, 0.0)
    kernels = [
        np.exp(u.min(axis=1, keepdims=True) ** 2 / 2 - u**2 / 2),
        np.exp(u.min(axis=1, keepdims=True) - u),
        1 / (1 + u**2),
        (u <= 1).astype(float),
        np.maximum(0, 1 - u),
    ]
    filled = [np.where(k.sum(axis=1, keepdims=True) > 0, k, nearest) for k in kernels]
    return max(float((k @ data.y_train / k.sum(axis=1)).max()) for k in filled)


def straight_line(data):
    """Local linear regression at 10 with width 2: statsmodels' estimate, and the least weight."""
    unused = np.random.default_rng(0)  # it draws only to search a bandwidth, and warns without
    model = KernelReg(data.y_train, data.x_train, "c", "ll", bw=[2.0], rng=unused)
    roots = np.exp(-((data.x_train - 10) ** 2) / 16)  # square roots of the kernel values
    design = np.stack([np.ones(40), data.x_train], axis=1)
    solver = np.linalg.pinv(roots[:, None] * design) * roots
    return float(model.fit(np.array([10.0]))[0][0]), float((np.array([1, 10]) @ solver).min())


def expected(framework):
    queries = np.arange(5, 10.5, 0.5)
    if framework is None:
        return {f"ex8/b/truth_{q:.1f}": float(truth(q)) for q in queries}
    data = section(framework)
    x, y = data.x_train, data.y_train
    gap = x[-1] - x[-2]
    estimates = gaussian_weights(queries, x, SIGMA) @ y
    line, smallest = straight_line(data)
    at_10 = np.exp(-((10 - x) ** 2) / (2 * SIGMA**2))
    # The local minima of the truth lie at 4 pi / 3 + 2 pi n and rise with n.
    leaves = brentq(lambda q: truth(q) - y.max(), 4 * np.pi / 3, 2 * np.pi, xtol=1e-14)
    assert truth(10 * np.pi / 3) > y.max() > truth(4 * np.pi / 3)
    return arithmetic(framework, data) | {
        "ex8/a/limit_gaussian": float(y[-1]),
        "ex8/a/limit_left": float(y[0]),
        "ex8/a/limit_constant": float(y.mean()),
        "ex8/a/gap": pytest.approx(gap, rel=1e-12),
        "ex8/a/rate": pytest.approx(4 * gap, rel=1e-12),
        # Measured between 300 and 400, where the next key adds at most 1e-6 of the rate.
        "ex8/a/rate_measured": pytest.approx(4 * gap, rel=1e-6),
        **{f"ex8/b/estimate_{q:.1f}": float(f) for q, f in zip(queries, estimates, strict=True)},
        "ex8/b/max_value": float(y.max()),
        "ex8/b/min_value": float(y.min()),
        "ex8/b/truth_leaves": pytest.approx(leaves, rel=1e-6),  # the labels are float32
        "ex8/b/least_error_at_10": float(truth(10.0) - y.max()),
        "ex8/b/best_at_10": best_nonnegative(data),
        "ex8/b/linear_at_10": line,
        "ex8/b/linear_smallest_weight": smallest,
        "ex8/wrong/epsilon_at_10": pytest.approx(at_10 @ y / (at_10.sum() + 1e-8), rel=1e-5, abs=0),
    }
