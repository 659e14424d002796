"""A real browser on the built site."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from served import SITE, Compressing

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
# As root (in a container) there is no sandbox to be had; the rest keeps the browser from asking
# its maker for updates.
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the site is served."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"no site in {SITE}: build it with `python -m nox -s docs`")
    with ThreadingHTTPServer(("127.0.0.1", 0), Compressing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: the one of the environment variable CHROMIUM, or the first one on the path."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=found, args=FLAGS) as chromium,
    ):
        yield chromium


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a first visit: nothing stored, nothing cached."""
    with browser.new_context() as context:
        yield context.new_page()
