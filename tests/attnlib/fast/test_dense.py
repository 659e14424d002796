"""The tiled engine for NumPy and tensors on the processor: masks, batches, gradients, memory."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import references
import torch

import attnlib
from attnlib.fast import dense

DRAW = np.random.default_rng(4)
N, M = 70, 150
QUERIES, KEYS, VALUES = (DRAW.standard_normal(shape) for shape in ((N, 3), (M, 3), (M, 2)))
MASK = DRAW.uniform(size=(N, M)) < 0.3
MASK[5] = False  # a query that may use no key
MASK[6] = np.arange(M) == 9  # and one that may use a single one
EACH = DRAW.uniform(0.2, 3, (N, 1))


@pytest.fixture(autouse=True)
def _several_tiles(monkeypatch):
    """Tiles so small that each problem has several, ragged at the end, and several chunks."""
    monkeypatch.setattr(dense, "ROWS", 32)
    monkeypatch.setattr(dense, "TILE", 32 * 20)
    monkeypatch.setattr(dense, "PREPARED", 400)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bandwidth", [0.7, 0.01, EACH], ids=["0.7", "0.01", "each"])
@pytest.mark.parametrize(
    "mask", [None, MASK, MASK[:1], MASK[:, :1]], ids=["no", "all", "keys", "queries"]
)
def test_masks(dtype, bandwidth, mask):
    arrays = [x.astype(dtype) for x in (QUERIES, KEYS, VALUES)]
    bandwidth = np.broadcast_to(np.asarray(bandwidth, dtype), (N, 1))
    found = attnlib.nadaraya_watson(*arrays, bandwidth, mask=mask, method="stream")
    use = np.broadcast_to(True if mask is None else mask, (N, M))
    some = use.any(1)
    weights = references.gaussian_weights(
        arrays[0][some], arrays[1], bandwidth[some], mask=use[some]
    )
    bound = references.bound("stream (NumPy", dtype)
    gaps = np.square((QUERIES[:, None] - KEYS) / bandwidth[..., None]).sum(-1)
    scores = np.where(use, gaps, np.inf).min(1)[some] / 2
    allowed = bound + 4 * np.finfo(dtype).eps * scores
    assert np.all(references.error(found[some], weights, arrays[2]) <= allowed)
    assert not found[~some].any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_attention_with_a_mask(dtype):
    arrays = [x.astype(dtype) for x in (QUERIES, KEYS, VALUES)]
    for empty, nothing in (("zero", 0), ("average", VALUES.mean(0)), ("nan", np.nan)):
        found = attnlib.attention(*arrays, mask=MASK, empty=empty, method="stream")
        np.testing.assert_allclose(found[5], np.broadcast_to(nothing, 2), rtol=1e-5, atol=1e-7)
        some = MASK.any(1)
        weights = references.dot_weights(arrays[0][some], arrays[1], mask=MASK[some])
        bound = references.bound("stream (NumPy", dtype)
        assert references.error(found[some], weights, arrays[2]).max() < bound


def batched(*shape):
    return DRAW.standard_normal(shape)


BATCHES = {  # queries, keys, values, bandwidth, mask
    "all": (batched(4, 20, 3), batched(4, 30, 3), batched(4, 30, 2), 0.5, None),
    "crossed": (batched(2, 1, 20, 3), batched(4, 30, 3), batched(1, 30, 2), 0.5, None),
    "values": (batched(20, 3), batched(30, 3), batched(4, 30, 2), 0.5, None),
    "bandwidths": (batched(20, 3), batched(30, 3), batched(30, 2), np.ones((5, 1, 1)), None),
    "masks": (batched(20, 3), batched(30, 3), batched(30, 2), 0.5, batched(3, 20, 30) > 0),
    "masks of keys": (
        batched(4, 20, 3), batched(30, 3), batched(30, 2), EACH[:20], batched(4, 1, 30) > 0
    ),
    "no batch": (batched(0, 20, 3), batched(30, 3), batched(30, 2), 0.5, None),
    "no query": (batched(0, 3), batched(30, 3), batched(30, 2), 0.5, None),
}  # fmt: skip


@pytest.mark.parametrize("case", BATCHES)
def test_batches(case):
    *arrays, mask = BATCHES[case]
    found, plain = (
        attnlib.nadaraya_watson(*arrays, mask=mask, method=method) for method in ("stream", "plain")
    )
    assert found.shape == plain.shape
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-12)


def test_rows_fall_back_one_by_one(monkeypatch):
    """Near rows in single precision, far ones in double, the farthest with differences."""
    queries = np.concatenate([QUERIES, QUERIES[:3] + 1e3, QUERIES[:2] + 1e6]).astype("float32")
    done = []
    real = dense.Sides.__init__

    def recorded(self, problem, dtype):
        done.append((dtype.name, len(problem.queries)))
        real(self, problem, dtype)

    monkeypatch.setattr(dense.Sides, "__init__", recorded)
    arrays = KEYS.astype("float32"), VALUES.astype("float32")
    attnlib.nadaraya_watson(queries, *arrays, 0.7, method="stream")
    assert done == [("float32", N + 5), ("float64", 5), ("float64", 5)]


def test_not_finite_is_not_hidden():
    for spoiled, rows in ((QUERIES, [3]), (KEYS, range(N))):
        arrays = {id(x): x.copy() for x in (QUERIES, KEYS)}
        arrays[id(spoiled)][3] = np.nan
        found = attnlib.nadaraya_watson(*arrays.values(), VALUES, 0.7, method="stream")
        assert np.isnan(found).any(1).nonzero()[0].tolist() == list(rows)


def differentiated(function, arrays, dtype):
    """Gradients, in float64, of a loss that does not cancel."""
    leaves = [torch.tensor(x, dtype=getattr(torch, dtype), requires_grad=True) for x in arrays]
    found = function(*leaves)
    found.mul(torch.cos(torch.arange(found.numel())).reshape(found.shape)).sum().backward()
    return [leaf.grad.double().numpy() for leaf in leaves]


GRADIENTS = {
    "gaussian": (partial(attnlib.nadaraya_watson), (QUERIES, KEYS, VALUES, [0.7])),
    "far from 0": (partial(attnlib.nadaraya_watson), (QUERIES + 1e3, KEYS + 1e3, VALUES, [0.7])),
    "bandwidth each": (partial(attnlib.nadaraya_watson), (QUERIES, KEYS, VALUES, EACH)),
    "small bandwidth": (partial(attnlib.nadaraya_watson), (QUERIES, KEYS, VALUES, [0.02])),
    "masked": (
        partial(attnlib.nadaraya_watson, mask=torch.tensor(MASK)), (QUERIES, KEYS, VALUES, EACH)
    ),
    "no key, average": (
        partial(attnlib.nadaraya_watson, mask=torch.tensor(MASK), empty="average"),
        (QUERIES, KEYS, VALUES, [0.7]),
    ),
    "leave one out": (attnlib.leave_one_out, (KEYS, VALUES, [0.7])),
    "leave one out, error": (attnlib.leave_one_out_error, (KEYS, VALUES, [0.7])),
    "attention": (attnlib.attention, (QUERIES, KEYS, VALUES)),
    "attention, long": (attnlib.attention, (20 * QUERIES, 20 * KEYS, VALUES)),
    "attention, masked": (
        partial(attnlib.attention, mask=torch.tensor(MASK)), (QUERIES, KEYS, VALUES)
    ),
    "distance": (
        partial(attnlib.attention, score=attnlib.squared_distance), (QUERIES, KEYS, VALUES)
    ),
    "batch": (
        partial(attnlib.nadaraya_watson),
        (batched(3, 1, 20, 3), batched(2, 30, 3), batched(1, 30, 2), np.full((2, 1, 1), 0.7)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GRADIENTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients(case, dtype):
    """Against those of the plain definition in float64, at the same rounded numbers."""
    function, arrays = GRADIENTS[case]
    arrays = [np.asarray(x, dtype) for x in arrays]
    found = differentiated(partial(function, method="stream"), arrays, dtype)
    exact = differentiated(partial(function, method="plain"), arrays, "float64")
    tolerance = {"float32": 2e-4, "float64": 1e-11}[dtype]
    if case == "small bandwidth":  # a score's own gradient, the gap over the squared bandwidth,
        tolerance *= 10  # is 2500 gaps here and magnifies the rounding of means as much
    for one, other in zip(found, exact, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())


class TestMemory:
    """Beyond arguments and result, with tiles as they are."""

    @pytest.fixture(autouse=True)
    def _tiles_as_they_are(self, _several_tiles, monkeypatch):
        monkeypatch.undo()

    @staticmethod
    def peak(function):
        tracemalloc.start()
        try:
            function()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("score", ["gaussian", "dot"])
    def test_ten_thousand_squared(self, dtype, score):
        draw = np.random.default_rng(0)
        arrays = [draw.standard_normal((10_000, d)).astype(dtype) for d in (5, 5, 2)]
        problem = dense.Problem(
            *arrays, bandwidth=np.full((1, 1), 0.5, dtype) if score == "gaussian" else None
        )
        assert self.peak(lambda: dense.pooled(problem)) < 16e6
        result = dense.pooled(problem)
        assert self.peak(lambda: dense.gradients(problem, result, result.means)) < 16e6

    def test_rows_that_fall_back(self):
        draw = np.random.default_rng(0)
        queries, keys = (draw.standard_normal((size, 3)) for size in (500, 10_000))
        problem = dense.Problem(queries + 1e9, keys, keys[:, :1], np.full((1, 1), 0.5))
        assert self.peak(lambda: dense.pooled(problem)) < 16e6

    def test_masked_rows_that_fall_back(self):
        draw = np.random.default_rng(0)
        queries, keys = (draw.standard_normal((10_000, 2)) for _ in range(2))
        mask = np.broadcast_to(np.arange(10_000)[:, None] % 2 == 0, (10_000, 10_000))
        problem = dense.Problem(queries, keys, keys, np.full((1, 1), 0.5), mask=mask)
        assert self.peak(lambda: dense.pooled(problem)) < 16e6

    def test_a_million_keys(self):
        draw = np.random.default_rng(0)
        queries, keys = (draw.standard_normal((size, 2)) for size in (1000, 1_000_000))
        problem = dense.Problem(queries[:50], keys, keys[:, :1], np.full((1, 1), 0.5))
        assert self.peak(lambda: dense.pooled(problem)) < 100e6
        result = dense.pooled(problem)
        assert self.peak(lambda: dense.gradients(problem, result, result.means)) < 100e6
