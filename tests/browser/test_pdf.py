"""Section and solutions as one PDF: numbered pages, and links that lead somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader
from served import SITE

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["section/lookup.html", "exercises/ex01-two-entries.html", "references.html"]


@pytest.fixture(scope="module")
def pdf(tmp_path_factory) -> PdfReader:
    """Three pages, printed."""
    path = tmp_path_factory.mktemp("pdf") / "three.pdf"
    command = [sys.executable, str(ROOT / "docs" / "_pdf.py"), "--out", str(path), *PAGES]
    home = (SITE / "index.html").read_bytes()
    subprocess.run(command, check=True)
    assert (SITE / "index.html").read_bytes() == home
    return PdfReader(path)


def test_every_page_has_its_number(pdf):
    last_words = [page.extract_text().split()[-1] for page in pdf.pages]
    assert last_words == [str(number) for number, _ in enumerate(pdf.pages, 1)]


def test_bookmarks_are_the_chapters(pdf):
    titles = [item.title for item in pdf.outline]
    assert titles[1:] == ["Exercise 1: A two-entry database", "References"]
    assert titles[0].endswith("Attention as differentiable lookup")


def test_solutions_are_there_for_one_framework(pdf):
    text = "\n".join(page.extract_text() for page in pdf.pages)
    assert "import torch" in text
    assert "import jax" not in text
    assert text.count("Result.") >= 3


def test_links_lead_to_their_places(pdf):
    pages = {page.indirect_reference.idnum: number for number, page in enumerate(pdf.pages)}
    chapters = [pdf.get_destination_page_number(item) for item in pdf.outline]
    inside, outside, with_a_place = [], [], 0
    for number, page in enumerate(pdf.pages):
        for reference in page.get("/Annots", ()):
            annotation = reference.get_object()
            if "/Dest" in annotation:
                place = annotation["/Dest"]
                target = pages[place[0].idnum]
                inside.append((number, target))
                with_a_place += target not in chapters
            elif "/A" in annotation:
                outside.append(annotation["/A"]["/URI"])
    assert outside
    assert all(uri.startswith(("https://", "http://")) for uri in outside)
    # From the section to the list of works, the last chapter.
    assert any(here < chapters[1] and there >= chapters[2] for here, there in inside)
    assert with_a_place > 5
