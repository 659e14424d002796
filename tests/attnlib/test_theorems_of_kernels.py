"""What exercises 5 to 7 prove of kernel weights, on random databases, ties included."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import attnlib

# Quarters are exact in binary, so that equal distances are equal to the last bit.
quarters = st.integers(-20, 20).map(lambda n: n / 4)
positions = st.lists(quarters, min_size=1, max_size=7).map(np.array)
widths = st.floats(0.1, 100)
seeds = st.integers(0, 2**32 - 1)


@given(quarters, positions, widths)
def test_the_nearest_keys_and_no_others_have_the_largest_weight(query, keys, width):
    weights = attnlib.kernel_weights(np.array([query]), keys, width)[0]
    distances = np.abs(query - keys)
    np.testing.assert_array_equal(weights == weights.max(), distances == distances.min())


@given(st.integers(2, 7), st.integers(1, 16), st.floats(0.3, 2), seeds)
def test_a_key_and_its_mirror_image_take_more_than_two_orthogonal_keys(m, d, width, seed):
    keys = np.random.default_rng(seed).standard_normal((m, d))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    signs = np.array([(1, *rest) for rest in product([-1, 1], repeat=m - 1)])
    mirrored = signs[:, :, None] * keys  # every choice of mirror images, the first key kept
    on_the_first = attnlib.kernel_weights(keys[None, :1], mirrored, width)[:, 0, 0]
    orthogonal = attnlib.kernel_weights(np.eye(m), np.eye(m), width)[0, 0]
    assert on_the_first.mean() < orthogonal


@given(quarters, positions, widths, st.floats(1, 10))
def test_a_wider_gaussian_uses_more_keys(query, keys, width, factor):
    narrow, wide = (
        attnlib.effective_number(attnlib.kernel_weights(np.array([query]), keys, h))
        for h in (width, factor * width)
    )
    assert wide >= narrow * (1 - 1e-9)


@given(st.integers(1, 30), st.floats(0.05, 20), seeds)
def test_the_effective_number_measures_the_spread_of_the_weights(m, evenness, seed):
    weights = np.random.default_rng(seed).dirichlet(np.full(m, evenness))
    variation = np.std(weights) / np.mean(weights)
    np.testing.assert_allclose(attnlib.effective_number(weights), m / (1 + variation**2))


@given(quarters, positions, widths, st.sampled_from(sorted(attnlib.KERNELS)), st.floats(0.1, 9))
def test_the_variance_is_that_of_a_mean_of_the_effective_number(query, keys, width, kernel, s):
    """Noise of +s or -s, all of whose outcomes can be listed."""
    noise = s * np.array(list(product([-1.0, 1.0], repeat=len(keys)))).T
    labels = keys[:, None] + noise  # one column an outcome
    queries = np.array([[query]])
    estimates = attnlib.nadaraya_watson(queries, keys[:, None], labels, width, kernel)
    weights = attnlib.kernel_weights(queries, keys[:, None], width, kernel)
    variance = s**2 / attnlib.effective_number(weights)
    np.testing.assert_allclose(estimates.var(), variance[0], rtol=1e-9)


@given(quarters, positions, st.sampled_from(["boxcar", "triangular"]))
def test_an_empty_query_takes_the_limit_of_shrinking_kernels(query, keys, kernel):
    values = np.sin(3 * keys) + np.arange(len(keys))
    distance = np.abs(query - keys).min()
    above = distance * (1 + 1e-6) or 1e-6
    last, *rest = (
        attnlib.nadaraya_watson(np.array([query]), keys, values, width, kernel)[0]
        for width in (above, distance * (1 - 1e-6) or 1e-7, distance / 100 or 1e-8)
    )
    np.testing.assert_allclose(rest, last, rtol=1e-9)


@given(quarters, positions, st.integers(1, 20).map(lambda n: n / 4))
def test_only_the_boxcar_reaches_a_key_at_its_radius(query, keys, radius):
    distance = np.abs(query - keys).min()
    for kernel, empty in (("boxcar", distance > radius), ("triangular", distance >= radius)):
        weights = attnlib.kernel_weights(np.array([query]), keys, radius, kernel, empty="zero")
        assert (weights.sum() == 0) == empty
