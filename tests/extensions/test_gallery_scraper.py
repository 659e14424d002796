"""Figures of gallery scripts: saved as SVG, described by their label, refused without one."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from gallery_scraper import scrape
from sphinx.errors import ExtensionError

BLOCK = ("code", "plt.plot()", 12)


@pytest.fixture
def gallery(tmp_path):
    """The two arguments of a scraper that tell it where to save, for a gallery in `tmp_path`."""
    mpl.use("agg")
    plt.close("all")
    paths = iter([tmp_path / "plot_x_001.png", tmp_path / "plot_x_002.png"])
    yield {"image_path_iterator": paths, "src_file": "plot_x.py"}, {"src_dir": str(tmp_path)}
    plt.close("all")


def test_each_figure_is_saved_with_its_label_as_alternative_text(gallery, tmp_path):
    for label in ("First\n finding.", "Second finding."):
        plt.figure(label=label).add_subplot(title="Not this")
    text = scrape(BLOCK, *gallery)
    assert [line.strip() for line in text.splitlines() if ":alt:" in line] == [
        ":alt: First finding.",
        ":alt: Second finding.",
    ]
    for name in ("plot_x_001.svg", "plot_x_002.svg"):
        assert f"image-sg:: /{name}" in text
        svg = (tmp_path / name).read_text("utf-8")
        assert "<svg" in svg
        assert "dc:date" not in svg
    assert plt.get_fignums() == []


def test_numbers_of_a_figure_are_saved_beside_it(gallery, tmp_path):
    plt.figure(label="A line.").add_subplot().plot([1, 2], [3, 4])
    plt.figure(label="Nothing.").add_subplot()
    text = scrape(BLOCK, *gallery)
    assert text.count("figure-data::") == 1
    assert "\n.. figure-data:: /plot_x_001.csv torch\n" in text
    table = (tmp_path / "plot_x_001.csv").read_text("utf-8").splitlines()
    assert table == ["panel,series,x,y,x_label,y_label", ",line,1.0,3.0,,", ",line,2.0,4.0,,"]


def test_a_figure_without_label_fails_the_script(gallery):
    plt.figure()
    with pytest.raises(ExtensionError, match=r"plot_x\.py: .* line 12 has no alternative text"):
        scrape(BLOCK, *gallery)
    assert plt.get_fignums() == []


def test_no_figure_no_text(gallery):
    assert scrape(BLOCK, *gallery) == ""
