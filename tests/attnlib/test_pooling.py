"""Weights and pooling against outside implementations, in extreme places, and their laws."""

import jax
import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import attnlib

pytestmark = pytest.mark.usefixtures("every_method")

DRAW = np.random.default_rng(5)
Q, K, V = (DRAW.standard_normal(shape) for shape in ((6, 3), (9, 3), (9, 3)))
MASK = DRAW.uniform(size=(6, 9)) < 0.6
MASK[2] = False  # a query that may use no key
SCORES = Q @ K.T
COMPACT = ("boxcar", "triangular")
TINY = {"float32": 1e-30, "float64": 1e-300}


class TestAgainstOthers:
    def test_scipy_softmax(self, lib):
        weights = lib.numbers(attnlib.softmax_weights(lib.array(100 * SCORES)))
        np.testing.assert_allclose(weights, scipy.special.softmax(100 * SCORES, -1), rtol=1e-12)

    def test_scipy_softmax_masked(self, lib):
        weights = attnlib.softmax_weights(lib.array(SCORES), mask=lib.array(MASK, "bool"))
        expected = scipy.special.softmax(np.where(MASK, SCORES, -1e300), -1)
        expected[2] = 0
        np.testing.assert_allclose(lib.numbers(weights), expected, rtol=1e-12)

    @pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-12)])
    def test_torch_attention(self, lib, dtype, tolerance):
        q, k, v = (lib.array(a, dtype) for a in (Q, K, V))
        result = attnlib.attention(
            q,
            k,
            v,
            score=lambda q, k: attnlib.dot_product(q, k, scale=0.7),
            mask=lib.array(MASK, "bool"),
        )
        expected = torch.nn.functional.scaled_dot_product_attention(
            *(torch.tensor(a, dtype=getattr(torch, dtype))[None] for a in (Q, K, V)),
            attn_mask=torch.tensor(MASK),
            scale=0.7,
        )[0].numpy()
        np.testing.assert_allclose(lib.numbers(result), expected, rtol=tolerance, atol=tolerance)
        assert (expected[2] == 0).all()  # the default for empty rows is PyTorch's

    def test_jax_attention(self, lib):
        q, k, v = (lib.array(a, "float32") for a in (Q, K, V))
        result = attnlib.attention(q, k, v, mask=lib.array(MASK, "bool"), empty="average")
        expected = jax.nn.dot_product_attention(
            *(jax.numpy.asarray(a, "float32")[:, None] for a in (Q, K, V)),
            mask=MASK[None],
            scale=1.0,
        )[:, 0]
        np.testing.assert_allclose(lib.numbers(result), expected, rtol=1e-5, atol=1e-6)

    def test_kernels_by_definition(self, lib):
        u = np.linalg.norm(Q[:, None] - K, axis=-1) / 2.5
        for name, similarity in {
            "gaussian": np.exp(-(u**2) / 2),
            "boxcar": u <= 1,
            "triangular": np.maximum(0, 1 - u),
            "constant": np.ones_like(u),
        }.items():
            weights = attnlib.kernel_weights(lib.array(Q), lib.array(K), 2.5, name, empty="nan")
            expected = similarity / similarity.sum(-1, keepdims=True)
            np.testing.assert_allclose(lib.numbers(weights), expected, rtol=1e-12)

    def test_gaussian_is_a_softmax(self, lib):
        q, k = lib.array(Q), lib.array(K)
        by_score = attnlib.softmax_weights(attnlib.squared_distance(q, k, 0.4))
        weights = attnlib.kernel_weights(q, k, 0.4)
        np.testing.assert_allclose(lib.numbers(weights), lib.numbers(by_score), rtol=1e-12)


