"""Show what a reference points to, while the pointer or the focus is on it.

Sphinx links an equation, a figure, an exercise or a work, and a reader who follows the link has
left the argument. When all pages are written, what references point to is cut out of them into
one small script for each page; ``previews.js`` loads it when somebody first points at a reference.
A script, since a page that was opened from the disk may not fetch anything else.
"""

from __future__ import annotations

import copy
import json
import posixpath
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html
from sphinx.application import Sphinx

FOLDER = Path("_static", "previews")
TARGET = re.compile(r"equation-|fig-|cite-|ex\d+(-\w+)?$")  # previews.js has the same
NOT_SHOWN = "headerlink", "backrefs", "fn-bracket", "notebook-links", "script-link"
Element = html.HtmlElement


def has(name: str) -> str:
    """The XPath condition of a class."""
    return f"contains(concat(' ', @class, ' '), ' {name} ')"


def references(page: str, tree: Element) -> Iterator[tuple[str, str]]:
    """What the references of a page point to: page and fragment."""
    for href in tree.xpath(f"//a[{has('internal')}]/@href"):
        parts = urlsplit(href)
        fragment = unquote(parts.fragment)
        if TARGET.match(fragment) and not parts.scheme:
            path = posixpath.join(posixpath.dirname(page), parts.path) if parts.path else page
            yield posixpath.normpath(path), fragment


def preview(page: str, target: Element) -> str:
    """The HTML that shows a target, without anything that a reader could reach in it."""
    box = html.Element("div")
    if target.tag == "figure":
        box.extend(pictures(target))
        box.extend(copy.deepcopy(c) for c in target.iter("figcaption"))
    elif target.tag == "section":
        box.extend(opening(target))
    else:
        box.append(copy.deepcopy(target))
    for element in box.xpath(" | ".join(f".//*[{has(name)}]" for name in NOT_SHOWN)):
        element.drop_tree()
    for element in box.iter():
        for name in ("id", "role", "tabindex"):
            element.attrib.pop(name, None)
    for link in list(box.iter("a")):
        link.drop_tag()
    for image in box.iter("img"):
        source = posixpath.join(posixpath.dirname(page), image.attrib.pop("src"))
        image.set("data-src", posixpath.normpath(source))
    return "".join(html.tostring(child, encoding="unicode") for child in box).strip()


def pictures(figure: Element) -> Iterator[Element]:
    """The pictures of a figure; those in a tab say of which framework."""
    for image in figure.iter("img"):
        picture = copy.deepcopy(image)
        picture.tail = None
        for tab in image.xpath(f"ancestor::div[{has('sd-tab-content')}]"):
            picture.set("data-framework", tab.getprevious().get("data-sync-id", ""))
        yield picture


def opening(section: Element) -> Iterator[Element]:
    """The heading of a section and its first paragraph."""
    heading = next(section.iter("h1", "h2", "h3"))
    title = html.Element("p")
    strong = copy.deepcopy(heading)
    strong.tag, strong.tail = "strong", None
    title.append(strong)
    yield title
    paragraphs = section.xpath(".//p[not(@class)]")
    if paragraphs:
        yield copy.deepcopy(paragraphs[0])


def write(app: Sphinx, exception: Exception | None) -> None:
    """Cut out what the references of all pages point to."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    names = (app.builder.get_target_uri(docname) for docname in sorted(app.env.found_docs))
    trees = {
        name: html.document_fromstring(Path(app.outdir, name).read_text("utf-8")) for name in names
    }
    wanted = defaultdict(set)
    for page, tree in trees.items():
        for target_page, fragment in references(page, tree):
            wanted[target_page].add(fragment)
    for page in sorted(wanted.keys() & trees.keys()):
        found = {}
        for fragment in sorted(wanted[page]):
            if (target := trees[page].get_element_by_id(fragment, None)) is not None:
                found[fragment] = preview(page, target)
        script = folder / f"{page.removesuffix('.html')}.js"
        script.parent.mkdir(parents=True, exist_ok=True)
        content = json.dumps(found, ensure_ascii=False, indent=0)
        script.write_text(f"previews[{json.dumps(page)}] = {content};\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Run when the pages are there, and before the site is packed."""
    app.connect("build-finished", write)
    app.add_js_file("previews.js", loading_method="defer")
    app.add_css_file("previews.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
