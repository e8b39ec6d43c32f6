"""The drawings of chapter 16: a layer, the matrix of windows, a table of taps, Winograd's three steps and points, the order for a pool,
chunks of channels."""

from warp.site import figures
from warp.site.figures import ACCENT, LINE, MUTED, SECOND, SOFT

LADDER = "GFLOP/s"

CELL = 16


def grid(x, y, columns, rows, cell=CELL):
    upright = "".join(f"M{x + i * cell:g} {y:g}v{rows * cell:g}" for i in range(columns + 1))
    across = "".join(f"M{x:g} {y + i * cell:g}h{columns * cell:g}" for i in range(rows + 1))
    return figures.path(upright + across, LINE)


def label(x, y, words, anchor="middle"):
    return figures.text(x, y, words, 12, MUTED, anchor)


def arrow(x, y, length):
    return figures.path(f"M{x} {y}h{length}m-6 -4l6 4l-6 4", MUTED, 1.4)


def layer():
    """Channels of an image, two filters, and the channel that each of them makes."""
    shapes = []
    for c in (2, 1, 0):
        x, y = 8 + c * 12, 32 - c * 12
        shapes.append(figures.rect(x, y, 7 * CELL, 6 * CELL, SOFT))
        shapes.append(figures.rect(x + 2 * CELL, y + CELL, 3 * CELL, 3 * CELL, ACCENT))
        shapes.append(grid(x, y, 7, 6))
    shapes.append(label(8, 148, "an image: C channels", "start"))
    for k, (y, fill) in enumerate(((8, SECOND), (76, ACCENT))):
        for c in (2, 1, 0):
            shapes.append(figures.rect(208 + c * 7, y + 14 - c * 7, 3 * CELL, 3 * CELL, SOFT if k == 0 else fill))
            shapes.append(grid(208 + c * 7, y + 14 - c * 7, 3, 3))
        shapes.append(arrow(284, y + 32, 40))
    shapes.append(label(239, 156, "K filters, C deep"))
    for k in (1, 0):
        x, y = 352 + k * 16, 36 - k * 16
        shapes.append(figures.rect(x, y, 5 * CELL, 4 * CELL, SOFT))
        if k == 0:
            shapes.append(figures.rect(x + 2 * CELL, y + CELL, CELL, CELL, ACCENT))
        shapes.append(grid(x, y, 5, 4))
    shapes.append(label(352 + 3 * CELL, 148, "results: K channels"))
    return figures.Drawing(
        figures.svg(shapes, 470, 164),
        "An image with three channels. A window of 3 x 3 pixels is marked in all of them. One of two filters, as deep as the image, "
        "is multiplied by it, and the sum is one pixel of that filter's channel of the results.",
    )


def columns():
    """Filters as rows, windows as columns, and their product."""
    terms, filters, pixels = 6, 4, 14
    left, top = 8, 8
    shapes = [figures.rect(left, top + terms * CELL + 16, terms * CELL, filters * CELL, SOFT)]
    shapes.append(figures.rect(left, top + terms * CELL + 16 + CELL, terms * CELL, CELL, ACCENT))
    shapes.append(grid(left, top + terms * CELL + 16, terms, filters))
    x = left + terms * CELL + 24
    shapes.append(figures.rect(x, top, pixels * CELL, terms * CELL, SOFT))
    shapes.append(figures.rect(x + 5 * CELL, top, CELL, terms * CELL, ACCENT))
    shapes.append(grid(x, top, pixels, terms))
    y = top + terms * CELL + 16
    shapes.append(figures.rect(x + 5 * CELL, y + CELL, CELL, CELL, ACCENT))
    shapes.append(grid(x, y, pixels, filters))
    right = x + pixels * CELL + 12
    shapes.append(label(right, top + 3 * CELL, "windows: C R S rows, a column for each pixel", "start"))
    shapes.append(label(right, y + 2 * CELL + 4, "results: a row for each filter", "start"))
    shapes.append(label(left, y + filters * CELL + 18, "filters: C R S weights a row", "start"))
    return figures.Drawing(
        figures.svg(shapes, right + 300, y + filters * CELL + 26),
        "A product of matrices. On the left the filters, one a row. Above on the right the windows, one a column. Below them the results: "
        "the marked one is the product of the marked row and the marked column.",
    )


