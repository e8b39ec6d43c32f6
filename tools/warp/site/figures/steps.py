"""Rows of values below each other, as the steps of a parallel algorithm make them."""

from __future__ import annotations

from collections.abc import Sequence

from warp.site.figures.drawing import ACCENT, LINE, MUTED, SECOND, SOFT, Drawing, path, rect, svg, text

CELL, HEIGHT, PITCH = 36, 24, 54


Pairs = Sequence[tuple[int, int]]  # where a value comes from, and where it goes


class Levels:
    """Rows of values below each other, with a line from each value to those that it goes into."""

    def __init__(self, name: str, values: Sequence, left: float = 66) -> None:
        self.shapes: list[str] = []
        self.sentences: list[str] = []
        self.y, self.left, self.columns = 0.0, left, len(values)
        self.row(name, values, set())

    def row(self, name: str, values: Sequence, changed: set[int], note: str = "") -> None:
        self.shapes.append(text(0, self.y + (10 if note else 17), name, 13, MUTED))
        if note:
            self.shapes.append(text(0, self.y + 24, note, 11.5, MUTED))
        for i, value in enumerate(values):
            fill = SOFT if i in changed else "none"
            x = self.left + i * CELL
            self.shapes.append(rect(x, self.y, CELL - 4, HEIGHT, fill, f' rx="3" stroke="{LINE}"'))
            self.shapes.append(text(x + CELL / 2 - 2, self.y + 17, value, 13, anchor="middle"))
        said = f"{name}, {note}" if note else name
        self.sentences.append(f"{said}: {' '.join(map(str, values))}.")

    def step(
        self, name: str, values: Sequence, added: Pairs, copied: Pairs = (), note: str = "", keep: bool = True
    ) -> None:
        """The next row. `added` and `copied` have pairs (from, to): a value that is added to another, or replaces it.
        `keep`: whether a line leads from each value to itself, or only from those that are added to."""
        top, bottom = self.y + HEIGHT, self.y + PITCH
        replaced = {to for _, to in copied}
        changed = replaced | {to for _, to in added}

        def line(of: int, to: int, colour: str, width: float) -> None:
            x, down = (self.left + i * CELL + CELL / 2 - 2 for i in (of, to))
            self.shapes.append(path(f"M{x:g} {top + 1:g}L{down:g} {bottom - 1:g}", colour, width))

        for i in range(len(values)):
            if i not in replaced and (keep or i in changed):
                line(i, i, LINE, 1.2)
        for of, to in copied:
            line(of, to, SECOND, 1.6)
        for of, to in added:
            line(of, to, ACCENT, 1.6)
        self.y += PITCH
        self.row(name, values, changed, note)

    def drawing(self, words: str) -> Drawing:
        return Drawing(
            svg(self.shapes, self.left + self.columns * CELL, self.y + HEIGHT + 1),
            f"{words} {' '.join(self.sentences)}",
        )
