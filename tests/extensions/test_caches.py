"""What is run and read again after an edit, and what is not.

The tests change one site step by step, in the order of this file.
"""

import pytest
from sites import Site, cells, text

PAGES = {"first": "1", "second": "2", "third": "3"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(tmp_path_factory.mktemp("caches"))
    site.write("docs/index.md", "# Home\n\n```{toctree}\nfirst\nsecond\nthird\nquotes\n```\n")
    for page, value in PAGES.items():
        site.page(
            page,
            f"""
            # Page {page}

            Some prose.

            ```{{code-cell}} python
            import attnlib
            value = attnlib.VALUE * {value}
            value
            ```

            ```{{code-cell}} python
            :tags: [numbers]
            record({{"{page}/value": value}})
            ```
        """,
        )
    site.write("docs/quotes.md", "# Quotes\n\nIt is {num}`second/value`.\n")
    assert site.build("-W").code == 0
    return site


def values(site: Site) -> dict[str, object]:
    return {row["key"]: row["value"] for row in site.results()}


def test_nothing_changed(site: Site):
    build = site.build("-W")
    assert build.executed == build.read == []
    assert "no targets are out of date" in build.output


def test_prose(site: Site):
    site.edit("docs/first.md", "Some prose.", "Other prose.")
    build = site.build("-W")
    assert build.read == ["first"]
    assert build.executed == []


def test_what_a_cell_shows(site: Site):
    site.edit("docs/first.md", "python\nimport", "python\n:tags: [hide-output]\nimport")
    build = site.build("-W")
    assert build.read == ["first"]
    assert build.executed == []


def test_code_of_one_page(site: Site):
    site.edit("docs/second.md", "* 2", "* 20")
    build = site.build("-W")
    assert build.read == ["second"]
    assert build.executed == ["second (JAX)", "second (PyTorch)"]
    assert values(site) == {"first/value": 1, "second/value": 20, "third/value": 3}
    assert "It is 20." in text(site.html("quotes").body)  # a page that quotes the number
    assert "value = attnlib.VALUE * 20" in cells(site.notebook("second", "jax"), "code")[1]


def test_package(site: Site):
    site.edit("attnlib/__init__.py", "VALUE = 1", "VALUE = 100")
    build = site.build("-W")
    assert build.executed == sorted(f"{p} ({f})" for p in PAGES for f in ("PyTorch", "JAX"))
    assert values(site) == {"first/value": 100, "second/value": 2000, "third/value": 300}
    assert site.build("-W").executed == []


def test_old_package_from_the_cache(site: Site):
    site.edit("attnlib/__init__.py", "VALUE = 100", "VALUE = 1")
    assert site.build("-W").executed == []
    assert values(site)["second/value"] == 20


def test_removed_page(site: Site):
    (site.docs / "third.md").unlink()
    site.edit("docs/index.md", "third\n", "")
    assert site.build("-W").executed == []
    assert sorted(values(site)) == ["first/value", "second/value"]


def test_script(site: Site):
    site.write("gallery/section/plot_x.py", '"""Title"""\nfigure = "old"\n')
    site.write("docs/gallery/section/plot_x.md", "---\norphan: true\n---\n# Script\n")
    site.page(
        "fourth",
        """
        # Page fourth

        ```{code-cell} python
        :load: /gallery/section/plot_x.py
        ```

        ```{code-cell} python
        figure
        ```
    """,
    )
    site.edit("docs/index.md", "second\n", "second\nfourth\n")
    assert site.build("-W").executed == ["fourth (JAX)", "fourth (PyTorch)"]
    site.write("gallery/section/plot_x.py", '"""Title"""\nfigure = "new one"\n')
    build = site.build("-W")
    assert build.read == ["fourth"]
    assert build.executed == ["fourth (JAX)", "fourth (PyTorch)"]
    assert "'new one'" in text(site.html("fourth").body)
