"""The drawings of chapter 06: sectors of strides and structs, a tile that turns rows into columns, and its banks."""

from warp.chapter import maps, results
from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT

LADDER = "GB/s"

EDGE, CELL = 8, 24  # of the tiles drawn here: 8 x 8 stands for 32 x 32


def box(x, y, columns, rows, cell=CELL, stroke=MUTED):
    return figures.rect(x, y, columns * cell, rows * cell, "none", f' stroke="{stroke}" stroke-width="1.2"')


def lines(x, y, columns, rows, cell=CELL):
    upright = "".join(f"M{x + i * cell:g} {y:g}v{rows * cell:g}" for i in range(1, columns))
    across = "".join(f"M{x:g} {y + i * cell:g}h{columns * cell:g}" for i in range(1, rows))
    return figures.path(upright + across, LINE)


def tile():
    """A row of in, the same row of the tile, a column of the tile, a row of out."""
    row, column, cell, gap, top = 2, 5, 15, 24, 40
    side = EDGE * cell
    shapes, x = [], 1
    for name, above in (("in", "a warp loads a row"), ("tile", "row in, column out"), ("out", "a warp stores a row")):
        shapes.append(figures.text(x, 14, f'<tspan class="mono">{name}</tspan>', 13.5))
        shapes.append(figures.text(x, 31, above, 12, MUTED))
        if name != "out":
            shapes.append(figures.rect(x, top + row * cell, side, cell, ACCENT))
        if name == "tile":
            shapes.append(figures.rect(x + column * cell, top, cell, side, SECOND))
        if name == "out":
            shapes.append(figures.rect(x, top + column * cell, side, cell, SECOND))
        shapes += [lines(x, top, EDGE, EDGE, cell), box(x, top, EDGE, EDGE, cell)]
        if name != "out":
            shapes.append(figures.path(f"M{x + side + 4} {top + side / 2:g}h{gap - 8}m-5 -4l5 4l-5 4", MUTED, 1.4))
        x += side + gap
    return figures.Drawing(
        figures.svg(shapes, x - gap + 1, top + side + 2),
        f"Three squares of {EDGE} x {EDGE}: a tile of in, the tile in shared memory, and a tile of out. A warp loads row "
        f"{row} of in and stores it as row {row} of the shared tile. After the barrier a warp reads column {column} of the "
        f"shared tile and stores it as row {column} of out.",
    )


def bank_tiles(kinds):
    """Tiles of 8 x 8 words in 8 banks, each word with its bank; a column and a row of the matrix are marked. Each kind: its
    name, how many words a row of it has, and the word at which element (row, column) lies in its row."""
    row, column, top, gap = 6, 2, 42, 34

    def one(name, pitch, word, x):
        banks = sorted({(r * pitch + word(r, column)) % EDGE for r in range(EDGE)})
        many = f"{len(banks)} bank{'' if len(banks) == 1 else 's'}"
        shapes = [
            figures.text(x, 14, name, 13.5),
            figures.text(x, 31, f"a column of the matrix: {many}", 11.5, MUTED),
        ]
        of = {(r, word(r, c)): (r, c) for r in range(EDGE) for c in range(EDGE)}
        for r in range(EDGE):
            for w in range(pitch):
                element = of.get((r, w))
                x0, y0 = x + w * CELL, top + r * CELL
                in_column, in_row = element and element[1] == column, element and element[0] == row
                if in_column or in_row:
                    shapes.append(figures.rect(x0, y0, CELL, CELL, ACCENT if in_column else SOFT))
                colour = GROUND if in_column else FOREGROUND if in_row else MUTED
                shapes.append(
                    figures.text(
                        x0 + CELL / 2, y0 + 16, (r * pitch + w) % EDGE if element else "–", 12, colour, "middle"
                    )
                )
        shapes += [lines(x, top, pitch, EDGE), box(x, top, pitch, EDGE)]
        said = ", ".join(str((r * pitch + word(r, column)) % EDGE) for r in range(EDGE))
        return shapes, f"{name}: the elements of column {column} lie in banks {said}."

    shapes, sentences, x = [], [], 1
    for name, pitch, word in kinds:
        more, said = one(name, pitch, word, x)
        shapes += more
        sentences.append(said)
        x += pitch * CELL + gap
    return figures.Drawing(
        figures.svg(shapes, x - gap + 1, top + EDGE * CELL + 2),
        f"Tiles of {EDGE} x {EDGE} words in {EDGE} banks. {' '.join(sentences)}",
    )


