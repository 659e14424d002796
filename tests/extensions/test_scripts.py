"""What a page takes of a gallery script."""

import json
from pathlib import Path

from framework_tabs.scripts import data_code, gallery_page, keep_from_reader, script_code


def test_code_without_header_docstring_and_marks(tmp_path: Path):
    script = tmp_path / "plot_x.py"
    script.write_text(
        "# /// script\n# dependencies = []\n# ///\n"
        '"""\nTitle\n=====\n"""\n\n'
        "# %%\n# A curve of width :math:`\\sigma`.\n\nx = 1\n# %% Another\ny = '# /// no header'\n"
    )
    assert script_code(script) == "# A curve of width $\\sigma$.\n\nx = 1\ny = '# /// no header'\n"


def test_only_paths_from_the_root_are_ours():
    text = ":load: /gallery/plot_x.py\nload: /gallery/plot_x.py\n:load: beside.py\n"
    assert keep_from_reader(text) == (
        ":script: /gallery/plot_x.py\nscript: /gallery/plot_x.py\n:load: beside.py\n"
    )


def test_page_of_a_script():
    assert gallery_page("/gallery/section/plot_x.py") == "gallery/section/plot_x"


def test_json_becomes_a_name(tmp_path: Path):
    data = {"a": [1, 2.5, None, True], "text": 'it\'s "quoted" \\ \n'}
    (tmp_path / "results.json").write_text(json.dumps(data, indent=1), "utf-8")
    names: dict = {}
    exec(data_code(tmp_path / "results.json"), names)
    assert names["results"] == data
