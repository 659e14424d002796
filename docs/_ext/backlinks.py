"""Show in the API reference which pages and scripts use each function.

autodoc knows only the package, and sphinx-gallery's back-references only its
own scripts. Here the code of the pages' cells is read as well, and each
documented object of attnlib ends with a list of the pages that use it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from docutils import nodes
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

PACKAGE = "attnlib"


class used_in(nodes.General, nodes.Element):
    """The place of an object's list, to be filled when all pages are known."""


# --- what a source uses ------------------------------------------------------


def used_names(sources: Iterable[str]) -> set[str]:
    """The full names of the package's objects in a page's code, in order of execution.

    >>> sorted(used_names(["from attnlib import data", "data.truth(0)"]))
    ['attnlib.data', 'attnlib.data.truth']
    """
    names: dict[str, str] = {}
    found: set[str] = set()
    for source in sources:
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a cell that shows an error
            continue
        for local, full in _imports(tree):
            names[local] = full
            found.add(full)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute | ast.Name):
                found.update(_resolve(node, names))
    return found


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Local name and full name of all that is imported from the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _ours(node.module or ""):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _ours(alias.name):
                    yield (alias.asname, alias.name) if alias.asname else (PACKAGE, PACKAGE)


def _ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(PACKAGE + ".")


def _resolve(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    """The full name of `a.b.c` if `a` comes from the package."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in names:
        yield ".".join([names[node.id], *reversed(parts)])


def uses(names: set[str], documented: str) -> bool:
    """Whether a page that uses `names` uses the documented object.

    A public name may be reached through the package: `attnlib.pool` is `attnlib.pooling.pool`.
    """
    short = f"{PACKAGE}.{documented.rpartition('.')[2]}"
    return documented in names or (documented.count(".") == 2 and short in names)


# --- where it is used --------------------------------------------------------


class Uses(EnvironmentCollector):
    """Note what each page, and each script of the gallery, uses."""

    def process_doc(self, app, doctree) -> None:
        env = app.env
        page = getattr(env, "framework_pages", {}).get(env.docname)
        script = Path(env.srcdir, env.docname + ".py")
        sources = [cell.source for cell in page.cells] if page else []
        if script.is_file():
            sources.append(script.read_text("utf-8"))
        if names := used_names(sources):
            env.backlinks[env.docname] = names

    def clear_doc(self, app, env, docname) -> None:
        env.backlinks.pop(docname, None)

    def merge_other(self, app, env, docnames, other) -> None:
        env.backlinks.update({d: other.backlinks[d] for d in docnames if d in other.backlinks})


def prepare(app) -> None:
    for name in ("backlinks", "backlinks_written"):
        if not hasattr(app.env, name):
            setattr(app.env, name, {})


def pages_to_write(app, env) -> list[str]:
    """The reference pages whose lists have changed."""
    changed = []
    for docname, objects in _documented(env).items():
        lists = {name: users(env, name) for name in objects}
        if env.backlinks_written.get(docname) != lists:
            env.backlinks_written[docname] = lists
            changed.append(docname)
    return changed


def _documented(env) -> dict[str, list[str]]:
    pages: dict[str, list[str]] = {}
    for name, entry in env.domains["py"].objects.items():
        if _ours(name):
            pages.setdefault(entry.docname, []).append(name)
    return pages


def users(env, documented: str) -> list[str]:
    return sorted(doc for doc, names in env.backlinks.items() if uses(names, documented))


# --- the lists -----------------------------------------------------------------


def add_place(app, domain: str, objtype: str, content: nodes.Element) -> None:
    """End the description of an object with the place for its list."""
    signature = content.parent[0] if content.parent is not None else None
    if domain != "py" or signature is None or not signature.get("module"):
        return
    name = f"{signature['module']}.{signature['fullname']}"
    if _ours(name):
        content.append(used_in(name=name))


class FillLists(SphinxPostTransform):
    """Write the lists, with the titles of the pages as links."""

    default_priority = 300

    def run(self, **kwargs) -> None:
        for node in list(self.document.findall(used_in)):
            pages = users(self.env, node["name"])
            node.replace_self(self.make(pages) if pages else [])

    def make(self, pages: list[str]) -> nodes.paragraph:
        paragraph = nodes.paragraph(classes=["used-in"])
        paragraph += [nodes.strong("", "Used in"), nodes.Text(" ")]
        for number, docname in enumerate(pages):
            if number:
                paragraph += nodes.Text(", ")
            title = self.env.titles[docname].astext()
            paragraph += make_refnode(
                self.app.builder, self.env.docname, docname, "", nodes.Text(title)
            )
        return paragraph


def setup(app):
    app.add_node(used_in)
    app.add_env_collector(Uses)
    app.add_post_transform(FillLists)
    app.connect("builder-inited", prepare)
    app.connect("object-description-transform", add_place)
    app.connect("env-updated", pages_to_write)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
