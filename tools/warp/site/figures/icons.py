"""A small picture of what each chapter is about, 120 x 64, for its card. It says nothing that the card's words do not."""

from __future__ import annotations

from warp.site.figures.drawing import ACCENT, LINE, MUTED, SECOND, SOFT, circle, path, rect

WIDTH, HEIGHT = 120, 64


def _grid(
    x: float, y: float, columns: int, rows: int, cell: float, fills: dict | None = None, ground: str = SOFT
) -> str:
    """Cells with a gap between them; `fills` has the colours of some: {(column, row): colour}."""
    fills = fills or {}
    by_colour: dict[str, str] = {}
    for row in range(rows):
        for column in range(columns):
            colour = fills.get((column, row), ground)
            by_colour[colour] = (
                by_colour.get(colour, "") + f"M{x + column * cell:g} {y + row * cell + cell / 2 - 0.5:g}h{cell - 1:g}"
            )
    return "".join(path(commands, colour, cell - 1) for colour, commands in by_colour.items())


def _bars(bars: list[tuple[float, float, float, str]], high: float = 8) -> str:
    return "".join(rect(x, y, width, high, colour, ' rx="1.5"') for x, y, width, colour in bars)


def _tree() -> str:
    lines, dots = "", ""
    for level in range(4):
        step = 14 * 2**level
        for at in range(0, 8, 2**level):
            x, y = 11 + at * 14, 8 + level * 16
            dots += rect(x - 4, y - 4, 8, 8, ACCENT if level == 3 else SOFT if level == 0 else MUTED, ' rx="1"')
            if level:
                lines += f"M{x} {y - 4}v-8M{x} {y - 4}L{x + step / 2:g} {y - 12}"
    return path(lines, LINE, 1.4) + dots


def _sweep() -> str:
    heights = (6, 9, 18, 24, 27, 38, 42, 52)
    return "".join(
        rect(6 + 14 * i, 58 - high, 11, high, ACCENT if i == 7 else MUTED if i % 2 else SOFT)
        for i, high in enumerate(heights)
    )


PICTURES = {
    "thread_indexing": lambda: _grid(4, 4, 14, 7, 8, {(column, 2): ACCENT for column in range(8)}),
    "naive_gemm": lambda: _grid(2, 20, 5, 5, 7, {(c, 2): ACCENT for c in range(5)})
    + _grid(43, 20, 5, 5, 7, {(2, r): ACCENT for r in range(5)}) + _grid(84, 20, 5, 5, 7, {(2, 2): SECOND}),
    "shared_tiling": lambda: _grid(2, 4, 8, 8, 7, {(c, r): ACCENT for c in (4, 5) for r in (2, 3)})
    + _grid(80, 18, 4, 4, 8, ground=ACCENT) + path("M60 28h14m-5-4l5 4l-5 4", MUTED, 1.6),
    "register_tiling": lambda: _grid(36, 4, 6, 1, 9, ground=SECOND) + _grid(22, 15, 1, 5, 9, ground=SECOND)
    + _grid(36, 15, 6, 5, 9, ground=ACCENT),
    "bank_conflicts": lambda: _grid(4, 52, 14, 1, 8, ground=MUTED)
    + _grid(4, 12, 14, 5, 8, {**{(2, r): SECOND for r in range(5)}, **{(9, r): SECOND for r in range(5)}}, "none"),
    "transpose": lambda: _grid(4, 12, 5, 5, 8, {(c, 1): ACCENT for c in range(5)})
    + path("M52 32h14m-5-4l5 4l-5 4", MUTED, 1.6) + _grid(74, 12, 5, 5, 8, {(1, r): ACCENT for r in range(5)}),
    "reductions": _tree,
    "scan": _sweep,
    "renderer": lambda: "".join(
        circle(*of, ' fill-opacity="0.6"') for of in ((46, 28, 22, ACCENT), (68, 38, 20, SECOND), (80, 22, 16, MUTED))),
    "sass_inspection": lambda: _bars([(6, 6, 60, SOFT), (6, 20, 44, ACCENT), (6, 34, 52, SOFT), (6, 48, 30, SOFT),
                                      (76, 6, 36, SOFT), (76, 16, 36, ACCENT), (76, 26, 36, ACCENT), (76, 36, 36, ACCENT),
                                      (76, 48, 36, SOFT)]),
    "pipelines": lambda: _bars([(4, 8, 26, SECOND), (32, 8, 26, SECOND), (60, 8, 26, SECOND), (32, 26, 26, ACCENT),
                                (60, 26, 26, ACCENT), (88, 26, 26, ACCENT), (4, 46, 110, SOFT)], 12),
    "past_cublas": lambda: "".join(rect(6 + 19 * i, 60 - h, 15, h, ACCENT if h > 44 else SOFT) for i, h in
                                   enumerate((6, 14, 30, 38, 43, 52))) + path("M0 16H120", SECOND, 2),
    "any_shape": lambda: _grid(4, 4, 3, 8, 7, ground=ACCENT) + _grid(32, 32, 12, 4, 7) + _grid(32, 4, 12, 2, 7, ground=MUTED),
    "segments_and_sorts": lambda: _bars([(6, 4, 104, SOFT), (6, 16, 22, ACCENT), (6, 28, 62, SOFT), (6, 40, 8, ACCENT),
                                         (6, 52, 84, SOFT)]),
    "stencils": lambda: _grid(20, 4, 8, 6, 10, {(3, 2): SECOND, (3, 1): ACCENT, (3, 3): ACCENT, (2, 2): ACCENT, (4, 2): ACCENT}),
    "convolution": lambda: _grid(4, 4, 8, 8, 7, {(c, r): ACCENT for c in (2, 3, 4) for r in (2, 3, 4)})
    + path("M66 32h14m-5-4l5 4l-5 4", MUTED, 1.6) + rect(90, 24, 16, 16, SECOND, ' rx="2"'),
    "tensor_cores": lambda: _grid(2, 12, 4, 5, 8, ground=ACCENT) + _grid(42, 12, 4, 5, 8, ground=SECOND)
    + _grid(84, 12, 4, 5, 8, ground=MUTED),
    "transfers": lambda: _bars([(4, 6, 34, SECOND), (40, 6, 34, SECOND), (24, 25, 30, ACCENT), (60, 25, 30, ACCENT),
                                (44, 44, 34, MUTED), (80, 44, 34, MUTED)], 13),
}  # fmt: skip


def icon(folder: str) -> str:
    """The picture of chapters/NN_name; of a chapter that has none, a ladder."""
    draw = PICTURES.get(folder.partition("_")[2])
    shapes = (
        draw()
        if draw
        else _bars([(6, 4 + 12 * i, 104 * part, ACCENT) for i, part in enumerate((0.2, 0.3, 0.5, 0.8, 1))])
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" aria-hidden="true" focusable="false">{shapes}</svg>'