class TestValues:
    def test_scalars_and_vectors(self, lib):
        weights, y = lib.array(np.abs(SCORES)), lib.array(V[:, 0])
        flat = lib.numbers(attnlib.pool(weights, y))
        np.testing.assert_allclose(flat, np.abs(SCORES) @ V[:, 0], rtol=1e-12)
        np.testing.assert_allclose(
            lib.numbers(attnlib.pool(weights, y[:, None])), flat[:, None], rtol=1e-14
        )

    def test_one_row(self, lib):
        row = lib.array([0.25, 0.75])
        assert lib.numbers(attnlib.pool(row, lib.array([10.0, 20.0]))) == 17.5
        np.testing.assert_array_equal(
            lib.numbers(attnlib.pool(row, lib.array(np.eye(2)))), [0.25, 0.75]
        )

    def test_as_many_values_as_coordinates(self, lib):
        """The number of axes decides between scalars and vectors, never a size."""
        q, k = (
            lib.array(DRAW.standard_normal((4, 2, 3))),
            lib.array(DRAW.standard_normal((4, 5, 3))),
        )
        square = lib.array(DRAW.standard_normal((4, 5)))
        assert tuple(attnlib.attention(q, k, square).shape) == (4, 2)
        assert tuple(attnlib.attention(q, k[0], square.T[:5]).shape) == (4, 2, 4)
        assert tuple(attnlib.attention(q, k, square[0]).shape) == (4, 2)
        assert tuple(attnlib.attention(q[0], k[0], square[0]).shape) == (2,)

    def test_mixed_precision_takes_the_wider(self, lib):
        weights = lib.array(np.abs(SCORES), "float32")
        assert str(attnlib.pool(weights, lib.array(V)).dtype).endswith("float64")

    def test_matrix_in_the_score_may_be_wider(self, lib):
        q, k, v = (lib.array(a, "float32") for a in (Q, K, V))
        result = attnlib.attention(
            q, k, v, score=lambda q, k: attnlib.bilinear(q, k, lib.array(np.eye(3)))
        )
        assert str(result.dtype).endswith("float32")
        np.testing.assert_allclose(
            lib.numbers(result), lib.numbers(attnlib.attention(q, k, v)), rtol=1e-5
        )

    def test_half_scores_stay_in_float32(self, lib):
        """Scores of 90000 do not fit float16, and near 300 it knows only quarters."""
        q, k = lib.array([[300.0]], "float16"), lib.array([[300.0], [299.75]], "float16")
        result = attnlib.attention(q, k, lib.array([0.0, 1.0], "float16"))
        assert lib.numbers(result)[0] == pytest.approx(scipy.special.expit(-75), abs=1e-7)
        result = attnlib.attention(q / 300, k, lib.array([0.0, 1.0], "float16"))
        assert lib.numbers(result)[0] == pytest.approx(scipy.special.expit(-0.25), rel=1e-3)


class TestLimits:
    def test_nearest(self, lib):
        scores = [[1.0, 3.0, 2.0], [5.0, 5.0, 0.0], [-np.inf, -1.0, -np.inf], [2.0, np.nan, 1.0]]
        expected = [[0, 1, 0], [0.5, 0.5, 0], [0, 1, 0], [np.nan] * 3]
        found = lib.numbers(attnlib.nearest_weights(lib.array(scores)))
        np.testing.assert_array_equal(found, expected)

    def test_softmax_tends_to_them(self, lib):
        scores = lib.array(SCORES)
        for factor, limit in ((1e6, attnlib.nearest_weights), (1e-12, attnlib.average_weights)):
            found = lib.numbers(attnlib.softmax_weights(factor * scores))
            np.testing.assert_allclose(found, lib.numbers(limit(scores)), atol=1e-10)

    @pytest.mark.parametrize("kernel", ["gaussian", *COMPACT])
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_tiny_bandwidth_is_the_nearest_key(self, lib, kernel, dtype):
        q, k = lib.array(Q, dtype), lib.array(K, dtype)
        nearest = np.linalg.norm(Q[:, None] - K, axis=-1).argmin(-1)
        for bandwidth in (TINY[dtype], lib.array(TINY[dtype], dtype), 1e-310):
            weights = lib.numbers(attnlib.kernel_weights(q, k, bandwidth, kernel))
            np.testing.assert_array_equal(weights, np.eye(9)[nearest])

    def test_huge_bandwidth_is_the_average(self, lib):
        for bandwidth in (1e30, float("inf"), lib.array(float("inf"))):
            for kernel in attnlib.KERNELS:
                weights = attnlib.kernel_weights(
                    lib.array(Q, "float32"), lib.array(K, "float32"), bandwidth, kernel
                )
                np.testing.assert_allclose(lib.numbers(weights), 1 / 9, rtol=1e-6)

    @pytest.mark.parametrize("far", [15.0, 1e3, 1e6])
    def test_far_queries_use_the_nearest_key(self, lib, far):
        """exp(-200) is 0 in single precision; the ratio of two such numbers is not 0/0 here."""
        keys = lib.array([0.0, 1.0, 4.0], "float32")
        weights = lib.numbers(attnlib.kernel_weights(lib.array([far, -far], "float32"), keys, 0.5))
        np.testing.assert_allclose(weights, [[0, 0, 1], [1, 0, 0]], atol=1e-26)

    @pytest.mark.parametrize("kernel", ["gaussian", *COMPACT])
    def test_too_far_to_square(self, lib, kernel):
        keys = lib.array([-1e25, 0.0, 3e25], "float32")
        weights = attnlib.kernel_weights(lib.array([1e30, 1e25], "float32"), keys, 1.0, kernel)
        np.testing.assert_array_equal(lib.numbers(weights), [[0, 0, 1], [0, 1, 0]])

    def test_units_do_not_matter(self, lib):
        q, k = lib.array(Q, "float32"), lib.array(K, "float32")
        for unit in (2.0**-100, 2.0**60):
            for kernel in attnlib.KERNELS:
                np.testing.assert_array_equal(
                    lib.numbers(attnlib.kernel_weights(q * unit, k * unit, 0.5 * unit, kernel)),
                    lib.numbers(attnlib.kernel_weights(q, k, 0.5, kernel)),
                )

    def test_one_key_has_all_weight(self, lib):
        q, k = lib.array(Q), lib.array(K[:1])
        for kernel in attnlib.KERNELS:
            np.testing.assert_array_equal(
                lib.numbers(attnlib.kernel_weights(q, k, 0.01, kernel)), 1
            )
        np.testing.assert_array_equal(lib.numbers(attnlib.softmax_weights(q @ k.T)), 1)

    def test_identical_keys_share(self, lib):
        k = lib.array(np.ones((4, 3)))
        for kernel in attnlib.KERNELS:
            for bandwidth in (1e-9, 1.0, 1e9):
                weights = attnlib.kernel_weights(lib.array(Q), k, bandwidth, kernel)
                np.testing.assert_allclose(lib.numbers(weights), 0.25, rtol=1e-14)


