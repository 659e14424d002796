"""When two drawings count as the same."""

import pytest
from framework_tabs.figures import same_figure

LINE = '<svg><path id="m1234567890" d="M 10.0 20.5 L {x} 30"/><use href="#m1234567890"/></svg>'


def test_rounding_is_not_a_difference():
    assert same_figure(LINE.format(x="40.000001"), LINE.format(x="40"))


@pytest.mark.parametrize("x", ["40.1", "-40", "400"])
def test_what_one_sees_is_a_difference(x: str):
    assert not same_figure(LINE.format(x=x), LINE.format(x="40"))


def test_ids_are_compared_by_their_order():
    one = LINE.format(x="40")
    assert same_figure(one.replace("m1234567890", "ma234567890"), one)
    assert not same_figure(one.replace('"#m1234567890"', '"#ma234567890"'), one)


def test_words_and_colours_are_compared():
    assert not same_figure("<svg><text>left</text></svg>", "<svg><text>right</text></svg>")
    assert not same_figure('<svg fill="#1f77b4"/>', '<svg fill="#ff7f0e"/>')
    assert not same_figure('<svg fill="#111111"/>', '<svg fill="#111112"/>')
