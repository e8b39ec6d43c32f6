"""The drawings of chapter 17: who holds which element, a swizzled tile, and the way of a tile on Hopper."""

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT

LADDER = "GFLOP/s"
LIMITERS = "beside"

CELL = 18


def grid(x, y, columns, rows, cell=CELL):
    upright = "".join(f"M{x + i * cell:g} {y:g}v{rows * cell:g}" for i in range(columns + 1))
    across = "".join(f"M{x:g} {y + i * cell:g}h{columns * cell:g}" for i in range(rows + 1))
    return figures.path(upright + across, LINE)


def matrix(shapes, name, x, y, rows, columns, holder, chosen):
    """A matrix whose elements have the numbers of the lanes that hold them; those of lane `chosen` are filled."""
    shapes.append(figures.text(x, y - 8, name, 13.5))
    for row in range(rows):
        for column in range(columns):
            lane = holder(row, column)
            mine = lane == chosen
            at_x, at_y = x + column * CELL, y + row * CELL
            if mine:
                shapes.append(figures.rect(at_x, at_y, CELL, CELL, ACCENT))
            elif row < 8 and column < 8:
                shapes.append(figures.rect(at_x, at_y, CELL, CELL, SOFT))
            shapes.append(figures.text(at_x + CELL / 2, at_y + 13, str(lane), 11, GROUND if mine else MUTED, "middle"))
    shapes.append(grid(x, y, columns, rows))


