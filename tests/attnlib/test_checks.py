"""Bad input: each error names the argument, what was expected and what came."""

import re
from functools import partial

import jax
import numpy as np
import pytest
import torch

import attnlib
from attnlib import data

pytestmark = pytest.mark.usefixtures("every_method")


def error(kind, call, *words):
    """The call raises this kind of error, and its message contains all these words."""
    with pytest.raises(kind) as caught:
        call()
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"


def ones(lib, *shape, dtype="float32"):
    return lib.array(np.ones(shape), dtype)


TAKES_PAIRS = {
    "dot_product": attnlib.dot_product,
    "squared_distance": attnlib.squared_distance,
    "metric": lambda q, k: attnlib.metric(q, k, q[0]),
    "kernel_weights": attnlib.kernel_weights,
    "attention": lambda q, k: attnlib.attention(q, k, k),
    "nadaraya_watson": lambda q, k: attnlib.nadaraya_watson(q, k, k, 1.0),
}


@pytest.fixture(params=TAKES_PAIRS)
def pair(request):
    return TAKES_PAIRS[request.param]


class TestQueriesAndKeys:
    def test_rank(self, lib, pair):
        if pair is not TAKES_PAIRS["metric"]:
            error(
                ValueError,
                lambda: pair(ones(lib), ones(lib, 4, 3)),
                "queries: expected shape (..., number, width)",
                "(number,) for scalar positions",
                "got shape () and dtype float32",
            )
        error(ValueError, lambda: pair(ones(lib, 2, 3), ones(lib)), "keys: expected shape", "()")

    def test_width(self, lib, pair):
        error(
            ValueError,
            lambda: pair(ones(lib, 2, 3), ones(lib, 4, 5)),
            "queries and keys: expected the same d_k",
            "queries of shape (2, 3) and dtype float32",
            "keys of shape (4, 5) and dtype float32",
        )

    def test_batch_axes(self, lib, pair):
        error(
            ValueError,
            lambda: pair(ones(lib, 2, 6, 3), ones(lib, 4, 5, 3)),
            "queries and keys: expected batch axes",
            "(2, 6, 3)",
            "(4, 5, 3)",
        )

    def test_empty_database(self, lib, pair):
        error(
            ValueError,
            lambda: pair(ones(lib, 2, 3), ones(lib, 0, 3)),
            "keys: expected at least one key",
            "got shape (0, 3)",
        )

    def test_integers(self, lib, pair):
        whole = ones(lib, 4, 3, dtype="int32")
        error(
            TypeError,
            lambda: pair(ones(lib, 2, 3), whole),
            "keys: expected one of the dtypes float16, bfloat16, float32, float64",
            "got int32",
        )
        error(TypeError, lambda: pair(whole, ones(lib, 4, 3)), "queries: expected", "got int32")

    def test_lists(self, lib, pair):
        error(
            TypeError,
            lambda: pair(ones(lib, 2, 3), [[1.0, 2.0, 3.0]]),
            "keys: expected an array of NumPy, PyTorch or JAX",
            "got list",
        )

    def test_two_frameworks(self, pair):
        error(
            TypeError,
            lambda: pair(torch.ones(2, 3), np.ones((4, 3))),
            "expected arrays of one framework",
            "queries from torch",
            "keys from numpy",
        )
        error(
            TypeError,
            lambda: pair(np.ones((2, 3)), jax.numpy.ones((4, 3))),
            "queries from numpy",
            "keys from jax",
        )


