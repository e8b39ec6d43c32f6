"""The drawings of chapter 18: parts of a row, a query's state from tile to tile, tiles of scores, sums that are an operand,
and warpgroups that take turns."""

import dataclasses

from warp.site import figures
from warp.site.figures import ACCENT, GROUND, LINE, MUTED, SECOND, SOFT, Span

LADDER = "GFLOP/s"


def merge():
    """A row in two parts, the state of each, and the state of both."""
    cell, values = 26, ((2, 5, 1, 4), (7, 3, 6, 2))
    left, gap, top = 4, 40, 6
    width = 4 * cell
    shapes = []
    for p, part in enumerate(values):
        x = left + p * (width + gap)
        largest = max(part)
        for i, value in enumerate(part):
            fill = (ACCENT, SECOND)[p] if value == largest else SOFT
            shapes.append(figures.rect(x + i * cell, top, cell, cell, fill))
            shapes.append(figures.text(x + (i + 0.5) * cell, top + 18, str(value), 12.5, anchor="middle"))
        shapes.append(figures.path(f"M{x} {top}h{width}v{cell}h-{width}z", LINE))
        middle = x + width / 2
        total = sum(2.0 ** (v - largest) for v in part)
        shapes.append(figures.path(f"M{middle} {top + cell + 4}v16m-4 -6l4 6l4 -6", MUTED, 1.4))
        shapes.append(figures.text(middle, top + cell + 38, f"m = {largest}, s = {total:.3g}", 12, anchor="middle"))
        aim = left + width + gap / 2
        shapes.append(
            figures.path(f"M{middle} {top + cell + 48}L{aim + (p * 2 - 1) * 12} {top + cell + 78}", MUTED, 1.4)
        )
        shift = 7 - largest
        text = "s" if shift == 0 else f"s / {2**shift}"
        side = "end" if p == 0 else "start"
        shapes.append(figures.text((middle + aim) / 2 + (p * 2 - 1) * 10, top + cell + 70, text, 12, MUTED, side))
    both = sum(2.0 ** (v - 7) for part in values for v in part)
    shapes.append(
        figures.text(left + width + gap / 2, top + cell + 98, f"m = 7, s = {both:.3g}", 12.5, anchor="middle")
    )
    return figures.Drawing(
        figures.svg(shapes, 2 * (left + width) + gap, top + cell + 108),
        "Two parts of a row with four elements each. Part a has the maximum 5, part b the maximum 7; each has a sum of powers of "
        "two of the distances from its own maximum. To merge them, the sum of part a is divided by 4, which is 2 to the power "
        "of 7 - 5, and added to that of part b.",
    )