# For rows that no kernel reaches: queries 9 and 3 among the keys 0, 1, 2 and 4.
OUT_OF_REACH = {
    "nearest": [[0, 0, 0, 1], [0, 0, 0.5, 0.5]],
    "average": [[0.25] * 4] * 2,
    "zero": [[0] * 4] * 2,
    "nan": [[np.nan] * 4] * 2,
}
# The same where the key 4 may not be used, and where none may.
WITHOUT_LAST = {"nearest": [0, 0, 1, 0], "average": [1 / 3, 1 / 3, 1 / 3, 0]}
WITHOUT_ANY = {"nearest": [0] * 4, "average": [0.25] * 4, "zero": [0] * 4, "nan": [np.nan] * 4}


class TestEmptyRows:
    @pytest.fixture
    def keys(self, lib):
        return lib.array([0.0, 1.0, 2.0, 4.0])

    @pytest.mark.parametrize("kernel", COMPACT)
    @pytest.mark.parametrize("empty", OUT_OF_REACH)
    def test_out_of_reach(self, lib, keys, kernel, empty):
        weights = attnlib.kernel_weights(
            lib.array([0.5, 9.0, 3.0]), keys, 0.75, kernel, empty=empty
        )
        expected = [[0.5, 0.5, 0, 0], *OUT_OF_REACH[empty]]
        np.testing.assert_allclose(lib.numbers(weights), expected, rtol=1e-14)

    @pytest.mark.parametrize("kernel", COMPACT)
    @pytest.mark.parametrize("empty", WITHOUT_LAST)
    def test_out_of_reach_of_the_usable(self, lib, keys, kernel, empty):
        weights = attnlib.kernel_weights(
            lib.array([9.0, 3.0]),
            keys,
            0.75,
            kernel,
            mask=lib.array([True, True, True, False], "bool"),
            empty=empty,
        )
        np.testing.assert_allclose(lib.numbers(weights), [WITHOUT_LAST[empty]] * 2, rtol=1e-14)

    @pytest.mark.parametrize("kernel", attnlib.KERNELS)
    @pytest.mark.parametrize("empty", WITHOUT_ANY)
    def test_no_usable_key(self, lib, keys, kernel, empty):
        mask = lib.array([[False] * 4, [True] * 4], "bool")
        weights = lib.numbers(
            attnlib.kernel_weights(lib.array([1.0, 1.0]), keys, 9.0, kernel, mask=mask, empty=empty)
        )
        np.testing.assert_array_equal(weights[0], WITHOUT_ANY[empty])
        assert weights[1].sum() == pytest.approx(1)

    @pytest.mark.parametrize("empty", ["average", "zero", "nan"])
    def test_softmax(self, lib, empty):
        scores = lib.array([[1.0, 2.0, 3.0, 4.0], [-np.inf] * 4])
        mask = lib.array([[False] * 4, [True] * 4], "bool")
        weights = lib.numbers(attnlib.softmax_weights(scores, mask=mask, empty=empty))
        np.testing.assert_array_equal(weights, [WITHOUT_ANY[empty]] * 2)

    @pytest.mark.parametrize("empty", ["average", "zero", "nan"])
    def test_a_gaussian_reaches_every_query(self, lib, keys, empty):
        """What underflows is the nearest key, whatever is asked for rows without weight."""
        weights = attnlib.kernel_weights(
            lib.array([1.2]),
            keys,
            1e-200,
            empty=empty,
        )
        np.testing.assert_array_equal(lib.numbers(weights), [[0, 1, 0, 0]])

    def test_nearest_is_measured_in_bandwidths(self, lib):
        keys, bandwidth = lib.array([0.0, 5.0]), lib.array([0.1, 1.0])
        for kernel in COMPACT:
            weights = attnlib.kernel_weights(lib.array([2.0]), keys, bandwidth, kernel)
            np.testing.assert_array_equal(lib.numbers(weights), [[0, 1]])  # 20 and 3 bandwidths

    def test_nan_is_not_taken_for_empty(self, lib):
        for kernel in attnlib.KERNELS:
            if kernel == "constant":
                continue
            weights = attnlib.kernel_weights(
                lib.array([0.0]), lib.array([0.0, np.nan]), 1.0, kernel
            )
            assert np.isnan(lib.numbers(weights)).any()


