"""Signatures tell the truth about shapes. For calls of every kind: see test_every_function."""

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from attnlib import data


def test_scalar_positions(numpy_lib, typed):
    q, k = numpy_lib.array([0.5, 1.5, 2.5]), numpy_lib.array([0.0, 1.0])
    for kernel in ("gaussian", "boxcar"):
        typed.nadaraya_watson(q, k, k, 1.0, kernel)
        typed.leave_one_out(k, k, numpy_lib.array(0.5), kernel)
    typed.attention(q, k, k)
    typed.choose_bandwidth(k, k, [0.1, 1.0])


def test_draws(framework, checked):
    checked(data.section_data)(framework)
    checked(data.section_noise)(framework, 3, 0)
    checked(data.metric_data)(framework, 3, 0)
    checked(data.unit_sphere)(framework, 3, 2, 0, databases=5)
    checked(data.standard_normal)(framework, (2,), 0)
    checked(data.two_entry_database)(framework)


def test_the_check_can_fail(typed, checked):
    with pytest.raises(TypeCheckError, match="values"):
        typed.nadaraya_watson(np.ones(3), np.ones(4), np.ones(5), 1.0)
    with pytest.raises(TypeCheckError, match="keys"):
        typed.dot_product(np.ones((3, 2)), np.ones((4, 5)))

    def flatten(u: "Elements") -> "Elements":  # noqa: F821  (found among attnlib's types)
        return u.reshape(-1)

    with pytest.raises(TypeCheckError, match="return value"):
        checked(flatten)(np.ones((2, 3)))
