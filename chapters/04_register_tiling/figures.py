"""The drawing of chapter 04: one thread's way from global memory over shared memory to its registers."""

from warp.chapter import results
from warp.site import figures
from warp.site.figures import roles

LADDER = "GFLOP/s"
ROOFLINE = True
STAIR = ("register tiles,", "float4 loads")

FOREGROUND, MUTED, LINE, SOFT, ACCENT = (
    f"var(--draw-{name})" for name in ("foreground", "muted", "line", "soft", "computing")
)
THREAD = 18
TILE, DEPTH, SIDE = 128, 8, 8  # elements: of a block's tile, of a K-tile, of a thread's square


def text(x, y, words, size=12, colour=FOREGROUND, anchor="start"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def box(x, y, width, height, fill, stroke="none"):
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="1.2"/>'
    )


def tiles(x, title, marks, square):
    """The K-tiles of A and B beside the block's tile of C, to scale but for the depth; with marks in A and B."""
    unit, deep, top = 1.4, 3, 40
    side, strip = TILE * unit, DEPTH * deep
    left, right, below = x, x + strip + 6, top + strip + 6
    shapes = [text(x, 14, title, 13.5)]
    (a_row, a_col, a_rows, a_cols), (b_row, b_col, b_rows, b_cols) = marks["places"]
    shapes += [
        box(left + a_col * deep, below + a_row * unit, a_cols * deep, max(a_rows * unit, 3), marks["fill"]),
        box(right + b_col * unit, top + b_row * deep, b_cols * unit, max(b_rows * deep, 3), marks["fill"]),
    ]
    if square:
        shapes.append(box(right + square[1] * unit, below + square[0] * unit, SIDE * unit, SIDE * unit, ACCENT))
    shapes += [
        box(left, below, strip, side, "none", MUTED),
        box(right, top, side, strip, "none", MUTED),
        box(right, below, side, side, "none", MUTED),
    ]
    shapes += [
        text(right + side / 2, below + side / 2 + 30, marks["middle"], 12, MUTED, "middle"),
        text(left, below + side + 15, marks["a"], 11.5),
        text(right + strip, top - 6, marks["b"], 11.5),
    ]
    return "".join(shapes)


def registers(x, square):
    """The thread's registers: a column of A, a row of B, and the square of sums."""
    cell, top = 17, 62
    shapes = [text(x, 14, f"registers of thread {THREAD}", 13.5)]
    left, below = x + 34, top + cell + 5
    for i in range(SIDE):
        shapes += [
            box(x + 8, below + i * cell, cell, cell, SOFT, LINE),
            text(x + 16.5, below + i * cell + 12.5, f"a{i}", 11, anchor="middle"),
            box(left + i * cell, top, cell, cell, SOFT, LINE),
            text(left + (i + 0.5) * cell, top + 12.5, f"b{i}", 11, anchor="middle"),
        ]
        shapes += [box(left + j * cell, below + i * cell, cell, cell, ACCENT, LINE) for j in range(SIDE)]
    row, col = square
    shapes += [
        text(x, 40, "8 + 8 floats, 64 sums", 12, MUTED),
        text(left, below + SIDE * cell + 16, f"C({row}, {col}) to C({row + SIDE - 1}, {col + SIDE - 1})", 11.5),
    ]
    return "".join(shapes)


def draw(simulated, source):
    """(rung, name, drawing, caption) of each."""

    def written(line, per_row):
        """Row and column of where a thread wrote its number, in an array of so many columns."""
        at = results.examples_of(simulated, "thread_map", source, line, 0)[0]["addresses"]
        return divmod(at[THREAD] // 4, per_row)

    a_row, a_four = written("loads_a[", DEPTH // 4)
    b_row, b_four = written("loads_b[", TILE // 4)
    row, col = (SIDE * place for place in written("computes[", TILE // SIDE))

    loads = {
        "places": ((a_row, 4 * a_four, 1, 4), (b_row, 4 * b_four, 1, 4)),
        "fill": roles.fill("loaded"),
        "middle": "C",
        "a": f"A({a_row}, {4 * a_four}..{4 * a_four + 3})",
        "b": f"B({b_row}, {4 * b_four}..{4 * b_four + 3})",
    }
    reads = {
        "places": ((row, 0, SIDE, DEPTH), (0, col, DEPTH, SIDE)),
        "fill": roles.fill("shared"),
        "middle": "C",
        "a": f"rows {row} to {row + 7}",
        "b": f"columns {col} to {col + 7}",
    }
    panels = [
        tiles(2, "global: it loads", loads, None),
        tiles(248, "shared: it reads", reads, (row, col)),
        registers(494, (row, col)),
    ]
    wide = (
        f'<svg viewBox="0 0 672 270" style="max-width: 672px" xmlns="http://www.w3.org/2000/svg">'
        f"{''.join(panels)}</svg>"
    )
    stacked = "".join(
        f'<g transform="translate({-x} {270 * i})">{panel}</g>'
        for i, (x, panel) in enumerate(zip((0, 246, 492), panels))
    )
    narrow = f'<svg viewBox="0 0 240 810" style="max-width: 240px" xmlns="http://www.w3.org/2000/svg">{stacked}</svg>'
    alt = (
        f"The way of thread {THREAD}, in three drawings. Global memory: of a K-tile of A, 128 x 8, it loads elements "
        f"({a_row}, {4 * a_four}) to ({a_row}, {4 * a_four + 3}), and of B's, 8 x 128, elements ({b_row}, {4 * b_four}) to "
        f"({b_row}, {4 * b_four + 3}). Shared memory: it reads rows {row} to {row + 7} of A's tile and columns {col} to "
        f"{col + 7} of B's. Registers: 8 floats of A, 8 of B, and the 64 sums C({row}, {col}) to C({row + 7}, {col + 7})."
    )
    caption = (
        f"Thread {THREAD}, from what <code>thread_map</code> wrote: what it loads for everybody, what it reads of what "
        f"everybody has loaded, and what it keeps. The depth of the K-tiles is drawn larger than it is."
    )
    square = {"BM": TILE, "BN": TILE, "BK": DEPTH, "TM": SIDE, "TN": SIDE}
    kernels = [
        ("04_register_tiling", "wide_reads", {"BM": 32, "BN": 32, "BK": 32, "TM": 1, "TN": 1}),
        ("04_register_tiling", "thread_tile_1d", {"BM": 64, "BN": 64, "BK": 8, "TM": 8, "TN": 1}),
        ("04_register_tiling", "thread_tile_2d", square),
        ("04_register_tiling", "k_tile_depth/BK=32", {**square, "BK": 32}),
    ]
    among = {"BM": (16, 256), "BN": (16, 256), "BK": (4, 64), "TM": (1, 16), "TN": (1, 16)}
    return [
        (
            "thread_map",
            "places",
            figures.Drawing(wide, alt, narrow),
            caption.replace("<code>", "`").replace("</code>", "`"),
        ),
        (
            None,
            "walk",
            figures.measured_walk(square, source.parent.parent, kernels, among=among, wide=True),
            "A block of `thread_tile_2d` on its walk along K, and what bounds it. Other sizes move the dot.",
        ),
        (
            None,
            "budget",
            figures.resident(256, 128, 8),
            "An SM with blocks of 256 threads and 128 registers a thread. With one register more the second block has no room.",
        ),
    ]
