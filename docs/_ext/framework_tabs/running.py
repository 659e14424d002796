"""Run a page's cells in a kernel for each framework.

myst-nb runs a page in one kernel. Here each framework's cells become a
notebook of their own, which myst-nb's client factory runs, so that its cache,
time limit and working folder hold.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import figure_data
import nbformat
from jupyter_cache import get_cache
from myst_nb.core.execute import create_client
from myst_nb.core.loggers import SphinxDocLogger
from nbformat import NotebookNode

from .common import FRAMEWORKS, Cell, warn

PRELUDE = Path(__file__).with_name("prelude.py").read_text("utf-8")
PRELUDE = PRELUDE.replace('"the source of drawn.py"', repr(figure_data.DRAWN.read_text("utf-8")))
KERNELS = Path(__file__).with_name("jupyter")


class RunLogger(SphinxDocLogger):
    """myst-nb's log of a run, with the framework in front.

    Its warning about a failed run names neither line nor framework:
    `report_failure` does.
    """

    def __init__(self, document, framework: str):
        super().__init__(document)
        self.framework = framework

    def process(self, msg, kwargs):
        msg, kwargs = super().process(msg, kwargs)
        return f"{self.extra['docname']} ({FRAMEWORKS[self.framework]}): {msg}", kwargs

    def warning(self, msg, *args, **kwargs):
        self.info(msg, *args, **kwargs)


@dataclass
class Run:
    """The outputs of one framework's cells, by the cell's position on the page."""

    framework: str
    outputs: dict[int, list[NotebookNode]]
    failed: bool = False


def runnable(cells: list[Cell], framework: str) -> tuple[NotebookNode, list[int]]:
    """The notebook that a framework runs, and the page's cell of each of its cells.

    Of the cells' metadata only `raises-exception` is kept, since jupyter-cache
    runs a notebook again when any metadata changes, a caption for example.
    """
    positions = [i for i, cell in enumerate(cells) if cell.runs_in(framework)]
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {
        "name": f"attnlib-{framework}",
        "display_name": f"attnlib ({framework})",
        "language": "python",
    }
    notebook.cells.append(nbformat.v4.new_code_cell(PRELUDE))
    for i in positions:
        cell = nbformat.v4.new_code_cell(cells[i].source)
        if "raises-exception" in cells[i].tags:
            cell.metadata["tags"] = ["raises-exception"]
        notebook.cells.append(cell)
    return notebook, positions


def run(cells: list[Cell], framework: str, *, document, path: str, nb_config) -> Run:
    """Run the cells of one framework, or take their outputs from the cache."""
    docname = document.settings.env.docname
    logger = RunLogger(document, framework)
    try:
        executed, positions, problem = _with_new_starts(
            lambda: _execute(cells, framework, path, nb_config, logger)
        )
    except RuntimeError as error:  # nbclient's DeadKernelError is one
        warn("run", "%s: %s", FRAMEWORKS[framework], error, location=docname)
        return Run(framework, {}, failed=True)
    outputs = {i: cell.outputs for i, cell in zip(positions, executed.cells[1:], strict=True)}
    if problem:
        report_failure(problem, executed, [cells[i] for i in positions], framework, docname)
    return Run(framework, outputs, failed=bool(problem))


def _execute(cells, framework, path, nb_config, logger):
    notebook, positions = runnable(cells, framework)
    with create_client(notebook, path, nb_config, logger) as client:
        return client.notebook, positions, (client.exec_metadata or {}).get("error")


def _with_new_starts(execute, attempts: int = 4):
    """Try again when a kernel does not start.

    Jupyter chooses free ports and tells them to the kernel, which binds them a
    moment later: of two processes that start kernels, one can lose its port.
    """
    for _ in range(attempts - 1):
        try:
            return execute()
        except RuntimeError as error:
            if "before replying" not in str(error):
                raise
    return execute()


def report_failure(problem: str, executed, cells: list[Cell], framework: str, docname: str):
    """Say at which line of the page a framework's run stopped, and why."""
    counts = [cell.execution_count for cell in executed.cells]
    last = max((n for n, count in enumerate(counts) if count is not None), default=0)
    line, source = 1, ""
    if last > 0:
        cell = cells[last - 1]
        line = cell.line
        source = f" (in the cell that starts with {_first_line(cell.source)!r})"
    errors = [o for o in executed.cells[last].outputs if o.output_type == "error"]
    reason = problem
    if errors and problem == "CellExecutionError":
        reason = f"{errors[-1].ename}: {errors[-1].evalue}"
    warn("run", "%s: %s%s", FRAMEWORKS[framework], reason, source, location=(docname, line))


def _first_line(source: str) -> str:
    return source.strip().split("\n", 1)[0]


def prepare(app) -> None:
    """Let Jupyter find the kernels, and the kernels the package that the pages document."""

    def put_first(variable: str, path: Path) -> None:
        others = [p for p in os.environ.get(variable, "").split(os.pathsep) if p]
        if str(path) not in others:
            os.environ[variable] = os.pathsep.join([str(path), *others])

    put_first("JUPYTER_PATH", KERNELS)
    put_first("PYTHONPATH", Path(app.confdir).parent)


def create_cache(app) -> None:
    """Create the cache's tables before Sphinx forks: two processes at once would clash."""
    if app.env.mystnb_config.execution_mode == "cache":
        _ = get_cache(app.env.mystnb_config.execution_cache_path).db
