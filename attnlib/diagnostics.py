"""What one asks of attention weights."""

from __future__ import annotations

from typing import Any

from attnlib.frameworks import namespace, widen


def effective_number(weights: Any) -> Any:
    """``1 / sum_i alpha_i^2`` for each query: (..., n)."""
    xp = namespace(weights=weights)
    (weights,), dtype = widen(xp, weights)
    return xp.astype(1 / xp.sum(weights * weights, axis=-1), dtype, copy=False)
