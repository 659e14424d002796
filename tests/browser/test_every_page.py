"""What a browser measures on every page: requests, errors, bytes, shifts of the layout, widths."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from served import SITE, site_pages

# Kilobytes of 1000 bytes, compressed, headers included.
FIRST_VISIT, LATER_VISIT, FIRST_VISIT_LIVE = 250, 60, 560
SHIFT = 0.02
PHONE = {"width": 320, "height": 640}
DESK = {"width": 1280, "height": 800}

COUNT_SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
SCROLL_THROUGH = """async () => {
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
    scrollTo({ top: y, behavior: "instant" });
    await new Promise((done) => setTimeout(done, 30));
  }
}"""
# The theme lets the column of the text scroll in itself, which is no better than a page that does.
TOO_WIDE = """() => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  const column = document.querySelector(".bd-article-container");
  const scrolls = (element) => {
    for (let e = element.parentElement; e && e !== column; e = e.parentElement) {
      if (getComputedStyle(e).overflowX !== "visible") return true;
    }
    return false;
  };
  return [document.documentElement, column].flatMap((box) => {
    if (!box || box.scrollWidth <= box.clientWidth) return [];
    const edge = box.getBoundingClientRect().left + box.clientWidth + 1;
    const wide = [...box.querySelectorAll("*")].filter((element) =>
      element.getBoundingClientRect().right > edge && !scrolls(element));
    return [`${box.scrollWidth} > ${box.clientWidth}`,
            ...wide.slice(0, 5).map((e) => e.outerHTML.slice(0, 120))];
  });
}"""


@dataclass
class Visit:
    """What was seen on a page."""

    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    kilobytes: float = 0
    shift: float = 0
    too_wide: list[str] = field(default_factory=list)
    too_wide_zoomed: list[str] = field(default_factory=list)


def open_page(context: BrowserContext, address: str, path: str) -> tuple[Page, Visit]:
    """Open a page and note its requests and errors."""
    page, visit = context.new_page(), Visit()
    network = context.new_cdp_session(page)
    network.send("Network.enable")

    inside = set()  # data in a style sheet is no transfer of its own

    def start(event: dict) -> None:
        if event["request"]["url"].startswith("data:"):
            inside.add(event["requestId"])

    def count(event: dict) -> None:
        if event["requestId"] not in inside:
            visit.kilobytes += event["encodedDataLength"] / 1000

    def complain(message: object) -> None:
        visit.errors.append(str(message))

    def look(request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            visit.elsewhere.append(request.url)

    network.on("Network.requestWillBeSent", start)
    network.on("Network.loadingFinished", count)
    page.on("pageerror", complain)
    page.on("requestfailed", lambda request: complain(f"{request.url}: {request.failure}"))
    page.on("console", lambda m: complain(m.text) if m.type in ("error", "warning") else None)
    page.on("request", look)
    page.goto(address + path, wait_until="networkidle")
    return page, visit


def look_at(browser: Browser, address: str, path: str) -> Visit:
    """Read a page as a first visit on a desk, then on a phone, then with twice the text size."""
    with browser.new_context(viewport=DESK) as context:
        context.add_init_script(COUNT_SHIFTS)
        page, visit = open_page(context, address, path)
        first = visit.kilobytes
        page.evaluate(SCROLL_THROUGH)
        visit.shift = page.evaluate("window.shift")
        visit.kilobytes = first
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        page.evaluate("dispatchEvent(new Event('resize'))")  # as a browser does, for live figures
        page.wait_for_timeout(300 if is_live(path) else 0)
        visit.too_wide_zoomed = page.evaluate(TOO_WIDE)
        page.evaluate("document.documentElement.style.fontSize = ''")
        page.set_viewport_size(PHONE)
        page.wait_for_timeout(300 if is_live(path) else 0)
        visit.too_wide = page.evaluate(TOO_WIDE)
        visit.kilobytes = first
        return visit


def is_live(path: str) -> bool:
    return '<div class="live"' in (SITE / path).read_text("utf-8")


@pytest.mark.parametrize("path", site_pages())
def test_first_visit(browser, address, path):
    visit = look_at(browser, address, path)
    assert visit.errors == []
    assert visit.elsewhere == []
    assert 0 < visit.kilobytes <= (FIRST_VISIT_LIVE if is_live(path) else FIRST_VISIT)
    assert visit.shift <= SHIFT
    assert visit.too_wide == []
    assert visit.too_wide_zoomed == []


def test_later_visits_are_lighter(browser, address):
    """Of somebody who has read two pages, one of them with a live figure, and has searched."""
    seen = ["section/lookup.html", "exercises/ex01-two-entries.html", "search.html"]
    heavy = {}
    with browser.new_context(viewport=DESK) as context:
        for path in [*seen, *(set(site_pages()) - set(seen))]:
            page, visit = open_page(context, address, path)
            page.close()
            if path not in seen and not is_live(path) and visit.kilobytes > LATER_VISIT:
                heavy[path] = visit.kilobytes
    assert heavy == {}


# --- each of them has been seen to fail ----------------------------------------------------------


def test_faults_are_seen(browser, address):
    with browser.new_context(viewport=PHONE) as context:
        context.add_init_script(COUNT_SHIFTS)
        page, visit = open_page(context, address, "references.html")
        assert visit == Visit(kilobytes=visit.kilobytes)
        before = visit.kilobytes
        page.evaluate("console.error('a fault')")
        host = urlsplit(address)
        page.evaluate(f"fetch('http://localhost:{host.port}/index.html').catch(() => null)")
        page.evaluate(
            """() => document.querySelector("main p").insertAdjacentHTML("beforebegin",
                '<div style="width: 30rem; height: 20rem">too wide</div>')"""
        )
        page.wait_for_timeout(300)
        assert "a fault" in visit.errors
        assert visit.elsewhere == [f"http://localhost:{host.port}/index.html"]
        assert page.evaluate(TOO_WIDE)
        assert page.evaluate("window.shift") > SHIFT
        page.evaluate("fetch('searchindex.js').then((answer) => answer.text())")
        page.wait_for_timeout(300)
        assert visit.kilobytes > before + 1
