"""The drawings of chapter 13: how products of many shapes compare with cuBLAS, before and after; a tile in parts of K."""

import json
import math

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT

LADDER = "GFLOP/s"
ROOFLINE = True

CELLS = 13  # octaves from 1 to 8192


def cells(shapes, key):
    """(octave of sqrt(M N), octave of K) -> geometric mean of cuBLAS's time over ours, and how many shapes."""
    sums = {}
    for one in shapes:
        if one["named"]:
            continue
        x = min(CELLS - 1, int(math.log2(one["m"] * one["n"]) / 2))
        y = min(CELLS - 1, int(math.log2(one["k"])))
        total, count = sums.get((x, y), (0.0, 0))
        sums[x, y] = total + math.log(one["cublas_us"] / one[key]), count + 1
    return {at: (math.exp(total / count), count) for at, (total, count) in sums.items()}


def shade(ratio):
    """Fill and opacity: one colour where cuBLAS is faster, another one where it is not."""
    far = min(1.0, abs(math.log2(ratio)) / 1.5)
    return (ACCENT if ratio >= 1 else SECOND), 0.15 + 0.85 * far


def heat(shapes, key, name):
    """The map: columns are octaves of sqrt(M N), rows those of K."""
    found = cells(shapes, key)

    def draw(cell, left, font):
        high, top = 26, 22
        shapes_ = []
        for y in range(CELLS):
            at = top + (CELLS - 1 - y) * high
            if y % 2 == 0:
                shapes_.append(figures.text(left - 6, at + 17, f"{2**y}", 11, MUTED, "end"))
            for x in range(CELLS):
                if (x, y) not in found:
                    continue
                ratio, _ = found[x, y]
                fill, opacity = shade(ratio)
                box = f' rx="2" fill-opacity="{opacity:.2f}"'
                shapes_.append(figures.rect(left + x * cell + 1, at + 1, cell - 2, high - 2, fill, box))
                words = f"{ratio:.{2 if ratio < 0.095 else 1 if ratio < 9.95 else 0}f}"
                if len(words) * 0.6 * font > cell - 2:
                    words = words.lstrip("0")
                colour = GROUND if opacity > 0.8 else FOREGROUND
                shapes_.append(figures.text(left + (x + 0.5) * cell, at + 17, words, font, colour, "middle"))
        bottom = top + CELLS * high
        for x in range(0, CELLS, 2):
            shapes_.append(figures.text(left + (x + 0.5) * cell, bottom + 15, f"{2**x}", 11, MUTED, "middle"))
        shapes_.append(figures.text(0, 12, "K", 12.5))
        shapes_.append(
            figures.text(left + CELLS * cell / 2, bottom + 32, "square root of M N", 12.5, FOREGROUND, "middle")
        )
        return figures.svg(shapes_, left + CELLS * cell + 2, bottom + 38)

    worst = sorted(found.items(), key=lambda item: item[1][0])[:3]
    words = (
        "not recorded yet"
        if not worst
        else "; ".join(f"{ratio:.2f} where M N is about {4**x} and K about {2**y}" for (x, y), (ratio, _) in worst)
    )
    return figures.Drawing(
        draw(48, 46, 11.5),
        f"A map of {name}: cuBLAS's time over ours in {len(found)} cells, by the size of C and by K. The lowest: {words}.",
        draw(23, 40, 11),
    )


def parts():
    """One tile, and four blocks that each multiply a part of its K."""
    colours = (ACCENT, SECOND, ACCENT, SECOND)
    shapes = [figures.text(58, 14, "A", 13, FOREGROUND, "middle")]
    left, top, size, deep = 60, 100, 56, 240
    for p, colour in enumerate(colours):
        step = deep / 4
        shapes.append(figures.rect(left + p * step, top, step - 2, size, colour, ' rx="2" fill-opacity="0.75"'))
        shapes.append(
            figures.text(left + (p + 0.5) * step - 1, top + size / 2 + 4, f"part {p}", 11.5, GROUND, "middle")
        )
    shapes[0] = figures.text(left - 10, top + size / 2 + 4, "A", 13, FOREGROUND, "end")
    x = left + deep + 70
    for p, colour in enumerate(colours):
        y = 4 + p * 40
        shapes.append(figures.rect(x, y, 34, 34, colour, ' rx="2" fill-opacity="0.75"'))
        shapes.append(figures.text(x + 44, y + 21, f"sum of block {p}", 11.5, MUTED))
        shapes.append(figures.path(f"M{x + 150} {y + 17}h{50}", LINE, 1.4))
    shapes.append(figures.path(f"M{x + 200} 21v120", LINE, 1.4))
    shapes.append(figures.path(f"M{x + 200} 81h30m-6 -4l6 4l-6 4", MUTED, 1.4))
    shapes.append(figures.rect(x + 236, 58, 46, 46, SOFT, f' rx="2" stroke="{MUTED}"'))
    shapes.append(figures.text(x + 259, 85, "C", 13, FOREGROUND, "middle"))
    return figures.Drawing(
        figures.svg(shapes, x + 286, 168),
        "One tile of C. Its rows of A are cut into four parts along K, a block for each; the four sums of the tile are "
        "added up in the order of the parts.",
    )


def draw(simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    recorded = source.parent / "results" / "h200_shapes.json"  # without it the maps are empty
    shapes = json.loads(recorded.read_text(encoding="utf-8"))["shapes"] if recorded.exists() else []
    caption = "cuBLAS's time over ours on an H200, a geometric mean for each cell: above 1, ours is faster. Cells are octaves."
    return [
        (None, "before", heat(shapes, "one_tile_us", "one tile of 128 x 128 for every shape"), caption),
        (None, "parts", parts(), "A tile in four parts of K. B is cut in the same way."),
        (None, "after", heat(shapes, "us", "the function of this chapter"), caption),
    ]
