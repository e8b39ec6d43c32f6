"""The drawings of chapter 09: scenes and a wrong image, which the chapter's program draws, a tile's three steps, and masks."""

import base64
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import figures
from figures import ACCENT, FOREGROUND, GROUND, LINE, MUTED, SECOND, SOFT

from warp.chapter.run import build_folder, digest_of, program_of, write_atomically

SIDE = 132  # of an image on the page
SCENES = ("rgb", "rgby", "pattern", "rand10k", "rand100k", "rand1M=200000", "biglittle", "littlebig", "micro2M=100000",
          "snow=3000", "balls", "fireworks")  # fmt: skip
WRONG_SIDE = 256
CIRCLES = "biglittle=32"  # one warp draws all of them


def rendered(program, scene, pixels, *more):
    """The PNG of a scene, kept beside the program for as long as that stays the same."""
    folder = program.parent / "scenes"
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

    def scene(x, y):
        shapes = [
            figures.rect(x + 16, y + 16, 40, 40, SOFT),
        ]
        for i, (cx, cy, r, hit) in enumerate(circles):
            colour = ACCENT if hit else MUTED
            shapes.append(
                f'<circle cx="{x + cx}" cy="{y + cy}" r="{r}" stroke="{colour}" stroke-width="1.5" fill="none"/>'
            )
            shapes.append(figures.text(x + cx, y + cy + 4, str(i), 11, colour, "middle"))
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

    wide = figures.svg([*scene(0, 30), arrow(130, 86, 40), *steps(200, 20)], 420, 170)
    narrow = figures.svg([*scene(60, 0), *steps(20, 140)], 256, 290)
    alt = (f"Five circles around a square tile. Circles {', '.join(map(str, hits))} touch it. Their flags are "
           f"{flags}, the exclusive scan is {places}, and the list has {hits}.")  # fmt: skip
    return figures.Drawing(wide, alt, narrow)


def masks():
    """Columns and rows of tiles with a bit for each of eight circles, and the tile where they meet."""
    columns = ("11000010", "01101010", "00101001", "00010101")
    rows = ("10100010", "01101000", "00011101")
    cell, left, top = 40, 92, 100
    column, row = 1, 1
    shapes = []
    for i, word in enumerate(columns):
        x = left + cell * i + cell / 2
        colour = ACCENT if i == column else MUTED
        for j, bit in enumerate(word):
            shapes.append(figures.text(x, 14 + 11 * j, bit, 11, colour, "middle"))
    for i, word in enumerate(rows):
        y = top + cell * i + cell / 2 + 4
        shapes.append(figures.text(left - 8, y, word, 11, SECOND if i == row else MUTED, "end", ' letter-spacing="2"'))
    for i in range(len(columns)):
        for j in range(len(rows)):
            fill = SOFT if (i, j) == (column, row) else GROUND
            shapes.append(figures.rect(left + cell * i, top + cell * j, cell, cell, fill, f' stroke="{LINE}"'))
    both = "".join("1" if a == b == "1" else "0" for a, b in zip(columns[column], rows[row]))
    numbers = [i for i, bit in enumerate(both) if bit == "1"]
    y = top + cell * len(rows) + 26
    shapes.append(figures.text(0, y, f"{columns[column]} and {rows[row]} = {both}", 12))
    shapes.append(figures.text(0, y + 18, f"circles {', '.join(map(str, numbers))} for this tile", 12, MUTED))
    alt = (f"A grid of tiles, four columns and three rows. Each column and each row has a word of eight bits. For the tile in "
           f"column {column} and row {row}, {columns[column]} and {rows[row]} give {both}.")  # fmt: skip
    return figures.Drawing(figures.svg(shapes, 256, y + 24), alt)


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
    shapes += chain(84, f"after next[{new - 1}] = atomicExch(&head, {new})", (new, *old), new)
    alt = (f"A list with the links {old[0]} and {old[1]} and the end, 0. After the exchange the head is {new}, and {old[0]} "
           f"comes next.")  # fmt: skip
    return figures.Drawing(figures.svg(shapes, 256, 112), alt)


def draw(simulated, source):
    """(rung, name, drawing, caption) of each; without a rung it stands where the prose names it."""
    program = program_of(source, build_folder())
    return [
        (None, "scenes", scenes(program), "The scenes, drawn by this chapter's program; rand1M, micro2M and snow with fewer "
                                          "circles than the table says."),
        (None, "wrong", wrong(program), "32 circles, drawn in order, and by a thread for each as the simulator runs them. On a "
                                        "GPU, what is lost differs from run to run."),
        (None, "tile", tile(), "What a block does with a batch of circles, here five of 256."),
        (None, "masks", masks(), "Masks of eight circles. A circle touches a tile only if it touches both its column and its "
                                 "row. The nearest circle stands first."),
        (None, "links", links(), "Circle 51 enters a list of a tile, as link 52. What the exchange returns comes next."),
    ]  # fmt: skip
