"""Make the gallery's overview valid HTML, and its pictures small.

sphinx-gallery 0.22 writes its own attribute, ``tooltip``, on each card, which HTML does not have
and a screen reader does not read; ``title`` says the same to everybody. And it places a list for
tags under a fixed name in each section of the overview; our scripts have no tags.
It writes each title twice and hides the one that is a link, which leaves the link without a name.
For a picture it takes the whole figure, with letters that nobody can read at that size.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from lxml import etree
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

CARD = 'class="sphx-glr-thumbcontainer" tooltip="'
TAGS = "<div id='sg-tag-list' class='sphx-glr-tag-list'></div>"
TITLE = re.compile(r'<div class="sphx-glr-thumbnail-title">.*?</div>\n')


class ValidCards(SphinxTransform):
    """Mend the pieces of HTML that frame the cards."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        """Visit the raw HTML of the page."""
        for node in self.document.findall(nodes.raw):
            html = node.astext()
            mended = html.replace(CARD, CARD.replace("tooltip", "title")).replace(TAGS, "")
            mended = TITLE.sub("", mended)
            if mended != html:
                node.children = [nodes.Text(mended)]


def thumbnail(svg: bytes) -> bytes:
    """A drawing without letters, legend and ticks, in whole points or tenths of small ones."""
    drawing = etree.fromstring(svg)
    for kind in ("text_", "legend_", "matplotlib.axis_"):
        for group in drawing.xpath(f"//*[local-name() = 'g' and starts-with(@id, '{kind}')]"):
            group.getparent().remove(group)
    whole = re.sub(rb"(\d\d+)\.\d+", rb"\1", etree.tostring(drawing))
    return re.sub(rb"(\d\.\d)\d+", rb"\1", whole)


def shrink(app: Sphinx) -> None:
    """Draw the thumbnails anew, when sphinx-gallery has written them."""
    for path in sorted(Path(app.srcdir, "gallery").glob("*/images/thumb/*.svg")):
        whole = path.read_bytes()
        if (small := thumbnail(whole)) != whole:
            path.write_bytes(small)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform, and the last step before pages are read."""
    app.add_transform(ValidCards)
    app.connect("builder-inited", shrink, priority=900)  # sphinx-gallery runs at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
