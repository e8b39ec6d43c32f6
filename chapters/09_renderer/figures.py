"""The drawings of chapter 09: scenes and a wrong image, which the chapter's program draws, a tile's three steps,
masks and levels."""

import base64
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

from warp.base.files import write_atomically
from warp.chapter.run import digest_of, work_of
from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, LINE, MUTED, SOFT

LADDER = "times"

SIDE = 132  # of an image on the page
SCENES = ("rgb", "rgby", "pattern", "rand10k", "rand100k", "rand1M=200000", "biglittle", "littlebig", "micro2M=100000",
          "snow=3000", "balls", "fireworks")  # fmt: skip
WRONG_SIDE = 256
CIRCLES = "biglittle=32"  # one warp draws all of them


def rendered(program, scene, pixels, *more):
    """The PNG of a scene, kept with the program's run for as long as that stays the same."""
    folder = work_of(program) / "scenes"
    kept = folder / digest_of(program) / ("_".join([scene, str(pixels), *more]) + ".png")
    if not kept.exists():
        for old in folder.glob("*"):
            if old != kept.parent:
                shutil.rmtree(old)
        write_atomically(kept, drawn(program, scene, pixels, *more))
    return kept.read_bytes()


def drawn(program, scene, pixels, *more):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "image.png"
        subprocess.run(
            [program, "--scene", scene, "--size", f"{pixels},{pixels}", "--image", file, *more],
            capture_output=True,  # the wrong rung's finding
            timeout=120,
            env={**os.environ, "SIMT_JSON": str(Path(folder) / "trace.json")},
        )
        png = file.read_bytes()
    if struct.unpack(">II", png[16:24]) != (pixels, pixels):
        raise ValueError(f"{program}: no image of {scene}")
    return smaller(png)


def smaller(png):
    """The same image, compressed as well as zlib can: the program that writes it is quick rather than thorough."""
    at, chunks = 8, []
    while at < len(png):
        end = at + 12 + struct.unpack(">I", png[at : at + 4])[0]
        chunks.append((png[at + 4 : at + 8], png[at + 8 : end - 4]))
        at = end
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    chunks = [(b"IHDR", chunks[0][1]), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b"")]
    parts = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return png[:8] + b"".join(parts)


def image(png, x, y, side):
    data = base64.b64encode(png).decode()
    return f'<image href="data:image/png;base64,{data}" x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}"/>'


