"""The built site, for tests that read it as its readers get it."""

from __future__ import annotations

from pathlib import Path

import pytest
from checks import Site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site() -> Site:
    """The site in ``build/html``; a missing build is a failure, not a skip."""
    folder = ROOT / "build" / "html"
    if not (folder / "index.html").is_file():
        pytest.fail(f"no site in {folder}: build it with `python -m nox -s docs`")
    return Site(folder)
