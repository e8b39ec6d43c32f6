"""The drawings of chapter 20: a grid split by rows and its steps over time, the ways of an all-reduce and the steps of a ring,
and the parts of a product over time."""

import dataclasses
import math

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT, Span

LADDER = "GB/s"

HIGH, WIDE = 24, 190  # a row


def row(x, y, label, fill, colour=FOREGROUND, dashed=False):
    line = f' stroke="{MUTED}" stroke-width="1.2"' + (' stroke-dasharray="4 3"' if dashed else "")
    return figures.rect(x, y, WIDE, HIGH, fill, line) + figures.text(
        x + WIDE / 2, y + 17, label, 12.5, colour, "middle"
    )


def split():
    """Two GPUs with their rows; the edge of each goes to the halo of the other."""
    left, right, top = 1, 330, 26
    shapes = [figures.text(left, 16, "GPU 0", 14), figures.text(right, 16, "GPU 1", 14)]
    for x, halo_first in ((left, False), (right, True)):
        y = top
        if halo_first:
            shapes.append(row(x, y, "halo", "none", MUTED, dashed=True))
            shapes.append(row(x, y + HIGH, "edge", ACCENT, GROUND))
            y += 2 * HIGH
        else:
            y += 2 * HIGH
        shapes.append(figures.rect(x, y, WIDE, 4 * HIGH, SOFT, f' stroke="{MUTED}" stroke-width="1.2"'))
        shapes.append(figures.text(x + WIDE / 2, y + 2 * HIGH + 5, "interior", 12.5, FOREGROUND, "middle"))
        y += 4 * HIGH
        if not halo_first:
            shapes.append(row(x, y, "edge", ACCENT, GROUND))
            shapes.append(row(x, y + HIGH, "halo", "none", MUTED, dashed=True))
    low, high = top + 6.5 * HIGH, top + 0.5 * HIGH
    for start, end in ((low, high), (high + HIGH, low + HIGH)):
        x0, x1 = (left + WIDE + 4, right - 4) if start == low else (right - 4, left + WIDE + 4)
        step = 30 if x1 > x0 else -30
        shapes.append(figures.path(f"M{x0} {start}C{x0 + step} {start} {x1 - step} {end} {x1} {end}", ACCENT, 1.8))
        tip = -7 if x1 > x0 else 7
        shapes.append(figures.path(f"M{x1 + tip} {end - 5}L{x1} {end}L{x1 + tip} {end + 5}", ACCENT, 1.8))
    return figures.Drawing(
        figures.svg(shapes, right + WIDE + 2, top + 8 * HIGH + 2),
        "GPU 0 has the upper rows of the grid and below them a halo row, GPU 1 the lower rows and above them a halo row. "
        "The last row of GPU 0 is copied to the halo of GPU 1, the first row of GPU 1 to the halo of GPU 0.",
    )


def steps():
    """Two steps of two GPUs, of which GPU 1 is the slower: who waits for whom, and what edges first hide."""
    copy, edge, rows = 2, 1, (7, 8)  # how long each takes

    def one_after_the_other():
        spans, begin = ([], []), 0
        for step in range(2):
            for g in (0, 1):
                spans[g].append(Span(begin, rows[g], "compute", f"step {step}"))
                spans[g].append(Span(begin + rows[g], copy, "load", "edge"))
            until = begin + max(rows) + copy
            for g in (0, 1):
                if begin + rows[g] + copy < until and step == 0:
                    spans[g].append(Span(begin + rows[g] + copy, until - begin - rows[g] - copy, "idle"))
            begin = until
        return [(f"GPU {g}", spans[g]) for g in (0, 1)]

    def edges_first():
        edges, inner, begin = ([], []), ([], []), [0, 0]
        for step in range(2):
            sent = [begin[g] + edge + copy for g in (0, 1)]
            for g in (0, 1):
                edges[g].extend((Span(begin[g], edge, "compute"), Span(begin[g] + edge, copy, "load", "edge")))
                inner[g].append(Span(begin[g], rows[g] - edge, "compute", f"step {step}"))
            begin = [max(begin[g] + rows[g] - edge, *sent) for g in (0, 1)]
        return [row for g in (0, 1) for row in ((f"{g}: edges", edges[g]), (f"{g}: interior", inner[g]))]

    drawn = figures.timeline(
        [("jacobi_copies", one_after_the_other()), ("jacobi_overlap", edges_first())],
        "",
        {"compute": "computes", "load": "copies its edge", "idle": "waits"},
    )
    return dataclasses.replace(
        drawn,
        alt="Two steps of two GPUs over time; GPU 1 takes a little longer for its rows. jacobi_copies: each GPU computes, then copies its "
        "edge; GPU 0 waits until the edge of GPU 1 has come before it begins its next step. jacobi_overlap: each GPU computes its edge "
        "and copies it in one stream, while it computes the interior in another; the copies end long before the interiors, and "
        "neither GPU waits.",
    )


