"""Citations as Nadaraya (1964) or (Nadaraya, 1964), and a list of references to match.

sphinxcontrib-bibtex has the author-year form with square brackets only, and labels its list with
numbers that the text never shows. Both are styles to register, which a setting cannot do.
docutils gives each entry of the list a role that WAI-ARIA has withdrawn; an item of a list is one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pybtex.plugin
import sphinxcontrib.bibtex.plugin
from docutils import nodes
from pybtex.database import Entry
from pybtex.style.formatting.unsrt import Style
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
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


def visit_citation(self: HTML5Translator, node: nodes.citation) -> None:
    """Open an entry as docutils does, as an item of the list around it."""
    HTML5Translator.visit_citation(self, node)
    self.body[-1] = self.body[-1].replace("doc-biblioentry", "listitem")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the styles under the names that conf.py gives, and the role."""
    app.add_node(
        nodes.citation, override=True, html=(visit_citation, HTML5Translator.depart_citation)
    )
    sphinxcontrib.bibtex.plugin.register_plugin(
        "sphinxcontrib.bibtex.style.referencing", "author_year_round", AuthorYearRound
    )
    pybtex.plugin.register_plugin("pybtex.style.labels", "author_year_labels", AuthorYearLabels)
    pybtex.plugin.register_plugin("pybtex.style.formatting", "by_author", ByAuthor)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
