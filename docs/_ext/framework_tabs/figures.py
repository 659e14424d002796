"""Whether two SVG figures look the same.

Two frameworks rarely agree in the last bit, so the coordinates of the same
curve differ by millionths of a point. Comparing bytes would put every figure
into tabs of which the reader sees no difference.
"""

from __future__ import annotations

import re

TOLERANCE = 0.02  # points; 1/72 inch each
_ID = re.compile(r'(?<=[#"])[a-z]+[0-9a-f]{10}(?=[")])')
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def _canonical_ids(svg: str) -> str:
    """Replace the ids that hash a shape by their order in the figure."""
    order: dict[str, str] = {}
    return _ID.sub(lambda m: order.setdefault(m.group(), f"id-{len(order)}-"), svg)


def same_figure(one: str, other: str) -> bool:
    """Whether the drawings agree to a fiftieth of a point, and in all that is not a number."""
    if one == other:
        return True
    one, other = _canonical_ids(one), _canonical_ids(other)
    if _NUMBER.split(one) != _NUMBER.split(other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(a == b or abs(float(a) - float(b)) <= TOLERANCE for a, b in pairs)
