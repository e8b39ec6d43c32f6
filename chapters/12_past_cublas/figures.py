"""The drawings of chapter 12: a ring between producer and consumers, waves of tiles, and tiles that are cut along K."""

from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT, roles

LADDER = "GFLOP/s"
STAIR = ("one warp loads,", "equal shares")


def ring():
    """A moment of the ring: what each stage holds, and who waits at which of its barriers."""
    stages = (("row 4", "full", ACCENT), ("row 5", "full", ACCENT), ("row 6", "filling", SOFT), ("", "empty", "none"))
    left, wide, high, pitch, top = 146, 96, 34, 46, 50
    right = left + wide
    bottom = top + len(stages) * pitch
    shapes = []

    def box(x, y, width, height, words, colour):
        shapes.append(figures.rect(x, y, width, height, SOFT, f' rx="6" stroke="{colour}" stroke-width="1.5"'))
        for i, line in enumerate(words):
            middle = y + height / 2 + 5 + (i - (len(words) - 1) / 2) * 17
            shapes.append(
                figures.text(x + width / 2, middle, line, 13 if i == 0 else 12, MUTED if i else FOREGROUND, "middle")
            )

    def arrow(x, y, width, words, colour):
        tip = "m-6 -4l6 4l-6 4" if width > 0 else "m6 -4l-6 4l6 4"
        shapes.append(figures.path(f"M{x:g} {y:g}h{width:g}{tip}", colour, 1.5))
        shapes.append(figures.text(x + width / 2, y - 6, words, 11.5, MUTED, "middle"))

    box(1, top + 34, 92, 90, ["producer", "1 warp"], MUTED)
    box(right + 57, top + 34, 92, 90, ["consumers", "4 warps"], MUTED)
    for s, (row, state, fill) in enumerate(stages):
        y = top + s * pitch
        dashed = ' stroke-dasharray="3 3"' if state == "filling" else ""
        shapes.append(figures.rect(left, y, wide, high, fill, f' rx="3" stroke="{MUTED}"{dashed}'))
        colour = GROUND if fill == ACCENT else FOREGROUND
        shapes.append(figures.text(left + 8, y + 15, f"stage {s}", 11.5, colour))
        shapes.append(figures.text(left + 8, y + 29, f"{row}, {state}" if row else state, 11.5, colour))
    arrow(98, top + 2 * pitch + high / 2, left - 102, "writes", ACCENT)
    arrow(right + 4, top + high / 2, 49, "read", ACCENT)
    # The barriers: one arrives, the other side waits.
    over, under = 22, bottom + 22
    x1, x2 = 47, right + 57 + 46
    shapes.append(figures.path(f"M{x1} {top + 30}V{over}H{x2}V{top + 28}m-4 -6l4 6l4 -6", MUTED, 1.4))
    shapes.append(
        figures.text(
            (x1 + x2) / 2,
            over - 7,
            '<tspan class="mono">full[s]</tspan>: the row is there',
            12.5,
            FOREGROUND,
            "middle",
        )
    )
    shapes.append(figures.path(f"M{x2} {top + 128}V{under}H{x1}V{top + 130}m-4 6l4 -6l4 6", MUTED, 1.4))
    shapes.append(
        figures.text(
            (x1 + x2) / 2,
            under + 18,
            '<tspan class="mono">empty[s]</tspan>: all have read it',
            12.5,
            FOREGROUND,
            "middle",
        )
    )
    return figures.Drawing(
        figures.svg(shapes, right + 150, under + 26),
        "A ring of four stages between one producer warp and four consumer warps. Stage 0 holds row 4 and is read, stage 1 "
        "holds row 5 and is full, the producer fills stage 2 with row 6, stage 3 is empty. The producer arrives at full[s] "
        "when a row is there, and the consumers wait for it. The consumers arrive at empty[s] when all have read the stage, "
        "and the producer waits for that.",
    )


