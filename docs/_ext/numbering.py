"""Number figures, tables and equations of the exercises as E5.1, and those of other pages from 1.

Sphinx numbers a figure by the section of the table of contents that it stands in, and has one such
count. The exercises are not sections of the text, so their pages are left out of it, and Sphinx
would run one plain count through all of them, and through the home page and whatever else is no
section. This extension gives exercise 5 a count of its own, and each of the others too.
"""

import copy
import re

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

EXERCISE = re.compile(r"exercises/ex0*(\d+)\b")

Numbers = dict[str, dict[str, tuple[int | str, ...]]]


def _state(env: BuildEnvironment) -> dict[str, Numbers]:
    """Return Sphinx's own numbers of the last build, which the environment keeps for us."""
    state: dict[str, Numbers] = env.__dict__.setdefault("numbering_by_sphinx", {})
    return state


def take_back(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Give Sphinx its own numbers to compare with, or it would rewrite every exercise."""
    for page, numbers in _state(env).items():
        if page in env.toc_fignumbers:
            env.toc_fignumbers[page] = numbers
    return []


def number_exercises(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Count from 1 in each of these pages, kind by kind, with the number of an exercise before."""
    state = _state(env)
    state.clear()
    for page, kinds in env.toc_fignumbers.items():
        match = EXERCISE.match(page)
        if match or page not in env.toc_secnumbers:
            before = (f"E{match[1]}",) if match else ()
            state[page] = copy.deepcopy(kinds)
            for numbers in kinds.values():
                for place, label in enumerate(numbers, start=1):
                    numbers[label] = (*before, place)
    return []


def setup(app: Sphinx) -> dict[str, bool]:
    """Stand before and after Sphinx's own numbering, which listens at priority 500."""
    app.connect("env-get-updated", take_back, priority=100)
    app.connect("env-get-updated", number_exercises, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
