"""A database over eight devices gives what one device gives, gradients too."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from attnlib.fast import sharded

# In a process of its own: the number of devices is fixed before JAX starts. Each line that it
# prints is a case, with the largest differences of the estimates and of the gradients.
PROGRAM = """
from functools import partial

import jax
import jax.numpy as jnp

import attnlib
from attnlib.fast import sharded

jax.config.update("jax_enable_x64", True)
assert len(jax.devices()) == 8
over = sharded.mesh()


def loss(function, *arguments):
    means = function(*arguments)
    return (means * jnp.cos(jnp.arange(means.size)).reshape(means.shape)).sum(), means


def compare(name, one, spread, arguments, placed):
    every = tuple(range(len(arguments)))
    (_, means), exact = jax.value_and_grad(partial(loss, one), every, has_aux=True)(*arguments)
    program = jax.jit(jax.value_and_grad(partial(loss, spread), every, has_aux=True))
    (_, found), gradients = program(*placed)
    m = len(arguments[1])
    errors = [
        jnp.abs(a[: len(b)] - b if b.ndim else a - b).max() / jnp.maximum(jnp.abs(b).max(), 1)
        for a, b in zip(gradients, exact, strict=True)
    ]
    rest = sum(float(jnp.abs(g[m:]).sum()) for g in gradients[1:3])  # of padding
    print(name, m, float(jnp.abs(found - means).max()), float(max(errors)) + rest, sep=",")


for m in (1, 203):
    draws = jax.random.split(jax.random.key(m), 3)
    shapes = (20, 3), (m, 3), (m, 2)
    queries, keys, values = map(jax.random.normal, draws, shapes)
    placed_keys, placed_values, number = sharded.place(over, keys, values)
    assert number == m
    assert {len(s.data) for s in placed_keys.addressable_shards} == {-(-m // 8)}
    pooled = partial(sharded.attention, over, number=number)
    queries = queries.at[4].set(8.0)  # far from every shard
    compare(
        "gaussian",
        partial(attnlib.nadaraya_watson, method="plain"),
        lambda q, k, v, b: pooled(q, k, v, bandwidth=b),
        (queries, keys, values, jnp.asarray(0.5)),
        (queries, placed_keys, placed_values, jnp.asarray(0.5)),
    )
    compare(
        "dot",
        partial(attnlib.attention, score=partial(attnlib.dot_product, scale=0.5), method="plain"),
        partial(pooled, scale=0.5),
        (queries, keys, values),
        (queries, placed_keys, placed_values),
    )
"""


def test_eight_devices():
    flags = "--xla_force_host_platform_device_count=8"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    cases = [line.split(",") for line in done.stdout.splitlines()]
    assert len(cases) == 4
    for name, m, means, gradients in cases:
        assert float(means) < 1e-12, (name, m)
        assert float(gradients) < 1e-12, (name, m)


def test_one_value_for_each_key():
    over = sharded.mesh(jax.devices()[:1])
    for m, p, number in ((3, 2, None), (3, 3, 4), (3, 3, 0)):
        with pytest.raises(ValueError, match="keys and values: expected one value for each key"):
            sharded.attention(
                over, jnp.ones((1, 2)), jnp.ones((m, 2)), jnp.ones((p, 1)), number=number
            )
