"""Colours, the updating progress line, tables. Results go to stdout, progress to stderr."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from warp.base.errors import LearnError


def is_terminal(stream: TextIO) -> bool:
    """True for a terminal that understands control sequences."""
    try:
        return stream.isatty() and os.environ.get("TERM", "") != "dumb"
    except (AttributeError, ValueError):
        return False


def wants_colour(stream: TextIO) -> bool:
    """Colours only on a terminal, and never with NO_COLOR set (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


Paint = Callable[[str, str], str]  # (colour, text), as a Palette


@dataclass(eq=False)
class Palette:
    """Paints text, or leaves it alone when colours are off."""

    CODES = {
        "bold": "1",
        "dim": "2",
        "red": "31",
        "green": "32",
        "yellow": "33",
        "cyan": "36",
    }

    on: bool

    def __call__(self, colour: str, text: str) -> str:
        if not self.on or not colour or not text:
            return text
        codes = ";".join(self.CODES[name] for name in colour.split("+"))
        return f"\x1b[{codes}m{text}\x1b[0m"


def palette(stream: TextIO | None = None) -> Palette:
    return Palette(wants_colour(stream or sys.stdout))


def terminal_width(default: int = 0) -> int:
    """Columns of the terminal on stdout; `default` (0: do not cut) where it is none."""
    if not is_terminal(sys.stdout):
        return default
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return default


def duration(seconds: float) -> str:
    """0.4 s, 12 s, 3 min 05 s."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{round(seconds)} s"
    minutes, rest = divmod(int(round(seconds)), 60)
    return f"{minutes} min {rest:02d} s"


class Progress:
    """One step of long work.

    On a terminal: a single line that updates with the elapsed seconds. Elsewhere: plain lines, one
    at the start, one a minute while it lasts, one at the end. With `patience`, nothing at all of what is
    over within so many seconds. With `leaves` False the line on a terminal goes away in the end, and
    elsewhere nothing is written.
    """

    HEARTBEAT = 60.0

    def __init__(self, title: str, stream: TextIO | None = None, patience: float = 0.0, leaves: bool = True) -> None:
        self.title = title
        self.stream = stream or sys.stderr
        self.live = is_terminal(self.stream)
        self.patience = patience
        self.leaves = leaves
        self.shown = False
        self.paint = palette(self.stream)
        self.note = ""
        self.began = time.monotonic()
        self.last_beat = self.began

    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def __enter__(self) -> Progress:
        self._show()
        return self

    def _show(self) -> None:
        """Draws, or says that it has begun, once it has taken long enough to be worth it."""
        if self.elapsed() < self.patience or not (self.live or self.leaves):
            return
        if self.live:
            self._draw()
        elif not self.shown:
            self._write(f"{self.title} ...\n")
        self.shown = True

    def update(self, note: str | None = None) -> None:
        """Called often (several times a second); draws as often as sensible."""
        if note is not None:
            self.note = note
        self._show()
        if self.shown and not self.live and time.monotonic() - self.last_beat >= self.HEARTBEAT:
            self.last_beat = time.monotonic()
            self._write("  {}{}\n".format(duration(self.elapsed()), ", " + self.note if self.note else ""))

    def __exit__(self, kind: type | None, _value: object, _trace: object) -> None:
        took = duration(self.elapsed())
        word, colour = ("failed", "red") if kind else ("done", "green")
        if kind is KeyboardInterrupt:
            word, colour = "interrupted", "yellow"
        if not self.shown:
            if not (kind and self.leaves):
                return
            if not self.live:
                self._write(f"{self.title} ...\n")
        if not self.leaves:
            self._write("\r\x1b[K")
        elif self.live:
            self._write(f"\r\x1b[K{self.title} {self.paint(colour, word)} ({took})\n")
        else:
            self._write(f"  {word} ({took})\n")

    def _draw(self) -> None:
        line = f"{self.title}  {duration(self.elapsed())}"
        if self.note:
            line += "  " + self.note
        try:
            width = os.get_terminal_size(self.stream.fileno()).columns
        except (OSError, ValueError):
            width = 80
        if len(line) >= width > 1:
            line = line[: width - 1]
        self._write("\r\x1b[K" + line)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            pass  # nobody is looking any more; the work goes on


def say(text: str = "") -> None:
    """A line on stdout, at once: programs that we start write to the same place."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def clear() -> None:
    """Empties a terminal; writes nothing elsewhere."""
    if is_terminal(sys.stdout):
        sys.stdout.write("\x1b[H\x1b[2J\x1b[3J")
        sys.stdout.flush()


def note(text: str) -> None:
    """A line on stderr: progress, warnings."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def report(error: LearnError) -> None:
    """A LearnError: what it has in detail, then its one line."""
    if error.detail:
        note(error.detail)
    note("learn: " + palette(sys.stderr)("red", error.message))


def plain(text: str) -> str:
    """Markdown as a terminal shows it: without emphasis, roles and links."""
    text = re.sub(r"\{\w+\}`([^`<]*?)(?: *<[^`>]*>)?`", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    code = re.findall(r"`[^`]*`", text)
    text = re.sub(r"`[^`]*`", "\0", text)  # an asterisk in it is no emphasis
    text = re.sub(r"(?<![\w*])(\*{1,2})(\S(?:.*?\S)??)\1(?![\w*])", r"\2", text)
    return re.sub("\0", lambda _: code.pop(0), text)


def wrap(text: str, indent: int, width: int) -> str:
    """The text in lines of at most `width` columns, later lines indented."""
    import textwrap

    return textwrap.fill(
        text,
        width=max(width, 40),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
