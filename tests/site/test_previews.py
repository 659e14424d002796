"""Each reference to an equation, a figure, an exercise or a work has a preview."""

from __future__ import annotations

import json
import posixpath
import re
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html

SHOWN = re.compile(r"equation-|fig-|cite-|ex\d+(-\w+)?$")


@pytest.fixture(scope="module")
def previews(site) -> dict[tuple[str, str], str]:
    """All previews by page and fragment."""
    found = {}
    for script in (site.folder / "_static" / "previews").rglob("*.js"):
        text = script.read_text("utf-8")
        page, content = re.fullmatch(r'previews\["(.+?)"\] = (.+);\n', text, re.DOTALL).groups()
        found |= {(page, fragment): shown for fragment, shown in json.loads(content).items()}
    return found


def test_every_reference_has_one(site, previews):
    wanted = set()
    for page, tree in site.pages.items():
        for href in tree.xpath("//main//a[contains(@class, 'internal')]/@href"):
            link = urlsplit(href)
            if not link.scheme and SHOWN.match(unquote(link.fragment)):
                path = posixpath.join(posixpath.dirname(page), link.path) if link.path else page
                wanted.add((posixpath.normpath(path), unquote(link.fragment)))
    kinds = {re.match(r"equation|fig|cite|ex", fragment)[0] for _, fragment in wanted}
    assert kinds == {"equation", "fig", "cite", "ex"}
    assert wanted <= previews.keys()


def test_nothing_in_a_preview_can_be_reached(site, previews):
    for key, shown in previews.items():
        box = html.fragment_fromstring(shown, create_parent="div")
        assert box.text_content().strip(), key
        assert not box.xpath(".//a | .//input | .//button | .//*[@id] | .//img[@src]"), key
        for source in box.xpath(".//img/@data-src"):
            assert (site.folder / source).is_file(), key
