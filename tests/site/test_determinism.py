"""The build is a function of the sources: a second build gives the same bytes."""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import sys
from pathlib import Path


def differences(left: Path, right: Path) -> list[str]:
    """Files that stand in one folder only, or whose bytes differ."""

    def names(folder: Path) -> set[str]:
        return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}

    common = names(left) & names(right)
    return sorted(
        (names(left) ^ names(right))
        | {n for n in common if not filecmp.cmp(left / n, right / n, shallow=False)}
    )


def test_a_difference_is_seen(tmp_path):
    for folder, text in (("a", "one"), ("b", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same").write_text("same")
        (tmp_path / folder / "other").write_text(text)
    (tmp_path / "b" / "extra").touch()
    assert differences(tmp_path / "a", tmp_path / "b") == ["extra", "other"]


def test_two_builds_give_the_same_bytes(site, tmp_path):
    root = site.folder.parents[1]
    clone = tmp_path / "clone"
    shutil.copytree(root, clone, ignore=shutil.ignore_patterns("build", ".nox", "__pycache__"))
    shutil.rmtree(clone / "docs" / "gallery", ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-E", "-j", "2", "-q"]
    subprocess.run([*command, "-d", "build/doctrees", "docs", "build/html"], cwd=clone, check=True)
    assert differences(site.folder, clone / "build" / "html") == []
