"""Whose array is this."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest
import torch

from attnlib import frameworks


def test_preferred(monkeypatch):
    monkeypatch.delenv("ATTNLIB_FRAMEWORK", raising=False)
    assert frameworks.preferred() == "torch"
    monkeypatch.setattr(frameworks, "find_spec", lambda name: None if name == "torch" else name)
    assert frameworks.preferred() == "jax"
    monkeypatch.setattr(frameworks, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install attnlib\[torch\]"):
        frameworks.preferred()


def test_preferred_from_the_environment(monkeypatch):
    for name in ("torch", "jax"):
        monkeypatch.setenv("ATTNLIB_FRAMEWORK", name)
        assert frameworks.preferred() == name
    monkeypatch.setenv("ATTNLIB_FRAMEWORK", "tensorflow")
    with pytest.raises(ValueError, match="ATTNLIB_FRAMEWORK: expected 'torch' or 'jax', got 'tens"):
        frameworks.preferred()


def test_framework_of():
    assert frameworks.framework_of(torch.ones(1)) == "torch"
    assert frameworks.framework_of(jax.numpy.ones(1)) == "jax"
    assert frameworks.framework_of(np.ones(1)) == "numpy"
    assert frameworks.framework_of(np.float32(1)) == "numpy"
    assert frameworks.framework_of(1.0) is None
    seen = []
    jax.jit(lambda x: seen.append(frameworks.framework_of(x)))(1.0)
    torch.func.vmap(lambda x: seen.append(frameworks.framework_of(x)) or x)(torch.ones(2))
    assert seen == ["jax", "torch"]


def test_stop_gradient(gradlib):
    (gradient,) = gradlib.gradients(lambda x: x * frameworks.stop_gradient(x), gradlib.array([3.0]))
    assert gradient == 3


def test_certainly():
    assert frameworks.certainly(np.bool_(True))
    assert not frameworks.certainly(torch.tensor(False))
    seen = []
    jax.jit(lambda x: seen.append(frameworks.certainly(x)))(True)
    assert seen == [False]


def test_jax_keeps_the_device():
    script = """
import jax, attnlib
second = jax.devices()[1]
x, y = (jax.device_put(jax.numpy.arange(3.0) + i, second) for i in range(2))
for result in (
    attnlib.nadaraya_watson(x, x, y, 0.5),
    attnlib.kernel_weights(x, x, 0.1, "boxcar"),
    attnlib.leave_one_out_error(x, y, 0.5),
    attnlib.attention(x, x, y),
    attnlib.choose_bandwidth(x, y, [0.1, 0.5]).bandwidths,
):
    assert result.devices() == {second}, result.devices()
"""
    environment = {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    subprocess.run(
        [sys.executable, "-W", "error", "-c", script], check=True, env=os.environ | environment
    )
