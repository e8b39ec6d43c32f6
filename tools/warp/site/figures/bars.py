"""The ladder of a chapter, as bars or on many inputs as a table of colour, and wavefronts by stride."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from warp.site.figures.drawing import (
    ACCENT,
    FOREGROUND,
    GROUND,
    LINE,
    MUTED,
    PHONE,
    SECOND,
    SOFT,
    Drawing,
    circle,
    escape,
    halo,
    mono,
    path,
    rate,
    rect,
    svg,
    text,
)
from warp.site.figures.roles import colour


def ticks(most: float, count: int) -> list[float]:
    """Round numbers from 0 to `most`, at most `count` steps of one, two or five times a power of ten."""
    power = 10 ** math.floor(math.log10(most / count))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if most / step <= count)
    return [i * step for i in range(int(most / step) + 1)]


@dataclass
class Step:
    """A rung of a ladder: its best rate, which variant has it, and the rates of its other variants."""

    name: str
    rate: float
    words: str = ""  # its idea
    others: list[float] = field(default_factory=list)
    peer: float | None = None  # the rate of what it is compared with, timed in the same rounds
    gain: float | None = None  # over the rung above, where both do the same work
    is_peer: bool = False
    variant: str = ""  # the best one
    asked: tuple[str, ...] = ()  # the predictions that ask for it: until then it is covered


def ratio(value: float) -> str:
    """1.3, 12, 440, 1.2k and 28k."""
    if value >= 999.5:
        return f"{value / 1000:.1f}k" if value < 9950 else f"{value / 1000:.0f}k"
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


SAME = 0.03  # peers this close to each other are one line
COVERED = "asked below"


def row_group(name: str, shapes: list[str]) -> str:
    """A row of which something is covered: what uncovers it finds it by its name."""
    return f'<g data-row="{escape(name)}">{"".join(shapes)}</g>'


def ladder(steps: list[Step], unit: str, limit: float | None, title: str, peer: str = "the peer") -> Drawing:
    """Rates as bars, one for each rung, as long as its best variant; light marks are the others. A peer that was as fast
    beside every rung is one line, else a mark on each bar. A rung that is asked for has neither a bar nor a number.

    The label stands above its bar, so the drawing needs no margin and works on a narrow screen.
    """
    peers = [step.peer for step in steps if step.peer]
    one_peer = sum(peers) / len(peers) if len(peers) > 1 and max(peers) - min(peers) < SAME * max(peers) else None
    told = [value for step in steps if not step.asked for value in (step.rate, step.peer or 0)]
    most = max([*told, one_peer or 0, limit or 0])
    longest = max([step.rate for step in steps] + peers)
    if longest > most:  # a bar that is covered: a scale up to a round number does not tell how long it is
        power = 10 ** math.floor(math.log10(longest))
        most = next(round_one for round_one in (2 * power, 5 * power, 10 * power) if round_one > longest)
    named = [(one_peer, peer, SECOND)] if one_peer else []
    mine = colour("loaded") if unit == "GB/s" else ACCENT
    if limit and not (one_peer and abs(one_peer - limit) < 0.1 * most):  # a copy is all but the limit of copies
        named.append((limit, "copy limit" if unit == "GB/s" else "FP32 limit", MUTED))
    # A gain over a rung that is covered waits for that one's predictions, too.
    rows: dict[str, dict] = {}
    first_gain = next((step for step in steps if step.gain), None)
    for above, step in zip([None, *steps], steps):
        waits = step.asked + (above.asked if above and step.gain else ())
        if waits:
            rows[step.name] = {"for": list(dict.fromkeys(waits))}

    def draw(width: float, count: int, which: str) -> str:
        pitch, left = 30, 1
        top = 20 if named else 6
        scale = (width - 2 * left) / most
        bottom = top + len(steps) * pitch + 4
        marks = ticks(most, count)
        shapes = [path("".join(f"M{left + at * scale:.1f} {top}V{bottom}" for at in marks), LINE)]
        before = 0.0  # where the label to the left ends
        for value, words, line in named:
            x = left + value * scale
            words = words if not before or x - before > 7.5 * len(words) else words.split()[-1]
            dashed = "" if line == SECOND else ' stroke-dasharray="3 3"'
            shapes.append(path(f"M{x:.1f} {top - 4}V{bottom}", line, 1.6 if line == SECOND else 1, dashed))
            ends = max(min(x + 2, width - 1), 7.5 * len(words))  # of one that is short beside a longer bar, too
            shapes.append(text(ends, 12, escape(words), 12, line, "end"))
            before = ends

        def row(step: Step, base: float, covered: bool, with_gain: bool) -> list[str]:
            over = " the rung above" if step is first_gain and 8.6 * len(step.name) + 200 < width else ""
            gain = (
                f'<tspan fill="{ACCENT}" font-weight="600">× {ratio(step.gain)}{over}</tspan><tspan dx="9">'
                if step.gain and with_gain and not covered
                else ""
            )
            value = COVERED if covered else f"{gain}{rate(step.rate)}" + ("</tspan>" if gain else "")
            name = mono(step.name, ' font-weight="600"')
            room = width - 8.6 * len(step.name) - (110 if gain or covered else 70) - 6.9 * len(over)
            words = " · ".join(filter(None, ["" if covered else step.variant, step.words]))
            if words and 6.9 * len(words) < room:
                name += f'<tspan dx="9" font-size="12" fill="{MUTED}">{escape(words)}</tspan>'
            shapes = [
                text(left, base, name, more=halo()),
                text(width - left - 5, base, value, 13, MUTED, "end", halo()),
            ]
            if covered:
                return [*shapes, path(f"M{left} {base + 8.5}H{width - left}", MUTED, 1, ' stroke-dasharray="1 5"')]
            shapes.append(
                rect(left, base + 4, max(step.rate * scale, 1), 9, SECOND if step.is_peer else mine, ' rx="1.5"')
            )
            if step.others:
                at = "".join(f"M{left + other * scale:.1f} {base + 4}v9" for other in step.others)
                shapes.append(path(at, GROUND, 1.6))
            if step.peer and not one_peer:
                shapes.append(path(f"M{left + step.peer * scale:.1f} {base + 2}v13", SECOND, 2.4))
            return shapes

        for i, step in enumerate(steps):
            base = top + i * pitch + 13
            if step.name in rows:
                shapes.append(row_group(step.name, row(step, base, bool(step.asked), False)))
                rows[step.name][which] = "".join(row(step, base, False, True))
            else:
                shapes += row(step, base, False, True)
        for at in marks:
            x = left + at * scale
            anchor = "start" if at == 0 else "end" if x > width - 24 else "middle"
            words = f"{at:,.10g}" + (f" {unit}" if at == 0 else "")
            shapes.append(text(x, bottom + 15, words, 12, MUTED, anchor))
        return svg(shapes, width, bottom + 20)

    def said(step: Step, covered: bool) -> str:
        if covered:
            return f"{step.name} {COVERED}"
        return f"{step.name} {rate(step.rate)} {unit}" + (f" ({peer} {rate(step.peer)})" if step.peer else "")

    for step in steps:
        if step.asked:
            rows[step.name]["said"] = [f" {said(step, True)}", f" {said(step, False)}"]
    words = "; ".join(said(step, bool(step.asked)) for step in steps)
    alt = f"{title}, in {unit}: {words}" + (f"; the machine's limit is {rate(limit)} {unit}" if limit else "") + "."
    return Drawing(draw(690, 7, "wide"), alt, draw(340, 4, "narrow"), covered=rows)


Filled = tuple[str, bool, str]  # what stands in a cell, whether it is filled, and what its box has besides


def colour_table(
    width: float,
    names: list[str],
    rows: list[list[Filled | None]],
    top: float,
    heads: Callable[[float, float, bool], list[str]],
    room: float = 0,
    put: Callable[[str, list[str], float, float], list[str]] = lambda name, shapes, x, y: shapes,
) -> str:
    """A table of colour, `room` narrower than `width`; where it is narrow its names stand above the rows. `heads` draws the headings
    from the left edge and the width of a column, `put` a row's cells, of which it gets the middle."""
    beside = width > PHONE
    left = 12 + 7.6 * max(map(len, names)) if beside else 0
    cell, high, label = (width - left - room) / len(rows[0]), 24, 0 if beside else 18
    shapes = heads(left, cell, beside)
    for r, (name, row) in enumerate(zip(names, rows, strict=True)):
        y = top + r * (high + label) + label
        shapes.append(text(0, y + 16 if beside else y - 5, mono(name), 12.5))
        cells = []
        for c, of in enumerate(row):
            words, filled, more = of or ("–", False, "")
            x = left + c * cell
            if of:
                cells.append(rect(x + 1, y + 1, cell - 2, high - 2, ACCENT if filled else SOFT, f' rx="2"{more}'))
            paint = GROUND if filled else FOREGROUND if of else MUTED
            cells.append(text(x + cell / 2, y + 16, escape(words), 12, paint, "middle"))
        shapes += put(name, cells, (left + width) / 2, y + 16)
    return svg(shapes, width, top + len(names) * (high + label) + 2)


