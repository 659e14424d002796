# /// script
# dependencies = ["nox>=2025.5.1"]
# ///
"""How this project is built and checked: ``nox -s docs``, ``nox -s tests``, ``nox -s lint``."""

import os
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.sessions = ["docs", "tests", "lint"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = True

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
HTML = ROOT / "build" / "html"
DOCTREES = ROOT / "build" / "doctrees"

# Warnings are errors, and so is a reference that leads nowhere; all of them are shown before the
# build fails. -E reads each page anew, since Sphinx forgets the warnings of a page that it does
# not read again; pages whose code did not change are still not run again.
STRICT = ["-b", "html", "-W", "--keep-going", "-n", "-E", "-j", "2", "-d", str(DOCTREES), "docs"]

# One thread each: a build runs several kernels at a time. jax on the processor: same numbers
# everywhere.
QUIET = {"OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}

# The tests that need a browser, and the names under which a system may have one.
BROWSER = ["tests/browser", "tests/extensions/test_browser.py"]
CHROMIUMS = ["chromium", "chromium-browser", "google-chrome"]


def install(session: nox.Session, *groups: str, extras: str = "plot,torch,jax") -> None:
    """Install attnlib from the tree, and the packages of some groups, at the pinned versions."""
    packages = nox.project.dependency_groups(PYPROJECT, *groups)
    session.install("--constraint", "constraints.txt", "--editable", f".[{extras}]", *packages)


def install_browser(session: nox.Session, extras: str) -> None:
    """Install what drives a browser, and Playwright's own Chromium where the system has none."""
    install(session, "browser", extras=extras)
    if not any(map(shutil.which, CHROMIUMS)) and "CHROMIUM" not in os.environ:
        session.run("playwright", "install", "chromium")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site strictly into build/html; `nox -s docs -- live` rebuilds it as you write."""
    if "live" in session.posargs:
        install(session, "docs", "live")
        session.run(
            "sphinx-autobuild", "-n", "-j", "2", "docs", "build/live",
            "--watch", "attnlib", "--watch", "gallery",
            "--ignore", "*/docs/gallery/*", "--open-browser", env=QUIET,
        )  # fmt: skip
        return
    install(session, "docs")
    session.run("python", "-m", "sphinx", *STRICT, str(HTML), env=QUIET)
    session.log(f"The site: {(HTML / 'index.html').as_uri()}")


@nox.session
def tests(session: nox.Session) -> None:
    """Run everything: unit tests and doctests, a strict build, and checks of the built site."""
    install(session, "docs", "tests")
    if session.posargs:
        session.run("pytest", *session.posargs, env=QUIET)
        return
    session.run("python", "-m", "sphinx", *STRICT, str(HTML), env=QUIET)
    others = [f"--ignore={path}" for path in BROWSER]
    session.run("pytest", "-n", "2", "--dist", "worksteal", "attnlib", "tests", *others, env=QUIET)


@nox.session
def browser(session: nox.Session) -> None:
    """Use the site in build/html as its readers do, in a real browser; build it first."""
    install_browser(session, extras="plot,torch,jax")  # live figures are compared with attnlib
    for tests in BROWSER:  # one after the other: each of them starts its own browser
        session.run("pytest", "-n", "2", "--dist", "worksteal", tests, env=QUIET)


@nox.session
def pdf(session: nox.Session) -> None:
    """Print section and solutions of build/html into one PDF, which the home page then offers."""
    install_browser(session, extras="plot")
    session.run("python", "docs/_pdf.py", env=QUIET)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style with ruff and types with mypy."""
    install(session, "lint", extras="plot")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")


@nox.session
def linkcheck(session: nox.Session) -> None:
    """Follow each link that leaves the site; needs the network."""
    install(session, "docs")
    session.run(
        "python", "-m", "sphinx", "-b", "linkcheck", "-j", "2", "-d", str(DOCTREES),
        "docs", "build/linkcheck", env=QUIET,
    )  # fmt: skip


@nox.session
def benchmark(session: nox.Session) -> None:
    """Time attnlib beside its peers; `nox -s benchmark -- quick` is a short run.

    KeOps compiles its kernels: without a C++ compiler its rows are left out.
    """
    install(session, "benchmark", extras="torch,jax")
    session.run("python", "docs/_benchmark", *session.posargs)


@nox.session
def minimums(session: nox.Session) -> None:
    """Test attnlib with the lowest versions that it supports, on the lowest Python."""
    lowest = [
        requirement.replace(">=", "==")
        for requirement in (
            *PYPROJECT["project"]["dependencies"],
            *(r for extra in PYPROJECT["project"]["optional-dependencies"].values() for r in extra),
        )
    ]
    session.install("--editable", ".", *lowest, *nox.project.dependency_groups(PYPROJECT, "unit"))
    # An old release warns about the newer packages that it stands on; that is not our code.
    old = ("-W", "ignore::DeprecationWarning")
    session.run("pytest", *old, "tests/attnlib", "attnlib", env=QUIET)


if __name__ == "__main__":
    nox.main()
