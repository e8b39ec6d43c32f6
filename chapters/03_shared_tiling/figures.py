"""The drawings of chapter 03: two ways to cut a tile, how a block walks along K, which banks its inner loop reads."""

from warp.chapter import maps, recording, results
from warp.site import figures

LADDER = "GFLOP/s"
ROOFLINE = True
STAIR = ("tiles in", "shared memory")

FOREGROUND, MUTED, SOFT, ACCENT, GROUND = (
    f"var(--draw-{name})" for name in ("foreground", "muted", "soft", "accent", "ground")
)


def two_cuts():
    """A tile of C with the rows of A and the columns of B that it needs, cut in both ways."""
    side, depth, gap = 64, 128, 10

    def panel(title, x, cuts_c):
        left, top = x, 24
        right, below = left + depth + gap, top + depth + gap
        shapes = [f'<text x="{x}" y="14" font-size="13.5" fill="{FOREGROUND}">{title}</text>']

        def piece(at_x, at_y, width, height, fill, text=""):
            shapes.append(
                f'<rect x="{at_x:g}" y="{at_y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
                f'stroke="{MUTED}" stroke-width="1.2"/>'
            )
            if text:
                shapes.append(
                    f'<text x="{at_x + width / 2:g}" y="{at_y + height / 2 + 4:g}" font-size="12" '
                    f'text-anchor="middle" fill="{GROUND if fill == ACCENT else FOREGROUND}">{text}</text>'
                )

        if cuts_c:
            for i in range(2):
                piece(left, below + i * side / 2, depth, side / 2, SOFT, "A")
                piece(right + i * side / 2, top, side / 2, depth, SOFT, "B")
                for j in range(2):
                    piece(right + j * side / 2, below + i * side / 2, side / 2, side / 2, ACCENT)
        else:
            for i in range(4):
                piece(left + i * depth / 4, below, depth / 4, side, SOFT, f"A{i + 1}")
                piece(right, top + i * depth / 4, side, depth / 4, SOFT, f"B{i + 1}")
            piece(right, below, side, side, ACCENT, "C")
        return "".join(shapes)

    width, height = depth + gap + side, 24 + depth + gap + side + 4

    def draw(first, second, across, down):
        return (
            f'<svg viewBox="0 0 {across} {down}" style="max-width: {across}px" xmlns="http://www.w3.org/2000/svg">'
            f'{first}<g transform="translate(0 {height + 12 if down > height else 0})">'
            f"{second}</g></svg>"
        )

    wide = draw(
        panel("cut C: A across, B down", 2, True), panel("cut K: K-tiles", width + 62, False), 2 * width + 66, height
    )
    narrow = draw(
        panel("cut C: A across, B down", 2, True), panel("cut K: K-tiles", 2, False), width + 4, 2 * height + 14
    )
    alt = (
        "Twice the same: a tile of C, the rows of A that it needs to its left, the columns of B above it. On the left the "
        "tile of C is cut into four, and with it A across into two pieces of full length and B down into two. On the "
        "right the tile of C stays whole: A is cut into K-tiles side by side, A1 to A4, and B into K-tiles on top of "
        "each other, B1 to B4."
    )
    return figures.Drawing(wide, alt, narrow)


def draw(simulated, source):
    """(rung, name, drawing, caption) of each; without a rung it stands where the prose names it."""
    cuts_caption = (
        "A tile of C needs rows of A and columns of B, and two ways of cutting make smaller pieces of them. A K-tile is "
        "used up once its products are added; a piece of the cut C is needed again by other tiles of C."
    )
    blocks = {T: {"BM": T, "BN": T, "BK": T, "TM": 1, "TN": 1} for T in (16, 32)}
    kernels = [("03_shared_tiling", f"shared_tiles/tile={T}", block) for T, block in blocks.items()]
    among = {"BM": (8, 128), "BN": (8, 128), "BK": (4, 64)}
    walk = figures.measured_walk(blocks[32], source.parent.parent, kernels, among=among, wide=False)
    walk_caption = "A block on its walk along K. Each K-tile takes the place of the one before it, and the sums stay where they are."

    def example(kernel, line, lanes_differ):
        for request in results.examples_of(simulated, kernel, source, line):
            if request["space"] == "shared" and (len(set(request["addresses"])) > 1) == lanes_differ:
                return maps.of_example(request)
        raise results.ResultsError(f"{source}: no such request of {kernel} on a line with '{line}'")

    inner = "a_tile[ty][l] * b_tile[l][tx]"
    banks = figures.bank_map(
        [
            ("a_tile[ty][l]", example("shared_tiles", inner, False)),
            ("b_tile[l][tx]", example("shared_tiles", inner, True)),
            ("float4 at a_tile[ty][l]", example("wide_reads", "const float4 left", False)),
        ]
    )
    banks_caption = (
        "One request of each kind in the inner loop, as the simulator saw it: 32 banks, and below each that is "
        "used the lanes that it serves. From A a request gets 4 or 16 bytes, from B 128."
    )
    race = figures.warp_time(
        [
            figures.Panel(
                recording.recorded(simulated, "shared_tiles", "--size", "32,32,64", launch=1, blocks=False),
                source,
                [0, 1],
                "with both barriers",
            ),
            figures.Panel(
                recording.recorded(simulated, "no_second_barrier", blocks=False), source, [0, 1], "without the second"
            ),
        ],
        "Two warps of a block that walks over two K-tiles, with both barriers and without the second.",
    )
    return [
        (None, "cuts", two_cuts(), cuts_caption),
        (None, "walk", walk, walk_caption),
        (
            None,
            "resident",
            figures.resident(1024, 32, 112),
            "An SM with blocks of 1024 threads and 112 KiB, as for BK = 448. A block starts when all that it needs is free.",
        ),
        (
            None,
            "race",
            race,
            "Warps 0 and 1 of a block of 32 × 32 threads on two K-tiles, as the simulator recorded them. An upright line is a barrier. "
            "Framed: between the same two barriers one warp stores to words that another one accesses, and nothing orders the two.",
        ),
        ("wide_reads", "banks", banks, banks_caption),
    ]
