"""Each check of the site catches the fault it is there for."""

from __future__ import annotations

import checks
import pytest

GOOD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A page</title>
<link rel="canonical" href="https://site.example/index.html">
<link rel="stylesheet" href="style.css">
</head>
<body>
<h1 id="top-of-page">A page</h1>
<p><a href="#top-of-page">up</a>, <a href="index.html">home</a>,
<a href="https://elsewhere.example/">elsewhere</a></p>
<img src="dot.svg" alt="A single dot in the middle of the square">
<div class="sd-tab-set">
<input id="t1" name="t" type="radio" checked><label for="t1">PyTorch</label><div>1</div>
<input id="t2" name="t" type="radio"><label for="t2">JAX</label><div>1</div>
</div>
</body>
</html>
"""

FAULTS = {
    "a link to a page that is not there": (
        checks.broken_links, 'href="index.html"', 'href="gone.html"', "gone.html: no such file"),
    "a link to an anchor that is not there": (
        checks.broken_links, 'href="#top-of-page"', 'href="#gone"', "#gone: no such anchor"),
    "an image without alternative text": (
        checks.images_without_text, ' alt="A single dot in the middle of the square"', "",
        "dot.svg: no alt text"),
    "a file name for alternative text": (
        checks.images_without_text, "A single dot in the middle of the square", "dot.svg",
        "the alt text is the file's name"),
    "an image that is not there": (
        checks.missing_files, 'src="dot.svg"', 'src="gone.svg"', "gone.svg"),
    "a style sheet from another host": (
        checks.third_party_requests, 'href="style.css"', 'href="https://fonts.example/a.css"',
        "https://fonts.example/a.css"),
    "a tab-set that misses a framework": (
        checks.tabs_without_framework,
        '<input id="t2" name="t" type="radio"><label for="t2">JAX</label><div>1</div>', "",
        "a tab-set holds only PyTorch"),
    "an identifier used twice": (
        checks.invalid_html, 'id="t2"', 'id="t1"', "Duplicate ID"),
}  # fmt: skip


@pytest.fixture
def build(tmp_path):
    """Write a site of one page and return it."""

    def write(page: str, style: str = "body { color: black }") -> checks.Site:
        (tmp_path / "index.html").write_text(page)
        (tmp_path / "style.css").write_text(style)
        (tmp_path / "dot.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
        return checks.Site(tmp_path)

    return write


@pytest.mark.parametrize(
    "check", sorted({fault[0] for fault in FAULTS.values()}, key=lambda c: c.__name__)
)
def test_a_good_page_passes(build, check):
    assert check(build(GOOD)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught(build, fault):
    check, old, new, message = FAULTS[fault]
    assert old in GOOD
    problems = check(build(GOOD.replace(old, new)))
    assert any(message in problem for problem in problems), problems


def test_a_font_from_another_host_in_a_style_sheet_is_caught(build):
    style = "@font-face { font-family: x; src: url('https://fonts.example/x.woff2') }"
    assert checks.third_party_requests(build(GOOD, style)) == [
        "style.css: https://fonts.example/x.woff2"
    ]
