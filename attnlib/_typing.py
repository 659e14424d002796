"""The shapes that signatures speak of; for type checkers and tests, never loaded at run time.

Axes: ``n`` queries, ``m`` keys, each key with its value; ``d_q``, ``d_k`` and ``d_v`` are the
widths of a query, a key and a value; ``...`` stands for batch axes in front, which broadcast.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from jaxtyping import Bool, Float

Array: TypeAlias = Any
"""An array of NumPy, PyTorch or JAX."""

Queries = Float[Array, "... n d_k"] | Float[Array, " n"]
Keys = Float[Array, "... m d_k"] | Float[Array, " m"]
Values = Float[Array, "... m d_v"] | Float[Array, "... m"]

OtherQueries = Float[Array, "... n d_q"] | Float[Array, " n"]
Form = Float[Array, "d_q d_k"]
Map = Float[Array, " d_k"] | Float[Array, "r d_k"]
Scores = Float[Array, "... n m"]
Score: TypeAlias = Callable[[Array, Array], Array]

Bandwidth = float | Float[Array, "..."]
Mask = Bool[Array, "..."]
Weights = Float[Array, "... n m"]
Row = Float[Array, "*row m"]
PerRow = Float[Array, "*row"]

Pooled = Float[Array, "... n d_v"] | Float[Array, "... n"]
LeftOut = Float[Array, "... m d_v"] | Float[Array, "... m"]
Batch = Float[Array, "..."]

Elements = Float[Array, "*shape"]
Vector = Float[Array, " _"]
Matrix = Float[Array, "_ _"]
Draw = Float[Array, "..."]
