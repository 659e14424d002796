"""The stream as a program of JAX: under its transformations, with gradients, in little memory."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attnlib
from attnlib.fast import jax_stream

DRAW = np.random.default_rng(9)


@pytest.fixture(autouse=True)
def _several_tiles(monkeypatch, request):
    """Tiles so small that each problem has several, ragged at the end."""
    if "memory" not in request.node.name:
        monkeypatch.setattr(jax_stream, "ROWS", 8)
        monkeypatch.setattr(jax_stream, "COLUMNS", 11)
        jax_stream._program.cache_clear()
    yield
    jax_stream._program.cache_clear()


def normal(*shape):
    return jnp.asarray(DRAW.standard_normal(shape))


MASK = jnp.asarray(DRAW.uniform(size=(20, 30)) < 0.5).at[3].set(False)
EACH = jnp.asarray(DRAW.uniform(0.3, 2, (20, 1)))
PAIRS = normal(20, 3), normal(30, 3), normal(30, 2)
PROBLEMS = {
    "gaussian": (attnlib.nadaraya_watson, (*PAIRS, jnp.asarray(0.6))),
    "a bandwidth each": (attnlib.nadaraya_watson, (*PAIRS, EACH)),
    "far from 0": (attnlib.nadaraya_watson, (PAIRS[0] + 1e4, PAIRS[1] + 1e4, PAIRS[2], EACH)),
    "scalars": (attnlib.nadaraya_watson, (normal(20), normal(30), normal(30), jnp.asarray(0.3))),
    "masked": (partial(attnlib.nadaraya_watson, mask=MASK), (*PAIRS, EACH)),
    "masked keys": (partial(attnlib.nadaraya_watson, mask=MASK[:1]), (*PAIRS, EACH)),
    "masked, average": (
        partial(attnlib.nadaraya_watson, mask=MASK, empty="average"), (*PAIRS, EACH)
    ),
    "batch": (
        attnlib.nadaraya_watson,
        (normal(2, 1, 20, 3), normal(3, 30, 3), normal(1, 30, 2), jnp.full((3, 1, 1), 0.7)),
    ),
    "leave one out": (attnlib.leave_one_out, (*PAIRS[1:], jnp.asarray(0.6))),
    "attention": (attnlib.attention, PAIRS),
    "attention, masked": (partial(attnlib.attention, mask=MASK), PAIRS),
    "attention, average": (partial(attnlib.attention, mask=MASK, empty="average"), PAIRS),
    "distance": (
        partial(attnlib.attention, score=partial(attnlib.squared_distance, bandwidth=0.6)), PAIRS
    ),
}  # fmt: skip


def loss(function, *arrays):
    found = function(*arrays)
    return (found * jnp.cos(jnp.arange(found.size, dtype=found.dtype)).reshape(found.shape)).sum()


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        *((case, "float64") for case in PROBLEMS),
        ("far from 0", "float32"),
        ("attention", "float32"),
    ],
)
def test_values_and_gradients(case, dtype):
    """Against the plain definition in float64, at the same rounded numbers."""
    function, arrays = PROBLEMS[case]
    arrays = [x.astype(dtype) for x in arrays]
    wide = [x.astype("float64") for x in arrays]
    every = tuple(range(len(arrays)))
    fast, plain = (
        jax.jit(jax.value_and_grad(partial(loss, partial(function, method=m)), every))
        for m in ("stream", "plain")
    )
    found, exact = jax.tree.leaves(fast(*arrays)), jax.tree.leaves(plain(*wide))
    tolerance = {"float32": 1e-4, "float64": 1e-11}[dtype]
    for one, other in zip(found, exact, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())


def test_vmap_and_second_derivatives():
    run = partial(attnlib.nadaraya_watson, method="stream")
    queries, keys, values = PAIRS
    several = jnp.stack([queries, 2 * queries])
    found = jax.vmap(run, (0, None, None, None))(several, keys, values, 0.6)
    plain = attnlib.nadaraya_watson(several, keys[None], values[None], 0.6, method="plain")
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-12)

    def curvature(method):
        function = partial(loss, partial(attnlib.nadaraya_watson, *PAIRS, method=method))
        return jax.jit(jax.hessian(function))(jnp.asarray(0.6))

    np.testing.assert_allclose(curvature("stream"), curvature("plain"), rtol=1e-10)


@pytest.mark.parametrize("empty", ["nearest", "average", "zero", "nan"])
def test_rows_without_key(empty):
    run = partial(attnlib.nadaraya_watson, mask=MASK, empty=empty)
    fast, plain = (jax.jit(partial(run, method=m))(*PAIRS, 1e-200) for m in ("stream", "plain"))
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("n", "m", "limit"), [(10_000, 10_000, 16e6), (1000, 1_000_000, 100e6)], ids=str
)
@pytest.mark.parametrize(("score", "masked"), [("gaussian", True), ("dot", False)])
def test_memory(n, m, limit, score, masked):
    """What the compiled programs of both passes use beyond arguments and results."""
    shapes = [jax.ShapeDtypeStruct(s, "float32") for s in ((n, 2), (m, 2), (m, 1))]
    mask = jax.ShapeDtypeStruct((1, m), "bool")

    def run(queries, keys, values, mask):
        mask = mask if masked else None
        if score == "dot":
            return attnlib.attention(queries, keys, values, mask=mask, method="stream")
        return attnlib.nadaraya_watson(queries, keys, values, 0.5, mask=mask, method="stream")

    for program in (run, jax.grad(partial(loss, run), (0, 1, 2))):
        memory = jax.jit(program).lower(*shapes, mask).compile().memory_analysis()
        assert memory.temp_size_in_bytes < limit
