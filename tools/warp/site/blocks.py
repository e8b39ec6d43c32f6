"""What a page is made of before it is nodes: prose in Markdown, with the lines that it stands on, and what a build made.

rendering.py makes docutils' nodes of blocks; source_parser.py has Sphinx read a chapter's source as a page of them. Standard library only.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from warp.chapter.source import Code
from warp.explain.listing import Told
from warp.site.figures import Drawing
from warp.site.markup import typeset_rows


@dataclass
class Text:
    """Markdown. Headings stand `raised` levels higher than they are written: of a section that became a page."""

    text: str
    source: Path | None = None
    rows: Sequence[int] = ()  # the source's line of each line; () of what no source has
    raised: int = 0
    links: dict[str, str] = field(default_factory=dict)  # to Compiler Explorer, of kernels whose machine code it shows


@dataclass
class Listing:
    """Code under its line numbers; `told` is what counted_listing says of its lines, None of one that says nothing."""

    code: Code
    told: Told | None = None


@dataclass
class Output:
    """What a program printed, or what is typed, as it is."""

    text: str
    classes: str = "output"
    language: str = "text"


@dataclass
class Table:
    """Cells are Markdown within a line; `align` has l, r or c for each column."""

    head: list[str]
    rows: list[list[str]]
    align: str


@dataclass
class Box:
    classes: str
    blocks: list[Block]
    is_plain: bool = False  # a `div` that has its own classes alone


@dataclass
class Html:
    text: str


@dataclass
class Rubric:
    """A heading that no contents list."""

    text: str
    classes: str = ""


@dataclass
class Fold:
    """What a reader opens."""

    title: str
    blocks: list[Block]
    classes: str = "fold"
    is_open: bool = False


@dataclass
class Tab:
    """A part of a card that is closed at first."""

    title: str
    blocks: list[Block]


@dataclass
class Card:
    """The card of a rung: `numbers` are its key figures (what it was, what it is, of what), `beside` those of the margin, `chart`
    its variants."""

    name: str
    idea: str
    numbers: list[list[str]]
    beside: list[list[str]]
    blocks: list[Block]
    chart: Drawing | None = None


@dataclass
class Elsewhere:
    """A rung whose card stands on another page: its anchor, its idea and the way there."""

    name: str
    idea: str
    page: str


@dataclass
class Question:
    """A prediction: what is asked, what a browser knows of the answer, and what the run says."""

    name: str
    text: Text
    known: dict[str, Any]
    said: str


@dataclass
class Figure:
    name: str
    drawing: Drawing
    caption: str


@dataclass
class Contract:
    """The `///` lines of a rung's function, as Doxygen read them."""

    signature: str
    project: str


@dataclass
class Live:
    """The live figure, with the names of its examples."""

    name: str
    examples: Sequence[str]


@dataclass
class Ask:
    """The fields for what an exercise asks of accesses."""

    exercise: str


Block = Union[
    Text, Listing, Output, Table, Box, Html, Rubric, Fold, Tab, Card, Elsewhere, Question, Figure, Contract, Live, Ask
]


@dataclass
class Page:
    """A page that Sphinx reads from `source`. Its prose names `drawings`; `compiled` says what made its machine code."""

    source: Path
    blocks: list[Block]
    space: str = (
        ""  # chapters may have functions of one name: each has a namespace of its own, which no signature shows
    )
    is_beside: bool = False  # no table of contents has it
    drawings: dict[str, Figure] = field(default_factory=dict)
    compiled: str = "not recorded"

    def digest(self) -> str:
        """Changes with all that the page shows."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


# What may stand before the words of a line: comments' signs, the number of a hint.
BEFORE = re.compile(r"(?:(?://|\d+\. )\s*)*")


@functools.lru_cache(maxsize=8)  # the hints of an exercise are looked for in one file
def bare_lines(text: str) -> list[str]:
    return [BEFORE.sub("", line.strip(), count=1).strip() for line in text.split("\n")]


def written(words: str, source: Path) -> Text:
    """What an author has written in a source, in its comment or in notes beside it, with the lines that it has there."""
    wanted, lines = bare_lines(words), bare_lines(source.read_text(encoding="utf-8"))
    first = next((at for at in range(len(lines)) if lines[at : at + len(wanted)] == wanted), 0)
    text, rows = typeset_rows(words, range(first + 1, first + 1 + len(wanted)))
    return Text(text, source, rows)


def inside(block: Block) -> list[Block]:
    """The blocks of a block."""
    return block.blocks if isinstance(block, (Box, Fold, Tab, Card)) else []


def every(blocks: Iterable[Block]) -> Iterator[Block]:
    """All blocks in the order of the page, each before those in it."""
    for block in blocks:
        yield block
        yield from every(inside(block))
