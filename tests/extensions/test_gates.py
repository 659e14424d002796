"""Each fault is reported at its page and line, and fails a strict build."""

import re

import pytest
from sites import Build, Site

FAULTY = {
    "fails-in-jax": """
        # Fails in one framework

        ```{code-cell} python
        :tags: [torch]
        y = 1
        ```

        ```{code-cell} python
        :tags: [jax]
        z = 1
        ```

        ```{code-cell} python
        # second line of the cell
        y + 1
        ```
    """,
    "no-counterpart": """
        # A tab misses a framework

        ```{code-cell} python
        :tags: [torch]
        y = 1
        ```

        Text, then:

        ```{code-cell} python
        :tags: [jax]
        y = 1
        ```
    """,
    "numbers": """
        # Numbers

        No such: {num}`numbers/nowhere`. Bad format: {num}`numbers/text .2f`.
        Of one framework: {num}`numbers/single` and {num-jax}`numbers/single`.

        ```{code-cell} python
        :tags: [numbers]
        import os
        record({"numbers/text": "word"})
        record({"numbers/shared": os.environ["ATTNLIB_FRAMEWORK"]}, shared=True)
        ```

        ```{code-cell} python
        :tags: [torch, numbers]
        record({"numbers/single": 1})
        record({"numbers/single": 2})
        ```
    """,
    "again": """
        # The same key on a second page

        ```{code-cell} python
        :tags: [numbers]
        record({"numbers/text": "other"})
        ```
    """,
    "not-a-number": """
        # A number that is none

        ```{code-cell} python
        :tags: [numbers]
        record({"not-a-number/x": float("nan")})
        ```
    """,
    "alt": """
        # An image without alternative text

        ```{code-cell} python
        import matplotlib.pyplot as plt
        plt.plot([1, 2]);
        ```
    """,
    "caption": """
        # A caption on two images

        ```{code-cell} python
        ---
        mystnb:
          figure: {name: fig-two, caption: "Two."}
          image: {alt: "A line."}
        ---
        import matplotlib.pyplot as plt
        plt.figure()
        plt.plot([1, 2])
        plt.figure()
        plt.plot([2, 1]);
        ```
    """,
    "address": """
        # An address in memory

        ```{code-cell} python
        object()
        ```
    """,
    "stderr": """
        # A warning from the code

        ```{code-cell} python
        import warnings
        warnings.warn("careful")
        ```
    """,
    "no-script": """
        # A script that is not there

        ```{code-cell} python
        :load: /gallery/section/plot_nowhere.py
        ```
    """,
    "slow": """
        ---
        mystnb: {execution_timeout: 1}
        ---
        # Too slow

        ```{code-cell} python
        import time
        ```

        ```{code-cell} python
        time.sleep(60)
        ```
    """,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(tmp_path_factory.mktemp("faulty"))
    site.write("docs/index.md", "# Home\n\n```{toctree}\n" + "\n".join(FAULTY) + "\n```\n")
    for name, text in FAULTY.items():
        site.page(name, text)
    page = site.docs / "slow.md"  # its settings belong into the one front matter
    page.write_text(page.read_text("utf-8").replace("---\n---\n", ""), "utf-8")
    return site


@pytest.fixture(scope="module")
def build(site: Site) -> Build:
    return site.build("-W", "--keep-going", "-j", "2")


@pytest.mark.parametrize(
    ("page", "line", "message"),
    [
        ("fails-in-jax", 17, r"JAX: NameError: name 'y' is not defined .*second line of the cell"),
        ("no-counterpart", 7, "tab misses a framework: .* no counterpart for JAX"),
        ("no-counterpart", 14, "tab misses a framework: .* no counterpart for PyTorch"),
        ("numbers", 7, "unknown number: 'numbers/nowhere'"),
        ("numbers", 7, "the number 'numbers/text' does not take the format '.2f'"),
        ("numbers", 7, "the number 'numbers/single' is not recorded in JAX"),
        ("numbers", 10, "shared number 'numbers/shared' differs: 'torch' .PyTorch., 'jax' .JAX."),
        ("numbers", 17, "the number 'numbers/single' is recorded twice"),
        ("numbers", None, "the number 'numbers/text' is recorded on again too"),
        ("not-a-number", 7, "PyTorch: ValueError: record: 'not-a-number/x' is nan"),
        ("alt", 7, "PyTorch: the cell shows an image without alternative text"),
        ("alt", 7, "JAX: the cell shows an image without alternative text"),
        ("caption", 7, "it shows 2 images and 0 other values"),
        ("address", 7, "the output holds a memory address"),
        ("stderr", 7, "stderr was found"),
        ("no-script", 7, "no such script: /gallery/section/plot_nowhere.py"),
        ("slow", 12, r"JAX: CellTimeoutError .*time.sleep\(60\)"),
    ],
)
def test_fault_is_reported(build: Build, page: str, line: int | None, message: str):
    place = re.escape(f"docs/{page}.md:{line or ''}")
    assert re.search(f"{place}:? WARNING: .*{message}", build.warnings), build.warnings


def test_the_framework_that_runs_is_not_blamed(build: Build):
    assert "PyTorch: NameError" not in build.warnings


def test_strict_build_fails(build: Build):
    assert build.code == 1


def test_a_failure_is_not_forgotten(site: Site, build: Build):
    again = site.build("-W", "--keep-going", "-j", "2")
    assert again.code == 1
    assert "JAX: NameError" in again.warnings
