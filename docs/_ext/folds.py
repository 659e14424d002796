"""Set-up code, hints and solutions that are closed at first.

sphinx-design's dropdowns hold no sections, and MyST allows no heading in a
directive. Then the parts of a solution would be missing from the contents of
the page, and nothing could link to them. Here a section stays a section, with
its heading and its id, and only its HTML becomes a `<details>`: it opens
without JavaScript, and `folds.js` opens it for a link to something inside.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

FOLDED = ("Set-up", "Hint", "Solution", "What goes wrong")
PAGES = "exercises/"


class fold(nodes.section):
    """A section that is shown as `<details>`."""


class fold_content(nodes.Element):
    """What stands under the heading of a fold."""


class FoldSections(SphinxPostTransform):
    """Replace sections by folds after the contents of the page have been collected."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs) -> None:
        if not self.env.docname.startswith(PAGES):
            return
        for page in self.document.findall(_is_page):
            for section in list(page.children):
                if isinstance(section, nodes.section) and section[0].astext().startswith(FOLDED):
                    page[page.index(section)] = folded(section)


def _is_page(node: nodes.Node) -> bool:
    """Whether this is a section of level 1."""
    return isinstance(node, nodes.section) and isinstance(node.parent, nodes.document)


def folded(section: nodes.section) -> fold:
    title, *content = section.children
    return fold("", title, fold_content("", *content), **section.attributes)


def visit_fold(self, node: fold) -> None:
    self.visit_section(node)
    self.body.append('<details class="fold">\n<summary>')


def depart_fold(self, node: fold) -> None:
    self.body.append("</details>\n")
    self.depart_section(node)


def visit_content(self, node: fold_content) -> None:
    self.body.append('</summary>\n<div class="fold-content">\n')


def depart_content(self, node: fold_content) -> None:
    self.body.append("</div>\n")


def open_without_script(app, pagename, templatename, context, doctree) -> None:
    """Let pages with folds open them all for readers without JavaScript."""
    if doctree is not None and next(doctree.findall(fold), None) is not None:
        style = context["pathto"]("_static/folds-open.css", resource=True)
        link = f'<noscript><link rel="stylesheet" href="{style}"></noscript>\n'
        context["metatags"] = context.get("metatags", "") + link


def setup(app):
    app.add_node(fold, html=(visit_fold, depart_fold))
    app.add_node(fold_content, html=(visit_content, depart_content))
    app.add_post_transform(FoldSections)
    app.connect("html-page-context", open_without_script)
    app.add_js_file("folds.js")
    app.add_css_file("folds.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
