"""The roles that quote recorded numbers in the text.

myst-nb's glue knows one value for a name. These roles know a value for each
framework, may stand on any page, and are filled when all pages have been read.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxRole

from .common import FRAMEWORKS, Number, warn
from .numbers import all_numbers, recorded_number

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class NumberRole(SphinxRole):
    """{num}`key spec`: a number of both frameworks, or of the one in the role's name."""

    def __init__(self, framework: str | None = None):
        super().__init__()
        self.framework = framework

    def run(self):
        key, _, spec = self.text.strip().partition(" ")
        node = recorded_number(self.rawtext, key=key, spec=spec.strip(), framework=self.framework)
        self.set_source_info(node)
        return [node], []


def show(value, spec: str) -> str:
    """A value as prose writes it: with a real minus sign and powers of ten."""
    if isinstance(value, str):
        return format(value, spec)
    if isinstance(value, bool) and not spec:
        return "yes" if value else "no"
    if not spec:
        spec = "d" if isinstance(value, int) else ".4g"
    text = format(value, spec)
    mantissa, e, exponent = text.partition("e")
    mantissa = mantissa.replace("-", "−")
    if e:
        return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    return mantissa


def texts(number: Number, spec: str) -> dict[str, str]:
    """The number's text for each framework that has it."""
    shown = {f: show(value, spec) for f, value in number.values.items()}
    if number.shared:
        shown = dict.fromkeys(FRAMEWORKS, next(iter(shown.values())))
    return shown


class ResolveNumbers(SphinxPostTransform):
    """Replace the references by text; `by_framework` keeps each framework's for the downloads."""

    default_priority = 8

    def run(self, **kwargs) -> None:
        numbers = None
        for node in list(self.document.findall(recorded_number)):
            numbers = all_numbers(self.env) if numbers is None else numbers
            node.replace_self(self.resolve(node, numbers.get(node["key"])))

    def resolve(self, node: recorded_number, number: Number | None) -> nodes.Node:
        key, only = node["key"], node["framework"]
        if number is None:
            warn("numbers", "unknown number: %r", key, location=node)
            return nodes.inline("", f"[{key}]")
        try:
            shown = texts(number, node["spec"])
        except ValueError as error:
            warn(
                "numbers",
                "the number %r does not take the format %r: %s",
                key,
                node["spec"],
                error,
                location=node,
            )
            return nodes.inline("", f"[{key}]")
        missing = [name for f, name in FRAMEWORKS.items() if f not in shown and only in (None, f)]
        if missing:
            names = ", ".join(missing)
            warn("numbers", "the number %r is not recorded in %s", key, names, location=node)
            return nodes.inline("", f"[{key}]")
        if only:
            shown = dict.fromkeys(FRAMEWORKS, shown[only])
        text = ", ".join(f"{shown[f]} ({name})" for f, name in FRAMEWORKS.items())
        if len(set(shown.values())) == 1:
            text = next(iter(shown.values()))
        return nodes.inline("", text, classes=["computed"], by_framework=shown)
