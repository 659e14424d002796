# Runs first in every kernel of a page; the reader never sees it.
# It imports inside its functions: a name that it left behind would hide an import that a page
# forgot, and the downloaded notebook would fail.
# ruff: noqa: PLC0415


def _set_up(drawn):
    import warnings

    from IPython.core.formatters import BaseFormatter, PlainTextFormatter
    from traitlets import Unicode
    from traitlets.config import Config

    def one_line(message, category, filename, lineno, line=None):
        """A warning without the path of the temporary file that raised it."""
        return f"{category.__name__}: {message}\n"

    # Matplotlib's backend drops functions that are registered for its figures: hence two classes.

    def is_figure(obj):
        return (type(obj).__module__, type(obj).__name__) == ("matplotlib.figure", "Figure")

    class PlainText(PlainTextFormatter):
        """Show the label in place of a figure: the gallery's scripts say there what one sees."""

        def __call__(self, obj):
            return obj.get_label() if is_figure(obj) else super().__call__(obj)

    class Numbers(BaseFormatter):
        """Give the numbers that a figure shows, by the code that the gallery uses too."""

        format_type = Unicode("text/csv")

        def __call__(self, obj):
            if is_figure(obj):
                names = {}
                exec(drawn, names)
                return names["to_csv"](obj)
            return None

    warnings.formatwarning = one_line
    shell = get_ipython()  # noqa: F821 (a name of IPython's)
    for formatter in (PlainText, Numbers):
        made = formatter(parent=shell.display_formatter)
        shell.display_formatter.formatters[made.format_type] = made
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


_set_up("the source of drawn.py")
del _set_up
