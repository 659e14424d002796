"""Pass a page's ``description`` to search engines and to the cards that links unfold into.

Sphinx keeps the field in the page's metadata and does nothing with it; sphinxext-opengraph, left
alone, cuts a description out of the first paragraph, mathematics included.
"""

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def describe(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Write the description where both look for it."""
    meta = context.get("meta") or {}
    if text := meta.get("description"):
        meta["og:description"] = escape(text, quote=False)
        context["metatags"] += f'<meta name="description" content="{escape(text)}" />\n'


def setup(app: Sphinx) -> dict[str, bool]:
    """Run before sphinxext-opengraph, which listens at priority 500."""
    app.connect("html-page-context", describe, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
