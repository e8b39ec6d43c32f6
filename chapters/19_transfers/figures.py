"""The drawings of chapter 19: the ways of a copy, what crosses the link, two buffers in turn on the host and on the device, and
pieces in several streams over time."""

import dataclasses
import json
import math

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT, Span

LADDER = "GB/s"


def boxed(x, y, width, height, label, fill="none", colour=FOREGROUND):
    return figures.rect(x, y, width, height, fill, f' stroke="{MUTED}" stroke-width="1.2"') + figures.text(
        x + width / 2, y + height / 2 + 5, label, 13, colour, "middle"
    )


def arrow(x, y, length, colour):
    return figures.path(f"M{x} {y}h{length - 3}m-7 -5l7 5l-7 5", colour, 1.8)


def ways():
    """From pageable memory through a buffer of the driver's, from pinned memory at once."""
    shapes, left, high = [], 1, 40
    for y, name, staged in ((20, "pageable", True), (100, "pinned", False)):
        shapes.append(figures.text(left, y - 6, f"{name} memory", 13))
        shapes.append(boxed(left, y, 130, high, "array", SOFT))
        if staged:
            shapes.append(arrow(left + 134, y + high / 2, 86, MUTED))
            shapes.append(figures.text(left + 177, y + high / 2 - 8, "CPU", 12, MUTED, "middle"))
            shapes.append(boxed(left + 224, y, 120, high, "driver's buffer", SOFT))
            shapes.append(arrow(left + 348, y + high / 2, 106, ACCENT))
        else:
            shapes.append(arrow(left + 134, y + high / 2, 320, ACCENT))
        shapes.append(figures.text(left + 401, y + high / 2 - 8, "copy engine", 12, MUTED, "middle"))
        shapes.append(boxed(left + 458, y, 130, high, "device memory"))
    return figures.Drawing(
        figures.svg(shapes, left + 590, 144),
        "From pageable memory the processor copies the array into a buffer of the driver's, piece by piece, and a copy "
        "engine takes it from there to the memory of the device. From pinned memory the copy engine takes it at once.",
    )


def by_hand():
    """Two buffers in turn over time: the host fills them, the copy engine empties them."""
    fill, empty, left, high, gap = 84, 52, 120, 32, 8
    shapes, ready, done = [], [], [0.0, 0.0]
    for piece in range(6):
        begin = max(ready[-1] if ready else 0.0, done[piece % 2])
        ready.append(begin + fill)
        done[piece % 2] = max(ready[-1], done[1 - piece % 2]) + empty
        for row, (x, width) in enumerate(((begin, fill), (done[piece % 2] - empty, empty))):
            y, of_first = row * (high + gap), piece % 2 == 0
            colour = ACCENT if of_first else SECOND
            shapes.append(figures.rect(left + x, y, width, high, colour, f' stroke="{LINE}" stroke-width="1"'))
            ink = GROUND if of_first else FOREGROUND
            shapes.append(figures.text(left + x + width / 2, y + 21, piece, 12, ink, "middle"))
    for row, name in enumerate(("host fills", "engine empties")):
        shapes.append(figures.text(left - 8, row * (high + gap) + 21, name, 12, MUTED, "end"))
    return figures.Drawing(
        figures.svg(shapes, left + max(done) + 2, 2 * high + gap + 2),
        "Time runs to the right. The host fills the two buffers in turn. The copy engine empties one while the host fills the other.",
    )


STAGES = (("in", ACCENT, GROUND), ("work", SECOND, FOREGROUND), ("out", SOFT, FOREGROUND))


def rows_of(pieces):
    """For each stage, when each piece is in it: stages take one after the other what has passed the one before."""
    length, ends = 1 / pieces, [0.0] * pieces
    rows = []
    for _ in STAGES:
        free, row = 0.0, []
        for piece in range(pieces):
            begin = max(free, ends[piece])
            free = ends[piece] = begin + length
            row.append((begin, free))
        rows.append(row)
    return rows


def timeline():
    """In, work and out over time, in one piece and in four."""
    unit, left, high, gap = 170, 60, 26, 6
    shapes, y = [], 0
    for pieces in (1, 4):
        shapes.append(figures.text(0, y + 14, "one piece" if pieces == 1 else f"{pieces} pieces", 13.5))
        y += 24
        for (name, fill, colour), row in zip(STAGES, rows_of(pieces)):
            shapes.append(figures.text(left - 10, y + 18, name, 12, MUTED, "end"))
            for piece, (begin, end) in enumerate(row):
                x, width = left + begin * unit, (end - begin) * unit
                shapes.append(figures.rect(x, y, width, high, fill, f' stroke="{LINE}" stroke-width="1"'))
                shapes.append(figures.text(x + width / 2, y + 18, piece, 12, colour, "middle"))
            y += high + gap
        y += 14
    return figures.Drawing(
        figures.svg(shapes, left + 3 * unit + 2, y - 14),
        "Time runs to the right. In one piece the copy in, the work and the copy out follow each other and take three "
        "units of time. In four pieces each stage begins with a piece as soon as the stage before has passed it, and all "
        "is over after one and a half.",
    )


ORDERS = {"in turn": "three streams in turn", "by part": "a stream for each part"}


