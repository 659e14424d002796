"""Make the gallery's overview valid HTML.

sphinx-gallery 0.22 writes its own attribute, ``tooltip``, on each card, which HTML does not have
and a screen reader does not read; ``title`` says the same to everybody. And it places a list for
tags under a fixed name in each section of the overview; our scripts have no tags.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

CARD = 'class="sphx-glr-thumbcontainer" tooltip="'
TAGS = "<div id='sg-tag-list' class='sphx-glr-tag-list'></div>"


class ValidCards(SphinxTransform):
    """Mend the pieces of HTML that frame the cards."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        """Visit the raw HTML of the page."""
        for node in self.document.findall(nodes.raw):
            html = node.astext()
            if CARD in html or TAGS in html:
                html = html.replace(CARD, CARD.replace("tooltip", "title")).replace(TAGS, "")
                node.children = [nodes.Text(html)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(ValidCards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
