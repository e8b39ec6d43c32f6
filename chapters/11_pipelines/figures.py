"""The drawings of chapter 11: who waits for what with one buffer, two, and a ring; orders of FMAs and of tiles."""

import dataclasses

from warp.site import figures
from warp.site.figures import ACCENT, LINE, MUTED, Span, roles

LADDER = "GFLOP/s"
STAIR = ("loads behind", "the arithmetic")

STAGES = 4


def one_buffer_and_two():
    """Loads and FMAs of a block: load, then compute; and the next load while it computes."""
    load, compute, tiles = 2, 3, 4
    after, ahead = ([], []), ([], [])
    at = 0
    for tile in range(tiles):
        after[0].append(Span(at, load, "load", str(tile)))
        after[1].append(Span(at, load, "idle"))
        after[1].append(Span(at + load, compute, "compute", str(tile)))
        at += load + compute
    ahead[0].append(Span(0, load, "load", "0"))
    ahead[1].append(Span(0, load, "idle"))
    for tile in range(tiles):
        at = load + tile * compute
        if tile + 1 < tiles:
            ahead[0].append(Span(at, load, "load", str(tile + 1)))
        ahead[1].append(Span(at, compute, "compute", str(tile)))
    return figures.timeline(
        [
            (name, [("loads", rows[0]), ("FMAs", rows[1])])
            for name, rows in (("warp_tile", after), ("register_buffer", ahead))
        ],
        "Loads and FMAs of a block, by K-tile.",
        {"load": "on its way", "compute": "computed with", "idle": "idle"},
    )


def ring():
    """The stages of a ring: each is filled, then read, then filled again."""
    latency, compute, rows = 5, 2, 7
    begin = {row: 0 if row < STAGES - 1 else latency + (row - STAGES + 1) * compute for row in range(rows)}
    stages = []
    for stage in range(STAGES):
        spans = []
        for row in range(stage, rows, STAGES):
            read = latency + row * compute
            spans.append(Span(begin[row], latency, "load", str(row)))
            if read > begin[row] + latency:
                spans.append(Span(begin[row] + latency, read - begin[row] - latency, "full"))
            spans.append(Span(read, compute, "compute", str(row)))
        stages.append((f"stage {stage}", spans))
    alone, at = [], 0
    for row in range(2):
        alone += [Span(at, latency, "load", str(row)), Span(at + latency, compute, "compute", str(row))]
        at += latency + compute
    drawn = figures.timeline(
        [("one buffer", [("stage 0", alone)]), ("copy_ring", stages)],
        "What happens to the buffers, by row of the matrix.",
        {"load": "on its way", "full": "full", "compute": "read"},
    )
    return dataclasses.replace(drawn, scene="ring")


def fma_orders():
    """Two ways through a thread tile of 16 x 8: row by row, and down one column and up the next."""
    rows, columns, cell, top = 16, 8, 13, 24
    shapes, x = [], 1
    along = [(row, col) for row in range(rows) for col in range(columns)]
    plow = [(row if col % 2 == 0 else rows - 1 - row, col) for col in range(columns) for row in range(rows)]
    fresh = []
    for name, order in (("wide_tile", along), ("serpentine", plow)):
        shapes.append(figures.text(x, 14, f'<tspan class="mono">{name}</tspan>', 13.5))
        new = [i for i in range(1, len(order)) if order[i][0] != order[i - 1][0] and order[i][1] != order[i - 1][1]]
        fresh.append(len(new))
        for row, col in (order[0], *(order[i] for i in new)):
            shapes.append(figures.rect(x + col * cell, top + row * cell, cell, cell, roles.fill("wasted")))
        grid = "".join(f"M{x + i * cell} {top}v{rows * cell}" for i in range(1, columns))
        grid += "".join(f"M{x} {top + i * cell}h{columns * cell}" for i in range(1, rows))
        shapes.append(figures.path(grid, LINE))
        middle = [(x + (col + 0.5) * cell, top + (row + 0.5) * cell) for row, col in order]
        shapes.append(figures.path("M" + "L".join(f"{a:g} {b:g}" for a, b in middle), ACCENT, 1.5))
        shapes.append(
            figures.rect(x, top, columns * cell, rows * cell, "none", f' stroke="{MUTED}" stroke-width="1.2"')
        )
        x += columns * cell + 46
    return figures.Drawing(
        figures.svg(shapes, x - 45, top + rows * cell + 2),
        f"The thread tile of {rows} x {columns}, and the order of its FMAs. wide_tile goes along each row from left to right; "
        f"at {fresh[0]} places both the row and the column are new. serpentine goes down one column and up the next; that "
        f"happens at {fresh[1]} places.",
    )


def tile_orders():
    """The 132 tiles of C that are computed at a time, and what of A and B they take, for M = N = 8192."""
    rows, columns, working, group, shown = 64, 32, 132, 8, 12
    wide, high, gap, strip = 11, 5.5, 5, 14
    row_by_row = [divmod(tile, columns) for tile in range(working)]
    grouped = [(tile % group, tile // group) for tile in range(working)]
    shapes, said, y = [], [], 0
    right = 1 + strip + gap
    for name, tiles in (("serpentine", row_by_row), ("grouped_tiles", grouped)):
        down, across = len({row for row, _ in tiles}), len({col for _, col in tiles})
        shapes.append(figures.text(1, y + 14, f'<tspan class="mono">{name}</tspan>', 13.5))
        top, below = y + 24, y + 24 + strip + gap
        shapes.append(figures.rect(1, below, strip, down * high, roles.fill("loaded")))
        shapes.append(figures.rect(right, top, across * wide, strip, roles.fill("loaded")))
        shapes += [
            figures.rect(right + col * wide, below + row * high, wide, high, roles.fill("computing"))
            for row, col in tiles
        ]
        grid = "".join(f"M{right + i * wide} {below}v{shown * high}" for i in range(1, columns))
        grid += "".join(f"M{right} {below + i * high}h{columns * wide}" for i in range(1, shown))
        shapes.append(figures.path(grid, LINE, 0.8))
        shapes += [
            figures.rect(*place, "none", f' stroke="{MUTED}" stroke-width="1.2"')
            for place in (
                (1, below, strip, shown * high),
                (right, top, columns * wide, strip),
                (right, below, columns * wide, shown * high),
            )
        ]
        said.append(f"{name}: those are in {down} rows and {across} columns of tiles.")
        y = below + shown * high + 16
    return figures.Drawing(
        figures.svg(shapes, right + columns * wide + 1, y - 14),
        f"The first {shown} of {rows} rows of C's tiles, {columns} in each, A to their left and B above them; {working} tiles "
        f"are at work at a time. {' '.join(said)}",
    )


def draw(_simulated, _source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (
            None,
            "ahead",
            one_buffer_and_two(),
            "A block by itself, schematically. The numbers are K-tiles.",
        ),
        (
            None,
            "ring",
            ring(),
            "Stages over time; the numbers are rows. A single buffer waits for the whole latency of each row.",
        ),
        (
            None,
            "fma-orders",
            fma_orders(),
            "The order of the 128 FMAs of a step. Filled: both the element of A and that of B are new.",
        ),
        (
            None,
            "tile-orders",
            tile_orders(),
            "Upper rows of C for M = N = 8192: the first 132 tiles, and the rows of A and columns of B that they take.",
        ),
    ]
