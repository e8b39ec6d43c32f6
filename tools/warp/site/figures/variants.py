"""The variants of a rung side by side, small enough for its card: columns over a parameter, or bars beside words."""

from __future__ import annotations

from dataclasses import dataclass

from warp.site.figures.bars import row_group
from warp.site.figures.drawing import MUTED, Drawing, escape, rate, rect, svg, text
from warp.site.figures.roles import colour, fill


@dataclass
class Variants:
    """What differs, as `BK`, "" of words that stand for themselves; its values; and their numbers in `unit`."""

    parameter: str
    values: list[str]
    numbers: list[float]
    unit: str
    role: str  # of figures.roles: what the numbers are of
    less_is_better: bool = False

    def best(self) -> float:
        return min(self.numbers) if self.less_is_better else max(self.numbers)


WAITS = "waits for a guess"
HIGH, LETTER = 12, 6.4  # pixels: of the tallest column; of a letter


def side_by_side(given: Variants, name: str, asked: list[str]) -> Drawing:
    """Columns where a parameter has values, bars where there are words. Filled: the best one. What the predictions `asked` ask
    for is covered."""
    shapes, width, height = columns(given) if given.parameter else bars(given)
    told = "; ".join(f"{value} {rate(number)}" for value, number in zip(given.values, given.numbers)) + "."
    words = f"{name}, in {given.unit}, by {given.parameter or 'variant'}: "
    drawn = "".join(shapes)
    if not asked:
        return Drawing(svg([drawn], width, height), words + told)
    waits = text(width / 2, height / 2 + 4, WAITS, 11, MUTED, "middle")
    covered = {name: {"for": asked, "wide": drawn, "said": [WAITS, told]}}
    return Drawing(svg([row_group(name, [waits])], width, height), words + WAITS, covered=covered)


def paint(given: Variants, number: float) -> tuple[str, str]:
    """The fill of a number's bar, and its frame."""
    frame = f' stroke="{colour(given.role)}" stroke-width="1"'
    return (fill(given.role), frame) if number == given.best() else ("none", frame)


def columns(given: Variants) -> tuple[list[str], float, float]:
    top, base = 12, 13 + HIGH
    shapes = [
        text(0, base + 12, f"{escape(given.parameter)} =", 11, MUTED),
        text(0, base - 2, escape(given.unit), 11, MUTED),
    ]
    at, most = 8 + LETTER * max(len(given.parameter) + 2, len(given.unit)), max(given.numbers)
    for value, number in zip(given.values, given.numbers):
        said = rate(number)
        wide = max(LETTER * max(len(value), len(said)) + 8, 30)
        high = max(HIGH * number / most, 1)
        shapes.append(rect(at + 3, base - high, wide - 6, high, *paint(given, number)))
        shapes.append(text(at + wide / 2, top + HIGH - high - 1, said, 11, anchor="middle"))
        shapes.append(text(at + wide / 2, base + 12, escape(value), 11, MUTED, "middle"))
        at += wide
    return shapes, at + 2, base + 16


def bars(given: Variants) -> tuple[list[str], float, float]:
    shapes, left = [], 8 + 7.6 * max(map(len, given.values))  # words have wide letters
    most, long = max(given.numbers), 70
    for row, (value, number) in enumerate(zip(given.values, given.numbers)):
        y = row * 14
        unit = f" {given.unit}" if row == 0 else ""
        shapes.append(text(left - 6, y + 11, escape(value), 11, MUTED, "end"))
        shapes.append(rect(left, y + 2, max(long * number / most, 1), 10, *paint(given, number)))
        shapes.append(text(left + long * number / most + 5, y + 11, rate(number) + escape(unit), 11))
    width = left + long + 10 + LETTER * (len(given.unit) + 1 + max(len(rate(number)) for number in given.numbers))
    return shapes, width, 14 * len(given.values) + 1
