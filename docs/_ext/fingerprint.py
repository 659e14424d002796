"""One hash for everything that executed pages and gallery scripts depend on.

jupyter-cache and sphinx-gallery look only at a page's or script's own code:
after an edit of attnlib, or with another version of a framework, both would
keep the old results. So both are told this hash.
"""

import hashlib
import platform
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PACKAGES = ("attnlib", "jax", "jaxlib", "matplotlib", "numpy", "torch")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _sources(root: Path) -> list[Path]:
    """attnlib's files, the kernels in which the pages run, and what reads figures there."""
    files = (path for path in (root / "attnlib").rglob("*") if path.is_file())
    package = [path for path in files if path.parent.name != "__pycache__"]
    extensions = root / "docs" / "_ext"
    kernels = (extensions / "framework_tabs" / "jupyter").rglob("*.json")
    return sorted([*package, *kernels, *extensions.glob("figure_data/drawn.py")])


def fingerprint(root: Path = ROOT) -> str:
    """Hash of attnlib's sources and of the versions that produce the results."""
    digest = hashlib.sha256()
    digest.update(platform.python_version().encode())
    for package in PACKAGES:
        digest.update(f"{package}={_version(package)}\n".encode())
    for path in _sources(root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_path() -> str:
    """Where executed pages are kept: a folder of its own for each fingerprint."""
    return str(BUILD / "cache" / fingerprint())


def gallery_is_stale() -> bool:
    """Whether the gallery's results were made with another fingerprint.

    The fingerprint is noted by `note_gallery` once a build has succeeded.
    """
    note = BUILD / "cache" / "gallery.txt"
    return not note.exists() or note.read_text() != fingerprint()


def note_gallery(app, exception) -> None:
    """Remember the fingerprint of a gallery that was built without an error."""
    if exception is None:
        note = BUILD / "cache" / "gallery.txt"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(fingerprint())


def setup(app):
    app.connect("build-finished", note_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
