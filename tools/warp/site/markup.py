"""The pieces of Markdown that pages are made of: numbers, sizes, tables, listings and typesetting. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Sequence


def number(value: float) -> str:
    """1234567 -> 1,234,567; 4.0 -> 4; 4.25 -> 4.25."""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def per(a: float, b: float) -> str:
    return number(a / b) if b else "–"


def milliseconds(ms: float) -> str:
    """Four significant digits, whatever the size."""
    for limit, decimals in ((1000, 0), (100, 1), (10, 2), (1, 3)):
        if ms >= limit:
            return f"{ms:,.{decimals}f}"
    return f"{ms:.4f}"


def rate(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.{1 if value >= 10 else 2}f} {unit}"


def escape(text: str) -> str:
    """Plain text as Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|$#])", r"\\\1", text)


def code(text: str) -> str:
    """Plain text in code type; "" of none."""
    return "`" + text.replace("`", "'") + "`" if text else ""


def typeset(text: str) -> str:
    """Prose as `typeset_rows` has it, of which nobody asks where it stands."""
    return typeset_rows(text, ())[0]


def typeset_rows(text: str, rows: Sequence[int]) -> tuple[str, list[int]]:
    """Prose with a multiplication sign where a source has an x between extents, 128 x 96, M x K or `rows` x `cols`, and
    with powers and transposes set high: n^2, 2^32, 2^-24, B^T. A number keeps its unit on its line. Code stays as it is.

    `rows` has the source's line of each line: of two that a unit has joined the first one's is left."""
    text = re.sub(r"(?<=\w`) x(?=\s`\w)", "\u00a0×", text)
    pieces = re.split(
        r"(^(?:```|~~~).*?^(?:```|~~~)|^ {4}[^\n]*$|``.*?``|`[^`]*`)", text, flags=re.DOTALL | re.MULTILINE
    )
    sign = re.compile(
        r"(?<![\w.])(\d[\d,]*|[A-Z][A-Z0-9_]*|[kmn]|rows|cols) x"
        r"(?=\s(?:\d|[A-Z][A-Z0-9_]*\b|[kmn]\b|rows\b|cols\b|NaN\b|anything|infinity))"
    )
    unit = re.compile(r"(?<=\d)[ \n](?=(?:%|[mun]s|[KMG]i?B|[KMGT]B/s|[GT]FLOP/s|GHz)(?!\w))")
    power = re.compile(r"(?<![\w^])(\d+|[A-Za-z])\^(-?\d+|T)(?!\w)")
    high = str.maketrans("-0123456789T", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ")
    joint = "\0"  # in place of a line's end

    def joined(found: re.Match) -> str:
        return "\u00a0" + (joint if found[0] == "\n" else "")

    text = "".join(
        piece
        if i % 2
        else power.sub(
            lambda found: found[1] + found[2].translate(high), sign.sub("\\1\u00a0×", unit.sub(joined, piece))
        )
        for i, piece in enumerate(pieces)
    )
    left: list[int] = []
    at = 0
    for line in text.split("\n"):
        left += rows[at : at + 1]
        at += 1 + line.count(joint)
    return text.replace(joint, ""), left


def size_text(size: dict) -> str:
    """n = 4,096, or M = 300, N = 200, K = 100; of two extents 4,096 × 64: each chapter says what these are."""
    if len(size) == 2:
        return "\u00a0× ".join(number(value) for value in size.values())
    return ", ".join(f"{name} = {number(value)}" for name, value in size.items())


def short_size(size: dict) -> str:
    """4,096 where the three extents of a product are that, else 300 × 200 × 100, in one line of its cell."""
    extents = list(size.values())
    return (
        number(extents[0])
        if len(set(extents)) == 1 and len(extents) != 2
        else "\u00a0×\u00a0".join(number(extent) for extent in extents)
    )


def size_words(text: str) -> str:
    return " × ".join(number(int(part)) if part.strip().isdigit() else escape(part) for part in text.split(","))


def table(head: list[str], rows: list[list[str]], align: str) -> str:
    """A Markdown table; `align` has a letter (l, r, c) for each column."""
    marks = {"l": ":--", "r": "--:", "c": ":-:"}
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(marks[a] for a in align) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