def waves():
    """512 tiles on 132 SMs: whole tiles, and the last wave dealt out evenly."""
    tiles, sms = 512, 132
    whole, rest = divmod(tiles, sms)
    unit, high, left = 78, 78, 44
    shapes, y = [], 0
    for name, even in (("producer_warps", False), ("even_shares", True)):
        top = y + 24
        shapes.append(figures.text(left, y + 14, f'<tspan class="mono">{name}</tspan>', 13.5))
        shapes.append(figures.text(0, top + high / 2 + 5, "SMs", 12.5, MUTED))
        for wave in range(whole):
            shapes.append(figures.rect(left + wave * unit, top, unit - 2, high, roles.fill("computing")))
            shapes.append(
                figures.text(
                    left + (wave + 0.5) * unit - 1,
                    top + high / 2 + 5,
                    f"{sms} tiles",
                    12.5,
                    FOREGROUND,
                    "middle",
                    figures.halo(4),
                )
            )
        at, wide, busy = left + whole * unit, unit - 2, high * rest / sms
        if even:
            wide, busy = unit * rest / sms - 2, high
        else:
            shapes.append(figures.rect(at, top, wide, high - busy - 1, roles.fill("wasted")))
            words = f"{sms - rest} of {sms} SMs have no tile"
            shapes.append(figures.text(at + wide + 8, top + 10, words, 12.5, roles.colour("wasted")))
        shapes.append(figures.rect(at, top + high - busy, wide, busy, roles.fill("computing")))
        words = f"{rest} tiles"
        shapes.append(
            figures.text(at + wide / 2, top + high / 2 + 5, words, 12.5, FOREGROUND, "middle", figures.halo(4))
        )
        y = top + high + 12
    end = left + (whole + 1) * unit + 8
    shapes.append(figures.path(f"M{left} {y - 5}H{end}m-6 -4l6 4l-6 4", LINE, 1.4))
    shapes.append(figures.text(end, y + 11, "time", 12, MUTED, "end"))
    return figures.Drawing(
        figures.svg(shapes, end + 170, y + 15),
        f"{tiles} tiles on {sms} SMs over time. producer_warps: {whole} waves of {sms} tiles, then a wave of {rest} in which "
        f"{sms - rest} SMs have none. even_shares: the same {whole} waves, then the work of {rest} tiles on all {sms} SMs, "
        "which ends earlier.",
    )


def pieces():
    """Tiles that are cut along K: each block has as many K-tiles, in a row."""
    tiles, k_tiles, blocks = 3, 8, 4
    each = tiles * k_tiles // blocks
    cell, left, top, pitch = 32, 58, 4, 62
    fills, letters = (SOFT, ACCENT), (FOREGROUND, GROUND)
    shapes, said = [], []
    for tile in range(tiles):
        y = top + tile * pitch
        shapes.append(figures.text(0, y + 21, f"tile {tile}", 12.5, MUTED))
        runs = []
        for k in range(k_tiles):
            block = (tile * k_tiles + k) // each
            if not runs or runs[-1][0] != block:
                runs.append([block, k, k])
            runs[-1][2] = k
        for block, low, up in runs:
            x, width = left + low * cell, (up - low + 1) * cell
            shapes.append(figures.rect(x, y, width - 2, 32, fills[block % 2]))
            marks = "".join(f"M{x + i * cell - 1} {y}v6m0 20v6" for i in range(1, up - low + 1))
            if marks:
                shapes.append(figures.path(marks, MUTED))
            shapes.append(figures.text(x + width / 2 - 1, y + 21, f"block {block}", 12.5, letters[block % 2], "middle"))
            said.append(f"block {block} has K-tiles {low} to {up} of tile {tile}")
        for _, low, up in runs[:-1]:
            x1, x2 = left + (low + up + 1) / 2 * cell, left + (runs[-1][1] + runs[-1][2] + 1) / 2 * cell
            shapes.append(figures.path(f"M{x1:g} {y + 34}v10H{x2:g}v-9m-4 6l4 -6l4 6", SECOND, 1.6))
    return figures.Drawing(
        figures.svg(shapes, left + k_tiles * cell + 2, top + tiles * pitch - 12),
        f"{tiles} tiles of {k_tiles} K-tiles, dealt out to {blocks} blocks, {each} K-tiles in a row for each: "
        f"{'; '.join(said)}. The sums of an earlier piece go to the block that has the end of the tile.",
    )


def draw(_simulated, _source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    return [
        (
            None,
            "ring",
            ring(),
            "A moment in the ring. An arrow along a barrier leads from those who arrive to those who wait.",
        ),
        (
            None,
            "waves",
            waves(),
            "The tiles of 4096 × 4096 elements on 132 SMs. Hatched: SMs that have no tile while the others end.",
        ),
        (
            None,
            "pieces",
            pieces(),
            "Three tiles of 8 K-tiles for four blocks. An arrow is a fix-up: sums that go to the block with the end of "
            "the tile.",
        ),
    ]
