"""The Jacobian of attention as a covariance about the best key, where nothing cancels.

The page differentiates automatically and sums over pairs of keys. Here the best key is subtracted
from all keys first: every term of the covariance is then small where the covariance is.
"""

import math

import numpy as np
import pytest
from draws import normals
from scipy.special import softmax

ROUNDING = pytest.approx(0, abs=1e-14)  # differences of matrices of order one
RATE = 0.1  # of the descent on the page


class Ray:
    """A database, the direction u and what belongs to them; index 0 is the best key along u."""

    def __init__(self, keys, u):
        self.u = u
        self.keys = keys[np.argsort(-keys @ u)]
        self.shifted = self.keys - self.keys[0]
        self.gaps = -self.shifted @ u
        self.step = self.shifted[1]  # from the best key to the runner-up
        self.length = np.linalg.norm(self.step)

    def jacobian(self, query):
        weights = softmax(self.shifted @ query)
        mean = weights @ self.shifted
        return np.einsum("i,ia,ib", weights, self.shifted, self.shifted) - np.outer(mean, mean)

    def norm(self, c):
        return np.linalg.norm(self.jacobian(c * self.u))

    def scaled_error(self, c):
        """Relative distance of e^(c gap) J from its limit."""
        limit = np.outer(self.step, self.step)
        scaled = np.exp(c * self.gaps[1]) * self.jacobian(c * self.u)
        return np.linalg.norm(scaled - limit) / self.length**2

    def descent(self, c, steps=5000):
        """Losses on the way to the runner-up, with the gradient J (output - target) by hand."""
        query, losses = c * self.u, []
        for _ in range(steps):
            error = softmax(self.shifted @ query) @ self.shifted - self.step
            losses.append(0.5 * error @ error)
            query = query - RATE * self.jacobian(query) @ error
        return np.array(losses)

    def rounded_query_error(self, c):
        """Relative error of J that single precision of the query and the keys alone makes."""
        rounded = Ray(self.shifted.astype("f4").astype(float), self.u)
        rounded = rounded.jacobian((c * self.u).astype("f4").astype(float))
        return np.linalg.norm(rounded - self.jacobian(c * self.u)) / self.norm(c)


def truncation(keys, query, step):
    """Leading error of central differences: step^2 / 6 times the fourth cumulant of the keys."""
    weights = softmax(keys @ query)
    d = keys - weights @ keys
    fourth = np.einsum("i,ia,ib->ab", weights, d, d**3)
    covariance = np.einsum("i,ia,ib->ab", weights, d, d)
    return step**2 / 6 * np.linalg.norm(fourth - 3 * covariance * np.diag(covariance))


def decay(cs, values):
    """Least-squares exponent of an exponential decay."""
    return -np.polyfit(cs, np.log(values), 1)[0]


def exactly(value, rel=1e-11):
    """Double precision; scores of up to 100 cost two digits in their exponentials."""
    return pytest.approx(float(value), rel=rel, abs=0)


def expected(framework):
    if framework is None:
        return {}
    keys, query, u = normals(framework, 0, (8, 4), (4,), (4,), keys=3)
    ray = Ray(keys, u / np.linalg.norm(u))
    gap, next_gap = ray.gaps[1:3]
    jacobian = ray.jacobian(query)
    eigenvalues = np.linalg.eigvalsh(jacobian)
    saturated = np.linalg.norm(ray.keys[0]) / ray.length
    cosine = ray.step @ ray.keys[1] / ray.length / np.linalg.norm(ray.keys[1])
    centred = max(ray.rounded_query_error(c) for c in np.arange(2.0, 151.0, 2.0))
    fd_error = truncation(keys, query, 1e-5)
    # Rounding of an output of the size of the keys, divided by the step, in 16 entries.
    fd_rounding = 4 * np.spacing(np.abs(keys).max()) / 1e-5
    losses = ray.descent(40.0)
    lost = 1e-14  # what rounding leaves of a difference of numbers of order one
    wanted = {
        "ex4/a/weights_difference": ROUNDING,
        "ex4/a/output_difference": ROUNDING,
        "ex4/a/norm": exactly(np.linalg.norm(jacobian)),
        "ex4/b/rank": int(np.linalg.matrix_rank(ray.shifted[1:], tol=1e-6)),
        "ex4/b/smallest_eigenvalue": exactly(eigenvalues[0]),
        "ex4/b/trace": exactly(eigenvalues.sum()),
        "ex4/b/norm_equal_keys": ROUNDING,
        "ex4/c/gap": exactly(gap),
        "ex4/c/next_gap": exactly(next_gap),
        "ex4/c/kappa": exactly(min(gap, next_gap - gap)),
        "ex4/c/norm_leading": exactly(ray.length**2),
        "ex4/c/loss_start_c40": exactly(losses[0]),
        "ex4/c/loss_end_c40": exactly(losses[-1]),
        "ex4/c/log_gradient_c40": exactly(
            np.linalg.norm(softmax(-40 * ray.gaps) @ ray.shifted - ray.step)
        ),
        "ex4/d/largest_difference": pytest.approx(0, abs=1e-13),
        "ex4/d/fd_error": pytest.approx(fd_error, abs=fd_rounding),
        "ex4/d/fd_error_h2": exactly(truncation(keys, query, 1e-2), rel=2e-4),  # next: step^4
        # The page's Jacobian is a difference of numbers of order one: at c = 30 it has nine digits.
        "ex4/d/fitted_rate": exactly(
            decay(range(18, 31, 2), [ray.norm(c) for c in range(18, 31, 2)]), rel=1e-8
        ),
        "ex4/d/fitted_kappa": exactly(
            decay(range(40, 56, 2), [ray.scaled_error(c) for c in range(40, 56, 2)]),
            rel=10 * lost / ray.scaled_error(54),
        ),
        "ex4/d/saturated_error": exactly(saturated),
        # Rounded to single precision, a score of c gap is wrong by about c gap 2^-24.
        "ex4/d/single_error_c60": exactly(saturated, rel=2e-5),
        "ex4/d/double_error_c90": exactly(saturated),
        "ex4/d/norm_c150": exactly(ray.norm(150.0)),
        # Of an outer product: |a b' - b a'| / |a b'|.
        "ex4/d/asymmetry_c90": exactly(math.sqrt(2 - 2 * cosine**2)),
        # The scores, sums of four rounded products, add as much again, or twice as much.
        "ex4/d/centred_error": pytest.approx(2 * centred, abs=1.5 * centred),
        "ex4/wrong/gradient_c40": exactly(
            np.linalg.norm(
                ray.jacobian(40 * ray.u) @ (softmax(-40 * ray.gaps) @ ray.shifted - ray.step)
            )
        ),
    }
    for c in (0, 10, 20, 30):
        error = ray.scaled_error(c)
        wanted |= {
            f"ex4/d/norm_c{c}": pytest.approx(ray.norm(c), abs=lost, rel=0),
            f"ex4/d/scaled_error_c{c}": exactly(error, rel=1e-12 + c * lost / error),
        }
    for c in (5, 10, 15):
        losses = ray.descent(float(c))
        wanted[f"ex4/c/steps_c{c}"] = int(np.argmax(losses < losses[0] / 2))
    for c in (5, 10, 15, 40):
        wanted[f"ex4/c/predicted_steps_c{c}"] = exactly(np.exp(c * gap) / RATE / ray.length**4)
    return wanted
