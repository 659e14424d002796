"""The built site holds what every page must hold."""

from __future__ import annotations

import checks
import pytest


@pytest.mark.parametrize(
    "check",
    [
        checks.broken_links,
        checks.images_without_text,
        checks.invalid_html,
        checks.missing_files,
        checks.tabs_without_framework,
        checks.third_party_requests,
    ],
    ids=lambda check: check.__name__,
)
def test_no_problem(site, check):
    problems = check(site)
    assert not problems, "\n".join(problems)


def test_the_checks_had_something_to_check(site):
    """An empty site would pass every check above."""
    assert len(site.pages) > 20
    assert any(tree.xpath("//label[normalize-space()='JAX']") for tree in site.pages.values())
    assert sum(len(tree.xpath("//img")) for tree in site.pages.values()) > 10
