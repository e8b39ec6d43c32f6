"""The drawings of chapter 15: a halo, a column in registers, a queue along z, tiles in time, a grid that stays on chip,
the sums of a filter."""

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, LINE, MUTED, SECOND, SOFT

LADDER = "GB/s"

CELL = 20


def lines(x, y, columns, rows, cell=CELL):
    upright = "".join(f"M{x + i * cell:g} {y:g}v{rows * cell:g}" for i in range(columns + 1))
    across = "".join(f"M{x:g} {y + i * cell:g}h{columns * cell:g}" for i in range(rows + 1))
    return figures.path(upright + across, LINE)


def halo():
    """A row of elements, and the tiles of two blocks of eight threads."""
    radius, block, elements = 3, 8, 24
    shapes = [figures.text(0, 14, '<tspan class="mono">in</tspan>', 13.5)]
    left, y = 70, 1
    shapes.append(lines(left, y, elements, 1))
    for number, first in ((1, 4), (2, 12)):
        y = 16 + number * 40
        shapes.append(figures.text(0, y + 15, f"block {number}", 12, MUTED))
        for side in (first - radius, first + block):
            shapes.append(figures.rect(left + side * CELL, y, radius * CELL, CELL, SOFT))
        shapes.append(figures.rect(left + first * CELL, y, block * CELL, CELL, ACCENT))
        shapes.append(lines(left + (first - radius) * CELL, y, block + 2 * radius, 1))
    return figures.Drawing(
        figures.svg(shapes, left + elements * CELL + 2, 118),
        f"A row of elements, and below it the tiles of two neighbouring blocks of {block} threads. Each tile has the block's "
        f"{block} elements and {radius} more on each side; the two overlap by {2 * radius} elements.",
    )


def column():
    """What a thread of five_columns holds: its rows, those above and below, and what comes from the lanes beside."""
    left, top, rows = 184, 8, 4
    shapes = []
    for r in range(rows):
        own = 0 < r < rows - 1
        y = top + r * CELL
        shapes.append(figures.rect(left, y, 4 * CELL, CELL, ACCENT if own else SOFT))
        if own:
            shapes.append(figures.rect(left - CELL, y, CELL, CELL, SECOND))
            shapes.append(figures.rect(left + 4 * CELL, y, CELL, CELL, SECOND))
        words = "computed by this thread" if own else "loaded by it, too"
        shapes.append(figures.text(left + 6 * CELL, y + 15, words, 12, MUTED))
    shapes.append(figures.text(left - 2 * CELL, top + 2 * CELL + 4, "from the lanes beside", 12, MUTED, "end"))
    shapes.append(lines(left, top, 4, rows))
    return figures.Drawing(
        figures.svg(shapes, left + 6 * CELL + 150, top + rows * CELL + 4),
        "Four rows of four cells. A thread loads all of them as float4s and computes the two rows in the middle. One cell on "
        "either side of those two rows comes from the lanes beside.",
    )


def queue():
    """Planes along z, of which a thread holds three cells."""
    width, height, skew, gap, top = 76, 60, 26, 88, 26
    names = ("z - 2", "z - 1", "z", "z + 1", "z + 2")
    shapes = []
    for k, name in enumerate(names):
        x = 4 + k * gap
        held = 1 <= k <= 3
        shapes.append(
            figures.path(
                f"M{x} {top + skew}l{width / 2:g} -{skew}v{height}l-{width / 2:g} {skew}z", MUTED if held else LINE, 1.2
            )
        )
        if held:
            shapes.append(figures.rect(x + width / 4 - 7, top + skew / 2 + height / 2 - 7, 14, 14, ACCENT))
        shapes.append(figures.text(x + width / 4, top + height + skew + 22, name, 12, FOREGROUND, "middle"))
    shapes.append(figures.path(f"M{4 + gap * 0.6:g} 12h{gap * 3.2:g}m-6 -4l6 4l-6 4", MUTED, 1.4))
    shapes.append(figures.text(4 + gap * 4, 16, "the thread walks", 12, MUTED))
    return figures.Drawing(
        figures.svg(shapes, 5 * gap + 40, top + height + skew + 30),
        "Five planes behind each other along z. A thread walks through them and holds three cells of its column, in planes "
        "z - 1, z and z + 1. With the next step the first is dropped and one of plane z + 2 is loaded.",
    )


