"""The public face: names load on first use, and loading one framework never loads the other."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import attnlib

ROOT = Path(attnlib.__file__).parents[1]
HEAVY = ("torch", "jax", "jaxlib", "matplotlib", "scipy", "jaxtyping")


def loaded_after(script: str) -> set[str]:
    """Which heavy modules a fresh interpreter has loaded after this script."""
    report = f"{script}\nimport sys; print(*({HEAVY!r} & sys.modules.keys()))".replace(
        repr(HEAVY), repr(set(HEAVY))
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", report],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
    )
    return set(result.stdout.splitlines()[-1].split())


USE_EVERYTHING = """
import attnlib
from attnlib import data
y = x * x
attnlib.nadaraya_watson(x, x, y, 0.5), attnlib.attention(x, x, y)
attnlib.choose_bandwidth(x, y, [0.1, 0.5]), attnlib.kernel_weights(x, x, 0.1, "boxcar")
attnlib.effective_number(attnlib.softmax_weights(attnlib.dot_product(x, x)))
"""


def test_import_loads_nothing_heavy():
    assert loaded_after("import attnlib; attnlib.__all__; dir(attnlib)") == set()


def test_numpy_needs_no_framework():
    assert loaded_after("import numpy; x = numpy.arange(3.0)" + USE_EVERYTHING) == set()


def test_torch_does_not_load_jax():
    script = "import torch; x = torch.arange(3.0)" + USE_EVERYTHING + "data.section_data('torch')"
    assert loaded_after(script) == {"torch"}


def test_jax_does_not_load_torch():
    script = "import jax; x = jax.numpy.arange(3.0)" + USE_EVERYTHING + "data.section_data('jax')"
    assert loaded_after(script) - {"scipy"} == {"jax", "jaxlib"}  # JAX itself loads SciPy


def test_every_name_is_found_and_listed():
    for name in attnlib.__all__:
        assert getattr(attnlib, name).__doc__
        assert name in dir(attnlib)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'attnlib' has no attribute 'atention'"):
        attnlib.atention  # noqa: B018


def test_stub_lists_the_same_names():
    """Type checkers see what users get."""
    stub = ast.parse((ROOT / "attnlib" / "__init__.pyi").read_text())
    listed = [
        alias.asname
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(listed) == attnlib.__all__


def test_plotting_is_the_only_file_that_imports_more_than_numpy():
    allowed = {"numpy", "array_api_compat", "attnlib", "__future__", *sys.stdlib_module_names}
    for file in (ROOT / "attnlib").glob("*.py"):
        if file.name in ("plotting.py", "_typing.py"):
            continue
        nodes = list(ast.walk(ast.parse(file.read_text())))
        imported = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert {name.partition(".")[0] for name in imported} <= allowed, file.name
