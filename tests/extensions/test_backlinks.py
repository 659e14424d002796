"""Which objects of the package a page's code uses."""

import pytest
from backlinks import used_names, uses


@pytest.mark.parametrize(
    ("cells", "documented"),
    [
        (["from attnlib import pool", "pool(w, v)"], "attnlib.pooling.pool"),
        (["from attnlib.pooling import pool as p"], "attnlib.pooling.pool"),
        (["import attnlib", "attnlib.pool(w, v)"], "attnlib.pooling.pool"),
        (["import attnlib.pooling", "attnlib.pooling.pool(w, v)"], "attnlib.pooling.pool"),
        (["import attnlib.pooling as ap", "ap.pool(w, v)"], "attnlib.pooling.pool"),
        (["from attnlib import data", "data.truth(x)"], "attnlib.data.truth"),
    ],
)
def test_used(cells: list[str], documented: str):
    assert uses(used_names(cells), documented)


@pytest.mark.parametrize(
    "cells",
    [
        ["import attnlib"],
        ["from attnlib import nearest_weights"],
        ["from other import pool"],
        ["import attnlib", "pool = 1", "pool"],
        ["from attnlib.pooling import pool", "1 +"][1:],
    ],
)
def test_not_used(cells: list[str]):
    assert not uses(used_names(cells), "attnlib.pooling.pool")
