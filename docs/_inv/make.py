"""Write the inventories beside this file: the names of other projects that our pages link to.

Sphinx would fetch each project's whole inventory at every build. These hold only what we use, so
that a build needs no network; `nox -s linkcheck` finds a page that has moved. To link to another
name, add it here and run ``python docs/_inv/make.py``.
"""

import zlib
from pathlib import Path

# project: [(name, kind, page)], where $ in a page stands for the name
NAMES = {
    "python": [
        ("None", "py:data", "library/constants.html#$"),
        ("ValueError", "py:exception", "library/exceptions.html#$"),
        ("TypeError", "py:exception", "library/exceptions.html#$"),
    ],
    "numpy": [
        ("numpy.ndarray", "py:class", "reference/generated/$.html#$"),
    ],
    "torch": [
        ("torch.Tensor", "py:class", "tensors.html#$"),
    ],
    "jax": [
        ("jax.Array", "py:class", "_autosummary/$.html#$"),
    ],
    "matplotlib": [
        ("matplotlib.figure.Figure", "py:class", "api/_as_gen/$.html#$"),
        ("matplotlib.lines.Line2D", "py:class", "api/_as_gen/$.html#$"),
        ("matplotlib.pyplot", "py:module", "api/pyplot_summary.html#module-$"),
    ],
}


def inventory(project: str, names: list[tuple[str, str, str]]) -> bytes:
    """Return an inventory in Sphinx's second format: a head, then the names, compressed."""
    head = (
        "# Sphinx inventory version 2\n"
        f"# Project: {project}\n"
        "# Version: \n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    lines = [f"{name} {kind} 1 {page.replace('$', name)} -\n" for name, kind, page in sorted(names)]
    return head.encode() + zlib.compress("".join(lines).encode(), 9)


if __name__ == "__main__":
    for project, names in NAMES.items():
        path = Path(__file__).with_name(f"{project}.inv")
        path.write_bytes(inventory(project, names))
        print(path.name, len(names))
