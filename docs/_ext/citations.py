"""Citations as Nadaraya (1964) or (Nadaraya, 1964), and a list of references to match.

sphinxcontrib-bibtex has the author-year form with square brackets only, and labels its list with
numbers that the text never shows. Both are styles to register, which a setting cannot do.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pybtex.plugin
import sphinxcontrib.bibtex.plugin
from pybtex.database import Entry
from pybtex.style.formatting.unsrt import Style
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


def round_brackets() -> BracketStyle:
    """Return the brackets of a citation."""
    return BracketStyle(left="(", right=")", sep="; ")


@dataclass
class AuthorYearRound(AuthorYearReferenceStyle):
    """Author and year, in round brackets."""

    bracket_textual: BracketStyle = field(default_factory=round_brackets)
    bracket_parenthetical: BracketStyle = field(default_factory=round_brackets)
    bracket_year: BracketStyle = field(default_factory=round_brackets)


class AuthorYearLabels:
    """Label each entry of the list as the text cites it."""

    def format_labels(self, entries: Iterable[Entry]) -> Iterator[str]:
        """Yield "Watson (1964)", "Mack and Silverman (1982)", "Bahdanau et al. (2015)"."""
        for entry in entries:
            names = [" ".join(p.prelast_names + p.last_names) for p in entry.persons["author"]]
            authors = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
            yield f"{authors} ({entry.fields['year']})".replace("{", "").replace("}", "")


class ByAuthor(Style):  # type: ignore[misc]
    """Full references in alphabetical order, with those labels."""

    default_sorting_style = "author_year_title"
    default_label_style = "author_year_labels"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the styles under the names that conf.py gives."""
    sphinxcontrib.bibtex.plugin.register_plugin(
        "sphinxcontrib.bibtex.style.referencing", "author_year_round", AuthorYearRound
    )
    pybtex.plugin.register_plugin("pybtex.style.labels", "author_year_labels", AuthorYearLabels)
    pybtex.plugin.register_plugin("pybtex.style.formatting", "by_author", ByAuthor)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
