"""The draws: exactly the section's numbers, and no global seed touched."""

import jax
import numpy as np
import pytest
import torch

import attnlib
from attnlib import data
from attnlib.frameworks import load


def by_the_recipe(framework):
    """Inputs, noise and queries as the section draws them, in PyTorch from its global seed."""
    if framework == "torch":
        with torch.random.fork_rng():
            torch.manual_seed(0)
            inputs = torch.rand(40)
            return inputs, torch.randn(40), torch.arange(0, 5, 0.1)
    with jax.enable_x64(False):
        first, second = jax.random.split(jax.random.key(0))
        inputs = jax.random.uniform(first, (40,))
        return inputs, jax.random.normal(second, (40,)), jax.numpy.arange(0, 5, 0.1)


def test_section_data_to_the_bit(framework):
    inputs, noise, queries = by_the_recipe(framework)
    sin = load(framework).sin
    x = np.sort(np.asarray(inputs * 5))
    x_train, y_train, x_val, y_val = data.section_data(framework)
    assert all(str(array.dtype).endswith("float32") for array in data.section_data(framework))
    np.testing.assert_array_equal(x_train, x)
    np.testing.assert_array_equal(y_train, 2 * sin(x_train) + x_train + noise)
    np.testing.assert_array_equal(x_val, queries)
    np.testing.assert_array_equal(y_val, 2 * sin(x_val) + x_val)


def test_section_data_does_not_depend_on_default_precision():
    """A page may switch its framework to float64 first."""
    before = data.section_data("torch"), data.section_data("jax")
    torch.set_default_dtype(torch.float64)
    try:
        with jax.enable_x64(False):
            after = data.section_data("torch"), data.section_data("jax")
    finally:
        torch.set_default_dtype(torch.float32)
    for old, new in zip(before, after, strict=True):
        for a, b in zip(old, new, strict=True):
            np.testing.assert_array_equal(a, b)


DRAWS = {
    "section_data": data.section_data,
    "section_noise": lambda f: (data.section_noise(f, 3, seed=5),),
    "metric_data": lambda f: data.metric_data(f, 7, seed=5),
    "unit_sphere": lambda f: (data.unit_sphere(f, 4, 3, seed=5),),
    "standard_normal": lambda f: (data.standard_normal(f, (2, 3), seed=5),),
    "two_entry_database": data.two_entry_database,
}


@pytest.fixture(params=DRAWS)
def draw(request):
    return DRAWS[request.param]


def test_draws_repeat_and_touch_no_global_seed(framework, draw):
    states = torch.random.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    first = draw(framework)
    torch.rand(1)
    second = draw(framework)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
        assert str(a.dtype).endswith("float32")
    torch.random.set_rng_state(states[0])
    draw(framework)
    assert (torch.random.get_rng_state() == states[0]).all()
    assert (np.random.get_state()[1] == states[1]).all()  # noqa: NPY002


def test_seeds_differ(framework):
    for function in (
        lambda seed: data.section_noise(framework, 3, seed),
        lambda seed: data.metric_data(framework, 7, seed).keys,
        lambda seed: data.unit_sphere(framework, 4, 3, seed),
    ):
        assert (np.asarray(function(1)) != np.asarray(function(2))).all()


def test_section_noise_is_standard_normal(framework):
    noise = np.asarray(data.section_noise(framework, 500, seed=1))
    assert noise.shape == (500, 40)
    assert abs(noise.mean()) < 4 / np.sqrt(noise.size)
    assert abs(noise.std() - 1) < 4 / np.sqrt(2 * noise.size)


def test_metric_data(framework):
    x, y = map(np.asarray, data.metric_data(framework, 2000, seed=1))
    assert x.shape == (2000, 5)
    assert x.min() >= 0
    assert x.max() < 5
    residual = y - (2 * np.sin(x[:, 0]) + x[:, 0])
    assert abs(residual.std() - 1) < 4 / np.sqrt(4000)
    assert np.abs(np.corrcoef(np.column_stack([x, residual]), rowvar=False) - np.eye(6)).max() < 0.1


def test_unit_sphere(framework):
    points = np.asarray(data.unit_sphere(framework, 500, 16, seed=1, databases=4)).astype(float)
    assert points.shape == (4, 500, 16)
    np.testing.assert_allclose(np.linalg.norm(points, axis=-1), 1, rtol=1e-6)
    flat = points.reshape(-1, 16)
    np.testing.assert_allclose(flat.mean(0), 0, atol=4 / np.sqrt(16 * 2000))
    np.testing.assert_allclose(flat.T @ flat / 2000, np.eye(16) / 16, atol=0.01)


def test_two_entry_database(lib):
    keys, values = data.two_entry_database(lib.name)
    queries = lib.array([[2.0], [3.5], [4.0], [5.0]], "float32")
    found = attnlib.attention(
        queries, keys, values, score=lambda q, k: attnlib.squared_distance(q, k, 0.5**0.5)
    )
    second = 1 / (1 + np.exp(-3.0 * (2 * np.array([2, 3.5, 4, 5]) - 7)))
    np.testing.assert_allclose(lib.numbers(found)[:, 0], 10 + 10 * second, rtol=1e-6)


def test_truth(lib):
    x = np.linspace(-3, 9, 7)
    np.testing.assert_allclose(lib.numbers(data.truth(lib.array(x))), 2 * np.sin(x) + x, rtol=1e-12)
