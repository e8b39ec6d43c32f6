"""The drawings of chapter 20: a grid split by rows, and the ways of an all-reduce."""

import math

import figures
from figures import ACCENT, FOREGROUND, GROUND, MUTED, SECOND, SOFT

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
    ]
