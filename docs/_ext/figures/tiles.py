"""Matrices cut into tiles and blocks, and what a warp reads of them."""

from __future__ import annotations

from figures.drawing import ACCENT, FOREGROUND, LINE, MUTED, SOFT, Drawing, escape, svg


def tile_walk(m: int, n: int, k: int, tile: int, block: tuple[int, int]) -> Drawing:
    """The matrices of C = A B with their tiles, B above C and A to the left of it; the tile of C that `block`
    (row, column) computes, and the tiles of A and B that it takes for it, numbered K-tile by K-tile."""
    scale = 336 / (k + n)
    gap, top, left = 26, 22, 4
    block_row, block_col = block
    shapes = []

    def matrix(
        name: str, words: str, x: float, y: float, rows: int, cols: int, marked: dict[tuple[int, int], str], fill: str
    ) -> None:
        for (row, col), text in marked.items():
            width, height = min(tile, cols - col * tile) * scale, min(tile, rows - row * tile) * scale
            x1, y1 = x + col * tile * scale, y + row * tile * scale
            shapes.append(f'<rect x="{x1:.1f}" y="{y1:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>')
            if text:
                shapes.append(
                    f'<text x="{x1 + width / 2:.1f}" y="{y1 + height / 2 + 4:.1f}" font-size="12.5" '
                    f'text-anchor="middle" fill="{FOREGROUND}">{text}</text>'
                )
        lines = "".join(f"M{x + at * scale:.1f} {y:.1f}v{rows * scale:.1f}" for at in range(tile, cols, tile))
        lines += "".join(f"M{x:.1f} {y + at * scale:.1f}h{cols * scale:.1f}" for at in range(tile, rows, tile))
        shapes.append(f'<path d="{lines}" stroke="{LINE}" stroke-width="1" fill="none"/>')
        shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{cols * scale:.1f}" height="{rows * scale:.1f}" '
            f'fill="none" stroke="{MUTED}" stroke-width="1.4"/>'
        )
        shapes.append(
            f'<text x="{x:.1f}" y="{y - 7:.1f}" font-size="13" fill="{MUTED}"><tspan font-weight="600" '
            f'fill="{FOREGROUND}">{name}</tspan> {words}</text>'
        )

    k_tiles = -(-k // tile)
    right, below = left + k * scale + gap, top + k * scale + gap
    matrix("A", f"{m} × {k}", left, below, m, k, {(block_row, i): str(i + 1) for i in range(k_tiles)}, SOFT)
    matrix("B", f"{k} × {n}", right, top, k, n, {(i, block_col): str(i + 1) for i in range(k_tiles)}, SOFT)
    matrix("C", f"{m} × {n}", right, below, m, n, {(block_row, block_col): ""}, ACCENT)
    width, height = right + n * scale + 4, below + m * scale + 4
    alt = (
        f"C of {m} x {n}, A of {m} x {k} to its left and B of {k} x {n} above it, cut into tiles of {tile} x {tile}. "
        f"One tile of C is marked, in row {block_row + 1} and column {block_col + 1} of its tiles. The {k_tiles} tiles "
        f"of A in that row are numbered 1 to {k_tiles} from left to right, the {k_tiles} tiles of B in that column 1 to "
        f"{k_tiles} from top to bottom: at K-tile i the block takes the two tiles with the number i."
    )
    return Drawing(svg(shapes, width, height), alt)


def block_grid(rows: int, cols: int, block: tuple[int, int], working: list[list[int]]) -> Drawing:
    """The blocks that cover a matrix, `block` threads each (rows, columns), to scale: the matrix is filled, and each
    block has its kind and the number of its threads that have an element, which is what `working` says."""
    high, wide = block
    scale, left, top = 100 / wide, 2, 22
    if [len(row) for row in working] != [-(-cols // wide)] * -(-rows // high):
        raise ValueError(f"{rows} x {cols} in blocks of {high} x {wide}: not {working}")

    def kind(i: int, j: int) -> str:
        right, bottom = (j + 1) * wide > cols, (i + 1) * high > rows
        return "corner" if right and bottom else "right edge" if right else "bottom edge" if bottom else "inside"

    shapes = [
        f'<text x="{left}" y="{top - 8}" font-size="13" fill="{MUTED}">{rows} × {cols} elements, blocks of '
        f"{high} × {wide} threads</text>",
        f'<rect x="{left}" y="{top}" width="{cols * scale:g}" height="{rows * scale:g}" fill="{SOFT}"/>',
    ]
    for i, line in enumerate(working):
        for j, count in enumerate(line):
            x, y = left + j * wide * scale, top + i * high * scale
            shapes.append(
                f'<rect x="{x:g}" y="{y:g}" width="{wide * scale:g}" height="{high * scale:g}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1"/>'
            )
            for text, size, below, colour in ((f"{count:,}", 15, 0, FOREGROUND), (kind(i, j), 12, 17, MUTED)):
                shapes.append(
                    f'<text x="{x + wide * scale / 2:g}" y="{y + high * scale / 2 + below:g}" '
                    f'font-size="{size}" text-anchor="middle" fill="{colour}">{text}</text>'
                )
    shapes.append(
        f'<rect x="{left}" y="{top}" width="{cols * scale:g}" height="{rows * scale:g}" fill="none" '
        f'stroke="{ACCENT}" stroke-width="2.5"/>'
    )
    width, height = left + len(working[0]) * wide * scale + 2, top + len(working) * high * scale + 2
    alt = (
        f"A matrix of {rows} x {cols} elements, covered by {len(working)} x {len(working[0])} blocks of {high} x {wide} "
        "threads. The threads that have an element, block by block: "
        + "; ".join(
            ", ".join(f"{count} ({kind(i, j)})" for j, count in enumerate(line)) for i, line in enumerate(working)
        )
        + "."
    )
    return Drawing(svg(shapes, width, height), alt)


Places = list[tuple[int, int]]  # row and column of an element, for each lane


def warp_reads(kernels: list[tuple[str, Places, Places, Places]]) -> Drawing:
    """What a warp reads in one turn of a loop along K, and what it computes. Each kernel: its name, and the place of
    each lane's element in a piece of A of 32 x 8, in one of B of 8 x 32 above it, and in a tile of C of 32 x 32. What
    comes along in the same sectors, eight neighbours of a row, is marked as well."""
    cell, gap, top = 8, 22, 56
    tile, piece = 32 * cell, 8 * cell
    wide, high = piece + gap + tile, top + piece + gap + tile

    def sectors(places: Places) -> set[tuple[int, int]]:
        return {(row, col // 8 * 8) for row, col in places}

    def one(at: int, below: int, name: str, a: Places, b: Places, c: Places) -> list[str]:
        shapes = [
            f'<text x="{at}" y="{below + 14}" font-size="14" fill="{FOREGROUND}"><tspan class="mono">'
            f"{escape(name)}</tspan></text>",
            f'<text x="{at}" y="{below + 31}" font-size="12.5" fill="{MUTED}">{words(a, b)}</text>',
        ]
        for label, places, x, y, rows, cols in (
            ("A", a, at, below + top + piece + gap, 32, 8),
            ("B", b, at + piece + gap, below + top, 8, 32),
            ("C", c, at + piece + gap, below + top + piece + gap, 32, 32),
        ):
            shapes.append(
                f'<text x="{x}" y="{y - 6}" font-size="13" font-weight="600" fill="{FOREGROUND}">{label}</text>'
            )
            if label != "C":
                shapes += [
                    f'<rect x="{x + col * cell}" y="{y + row * cell}" width="{8 * cell}" height="{cell}" '
                    f'fill="{SOFT}"/>'
                    for row, col in sorted(sectors(places))
                ]
            shapes += [
                f'<rect x="{x + col * cell + 0.5:g}" y="{y + row * cell + 0.5:g}" width="{cell - 1}" '
                f'height="{cell - 1}" fill="{ACCENT}"/>'
                for row, col in sorted(set(places))
            ]
            shapes.append(
                f'<rect x="{x}" y="{y}" width="{cols * cell}" height="{rows * cell}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1.2"/>'
            )
        return shapes

    def words(a: Places, b: Places) -> str:
        return "; ".join(
            f"of {name} {len(set(places))} float{'' if len(set(places)) == 1 else 's'} in "
            f"{len(sectors(places))} sector{'' if len(sectors(places)) == 1 else 's'}"
            for name, places in (("A", a), ("B", b))
        )

    def draw(side_by_side: bool) -> str:
        shapes, x, y = [], 1, 0
        for kernel in kernels:
            shapes += one(x, y, *kernel)
            x, y = (x + wide + 44, y) if side_by_side else (x, y + high + 24)
        width, height = (x - 44 + 1, high + 2) if side_by_side else (wide + 2, y - 24 + 2)
        return svg(shapes, width, height)

    alt = "What the 32 lanes of a warp read in one turn. " + " ".join(
        f"{name}: {words(a, b)}; they compute {len({row for row, _ in c})} x {len({col for _, col in c})} elements of C."
        for name, a, b, c in kernels
    )
    return Drawing(draw(True), alt, draw(False))