def measured(file):
    """When each part of each piece ran, by the events that `--timeline` recorded."""
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    end = math.ceil(max(row["end_ms"] for row in rows))
    ends = {order: max(row["end_ms"] for row in rows if row["order"] == order) for order in ORDERS}

    def draw(wide, numbers):
        left, high, gap = 46, 24, 4
        unit, shapes, y = (wide - left - 8) / end, [], 0
        for order, words in ORDERS.items():
            shapes.append(figures.text(0, y + 14, words, 13.5))
            y += 22
            for tick in range(end + 1):
                bottom = y + len(STAGES) * (high + gap)
                shapes.append(figures.path(f"M{left + tick * unit:g} {y - 3}V{bottom}", LINE, 0.8))
            for name, fill, colour in STAGES:
                shapes.append(figures.text(left - 8, y + 17, name, 12, MUTED, "end"))
                free = 0.0  # when the engine, or the device, has left the piece before
                for row in rows:
                    if (row["order"], row["part"]) != (order, name):
                        continue
                    begin, free = max(row["begin_ms"], free), row["end_ms"]
                    x, width = left + begin * unit, (free - begin) * unit
                    shapes.append(figures.rect(x, y, width, high, fill, f' stroke="{LINE}" stroke-width="1"'))
                    if numbers:
                        shapes.append(figures.text(x + width / 2, y + 17, row["piece"], 11, colour, "middle"))
                y += high + gap
            y += 10
        for tick in range(end + 1):
            label = f"{tick} ms" if tick == end else tick
            shapes.append(figures.text(left + tick * unit, y + 6, label, 12, MUTED, "end" if tick == end else "middle"))
        return figures.svg(shapes, wide, y + 12)

    return figures.Drawing(
        draw(620, True),
        "Copies in, work and copies out of 16 pieces over time, as events recorded them. "
        + " ".join(f"{words.capitalize()}: over after {ends[order]:.1f} ms." for order, words in ORDERS.items()),
        draw(360, False),
    )


def crossing():
    """What crosses the link for a kernel that reads an array of 16 groups once, in part, or twice."""
    groups, high = 16, 16
    every, one, none = set(range(groups)), {0}, set()
    ways = (  # name, the groups of each crossing, what is said of it
        ("a copy, whatever is read", [every], "16 groups, once"),
        ("zero copy, all of it", [every], "16 groups, once"),
        ("zero copy, one group of 16", [one], "1 group"),
        ("zero copy, all of it twice", [every, every], "32 groups"),
        ("managed, one group of 16", [every], "the whole page"),
        ("made on the device", [none], "nothing"),
    )

    def draw(left, cell, below):
        shapes, y = [], 4
        for name, crossings, note in ways:
            shapes.append(figures.text(0, y + 13, name, 12.5))
            y += below
            for number, crossed in enumerate(crossings):
                for g in range(groups):
                    fill = (SECOND if number else ACCENT) if g in crossed else "none"
                    edge = f' stroke="{LINE}" rx="2"'
                    shapes.append(figures.rect(left + g * cell, y, cell - 3, high, fill, edge))
                y += high + 4
            shapes.append(figures.text(left + groups * cell + 8, y - 8, note, 12, MUTED))
            y += 8
        return figures.svg(shapes, left + groups * cell + 108, y - 6)

    return figures.Drawing(
        draw(190, 20, 0),
        "What crosses the link of an array of 16 groups of floats. A copy: all 16, whatever the kernel reads. Zero copy: what is read, "
        "all 16, or one, and twice what is read twice. Managed memory: the whole page, though one group of it is read. What is made "
        "on the device: nothing.",
        draw(0, 15, 20),
    )


def buffers():
    """Copies and sums over time, with the event that guards a buffer and without it; sums are drawn longer than copies."""
    copy, add, pieces = 2, 3, 4

    def row_of(waits):
        copies, sums, copied, added = [], [], 0, [0] * pieces
        for p in range(pieces):
            free = added[p - 2] if p >= 2 else 0  # when the sum has left the buffer
            begin = max(copied, free) if waits else copied
            if begin > copied:
                copies.append(Span(copied, begin - copied, "idle"))
            copied = begin + copy
            copies.append(Span(begin, copy, "load" if begin >= free else "wrong", f"{p} to {'AB'[p % 2]}"))
            added[p] = max(copied, added[p - 1] if p else 0) + add
            sums.append(Span(added[p] - add, add, "compute", f"{p} in {'AB'[p % 2]}"))
        return [("copies", copies), ("sums", sums)]

    drawn = figures.timeline(
        [("summed", row_of(True)), ("missing_event", row_of(False))],
        "",
        {"load": "copies", "compute": "adds", "wrong": "overwrites", "idle": "waits"},
    )
    return dataclasses.replace(
        drawn,
        alt="Four pieces over time, copied in turn to buffers A and B and added up from there; adding is drawn as taking longer. summed: the "
        "copy of piece 2 to A waits until piece 0 in A is added, and piece 3 waits for B in the same way. missing_event: the copy of "
        "piece 2 to A begins while piece 0 in A is still being added, and overwrites it; piece 3 does the same to piece 1.",
    )


def draw(_simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (None, "ways", ways(), "Two ways to the device: what is pageable passes a buffer of the driver's."),
        (
            None,
            "by_hand",
            by_hand(),
            "Drawn, not measured: pieces 0 to 5 in two buffers, one of each colour. Here filling takes longer.",
        ),
        (
            None,
            "timeline",
            timeline(),
            "Drawn, not measured: three stages that take equally long, in one piece and in four. A number is a piece.",
        ),
        (
            None,
            "measured",
            measured(source.parent / "results" / "h200_timeline.json"),
            "Measured: 16 pieces, with an event before and after each part of a piece. A number is a piece.",
        ),
        (
            None,
            "crossing",
            crossing(),
            "What crosses the link of an array of 16 groups, by the way that a kernel gets it. Filled: it crosses; in a second colour: again.",
        ),
        (
            None,
            "buffers",
            buffers(),
            "Drawn, not measured, with sums that take longer than copies: pieces 0 to 3 in buffers A and B. Without the event a copy overwrites "
            "what a sum still reads.",
        ),
    ]