def rescaled():
    """The state of one query after each of four tiles of keys: when the maximum grows, what was added up shrinks."""
    tiles, values = ((1, 3), (2, 0), (5, 4), (3, 5)), ((4, 2), (1, 3), (2, 6), (8, 1))
    cell, label, wide = 26, 52, 132
    states, m, s, o = [], None, 0.0, 0.0
    for scores, of_values in zip(tiles, values):
        now = max(scores) if m is None else max(m, *scores)
        shrink = None if m is None else m - now
        s, o = (s * 2.0**shrink, o * 2.0**shrink) if shrink is not None else (s, o)
        for score, value in zip(scores, of_values):
            s += 2.0 ** (score - now)
            o += 2.0 ** (score - now) * value
        m = now
        states.append((m, shrink, s, o))

    def panel(x, y, tile):
        now, shrink, total, out = states[tile]
        grows = shrink is None or shrink < 0
        shapes = [figures.text(x, y + 12, f"tile {tile}", 12, MUTED)]
        for name, row, top in (("scores", tiles[tile], 20), ("values", values[tile], 52)):
            for i, number in enumerate(row):
                largest = name == "scores" and number == now and grows
                at = x + i * cell
                shapes.append(figures.rect(at, y + top, cell, cell, ACCENT if largest else SOFT, f' stroke="{LINE}"'))
                ink = GROUND if largest else figures.FOREGROUND
                shapes.append(figures.text(at + cell / 2, y + top + 18, number, 12.5, ink, "middle"))
        shapes.append(figures.text(x, y + 98, str(now), 12.5))
        factor = "" if shrink is None else "× 1" if shrink == 0 else f"× 1/{2**-shrink}"
        if shrink:
            shapes.append(figures.rect(x - 4, y + 106, 46, 20, SECOND, ' rx="3"'))
        shapes.append(figures.text(x, y + 121, factor, 12.5, GROUND if shrink else MUTED))
        shapes.append(figures.text(x, y + 144, f"{total:.3g}", 12.5))
        shapes.append(figures.text(x, y + 167, f"{out:.3g}", 12.5))
        return shapes

    def draw(columns):
        shapes, high = [], 186
        for tile in range(len(tiles)):
            x, y = label + tile % columns * wide, tile // columns * high
            if tile % columns == 0:
                names = (("scores", 38), ("values", 70), ("m", 98), ("s, o", 121), ("s", 144), ("o", 167))
                shapes += [figures.text(label - 10, y + at, name, 12, MUTED, "end") for name, at in names]
            shapes += panel(x, y, tile)
        return figures.svg(shapes, label + columns * wide - 60, -(-len(tiles) // columns) * high - 12)

    told = "; ".join(
        f"tile {i}: m = {m}, s = {s:.3g}, o = {o:.3g}"
        + ("" if not shrink else f", after s and o of before were divided by {2**-shrink}")
        for i, (m, shrink, s, o) in enumerate(states)
    )
    return figures.Drawing(
        draw(4),
        "One query over four tiles of two keys each, with one column of the values. Weights are powers of two of a score less the largest "
        f"so far, m; s is their sum and o the sum of values with these weights. {told}. The output is o / s = {o / s:.3g}.",
        draw(2),
    )


def fused():
    """Queries that stay, keys and values that stream, and the tiles that a causal mask leaves."""
    cell, tiles, left, top = 30, 6, 96, 44
    shapes = [figures.text(left + tiles * cell / 2, 14, "tiles of keys and values stream", 12, MUTED, "middle")]
    shapes.append(figures.path(f"M{left} 24h{tiles * cell}m-6 -4l6 4l-6 4", MUTED, 1.4))
    for row in range(tiles):
        y = top + row * cell
        for col in range(tiles):
            fill = SOFT if col > row else ACCENT if col < row else SECOND
            if col <= row:
                shapes.append(figures.rect(left + col * cell, y, cell, cell, fill))
        shapes.append(figures.text(left - 10, y + cell / 2 + 4, f"block {row}", 12, MUTED, "end"))
    grid = "".join(f"M{left + i * cell} {top}v{tiles * cell}" for i in range(tiles + 1))
    grid += "".join(f"M{left} {top + i * cell}h{tiles * cell}" for i in range(tiles + 1))
    shapes.append(figures.path(grid, LINE))
    x = left + tiles * cell + 16
    for i, (fill, words) in enumerate(((ACCENT, "computed"), (SECOND, "computed and masked"), (None, "never loaded"))):
        y = top + 20 + i * 30
        if fill:
            shapes.append(figures.rect(x, y, 14, 14, fill))
        shapes.append(figures.path(f"M{x} {y}h14v14h-14z", LINE))
        shapes.append(figures.text(x + 22, y + 12, words, 12, MUTED))
    return figures.Drawing(
        figures.svg(shapes, x + 166, top + tiles * cell + 6),
        f"Scores as {tiles} x {tiles} tiles. Each block has a row of tiles and goes over it from left to right. With a causal mask, the "
        "tiles right of the diagonal are never loaded, and only those on the diagonal are masked.",
    )


def operand():
    """Two tiles of sums, and the fragment of a left operand that they are; each cell has its lane."""
    cell, top, chosen = 19, 26, 21
    shapes = []
    names = ("sums, keys 0 to 7", "sums, keys 8 to 15", "left operand, keys 0 to 15")
    for number, columns in enumerate((8, 8, 16)):
        x = (0, 8 * cell + 24, 16 * cell + 92)[number]
        shapes.append(figures.text(x, top - 10, names[number], 12.5))
        for row in range(16):
            for column in range(columns):
                lane, tile = row % 8 * 4 + column % 8 // 2, number if number < 2 else column // 8
                at_x, at_y = x + column * cell, top + row * cell
                mine = lane == chosen
                if mine:
                    shapes.append(figures.rect(at_x, at_y, cell, cell, (ACCENT, SECOND)[tile]))
                shapes.append(
                    figures.text(at_x + cell / 2, at_y + 14, str(lane), 11, GROUND if mine else MUTED, "middle")
                )
        upright = "".join(f"M{x + i * cell} {top}v{16 * cell}" for i in range(columns + 1))
        across = "".join(f"M{x} {top + i * cell}h{columns * cell}" for i in range(17))
        shapes.append(figures.path(upright + across, LINE))
    x, y = 16 * cell + 34, top + 8 * cell
    shapes.append(figures.path(f"M{x} {y}h44m-8 -5l8 5l-8 5", MUTED, 1.6))
    return figures.Drawing(
        figures.svg(shapes, 32 * cell + 94, top + 16 * cell + 4),
        "Two tiles of 16 x 8 sums side by side, and a left operand of 16 x 16 elements, with the number of the lane that holds each. "
        "The left half of the operand has the lanes of the first tile, the right half those of the second. Lane 21 has two "
        "neighbours in row 5 and in row 13 of each tile, and the same elements of the operand.",
    )


def turns():
    """When two warpgroups multiply, and when they make weights: both at once, and in turn. The softmax is half as long."""
    products, softmax = 4, 2

    def row(start, multiplies, waits):
        spans, at = [Span(0, start, "idle")] if start else [], start
        for tile in range(3):
            spans += [Span(at, multiplies, "compute", str(tile)), Span(at + multiplies, softmax, "full", str(tile))]
            at += multiplies + softmax
            if waits and tile < 2:
                spans.append(Span(at, waits, "idle"))
                at += waits
        return spans

    drawn = figures.timeline(
        [
            ("boxes", [("group 1", row(0, products, 0))]),
            ("two_groups", [("group 1", row(0, 2 * products, 0)), ("group 2", row(0, 2 * products, 0))]),
            ("turns", [("group 1", row(0, products, 2)), ("group 2", row(products, products, 2))]),
        ],
        "",
        {"compute": "products", "full": "softmax", "idle": "waits for its turn"},
    )
    return dataclasses.replace(
        drawn,
        alt="What warpgroups do over time, for three tiles of keys each. boxes: one warpgroup alternates products and softmax; the tensor "
        "cores are idle during each softmax. two_groups, at worst: both issue their products at once, each of which takes "
        "twice as long, and then both make weights at once, while the tensor cores are idle. turns: the second warpgroup begins when "
        "the first has issued its products; from then on one multiplies while the other makes weights.",
    )


def draw(simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (
            None,
            "merge",
            merge(),
            "Two parts of a row, merged; with powers of two, as in the kernels. Filled: the largest elements.",
        ),
        (
            None,
            "rescaled",
            rescaled(),
            "One query over four tiles of two keys, for one column of V; weights are powers of two. Where the largest score m grows, in tile 2, "
            "s and o are scaled first. At the end o / s is the output.",
        ),
        (
            None,
            "fused",
            fused(),
            "The scores of one head in tiles, with a causal mask. No tile is ever stored: a block keeps its queries, and for "
            "each a maximum, a sum and an output.",
        ),
        (
            None,
            "operand",
            operand(),
            "Which lane holds which element: of two tiles of sums, and of the left operand that the next product takes. Filled: "
            "lane 21. Nothing moves; the sums are only rounded to BF16.",
        ),
        (
            None,
            "turns",
            turns(),
            "Two warpgroups that share the tensor cores of an SM; a number is that of a tile of keys. In the middle what happens at worst, if nobody "
            "sees to their order. The lengths are a model, not a measurement.",
        ),
    ]