class TestValues:
    @pytest.fixture(params=["attention", "nadaraya_watson", "leave_one_out", "error", "search"])
    def lookup(self, request):
        return {
            "attention": lambda k, v: attnlib.attention(k, k, v),
            "nadaraya_watson": lambda k, v: attnlib.nadaraya_watson(k, k, v, 1.0),
            "leave_one_out": lambda k, v: attnlib.leave_one_out(k, v, 1.0),
            "error": lambda k, v: attnlib.leave_one_out_error(k, v, 1.0),
            "search": lambda k, v: attnlib.choose_bandwidth(k, v, [1.0]),
        }[request.param]

    @pytest.mark.parametrize("shape", [(), (5,), (5, 4), (5, 1, 1)])
    def test_number(self, lib, lookup, shape):
        error(
            ValueError,
            lambda: lookup(ones(lib, 4, 3), ones(lib, *shape)),
            "values: expected one for each of the 4 keys",
            "vectors (..., 4, d_v) with 2 or more axes, or scalars (..., 4) with fewer",
            f"got shape {shape} and dtype float32",
        )

    def test_two_frameworks(self, lookup):
        error(
            TypeError,
            lambda: lookup(torch.ones(4, 3), np.ones(4)),
            "one framework",
            "values from numpy",
        )

    def test_integers(self, lib, lookup):
        error(
            TypeError,
            lambda: lookup(ones(lib, 4, 3), ones(lib, 4, dtype="int32")),
            "values: expected one of the dtypes",
            "got int32",
        )

    def test_of_pool(self, lib):
        error(
            ValueError,
            lambda: attnlib.pool(ones(lib, 2, 4), ones(lib, 5)),
            "values: expected one for each of the 4 keys",
            "got shape (5,)",
        )
        error(
            ValueError,
            lambda: attnlib.pool(ones(lib, 7, 2, 4), ones(lib, 4, 3)),
            "vectors (..., 4, d_v) with 3 or more axes",
            "got shape (4, 3)",
        )

    def test_a_single_pair_cannot_be_left_out(self, lib):
        for lookup in (attnlib.leave_one_out, attnlib.leave_one_out_error):
            error(
                ValueError,
                partial(lookup, ones(lib, 1, 3), ones(lib, 1), 1.0),
                "keys: expected at least two pairs",
                "got shape (1, 3)",
            )


class TestBandwidth:
    @pytest.fixture(params=["squared_distance", "kernel_weights", "nadaraya_watson", "loo"])
    def smoother(self, request):
        return {
            "squared_distance": attnlib.squared_distance,
            "kernel_weights": attnlib.kernel_weights,
            "nadaraya_watson": lambda q, k, b: attnlib.nadaraya_watson(q, k, k[:, 0], b),
            "loo": lambda q, k, b: attnlib.leave_one_out(k, k[:, 0], b),
        }[request.param]

    @pytest.mark.parametrize("number", [0, 0.0, -1.5, float("nan"), np.float32(-2)])
    def test_number(self, lib, smoother, number):
        error(
            ValueError,
            lambda: smoother(ones(lib, 2, 3), ones(lib, 4, 3), number),
            "bandwidth: expected a positive number",
            f"got {float(number):g}",
        )

    @pytest.mark.parametrize("number", [0.0, -1.5, float("nan")])
    def test_array(self, lib, smoother, number):
        bandwidth = lib.array([[1.0], [number]])
        error(
            ValueError,
            lambda: smoother(ones(lib, 2, 3), ones(lib, 4, 3), bandwidth),
            "bandwidth: expected positive numbers",
            f"{number:g}",
        )

    def test_shape(self, lib, smoother):
        error(
            ValueError,
            lambda: smoother(ones(lib, 4, 3), ones(lib, 4, 3), ones(lib, 5)),
            "bandwidth: expected a shape that broadcasts against (..., n, m) = (4, 4)",
            "got shape (5,)",
        )

    def test_shape_that_would_add_queries(self, lib):
        error(
            ValueError,
            lambda: attnlib.kernel_weights(ones(lib, 1, 3), ones(lib, 4, 3), ones(lib, 6, 1)),
            "(1, 4)",
            "(6, 1)",
        )

    def test_type(self, lib, smoother):
        pair = ones(lib, 4, 3), ones(lib, 4, 3)
        error(TypeError, lambda: smoother(*pair, None), "bandwidth: expected an array", "NoneType")
        error(TypeError, lambda: smoother(*pair, True), "bandwidth: expected an array", "bool")
        error(TypeError, lambda: smoother(*pair, [1.0]), "bandwidth: expected an array", "list")
        whole = ones(lib, 1, dtype="int32")
        error(TypeError, lambda: smoother(*pair, whole), "bandwidth: expected one of the", "int32")

    def test_two_frameworks(self, smoother):
        error(
            TypeError,
            lambda: smoother(torch.ones(4, 3), torch.ones(4, 3), np.ones(1)),
            "one framework",
            "bandwidth from numpy",
            "keys from torch",
        )

    def test_traced_values_pass(self, smoother):
        """A value that is not known yet cannot be wrong yet."""
        keys = torch.randn(4, 3)
        every = torch.func.vmap(lambda b: smoother(keys, keys, b))(torch.tensor([1.0, 2.0]))
        torch.testing.assert_close(every[1], smoother(keys, keys, 2.0))
        keys = jax.numpy.asarray(keys.numpy())
        traced = jax.jit(lambda b: smoother(keys, keys, b))(2.0)
        np.testing.assert_allclose(traced, every[1], rtol=1e-5, atol=1e-6)


