"""The drawings of chapter 07: the trees, which lanes add in them, the exchange between lanes, and the last block."""

from warp.chapter import maps, recording, results
from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT

LADDER = "GB/s"

VALUES = (3, 1, 7, 0, 4, 1, 6, 3)
BLOCK, WARP = 256, 32


def threads(numbers):
    numbers = list(numbers)
    return ("thread " if len(numbers) == 1 else "threads ") + " ".join(map(str, numbers))


def tree(pairs_of, adding):
    """A tree over eight elements: pairs_of(s) has the pairs (from, to), adding(s) the threads that add them."""
    now = list(VALUES)
    levels = figures.Levels("in", now, left=104)
    for s in pairs_of:
        for of, to in pairs_of[s]:
            now[to] += now[of]
        levels.step(f"s = {s}", now, pairs_of[s], note=threads(adding(s)), keep=False)
    return levels.drawing("A sum of eight elements in three steps, each with the threads that add.")


def neighbours():
    return tree({s: [(i + s, i) for i in range(0, 8, 2 * s)] for s in (1, 2, 4)}, lambda s: range(0, 8, 2 * s))


def halves():
    return tree({s: [(i + s, i) for i in range(s)] for s in (4, 2, 1)}, range)


def lanes_that_add():
    """For each step of a block of 256 and each of its warps, how many lanes add."""
    cell, high, left, top = 32, 21, 66, 56
    steps = [1 << i for i in range(8)]
    kernels = (
        ("tid % (2 * s) == 0", [[t % (2 * s) == 0 for t in range(BLOCK)] for s in steps]),
        ("the first threads", [[2 * s * t < BLOCK for t in range(BLOCK)] for s in steps]),
    )
    sentences = []

    def one(name, adds, x, y):
        counts = [[sum(step[w : w + WARP]) for w in range(0, BLOCK, WARP)] for step in adds]
        busy = sum(count > 0 for row in counts for count in row)
        shapes = [
            figures.text(x, y + 14, f'<tspan class="mono">{figures.escape(name)}</tspan>', 13.5),
            figures.text(x, y + 31, f"{busy} additions of a warp, {sum(map(sum, counts))} of a lane", 12, MUTED),
            figures.text(x, y + 50, "warp", 12, MUTED),
        ]
        shapes += [figures.text(x + left + w * cell + cell / 2, y + 50, w, 12, MUTED, "middle") for w in range(8)]
        for s, row in zip(steps, counts):
            at = y + top + steps.index(s) * high
            shapes.append(figures.text(x, at + 15, f"s = {s}", 12, MUTED))
            for w, count in enumerate(row):
                fill = ACCENT if count == WARP else SOFT if count else "none"
                shapes.append(
                    figures.rect(x + left + w * cell, at, cell - 2, high - 2, fill, f' rx="2" stroke="{LINE}"')
                )
                if count:
                    colour = GROUND if count == WARP else FOREGROUND
                    shapes.append(
                        figures.text(x + left + w * cell + cell / 2 - 1, at + 14, count, 11.5, colour, "middle")
                    )
        said = "; ".join(f"s = {s}: {' '.join(map(str, row))}" for s, row in zip(steps, counts))
        sentences.append(f"{name}: {busy} additions of a warp. The lanes that add, warp by warp: {said}.")
        return shapes

    def draw(across):
        shapes, x, y = [], 1, 0
        sentences.clear()
        for kernel in kernels:
            shapes += one(*kernel, x, y)
            x, y = (x + left + 8 * cell + 26, y) if across else (x, y + top + 8 * high + 18)
        width, height = (x - 25, top + 8 * high + 2) if across else (left + 8 * cell + 2, y - 14)
        return figures.svg(shapes, width, height)

    wide, narrow = draw(True), draw(False)
    return figures.Drawing(wide, f"Which lanes add in a block of {BLOCK} threads. {' '.join(sentences)}", narrow)


def exchange():
    """The sum of a warp by __shfl_xor_sync, for a warp of eight lanes."""
    now = list(VALUES)
    levels = figures.Levels("value", now)
    for d in (4, 2, 1):
        now = [now[lane] + now[lane ^ d] for lane in range(8)]
        levels.step(f"d = {d}", now, [(lane ^ d, lane) for lane in range(8)])
    return levels.drawing(
        "Eight lanes, each with a value. In each step every lane adds the value of the lane whose number differs in one bit."
    )


