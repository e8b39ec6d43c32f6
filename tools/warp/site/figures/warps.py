"""Where the lanes of a warp stand, and what they load."""

from __future__ import annotations

from warp.site.figures.drawing import FOREGROUND, LINE, MUTED, SOFT, Drawing, escape, halo, mono, path, rect, svg, text
from warp.site.figures.roles import fill

Places = list[tuple[int, int]]  # row and column of each lane


def rows_of(places: Places) -> str:
    """The lanes row by row."""
    return "; ".join(
        " ".join(str(lane) for _, lane in sorted((col, lane) for lane, (r, col) in enumerate(places) if r == row))
        for row in sorted({row for row, _ in places})
    )


def lane_map(warps: list[tuple[str, Places, set[int]]]) -> Drawing:
    """How the lanes of a warp stand. Each warp: words above it, row and column of each lane from 0 on, and the lanes
    that are marked."""
    cell, shapes, y, widest, sentences = 22, [], 0.0, 0, []
    for name, places, marked in warps:
        y += 15
        shapes.append(text(0, y, escape(name), 13.5))
        y += 8
        for lane, (row, col) in enumerate(places):
            x1, y1 = 1 + col * cell, y + row * cell
            paint, ink, more = (fill("shared"), FOREGROUND, halo(4)) if lane in marked else ("none", MUTED, "")
            shapes.append(rect(x1, y1, cell - 3, cell - 3, paint, f' rx="3" stroke="{LINE}"'))
            shapes.append(text(x1 + (cell - 3) / 2, y1 + 14, str(lane), 11.5, ink, "middle", more))
        y += len({row for row, _ in places}) * cell + 10
        widest = max(widest, *(col + 1 for _, col in places))
        sentences.append(f"{name}: row by row, lanes {rows_of(places)}.")
    width = widest * cell + 1
    return Drawing(svg(shapes, width, y - 8), "How the lanes of a warp stand. " + " ".join(sentences))


def warp_map(orders: list[tuple[str, Places]], loads_a: Places, loads_b: Places) -> Drawing:
    """What warp 0 of a block loads, reads and computes, to scale: B's K-tile above the tile of C and A's to the left of
    it. Each order: its name, and row and column of each lane among the tile's 16 x 16 places of 8 x 8 elements.
    `loads_a`, `loads_b`: row and column of each lane's float4 in the tiles of 128 x 8 and 8 x 128 elements."""
    pitch, gap, title = 18, 7, 22
    unit, side = pitch / 8, 16 * pitch
    across = pitch + gap + side  # of one of the drawings

    def one(name: str, places: Places, x: float, y: float) -> str:
        shapes = [text(x, y + 14, mono(name), 13.5)]
        right, top = x + pitch + gap, y + title
        below = top + pitch + gap

        def box(at_x: float, at_y: float, width: float, height: float, paint: str) -> None:
            shapes.append(rect(at_x, at_y, width, height, paint))

        for row in sorted({row for row, _ in places}):  # what it reads in each step along K
            box(x, below + row * pitch, pitch, pitch, SOFT)
        for col in sorted({col for _, col in places}):
            box(right + col * pitch, top, pitch, pitch, SOFT)
        for row, vector in loads_a:
            box(x + 4 * vector * unit, below + row * unit, 4 * unit, unit, fill("loaded"))
        for row, vector in loads_b:
            box(right + 4 * vector * unit, top + row * unit, 4 * unit, unit, fill("loaded"))
        lines = "".join(
            f"M{right + i * pitch:g} {below:g}v{side}M{right:g} {below + i * pitch:g}h{side}" for i in range(1, 16)
        )
        shapes.append(path(lines, LINE))
        for lane, (row, col) in enumerate(places):
            box(right + col * pitch + 1, below + row * pitch + 1, pitch - 2, pitch - 2, SOFT)
            shapes.append(text(right + (col + 0.5) * pitch, below + row * pitch + 13, str(lane), 11, anchor="middle"))
        for at_x, at_y, width, height in (
            (x, below, pitch, side),
            (right, top, side, pitch),
            (right, below, side, side),
        ):
            shapes.append(rect(at_x, at_y, width, height, "none", f' stroke="{MUTED}" stroke-width="1.2"'))
        return "".join(shapes)

    def draw(columns: int) -> str:
        step_x, step_y = across + 26, title + across + 14
        shapes = [
            one(name, places, 1 + i % columns * step_x, i // columns * step_y)
            for i, (name, places) in enumerate(orders)
        ]
        width, height = columns * step_x - 24, -(-len(orders) // columns) * step_y - 12
        return svg(shapes, width, height)

    def span(numbers: list[int]) -> str:
        low, high = min(numbers), max(numbers)
        return f"row {low}" if low == high else f"rows {low} to {high}"

    alt = (
        f"What warp 0 loads, reads and computes. It loads {span([row for row, _ in loads_a])} of A's K-tile and "
        f"{span([row for row, _ in loads_b])} of B's. "
        + " ".join(
            f"{name}: {len({row for row, _ in places})} x {len({col for _, col in places})} places, row by row lanes "
            f"{rows_of(places)}."
            for name, places in orders
        )
    )
    return Drawing(draw(2), alt, draw(1))