class TestMask:
    @pytest.fixture(params=["softmax_weights", "kernel_weights", "attention", "nadaraya_watson"])
    def masked(self, request, lib):
        q, k = ones(lib, 2, 3), ones(lib, 4, 3)
        return {
            "softmax_weights": lambda m: attnlib.softmax_weights(ones(lib, 2, 4), mask=m),
            "kernel_weights": lambda m: attnlib.kernel_weights(q, k, mask=m),
            "attention": lambda m: attnlib.attention(q, k, k, mask=m),
            "nadaraya_watson": lambda m: attnlib.nadaraya_watson(q, k, k, 1.0, mask=m),
        }[request.param]

    def test_dtype(self, lib, masked):
        error(
            TypeError,
            lambda: masked(ones(lib, 2, 4)),
            "mask: expected dtype bool, True = may be used",
            "got shape (2, 4) and dtype float32",
        )

    def test_type(self, masked):
        error(TypeError, lambda: masked([True] * 4), "mask: expected a boolean array", "got list")

    def test_shape(self, lib, masked):
        error(
            ValueError,
            lambda: masked(lib.array(np.ones((2, 5)), "bool")),
            "mask: expected a shape that broadcasts against (..., n, m) = (2, 4)",
            "got shape (2, 5) and dtype bool",
        )

    def test_two_frameworks(self, lib, masked):
        other = np.ones(4, bool) if lib.name == "torch" else torch.ones(4, dtype=torch.bool)
        owner = "numpy" if lib.name == "torch" else "torch"
        error(TypeError, lambda: masked(other), f"mask: expected an array of {lib.name}", owner)


class TestChoices:
    @pytest.mark.parametrize("kernel", ["epanechnikov", None, ["gaussian"]])
    def test_kernel(self, lib, kernel):
        error(
            ValueError,
            lambda: attnlib.kernel_weights(ones(lib, 2), ones(lib, 4), 1.0, kernel),
            "kernel: expected one of gaussian, boxcar, triangular, constant",
            f"got {kernel!r}",
        )

    def test_empty(self, lib):
        for call, words in {
            lambda: attnlib.kernel_weights(ones(lib, 2), ones(lib, 4), empty="zeros"): (
                "nearest, average, zero, nan",
            ),
            lambda: attnlib.softmax_weights(ones(lib, 2, 4), empty="nearest"): (
                "zero, average, nan",
            ),
        }.items():
            error(ValueError, call, "empty: expected one of", *words)

    def test_framework(self):
        for draw in (
            data.section_data,
            partial(data.section_noise, redraws=2, seed=0),
            partial(data.metric_data, n=2, seed=0),
            partial(data.unit_sphere, m=2, d=2, seed=0),
            partial(data.standard_normal, shape=(2,), seed=0),
        ):
            error(
                ValueError, partial(draw, "numpy"), "framework: expected one of torch, jax", "numpy"
            )
        error(
            ValueError,
            lambda: data.two_entry_database("tensorflow"),
            "framework: expected one of",
            "'tensorflow'",
        )


