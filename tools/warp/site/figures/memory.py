"""Requests: the sectors of global memory and the banks of shared memory that they touch."""

from __future__ import annotations

from warp.chapter.maps import Map
from warp.site.figures.drawing import MUTED, SOFT, Drawing, mono, rect, svg, text
from warp.site.figures.roles import fill, legend

MOVED = {"loaded": "asked for", "wasted": "moves for nothing"}
TALL = 8  # words in a bank, above which they are drawn lower and without their lanes


def word_map(requests: list[tuple[str, Map]]) -> Drawing:
    """The words of global memory that a request touches, in their sectors. Each request: its words in the source, and
    the map of it that `warp.chapter.maps.of_example` makes of an example in a trace."""
    cell, gap, between = 9, 1, 9
    sector = 8 * (cell + gap) - gap

    def draw(columns: int) -> str:
        shapes, y = [], 0.0
        for name, drawn in requests:
            shapes += _titles(name, drawn.caption, y)
            y += 42
            for i, place in enumerate(drawn.sectors):
                x0, y0 = i % columns * (sector + between), y + i // columns * (cell + between)
                shapes += [
                    rect(x0 + at * (cell + gap), y0, cell, cell, fill("loaded" if word else "wasted"), ' rx="1.5"')
                    for at, word in enumerate(place.words)
                ]
            y += -(-len(drawn.sectors) // columns) * (cell + between) + 10
        width = columns * (sector + between) - between
        below, tall = legend(0, y - 2, width, MOVED)
        return svg([*shapes, *below], width, y + tall - 4)

    alt = "The words that the lanes of a warp touch, in their sectors of eight words. " + " ".join(
        f"{words}: {drawn.caption}." for words, drawn in requests
    )
    return Drawing(draw(8), alt, draw(4))


def _titles(name: str, words: str, y: float) -> list[str]:
    return [text(0, y + 16, mono(name), 13.5), text(0, y + 33, words, 12.5, MUTED)]


def bank_map(requests: list[tuple[str, Map]]) -> Drawing:
    """Which lanes want which bank of shared memory. Each request: its words in the source, and the map of it that
    `warp.chapter.maps.of_example` makes of an example in a trace."""

    def draw(pitch: float, named: bool) -> str:
        cell, shapes, y = pitch - 1.5, [], 0.0
        for words, drawn in requests:
            shapes += _titles(words, drawn.caption, y)
            y += 41
            for group in drawn.groups:
                if group.label:
                    y += 12
                    shapes.append(text(0, y, group.label, 11, MUTED))
                    y += 4
                levels = max(len(stack) for stack in group.stacks)
                high, lanes = (11, False) if levels > TALL else (pitch, named)
                for level in range(levels):
                    for bank, stack in enumerate(group.stacks):
                        word = stack[level] if level < len(stack) else ""
                        if not word and level:
                            continue
                        x, paint = 2 + bank * pitch, fill("wasted" if level else "shared") if word else SOFT
                        shapes.append(rect(x, y, cell, high - 1.5, paint, ' rx="2"'))
                        if word and lanes and not (group.label and len(word) > 2):
                            shapes.append(text(x + cell / 2, y + cell + 10, word, 11, MUTED, "middle"))
                    y += high + (12 if lanes else 0)
            y += 12
        width = 32 * pitch + 4
        conflicts = any(len(stack) > 1 for _, drawn in requests for group in drawn.groups for stack in group.stacks)
        roles = {"shared": "a word of the first wavefront"} | (
            {"wasted": "one more wavefront each"} if conflicts else {}
        )
        below, tall = legend(0, y - 2, width, roles)
        return svg([*shapes, *below], width, y + tall)

    alt = "The 32 banks of shared memory, and the lanes that each serves. "
    alt += " ".join(f"{words}: {drawn.caption}, in {_banks(drawn)}." for words, drawn in requests)
    return Drawing(draw(21, True), alt, draw(10.5, False))


def _banks(drawn: Map) -> str:
    count = len({bank for group in drawn.groups for bank, stack in enumerate(group.stacks) if stack})
    return f"{count} bank{'' if count == 1 else 's'}"
