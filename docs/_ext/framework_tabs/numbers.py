"""Numbers that the pages record, from each framework's run to `results.json`.

myst-nb's glue knows one value for a name and one page; here a number has a
value for each framework, and all numbers of the site are collected. A page
that quotes a number of another page is written again when that number changes,
which Sphinx cannot know by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.environment.collectors import EnvironmentCollector

from .common import FRAMEWORKS, NUMBERS_MIME, Cell, Number, Page, warn
from .running import Run


class recorded_number(nodes.Inline, nodes.TextElement):
    """A number in prose, which is looked up when all pages have been read."""


def take_numbers(cells: list[Cell], runs: list[Run], docname: str) -> dict[str, Number]:
    """Remove the recorded numbers from the outputs and return them."""
    numbers: dict[str, Number] = {}
    for run in runs:
        for i, outputs in run.outputs.items():
            run.outputs[i] = [o for o in outputs if NUMBERS_MIME not in o.get("data", {})]
            for output in outputs:
                bundle = output.get("data", {}).get(NUMBERS_MIME, {"values": {}})
                for key, value in bundle["values"].items():
                    number = numbers.setdefault(key, Number(shared=bundle["shared"]))
                    for problem in _add_value(number, run.framework, value, bundle["shared"]):
                        name = "shared number" if number.shared else "number"
                        location = (docname, cells[i].line)
                        warn("numbers", "the %s %r %s", name, key, problem, location=location)
    return numbers


def _add_value(number: Number, framework: str, value: object, shared: bool) -> Iterator[str]:
    """Note a value, and say what is wrong with it."""
    if framework in number.values:
        yield "is recorded twice"
    if shared != number.shared:
        yield "is recorded with shared=True and with shared=False"
    number.values[framework] = value
    if number.shared and len(set(map(repr, number.values.values()))) > 1:
        given = (f"{v!r} ({FRAMEWORKS[f]})" for f, v in number.values.items())
        yield "differs: " + ", ".join(given)


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
                other = owner[key]
                warn("numbers", "the number %r is recorded on %s too", key, other, location=docname)
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
