# Runs first in every kernel of a page; the reader never sees it.
# It imports inside its functions: a name that it left behind would hide an import that a page
# forgot, and the downloaded notebook would fail.
# ruff: noqa: PLC0415


def _set_up():
    import warnings

    from traitlets.config import Config

    def one_line(message, category, filename, lineno, line=None):
        """A warning without the path of the temporary file that raised it."""
        return f"{category.__name__}: {message}\n"

    warnings.formatwarning = one_line
    get_ipython().config.merge(  # noqa: F821 (a name of IPython's)
        Config(
            InlineBackend={
                "figure_formats": {"svg"},
                "rc": {"svg.hashsalt": "attnlib"},
                "print_figure_kwargs": {"bbox_inches": "tight", "metadata": {"Date": None}},
            }
        )
    )


def record(values, shared=False):
    """Hand numbers to the page: `values` maps a key to a number, a bool or a short text."""
    import math

    from IPython.display import publish_display_data

    plain = {}
    for key, given in values.items():
        value = given if isinstance(given, bool | int | float | str) else given.item()
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(
                f"record: {key!r} is {value}; expected a finite number "
                "(record a bool or a text that says what happened)"
            )
        plain[key] = value
    publish_display_data(
        {"application/vnd.attnlib.numbers+json": {"shared": shared, "values": plain}}
    )


_set_up()
del _set_up
