"""Finds functions in CUDA C++ without a compiler: by their names, brackets matched. Standard library only."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Function:
    name: str
    contract: int  # first line of the `///` lines above it; equals `first` if there are none
    first: int  # first line of the declaration
    name_line: int  # the line that holds its name
    last: int  # line of the closing brace


# Where something begins that is no code: a comment, a raw string, a string or a character.
_START = re.compile(r"""//|/\*|(?:u8|[uUL])?R"([^()\\ \n]{0,16})\(|["']""")
_LETTER = re.compile(r"[^\n]")


def mask(text: str, inside: set[int] | None = None, strings: bool = True) -> str:
    """The text with comments and, where `strings`, strings and character literals blanked out, newlines kept.

    `inside` gets the numbers of the lines that start within a block comment or a raw string.
    """
    masked, lines = _masked(text, strings)
    if inside is not None:
        inside.update(lines)
    return masked


@functools.lru_cache(maxsize=64)  # a page asks for the same few files many times
def _masked(text: str, strings: bool) -> tuple[str, frozenset[int]]:
    out: list[str] = []
    lines: set[int] = set()
    done, at, n = 0, 0, len(text)  # what is in out, and where to go on looking
    while start := _START.search(text, at):
        i = start.start()
        word = i > 0 and (text[i - 1].isalnum() or text[i - 1] == "_")
        if start.group() == "//":
            end = text.find("\n", i)
            end = n if end < 0 else end
        elif start.group() == "/*":
            end = text.find("*/", i + 2)
            end = n if end < 0 else end + 2
        elif start.group(1) is not None:
            if word:
                at = i + 1
                continue
            closing = f'){start.group(1)}"'
            end = text.find(closing, start.end())
            end = n if end < 0 else end + len(closing)
        elif text[i] == "'" and i > 0 and text[i - 1].isalnum():  # 1'000
            at = i + 1
            continue
        else:
            quote, end = text[i], i + 1
            while end < n and text[end] not in (quote, "\n"):
                end += 2 if text[end] == "\\" else 1
            end = min(end + 1, n)
        piece = text[i:end]
        if "\n" in piece:
            line = text.count("\n", 0, i) + 1
            lines.update(range(line + 1, line + 1 + piece.count("\n")))
        out += [text[done:i], _LETTER.sub(" ", piece) if strings or piece.startswith(("//", "/*")) else piece]
        done = at = end
    out.append(text[done:])
    return "".join(out), frozenset(lines)


@functools.lru_cache(maxsize=64)
def _without_directives(masked: str) -> str:
    """Directives end a declaration as a semicolon does."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: _LETTER.sub(";", m.group()), masked, flags=re.MULTILINE)


def matching(masked: str, start: int, opening: str, closing: str) -> int:
    """Index of the bracket that closes the one at `start`; -1 if none does."""
    depth = 0
    for found in re.compile(f"[{opening}{closing}]").finditer(masked, start):
        depth += 1 if found[0] == opening else -1
        if depth == 0:
            return found.start()
    return -1


# What stands between a function's name and the bracket of its parameters, and between that one's end and its body.
_PARAMETERS = re.compile(r"(?:\s*<[^;{}()]*>)?\s*\(")
_BODY = re.compile(r"(?:\s|const|noexcept|->|__attribute__\s*\(\([^;{}]*\)\)|[\w:<>,&*])*\{")


def _calls(plain: str, name: str) -> Iterator[tuple[int, int]]:
    """Where the name stands before a bracket, and where that one does."""
    at = plain.find(name)
    while at >= 0:
        end = at + len(name)
        whole = not re.match(r"\w", plain[at - 1 : at]) and not re.match(r"\w", plain[end : end + 1])
        found = _PARAMETERS.match(plain, end) if whole else None
        if found:
            yield at, found.end() - 1
        at = plain.find(name, end)


@functools.lru_cache(maxsize=4096)  # the rungs of a page name the same functions over and over
def find_function(text: str, name: str, masked: str | None = None) -> Function | None:
    """The definition of the function `name`, wherever it stands; a declaration is none."""
    masked = masked if masked is not None else mask(text)
    plain = _without_directives(masked)
    for begin, bracket in _calls(plain, name):
        close = matching(plain, bracket, "(", ")")
        if close < 0:
            continue
        tail = _BODY.match(plain, close + 1)
        if tail is None:
            continue
        end = matching(plain, tail.end() - 1, "{", "}")
        if end < 0:
            continue
        before = max(plain.rfind(c, 0, begin) for c in ";{}") + 1
        start = before + len(plain[before:]) - len(plain[before:].lstrip())
        if not plain[start:begin].strip():
            continue  # a statement such as `name(x) {`: no return type, so no function
        line = text.count("\n", 0, start) + 1
        rows = text.split("\n")
        contract = line
        while contract > 1 and rows[contract - 2].lstrip().startswith("///"):
            contract -= 1
        return Function(name, contract, line, text.count("\n", 0, begin) + 1, text.count("\n", 0, end) + 1)
    return None