class TestGradients:
    """Finite wherever the weights are, and no second derivative lost."""

    @pytest.fixture
    def finite_gradients(self, gradlib):
        """Gradients of an estimate in queries, keys and bandwidth, found to be finite."""

        def gradients(*arguments, kernel="gaussian", mask=None, dtype="float32", **options):
            arguments = [gradlib.array(a, dtype) for a in arguments]
            values = gradlib.array(np.arange(1.0, len(arguments[1]) + 1), dtype)
            options["mask"] = None if mask is None else gradlib.array(mask, "bool")

            def estimate(q, k, bandwidth):
                weights = attnlib.kernel_weights(q, k, bandwidth, kernel, **options)
                return attnlib.pool(weights, values)

            found = gradlib.gradients(estimate, *arguments)
            assert all(np.isfinite(gradient).all() for gradient in found), found
            return found

        return gradients

    @pytest.mark.parametrize("kernel", attnlib.KERNELS)
    def test_zero_distance_and_masked_diagonal(self, finite_gradients, kernel):
        for mask in (None, ~np.eye(4, dtype=bool)):
            finite_gradients(K[:4], K[:4], 0.5, kernel=kernel, mask=mask)

    @pytest.mark.parametrize("kernel", attnlib.KERNELS)
    @pytest.mark.parametrize("empty", ["nearest", "average", "zero"])
    def test_empty_rows_have_gradient_zero(self, finite_gradients, kernel, empty):
        for q, k, mask in ((Q, K, np.zeros((6, 9), bool)), (Q + 99, K, None)):
            if mask is not None or kernel in COMPACT:
                found = finite_gradients(q, k, 0.5, kernel=kernel, mask=mask, empty=empty)
                assert not any(gradient.any() for gradient in found)

    @pytest.mark.parametrize("kernel", attnlib.KERNELS)
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_tiny_bandwidth(self, finite_gradients, kernel, dtype):
        """At zero distance and at distances of 1e30 bandwidths alike."""
        for bandwidth in (TINY[dtype], TINY[dtype] ** 0.7):
            finite_gradients(K[:5], K, bandwidth, kernel=kernel, dtype=dtype)

    @pytest.mark.parametrize("kernel", attnlib.KERNELS)
    def test_far_queries(self, finite_gradients, kernel):
        for far in (15.0, 1e6, 1e25):
            finite_gradients([far], [0.0, 1.0, 4.0], 0.5, kernel=kernel)

    @pytest.mark.parametrize("kernel", attnlib.KERNELS)
    def test_identical_keys(self, finite_gradients, kernel):
        finite_gradients(np.ones((2, 3)), np.ones((4, 3)), 0.5, kernel=kernel)

    def test_masked_keys_get_none(self, finite_gradients):
        mask = [True, True, False, True]
        _, by_key, _ = finite_gradients([1.0], [0.0, 1.0, 1e30, 2.0], 0.5, mask=mask)
        assert by_key[2] == 0
        assert by_key[0] != 0

    def test_softmax(self, gradlib):
        scores = gradlib.array([[0.0, -np.inf, 1.0], [-np.inf] * 3])
        values = gradlib.array([1.0, 2.0, 3.0])
        (gradient,) = gradlib.gradients(
            lambda s: attnlib.pool(attnlib.softmax_weights(s), values), scores
        )
        slope = 2 * scipy.special.expit(1) * scipy.special.expit(-1)
        np.testing.assert_allclose(gradient, [[-slope, 0, slope], [0, 0, 0]], rtol=1e-12)

    def test_second_derivative_at_a_key(self):
        """The distance has a kink at 0, its square has not: no Hessian is lost there."""
        keys, values = jax.numpy.asarray([0.0, 1.0, 3.0]), jax.numpy.asarray([1.0, 2.0, -1.0])

        def estimate(q):
            return attnlib.nadaraya_watson(q[None], keys, values, 0.8)[0]

        def by_hand(q):
            w = jax.numpy.exp(-((q - keys) ** 2) / (2 * 0.8**2))
            return w @ values / w.sum()

        at = jax.numpy.asarray(1.0)
        np.testing.assert_allclose(
            jax.jit(jax.hessian(estimate))(at), jax.jit(jax.hessian(by_hand))(at), rtol=1e-12
        )

    def test_second_derivative_in_the_bandwidth(self, torch_lib):
        query = torch_lib.array([1.2])
        keys, values = torch_lib.array([0.0, 1.0, 3.0]), torch_lib.array([1.0, 2.0, -1.0])

        def estimate(s):
            return attnlib.nadaraya_watson(query, keys, values, s)[0]

        def by_hand(s):
            w = torch.exp(-((query - keys) ** 2) / (2 * s**2))
            return w @ values / w.sum()

        def curvature(function):
            return torch.func.grad(torch.func.grad(function))(torch_lib.array(0.8))

        torch.testing.assert_close(curvature(estimate), curvature(by_hand), rtol=1e-12, atol=1e-12)