def gallery(images, columns, side=SIDE):
    """Named images in rows."""
    shapes = []
    for i, (name, png) in enumerate(images):
        x, y = i % columns * (side + 12), i // columns * (side + 30)
        shapes += [image(png, x, y, side), figures.text(x, y + side + 16, name, 12, MUTED)]
    rows = -(-len(images) // columns)
    return figures.svg(shapes, columns * (side + 12) - 12, rows * (side + 30))


def scenes(program):
    images = [(scene.split("=")[0], rendered(program, scene, SIDE)) for scene in SCENES]
    alt = "Twelve images: " + ", ".join(name for name, _ in images) + ", each made of circles that shine through."
    return figures.Drawing(gallery(images, 4), alt, gallery(images, 2))


def wrong(program):
    images = [
        ("in order", rendered(program, CIRCLES, WRONG_SIDE)),
        ("all at once", rendered(program, CIRCLES, WRONG_SIDE, "--rung", "circle_per_thread")),
    ]
    alt = ("The same circles twice. In order, each is a clean disc of one tint. Drawn all at once, "
           "streaks and edges run through them where layers are lost or in the wrong order.")  # fmt: skip
    return figures.Drawing(gallery(images, 2, WRONG_SIDE), alt, gallery(images, 1, WRONG_SIDE))


def arrow(x, y, length):
    return figures.path(f"M{x} {y}h{length}m-6 -5l6 5l-6 5", MUTED, 1.5)


def tile():
    """A batch of circles, its flags, and the list that a scan makes of them."""
    circles = ((20, 26, 12, True), (66, 74, 15, False), (44, 46, 22, True), (86, 20, 9, False), (30, 70, 8, True))

    scale = 1.7

    def scene(x, y):
        shapes = []
        for i, (cx, cy, r, hit) in enumerate(circles):
            colour = ACCENT if hit else MUTED
            shapes.append(
                f'<circle cx="{x + cx * scale:g}" cy="{y + cy * scale:g}" r="{r * scale:g}" stroke="{colour}" stroke-width="1.6" '
                f'fill="{SOFT if hit else "none"}" fill-opacity="0.6"/>'
            )
            shapes.append(figures.text(x + cx * scale, y + cy * scale + 4.5, str(i), 13, colour, "middle"))
        tile = 40 * scale
        shapes.append(
            figures.rect(x + 16 * scale, y + 16 * scale, tile, tile, "none", f' stroke="{FOREGROUND}" stroke-width="2"')
        )
        shapes.append(figures.text(x + 16 * scale + tile + 4, y + 16 * scale + 10, "tile", 12, MUTED))
        return shapes

    def row(x, y, name, values, marked):
        shapes = [figures.text(x, y - 6, name, 12, MUTED)]
        for i, value in enumerate(values):
            fill = SOFT if i in marked else "none"
            shapes.append(figures.rect(x + 28 * i, y, 26, 24, fill, f' stroke="{LINE}"'))
            shapes.append(figures.text(x + 28 * i + 13, y + 17, str(value), 12, FOREGROUND, "middle"))
        return shapes

    # Circle 4 has its rim below the tile's lower edge: its flag is decided by the nearest pixel.
    flags = [int(hit) for *_, hit in circles]
    places = [sum(flags[:i]) for i in range(len(flags))]
    hits = [i for i, flag in enumerate(flags) if flag]
    marked = set(hits)

    def steps(x, y):
        return [
            *row(x, y, "1. does circle t touch the tile?", flags, marked),
            *row(x, y + 58, "2. exclusive scan: its place", places, marked),
            *row(x, y + 116, "3. the list, blended by all pixels", hits, set(range(len(hits)))),
        ]

    wide = figures.svg([*scene(0, 4), arrow(186, 86, 40), *steps(262, 20)], 482, 170)
    narrow = figures.svg([*scene(60, 0), *steps(20, 190)], 256, 340)
    alt = (f"Five circles around a square tile. Circles {', '.join(map(str, hits))} touch it. Their flags are "
           f"{flags}, the exclusive scan is {places}, and the list has {hits}.")  # fmt: skip
    return figures.Drawing(wide, alt, narrow)


# Of the drawing of masks: centre and radius of each circle, in tiles of one.
MASKED = ((0.5, 0.45, 0.35), (1.55, 1.4, 0.75), (2.6, 0.6, 0.5), (3.45, 2.5, 0.4),
          (1.3, 1.75, 0.3), (2.8, 2.2, 0.6), (0.45, 2.45, 0.4), (1.85, 1.2, 0.28))  # fmt: skip
COLUMNS, ROWS = 4, 3


def touches(low, at, radius):
    """Whether a circle, seen along one axis, touches the tiles from `low` to `low + 1`."""
    return at + radius > low and at - radius < low + 1


def masks():
    """Columns and rows of tiles with a bit for each of eight circles, and the tile where they meet."""
    columns = [[touches(i, x, r) for x, _, r in MASKED] for i in range(COLUMNS)]
    rows = [[touches(i, y, r) for _, y, r in MASKED] for i in range(ROWS)]
    cell, bit, left, top, column, row = 78, 12, 116, 118, 1, 1

    def word(x, y, bits, down, strong):
        """The bits of a word as squares, to the right or down, filled where they are set."""
        paint = ACCENT if strong else MUTED
        return [
            figures.rect(x + (0 if down else i * bit), y + (i * bit if down else 0), bit - 2, bit - 2, paint if is_set else "none",
                         f' stroke="{paint}"')
            for i, is_set in enumerate(bits)
        ]  # fmt: skip

    both = [a and b for a, b in zip(columns[column], rows[row])]
    shapes = [figures.rect(left + cell * column, top + cell * row, cell, cell, SOFT)]
    for i in range(8):
        shapes.append(figures.text(left - 20, 18 + i * bit, str(i), 11, MUTED, "end"))
    for i, bits in enumerate(columns):
        shapes += word(left + cell * i + cell / 2 - bit / 2, 8, bits, True, i == column)
    for i, bits in enumerate(rows):
        shapes += word(4, top + cell * i + cell / 2 - bit / 2, bits, False, i == row)
    lines = "".join(f"M{left + cell * i} {top}v{cell * ROWS}" for i in range(COLUMNS + 1))
    lines += "".join(f"M{left} {top + cell * i}h{cell * COLUMNS}" for i in range(ROWS + 1))
    shapes.append(figures.path(lines, LINE))
    for number, (x, y, radius) in enumerate(MASKED):
        at_x, at_y, colour = left + x * cell, top + y * cell, ACCENT if both[number] else MUTED
        shapes.append(
            f'<circle cx="{at_x:.4g}" cy="{at_y:.4g}" r="{radius * cell:.4g}" stroke="{colour}" stroke-width="1.6" fill="none"/>'
        )
        shapes.append(figures.text(at_x, at_y + 5, str(number), 13, colour, "middle"))
    y = top + cell * ROWS + 22
    for name, bits in (("its column", columns[column]), ("its row", rows[row]), ("both", both)):
        shapes.append(figures.text(left - 8, y + 10, name, 12, MUTED, "end"))
        shapes += word(left, y, bits, False, name == "both")
        y += bit + 7
    numbers = [i for i, is_set in enumerate(both) if is_set]
    shapes.append(figures.text(left + 8 * bit + 12, y - 9, f"circles {', '.join(map(str, numbers))}", 12.5))

    def said(bits):
        return "".join("1" if is_set else "0" for is_set in bits)

    alt = (f"A grid of tiles, four columns and three rows, with eight circles. Each column and each row has a word of eight bits. "
           f"For the tile in column {column} and row {row}, {said(columns[column])} and {said(rows[row])} give {said(both)}.")  # fmt: skip
    return figures.Drawing(figures.svg(shapes, left + COLUMNS * cell + 4, y), alt)


CIRCLE = (14.4, 12.8, 5.2)  # of the drawing of levels: centre and radius, in pixels of its tile


def levels():
    """One circle through the three levels: columns and rows of tiles, blocks of 8 x 4 pixels in a tile, pixels in a block."""
    tiles, tile, block = (4, 3), (1, 1), (1, 3)  # how many there are, and which is opened
    at_x, at_y, radius = CIRCLE
    side, gap, top = 160, 26, 40

    def inside(left, low, width, height):
        """Whether a pixel of a box is inside: the one nearest to the centre of the circle decides."""
        x = min(max(at_x - 0.5, left), left + width - 1) + 0.5
        y = min(max(at_y - 0.5, low), low + height - 1) + 0.5
        return (x - at_x) ** 2 + (y - at_y) ** 2 <= radius**2

    def grid(x, columns, rows, width, height):
        lines = "".join(f"M{x + i * width:g} {top}v{rows * height:g}" for i in range(columns + 1))
        lines += "".join(f"M{x:g} {top + i * height:g}h{columns * width:g}" for i in range(rows + 1))
        return figures.path(lines, LINE)

    def circle(x, y, scale):
        return f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{radius * scale:.4g}" stroke="{ACCENT}" stroke-width="1.6" fill="none"/>'

    shapes, cell = [], side / tiles[0]
    titles = (
        ("columns and rows of tiles",),
        ("a tile: 4 x 8 blocks", "of 8 x 4 pixels"),
        ("a block: 32 pixels,", "one for each lane"),
    )
    for x, lines in enumerate(titles):
        for i, words in enumerate(lines):
            shapes.append(figures.text(x * (side + gap), 13 + 16 * i, words, 12.5, MUTED))
    shapes += [
        figures.rect(tile[0] * cell, top, cell, tiles[1] * cell, SOFT),
        figures.rect(0, top + tile[1] * cell, side, cell, SOFT),
        grid(0, *tiles, cell, cell),
        circle((tile[0] + at_x / 32) * cell, top + (tile[1] + at_y / 32) * cell, cell / 32),
    ]
    x, scale = side + gap, side / 32
    touched = [(i, j) for j in range(8) for i in range(4) if inside(8 * i, 4 * j, 8, 4)]
    shapes += [figures.rect(x + 8 * i * scale, top + 4 * j * scale, 8 * scale, 4 * scale, SOFT) for i, j in touched]
    shapes += [grid(x, 4, 8, 8 * scale, 4 * scale), circle(x + at_x * scale, top + at_y * scale, scale)]
    x, scale = 2 * (side + gap), side / 8
    pixels = [(i, j) for j in range(4) for i in range(8) if inside(8 * block[0] + i, 4 * block[1] + j, 1, 1)]
    shapes += [figures.rect(x + i * scale, top + j * scale, scale, scale, SOFT) for i, j in pixels]
    shapes.append(grid(x, 8, 4, scale, scale))
    alt = (f"One circle through three levels. It touches one of {tiles[0]} columns and one of {tiles[1]} rows of tiles. In the tile "
           f"where they meet it touches {len(touched)} of 32 blocks. In one of these {len(pixels)} of 32 pixels are inside.")  # fmt: skip
    return figures.Drawing(figures.svg(shapes, 3 * side + 2 * gap + 1, top + side + 2), alt)


def links():
    """A list of a tile before and after a circle has entered it."""

    def chain(y, name, numbers, new):
        shapes = [figures.text(0, y - 8, name, 12, MUTED)]
        for i, number in enumerate(numbers):
            fill = SOFT if number == new else "none"
            shapes.append(figures.rect(62 * i, y, 34, 26, fill, f' stroke="{ACCENT if i == 0 else LINE}"'))
            shapes.append(figures.text(62 * i + 17, y + 18, str(number), 12, FOREGROUND, "middle"))
            if number:
                shapes.append(arrow(62 * i + 37, y + 13, 22))
        return shapes

    old, new = (38, 7, 0), 52
    shapes = chain(24, "head, and the links that follow", old, new)
    shapes += chain(84, f"after next[{new - 1}] = atomicExch(&amp;head, {new})", (new, *old), new)
    alt = (f"A list with the links {old[0]} and {old[1]} and the end, 0. After the exchange the head is {new}, and {old[0]} "
           f"comes next.")  # fmt: skip
    return figures.Drawing(figures.svg(shapes, 256, 112), alt)


def draw(simulated, source):
    """(rung, name, drawing, caption) of each; without a rung it stands where the prose names it."""
    program = simulated.program
    return [
        (None, "scenes", scenes(program), "The scenes, drawn by this chapter's program; rand1M, micro2M and snow with fewer "
                                          "circles than the table says."),
        (None, "wrong", wrong(program), "32 circles, drawn in order, and by a thread for each as the simulator runs them. On a "
                                        "GPU, what is lost differs from run to run."),
        (None, "tile", tile(), "What a block does with a batch of circles, here five of 256."),
        (None, "masks", masks(), "Masks of eight circles. A circle touches a tile only if it touches both its column and its "
                                 "row. The nearest circle stands first."),
        (None, "levels", levels(), "One circle through the three levels. Each tests finer, and only what the one before has left."),
        (None, "links", links(), "Circle 51 enters a list of a tile, as link 52. What the exchange returns comes next."),
    ]  # fmt: skip
