"""The drawings of chapter 08: the steps of two scans, element by element, and a tile that looks back."""

import figures
from figures import ACCENT, FOREGROUND, LINE, MUTED, SOFT

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
            "words",
            look_back(),
            "Filled: a prefix, the sum of everything up to the end of its tile. Not filled: the sum of one tile. Tile 9 does "
            "not wait for the prefixes of tiles 4 to 8: it adds their sums, and the nearest prefix ends the search. The model shows "
            "32 tiles over time.",
        ),
    ]
