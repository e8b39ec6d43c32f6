"""The drawings of chapter 14: pairs that scan segments, the merge path, two passes of a radix sort, a look-back by digit."""

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, LINE, MUTED, SECOND, SOFT

LADDER = "GB/s"

VALUES = (3, 1, 7, 0, 4, 1, 6, 3)  # of the table in the text
HEADS = (1, 0, 0, 1, 0, 1, 0, 0)
ROWS = (2, 0, 6, 1, 2)  # values of the rows of a small matrix
SHARES, STEPS = 4, 4  # the merge path, and the steps of each share
KEYS = (31, 12, 42, 21, 11, 32, 41, 22)


def segments():
    """Hillis and Steele's steps with pairs: a piece with a head takes nothing from its left."""
    sums, heads, d = list(VALUES), list(HEADS), 1

    def shown():
        return [f"{'|' if head else ''}{value}" for value, head in zip(sums, heads)]

    levels = figures.Levels("in", shown())
    while d < len(sums):
        pairs = [(i - d, i) for i in range(d, len(sums)) if not heads[i]]
        before, flags = list(sums), list(heads)
        for i in range(d, len(sums)):
            if not flags[i]:
                sums[i] += before[i - d]
            heads[i] = flags[i] | flags[i - d]
        levels.step(f"d = {d}", shown(), pairs)
        d *= 2
    return levels.drawing("Pairs of a sum and a head, which is drawn as a stroke. A pair with a head adds nothing.")


def path_of(lengths):
    """The steps of the merge path: True for the end of a row, False for a value."""
    return [step for length in lengths for step in [False] * length + [True]]


def merge():
    """Row ends downwards, values to the right, and the path in equal shares."""
    cell, left, top = 30, 96, 30
    values, x, y = sum(ROWS), 0, 0
    shapes = [
        figures.text(left, 13, f"{values} values", 12.5, MUTED),
        figures.path(
            "".join(f"M{left + i * cell} {top}v{len(ROWS) * cell}" for i in range(values + 1))
            + "".join(f"M{left} {top + j * cell}h{values * cell}" for j in range(len(ROWS) + 1)),
            LINE,
        ),
    ]
    for j, length in enumerate(ROWS):
        shapes.append(figures.text(0, top + j * cell + 19, f"row {j}: {length}", 12.5, MUTED))
    at = [(0, 0)]
    for end in path_of(ROWS):
        x, y = (x, y + 1) if end else (x + 1, y)
        at.append((x, y))
    said = []
    for share in range(SHARES):
        piece = at[share * STEPS : (share + 1) * STEPS + 1]
        line = "L".join(f"{left + i * cell} {top + j * cell}" for i, j in piece)
        shapes.append(figures.path(f"M{line}", SECOND if share % 2 else ACCENT, 4))
        (i, j), (to, down) = piece[0], piece[-1]
        shapes.append(figures.rect(left + i * cell - 4, top + j * cell - 4, 8, 8, FOREGROUND))
        said.append(f"share {share} has {to - i} values and {down - j} row ends")
    return figures.Drawing(
        figures.svg(shapes, left + values * cell + 6, top + len(ROWS) * cell + 8),
        f"A grid with {values} values to the right and {len(ROWS)} rows downwards. A path goes right for each value and down at "
        f"each row's end. It is cut into {SHARES} shares of {STEPS} steps: {'; '.join(said)}.",
    )


def passes():
    """Keys of two decimal digits, sorted by the last digit and then, stably, by the first."""
    keys = list(KEYS)
    levels = figures.Levels("keys", keys, left=92)
    for name, digit in (("last digit", lambda key: key % 10), ("first digit", lambda key: key // 10)):
        order = sorted(range(len(keys)), key=lambda i: digit(keys[i]))
        keys = [keys[i] for i in order]
        levels.step(name, keys, [], [(of, to) for to, of in enumerate(order)])
    return levels.drawing(
        "Each pass moves the keys to the order of one digit, and keys with equal digits stay in theirs."
    )


def words():
    """What tiles have published of each digit, when tile 6 looks back."""
    counts = [[3, 1, 2, 2], [0, 4, 1, 3], [2, 2, 2, 2], [5, 1, 1, 1], [1, 3, 3, 1], [2, 0, 4, 2], [4, 2, 1, 1]]
    prefixes = [4, 2, 5, 3]  # of digit d, tiles 0 to prefixes[d] - 1 have published prefixes
    me, cell, left, top, high = len(counts) - 1, 46, 76, 24, 26
    shapes = [figures.text(left + t * cell + cell / 2 - 2, 14, f"tile {t}", 12, MUTED, "middle") for t in range(me + 1)]
    said = []
    for d in range(4):
        y = top + d * (high + 14)
        shapes.append(figures.text(0, y + 17, f"digit {d}", 12.5, MUTED))
        for t in range(me + 1):
            is_prefix = t < prefixes[d]
            value = sum(counts[k][d] for k in range(t + 1)) if is_prefix else counts[t][d]
            edge = f' rx="3" stroke="{ACCENT if t == me else LINE}" stroke-width="1.5"'
            shapes.append(figures.rect(left + t * cell, y, cell - 4, high, SOFT if is_prefix else "none", edge))
            shapes.append(figures.text(left + t * cell + cell / 2 - 2, y + 17, value, 13, anchor="middle"))
        of = left + me * cell + cell / 2 - 2
        to = left + (prefixes[d] - 1) * cell + cell / 2 - 2
        shapes.append(figures.path(f"M{of:g} {y + high + 1}v5H{to:g}v-5", ACCENT, 1.6))
        total = sum(counts[k][d] for k in range(me))
        shapes.append(figures.text(left + (me + 1) * cell + 6, y + 17, f"{total} before", 12.5))
        said.append(f"digit {d} stops at tile {prefixes[d] - 1} and finds {total}")
    return figures.Drawing(
        figures.svg(shapes, left + (me + 1) * cell + 76, top + 4 * (high + 14)),
        f"A word for each of four digits and {me + 1} tiles. For each digit, tile {me} adds the counts of the tiles before it "
        f"and stops at the first prefix: {'; '.join(said)}.",
    )


def draw(_simulated, _source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (
            None,
            "segments",
            segments(),
            "The steps of chapter 08 with pairs: a stroke says that the piece has a head. A piece with a head takes nothing from "
            "its left, but it hands its head on.",
        ),
        (
            None,
            "merge",
            merge(),
            "The merge path of a matrix with rows of 2, 0, 6, 1 and 2 values: to the right for each value, down at the end of "
            "each row. Cut into four shares, it gives each of them four steps, whatever the rows are.",
        ),
        (
            None,
            "passes",
            passes(),
            "Two passes of a radix sort, with decimal digits: by the last one, then by the first.",
        ),
        (
            None,
            "words",
            words(),
            "What the tiles have published of four digits. Filled: a prefix, all keys with this digit up to the end of the tile. "
            "Not filled: the count of one tile. Tile 6 looks back for each digit by itself.",
        ),
    ]
