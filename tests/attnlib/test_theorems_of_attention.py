"""The theorems of exercises 1 to 4, on databases that the pages do not draw."""

import jax
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import attnlib

pytestmark = pytest.mark.usefixtures("every_method")

numbers = st.floats(-3, 3)


def arrays(*shape, elements=numbers):
    return npst.arrays(np.float64, shape, elements=elements)


def databases(elements=numbers):
    """One to six keys in three dimensions, not necessarily distinct."""
    return st.integers(1, 6).flatmap(lambda m: arrays(m, 3, elements=elements))


class TestTwoEntries:
    @given(numbers, st.floats(0.1, 3), arrays(2), st.floats(-3, 3), st.floats(0.3, 30))
    def test_output_is_a_sigmoid_of_the_query(self, key, gap, values, query, bandwidth):
        keys = np.array([key, key + gap])
        step = np.tanh(gap * (query - keys.mean()) / (2 * bandwidth**2))
        expected = values.mean() + (values[1] - values[0]) / 2 * step
        output = attnlib.nadaraya_watson(np.array([query]), keys, values, bandwidth)
        np.testing.assert_allclose(output, expected, rtol=0, atol=1e-10)


class TestPermutations:
    @given(arrays(3), arrays(5, 3), arrays(5, 2), arrays(3, 3), st.permutations(range(5)))
    def test_pairs_have_no_order_and_keys_alone_change_by_the_formula(
        self, query, keys, values, matrix, order
    ):
        def score(q, k):
            return attnlib.bilinear(q, k, matrix)

        def attend(k, v):
            return attnlib.attention(query[None], k, v, score=score)[0]

        before = attend(keys, values)
        np.testing.assert_allclose(attend(keys[order], values[order]), before, atol=1e-12)

        weights = attnlib.softmax_weights(score(query[None], keys))[0]
        change = weights @ (values[np.argsort(order)] - values)
        np.testing.assert_allclose(attend(keys[order], values) - before, change, atol=1e-12)


class TestAverageOfTwo:
    @given(st.integers(2, 8), st.floats(0.2, 2), st.floats(0.2, 2), st.floats(0, 20))
    def test_orthogonal_keys_of_any_length(self, m, length_a, length_b, c):
        basis = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]
        keys = basis[:m] * np.append([length_a, length_b], np.arange(m - 2))[:, None]
        query = c * (keys[0] / length_a**2 + keys[1] / length_b**2)
        weights = attnlib.softmax_weights(attnlib.dot_product(query[None], keys))[0]
        expected = np.append([np.exp(c)] * 2, np.ones(m - 2)) / (2 * np.exp(c) + m - 2)
        np.testing.assert_allclose(weights, expected, rtol=1e-9)

    @pytest.mark.parametrize(("m", "target"), [(3, 0.8), (10, 0.99), (1000, 0.999)])
    def test_threshold_is_where_the_pair_holds_the_target(self, m, target):
        threshold = np.log(target * (m - 2) / (2 * (1 - target)))
        for c, reached in ((threshold - 1e-6, False), (threshold + 1e-6, True)):
            weights = attnlib.softmax_weights(np.append([c, c], np.zeros(m - 2)))
            assert (weights[:2].sum() >= target) == reached


def jacobian(name, query, keys, values):
    """Derivative of the output in the query, by a framework's automatic differentiation."""
    array, differentiate = {
        "torch": (torch.tensor, torch.func.jacrev),
        "jax": (jax.numpy.asarray, jax.jacobian),
    }[name]
    query, keys, values = map(array, (query, keys, values))
    found = differentiate(lambda q: attnlib.attention(q[None], keys, values)[0])(query)
    return np.asarray(found)


class TestGradientOfAttention:
    @pytest.mark.parametrize("name", ["torch", "jax"])
    @pytest.mark.parametrize("m", [1, 2, 5, 8])
    def test_is_the_covariance_of_values_and_keys(self, name, m):
        draw = np.random.default_rng(m)
        query, keys, values = (draw.standard_normal(shape) for shape in ((4,), (m, 4), (m, 3)))
        weights = attnlib.softmax_weights(keys @ query)
        # NumPy's own weighted covariance of values and keys together holds both identities.
        joint = np.cov(values.T, keys.T, aweights=weights, bias=True) if m > 1 else np.zeros((7, 7))
        np.testing.assert_allclose(jacobian(name, query, keys, values), joint[:3, 3:], atol=1e-13)
        np.testing.assert_allclose(jacobian(name, query, keys, keys), joint[3:, 3:], atol=1e-13)

    @given(arrays(3), databases(elements=st.sampled_from([-2.0, 0.0, 1.0])))
    def test_is_semidefinite_and_zero_only_for_equal_keys(self, query, keys):
        found = jacobian("torch", query / 6, keys, keys)
        assert np.linalg.eigvalsh((found + found.T) / 2).min() >= -1e-13
        # Scores differ by at most 4.5 and coordinates by 1 if at all: a trace that is not 0 is
        # at least 1/6 * e^-4.5 / 6.
        assert (np.trace(found) > 1e-4) == bool((keys != keys[0]).any())
        assert np.trace(found) > 1e-4 or np.abs(found).max() < 1e-14

    @given(arrays(3), databases(), st.floats(0, 30))
    def test_bound_along_a_ray(self, u, keys, c):
        scores = np.sort(keys @ u)[::-1]
        gap = scores[0] - scores[1] if len(scores) > 1 else 0.0
        diameter = max(np.linalg.norm(x - y) for x in keys for y in keys)
        bound = (len(keys) - 1) * diameter**2 * np.exp(-c * gap)
        found = np.linalg.norm(jacobian("torch", c * u, keys, keys))
        assert found <= bound * (1 + 1e-9) + 1e-12  # the last: rounding of numbers of order ten

    @pytest.mark.parametrize("runners_up", [1, 2])
    def test_rate_along_a_ray(self, runners_up):
        """The rescaled Jacobian tends to the outer products of the runners-up."""
        keys = np.array([[2.0, 0, 0], [1, 1, 0], [1, 0, -2], [-1, 3, 1]])
        if runners_up == 1:
            keys[2, 0] = 0
        steps = keys[1 : 1 + runners_up] - keys[0]
        errors = []
        for c in (6.0, 9.0):
            found = jacobian("torch", np.array([c, 0, 0]), keys, keys)
            errors.append(np.linalg.norm(np.exp(c) * found - steps.T @ steps))
        assert errors[0] < 0.1
        # The gap is 1 and so is the distance to the next gap, or the first correction: e^-c.
        np.testing.assert_allclose(np.log(errors[0] / errors[1]) / 3, 1, rtol=0.02)

    @pytest.mark.parametrize("name", ["torch", "jax"])
    def test_a_tie_leaves_the_covariance_of_the_tied(self, name):
        keys = np.array([[1.0, 2, 0], [1, 0, 0], [1, 0, 3], [0, 5, 5]])
        found = jacobian(name, np.array([60.0, 0, 0]), keys, keys)
        np.testing.assert_allclose(found, np.cov(keys[:3].T, bias=True), atol=1e-12)
        assert np.linalg.norm(found) > 1
        keys[:3] = keys[0]  # the best key, stored three times
        assert np.linalg.norm(jacobian(name, np.array([60.0, 0, 0]), keys, keys)) < 1e-12