def tile_orders():
    """Which tiles of out the first blocks write, in both orders."""
    tiles, first, cell, top = 10, 24, 15, 24
    shapes, x = [], 1
    for name, along_out in (("along=in", False), ("along=out", True)):
        shapes.append(figures.text(x, 14, f'<tspan class="mono">{name}</tspan>', 13.5))
        for block in range(first):
            low, high = block % tiles, block // tiles
            row, col = (high, low) if along_out else (low, high)
            shapes.append(figures.rect(x + col * cell, top + row * cell, cell, cell, ACCENT))
        shapes += [lines(x, top, tiles, tiles, cell), box(x, top, tiles, tiles, cell)]
        x += tiles * cell + 34
    return figures.Drawing(
        figures.svg(shapes, x - 33, top + tiles * cell + 2),
        f"The tiles of out, {tiles} x {tiles}, of which the first {first} are marked in the order of the blocks. With "
        f"along=in they fill columns of out from the left, with along=out rows of out from the top.",
    )


def registers():
    """Four float4 that a thread loads, one of each of four rows; its columns are the float4 that it stores."""
    cell, top, gap, x = 34, 40, 90, 1
    shapes = []
    for name, above, by_row in (
        ("4 loads of a thread", "a row of in each", True),
        ("4 stores", "a column each", False),
    ):
        shapes += [figures.text(x, 14, name, 13.5), figures.text(x, 31, above, 12, MUTED)]
        for n in range(4):
            at = (x, top + n * cell, 4 * cell, cell) if by_row else (x + n * cell, top, cell, 4 * cell)
            shapes.append(figures.rect(*at, (ACCENT, SOFT)[n % 2]))
        for row in range(4):
            for column in range(4):
                dark = (row if by_row else column) % 2 == 0
                shapes.append(
                    figures.text(
                        x + (column + 0.5) * cell,
                        top + row * cell + 22,
                        f"r{4 * row + column}",
                        12,
                        GROUND if dark else FOREGROUND,
                        "middle",
                    )
                )
        shapes.append(box(x, top, 4, 4, cell))
        if by_row:
            shapes.append(figures.path(f"M{x + 4 * cell + 18} {top + 2 * cell}h{gap - 36}m-6 -5l6 5l-6 5", MUTED, 1.4))
        x += 4 * cell + gap
    return figures.Drawing(
        figures.svg(shapes, x - gap + 1, top + 4 * cell + 2),
        "A square of 4 x 4 registers, r0 to r15, twice. A thread loads its four rows, r0 to r3 first, and stores its four "
        "columns, r0, r4, r8 and r12 first. No register moves.",
    )


