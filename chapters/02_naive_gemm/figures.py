"""The drawings of chapter 02: the blocks that cover a matrix, and what a warp of either kernel reads."""

import re

import figures

from course import results


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

    extents = simulated.rows[0]["size"]

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
            "simulator's trace. Green is what the lanes load, grey what comes along in the same sectors. A single green "
            "square is a broadcast to all 32 lanes.",
        ),
    ]
