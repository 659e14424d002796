"""What readers take away: the wheel, and the site as one zip file."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_wheel_holds_the_package(site):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    (wheel,) = (site.folder / "wheels").iterdir()
    assert wheel.name == f"attnlib-{version}-py3-none-any.whl"
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in (ROOT / "attnlib").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if ".dist-info" not in name}
    assert held == sources


def test_zip_file_holds_the_site(site):
    """Each file, and a home page that links the zip file where it is: on the web."""
    name = "queries-keys-values.zip"
    files = {
        path.relative_to(site.folder).as_posix(): path.read_bytes()
        for path in site.folder.rglob("*")
        if path.is_file()
    }
    assert f'href="{name}"'.encode() in files["index.html"]
    with zipfile.ZipFile(site.folder / name) as archive:
        held = {n.removeprefix("queries-keys-values/"): archive.read(n) for n in archive.namelist()}
    home = held.pop("index.html")
    assert f'href="{site.base}{name}"'.encode() in home
    assert f'href="{name}"'.encode() not in home
    del files[name], files["index.html"]
    assert held.keys() == files.keys()
    assert held == files
