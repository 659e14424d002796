"""The notebooks that a reader downloads."""

import json

import nbclient
import nbformat
import pytest
from sites import Site, cells

PAGES = ["tabs", "figures", "sub/script", "exercises/ex01-fold"]
FRAMEWORKS = ["torch", "jax"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("page", PAGES)
def test_valid_and_without_outputs(good: Site, page: str, framework: str):
    notebook = good.notebook(page, framework)
    nbformat.validate(nbformat.reads(json.dumps(notebook), as_version=4))
    assert not any(cell.get("outputs") for cell in notebook["cells"])


def test_one_framework_only(good: Site):
    code = "\n".join(cells(good.notebook("tabs", "jax"), "code"))
    assert "x = -0.5" in code
    assert "hidden = x" in code
    assert "x = 0.25" not in code
    assert "record(" not in code


def test_text_is_plain_markdown(good: Site):
    text = "\n\n".join(cells(good.notebook("tabs", "torch"), "markdown"))
    assert "As numbers: 0.25; 0.25; −0.5; −1.5 × 10⁻⁹; 12345; yes." in text
    assert "| Table | 0.25 |\n| --- | --- |\n| a | b |" in text
    text = "\n\n".join(cells(good.notebook("figures", "jax"), "markdown"))
    assert "By Equation (2.1): Fig. 2.1, Fig. 2.2, Fig. 2.3." in text
    assert "$$\na = b \\tag{2.1}\n$$" in text
    assert "*Fig. 2.2. Slope 2.*" in text


def test_introduction_names_page_and_framework(good: Site):
    first = cells(good.notebook("sub/script", "jax"), "markdown")[0]
    assert "[Script](https://example.org/site/sub/script.html)" in first
    assert "JAX" in first


def test_script_without_header(good: Site):
    code = cells(good.notebook("sub/script", "torch"), "code")[1]
    assert "ax.plot([1, 3])" in code
    assert "/// script" not in code
    assert "What one sees" not in code


def test_installs_what_the_cells_import(good: Site):
    install = cells(good.notebook("sub/script", "jax"), "code")[0]
    for line in (
        '"attnlib": "https://example.org/site/attnlib-1-py3-none-any.whl"',
        '"jax": "jax"',
        '"matplotlib": "matplotlib"',
    ):
        assert line in install
    assert "torch" not in install


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_runs_from_top_to_bottom(good: Site, framework: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", str(good.root))
    for page in ("tabs", "sub/script"):
        notebook = nbformat.reads(json.dumps(good.notebook(page, framework)), as_version=4)
        nbclient.execute(notebook, kernel_name="python3")
        install = next(cell for cell in notebook.cells if cell.cell_type == "code")
        assert install.outputs == []  # nothing was missing
