"""The error of each method, in each precision, is what `attnlib.fast.choice` says."""

from functools import partial

import jax
import numpy as np
import pytest
import references
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import attnlib

DRAW = np.random.default_rng(8)
N, M = 200, 700
QUERIES, KEYS = DRAW.uniform(0, 5, (N, 3)), DRAW.uniform(0, 5, (M, 3))
VALUES = np.stack([np.sin(KEYS[:, 0]) + DRAW.standard_normal(M), DRAW.standard_normal(M)], 1)
HUGE = np.where(np.arange(M)[:, None] % 100 == 0, 1e12, VALUES)
CLUSTERS = DRAW.integers(0, 3, (M, 3)) + 1e-3 * DRAW.standard_normal((M, 3))
APART = np.where(KEYS < 2.5, KEYS / 5, 5 - KEYS / 5)
MANY = DRAW.uniform(0, 5, (1_000_000, 1))

# queries, keys, values, bandwidth
GAUSSIAN = {
    **{
        f"bandwidth {b}": (QUERIES, KEYS, VALUES, b)
        for b in (1e-30, 1e-4, 1e-2, 0.1, 0.5, 2.0, 1e3, 1e30)
    },
    "far from 0": (QUERIES + 1e4, KEYS + 1e4, VALUES, 0.5),
    "tails": (DRAW.uniform(-20, 25, (N, 3)), KEYS, VALUES, 0.5),
    "heavy tails": (DRAW.standard_cauchy((N, 3)), DRAW.standard_cauchy((M, 3)), VALUES, 0.5),
    "gaps": (QUERIES, APART, VALUES, 0.2),
    "clusters": (QUERIES, CLUSTERS, VALUES, 0.3),
    "clusters, small bandwidth": (CLUSTERS[::7], CLUSTERS, VALUES, 1e-3),
    "huge values": (QUERIES, KEYS, HUGE, 0.3),
    "identical keys": (QUERIES, np.ones((M, 3)), VALUES, 0.1),
    "subnormal positions": (QUERIES * 1e-40, KEYS * 1e-40, VALUES, 1e-37),
    "subnormal values": (QUERIES, KEYS, VALUES * 1e-40, 0.5),
    "large values": (QUERIES, KEYS, VALUES * 1e30, 0.5),
    "one key": (QUERIES, KEYS[:1], VALUES[:1], 0.5),
    "one bandwidth a query": (QUERIES, KEYS, VALUES, DRAW.uniform(0.01, 2, (N, 1))),
    "a million keys": (QUERIES[:2, :1], MANY, np.sin(MANY), 0.3),
}  # fmt: skip
LONG = DRAW.standard_normal((M, 16))
# queries, keys, values, scale
DOTS = {
    **{f"scale {s}": (LONG[:N] + 0.5, LONG, VALUES, s) for s in (0.0, 0.25, 1.0, -3.0, 100.0)},
    "huge values": (LONG[:N] + 0.5, LONG, HUGE, 1.0),
    "one far key": (LONG[:N], np.where(np.arange(M)[:, None] == 5, 1e3, LONG), VALUES, 0.1),
    "identical keys": (LONG[:N], np.ones_like(LONG), VALUES, 1.0),
    "one key": (LONG[:N], LONG[:1], VALUES[:1], 1.0),
    "a million keys": (QUERIES[:2, :1], MANY, np.sin(MANY), 0.3),
}
MAKE = {"numpy": np.asarray, "torch": torch.tensor, "jax": jax.numpy.asarray}
METHODS = {  # framework, method, where the table has its bound
    "plain": ("numpy", "plain", "plain"),
    "dense": ("numpy", "stream", "stream (NumPy"),
    "torch": ("torch", "stream", "stream (NumPy"),
    "jax": ("jax", "stream", "stream (JAX"),
}
each_method = pytest.mark.parametrize("name", METHODS)
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


def arrays_of(case, dtype):
    """Arrays of a case, and its last entry, in this precision."""
    *arrays, option = case
    option = option.astype(dtype) if isinstance(option, np.ndarray) else option
    return [x.astype(dtype) for x in arrays], option


@partial(jax.jit, static_argnames="score")  # traced: else the processor's engine does it
def in_jax(queries, keys, values, option, *, score):
    return pooled(queries, keys, values, option, score=score, method="stream")


def pooled(queries, keys, values, option, *, score, method):
    """Gaussian with this bandwidth, or dot products with this scale."""
    if score == "gaussian":
        return attnlib.nadaraya_watson(queries, keys, values, option, method=method)
    dot = partial(attnlib.dot_product, scale=option) if option != 1 else attnlib.dot_product
    return attnlib.attention(queries, keys, values, score=dot, method=method)


