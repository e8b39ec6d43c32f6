"""The drawings of chapter 08: the steps of two scans, element by element, the parts of a tile, and a tile that looks back."""

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, LINE, MUTED, SOFT

LADDER = "GB/s"

VALUES = (3, 1, 7, 0, 4, 1, 6, 3)  # of the tables in the text


def hillis_steele():
    now, d = list(VALUES), 1
    levels = figures.Levels("in", now)
    while d < len(now):
        pairs = [(i - d, i) for i in range(d, len(now))]
        now = [now[i] + (now[i - d] if i >= d else 0) for i in range(len(now))]
        levels.step(f"d = {d}", now, pairs)
        d *= 2
    return levels.drawing("In each step every element adds the one that lies d to its left.")


def blelloch():
    now, d = list(VALUES), 1
    levels = figures.Levels("in", now)
    while d < len(now):
        pairs = [(right - d, right) for right in range(2 * d - 1, len(now), 2 * d)]
        for of, to in pairs:
            now[to] += now[of]
        levels.step(f"up, {d}", now, pairs)
        d *= 2
    now[-1] = 0
    levels.step("0 last", now, [], [(len(now) - 1, len(now) - 1)])
    while d > 1:
        d //= 2
        pairs = [(right - d, right) for right in range(2 * d - 1, len(now), 2 * d)]
        for left, right in pairs:
            now[left], now[right] = now[right], now[left] + now[right]
        levels.step(f"down, {d}", now, pairs, [(right, left) for left, right in pairs])
    return levels.drawing(
        "Going up, pairs are added, then pairs of pairs. Then the last element becomes 0. Going down, the right element of "
        "each pair goes to the left one, and their sum to the right one."
    )


def look_back():
    sums, prefixes = (*VALUES, 2, 5), 4  # tiles 0 to 3 have published their prefixes
    me, cell, top, height = len(sums) - 1, 36, 46, 28
    known = [sum(sums[: i + 1]) for i in range(prefixes)]
    shapes = [figures.text(0, 13, "What the tiles have published, when tile 9 looks back", 13, MUTED)]

    def middle(i):
        return 2 + i * cell + cell / 2 - 2

    for i, value in enumerate([*known, *sums[prefixes:]]):
        fill, stroke = (SOFT if i < prefixes else "none"), (ACCENT if i == me else LINE)
        shapes += [
            figures.text(middle(i), top - 8, i, 13, MUTED, "middle"),
            figures.rect(2 + i * cell, top, cell - 4, height, fill, f' rx="3" stroke="{stroke}" stroke-width="1.5"'),
            figures.text(middle(i), top + 19, value, 13, anchor="middle"),
        ]
    below = top + height + 22
    shapes.append(
        figures.path(f"M{middle(me):g} {top + height + 2}v{20}H{middle(prefixes - 1):g}v-16m-4 7l4 -7l4 7", ACCENT, 1.6)
    )
    passed = list(range(me - 1, prefixes - 1, -1))
    terms = " + ".join(str(sums[i]) for i in passed) + f" + {known[-1]}"
    total = sum(sums[:me])
    shapes.append(figures.text(middle(me) + cell / 2 - 2, below + 20, f"{terms} = {total}", 13, FOREGROUND, "end"))
    alt = (
        f"The words of tiles 0 to {me}. Tiles 0 to {prefixes - 1} have published prefixes: {', '.join(map(str, known))}. Tiles "
        f"{prefixes} to {me} have published their sums: {', '.join(map(str, sums[prefixes:]))}. Tile {me} goes back and adds "
        f"{terms} = {total}: the sums of tiles {passed[0]} to {passed[-1]} and the prefix of tile {prefixes - 1}."
    )
    return figures.Drawing(figures.svg(shapes, 2 + len(sums) * cell, below + 26), alt, scene="lookback")


def parts():
    """A tile of 4096 elements: its warps, the rows of one, the lanes of one row, the elements of one lane."""
    left, width, height, pitch = 2, 420, 26, 64
    levels = (
        ("the tile", [f"warp {i}" for i in range(8)], "8 warps of 512", "8 sums in shared memory"),
        ("warp 0", [f"row {i}" for i in range(4)], "4 rows of 128", "4 sums, one after the other"),
        ("row 0", [f"lane {i}" for i in (0, 1, 2)] + ["…", "lane 31"], "32 lanes of 4", "32 sums by shuffles"),
        ("lane 0", [f"element {i}" for i in range(4)], "4 elements", "added in registers"),
    )
    shapes, sentences = [], []
    for level, (whole, names, what, how) in enumerate(levels):
        y, cell = 16 + level * pitch, width / len(names)
        shapes.append(figures.text(left, y - 5, f"{whole}: {what}", 12, MUTED))
        shapes.append(figures.text(left + width, y - 5, how, 12, MUTED, "end"))
        for i, name in enumerate(names):
            opened = i == 0 and level + 1 < len(levels)
            shapes.append(
                figures.rect(
                    left + i * cell, y, cell - 3, height, SOFT if opened else "none", f' rx="3" stroke="{LINE}"'
                )
            )
            shapes.append(figures.text(left + i * cell + (cell - 3) / 2, y + 18, name, 12, anchor="middle"))
        if level + 1 < len(levels):  # what the next level shows in full
            below = y + pitch
            shapes.append(
                figures.path(
                    f"M{left} {y + height + 1}V{below - 18}M{left + cell - 3:g} {y + height + 1}L{left + width - 3:g} {below - 18}",
                    LINE,
                )
            )
        sentences.append(f"{whole[0].upper()}{whole[1:]}: {what}, {how}.")
    return figures.Drawing(
        figures.svg(shapes, left + width + 1, 16 + 3 * pitch + height + 2),
        "The parts of a tile of 4096 elements. " + " ".join(sentences),
    )


def draw(_simulated, _source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (
            None,
            "steps",
            hillis_steele(),
            "Eight elements in three steps. A coloured line is an addition: of 24 results, 17 take one. What is filled "
            "has changed.",
        ),
        (
            None,
            "tree",
            blelloch(),
            "The same eight elements up the tree and down again. Going up, each level has half as many additions as the one "
            "before; going down, twice as many: 14 in all. The lines to the left are copies.",
        ),
        (
            None,
            "parts",
            parts(),
            "A tile of 4096 elements, and each time the first part in full. From below: a lane scans its four elements in "
            "registers, the lanes of a row exchange their sums by shuffles, a warp goes through its rows one after the "
            "other, and the sums of the warps meet in shared memory.",
        ),
        (
            None,
            "words",
            look_back(),
            "Filled: a prefix, the sum of everything up to the end of its tile. Not filled: the sum of one tile. Tile 9 does "
            "not wait for the prefixes of tiles 4 to 8: it adds their sums, and the nearest prefix ends the search. The model shows "
            "32 tiles over time.",
        ),
    ]