def pitch():
    """Rows of out that begin within a sector, and where blocks cut them."""
    unit, sector, left, high = 7, 8, 74, 20
    words, tile_words = 44, 20  # drawn of a row, and those of the first tile
    starts = (3, 2, 1)  # at which word of a sector each row begins
    shapes, y = [], 0

    def rows(name, cuts):
        nonlocal y
        shapes.append(figures.text(0, y + 14, f'<tspan class="mono">{name}</tspan>', 13.5))
        for i, start in enumerate(starts):
            at = y + 26 + i * (high + 8)
            shapes.append(figures.text(0, at + 14, f"row {i} of out", 11.5, MUTED))
            edges = [0, *cuts(start), words]
            for n, (low, up) in enumerate(zip(edges, edges[1:])):
                shapes.append(figures.rect(left + low * unit, at, (up - low) * unit, high, SECOND if n % 2 else SOFT))
            ticks = [word for word in range(words + 1) if (start + word) % sector == 0]
            shapes.append(
                figures.path("".join(f"M{left + word * unit:g} {at - 3:g}v{high + 6}" for word in ticks), FOREGROUND, 1)
            )
            for cut in cuts(start):
                if cut not in ticks:
                    low = max(word for word in [0, *ticks] if word < cut)
                    up = min(word for word in [*ticks, words] if word > cut)
                    shapes.append(
                        figures.rect(
                            left + low * unit,
                            at,
                            (up - low) * unit,
                            high,
                            "none",
                            f' stroke="{ACCENT}" stroke-width="2.2"',
                        )
                    )
        y += 26 + len(starts) * (high + 8) + 12

    rows("vectors", lambda start: (tile_words,))
    rows("whole_sectors", lambda start: (tile_words - (start + tile_words) % sector,))
    return figures.Drawing(
        figures.svg(shapes, left + words * unit + 2, y - 8),
        "Three rows of out, each beginning at another word of a sector, with marks at the ends of the sectors. vectors cuts "
        "all rows at the same word, in the middle of a sector in each, so that two blocks write that sector. whole_sectors "
        "cuts each row where a sector ends, so that every sector has one block that writes it.",
    )


def draw(simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""

    def words(kernel, line, launch=-1):
        examples = results.examples_of(simulated, kernel, source, line, launch)
        return maps.of_example(next(example for example in examples if example["access"] == "load"))

    strided = "out[i] = in[i < per_pass"
    strides = figures.word_map(
        [
            ("copy", words("copy", "if (i < n) out[i] = in[i];")),
            ("copy_offset, offset=1", words("copy_offset", "out[i] = in[i + offset < n", 0)),
            ("copy_strided, stride=2", words("copy_strided", strided, 0)),
            ("copy_strided, stride=8", words("copy_strided", strided, 1)),
        ]
    )
    structs = figures.word_map(
        [
            ("points_aos: in[3 * p]", words("points_aos", "x = in[3 * p]")),
            ("points_soa: in[p]", words("points_soa", "x = in[p]")),
        ]
    )
    plain = ("pad=0", EDGE, lambda r, c: c)
    return [
        (
            None,
            "strides",
            strides,
            "One load request of a warp. Each group of eight squares is a sector; filled are the words that a lane reads.",
        ),
        (None, "structs", structs, "The load of x by a warp, from an array of structs and from a struct of arrays."),
        (
            None,
            "tile",
            tile(),
            "One tile on its way. Global memory sees rows only; the columns are left to shared memory.",
        ),
        (
            None,
            "padding",
            bank_tiles([plain, ("pad=1", EDGE + 1, lambda r, c: c)]),
            "The bank of each word, drawn with 8 banks and tiles of 8 × 8. Filled: a column, which a warp reads. Shaded: a "
            "row, which a warp stores.",
        ),
        (
            None,
            "swizzle",
            bank_tiles([plain, ("swizzled", EDGE, lambda r, c: c ^ r)]),
            "The same tile, without padding and swizzled. Where column 2 lies now: word 2 ^ row of each row.",
        ),
        (
            None,
            "registers",
            registers(),
            "The registers of a thread of `vectors`. What was loaded by rows is stored by columns; nothing is moved.",
        ),
        (
            None,
            "orders",
            tile_orders(),
            "Tiles of out. Filled: those of the blocks that run first, and so at the same time.",
        ),
        (
            None,
            "pitch",
            pitch(),
            "Rows of out in memory; a mark is the end of a sector, a change of colour the end of a block's tile. Framed: the "
            "sectors that two blocks write.",
        ),
    ]
