"""Pages that run in PyTorch and in JAX from one MyST source.

Sphinx shows tabs, and myst-nb runs a page's cells, but only in one kernel and
never inside a tab. This extension runs every page once for each framework,
weaves the outputs into one page with synchronised tabs, takes the numbers of
the prose from the runs, and offers each page as a notebook for one framework.

    common.py     the frameworks, and what is known of a page
    parser.py     the way of a page through the other files
    scripts.py    cells that run a gallery script
    running.py    one kernel for each framework; failures at their line
    prelude.py    what each kernel runs first
    outputs.py    a cell's outputs: as shown, compared, checked
    figures.py    whether two figures look the same
    weaving.py    outputs of all runs in one notebook
    tabs.py       tabs, captions and links in the document
    numbers.py    recorded numbers, and results.json
    prose.py      numbers in prose
    notebooks.py  the downloads
    markdown.py   text of the downloads

It uses names inside myst-nb, whose version is therefore pinned;
`tests/extensions` holds what must stay true.
"""

from . import notebooks, numbers, prose, running
from .parser import FrameworkParser


def setup(app):
    app.setup_extension("myst_nb")
    app.setup_extension("sphinx_design")
    app.setup_extension("figure_data")
    app.add_source_parser(FrameworkParser, override=True)
    app.add_env_collector(numbers.Pages)
    app.add_post_transform(prose.ResolveNumbers)
    app.add_node(numbers.recorded_number)
    skip = (notebooks.skip, None)
    app.add_node(
        notebooks.notebook_links,
        html=(notebooks.visit_links, None),
        latex=skip,
        text=skip,
        man=skip,
        texinfo=skip,
    )
    app.add_role("num", prose.NumberRole())
    for framework in ("torch", "jax"):
        app.add_role(f"num-{framework}", prose.NumberRole(framework))
    app.add_config_value("framework_tabs_attnlib", "attnlib", "html", types=frozenset({str}))
    app.connect("builder-inited", running.prepare)
    app.connect("builder-inited", numbers.prepare)
    app.connect("builder-inited", running.create_cache, priority=900)
    app.connect("env-updated", numbers.pages_to_write)
    app.connect("env-check-consistency", numbers.check_keys)
    app.connect("doctree-resolved", notebooks.write)
    app.connect("build-finished", numbers.write_results)
    app.add_js_file("tabs.js", priority=100)
    app.add_css_file("tabs.css")
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