def found_by(name, score, arrays, option):
    """Result of a method in float64."""
    framework, method, _ = METHODS[name]
    make = MAKE[framework]
    option = option if isinstance(option, float) else make(option)
    if framework == "jax" and score == "gaussian":
        return np.asarray(in_jax(*map(make, arrays), make(option), score=score), float)
    if framework == "jax":
        run = jax.jit(partial(pooled, option=option, score=score, method=method))
        return np.asarray(run(*map(make, arrays)), float)
    found = pooled(*map(make, arrays), option, score=score, method=method)
    return np.asarray(found, float)


def assert_bounded(name, found, weights, values, scores):
    """The error at each query is within the bound, given the size of the score that counts."""
    if METHODS[name][0] == "jax":
        values = np.where(np.abs(values) < np.finfo(values.dtype).tiny, 0, values)
    error = references.error(found, weights, values)
    allowed = references.bound(METHODS[name][2], values.dtype)
    assert np.all(error <= allowed + 4 * np.finfo(values.dtype).eps * scores)


def gaussian_scores(queries, keys, bandwidth):
    """Size of the best score of each query."""
    gaps = (np.abs(queries[:, None] - keys) / np.expand_dims(bandwidth, -1)).astype(np.longdouble)
    return np.square(gaps).sum(-1).min(1) / 2


def dot_scores(queries, keys, scale):
    """Largest size that a score may have."""
    return abs(scale) * np.linalg.norm(queries, axis=1) * np.linalg.norm(keys, axis=1).max()


def assert_each_method_bounded(kind, arrays, parameter, weights, scores):
    """The same of every method; of those without the matrix where there are many keys."""
    _, keys, values = arrays
    for name in METHODS if len(keys) < 1e5 else ("dense", "torch", "jax"):
        found = found_by(name, kind, arrays, parameter)
        assert_bounded(name, found, weights, values, scores)


@each_dtype
@pytest.mark.parametrize("case", GAUSSIAN)
def test_gaussian(case, dtype):
    (queries, keys, _), bandwidth = arrays = arrays_of(GAUSSIAN[case], dtype)
    weights = references.gaussian_weights(queries, keys, bandwidth)
    scores = gaussian_scores(queries, keys, bandwidth)
    assert_each_method_bounded("gaussian", *arrays, weights, scores)


@each_dtype
@pytest.mark.parametrize("case", DOTS)
def test_dot_products(case, dtype):
    (queries, keys, _), scale = arrays = arrays_of(DOTS[case], dtype)
    weights = references.dot_weights(queries, keys, scale)
    scores = dot_scores(queries, keys, scale)
    assert_each_method_bounded("dot", *arrays, weights, scores)


NUMBERS = st.floats(-50, 50, width=32) | st.integers(-3, 3).map(float)


@st.composite
def problems(draw):
    n, m, d = draw(st.integers(1, 5)), draw(st.integers(2, 12)), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    queries, keys, values = (
        draw(npst.arrays(np.float64, shape, elements=NUMBERS)) for shape in ((n, d), (m, d), (m, 2))
    )
    offset = draw(st.sampled_from([0.0, 1e4]))
    return *((x + y).astype(dtype) for x, y in ((queries, offset), (keys, offset), (values, 0))), (
        draw(st.floats(1e-3, 1e3))
    )


@given(problems())
@settings(max_examples=150)
def test_any_data(problem):
    """Every method and score against the plain definition in extended precision."""
    queries, keys, values, bandwidth = problem
    own = references.gaussian_weights(keys, keys, bandwidth, others=True)
    for name, (_, method, _) in list(METHODS.items())[:2]:
        found = attnlib.nadaraya_watson(queries, keys, values, bandwidth, method=method)
        weights = references.gaussian_weights(queries, keys, bandwidth)
        scores = gaussian_scores(queries, keys, bandwidth)
        assert_bounded(name, found, weights, values, scores)
        found = attnlib.leave_one_out(keys, values, bandwidth, method=method)
        exponent = np.square((keys[:, None].astype(float) - keys) / bandwidth).sum(-1)
        np.fill_diagonal(exponent, np.inf)
        assert_bounded(name, found, own, values, exponent.min(1) / 2)
        scale = 1 / bandwidth
        found = pooled(queries, keys, values, scale, score="dot", method=method)
        weights = references.dot_weights(queries, keys, scale)
        assert_bounded(name, found, weights, values, dot_scores(queries, keys, scale))
