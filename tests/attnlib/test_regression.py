"""Nadaraya-Watson against statsmodels, leave-one-out against leaving one out."""

import numpy as np
import pytest
from statsmodels.nonparametric.kernel_regression import KernelReg

import attnlib
from attnlib.regression import _local_minima

pytestmark = pytest.mark.usefixtures("every_method")

DRAW = np.random.default_rng(11)
X = np.sort(DRAW.uniform(0, 5, 30))
Y = 2 * np.sin(X) + X + DRAW.standard_normal(30)
X2 = DRAW.uniform(0, 5, (30, 2))
AT = np.linspace(-1, 6, 15)


def local_constant(x, bandwidth):
    """The same estimator in statsmodels."""
    kinds = "c" * (x.size // 30)
    return KernelReg(Y, x, kinds, reg_type="lc", bw=bandwidth, rng=np.random.default_rng(0))


class TestNadarayaWatson:
    @pytest.mark.parametrize("bandwidth", [0.1, 0.5, 2.0])
    def test_statsmodels(self, lib, bandwidth):
        x, y = lib.array(X), lib.array(Y)
        found = attnlib.nadaraya_watson(lib.array(AT), x, y, bandwidth)
        expected, _ = local_constant(X, [bandwidth]).fit(AT)
        np.testing.assert_allclose(lib.numbers(found), expected, rtol=1e-10)

    def test_statsmodels_in_two_dimensions(self, lib):
        found = attnlib.nadaraya_watson(lib.array(X2[:7]), lib.array(X2), lib.array(Y), 0.7)
        expected, _ = local_constant(X2, [0.7, 0.7]).fit(X2[:7])
        np.testing.assert_allclose(lib.numbers(found), expected, rtol=1e-10)

    def test_pools_with_the_kernel_weights(self, lib):
        q, k, y = lib.array(AT), lib.array(X), lib.array(Y)
        for kernel in attnlib.KERNELS:
            for empty in ("nearest", "average", "zero", "nan"):
                weights = attnlib.kernel_weights(q, k, 0.2, kernel, empty=empty)
                np.testing.assert_allclose(
                    lib.numbers(attnlib.nadaraya_watson(q, k, y, 0.2, kernel, empty=empty)),
                    lib.numbers(attnlib.pool(weights, y)),
                    rtol=1e-12,
                )

    def test_identical_values_are_reproduced(self, lib):
        found = attnlib.nadaraya_watson(lib.array(AT), lib.array(X), lib.array(0 * Y + 3), 0.3)
        np.testing.assert_allclose(lib.numbers(found), 3, rtol=1e-14)

    def test_one_hot_values_return_the_weights(self, lib):
        q, k = lib.array(AT), lib.array(X)
        found = attnlib.nadaraya_watson(q, k, lib.array(np.eye(30)), 0.3)
        weights = lib.numbers(attnlib.kernel_weights(q, k, 0.3))
        # A line leaves out keys whose weights, together, count less than a rounding.
        np.testing.assert_allclose(lib.numbers(found), weights, rtol=1e-12, atol=1e-20)

    def test_a_bandwidth_for_each_query(self, lib):
        bandwidths = np.linspace(0.1, 2, len(AT))
        x, y = lib.array(X), lib.array(Y)
        found = attnlib.nadaraya_watson(lib.array(AT), x, y, lib.array(bandwidths[:, None]))
        for i, bandwidth in enumerate(bandwidths):
            alone = attnlib.nadaraya_watson(lib.array(AT[i : i + 1]), x, y, float(bandwidth))
            np.testing.assert_allclose(lib.numbers(found)[i], lib.numbers(alone)[0], rtol=1e-12)

    def test_no_queries(self, lib):
        found = attnlib.nadaraya_watson(lib.array(AT[:0]), lib.array(X), lib.array(Y), 0.3)
        assert tuple(found.shape) == (0,)


class TestLeaveOneOut:
    @pytest.mark.parametrize("kernel", attnlib.KERNELS)
    def test_is_leaving_one_out(self, lib, kernel):
        found = lib.numbers(attnlib.leave_one_out(lib.array(X), lib.array(Y), 0.3, kernel))
        for i in range(30):
            rest = np.arange(30) != i
            alone = attnlib.nadaraya_watson(X[i : i + 1], X[rest], Y[rest], 0.3, kernel)
            assert found[i] == pytest.approx(alone[0], rel=1e-12)

    def test_equal_keys_are_different_pairs(self, lib):
        keys, values = lib.array([1.0, 1.0, 5.0]), lib.array([10.0, 20.0, 30.0])
        found = attnlib.leave_one_out(keys, values, 0.1)
        np.testing.assert_allclose(lib.numbers(found), [20, 10, 15])

    def test_error_is_the_mean_square(self, lib):
        for values in (Y, np.stack([Y, -2 * Y], -1)):
            x, v = lib.array(X), lib.array(values)
            expected = np.mean((values - lib.numbers(attnlib.leave_one_out(x, v, 0.4))) ** 2)
            assert lib.numbers(attnlib.leave_one_out_error(x, v, 0.4)) == pytest.approx(expected)

    def test_batches_of_keys_share_scalar_values(self, lib):
        keys, y = lib.array(np.stack([X2, X2 + X2**2])), lib.array(Y)
        for function in (attnlib.leave_one_out, attnlib.leave_one_out_error):
            found = lib.numbers(function(keys, y, 0.4))
            alone = [lib.numbers(function(keys[i], y, 0.4)) for i in range(2)]
            np.testing.assert_allclose(found, alone, rtol=1e-12)

    def test_error_of_many_bandwidths_at_once(self, lib):
        grid = np.array([0.1, 0.5, 2.0])
        x, y = lib.array(X), lib.array(Y)
        found = lib.numbers(attnlib.leave_one_out_error(x, y, lib.array(grid[:, None, None])))
        alone = [lib.numbers(attnlib.leave_one_out_error(x, y, b)) for b in grid]
        np.testing.assert_allclose(found, alone, rtol=1e-12)

    def test_statsmodels_cross_validation_error(self, lib):
        reference = local_constant(X, [0.4])
        expected = reference.cv_loo(np.array([0.4]), reference.est["lc"])
        found = lib.numbers(attnlib.leave_one_out_error(lib.array(X), lib.array(Y), 0.4))
        assert found == pytest.approx(np.squeeze(expected), rel=1e-10)

    def test_gradient_in_the_bandwidth(self, gradlib):
        x, y = gradlib.array(X), gradlib.array(Y)
        for bandwidth in (0.05, 0.4, 3.0):
            (gradient,) = gradlib.gradients(
                lambda b: attnlib.leave_one_out_error(x, y, b), gradlib.array(bandwidth)
            )
            step = 1e-6 * bandwidth
            above, below = (attnlib.leave_one_out_error(X, Y, bandwidth + s) for s in (step, -step))
            assert gradient == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-8)


