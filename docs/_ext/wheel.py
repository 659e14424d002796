"""Ship attnlib with the site, and let every download take it from there.

A downloaded script or notebook must run on a machine that has never seen this repository, and no
package index needs to know attnlib. So the site holds the wheel; a notebook's first cell installs
it, and the PEP 723 header of a downloaded script names its address. In the repository the headers
say ``attnlib[plot,torch]``: they know neither the site nor the version. sphinx-gallery could put a
first cell into its notebooks, but writes them anew only when a script changes.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path, PurePosixPath

from hatchling.builders.wheel import WheelBuilder
from sphinx.application import Sphinx
from sphinx.util import logging
from zips import read_zip, write_zip

LOGGER = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
HEADER = re.compile(r"^# /// script$.*?^# ///$", re.MULTILINE | re.DOTALL)
NOTEBOOK_CELL = """\
# Install what is missing, in Colab as in Jupyter. Nothing happens when everything is there.
import subprocess
import sys
from importlib.util import find_spec

missing = []
if find_spec("attnlib") is None or find_spec("matplotlib") is None:
    missing.append("attnlib[plot] @ {address}")
if find_spec("torch") is None and find_spec("jax") is None:
    missing.append("torch")  # "jax" does as well
if missing:
    print("Installing", *missing)
    subprocess.run([sys.executable, "-m", "pip", "install", *missing], check=True)
"""


def addressed(script: str, address: str) -> str:
    """A script whose header takes attnlib from an address."""
    return HEADER.sub(
        lambda header: re.sub(r'"(attnlib(?:\[[^]]*\])?)"', rf'"\1 @ {address}"', header[0]),
        script,
        count=1,
    )


def installing(notebook: str, address: str) -> str:
    """A notebook of the gallery whose first cell installs what is missing."""
    content = json.loads(notebook)
    source = NOTEBOOK_CELL.format(address=address).splitlines(keepends=True)
    cell = {
        "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
        "source": source,
    }  # fmt: skip
    if content["cells"][0]["source"] != source:
        content["cells"].insert(0, cell)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


CHANGES = {".py": addressed, ".ipynb": installing}


def change(path: Path, address: str) -> None:
    """Write the address into a download: a script, a notebook, or a zip file of such."""
    if path.suffix in CHANGES:
        path.write_text(CHANGES[path.suffix](path.read_text("utf-8"), address), "utf-8")
    elif path.suffix == ".zip":
        members = {
            name: CHANGES[suffix](content.decode(), address).encode()
            if (suffix := PurePosixPath(name).suffix) in CHANGES
            else content
            for name, content in read_zip(path).items()
        }
        write_zip(path, members)


def ship(app: Sphinx, exception: Exception | None) -> None:
    """Build the wheel into the site, and write its address into the gallery's downloads."""
    if exception is not None or app.builder.format != "html":
        return
    address = app.config.wheel_address
    folder = Path(app.outdir, "wheels")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    built = Path(next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])))
    if not address.endswith(f"/wheels/{built.name}"):
        LOGGER.warning("the downloads name %s, but the wheel is %s", address, built.name)
    for path in sorted(Path(app.outdir, "_downloads").glob("*/*")):
        change(path, address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the last step of a build."""
    app.add_config_value("wheel_address", "", "html", types=frozenset({str}))
    app.connect("build-finished", ship)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
