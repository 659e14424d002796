"""Make the gallery's cards valid HTML.

sphinx-gallery 0.22 writes its own attribute, ``tooltip``, on each card of an overview, which HTML
does not have and a screen reader does not read. ``title`` says the same to everybody.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

CARD = 'class="sphx-glr-thumbcontainer" tooltip="'


class Titles(SphinxTransform):
    """Rename the attribute in the pieces of HTML that frame a card."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        """Visit the raw HTML of the page."""
        for node in self.document.findall(nodes.raw):
            if CARD in node.astext():
                html = node.astext().replace(CARD, CARD.replace("tooltip", "title"))
                node.children = [nodes.Text(html)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(Titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
