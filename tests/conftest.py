"""What all tests share: the frameworks by name, imported only where a test asks for one."""

import os

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(params=["torch", "jax"])
def framework(request: pytest.FixtureRequest) -> str:
    """Name of each framework in turn."""
    return request.param
