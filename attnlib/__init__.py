"""Attention as a differentiable lookup: one body for NumPy, PyTorch and JAX.

Importing this package loads no framework and no plotting library. A public name loads the file
that holds it on first use; PyTorch and JAX are touched only when an array of theirs arrives.
Type checkers read the names in ``__init__.pyi``.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

_NAMES_IN = {
    "scores": "dot_product bilinear squared_distance metric",
    "kernels": "KERNELS gaussian boxcar triangular constant",
    "pooling": "softmax_weights kernel_weights nearest_weights average_weights pool attention",
    "regression": "nadaraya_watson leave_one_out leave_one_out_error "
    "choose_bandwidth BandwidthSearch Minimum",
    "diagnostics": "effective_number",
    "plotting": "show_heatmaps plot_curves",
    "data": "",
    "frameworks": "",
}
_FILE_OF = {name: file for file, names in _NAMES_IN.items() for name in names.split()}

__all__ = sorted({*_NAMES_IN, *_FILE_OF})  # noqa: PLE0605  (the stub lists them one by one)


def __getattr__(name: str) -> object:
    if name in _NAMES_IN:
        return _import_module(f"attnlib.{name}")
    if name in _FILE_OF:
        found = getattr(_import_module(f"attnlib.{_FILE_OF[name]}"), name)
        globals()[name] = found  # from now on without this detour
        return found
    raise AttributeError(f"module 'attnlib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
