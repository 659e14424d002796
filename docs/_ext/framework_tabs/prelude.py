# Runs first in every kernel of a page; the reader never sees it.
# It imports inside its functions: a name that it left behind would hide an import that a page
# forgot, and the downloaded notebook would fail.
# ruff: noqa: PLC0415


def _set_up():
    import warnings

    from IPython.core.formatters import PlainTextFormatter
    from traitlets.config import Config

    def one_line(message, category, filename, lineno, line=None):
        """A warning without the path of the temporary file that raised it."""
        return f"{category.__name__}: {message}\n"

    class PlainText(PlainTextFormatter):
        """Show the label in place of a figure: the gallery's scripts say there what one sees.

        Matplotlib's backend drops functions that are registered for its figures.
        """

        def __call__(self, obj):
            if (type(obj).__module__, type(obj).__name__) == ("matplotlib.figure", "Figure"):
                return obj.get_label()
            return super().__call__(obj)

    warnings.formatwarning = one_line
    shell = get_ipython()  # noqa: F821 (a name of IPython's)
    shell.display_formatter.formatters["text/plain"] = PlainText(parent=shell.display_formatter)
    shell.config.merge(
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
