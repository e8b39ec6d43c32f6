"""./learn sheet: launch, index, barriers, counts and findings on one page; the site's page, as a terminal shows it."""

from __future__ import annotations

import os
import re

from warp.base import paths, ui
from warp.base.errors import LearnError
from warp.base.ui import Palette
from warp.cli.options import Arguments

SOURCE = os.path.join(paths.ROOT, "docs", "sheet.md")


def main(_: Arguments) -> int:
    try:
        with open(SOURCE, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise LearnError(f"cannot read {paths.shown(SOURCE)}: {error.strerror}")
    for line in shown(text, ui.palette()):
        ui.say(line)
    return 0


def shown(markdown: str, paint: Palette) -> list[str]:
    """Lines: headings, code and tables; no Markdown of them is left."""
    lines: list[str] = []
    for block in re.split(r"\n\n+", markdown.strip()):
        if lines:
            lines.append("")
        if block.startswith("#"):
            lines.append(paint("bold", block.lstrip("# ")))
        elif block.startswith("```"):
            lines += ["  " + line for line in block.split("\n")[1:-1]]
        elif block.startswith("|"):
            lines += table(block, paint)
        else:
            lines += ui.wrap(without_quotes(" ".join(block.split())), 0, 96).split("\n")
    return lines


def table(block: str, paint: Palette) -> list[str]:
    rows = [[without_quotes(cell.strip()) for cell in line.strip("|").split("|")] for line in block.split("\n")]
    rows = [row for number, row in enumerate(rows) if number != 1]  # the line of dashes
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return [paint("dim", lines[0]), *lines[1:]]


def without_quotes(text: str) -> str:
    return ui.plain(text).replace("`", "")
