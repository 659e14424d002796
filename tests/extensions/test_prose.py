"""How numbers are written in the text."""

import pytest
from framework_tabs.common import Number
from framework_tabs.prose import show, texts


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (0.123456, "", "0.1235"),
        (-0.5, ".2f", "−0.50"),
        (1.5e-9, ".1e", "1.5 × 10⁻⁹"),
        (-2e12, "", "−2 × 10¹²"),
        (123456, "", "123456"),
        (0.5, ".0%", "50%"),
        (True, "", "yes"),
        ("word", "", "word"),
        ("one-key", "", "one-key"),
    ],
)
def test_show(value: object, spec: str, text: str):
    assert show(value, spec) == text


def test_a_shared_number_serves_both_frameworks():
    assert texts(Number({"torch": 2.0}, shared=True), ".1f") == {"torch": "2.0", "jax": "2.0"}
