"""Show every SVG figure in the colours of the page: a light one and its dark twin.

An image that is linked cannot follow the theme that a reader chooses. The figures draw in the
colours of one table, and ``attnlib.plotting.DARK_TWINS`` pairs each with a dark one: the twin is
the same file with the colours exchanged. The browser fetches only the one that it shows.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxTransform
from sphinx_gallery.directives import imgsgnode

from attnlib.plotting import DARK_TWINS

SIZE = re.compile(r'<svg[^>]*\s(width|height)="([\d.]+)pt"[^>]*\s(?:width|height)="([\d.]+)pt"')
PIXELS_PER_POINT = 4 / 3


def darken(svg: str, twins: dict[str, str]) -> str:
    """Return the figure with each light colour of the table replaced by its dark twin."""
    table = {light.lower(): dark for light, dark in twins.items()}
    return re.sub(r"#[0-9a-fA-F]{6}\b", lambda color: table.get(color[0].lower(), color[0]), svg)


def pixels(svg: str) -> dict[str, str]:
    """Return width and height on the page, so that the text does not jump as a figure arrives."""
    if not (match := SIZE.search(svg)):
        return {}
    first, second = (str(round(float(side) * PIXELS_PER_POINT)) for side in match.group(2, 3))
    return {match[1]: first, "height" if match[1] == "width" else "width": second}


class GalleryImages(SphinxTransform):
    """Turn sphinx-gallery's own kind of image, which no other extension knows, into an image."""

    default_priority = 860

    def apply(self, **kwargs: Any) -> None:
        """Keep address, alternative text and class."""
        for node in list(self.document.findall(imgsgnode)):
            image = nodes.image(uri=node["uri"], alt=node["alt"], classes=node["class"] or [])
            image.source, image.line = node.source, node.line
            node.replace_self(image)


class DarkTwins(SphinxTransform):
    """Put the dark twin of each SVG image behind it, and write its file."""

    default_priority = 870
    shown: ClassVar[set[str]] = {"only-light", "only-dark"}

    def apply(self, **kwargs: Any) -> None:
        """Visit the SVG images that are not already for one theme."""
        for image in list(self.document.findall(nodes.image)):
            if image["uri"].endswith(".svg") and not self.shown & set(image["classes"]):
                self.pair(image)

    def pair(self, image: nodes.image) -> None:
        """Write the twin of one image beside the doctrees and show it in the dark theme."""
        _, path = self.env.relfn2path(image["uri"], self.env.docname)
        svg = Path(path).read_text(encoding="utf-8")
        dark = self.write(f"{Path(path).stem}-dark.svg", darken(svg, self.config.dark_figures))
        image["loading"] = "lazy"
        image.attributes.update(pixels(svg))
        twin = image.copy()
        twin["ids"], twin["names"] = [], []
        twin["uri"] = "/" + PurePosixPath(os.path.relpath(dark, self.env.srcdir)).as_posix()
        image["classes"] = [*image["classes"], "only-light"]
        twin["classes"] = [*twin["classes"], "only-dark"]
        image.parent.insert(image.parent.index(image) + 1, twin)

    def write(self, name: str, text: str) -> Path:
        """Write a file in one step, since two pages of a parallel build may share a figure."""
        folder = Path(self.env.doctreedir, "dark_figures")
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}"
        part.write_text(text, encoding="utf-8")
        return part.replace(folder / name)


def read_colors(app: Sphinx, config: Config) -> None:
    """Let Sphinx see the table: pages are read again when a colour changes."""
    config.dark_figures = config.dark_figures or DARK_TWINS


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transforms, which run before Sphinx notes the images to copy (priority 880)."""
    app.add_config_value("dark_figures", {}, "env", types=frozenset({dict}))
    app.connect("config-inited", read_colors)
    app.add_transform(GalleryImages)
    app.add_transform(DarkTwins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
