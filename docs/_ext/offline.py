"""Offer the whole site as one zip file, for reading without a network.

Sphinx's own way to one file (``singlehtml``, ``epub``) would lose tabs, search and live figures.
The site works from the disk as it is, so it only has to be packed.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from zips import write_zip

NAME = "queries-keys-values.zip"
PRINTED = "queries-keys-values.pdf"
FOLDER = "queries-keys-values/"
HOME = "index.html"


def pack(app: Sphinx, exception: Exception | None) -> None:
    """Pack what the build has written, when all of it has been written."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    archive = out / NAME
    archive.unlink(missing_ok=True)
    (out / PRINTED).unlink(missing_ok=True)  # of an earlier build; `nox -s pdf` prints this one
    files = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    # The zip file is not in itself: the copy's home page links the one on the web.
    link = f'href="{NAME}"'.encode()
    on_the_web = f'href="{app.config.html_baseurl}{NAME}"'.encode()
    files[HOME] = files[HOME].replace(link, on_the_web)
    write_zip(archive, {FOLDER + name: content for name, content in files.items()})


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after everything else that writes at the end of a build."""
    app.connect("build-finished", pack, priority=1000)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
