"""Fields at an exercise in which readers check a number before they open the solution.

The answer is the number that the page recorded, so no page holds it twice, and where it depends
on the draw it is that of the framework the reader has chosen. It stands in the page, lightly
encoded: nobody reads it at a glance, and the field works without a network.

    :::{check-answer} ex1/a/output
    :within: 0.01
    The output for $q = 4$
    :::
"""

from __future__ import annotations

import base64
import json
from html import escape

from docutils import nodes
from framework_tabs.common import FRAMEWORKS, warn
from sphinx.util.docutils import SphinxDirective


class answer_field(nodes.General, nodes.Element):
    """A field; its child is the label."""


def tolerance(argument: str) -> str:
    """A number that is not negative, kept as it was written."""
    if float(argument) < 0:
        raise ValueError("expected a number >= 0")
    return argument


class CheckAnswer(SphinxDirective):
    """The key of a recorded number, how far an answer may be from it, and the field's label."""

    required_arguments = 1
    has_content = True
    option_spec = {"within": tolerance}  # noqa: RUF012  (the attribute's type is docutils')

    def run(self) -> list[nodes.Node]:
        """Parse the label, one paragraph."""
        self.assert_has_content()
        (paragraph,) = self.parse_content_to_nodes()
        within = self.options.get("within", "0")
        field = answer_field(key=self.arguments[0], within=within)
        self.set_source_info(field)
        field += nodes.inline("", "", *paragraph.children)
        return [field]


def encoded(values: dict[str, object]) -> str:
    """The answers, not to be read at a glance."""
    return base64.b64encode(json.dumps(values, sort_keys=True).encode()).decode()


def answers(env, docname: str, field: answer_field) -> dict[str, object]:
    """The number of each framework."""
    page = env.framework_pages.get(docname)
    number = page and page.numbers.get(field["key"])
    if not number:
        warn("numbers", "no number %r on this page to check", field["key"], location=field)
        return {}
    values = number.values
    if number.shared:
        values = dict.fromkeys(FRAMEWORKS, next(iter(values.values())))
    if any(isinstance(v, (bool, str)) for v in values.values()) or set(values) != set(FRAMEWORKS):
        warn("numbers", "%r is no number of both frameworks", field["key"], location=field)
    if field["within"] == "0" and any(isinstance(v, float) for v in values.values()):
        warn("numbers", "%r needs the option 'within'", field["key"], location=field)
    return values


def visit(self, node: answer_field) -> None:
    """Open the form and its label."""
    values = answers(self.builder.env, self.builder.current_docname, node)
    name = "answer-" + node["key"].replace("/", "-").replace(".", "-")
    node["name"] = name
    self.body.append(
        f'<form class="check-answer" data-answer="{encoded(values)}" '
        f'data-within="{escape(node["within"])}" autocomplete="off" novalidate>\n'
        f'<label for="{name}">'
    )


def depart(self, node: answer_field) -> None:
    """Write the field, its button and the place of the reply."""
    name, within = node["name"], float(node["within"])
    hint = f"to within {node['within']}" if within else "exactly"
    self.body.append(
        f' <span class="check-answer-within">({hint})</span></label>\n'
        f'<input id="{name}" type="text" inputmode="decimal" size="10">\n'
        '<button type="submit">Check</button>\n'
        f'<output for="{name}"></output>\n</form>\n'
        '<noscript><p class="check-answer-off">To check your number without JavaScript, compare it '
        "with the solution below.</p></noscript>\n"
    )


def skip(self, node: answer_field) -> None:
    """Leave the field out of everything that is not a page."""
    raise nodes.SkipNode


def setup(app) -> dict[str, object]:
    """Register the directive and what it needs in the browser."""
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (skip, None))
    app.add_node(answer_field, html=(visit, depart), **others)
    app.add_directive("check-answer", CheckAnswer)
    app.add_js_file("check-answer.js", loading_method="defer")
    app.add_css_file("check-answer.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
