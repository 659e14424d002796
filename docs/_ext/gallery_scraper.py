"""Save the figures of gallery scripts as SVG, with an alternative text that states the finding.

Their numbers are saved beside them as CSV, which the page links.

sphinx-gallery takes a figure's alternative text from its titles, or from the file name. A title
on the figure is no place for a sentence, so scripts say ``fig.set_label("What one sees.")``: the
label is never drawn. A figure without it fails the script.
"""

from pathlib import Path, PurePosixPath
from typing import Any

import matplotlib.pyplot as plt
from figure_data.drawn import to_csv
from sphinx.errors import ExtensionError
from sphinx_gallery.scrapers import figure_rst

from attnlib.frameworks import preferred


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save each open figure under the next name, close it, and return the images' source."""
    images = []
    for number, path in zip(plt.get_fignums(), block_vars["image_path_iterator"], strict=False):
        figure = plt.figure(number)
        alt = " ".join(str(figure.get_label()).split())
        if not alt:
            plt.close("all")
            script = PurePosixPath(block_vars["src_file"]).name
            raise ExtensionError(
                f"{script}: the figure drawn at line {block[2]} has no alternative text; "
                'add fig.set_label("What one sees.")'
            )
        svg = PurePosixPath(path).with_suffix(".svg")
        figure.savefig(svg, metadata={"Date": None})  # a date would change the bytes
        images.append(figure_rst([svg], gallery_conf["src_dir"], alt))
        if numbers := to_csv(figure):
            csv = Path(path).with_suffix(".csv")
            csv.write_text(numbers, "utf-8")
            place = csv.relative_to(gallery_conf["src_dir"]).as_posix()
            images.append(f".. figure-data:: /{place} {preferred()}\n")
    plt.close("all")
    return "\n".join(images)
