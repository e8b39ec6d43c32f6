"""The header that a source begins with: a title, fields, text. Chapters and exercises have the same form.

// # Title
//
// Name: a value, which an indented line
//   carries on
// Another name: another value
//
// Text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field


@dataclass
class Fields:
    """The fields of a header, and the text behind them."""

    bad: Callable[[int, str], Exception]  # of a line, and what is wrong with it
    lines: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # name -> its lines, with their numbers
    text: list[str] = field(default_factory=list)

    def __contains__(self, name: str) -> bool:
        return name in self.lines

    def get(self, name: str) -> str:
        """A field's value; empty where it is left out."""
        return " ".join(text for _, text in self.lines.get(name, ()) if text)

    def refused(self, name: str, legal: str) -> Exception:
        """What to raise of a value that cannot be."""
        number = self.lines[name][0][0] if name in self.lines else 1
        return self.bad(number, f"'{name}: {self.get(name)}': legal is {legal}")

    def number(self, name: str, most: int) -> int:
        """A field that is a number from 1 on; 0 where it is left out."""
        text = self.get(name)
        if name in self.lines and not (re.fullmatch(r"[1-9]\d*", text, re.ASCII) and int(text) <= most):
            raise self.refused(name, f"a number from 1 to {most}")
        return int(text or 0)

    def is_on_short_path(self) -> bool:
        if "Path" in self.lines and self.get("Path") != "short":
            raise self.refused("Path", "short, or no such line")
        return "Path" in self.lines


def comment_of(lines: list[str]) -> list[str]:
    """The `//` lines that a source begins with."""
    end = 0
    while end < len(lines) and re.match(r"//(?!/)", lines[end]):
        end += 1
    return lines[:end]


def read(comment: list[str], names: Collection[str], bad: Callable[[int, str], Exception]) -> Fields:
    """What stands below the title of such a comment. A name that is not among `names` begins the text."""
    found, last = Fields(bad), ""
    known = re.compile(rf"({'|'.join(names)}):\s*(.*)$")
    for number, line in enumerate(comment[1:], start=2):
        text = line[2:].removeprefix(" ").rstrip()
        if found.text:
            found.text.append(text)
        elif name := known.match(text):
            last = name[1]
            if last in found:
                raise bad(number, f"the field '{last}' stands here a second time")
            found.lines[last] = [(number, name[2])]
        elif last and re.match(r"\s+\S", text):
            found.lines[last].append((number, text.strip()))
        elif text:
            found.text.append(text)
        else:
            last = ""
    return found
