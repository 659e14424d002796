"""What the parts of this extension share: the frameworks, and what is known of a page."""

from __future__ import annotations

from dataclasses import dataclass, field

from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
FRAMEWORKS = {"torch": "PyTorch", "jax": "JAX"}
NUMBERS_MIME = "application/vnd.attnlib.numbers+json"


@dataclass
class Cell:
    """A code cell of a page, as its author wrote it."""

    source: str
    line: int
    tags: tuple[str, ...] = ()
    metadata: dict = field(default_factory=dict)
    script: str | None = None  # docname of the gallery page whose script this cell runs

    @property
    def framework(self) -> str | None:
        """The one framework that the cell is for; None if it is for all."""
        for name in FRAMEWORKS:
            if name in self.tags:
                return name
        return None

    @property
    def is_numbers(self) -> bool:
        """Whether the cell only records numbers: readers never see it."""
        return "numbers" in self.tags

    def runs_in(self, framework: str) -> bool:
        return self.framework in (None, framework)


@dataclass
class Number:
    """A recorded value for each framework that recorded it."""

    values: dict[str, object] = field(default_factory=dict)
    shared: bool = False


@dataclass
class Page:
    """What a page with code leaves in the environment."""

    cells: list[Cell]
    numbers: dict[str, Number] = field(default_factory=dict)
    failed: bool = False


def warn(subtype: str, message: str, *args: object, location) -> None:
    """Report a fault at a page, at a line of a page or at a node."""
    LOGGER.warning(message, *args, location=location, type="framework_tabs", subtype=subtype)
