"""Put the cells of the frameworks into sphinx-design's tabs.

myst-nb drops cells that stand inside a directive, a tab for example. So the
tabs are made after it has rendered the woven notebook, from the marks that
`weaving.py` left. A caption stands once, around the tabs: two captioned
figures would take two numbers.
"""

from __future__ import annotations

from docutils import nodes
from figure_data import figure_data
from sphinx import addnodes
from sphinx_design.shared import create_component

from .common import FRAMEWORKS, Cell
from .weaving import MARK

GROUP = "framework"


def arrange(document: nodes.document, cells: list[Cell]) -> None:
    """Replace the marked cells of the document by tabs, figures and links to scripts."""
    groups: dict[int, list[nodes.container]] = {}
    for node in list(document.findall(_is_marked)):
        groups.setdefault(node["cell_metadata"][MARK]["group"], []).append(node)
    for group in groups.values():
        marks = [node["cell_metadata"][MARK] for node in group]
        for node, mark in zip(group, marks, strict=True):
            for image, alt in zip(node.findall(nodes.image), mark["alts"], strict=False):
                image["alt"] = alt
        if marks[0]["output_only"]:
            top = _tabs_in_output(group)
        elif marks[0]["framework"]:
            top = _tabs_of_cells(group)
        else:
            top = group[0]
        top["cells"] = sorted({mark["cell"] for mark in marks})
        for link in reversed(_data_links(top, marks)):
            _after(top, link)
        if script := cells[marks[0]["cell"]].script:
            _after(top, _script_link(script))


def _is_marked(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and MARK in node.get("cell_metadata", {})


def swap(old: nodes.Element, new: list[nodes.Node]) -> None:
    """Put nodes in another's place; docutils' `replace_self` would hand its ids on to them."""
    parent, place = old.parent, old.parent.index(old)
    parent[place : place + 1] = new


def _tab_set(content: dict[str, list[nodes.Node]]) -> nodes.container:
    """A synchronised set of tabs, one for each framework."""
    items = []
    for framework, children in content.items():
        label = nodes.rubric(
            "",
            FRAMEWORKS[framework],
            classes=["sd-tab-label"],
            sync_id=framework,
            sync_group=GROUP,
        )
        panel = create_component("tab-content", ["sd-tab-content"], children=children)
        items.append(
            create_component("tab-item", ["sd-tab-item"], children=[label, panel], selected=False)
        )
    return create_component("tab-set", ["sd-tab-set", "framework-tabs"], children=items)


def _take_figure(node: nodes.Element) -> nodes.figure | None:
    """Take the captioned figure out of a cell, and leave its picture there."""
    figure = next(node.findall(nodes.figure), None)
    if figure is not None:
        legend = (nodes.caption, nodes.legend)
        picture = [child for child in figure if not isinstance(child, legend)]
        rest = [child for child in figure if isinstance(child, legend)]
        swap(figure, picture)
        figure.children = []
        figure.extend(rest)
    return figure


def _around(figure: nodes.figure | None, tabs: nodes.container) -> nodes.Element:
    if figure is None:
        return tabs
    figure.insert(0, tabs)
    return figure


def _tabs_of_cells(group: list[nodes.container]) -> nodes.Element:
    """Cells of several frameworks: each tab holds code and outputs."""
    figures = [f for node in group if (f := _take_figure(node))]
    place = nodes.container()
    swap(group[0], [place])
    content: dict[str, list[nodes.Node]] = {}
    for node in group:
        if node is not group[0]:
            node.parent.remove(node)
        content.setdefault(node["cell_metadata"][MARK]["framework"], []).append(node)
    top = _around(figures[0] if figures else None, _tab_set(content))
    swap(place, [top])
    return top


def _tabs_in_output(group: list[nodes.container]) -> nodes.container:
    """A cell common to all frameworks: its code once, its outputs in tabs."""
    figures = [f for node in group if (f := _take_figure(node))]
    first = group[0]
    content = {}
    for node in group:
        framework = node["cell_metadata"][MARK]["framework"]
        output = _output_of(node)
        content[framework] = output.children if output else [nodes.paragraph("", "No output.")]
        if node is not first:
            node.parent.remove(node)
    output = _output_of(first)
    if output is None:
        output = nodes.container(nb_element="cell_code_output", classes=["cell_output"])
        first.append(output)
    output.children = []
    output.append(_around(figures[0] if figures else None, _tab_set(content)))
    return first


def _output_of(node: nodes.container) -> nodes.container | None:
    return next((c for c in node.children if c.get("nb_element") == "cell_code_output"), None)


def _script_link(docname: str) -> nodes.paragraph:
    reference = addnodes.pending_xref(
        "",
        nodes.inline("", "Script of this figure"),
        refdomain="std",
        reftype="doc",
        reftarget="/" + docname,
        refexplicit=True,
        refwarn=True,
    )
    return nodes.paragraph("", "", reference, classes=["script-link"])


def _data_links(top: nodes.Element, marks: list[dict]) -> list[figure_data]:
    """Links to the numbers of each figure of some cells, in both frameworks."""
    texts = [mark.pop("csv") for mark in marks]
    named = [figure for figure in top.findall(nodes.figure) if figure["ids"]]
    links = []
    for i in range(max(map(len, texts))):
        csv = {name: text for part in texts for name, text in dict(*part[i : i + 1]).items()}
        figure = named[0]["ids"][0] if named else f"cell-{top['cells'][0] + 1}-{i + 1}"
        if any(csv.values()):
            links.append(figure_data(csv=csv, figure=figure))
    return links


def _after(node: nodes.Element, new: nodes.Element) -> None:
    new.source, new.line = node.source, node.line
    node.parent.insert(node.parent.index(node) + 1, new)
