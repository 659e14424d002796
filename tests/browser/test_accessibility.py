"""axe-core finds nothing on any page, in either theme, with every tab and every fold open."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from served import site_pages

RULES = {
    "runOnly": [
        "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice",
    ],
    "resultTypes": ["violations"],
}  # fmt: skip


# What KaTeX draws is hidden from screen readers, who get MathML, and is most of many a page.
CONTEXT = {"exclude": [[".katex-html"]]}


def violations(page) -> list[str]:
    """What axe-core says of the page as it is now, one line an element."""
    found = Axe().run(page, context=CONTEXT, options=RULES).response["violations"]
    return [
        f"{rule['id']}: {node['target']}: {node['html'][:120]}"
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", site_pages())
def test_no_violation(browser, address, path, theme):
    with browser.new_context(color_scheme=theme) as context:
        page = context.new_page()
        problems = []
        for framework in ("torch", "jax"):
            page.goto(f"{address}{path}?framework={framework}")
            assert page.locator("html").get_attribute("data-theme") == theme
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            problems += violations(page)
            if page.get_by_text("JAX", exact=True).count() == 0:
                break
        assert not problems, "\n".join(sorted(set(problems)))


def test_a_missing_label_is_seen(page, address):
    page.goto(address)
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<input>')")
    assert any(problem.startswith("label:") for problem in violations(page))