def taps():
    """A table of taps beside the window that it describes."""
    shapes = [grid(8, 8, 6, 5)]
    first = (8 + CELL, 8 + CELL)
    places = [(r, s) for r in range(3) for s in range(3)]
    for r, s in places:
        fill = SECOND if (r, s) == (0, 0) else ACCENT if (r, s) == (1, 2) else SOFT
        shapes.append(figures.rect(first[0] + s * CELL, first[1] + r * CELL, CELL, CELL, fill))
    shapes.append(grid(8, 8, 6, 5))
    shapes.append(label(8 + 3 * CELL, 8 + 5 * CELL + 18, "a window, W = 6"))
    x, step = 190, 46
    for row, name in enumerate(("t", "offset", "r, s")):
        shapes.append(label(x - 10, 28 + row * 24, name, "end"))
    for t, (r, s) in enumerate(places):
        at = x + t * step
        fill = SECOND if t == 0 else ACCENT if t == 5 else SOFT
        shapes.append(figures.rect(at, 36, step - 6, 22, fill))
        shapes.append(figures.text(at + step / 2 - 3, 28, str(t), 12, MUTED, "middle"))
        shapes.append(figures.text(at + step / 2 - 3, 52, str(6 * r + s), 12, anchor="middle"))
        shapes.append(figures.text(at + step / 2 - 3, 76, f"{r}, {s}", 12, MUTED, "middle"))
    return figures.Drawing(
        figures.svg(shapes, x + 9 * step + 4, 112),
        "A window of 3 x 3 pixels in an image that is 6 pixels wide, and the table of its taps: tap 0 has offset 0, tap 5, in row 1 and "
        "column 2, has offset 8. The table is the same for all windows.",
    )


def winograd():
    """Tiles to planes, products of planes, planes to tiles."""
    shapes = []
    for tile in range(2):
        x, y = 8 + tile * 2 * CELL, 20
        shapes.append(figures.rect(x, y, 4 * CELL, 4 * CELL, ACCENT if tile == 0 else SOFT))
    shapes.append(figures.rect(8 + 2 * CELL, 20, 2 * CELL, 4 * CELL, SECOND))
    shapes.append(grid(8, 20, 6, 4))
    shapes.append(label(8 + 3 * CELL, 104, "tiles overlap"))
    shapes.append(arrow(122, 52, 46))
    shapes.append(label(146, 42, "B"))
    for group, words in ((0, "16 planes of pixels"), (1, "16 planes of products")):
        left = 190 + group * 170
        for plane in (3, 2, 1, 0):
            shapes.append(figures.rect(left + plane * 9, 32 - plane * 7, 5 * CELL, 3 * CELL, SOFT if plane else ACCENT))
            shapes.append(grid(left + plane * 9, 32 - plane * 7, 5, 3))
        shapes.append(label(left + 3 * CELL, 104, words))
        shapes.append(arrow(left + 116, 52, 42))
        shapes.append(label(left + 136, 42, ("x U", "A")[group]))
    x = 534
    shapes.append(figures.rect(x, 36, 2 * CELL, 2 * CELL, ACCENT))
    shapes.append(figures.rect(x + 2 * CELL, 36, 2 * CELL, 2 * CELL, SOFT))
    shapes.append(grid(x, 36, 4, 2))
    shapes.append(label(x + 2 * CELL, 104, "2 x 2 results each"))
    return figures.Drawing(
        figures.svg(shapes, x + 4 * CELL + 36, 116),
        "Tiles of 4 x 4 pixels overlap by two columns. Their transforms fill 16 planes, one for each element of a tile. Each plane is "
        "multiplied by the filters' plane U, and what comes out is transformed to 2 x 2 results for each tile.",
    )


def points():
    """Which points each of Winograd's products evaluates at, and what a result costs in two dimensions."""
    names = ("-2", "-1", "-1/2", "0", "1/2", "1", "2", "infinity")
    rows = (
        ("F(2, 3)", "16 / 4 = 4", (1, 3, 5, 7)),
        ("F(4, 3)", "36 / 16 = 2.25", (0, 1, 3, 5, 6, 7)),
        ("F(2, 5)", "36 / 4 = 9", (0, 1, 3, 5, 6, 7)),
        ("F(4, 5)", "64 / 16 = 4", range(8)),
    )
    left, step, high = 76, 48, 34
    shapes = [label(left + i * step, 16, name) for i, name in enumerate(names)]
    shapes.append(label(left + 8 * step + 16, 16, "products for a result", "start"))
    for row, (name, cost, used) in enumerate(rows):
        y = 40 + row * high
        shapes.append(figures.text(0, y + 5, name, 13.5))
        shapes.append(figures.path(f"M{left} {y}h{6 * step}", LINE))
        for i in used:
            shapes.append(
                f'<circle cx="{left + i * step}" cy="{y}" r="7" fill="{SECOND if name[-2] == "5" else ACCENT}"/>'
            )
        shapes.append(figures.text(left + 8 * step + 16, y + 5, cost, 13))
    return figures.Drawing(
        figures.svg(shapes, left + 8 * step + 150, 24 + 4 * high),
        "F(2, 3) evaluates at -1, 0, 1 and infinity; F(4, 3) and F(2, 5) at -2 and 2 as well; F(4, 5) at -1/2 and 1/2 as well. In two "
        "dimensions a result takes 4, 2.25, 9 and 4 products for each channel.",
    )


