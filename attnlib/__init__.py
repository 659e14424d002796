"""Attention as a differentiable lookup: one body for NumPy, PyTorch and JAX.

Importing this package loads no framework and no plotting library. A public name loads the file
that holds it on first use, and PyTorch or JAX are touched only when an array of theirs arrives.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "scores": ("dot_product", "bilinear", "squared_distance", "metric"),
    "kernels": ("KERNELS", "gaussian", "boxcar", "triangular", "constant"),
    "pooling": (
        "softmax_weights",
        "kernel_weights",
        "nearest_weights",
        "average_weights",
        "pool",
        "attention",
    ),
    "regression": (
        "nadaraya_watson",
        "leave_one_out",
        "leave_one_out_error",
        "choose_bandwidth",
        "BandwidthSearch",
    ),
    "diagnostics": ("effective_number",),
    "data": (),
    "frameworks": (),
    "plotting": ("show_heatmaps", "plot_curves"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOMES, *_HOME_OF])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return import_module(f"attnlib.{name}")
    if name in _HOME_OF:
        value = getattr(import_module(f"attnlib.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'attnlib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