def time():
    """Tiles of ten cells, three steps: what is right becomes narrower."""
    steps, wide, cell, left = 3, 12, 18, 64
    used = wide - 2 * steps
    shapes = []
    for level in range(steps + 1):
        y = 8 + (steps - level) * (cell + 8)
        shapes.append(figures.text(0, y + 13, "loaded" if level == 0 else f"step {level}", 12, MUTED))
        for tile in range(2):
            x = left + tile * used * cell + level * cell
            fill = (ACCENT, SECOND)[tile] if level == steps else SOFT
            shapes.append(figures.rect(x, y, (wide - 2 * level) * cell, cell, fill))
        shapes.append(lines(left + level * cell, y, wide + used - 2 * level, 1, cell))
    across = left + (wide + used) * cell
    both = left + used * cell
    y = 8 + steps * (cell + 8) + cell
    shapes.append(figures.path(f"M{both} {y + 8}v6h{(wide - used) * cell}v-6", MUTED, 1.2))
    shapes.append(figures.text(both + (wide - used) * cell / 2, y + 30, "loaded by both tiles", 12, MUTED, "middle"))
    return figures.Drawing(
        figures.svg(shapes, across + 2, y + 36),
        f"Two overlapping tiles in one dimension, with time from bottom to top. Each loads {wide} cells. After each step one "
        f"cell less on either side is right; after {steps} steps {used} are left, and those of both tiles stand side by side. "
        f"{wide - used} cells were loaded by both.",
    )


def resident():
    """Blocks that keep their rows, and the rows that they show each other."""
    left, width, high, rows = 90, 300, 9, 5
    shapes = []
    for block in range(3):
        y = 6 + block * (rows * high + 22)
        shapes.append(figures.text(0, y + rows * high / 2 + 5, f"block {block}", 12, MUTED))
        shapes.append(figures.rect(left, y, width, rows * high, SOFT))
        for last in range(2):
            if (block, last) not in ((0, 0), (2, 1)):
                shapes.append(figures.rect(left, y + last * (rows - 1) * high, width, high, ACCENT))
        if block < 2:
            at = y + rows * high
            shapes.append(figures.path(f"M{left + 100} {at + 1}v20m-4 -6l4 6l4 -6", MUTED, 1.4))
            shapes.append(figures.path(f"M{left + 200} {at + 21}v-20m-4 6l4 -6l4 6", MUTED, 1.4))
    bottom = 6 + 3 * (rows * high + 22) - 22
    return figures.Drawing(
        figures.svg(shapes, left + width + 2, bottom + 4),
        "Three blocks, each with rows that stay in its registers. In each step the first and the last row of a block go to the "
        "blocks above and below, by way of L2; the others never leave the SM.",
    )


def sums():
    """A row of pixels, and the seven rows of results that it counts for."""
    radius, width, high, gap = 3, 150, 20, 4
    left, right, top = 4, 300, 8
    rows = 2 * radius + 1
    shapes, middle = [], top + radius * (high + gap) + high / 2
    shapes.append(figures.rect(left, middle - high / 2, width, high, ACCENT))
    shapes.append(figures.text(left, middle + high / 2 + 18, "row y of the image", 12, MUTED))
    for k in range(rows):
        y = top + k * (high + gap)
        shapes.append(figures.path(f"M{left + width + 4} {middle:g}L{right - 6} {y + high / 2:g}", LINE, 1.2))
        shapes.append(figures.rect(right, y, width, high, SECOND if k == 0 else SOFT))
        offset = k - radius
        name = "y" if offset == 0 else f"y {'-' if offset < 0 else '+'} {abs(offset)}"
        note = {0: ", complete", rows - 1: ", begins"}.get(k, "")
        shapes.append(figures.text(right + width + 8, y + 15, f"sums of row {name}{note}", 12, MUTED))
    return figures.Drawing(
        figures.svg(shapes, right + width + 200, top + rows * (high + gap) + 4),
        "One row of the image on the left, joined to seven rows of results on the right, from three above to three below. The "
        "upper one is complete with this row, the lowest one begins.",
    )


def draw(simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (
            None,
            "halo",
            halo(),
            "The tiles of two blocks, drawn for 8 threads. Filled: what a block computes. Shaded: its halo.",
        ),
        (
            None,
            "column",
            column(),
            "A thread of five_columns. Each value that its cells need is in a register of this thread or of a lane beside it.",
        ),
        (
            None,
            "queue",
            queue(),
            "A queue along z: of the five planes shown, three have a cell in the thread's registers.",
        ),
        (
            None,
            "time",
            time(),
            "Three steps of two tiles in 1D, time from bottom to top. Shaded cells are computed on the way, in both tiles where "
            "they overlap; filled ones are written.",
        ),
        (
            None,
            "resident",
            resident(),
            "A grid that stays on the chip. Filled: rows that other blocks need, once in each step.",
        ),
        (
            None,
            "sums",
            sums(),
            "A filter of 7 x 7: a row that comes in counts for seven rows of results, with another row of the weights for each.",
        ),
    ]