def pools():
    """The order of columns for a pool."""
    shapes = []
    for number, (words, order) in enumerate(
        (
            ("in the order of the image", [4 * y + x for y in range(4) for x in range(4)]),
            ("pool by pool", [(y // 2 * 2 + x // 2) * 4 + y % 2 * 2 + x % 2 for y in range(4) for x in range(4)]),
        )
    ):
        left, cell = 30 + number * 210, 26
        for at, j in enumerate(order):
            x, y = left + at % 4 * cell, 8 + at // 4 * cell
            shapes.append(figures.rect(x, y, cell, cell, ACCENT if j < 4 else SOFT))
            shapes.append(figures.text(x + cell / 2, y + 17, str(j), 12, anchor="middle"))
        shapes.append(grid(left, 8, 4, 4, cell))
        shapes.append(label(left + 2 * cell, 8 + 4 * cell + 18, words))
    return figures.Drawing(
        figures.svg(shapes, 380, 140),
        "The results of an image of 4 x 4, numbered as columns of the product. In the order of the image columns 0 to 3 are its first row. "
        "Pool by pool they are the first 2 x 2 results.",
    )


def chunks():
    """A tap of a window, the chunks of its pixel, and where a thread's chunks go in a tile."""
    shapes = []
    for r in range(3):
        for s in range(3):
            fill = ACCENT if (r, s) == (1, 2) else SOFT
            shapes.append(figures.rect(8 + (1 + s) * CELL, 8 + (1 + r) * CELL, CELL, CELL, fill))
    shapes.append(grid(8, 8, 6, 5))
    shapes.append(label(8 + 3 * CELL, 8 + 8 * CELL + 18, "a window"))
    shapes.append(arrow(118, 48, 40))
    x, wide = 176, 34
    for chunk in range(4):
        shapes.append(figures.rect(x + chunk * wide, 38, wide, 20, ACCENT if chunk == 1 else SOFT))
        shapes.append(figures.path(f"M{x + chunk * wide} 38h{wide}v20h-{wide}z", LINE))
    shapes.append(label(x + 2 * wide, 8 + 8 * CELL + 18, "a pixel: C / 8 chunks"))
    shapes.append(arrow(x + 4 * wide + 14, 48, 40))
    left = x + 4 * wide + 72
    for row in (1, 5):
        shapes.append(figures.rect(left + 2 * CELL, 8 + row * CELL, CELL, CELL, ACCENT if row == 1 else SECOND))
    shapes.append(grid(left, 8, 8, 8))
    shapes.append(label(left + 4 * CELL, 8 + 8 * CELL + 18, "a K-tile: windows of 8 chunks"))
    return figures.Drawing(
        figures.svg(shapes, left + 8 * CELL + 40, 8 + 8 * CELL + 28),
        "A window of 3 x 3 pixels; the pixel of one tap has four chunks of eight channels. One of them goes to a row of the tile, which "
        "has eight chunks for each window. The same thread copies the same chunk of a window further down.",
    )


def draw(simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (None, "layer", layer(), "One result: a window of all channels times one filter."),
        (None, "columns", columns(), "A layer as a product. Filled: one filter, one window, and their result."),
        (None, "taps", taps(), "The taps of a window, and their table for one channel. All windows share it."),
        (
            None,
            "winograd",
            winograd(),
            "F(2 x 2, 3 x 3): transform, multiply element by element of a tile, transform back.",
        ),
        (
            None,
            "points",
            points(),
            "The points of each pair of tile and filter. Filled in another colour: filters of five taps.",
        ),
        (None, "chunks", chunks(), "A thread's chunks: the same tap and channels, of several windows."),
        (None, "pools", pools(), "The columns of the product, numbered. A thread's four neighbours are filled."),
    ]
