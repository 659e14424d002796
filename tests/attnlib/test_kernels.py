"""Kernels against their definitions."""

import numpy as np
import pytest
from scipy import stats

import attnlib

U = np.array([-2.0, -1.0, -0.5, 0.0, 0.25, 0.999, 1.0, 1.001, 3.0, 1e30])


def test_gaussian_is_the_normal_density_over_its_peak(lib):
    expected = stats.norm.pdf(U) / stats.norm.pdf(0)
    np.testing.assert_allclose(lib.numbers(attnlib.gaussian(lib.array(U))), expected, rtol=1e-14)


def test_triangular_is_the_triangular_density(lib):
    expected = stats.triang.pdf(U, c=0.5, loc=-1, scale=2)
    np.testing.assert_allclose(lib.numbers(attnlib.triangular(lib.array(U))), expected, rtol=1e-12)


def test_boxcar_includes_its_edge(lib):
    expected = [0, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    np.testing.assert_array_equal(lib.numbers(attnlib.boxcar(lib.array(U))), expected)


def test_constant(lib):
    np.testing.assert_array_equal(lib.numbers(attnlib.constant(lib.array(U))), np.ones(len(U)))


@pytest.mark.parametrize("name", attnlib.KERNELS)
def test_each_kernel_is_one_at_zero_even_and_never_rises(lib, name):
    u = np.linspace(0, 4, 401)
    kernel = attnlib.KERNELS[name]
    similarity = lib.numbers(kernel(lib.array(u)))
    assert similarity[0] == 1
    assert (np.diff(similarity) <= 0).all()
    np.testing.assert_array_equal(similarity, lib.numbers(kernel(lib.array(-u))))


def test_gradients_at_the_kinks_are_zero(gradlib):
    (gradient,) = gradlib.gradients(attnlib.triangular, gradlib.array([0.0, 1.0, -1.0, 0.5]))
    np.testing.assert_array_equal(gradient, [0, 0, 0, -1])


@pytest.mark.parametrize(("dtype", "far"), [("float16", 6e4), ("float32", 3e38)])
def test_too_far_to_square_is_no_similarity(lib, dtype, far):
    assert lib.numbers(attnlib.gaussian(lib.array([far], dtype))) == 0
