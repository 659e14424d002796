"""Print the built site into one PDF: the home page's order, page numbers, links that work.

    python docs/_pdf.py      run by ``nox -s pdf``, after ``nox -s docs``

Chromium prints each page for itself, with the style sheet for paper. Then the links from page to
page, which lead to files, are made to lead to places in the PDF, and the numbers are laid over it.
The PDF is not part of the build: it lies beside the pages, and the home page gets a link to it.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html
from playwright.sync_api import Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NullObject

SITE = Path(__file__).resolve().parents[1] / "build" / "html"
NAME = "queries-keys-values.pdf"
ZIP = re.compile(r'<a href="queries-keys-values\.zip".*?(?=</p>)', re.DOTALL)  # and its lines
LINK = f' For paper there is <a href="{NAME}">one PDF of section and solutions</a>.'
PAPER = {
    "format": "A4", "print_background": True,
    "margin": {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"},
}  # fmt: skip
FOOTER = '<p style="font-size: 9px; width: 100%; text-align: center"><span class="pageNumber"></span></p>'  # noqa: E501

# Chromium notes the place of an id only where something on the same page links to it.
ANCHORS = """(ids) => {
  document.querySelectorAll("img").forEach((image) => { image.loading = "eager"; });
  const box = document.createElement("div");
  box.style = "font-size: 1px; line-height: 1px; color: transparent; overflow: hidden";
  for (const id of ids.filter((id) => document.getElementById(id))) {
    const link = document.createElement("a");
    link.href = "#" + encodeURIComponent(id);
    link.textContent = ".";
    link.style.color = "transparent";
    box.append(link);
  }
  document.querySelector("article").append(box);
  return Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
}"""

TITLE = """(heading) => [...heading.childNodes]
  .filter((node) => node.className !== "headerlink").map((node) => node.textContent).join("")"""


@dataclass
class Chapter:
    """A page of the site, printed."""

    path: str
    title: str
    pdf: PdfReader
    start: int = 0  # its first page in the whole


def reading_order(site: Path) -> list[str]:
    """The pages of section and exercises, and what they refer to, in the order of the menu."""
    tree = html.parse(site / "index.html")
    links = tree.xpath("//nav[contains(@class, 'bd-docs-nav')]//a/@href")
    wanted = (link for link in links if re.match(r"section/|exercises/|notation|references", link))
    return list(dict.fromkeys(["index.html", *wanted]))


def linked_ids(site: Path, paths: list[str]) -> dict[str, set[str]]:
    """The fragments of each page that other pages link to."""
    found = defaultdict(set)
    for path in paths:
        for href in html.parse(site / path).xpath("//main//a/@href"):
            link = urlsplit(href)
            if link.path and link.fragment and not link.scheme:
                target = os.path.normpath(Path(path).parent / link.path)
                found[Path(target).as_posix()].add(unquote(link.fragment))
    return found


def print_page(page: Page, address: str, ids: set[str]) -> tuple[str, PdfReader]:
    """Print one page of the site."""
    page.goto(address, wait_until="load")
    page.emulate_media(media="print", color_scheme="light")
    page.evaluate(ANCHORS, sorted(ids))
    title = page.locator("main h1").first.evaluate(TITLE)
    return title.strip(), PdfReader(io.BytesIO(page.pdf(**PAPER)))


def numbers(page: Page, count: int) -> PdfReader:
    """As many pages as asked for, empty but for their numbers."""
    page.set_content('<p style="break-after: page">&nbsp;</p>' * (count - 1) + "<p>&nbsp;</p>")
    options = {**PAPER, "print_background": False, "display_header_footer": True}
    pdf = page.pdf(**options, header_template="<span></span>", footer_template=FOOTER)
    return PdfReader(io.BytesIO(pdf))


def destination(
    annotation: DictionaryObject, chapter: Chapter, site: Path
) -> tuple[str, str] | None:
    """Where in the site a link leads: page and fragment; None if it leaves the site."""
    action = annotation.get("/A", {})
    name = annotation.get("/Dest", action.get("/D"))
    if name is not None:
        return chapter.path, str(name).lstrip("/")
    link = urlsplit(str(action.get("/URI", "")))
    if link.scheme != "file":
        return None
    return os.path.relpath(unquote(link.path), site), unquote(link.fragment)


def place(writer: PdfWriter, chapter: Chapter, fragment: str) -> ArrayObject:
    """A fragment's place in the whole: its chapter's beginning where it has none."""
    named = chapter.pdf.named_destinations
    found = named.get(fragment) or named.get("/" + fragment)
    number = chapter.pdf.get_destination_page_number(found) if found else 0
    page = writer.pages[chapter.start + max(number or 0, 0)].indirect_reference
    top = FloatObject(found.top) if found and found.top is not None else NullObject()
    return ArrayObject([page, NameObject("/XYZ"), NullObject(), top, NullObject()])


def join(chapters: list[Chapter], site: Path) -> PdfWriter:
    """All chapters in one document, with bookmarks, and with links between them."""
    writer = PdfWriter()
    for chapter in chapters:
        chapter.start = len(writer.pages)
        writer.append(chapter.pdf, import_outline=False)
        writer.add_outline_item(title=chapter.title, page_number=chapter.start)
    by_path = {chapter.path: chapter for chapter in chapters}
    for chapter in chapters:
        for page in writer.pages[chapter.start : chapter.start + len(chapter.pdf.pages)]:
            for reference in page.get("/Annots", ()):
                annotation = reference.get_object()
                target = destination(annotation, chapter, site)
                if target is None:
                    continue
                annotation.pop("/A", None)
                annotation.pop("/Dest", None)
                if target[0] in by_path:
                    there = by_path[target[0]]
                    annotation[NameObject("/Dest")] = place(writer, there, target[1])
    return writer


def make(site: Path, paths: list[str], target: Path) -> None:
    """Print the pages into one file."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    ids = linked_ids(site, paths)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = chromium.new_page(color_scheme="light")
        chapters = [
            Chapter(path, *print_page(page, (site / path).as_uri(), ids[path])) for path in paths
        ]
        writer = join(chapters, site)
        for below, number in zip(writer.pages, numbers(page, len(writer.pages)).pages, strict=True):
            below.merge_page(number)
        chromium.close()
    writer.add_metadata({"/Title": "Queries, Keys, and Values"})
    writer.compress_identical_objects()
    writer.write(target)


def offer(site: Path) -> None:
    """Let the home page link the PDF, beside the zip file."""
    home = site / "index.html"
    text = home.read_text("utf-8")
    if LINK not in text:
        home.write_text(ZIP.sub(lambda lines: lines[0] + LINK, text, count=1), "utf-8")


def main() -> None:
    """Print the site and offer the file; pages and a place are for trials, which offer nothing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    make(SITE, options.pages or reading_order(SITE), options.out or SITE / NAME)
    if not options.out:
        offer(SITE)


if __name__ == "__main__":
    main()