def fragments():
    """A, B and D of one mma.sync.m16n8k16, as B stands above D and A beside it."""
    shapes = []
    left, top = 0, 24
    b_rows = 16
    matrix(shapes, "A, 16 x 16", left, top + b_rows * CELL + 40, 16, 16, lambda r, c: r % 8 * 4 + c % 8 // 2, 21)
    x = left + 16 * CELL + 34
    matrix(shapes, "B, 16 x 8", x, top, 16, 8, lambda r, c: c * 4 + r % 8 // 2, 21)
    matrix(shapes, "D, 16 x 8", x, top + b_rows * CELL + 40, 16, 8, lambda r, c: r % 8 * 4 + c // 2, 21)
    shapes.append(figures.text(left, top + 60, "Each number is a lane.", 13, MUTED))
    shapes.append(figures.text(left, top + 80, "Filled: the elements of lane 21,", 13, MUTED))
    shapes.append(figures.text(left, top + 100, "which is in group 5 and has place 1.", 13, MUTED))
    shapes.append(figures.text(left, top + 120, "Shaded: the first register of each lane.", 13, MUTED))
    width, height = x + 8 * CELL + 2, top + 2 * b_rows * CELL + 42
    return figures.Drawing(
        figures.svg(shapes, width, height),
        "Three matrices with the number of the lane that holds each element. In A and D the lane is four times the row, modulo "
        "8, plus the pair of columns. In B it is four times the column plus the pair of rows. Lane 21 holds eight elements of A "
        "in rows 5 and 13, four of B in column 5 and four of D in rows 5 and 13.",
    )


def swizzle():
    """Eight rows of 128 bytes, chunk by chunk, in order and swizzled; the chunks of one column are filled."""
    shapes, cell, chosen = [], 34, 2
    for number, (title, turned) in enumerate((("rows in order", False), ("swizzled", True))):
        x, y = 64 + number * (8 * cell + 40), 40
        shapes.append(figures.text(x, y - 22, title, 13.5))
        for place in range(8):
            shapes.append(figures.text(x + place * cell + cell / 2, y - 6, f"{4 * place}", 11, MUTED, "middle"))
        for row in range(8):
            if number == 0:
                shapes.append(figures.text(0, y + row * cell + 21, f"row {row}", 12, MUTED))
            for place in range(8):
                chunk = place ^ row if turned else place
                mine = chunk == chosen
                if mine:
                    shapes.append(figures.rect(x + place * cell, y + row * cell, cell, cell, ACCENT))
                shapes.append(
                    figures.text(
                        x + place * cell + cell / 2,
                        y + row * cell + 21,
                        str(chunk),
                        12,
                        GROUND if mine else FOREGROUND,
                        "middle",
                    )
                )
        shapes.append(grid(x, y, 8, 8, cell))
    width = 64 + 2 * 8 * cell + 40 + 2
    return figures.Drawing(
        figures.svg(shapes, width, 40 + 8 * cell + 4),
        "Two tiles of eight rows with eight chunks of 16 bytes. With rows in order, chunk 2 of all rows lies in banks 8 to 11. "
        "Swizzled, it lies in another four banks in every row.",
    )


def hopper():
    """The warps of a block of the last rungs, and what goes between them."""
    shapes, top, high = [], 30, 46
    boxes = [(0, 120, "producer", "one thread asks"), (206, 150, "ring", "four stages"), (450, 170, "", "")]
    for x, wide, name, words in boxes[:2]:
        fill = SOFT
        shapes.append(figures.rect(x, top + 22, wide, high + 18, fill, f' rx="6" stroke="{MUTED}"'))
        shapes.append(figures.text(x + wide / 2, top + 48, name, 13, FOREGROUND, "middle"))
        shapes.append(figures.text(x + wide / 2, top + 67, words, 11.5, MUTED, "middle"))
    x, wide, _, _ = boxes[2]
    for number in range(2):
        y = top + number * (high + 12)
        shapes.append(figures.rect(x, y, wide, high, SOFT, f' rx="6" stroke="{ACCENT}" stroke-width="1.5"'))
        shapes.append(figures.text(x + wide / 2, y + 20, f"warpgroup {number + 1}", 13, FOREGROUND, "middle"))
        words = f"rows {64 * number} to {64 * number + 63}, 64 x 256"
        shapes.append(figures.text(x + wide / 2, y + 37, words, 11.5, MUTED, "middle"))
    middle = top + 22 + (high + 18) / 2
    shapes.append(figures.path(f"M124 {middle}H200m-6 -4l6 4l-6 4", SECOND, 1.6))
    shapes.append(figures.text(162, middle - 8, "boxes", 11.5, MUTED, "middle"))
    for number in range(2):
        y = top + number * (high + 12) + high / 2
        shapes.append(figures.path(f"M360 {middle}L444 {y:g}", ACCENT, 1.6))
    shapes.append(figures.text(400, top + 8, "full", 11.5, MUTED, "middle"))
    under = top + 2 * high + 30
    shapes.append(figures.path(f"M535 {under - 14}V{under}H60V{top + high + 44}m-4 6l4 -6l4 6", MUTED, 1.4))
    shapes.append(figures.text(298, under + 16, "empty: one arrival of each warpgroup", 11.5, MUTED, "middle"))
    return figures.Drawing(
        figures.svg(shapes, 622, under + 22),
        "A producer thread requests boxes that fill a ring of four stages. Two warpgroups wait until a stage is full, multiply 64 "
        "rows of A each with all of B, and tell the producer that it is empty.",
    )


def split():
    """The 24 bits of a float's significand, and which of them its two parts have."""
    shapes, cell, left, top = [], 19, 96, 26
    rows = (
        ("x", [(0, 24, FOREGROUND)]),
        ("hi", [(0, 11, ACCENT)]),
        ("lo", [(11, 22, SECOND)]),
    )
    for number in range(0, 24, 4):
        shapes.append(figures.text(left + number * cell + cell / 2, top - 8, f"{number + 1}", 11, MUTED, "middle"))
    for line, (name, spans) in enumerate(rows):
        y = top + line * (cell + 10)
        shapes.append(figures.text(left - 14, y + 14, name, 13, FOREGROUND, "end"))
        for first, end, colour in spans:
            for bit in range(first, end):
                shapes.append(
                    figures.rect(left + bit * cell, y, cell - 2, cell - 2, SOFT if colour == FOREGROUND else colour)
                )
    y = top + 2 * (cell + 10)
    for bit in (22, 23):
        shapes.append(figures.rect(left + bit * cell, y, cell - 2, cell - 2, "none", f' stroke="{LINE}"'))
    words = "the bits of the significand: 11 in hi, 11 in lo, 2 in neither"
    shapes.append(figures.text(left, y + cell + 20, words, 12, MUTED))
    return figures.Drawing(
        figures.svg(shapes, left + 24 * cell + 2, y + cell + 28),
        "Of the 24 bits of a float's significand the first eleven are in hi, the next eleven in lo, and the last two in neither.",
    )


def draw(simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (None, "fragments", fragments(), "Which lane holds which element of one mma.sync.m16n8k16."),
        (
            None,
            "swizzle",
            swizzle(),
            "Eight rows of 128 bytes. The numbers are chunks of 16 bytes, above them the first of the four banks. Filled: what one "
            "8 x 8 matrix of ldmatrix reads.",
        ),
        (None, "split", split(), "A float as two floats of TF32."),
        (None, "hopper", hopper(), "A block of producer_warp. The sums stay in the registers of the two warpgroups."),
    ]
