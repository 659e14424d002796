"""What exercises 8 to 10 prove of kernel regression, on random databases."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import attnlib

pytestmark = pytest.mark.usefixtures("every_method")

quarters = st.integers(-20, 20).map(lambda n: n / 4)
pairs = st.lists(st.tuples(quarters, quarters), min_size=2, max_size=7, unique_by=lambda p: p[0])
databases = pairs.map(lambda pairs: np.array(sorted(pairs)).T)
widths = st.floats(0.1, 100)
kernels = st.sampled_from(sorted(attnlib.KERNELS))
seeds = st.integers(0, 2**32 - 1)


@given(databases, st.floats(-1e300, 1e300), st.floats(1e-300, 1e300), kernels)
def test_no_query_leaves_the_range_of_the_values(database, query, width, kernel):
    keys, values = database
    estimate = attnlib.nadaraya_watson(np.array([query]), keys, values, width, kernel)[0]
    slack = 1e-14 * np.abs(values).max()
    assert values.min() - slack <= estimate <= values.max() + slack


@given(databases, st.floats(0, 1e3), widths)
def test_far_away_only_the_last_value_counts(database, beyond, width):
    keys, values = database
    query = keys[-1] + beyond
    ratios = np.exp(-(keys[-1] - keys) / width**2 * (query - (keys + keys[-1]) / 2))
    bound = np.abs(values - values[-1])[:-1] @ ratios[:-1]
    estimate = attnlib.nadaraya_watson(np.array([query]), keys, values, width)[0]
    assert abs(estimate - values[-1]) <= bound + 1e-13


@given(databases, st.floats(3, 100))  # wide enough for every label to count in float64
def test_no_bandwidth_reaches_the_largest_label(database, width):
    keys, values = database
    assume(np.ptp(values) > 0)
    fitted = attnlib.nadaraya_watson(keys, keys, values, width)
    top = values == values.max()
    assert np.all(fitted[top] < values[top])


@given(databases, widths, st.floats(-100, 100))
def test_leaving_a_pair_out_divides_its_residual(database, width, shift):
    keys, values = database
    own = np.diagonal(attnlib.kernel_weights(keys, keys, width))
    residual = values - attnlib.nadaraya_watson(keys, keys, values, width)
    left_out = values - attnlib.leave_one_out(keys, values, width)
    np.testing.assert_allclose((1 - own) * left_out, residual, atol=1e-12)
    moved = values + shift - attnlib.leave_one_out(keys, values + shift, width)
    np.testing.assert_allclose(moved, left_out, atol=1e-11)


@given(databases, widths, kernels)
def test_a_label_left_out_has_no_weight_in_its_estimate(database, width, kernel):
    keys = database[0]
    weights = attnlib.leave_one_out(keys, np.eye(len(keys)), width, kernel)
    assert np.all(np.diagonal(weights) == 0)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-14)


@given(st.integers(1, 5), st.integers(1, 5), seeds)
def test_a_shared_map_makes_a_distance(r, d, seed):
    stream = np.random.default_rng(seed)
    points, matrix = stream.uniform(-5, 5, (6, d)), stream.standard_normal((r, d))
    scores = attnlib.metric(points, points, matrix)
    np.testing.assert_allclose(scores, scores.T, rtol=1e-14)
    assert np.all(np.diagonal(scores) == 0)
    assert np.all(scores <= 0)
    np.testing.assert_allclose(attnlib.metric(points + 1, points + 1, matrix), scores, atol=1e-11)
    distance = np.sqrt(-2 * scores)
    detour = distance[:, :, None] + distance[None]
    assert np.all(distance[:, None] <= detour + 1e-12)


@given(st.integers(2, 5), seeds)
def test_a_query_prefers_itself_exactly_if_the_maps_differ_across_the_keys(d, seed):
    """For A with B'A = B'B, where A maps queries and B keys; else a step along B'(A - B)q gains."""
    stream = np.random.default_rng(seed)
    rank = stream.integers(1, d)
    b = stream.standard_normal((d, rank)) @ stream.standard_normal((rank, d))
    across = np.eye(d) - b @ np.linalg.pinv(b)
    anything = stream.standard_normal((d, d))
    query = stream.standard_normal((1, d))

    def score(a, key):
        return attnlib.squared_distance(query @ a.T, key @ b.T)

    fitting = b + across @ anything
    keys = query + stream.standard_normal((50, d)) * 10.0 ** stream.uniform(-4, 1, (50, 1))
    assert np.all(score(fitting, keys) <= score(fitting, query) + 1e-10)

    uphill = query @ (anything - b).T @ b
    step = 1e-2 / np.linalg.norm(b, 2) ** 2
    assert np.all(score(anything, query + step * uphill) > score(anything, query))