def heat(
    names: list[str],
    columns: list[str],
    times: list[list[float | None]],
    title: str,
    asked: dict[str, list[str]] | None = None,
) -> Drawing:
    """A ladder on many inputs, as a table of colour: how many times as long as the best of its column each row takes, the
    best filled. Each of `times` is a row, with None where the row was not measured. `asked` has the predictions that ask for
    a row: until then it is covered."""
    best = [min(filter(None, column)) for column in zip(*times, strict=True)]
    rows: dict[str, dict] = {name: {"for": list(asked[name])} for name in names if asked and asked.get(name)}

    def cell(value: float | None, fastest: float) -> Filled | None:
        if value is None:
            return None
        share = fastest / value
        return ratio(value / fastest), share > 0.5, f' fill-opacity="{0.6 + 0.4 * share:.2f}"' if share > 0.5 else ""

    def heads(left: float, wide: float, beside: bool) -> list[str]:
        shapes = []
        for c, column in enumerate(columns):
            x = left + (c + 0.5) * wide
            turned = f' transform="rotate(-90 {x + 4:.4g} 60)"'
            shapes.append(
                text(x, 11, escape(column), 12, MUTED, "middle")
                if beside
                else text(x + 4, 60, escape(column), 12, MUTED, more=turned)
            )
        return shapes

    def draw(width: float, which: str) -> str:
        def put(name: str, cells: list[str], x: float, y: float) -> list[str]:
            if name not in rows:
                return cells
            rows[name][which] = "".join(cells)
            return [row_group(name, [text(x, y, COVERED, 12, MUTED, "middle")])]

        cells = [[cell(value, fastest) for value, fastest in zip(row, best)] for row in times]
        return colour_table(width, names, cells, 66 if which == "narrow" else 16, heads, put=put)

    def said(name: str, row: list[float | None]) -> str:
        told = ", ".join(
            f"{column} {ratio(value / fastest)}" for column, value, fastest in zip(columns, row, best) if value
        )
        return f" {name} {told}"

    for name, row in zip(names, times):
        if name in rows:
            rows[name]["said"] = [f" {name} {COVERED}", said(name, row)]
    words = ";".join(rows[name]["said"][0] if name in rows else said(name, row) for name, row in zip(names, times))
    wide, narrow = draw(690, "wide"), draw(340, "narrow")
    return Drawing(wide, f"{title}: time over the best of each.{words}.", narrow, covered=rows)


