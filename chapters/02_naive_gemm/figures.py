"""The drawings of chapter 02: the blocks that cover a matrix, the memories of a GPU, and what a warp of either kernel reads."""

import re

from warp.chapter import results
from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, LINE, MUTED, SOFT

LADDER = "GFLOP/s"
ROOFLINE = True
STAIR = ("naive",)


def memories():
    """Where the memories of an H200 lie, who can see each, and on which way a load reaches it."""

    def svg(width):
        shapes = []

        def place(x, y, wide, high, name, words, fill=SOFT, stroke=LINE):
            shapes.append(figures.rect(x, y, wide, high, fill, f' rx="4" stroke="{stroke}" stroke-width="1.2"'))
            shapes.append(figures.text(x + 9, y + 18, f'<tspan font-weight="600">{name}</tspan>') if name else "")
            shapes.append(figures.text(x + 9, y + 35, words, 12.5, MUTED))

        def way(x, y, down, words):
            shapes.append(figures.path(f"M{x} {y}v{down}m-4 -6l4 6l4 -6m-8 {12 - down}l4 -6l4 6", MUTED, 1.4))
            shapes.append(figures.text(x + 14, y + down / 2 + 4, words, 12, MUTED))

        inside = width - 24
        place(1, 1, width - 2, 204, "SM, one of 132", "")
        for i in range(12):  # threads, each with registers of its own
            cell = (inside - 11 * 4) / 12
            marked = i == 4
            shapes.append(
                figures.rect(
                    12 + i * (cell + 4), 30, cell, 22, ACCENT if marked else "none", f' rx="3" stroke="{MUTED}"'
                )
            )
        shapes.append(figures.text(12, 69, '<tspan font-weight="600">registers</tspan>, 256 KiB', 13, FOREGROUND))
        shapes.append(figures.text(12, 86, "each thread sees its own, at most 255 words", 12.5, MUTED))
        place(12, 98, inside * 0.66, 42, "shared memory", "a block sees its own", "var(--draw-ground)", MUTED)
        place(12 + inside * 0.66 + 6, 98, inside * 0.34 - 6, 42, "L1 cache", "the SM", "var(--draw-ground)", MUTED)
        shapes.append(figures.text(12, 155, "256 KiB in all; L1 has what is left", 12.5, MUTED))
        place(12, 164, inside, 34, "constant cache, read only", "", "var(--draw-ground)", MUTED)
        way(24, 207, 24, "misses, in sectors of 32 bytes")
        place(1, 233, width - 2, 44, "L2 cache, 60 MB", "all SMs see it")
        way(24, 279, 24, "misses")
        place(1, 305, width - 2, 44, "global memory, 141 GB", "all threads see it; it holds local memory, too")
        way(24, 351, 24, "copies that the program asks for")
        place(1, 377, width - 2, 30, "host memory", "", "none", MUTED)
        return figures.svg(shapes, width, 410)

    alt = (
        "The memories of an H200, from the nearest to the farthest. In each of 132 SMs: registers, 256 KiB, of which a thread "
        "sees its own; one array of 256 KiB that is shared memory, of which a block sees its own, and for the rest L1 cache; "
        "a constant cache. Below them the L2 cache of 60 MB, which all SMs see, and global memory of 141 GB, which all "
        "threads see and which holds local memory. Host memory is reached by copies."
    )
    return figures.Drawing(svg(460), alt, svg(340))


def draw(simulated, source):
    """(rung, name, drawing, caption) of each."""

    def edges():
        """What edge_blocks printed: the matrix, its blocks, and the working threads of each."""
        said = re.search(
            r"a (\d+) x (\d+) matrix in \d+ x \d+ blocks of (\d+) x (\d+) threads.*\n((?:  [+|].*\n)+)",
            simulated.output,
        )
        if not said:
            raise results.ResultsError(f"{source}: edge_blocks printed no blocks")
        rows, cols, high, wide = map(int, said.groups()[:4])
        lines = [line for line in said[5].splitlines() if "|" in line]
        return figures.block_grid(
            rows, cols, (high, wide), [[int(n) for n in re.findall(r"\d+", line)] for line in lines]
        )

    extents = simulated.rows[0].size

    def places(kernel, line, cols):
        """Row and column of what each lane of the first warp touches, in a matrix of so many columns."""
        at = results.examples_of(simulated, kernel, source, line, 0)[0]["addresses"]
        return [divmod(address // 4, cols) for address in at]

    reads = figures.warp_reads(
        [
            (
                kernel,
                places(kernel, "const float left = a", extents["K"]),
                places(kernel, "const float right = b", extents["N"]),
                places(kernel, "out = beta == 0 ? alpha * sum", extents["N"]),
            )
            for kernel in ("naive_along_rows", "naive_along_columns")
        ]
    )
    return [
        (
            None,
            "memories",
            memories(),
            "The memories of an H200, and who can see them. One thread and its registers are marked.",
        ),
        (
            "edge_blocks",
            "blocks",
            edges(),
            "The blocks of `edge_blocks`, to scale. The matrix is filled; each block has the number of its threads that have "
            "an element.",
        ),
        (
            "naive_along_columns",
            "reads",
            reads,
            "What the first warp of each kernel loads in its first iteration, and the elements of C that it computes, from the "
            "simulator's trace. Filled in A and B is what the lanes load, hatched what comes along in the same sectors. A single "
            "filled square is a broadcast to all 32 lanes.",
        ),
    ]
