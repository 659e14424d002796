"""Zip files whose bytes depend on nothing but their contents."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

DATE = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can hold
READABLE = 0o100644 << 16


def write_zip(path: Path, members: Mapping[str, bytes]) -> None:
    """Write the members in the order of their names, all with one date and one mode."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = READABLE
            archive.writestr(info, members[name], compresslevel=9)


def read_zip(path: Path) -> dict[str, bytes]:
    """All members of a zip file by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