class TestChooseBandwidth:
    GRID = np.geomspace(0.05, 3, 40)

    def test_reports_the_grid_its_minimum_and_its_errors(self, lib):
        x, y = lib.array(X, "float32"), lib.array(Y, "float32")
        search = attnlib.choose_bandwidth(x, y, self.GRID)
        errors = lib.numbers(search.errors)
        for array in (search.bandwidths, search.errors):
            assert str(array.dtype).endswith("float32")
        np.testing.assert_allclose(lib.numbers(search.bandwidths), self.GRID, rtol=1e-7)
        assert search.bandwidth == self.GRID[errors.argmin()]
        assert search.error == pytest.approx(errors.min(), rel=1e-7)
        exact = [attnlib.leave_one_out_error(X, Y, b) for b in self.GRID]
        np.testing.assert_allclose(errors, exact, rtol=1e-4)
        assert (search.bandwidth, search.error) in search.minima

    def test_agrees_with_statsmodels(self):
        expected = local_constant(X, "cv_ls").bw[0]
        grid = np.geomspace(0.05, 3, 400)
        found = attnlib.choose_bandwidth(X, Y, grid).bandwidth
        assert found == pytest.approx(expected, rel=grid[1] / grid[0] - 1)

    def test_finds_all_minima(self, lib):
        """Twins with equal labels want a tiny bandwidth; among the larger ones another is best."""
        x = np.repeat(np.arange(12.0), 2) + np.tile([0.0, 0.01], 12)
        y = np.repeat(np.sin(np.arange(12.0)) + np.tile([0.8, -0.8], 6), 2)
        grid = np.geomspace(0.002, 50, 60)
        search = attnlib.choose_bandwidth(lib.array(x), lib.array(y), grid)
        errors = lib.numbers(search.errors)
        second = 45 + errors[45:].argmin()
        assert search.minima == ((grid[0], errors[0]), (grid[second], errors[second]))
        assert search.bandwidth == grid[0]

    def test_what_a_local_minimum_is(self):
        """Lower than both neighbours; ends have one, NaN is higher than any, a plateau is one."""
        for errors, expected in {
            (3, 1, 2, 0, 5): [1, 3],
            (0, 1, 2): [0],
            (2, 1, 0): [2],
            (7,): [0],
            (3, 1, 1, 3): [1],
            (3, 1, 1, 0): [3],
            (1, 1, 0, 0, 2): [2],
            (1, 1, 1): [0],
            (np.nan, 2, np.nan, 1, 3): [1, 3],
            (np.nan, np.nan): [],
        }.items():
            grid = [float(i) for i in range(len(errors))]
            found = _local_minima(grid, list(errors))
            assert [minimum.bandwidth for minimum in found] == expected, errors

    def test_a_plateau_counts_once(self, lib):
        """A boxcar's error changes only where another pair comes into reach."""
        x, y = lib.array([0.0, 1.0, 2.0]), lib.array([0.0, 1.0, 0.0])
        search = attnlib.choose_bandwidth(x, y, [1.0, 1.25, 1.5, 2.0, 2.5], "boxcar")
        assert search.minima == ((2.0, 0.5),)
        np.testing.assert_allclose(lib.numbers(search.errors), [1, 1, 1, 0.5, 0.5])

    def test_ignores_bandwidths_that_leave_a_pair_without_estimate(self, lib):
        """The radius 1 would be best, but does not reach the pair at 9."""
        x, y = lib.array([0.0, 1.0, 2.0, 9.0]), lib.array([0.0, 0.0, 0.0, 9.0])
        search = attnlib.choose_bandwidth(x, y, [1.0, 7.0, 8.0], "boxcar", empty="nan")
        assert np.isnan(lib.numbers(search.errors)).tolist() == [True, False, False]
        assert search.bandwidth in (7.0, 8.0)
        assert search.minima[0].bandwidth > 1

    def test_leaves_no_graph_behind(self, torch_lib):
        x = torch_lib.array(X).requires_grad_()
        assert not attnlib.choose_bandwidth(x, torch_lib.array(Y), [0.1, 0.5]).errors.requires_grad
