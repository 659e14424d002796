"""A strict build stops at wrong TeX and at a reference that leads nowhere."""

import pytest
from sites import Site

FAULTS = {
    "bad TeX": (r"The weight is $\frac{1}{2$ here.", "bad TeX"),
    "a broken cross-reference": ("See {ref}`nowhere`.", "nowhere"),
    "a broken reference to an equation": ("See {eq}`eq-nowhere`.", "eq-nowhere"),
}


def build(root, text):
    site = Site(root)
    with (site.docs / "conf.py").open("a", encoding="utf-8") as conf:
        conf.write('extensions += ["katex"]\n')
    site.write("docs/index.md", f"# Home\n\nRight: $\\frac{{1}}{{2}}$.\n\n{text}\n")
    return site.build("-W", "--keep-going")


def test_a_right_page_passes(tmp_path):
    done = build(tmp_path, "Nothing wrong.")
    assert done.code == 0, done.warnings


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported_at_its_line(tmp_path, fault):
    text, message = FAULTS[fault]
    done = build(tmp_path, text)
    assert done.code == 1
    (warning,) = (line for line in done.warnings.splitlines() if "WARNING" in line)
    assert "index.md:5" in warning
    assert message in warning
