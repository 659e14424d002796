"""Numbers in prose, taken from the run of each framework.

myst-nb's glue knows one value for a name and one page; here a number has a
value for each framework, may be quoted on any page, and all numbers are
collected in `results.json`. A page that quotes a number of another page is
written again when that number changes, which Sphinx cannot know by itself.
"""

from __future__ import annotations

import json
from pathlib import Path

from docutils import nodes
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from .common import FRAMEWORKS, Number, Page

LOGGER = logging.getLogger(__name__)
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def warn(message: str, *args, location) -> None:
    LOGGER.warning(message, *args, location=location, type="framework_tabs", subtype="numbers")


class Pages(EnvironmentCollector):
    """Keep what pages recorded and quote through parallel and incremental builds."""

    def clear_doc(self, app, env, docname) -> None:
        env.framework_pages.pop(docname, None)
        env.framework_quotes.pop(docname, None)

    def merge_other(self, app, env, docnames, other) -> None:
        for docname in docnames:
            for mine, theirs in (
                (env.framework_pages, other.framework_pages),
                (env.framework_quotes, other.framework_quotes),
            ):
                if docname in theirs:
                    mine[docname] = theirs[docname]

    def process_doc(self, app, doctree) -> None:
        keys = {node["key"] for node in doctree.findall(recorded_number)}
        if keys:
            app.env.framework_quotes[app.env.docname] = keys

    def get_outdated_docs(self, app, env, added, changed, removed) -> list[str]:
        """A page that failed is read again, else the next build would call it good."""
        return [docname for docname, page in env.framework_pages.items() if page.failed]


def prepare(app) -> None:
    """Give a new environment its places; an old one keeps them."""
    for name in ("framework_pages", "framework_quotes", "framework_written"):
        if not hasattr(app.env, name):
            setattr(app.env, name, {})


def all_numbers(env) -> dict[str, Number]:
    """Every number of the site by its key."""
    numbers: dict[str, Number] = {}
    for _, page in sorted(env.framework_pages.items()):
        numbers.update(page.numbers)
    return numbers


def check_keys(app, env) -> None:
    """Two pages must not record the same key."""
    owner: dict[str, str] = {}
    for docname, page in sorted(env.framework_pages.items()):
        for key in sorted(page.numbers):
            if key in owner:
                warn("the number %r is recorded on %s too", key, owner[key], location=docname)
            owner.setdefault(key, docname)


def pages_to_write(app, env) -> list[str]:
    """Pages that quote a number that changed since they were last written."""
    numbers = all_numbers(env)
    changed = []
    for docname, keys in env.framework_quotes.items():
        quoted = {key: numbers[key].values for key in sorted(keys) if key in numbers}
        if env.framework_written.get(docname) != quoted:
            env.framework_written[docname] = quoted
            changed.append(docname)
    return changed


# --- results.json ------------------------------------------------------------


def results(pages: dict[str, Page]) -> list[dict]:
    """All numbers, sorted; a shared number stands once, without a framework."""
    rows = []
    for docname, page in pages.items():
        for key, number in page.numbers.items():
            values = number.values
            if number.shared:
                values = {None: next(iter(values.values()))}
            for framework, value in values.items():
                rows.append({"key": key, "page": docname, "framework": framework, "value": value})
    return sorted(rows, key=lambda row: (row["key"], row["page"], row["framework"] or ""))


def write_results(app, exception) -> None:
    if exception is None and app.builder.format == "html":
        text = json.dumps(results(app.env.framework_pages), indent=1, ensure_ascii=False)
        Path(app.outdir, "results.json").write_text(text + "\n", "utf-8")


# --- roles -------------------------------------------------------------------


class recorded_number(nodes.Inline, nodes.TextElement):
    """A number that is looked up when all pages have been read."""


class NumberRole(SphinxRole):
    """{num}`key spec`: a number of both frameworks, or of the one in the role's name."""

    def __init__(self, framework: str | None = None):
        super().__init__()
        self.framework = framework

    def run(self):
        key, _, spec = self.text.strip().partition(" ")
        node = recorded_number(self.rawtext, key=key, spec=spec.strip(), framework=self.framework)
        self.set_source_info(node)
        return [node], []


def show(value, spec: str) -> str:
    """A value as prose writes it: with a real minus sign and powers of ten."""
    if isinstance(value, str):
        return format(value, spec)
    if isinstance(value, bool) and not spec:
        return "yes" if value else "no"
    if not spec:
        spec = "d" if isinstance(value, int) else ".4g"
    text = format(value, spec)
    mantissa, e, exponent = text.partition("e")
    mantissa = mantissa.replace("-", "−")
    if e:
        return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    return mantissa


def texts(number: Number, spec: str) -> dict[str, str]:
    """The number's text for each framework that has it."""
    shown = {f: show(value, spec) for f, value in number.values.items()}
    if number.shared:
        shown = dict.fromkeys(FRAMEWORKS, next(iter(shown.values())))
    return shown


class ResolveNumbers(SphinxPostTransform):
    """Replace the references by text; `by_framework` keeps each framework's for the downloads."""

    default_priority = 8

    def run(self, **kwargs) -> None:
        numbers = None
        for node in list(self.document.findall(recorded_number)):
            numbers = all_numbers(self.env) if numbers is None else numbers
            node.replace_self(self.resolve(node, numbers.get(node["key"])))

    def resolve(self, node: recorded_number, number: Number | None) -> nodes.Node:
        key, only = node["key"], node["framework"]
        if number is None:
            warn("unknown number: %r", key, location=node)
            return nodes.inline("", f"[{key}]")
        try:
            shown = texts(number, node["spec"])
        except ValueError as error:
            warn(
                "the number %r does not take the format %r: %s",
                key,
                node["spec"],
                error,
                location=node,
            )
            return nodes.inline("", f"[{key}]")
        missing = [name for f, name in FRAMEWORKS.items() if f not in shown and only in (None, f)]
        if missing:
            warn("the number %r is not recorded in %s", key, ", ".join(missing), location=node)
            return nodes.inline("", f"[{key}]")
        if only:
            shown = dict.fromkeys(FRAMEWORKS, shown[only])
        text = ", ".join(f"{shown[f]} ({name})" for f, name in FRAMEWORKS.items())
        if len(set(shown.values())) == 1:
            text = next(iter(shown.values()))
        return nodes.inline("", text, classes=["computed"], by_framework=shown)
