"""The downloaded notebooks run from top to bottom, alone, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

SITE = Path(__file__).resolve().parents[2] / "build" / "html"
NOTEBOOKS = sorted((SITE / "notebooks").rglob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()


def test_every_page_with_code_offers_both(site):
    """Each page that shows framework tabs links a notebook of each framework."""
    tab = "//label[normalize-space()='JAX']"
    pages = [page for page, tree in site.pages.items() if tree.xpath(tab)]
    assert pages
    for page in pages:
        if page.startswith("api/") or page.startswith("gallery/"):
            continue
        links = [Path(link).name for link in site.pages[page].xpath("//a[@download]/@href")]
        name = Path(page).stem
        assert {f"{name}-torch.ipynb", f"{name}-jax.ipynb"} <= set(links), page