class TestScores:
    def test_of_one_axis_at_least(self, lib):
        for function in (
            attnlib.softmax_weights,
            attnlib.nearest_weights,
            attnlib.average_weights,
            attnlib.effective_number,
            lambda weights: attnlib.pool(weights, weights),
        ):
            error(
                ValueError, partial(function, ones(lib)), "expected shape (..., n, m)", "shape ()"
            )
            error(ValueError, partial(function, ones(lib, 2, 0)), "at least one key", "(2, 0)")
            error(TypeError, partial(function, [1.0]), "expected an array", "got list")
            error(TypeError, partial(function, ones(lib, 2, dtype="int32")), "dtypes", "int32")

    def test_bilinear_matrix(self, lib):
        error(
            ValueError,
            lambda: attnlib.bilinear(ones(lib, 2, 3), ones(lib, 4, 5), ones(lib, 5, 3)),
            "matrix: expected shape (d_q, d_k) = (3, 5)",
            "got shape (5, 3)",
        )

    @pytest.mark.parametrize("shape", [(), (4,), (3, 4), (2, 3, 3)])
    def test_metric_matrix(self, lib, shape):
        error(
            ValueError,
            lambda: attnlib.metric(ones(lib, 2, 3), ones(lib, 4, 3), ones(lib, *shape)),
            "matrix: expected shape (3,) or (r, 3)",
            f"got shape {shape}",
        )

    def test_matrix_of_another_framework(self):
        matrix = np.ones((3, 3))
        for score in (attnlib.bilinear, attnlib.metric):
            error(
                TypeError,
                partial(score, torch.ones(2, 3), torch.ones(4, 3), matrix),
                "one framework",
                "matrix from numpy",
            )

    def test_kernels_take_arrays(self):
        for kernel in attnlib.KERNELS.values():
            error(TypeError, partial(kernel, 0.5), "u: expected an array", "got float")

    def test_score_function(self, lib):
        q, k = ones(lib, 2, 3), ones(lib, 4, 3)
        error(
            TypeError,
            lambda: attnlib.attention(q, k, k, score="dot_product"),
            "score: expected a function of (queries, keys)",
            "got 'dot_product'",
        )
        error(
            ValueError,
            lambda: attnlib.attention(q, k, k, score=lambda q, k: attnlib.dot_product(k, q)),
            "score: expected a function that returns scores of shape (..., n, m) = (2, 4)",
            "got shape (4, 2)",
        )
        error(
            TypeError,
            lambda: attnlib.attention(q, k, k, score=lambda q, k: 1.0),
            "result of score: expected an array",
            "got float",
        )


class TestGrid:
    @pytest.mark.parametrize("grid", [[], [1.0, 1.0], [2.0, 1.0]])
    def test_order(self, lib, grid):
        error(
            ValueError,
            lambda: attnlib.choose_bandwidth(ones(lib, 4), ones(lib, 4), grid),
            "bandwidths: expected at least one, in increasing order",
            f"got {grid}",
        )

    def test_positive(self, lib):
        error(
            ValueError,
            lambda: attnlib.choose_bandwidth(ones(lib, 4), ones(lib, 4), [0.0, 1.0]),
            "bandwidth: expected a positive number, got 0.0",
        )

    def test_batch(self, lib):
        error(
            ValueError,
            lambda: attnlib.choose_bandwidth(ones(lib, 2, 4, 3), ones(lib, 2, 4), [1.0]),
            "keys: expected shape (m, d_k) or (m,)",
            "got shape (2, 4, 3)",
        )

    def test_no_bandwidth_reaches_every_pair(self, lib):
        error(
            ValueError,
            lambda: attnlib.choose_bandwidth(
                lib.array([0.0, 1.0, 9.0]), ones(lib, 3), [1.0, 2.0], "boxcar", empty="nan"
            ),
            "bandwidths: the error is NaN at every one of [1.0, 2.0]",
        )


def test_messages_hold_no_address():
    """Nothing like <object at 0x...>: messages are the same in every run."""
    with pytest.raises(TypeError) as caught:
        attnlib.pool(object(), np.ones(3))
    assert not re.search("0x[0-9a-f]+", str(caught.value))
