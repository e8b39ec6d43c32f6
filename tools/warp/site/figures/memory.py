"""Requests: the sectors of global memory and the banks of shared memory that they touch."""

from __future__ import annotations

from dataclasses import dataclass

from warp.site.figures.drawing import FOREGROUND, MUTED, SOFT, Drawing, escape, rect, svg, text
from warp.site.figures.roles import fill, legend

MOVED = {"loaded": "asked for", "wasted": "moves for nothing"}
TALL = 8  # words in a bank, above which they are drawn lower and without their lanes


@dataclass
class Request:
    """What one request of a rung moves, on average over its requests."""

    rung: str
    access: str  # "load" or "store"
    sectors: float
    bytes: float

    @property
    def used(self) -> float:
        return self.bytes / (32 * self.sectors)


def sector_map(requests: list[Request]) -> Drawing:
    """Each sector of a request as a row of eight words: those that the lanes asked for, and those that move for nothing."""
    cell, gap, between = 9, 1, 9
    sector = 8 * (cell + gap) - gap

    def draw(columns: int) -> str:
        shapes, y = [], 0
        for request in requests:
            y += 16
            shapes.append(
                f'<text x="0" y="{y}" fill="{FOREGROUND}" font-size="14">'
                f'<tspan class="mono">{request.rung}</tspan></text>'
            )
            y += 17
            shapes.append(f'<text x="0" y="{y}" fill="{MUTED}" font-size="12.5">{_words(request)}</text>')
            y += 9
            count, words = round(request.sectors), round(request.bytes / request.sectors / 4)
            for i in range(count):
                x0 = (i % columns) * (sector + between)
                y0 = y + (i // columns) * (cell + between)
                for word in range(8):
                    x = x0 + word * (cell + gap)
                    used = word < words
                    shapes.append(
                        f'<rect x="{x}" y="{y0}" width="{cell}" height="{cell}" rx="1.5" '
                        f'fill="{fill("loaded" if used else "wasted")}"/>'
                    )
            y += -(-count // columns) * (cell + between) + 10
        width = columns * (sector + between) - between
        below, tall = legend(0, y - 2, width, MOVED)
        return svg([*shapes, *below], width, y + tall - 4)

    alt = "Sectors that one request moves. " + " ".join(f"{r.rung}: {_words(r)}." for r in requests)
    return Drawing(draw(8), alt, draw(4))


def _words(request: Request) -> str:
    return (
        f"one {request.access}: {request.sectors:g} sectors, {request.bytes:g} of "
        f"{request.sectors * 32:,.0f} bytes used"
    )


def word_map(requests: list[tuple[str, dict]]) -> Drawing:
    """The words of global memory that a request touches, in their sectors. Each request: its words in the source, and
    the map of it that `warp.chapter.maps.of_example` makes of an example in a trace."""
    cell, gap, between = 9, 1, 9
    sector = 8 * (cell + gap) - gap

    def draw(columns: int) -> str:
        shapes, y = [], 0.0
        for words, drawn in requests:
            y += 16
            shapes.append(text(0, y, f'<tspan class="mono">{escape(words)}</tspan>', 13.5))
            y += 17
            shapes.append(text(0, y, drawn["caption"], 12.5, MUTED))
            y += 9
            for i, place in enumerate(drawn["sectors"]):
                x0, y0 = i % columns * (sector + between), y + i // columns * (cell + between)
                shapes += [
                    rect(x0 + at * (cell + gap), y0, cell, cell, fill("loaded" if word else "wasted"), ' rx="1.5"')
                    for at, word in enumerate(place["words"])
                ]
            y += -(-len(drawn["sectors"]) // columns) * (cell + between) + 10
        width = columns * (sector + between) - between
        below, tall = legend(0, y - 2, width, MOVED)
        return svg([*shapes, *below], width, y + tall - 4)

    alt = "The words that the lanes of a warp touch, in their sectors of eight words. " + " ".join(
        f"{words}: {drawn['caption']}." for words, drawn in requests
    )
    return Drawing(draw(8), alt, draw(4))


def bank_map(requests: list[tuple[str, dict]]) -> Drawing:
    """Which lanes want which bank of shared memory. Each request: its words in the source, and the map of it that
    `warp.chapter.maps.of_example` makes of an example in a trace."""

    def draw(pitch: float, named: bool) -> str:
        cell, shapes, y = pitch - 1.5, [], 0.0
        for words, drawn in requests:
            y += 15
            shapes.append(
                f'<text x="0" y="{y:g}" font-size="13.5" fill="{FOREGROUND}">'
                f'<tspan class="mono">{escape(words)}</tspan></text>'
            )
            y += 17
            shapes.append(f'<text x="0" y="{y:g}" font-size="12.5" fill="{MUTED}">{drawn["caption"]}</text>')
            y += 8
            for group in drawn["groups"]:
                if group["label"]:
                    y += 12
                    shapes.append(f'<text x="0" y="{y:g}" font-size="11" fill="{MUTED}">{group["label"]}</text>')
                    y += 4
                levels = max(len(stack) for stack in group["stacks"])
                high, lanes = (11, False) if levels > TALL else (pitch, named)
                for level in range(levels):
                    for bank, stack in enumerate(group["stacks"]):
                        word = stack[level] if level < len(stack) else None
                        if not word and level:
                            continue
                        shapes.append(
                            f'<rect x="{2 + bank * pitch:g}" y="{y:g}" width="{cell:g}" height="{high - 1.5:g}" rx="2" '
                            f'fill="{(fill("wasted") if level else fill("shared")) if word else SOFT}"/>'
                        )
                        if word and lanes and not (group["label"] and len(word["lanes"]) > 2):
                            shapes.append(
                                f'<text x="{2 + bank * pitch + cell / 2:g}" y="{y + cell + 10:g}" font-size="11" '
                                f'text-anchor="middle" fill="{MUTED}">{word["lanes"]}</text>'
                            )
                    y += high + (12 if lanes else 0)
            y += 12
        width = 32 * pitch + 4
        conflicts = any(
            len(stack) > 1 for _, drawn in requests for group in drawn["groups"] for stack in group["stacks"]
        )
        roles = {"shared": "a word of the first wavefront"} | (
            {"wasted": "one more wavefront each"} if conflicts else {}
        )
        below, tall = legend(0, y - 2, width, roles)
        return svg([*shapes, *below], width, y + tall)

    alt = "The 32 banks of shared memory, and the lanes that each serves. "
    alt += " ".join(f"{words}: {drawn['caption']}, in {_banks(drawn)}." for words, drawn in requests)
    return Drawing(draw(21, True), alt, draw(10.5, False))


def _banks(drawn: dict) -> str:
    count = len({bank for group in drawn["groups"] for bank, stack in enumerate(group["stacks"]) if stack})
    return f"{count} bank{'' if count == 1 else 's'}"