def ring():
    """What each of four GPUs has of the sum after each step of a ring, as `Sums::go_round` orders them."""
    gpus, cell, high = 4, 26, 20
    parts = [[{g} for _ in range(gpus)] for g in range(gpus)]  # parts[g][c]: whose elements GPU g's chunk c adds up
    panels = [("before", [[1] * gpus for _ in range(gpus)], set())]
    for step in range(2 * (gpus - 1)):
        before, came = [list(row) for row in parts], set()
        for g in range(gpus):
            chunk = (g + 2 * gpus - 1 - step) % gpus
            theirs = before[(g + gpus - 1) % gpus][chunk]
            parts[g][chunk] = theirs | {g} if step < gpus - 1 else theirs
            came.add((g, chunk))
        panels.append((f"step {step + 1}", [[len(of) for of in row] for row in parts], came))
    wide = gpus * cell + 66

    def panel(x, y, title, sums, came, named):
        shapes = [figures.text(x, y + 12, title, 13)]
        for g in range(gpus):
            top = y + 22 + g * (high + 4)
            if named:
                shapes.append(figures.text(x - 8, top + 15, f"GPU {g}", 12, MUTED, "end"))
            for c in range(gpus):
                count = sums[g][c]
                fill = ACCENT if count == gpus else SECOND if count > 1 else SOFT
                edge = f' stroke="{FOREGROUND}" stroke-width="2"' if (g, c) in came else f' stroke="{LINE}"'
                shapes.append(figures.rect(x + c * cell, top, cell - 3, high, fill, edge))
                ink = GROUND if count > 1 else FOREGROUND
                shapes.append(figures.text(x + c * cell + (cell - 3) / 2, top + 15, count, 12.5, ink, "middle"))
        return shapes

    def draw(columns):
        shapes, pitch = [], 22 + gpus * (high + 4) + 16
        for i, (title, sums, came) in enumerate(panels):
            x, y = 52 + i % columns * (wide - 30), i // columns * pitch
            shapes += panel(x, y, title, sums, came, i % columns == 0)
        lines = -(-len(panels) // columns)
        return figures.svg(shapes, 52 + columns * (wide - 30) - 34, lines * pitch - 8)

    if any(len(of) != gpus for row in parts for of in row):
        raise ValueError("the ring of the drawing does not add up everything")
    return figures.Drawing(
        draw(4),
        "Four GPUs with four chunks each; a number says how many GPUs' elements a chunk adds up. Before, all are 1. In each step every GPU "
        "gets one chunk from its left neighbour. After three steps each GPU has one chunk with the sum of all four, each a different "
        "one. In three more steps the finished chunks go round, and after six steps all sixteen chunks are sums of four.",
        draw(2),
    )


def parts():
    """Two of four GPUs over time: parts of a product, and copies of the next ones before it or behind it."""
    gpus, multiply, copy = 4, 4, 1.5

    def before(g):
        spans, at = [Span(0, multiply, "compute", f"B{g}")], multiply
        for s in range(1, gpus):
            spans.append(Span(at, copy, "load"))
            spans.append(Span(at + copy, multiply, "compute", f"B{(g + s) % gpus}"))
            at += copy + multiply
        return spans

    def hidden(g):
        copies = [Span((s - 1) * multiply, copy, "load", f"B{(g + s) % gpus}") for s in range(1, gpus)]
        return copies, [Span(s * multiply, multiply, "compute", f"B{(g + s) % gpus}") for s in range(gpus)]

    rows = [(f"{g}: {name}", spans) for g in (0, 1) for name, spans in zip(("copies", "products"), hidden(g))]
    drawn = figures.timeline(
        [("copies=before", [(f"GPU {g}", before(g)) for g in (0, 1)]), ("copies=hidden", rows)],
        "",
        {"compute": "multiplies by a part", "load": "copies a part"},
    )
    return dataclasses.replace(
        drawn,
        alt="GPUs 0 and 1 of four over time. Each multiplies by the four parts of B in turn: GPU 0 by parts 0, 1, 2, 3, GPU 1 by parts 1, 2, "
        "3, 0. With copies before, each copy of a part stands between two products. With copies hidden, the next part is copied in a "
        "stream of its own during the product before, and the products follow each other without a gap.",
    )


def arrow(start, end, colour, width):
    """Between two circles, from rim to rim."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    ux, uy = dx / length, dy / length
    x0, y0, x1, y1 = start[0] + 20 * ux, start[1] + 20 * uy, end[0] - 20 * ux, end[1] - 20 * uy
    # Both directions between two circles stand beside each other.
    x0, x1, y0, y1 = x0 - 4 * uy, x1 - 4 * uy, y0 + 4 * ux, y1 + 4 * ux
    return figures.path(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}", colour, width) + figures.path(
        f"M{x1 - 7 * ux - 4 * uy:.1f} {y1 - 7 * uy + 4 * ux:.1f}L{x1:.1f} {y1:.1f}"
        f"L{x1 - 7 * ux + 4 * uy:.1f} {y1 - 7 * uy - 4 * ux:.1f}",
        colour,
        width,
    )


def reduce():
    """Which GPU sends to which in one step of four ways, and how often."""
    places = [(40, 40), (140, 40), (140, 140), (40, 140)]
    to_one = [(g, 0) for g in (1, 2, 3)]
    ring = [(g, (g + 1) % 4) for g in range(4)]
    to_all = [(a, b) for a in range(4) for b in range(4) if a != b]
    panels = (
        ("one GPU adds", to_one, 3.2, "then back: all B each"),
        ("ring", ring, 1.6, "6 steps: B / 4 each"),
        ("one shot", to_all, 3.2, "1 step: all B each"),
        ("two shots", to_all, 1.4, "2 steps: B / 4 each"),
    )
    shapes, wide = [], 190
    for panel, (title, arrows, width, note) in enumerate(panels):
        x = panel * wide
        shapes.append(figures.text(x + 90, 16, title, 14, FOREGROUND, "middle"))
        at = [(x + px, py + 20) for px, py in places]
        shapes += [arrow(at[a], at[b], ACCENT if width > 2 else SECOND, width) for a, b in arrows]
        for g, (cx, cy) in enumerate(at):
            shapes.append(f'<circle cx="{cx}" cy="{cy}" r="16" fill="{SOFT}" stroke="{MUTED}" stroke-width="1.2"/>')
            shapes.append(figures.text(cx, cy + 5, g, 13, FOREGROUND, "middle"))
        shapes.append(figures.text(x + 90, 206, note, 12.5, MUTED, "middle"))
    return figures.Drawing(
        figures.svg(shapes, 4 * wide - 8, 214),
        "Four GPUs in four ways. One GPU adds: the other three send it their arrays. Ring: each sends a quarter of its array to "
        "the next, six times. One shot: each sends its whole array to each other, once. Two shots: each sends a quarter to each "
        "other, twice.",
    )


def draw(_simulated, _source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (None, "split", split(), "A grid split by rows: what crosses between two GPUs in a step."),
        (
            None,
            "reduce",
            reduce(),
            "An all-reduce of arrays of B bytes on four GPUs: who sends to whom. Thick arrows carry B, thin ones a quarter of it.",
        ),
        (
            None,
            "steps",
            steps(),
            "Drawn, not measured: two steps on two GPUs, of which GPU 1 takes longer. Above, GPU 0 waits for its edge. Below, the edges "
            "have come before the interior is done.",
        ),
        (
            None,
            "ring",
            ring(),
            "What four GPUs have of the sum after each step. A number counts the arrays that a chunk adds up; the chunks with an edge have "
            "just come from the GPU above, those of GPU 0 from GPU 3.",
        ),
        (
            None,
            "parts",
            parts(),
            "Drawn, not measured: two of four GPUs. Each begins with its own part of B, so that no two copy the same part at a time.",
        ),
    ]
