"""Scores against their formulas, and at distances where squares over- or underflow."""

import numpy as np
import pytest

import attnlib

DRAW = np.random.default_rng(3)
Q, K = DRAW.standard_normal((6, 3)), DRAW.standard_normal((9, 3))
GAPS = Q[:, None, :] - K


def test_dot_product(lib):
    scores = attnlib.dot_product(lib.array(Q), lib.array(K), scale=0.5)
    np.testing.assert_allclose(lib.numbers(scores), 0.5 * np.einsum("nd,md->nm", Q, K), rtol=1e-12)


def test_bilinear_with_two_widths(lib):
    matrix = DRAW.standard_normal((3, 2))
    scores = attnlib.bilinear(lib.array(Q), lib.array(K[:, :2]), lib.array(matrix))
    expected = np.einsum("nd,de,me->nm", Q, matrix, K[:, :2])
    np.testing.assert_allclose(lib.numbers(scores), expected, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [1, 0.3, np.float64(0.3), np.array(0.3)])
def test_squared_distance(lib, bandwidth):
    scores = attnlib.squared_distance(lib.array(Q), lib.array(K), bandwidth)
    expected = -(np.linalg.norm(GAPS, axis=-1) ** 2) / (2 * float(bandwidth) ** 2)
    np.testing.assert_allclose(lib.numbers(scores), expected, rtol=1e-12)


def test_squared_distance_with_a_bandwidth_for_each_query_or_key(lib):
    expected = -(np.linalg.norm(GAPS, axis=-1) ** 2) / 2
    for shape in ((6, 1), (9,), (6, 9), (2, 1, 1)):
        bandwidth = DRAW.uniform(0.5, 2, shape)
        scores = attnlib.squared_distance(lib.array(Q), lib.array(K), lib.array(bandwidth))
        np.testing.assert_allclose(lib.numbers(scores), expected / bandwidth**2, rtol=1e-12)


def test_metric(lib):
    for matrix in (DRAW.standard_normal((2, 3)), np.diag([1.0, 2.0, 0.0])):
        scores = attnlib.metric(lib.array(Q), lib.array(K), lib.array(matrix))
        expected = -(np.linalg.norm(np.einsum("rd,nmd->nmr", matrix, GAPS), axis=-1) ** 2) / 2
        np.testing.assert_allclose(lib.numbers(scores), expected, rtol=1e-12)
    diagonal = attnlib.metric(lib.array(Q), lib.array(K), lib.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(lib.numbers(diagonal), expected, rtol=1e-12)


def test_one_axis_means_scalar_positions(lib):
    q, k = lib.array(Q[:, 0]), lib.array(K[:, 0])
    for score in (attnlib.dot_product, attnlib.squared_distance):
        flat = lib.numbers(score(q, k))
        assert flat.shape == (6, 9)
        np.testing.assert_array_equal(flat, lib.numbers(score(q[:, None], k[:, None])))


def test_units_do_not_matter(lib):
    """Distances far below the root of the smallest float are measured as well as others."""
    unit = 2.0**-100  # its square is 0 in float32
    q, k = lib.array(Q, "float32"), lib.array(K, "float32")
    scores = attnlib.squared_distance(q * unit, k * unit, 0.5 * unit)
    np.testing.assert_array_equal(
        lib.numbers(scores), lib.numbers(attnlib.squared_distance(q, k, 0.5))
    )


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_too_far_to_square_is_minus_infinity_without_warning(lib, dtype):
    far = lib.array([0.0, {"float16": 6e4, "float32": 1e30}[dtype]], dtype)
    for scores in (
        attnlib.squared_distance(far, far),
        attnlib.metric(far, far, lib.array([1.0], dtype)),
    ):
        np.testing.assert_array_equal(lib.numbers(scores), [[0, -np.inf], [-np.inf, 0]])


def test_nearby_keys_far_from_the_origin_keep_their_digits(lib):
    """Differences come first: |q|^2 - 2qk + |k|^2 would give 0 or worse here."""
    q, k = lib.array([4096.0], "float32"), lib.array([4096.125, 4096.25], "float32")
    scores = lib.numbers(attnlib.squared_distance(q, k, 0.125))
    np.testing.assert_array_equal(scores, [[-0.5, -2.0]])
