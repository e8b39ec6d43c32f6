"""Matrices cut into tiles and blocks, and what a warp reads of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warp.chapter import results
from warp.machinecode import occupancy
from warp.site.figures.drawing import (
    ACCENT,
    FOREGROUND,
    GROUND,
    LINE,
    MUTED,
    SOFT,
    Drawing,
    mono,
    path,
    rect,
    svg,
    text,
)
from warp.site.figures.roles import colour, fill, legend

EDGE, DEPTH = 256, 128  # of the part of a product that is drawn


def measured_walk(
    sizes: dict[str, int], chapters: Path, kernels: list[tuple[str, str, dict[str, int]]], **more: Any
) -> Drawing:
    """`tile_walk` with a roofline of what was measured on an H200. `kernels` have the chapter, the rung or rung/variant, and the
    sizes of its blocks; `more` is `among`, the powers of two that each slider goes through, and `wide`, whether threads
    read float4 from shared memory."""
    recorded = {}
    for folder in ("02_naive_gemm", *(folder for folder, _, _ in kernels)):
        recorded[folder] = next(iter(results.load_recorded(chapters / folder / "results").values()))
    rates = {row.variant: row.rate for row in recorded["02_naive_gemm"].of("memory_bandwidth")}
    measured = []
    for folder, name, block in kernels:
        rung, _, variant = name.partition("/")
        of = recorded[folder]
        row = next(r for r in of.of(rung) if r.variant == variant and r.size["K"] == 4096)
        measured.append({"name": variant or rung, "sizes": block, "rate": row.rate})
    return tile_walk(
        sizes,
        {
            "measured": measured,
            "peak": recorded["02_naive_gemm"].limits["fp32_gflop_s"],
            "roofs": [["L2 cache", rates["L2 cache"]], ["HBM", rates["global memory"]]],
            "limits": occupancy.LIMITS["90"]._asdict(),
            **more,
        },
    )


def tile_walk(sizes: dict[str, int], told: dict) -> Drawing:
    """A block of a product at one of its K-tiles: B above C and A to the left of it; what of the K-tile one thread reads,
    and the elements of C that it computes. `sizes` are BM, BN, BK, TM, TN; `told` is what scene_tiles.js needs besides."""
    BM, BN, BK, TM, TN = (sizes[name] for name in ("BM", "BN", "BK", "TM", "TN"))  # noqa: N806  the field's names
    scale, left, gap, top = 0.9, 2, 16, 18
    right, below = left + DEPTH * scale + gap, top + DEPTH * scale + gap
    tile = DEPTH // BK // 2
    x0, y0, k0 = right + (BN < EDGE) * BN * scale, below + (BM < EDGE) * BM * scale, tile * BK * scale
    shapes = []
    lines = "".join(f"M{right:g} {below + at * scale:g}h{EDGE * scale:g}" for at in range(BM, EDGE, BM))
    lines += "".join(f"M{right + at * scale:g} {below:g}v{EDGE * scale:g}" for at in range(BN, EDGE, BN))
    shapes.append(path(lines, LINE))
    for i in range(tile + 1):
        paint, more = ("none", f' stroke="{LINE}"') if i < tile else (fill("shared"), "")
        shapes.append(rect(left + i * BK * scale, y0, BK * scale, BM * scale, paint, more))
        shapes.append(rect(x0, top + i * BK * scale, BN * scale, BK * scale, paint, more))
    shapes.append(rect(x0, y0, BN * scale, BM * scale, colour("computing"), ' fill-opacity="0.3"'))
    row, col = BM // TM // 2 * TM * scale, BN // TN // 2 * TN * scale
    frame = f' stroke="{FOREGROUND}" stroke-width="1.2"'
    for x, y, wide, high, paint in (
        (left + k0, y0 + row, BK, TM, GROUND),
        (x0 + col, top + k0, TN, BK, GROUND),
        (x0 + col, y0 + row, TN, TM, colour("computing")),
    ):
        shapes.append(rect(x, y, wide * scale, high * scale, paint, frame))
    for name, x, y, wide, high in (
        ("A", left, below, DEPTH, EDGE),
        ("B", right, top, EDGE, DEPTH),
        ("C", right, below, EDGE, EDGE),
    ):
        shapes.append(rect(x, y, wide * scale, high * scale, "none", f' stroke="{MUTED}"'))
        shapes.append(text(x, y - 5, name, 13, more=' font-weight="600"'))
    key, tall = legend(
        0, below + EDGE * scale + 14, 340, {"shared": "in shared memory", "computing": "sums in registers"}
    )
    alt = (
        f"A block of a product computes {BM} x {BN} elements of C. It has walked over {tile} of {DEPTH // BK} K-tiles and has the "
        f"next in shared memory, {BM} x {BK} elements of A and {BK} x {BN} of B. One of its threads reads {TM} rows of the one and "
        f"{TN} columns of the other, and keeps {TM} x {TN} sums."
    )
    return Drawing(
        svg([*shapes, *key], right + EDGE * scale + 2, below + EDGE * scale + 14 + tall),
        alt,
        scene="tiles",
        data={"sizes": sizes, **told},
    )


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
        text(left, top - 8, f"{rows} × {cols} elements, blocks of {high} × {wide} threads", 13, MUTED),
        rect(left, top, cols * scale, rows * scale, SOFT),
    ]
    for i, line in enumerate(working):
        for j, count in enumerate(line):
            x, y = left + j * wide * scale, top + i * high * scale
            middle, at = x + wide * scale / 2, y + high * scale / 2
            shapes += [
                rect(x, y, wide * scale, high * scale, "none", f' stroke="{MUTED}"'),
                text(middle, at, f"{count:,}", 15, anchor="middle"),
                text(middle, at + 17, kind(i, j), 12, MUTED, "middle"),
            ]
    shapes.append(rect(left, top, cols * scale, rows * scale, "none", f' stroke="{ACCENT}" stroke-width="2.5"'))
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
        shapes = [text(at, below + 14, mono(name), 14), text(at, below + 31, words(a, b), 12.5, MUTED)]
        for label, places, x, y, rows, cols in (
            ("A", a, at, below + top + piece + gap, 32, 8),
            ("B", b, at + piece + gap, below + top, 8, 32),
            ("C", c, at + piece + gap, below + top + piece + gap, 32, 32),
        ):
            shapes.append(text(x, y - 6, label, 13, more=' font-weight="600"'))
            if label != "C":
                shapes += [
                    rect(x + col * cell, y + row * cell, 8 * cell, cell, fill("wasted"))
                    for row, col in sorted(sectors(places))
                ]
            paint = fill("loaded" if label != "C" else "computing")
            shapes += [
                rect(x + col * cell + 0.5, y + row * cell + 0.5, cell - 1, cell - 1, paint)
                for row, col in sorted(set(places))
            ]
            shapes.append(rect(x, y, cols * cell, rows * cell, "none", f' stroke="{MUTED}" stroke-width="1.2"'))
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