def last_block():
    """Blocks publish their sums with a flag; the last one takes them."""
    sums, missing, own = (31, 28, 35, 30), 2, 27
    pitch, wide, high = 96, 78, 30
    shapes = []

    def arrow(x, y, down, colour, dashed=False):
        more = ' stroke-dasharray="3 3"' if dashed else ""
        shapes.append(figures.path(f"M{x:g} {y:g}v{down - 1}m-4 -6l4 6l4 -6", colour, 1.5, more))

    for block, value in enumerate(sums):
        x, late = 1 + block * pitch, block == missing
        shapes.append(figures.rect(x, 1, wide, high, "none" if late else SOFT, f' rx="4" stroke="{LINE}"'))
        shapes.append(figures.text(x + wide / 2, 20, f"block {block}", 12.5, FOREGROUND, "middle"))
        shapes.append(figures.text(x + wide / 2, 48, "still adds" if late else f"sum {value}", 12, MUTED, "middle"))
        arrow(x + wide / 2, 55, 20, MUTED if late else ACCENT, late)
        for i, (words, fill) in enumerate((("0" if late else "1", SECOND), ("" if late else str(value), "none"))):
            part = 22 if i == 0 else wide - 22
            shapes.append(
                figures.rect(
                    x + 22 * i, 80, part, 26, fill if not late else "none", f' stroke="{MUTED}" stroke-width="1.2"'
                )
            )
            shapes.append(
                figures.text(x + 22 * i + part / 2, 98, words, 13, FOREGROUND if i or late else GROUND, "middle")
            )
        arrow(x + wide / 2, 110, 28, MUTED if late else ACCENT, late)
    across = 3 * pitch + wide
    shapes.append(figures.rect(1, 142, across, 50, SOFT, f' rx="4" stroke="{ACCENT}" stroke-width="1.5"'))
    shapes.append(figures.text(13, 162, f"block {len(sums)}, the last one, with a sum of its own: {own}", 12.5))
    shapes.append(figures.text(13, 181, f"empties words 0, 1 and 3; reads word {missing} again", 12.5, MUTED))
    shapes.append(figures.text(across + 8, 98, "words", 12.5, MUTED))
    return figures.Drawing(
        figures.svg(shapes, across + 48, 194),
        "Four blocks have a word each: a flag and a sum. "
        + " ".join(
            f"Block {block} {'still adds, its flag is 0' if block == missing else f'has published 1 and {value}'}."
            for block, value in enumerate(sums)
        )
        + f" Block 4, the last of the grid, takes the words that are there, empties them, and reads word {missing} again.",
    )


def trees(simulated, source):
    """A block of each of the first kernels, on as many elements as it has threads."""
    kernels = ("interleaved_modulo", "interleaved_strided", "sequential")
    return figures.warp_time(
        [
            figures.Panel(
                recording.recorded(simulated, kernel, "--size", str(BLOCK), blocks=False), source, list(range(8))
            )
            for kernel in kernels
        ],
        f"The eight warps of a block that adds up {BLOCK} elements, in three kernels.",
        "in the warp, and does not add",
    )


def draw(simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""

    def counters(copies, launch):
        example = results.examples_of(simulated, "histogram_shared", source, "atomicAdd(mine + ((words", launch)[0]
        return f"copies={copies}, random bytes", maps.of_example(example)

    return [
        (
            None,
            "neighbours",
            neighbours(),
            "The tree of neighbours. What is filled has changed, and takes part in the next step.",
        ),
        (
            None,
            "lanes",
            lanes_that_add(),
            "How many lanes of each warp add, step by step, in a block of 256. An empty cell is a warp without work. The "
            "warp executes the addition however many of its lanes take part.",
        ),
        (
            None,
            "halves",
            halves(),
            "The tree of halves: the threads that add are neighbours, and so are their elements.",
        ),
        (
            None,
            "trees",
            trees(simulated, source),
            "The accesses of the 8 warps of a block, as the simulator recorded them: the 32 lanes of each from top to bottom, time "
            "from left to right. An upright line is a barrier.",
        ),
        (
            None,
            "exchange",
            exchange(),
            "The steps for a warp of eight lanes. Each lane sends its value and gets one, and all have the sum at the end.",
        ),
        (
            None,
            "last-block",
            last_block(),
            "Flag and sum in one word. Block 2 is late: the last block goes on with what is there and asks again.",
        ),
        (
            None,
            "counters",
            figures.bank_map([counters(1, 0), counters(32, 2)]),
            "The counters that the lanes of one warp increment, for the same kind of data, by bank.",
        ),
    ]