floats = st.floats(-50, 50)
problems = st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 3)).flatmap(
    lambda nmd: st.tuples(
        npst.arrays(np.float64, (nmd[0], nmd[2]), elements=floats),
        npst.arrays(np.float64, (nmd[1], nmd[2]), elements=floats),
        npst.arrays(np.float64, nmd[1], elements=floats),
        st.floats(1e-3, 1e3),
        st.sampled_from(sorted(attnlib.KERNELS)),
    )
)


class TestLaws:
    @given(problems)
    def test_weights_are_nonnegative_and_sum_to_one(self, problem):
        q, k, _, bandwidth, kernel = problem
        for weights in (
            attnlib.kernel_weights(q, k, bandwidth, kernel),
            attnlib.softmax_weights(attnlib.dot_product(q, k)),
        ):
            assert (weights >= 0).all()
            np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-12)

    @given(problems, st.randoms(use_true_random=False))
    def test_the_order_of_the_pairs_does_not_matter(self, problem, random):
        q, k, v, bandwidth, kernel = problem
        order = random.sample(range(len(k)), len(k))
        weights = attnlib.kernel_weights(q, k, bandwidth, kernel)
        permuted = attnlib.kernel_weights(q, k[order], bandwidth, kernel)
        np.testing.assert_allclose(permuted, weights[:, order], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            attnlib.pool(permuted, v[order]), attnlib.pool(weights, v), rtol=1e-9, atol=1e-9
        )

    @given(problems)
    def test_the_result_is_a_convex_combination(self, problem):
        q, k, v, bandwidth, kernel = problem
        estimate = attnlib.nadaraya_watson(q, k, v, bandwidth, kernel)
        assert (estimate >= v.min() - 1e-9).all()
        assert (estimate <= v.max() + 1e-9).all()

    @given(problems, st.floats(-50, 50))
    def test_a_constant_added_to_the_scores_does_not_matter(self, problem, shift):
        q, k, *_ = problem
        scores = attnlib.dot_product(q, k)
        np.testing.assert_allclose(
            attnlib.softmax_weights(scores + shift), attnlib.softmax_weights(scores), atol=1e-10
        )

    @given(problems)
    def test_masking_a_key_is_deleting_it(self, problem):
        q, k, _, bandwidth, kernel = problem
        kept = np.arange(len(k) + 1) > 0
        masked = attnlib.kernel_weights(q, np.concatenate([q[:1], k]), bandwidth, kernel, mask=kept)
        np.testing.assert_array_equal(masked[:, 0], 0)
        deleted = attnlib.kernel_weights(q, k, bandwidth, kernel)
        np.testing.assert_allclose(masked[:, 1:], deleted, rtol=1e-12)