def stride_bars(reads: list[tuple[str, list[int], list[int]]], device: str) -> Drawing:
    """Wavefronts of a read at every stride. Each read: words above it, the wavefronts by stride from 0 on, and as many
    that the hardware has counted. Heights are logarithmic: twice the wavefronts, one step more."""

    def draw(pitch: float) -> str:
        shapes, y, step, left = [], 0.0, 11, 2
        for words, waves, counted in reads:
            y += 15
            shapes.append(text(0, y, escape(words), 13.5))
            floor = y + 20 + 6 * step
            for stride, (wavefronts, measured) in enumerate(zip(waves, counted, strict=True)):
                x, high = left + stride * pitch, (1 + math.log2(wavefronts)) * step
                middle = x + (pitch - 2.5) / 2
                shapes.append(rect(x, floor - high, pitch - 2.5, high, colour("shared"), ' rx="1.5"'))
                shapes.append(circle(middle, floor - (1 + math.log2(measured)) * step, 3.2, FOREGROUND))
                if pitch > 15 or wavefronts > 2:
                    shapes.append(text(middle, floor - high - 5, str(wavefronts), 11, MUTED, "middle"))
                if pitch > 15 or stride % 4 == 0:
                    shapes.append(text(middle, floor + 12, str(stride), 11, anchor="middle"))
            y = floor + 24
        return svg(shapes, left + max(len(waves) for _, waves, _ in reads) * pitch + 2, y - 8)

    alt = "Wavefronts of one read, by stride. " + " ".join(
        f"{text}: from stride 0 on {' '.join(map(str, waves))}; {device} counted "
        + ("the same." if counted == waves else f"{' '.join(map(str, counted))}.")
        for text, waves, counted in reads
    )
    return Drawing(draw(22), alt, draw(10.2))
