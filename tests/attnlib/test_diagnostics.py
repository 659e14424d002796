"""The effective number of keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import attnlib


def test_known_weights(lib):
    weights = [[1, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0], [0.5, 0.25, 0.25, 0]]
    found = lib.numbers(attnlib.effective_number(lib.array(weights)))
    np.testing.assert_allclose(found, [1, 4, 2, 8 / 3], rtol=1e-14)


def test_a_row_of_zeros_uses_no_key(lib):
    found = attnlib.effective_number(lib.array([[0.0, 0.0], [0.5, 0.5]]))
    np.testing.assert_array_equal(lib.numbers(found), [0, 2])


def test_gradient_at_a_row_of_zeros_is_zero(gradlib):
    weights = gradlib.array([[0.0, 0.0], [0.5, 0.5]])
    (gradient,) = gradlib.gradients(attnlib.effective_number, weights)
    np.testing.assert_allclose(gradient, [[0, 0], [-4, -4]])  # -2 w / (sum w^2)^2


@given(
    npst.arrays(
        np.float64, st.tuples(st.integers(1, 5), st.integers(1, 30)), elements=st.floats(-1e3, 1e3)
    )
)
def test_between_one_and_the_number_of_keys(scores):
    number = attnlib.effective_number(attnlib.softmax_weights(scores))
    assert (number >= 1 - 1e-12).all()
    assert (number <= scores.shape[-1] * (1 + 1e-12)).all()


def test_half_precision_counts_many_keys(lib):
    """A thousand weights of 1/1000: their squares, 1e-6, vanish in float16."""
    weights = lib.array(np.full((1, 1000), 1e-3), "float16")
    assert abs(lib.numbers(attnlib.effective_number(weights))[0] - 1000) < 2
