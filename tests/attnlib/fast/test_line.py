"""O(n + m) on a line: to rounding error on every spacing of the keys and every size of values."""

import tracemalloc

import numpy as np
import pytest
import references
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlib
from attnlib.fast import gaussian_line, line, windows

BOUND = references.bound("line", "float64")
DRAW = np.random.default_rng(3)
N = 600
KEYS, QUERIES = DRAW.uniform(0, 5, N), DRAW.uniform(0, 5, N)
VALUES = np.stack([np.sin(KEYS) + DRAW.standard_normal(N), DRAW.standard_normal(N)], 1)
APART = np.concatenate([DRAW.uniform(0, 1, N // 2), DRAW.uniform(4, 5, N // 2)])


def huge(where):
    values = VALUES.copy()
    values[where, 0] = 1e12
    return values


# queries, keys, values, bandwidth
CASES = {
    **{f"bandwidth {b}": (QUERIES, KEYS, VALUES, b)
       for b in (2.3e-308, 1e-12, 1e-4, 1e-2, 0.1, 0.5, 2.0, 1e2, 1e300)},
    "queries outside": (DRAW.uniform(-20, 25, N), KEYS, VALUES, 0.1),
    "queries in a gap": (QUERIES, APART, VALUES, 0.1),
    "far from 0": (QUERIES + 1e6, KEYS + 1e6, VALUES, 0.1),
    "heavy tails": (DRAW.standard_cauchy(N), DRAW.standard_cauchy(N), VALUES, 0.1),
    "huge values beside small ones": (QUERIES, KEYS, huge(slice(None, None, 100)), 0.1),
    "huge values in one place": (QUERIES, KEYS, huge(KEYS > 4.5), 0.1),
    "zeros and ones": (QUERIES, KEYS, (KEYS > 2.5)[:, None] * 1.0, 0.1),
    "one value that is not 0": (QUERIES, KEYS, np.eye(N)[:, :1], 0.1),
    "identical keys": (QUERIES, np.full(N, 2.0), VALUES, 0.1),
    "ten places": (QUERIES, np.round(KEYS, 0), VALUES, 0.01),
    "ten places, huge values": (QUERIES, np.round(KEYS, 0), huge(slice(None, None, 100)), 1e-5),
    "two keys": (QUERIES, KEYS[:2], VALUES[:2], 0.1),
    "one key far away": (QUERIES, np.append(KEYS[:-1], 1e280), VALUES, 0.1),
    "subnormal positions": (QUERIES * 1e-310, KEYS * 1e-310, VALUES, 2.3e-308),
    "tiny values": (QUERIES, KEYS, VALUES * 1e-300, 0.1),
    "large values": (QUERIES, KEYS, VALUES * 1e280, 0.1),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_gaussian(case):
    queries, keys, values, bandwidth = CASES[case]
    found = line.means(queries, keys, values, bandwidth, "gaussian", "nearest")
    weights = references.gaussian_weights(queries, keys, bandwidth)
    assert references.error(found, weights, values).max() < BOUND


SINGLE = [
    case for case, (_, k, v, b) in CASES.items()
    if max(k.max(), v.max(), b) < 1e37 and min(b, abs(v).min() or 1) > 1e-37
]  # fmt: skip


@pytest.mark.parametrize("case", SINGLE)
def test_single_precision_is_rounded_once(case):
    *arrays, bandwidth = CASES[case]
    queries, keys, values = (x.astype(np.float32) for x in arrays)
    found = attnlib.nadaraya_watson(queries, keys, values, bandwidth, method="line")
    assert found.dtype == np.float32
    weights = references.gaussian_weights(queries, keys, bandwidth)
    assert references.error(found, weights, values).max() < references.bound("line", "float32")


@pytest.mark.parametrize("case", CASES)
def test_gaussian_leaving_one_out(case):
    _, keys, values, bandwidth = CASES[case]
    found = line.left_out(keys, values, bandwidth, "gaussian", "nearest")
    weights = references.gaussian_weights(keys, keys, bandwidth, others=True)
    assert references.error(found, weights, values).max() < BOUND


@pytest.mark.parametrize("kernel", ["boxcar", "triangular", "constant"])
@pytest.mark.parametrize("radius", [1e-9, 1e-3, 0.1, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("digits", [16, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compact(kernel, radius, digits, dtype):
    """With one digit, keys lie on the edge of the window, where rounding decides."""
    queries, keys = (np.round(x, digits).astype(dtype) for x in (QUERIES, KEYS))
    values = huge(slice(None, None, 100))
    weights = references.compact_weights(queries, keys, radius, kernel)
    found = line.means(queries, keys, values, radius, kernel, "nearest")
    assert references.error_of_edges(found, weights, values) < 1
    weights = references.compact_weights(keys, keys, radius, kernel, others=True)
    found = line.left_out(keys, values, radius, kernel, "nearest")
    assert references.error_of_edges(found, weights, values) < 1


def test_huge_value_outside_the_window_leaves_no_trace():
    keys = np.arange(1000.0)
    values = np.where(keys == 500, 1e16, 1.0)[:, None]
    for kernel in ("boxcar", "triangular"):
        found = line.means(keys[:400], keys, values, 50.0, kernel, "nearest")
        np.testing.assert_allclose(found, 1, rtol=1e-14)


@pytest.mark.parametrize("kernel", attnlib.KERNELS)
@pytest.mark.parametrize("empty", ["nearest", "average", "zero", "nan"])
def test_empty_windows(kernel, empty):
    options = {"kernel": kernel, "empty": empty}
    for bandwidth in (1e-4, 0.02):
        for function, arrays in (
            (attnlib.nadaraya_watson, (QUERIES, KEYS, VALUES[:, 0])),
            (attnlib.leave_one_out, (KEYS, VALUES[:, 0])),
        ):
            found, plain = (
                function(*arrays, bandwidth, method=method, **options)
                for method in ("line", "plain")
            )
            np.testing.assert_allclose(found, plain, rtol=1e-10, atol=1e-12)


def test_queries_in_a_gap_do_not_trust_the_boxes(monkeypatch):
    """There the sums are so small that the errors of the boxes would show."""
    asked = []

    def recorded(queries, *rest):
        asked.append(queries)
        return real(queries, *rest)

    real = windows.gaussian_means
    monkeypatch.setattr(windows, "gaussian_means", recorded)
    line.means(np.sort(QUERIES), APART, VALUES, 0.1, "gaussian", "nearest")
    (asked,) = asked
    assert np.all((asked > 1.2) & (asked < 3.8))
    assert np.sum(asked) > np.sum(QUERIES[(QUERIES > 2) & (QUERIES < 3)]) > 0


def test_most_queries_trust_the_boxes(monkeypatch):
    monkeypatch.setattr(windows, "gaussian_means", None)
    line.means(QUERIES, KEYS, VALUES, 0.1, "gaussian", "nearest")


def test_bound_of_the_interpolation():
    """The translation matrices reproduce the kernel within the stated bound."""
    x = np.linspace(-1, 1, 41, dtype=np.longdouble)
    t = np.cos(np.arange(gaussian_line.ORDER)[:, None] * np.arccos(x))
    for width in (0.5, 0.51, 0.54, 0.8, 1.0):
        for step in gaussian_line.translations(width):
            kernel = np.exp(-np.square(step.offset * width + (x[:, None] - x) * width / 2) / 2)
            if step.matrix is None:
                assert kernel.max() <= step.bound * (1 + 1e-12) + 1e-320
            else:
                assert np.abs(t.T @ step.matrix.T @ t - kernel).max() <= step.bound


@pytest.mark.parametrize("count", [1, 2, 10, 1000, 100_000, 1_000_000])
@pytest.mark.parametrize("kernel", ["gaussian", "boxcar", "triangular"])
def test_any_number_of_keys(count, kernel):
    draw = np.random.default_rng(count)
    keys, values = draw.uniform(0, 5, count), draw.standard_normal((count, 1))
    queries = draw.uniform(0, 5, 5)
    weights = (
        references.gaussian_weights(queries, keys, 0.1)
        if kernel == "gaussian"
        else references.compact_weights(queries, keys, 0.1, kernel)
    )
    found = line.means(queries, keys, values, 0.1, kernel, "nearest")
    assert references.error(found, weights, values).max() < BOUND


@pytest.mark.parametrize("kernel", attnlib.KERNELS)
def test_memory_follows_the_number_of_keys(kernel):
    keys = DRAW.uniform(0, 5, 1_000_000)
    keys[0] = 1e12  # not the range of the data
    tracemalloc.start()
    line.means(QUERIES, keys, keys[:, None], 0.1, kernel, "nearest")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6


POSITIONS = st.floats(-1e3, 1e3, width=32) | st.integers(-5, 5).map(float)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(POSITIONS, st.floats(-1e6, 1e6)), min_size=2, max_size=40),
    st.lists(POSITIONS, min_size=1, max_size=10),
    st.floats(1e-6, 1e6),
)
def test_gaussian_on_any_data(pairs, queries, bandwidth):
    keys, values = np.array(pairs).T
    queries, values = np.array(queries), values[:, None]
    for crowd in (0, windows.ENTRIES):  # through boxes, through windows
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gaussian_line, "CROWD", crowd)
            found = line.means(queries, keys, values, bandwidth, "gaussian", "nearest")
            left = line.left_out(keys, values, bandwidth, "gaussian", "nearest")
        weights = references.gaussian_weights(queries, keys, bandwidth)
        assert references.error(found, weights, values).max() < BOUND
        weights = references.gaussian_weights(keys, keys, bandwidth, others=True)
        assert references.error(left, weights, values).max() < BOUND


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(POSITIONS, st.floats(-1e6, 1e6)), min_size=2, max_size=40),
    st.lists(POSITIONS, min_size=1, max_size=10),
    st.floats(1e-6, 1e6) | st.integers(1, 5).map(float),
    st.sampled_from(["boxcar", "constant"]),
    st.sampled_from(["nearest", "average", "zero", "nan"]),
)
def test_windows_on_any_data(pairs, queries, radius, kernel, empty):
    keys, values = np.array(pairs).T
    options = {"kernel": kernel, "empty": empty}
    found, plain = (
        np.array([*attnlib.nadaraya_watson(np.array(queries), keys, values, radius, **options,
                                           method=method),
                  *attnlib.leave_one_out(keys, values, radius, **options, method=method)])
        for method in ("line", "plain")
    )  # fmt: skip
    np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-12 * np.abs(values).max())


def test_half_precision_is_rounded_once():
    half = [x.astype("float16") for x in (QUERIES, KEYS, VALUES[:, 0])]
    found = attnlib.nadaraya_watson(*half, 0.3, method="line")
    wide = attnlib.nadaraya_watson(*(x.astype("float32") for x in half), 0.3, method="line")
    np.testing.assert_array_equal(found, wide.astype("float16"))


def test_whole_objective_for_a_million_points():
    """All local minima and the global one, as the plain definition finds them on a part."""
    draw = np.random.default_rng(5)
    x = np.sort(draw.uniform(0, 5, 1_000_000))
    y = np.sin(40 * x) + draw.standard_normal(x.size)
    grid = [0.001, 0.003, 0.01, 0.03]
    search = attnlib.choose_bandwidth(x, y, grid)
    assert search.bandwidth == 0.003
    few = slice(None, None, 1000)
    for bandwidth in (0.01, 0.1):
        errors = [
            attnlib.leave_one_out_error(x[few], y[few], bandwidth, method=method)
            for method in ("line", "plain")
        ]
        np.testing.assert_allclose(*errors, rtol=1e-12)
