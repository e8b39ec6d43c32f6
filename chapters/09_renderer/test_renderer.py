"""Chapter 09: every rung on every scene, files good and bad, images, and kernels with a mistake."""

import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
import zlib

from chapter import Chapter, Mutant, Run

CHAPTER = Chapter("09_renderer")
SCENES = ("rgb", "rgby", "pattern", "rand10k=1500", "rand100k=1500", "rand1M=1500", "biglittle=1000", "littlebig=1000",
          "micro2M=1500", "snow=1500", "balls", "fireworks")  # fmt: skip


def scenes(*names):
    return [word for name in names for word in ("--scene", name)]


def called(*arguments):
    """Exit code, output and errors of the program with these arguments alone."""
    done = subprocess.run([CHAPTER.fast, *arguments], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def pixels_of_png(data):
    """Width, height and the bytes of an RGB image."""
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    raw, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        line = raw[y * (3 * width + 1) : (y + 1) * (3 * width + 1)]
        row = bytearray()
        for i, value in enumerate(line[1:]):
            a, b, c = (row[i - 3] if i >= 3 else 0), above[i], (above[i - 3] if i >= 3 else 0)
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row.append((value + (0, a, b, (a + b) // 2, nearest)[line[0]]) % 256)
        rows.append(bytes(row))
        above = row
    return width, height, b"".join(rows)


def frames_of_gif(data):
    """The frames of a GIF with one palette: (width, height, RGB bytes) of each."""
    width, height = struct.unpack("<HH", data[6:10])
    palette = [data[13 + 3 * i : 16 + 3 * i] for i in range(256)]
    at, frames = 13 + 768, []
    while data[at] != 0x3B:
        if data[at] == 0x21:
            at += 2
        else:
            assert data[at] == 0x2C
            at += 11
            frames.append(b"")
        packed = b""
        while data[at]:
            packed += data[at + 1 : at + 1 + data[at]]
            at += data[at] + 1
        at += 1
        if frames and not frames[-1]:
            frames[-1] = b"".join(palette[i] for i in unpacked(packed))
    return [(width, height, frame) for frame in frames]


def unpacked(packed):
    """The indices of an LZW stream of 8-bit pixels."""
    bits, at, width, out = int.from_bytes(packed, "little"), 0, 9, bytearray()
    while True:
        code = bits >> at & ((1 << width) - 1)
        at += width
        if code == 257:
            return bytes(out)
        if code == 256:
            table, width, before = [bytes([i]) for i in range(256)] + [b"", b""], 9, b""
            continue
        entry = table[code] if code < len(table) else before + before[:1]
        if before:
            table.append(before + entry[:1])
        out += entry
        before = entry
        if len(table) == 1 << width and width < 12:
            width += 1


class Scenes(unittest.TestCase):
    def test_every_rung_draws_every_scene(self):
        run = Run(CHAPTER.fast, "--size", "64x64", *scenes(*SCENES))
        self.assertEqual(run.code, 0, run.explain())
        drawn = {row["variant"] for row in run.rows if row["rung"] == "linked_lists"}
        self.assertEqual(drawn, set(SCENES))

    def test_sizes_that_no_tile_divides(self):
        rungs = [
            word for rung in ("front_to_back", "split_tiles", "sorted_pairs", "masks", "warp_blocks", "linked_lists")
            for word in ("--rung", rung)
        ]  # fmt: skip
        few = scenes("rgb", "rand10k=100", "micro2M=100", "snow=100")
        run = Run(CHAPTER.fast, "--size", "1000x777", *few, "--rung", "ballots", *rungs)
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual(run.rows[0]["size"], {"rows": 777, "cols": 1000})
        # A band of `write_pairs` ends in the middle of a row of tiles.
        run = Run(CHAPTER.fast, "--size", "10000x40", *few, "--rung", "sorted_pairs")
        self.assertEqual(run.code, 0, run.explain())
        for size in ("1x1", "1x40", "33x5"):
            run = Run(CHAPTER.fast, "--size", size, *few)
            self.assertEqual(run.code, 0, run.explain())

    def test_many_words_and_many_chunks(self):
        """More circles than a batch of `warp_blocks` takes at eight words a thread, few of them hidden."""
        run = Run(CHAPTER.fast, "--size", "70x45", *scenes("micro2M=70000"), "--rung", "warp_blocks", "--rung", "masks",
                  "--rung", "sorted_pairs", "--rung", "linked_lists")  # fmt: skip
        self.assertEqual(run.code, 0, run.explain())

    def test_more_small_circles_than_a_pixel_has_room_for(self):
        """A tile has to start again with fewer circles, several times; hard and soft."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "crowd.txt"
            lines = [f".5 .5 0 {i % 7 / 7:.3f} {i % 5 / 5:.1f} {i % 2} {0.004 + i % 9 * 0.01:.3f}" for i in range(1500)]
            file.write_text("\n".join(lines) + "\n")
            for soft in ((), ("--soft",)):
                run = Run(CHAPTER.fast, "--size", "40x40", "--load", str(file), *soft, "--rung", "linked_lists")
                self.assertEqual((run.code, len(run.rows)), (0, 1), run.explain())


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_what_is_saved_can_be_loaded(self):
        first, second = self.folder / "a.txt", self.folder / "b.txt"
        self.assertEqual(called("--scene", "rand10k=50", "--save", first), (0, f"{first}: 50 circles\n", ""))
        self.assertEqual(called("--load", first, "--save", second), (0, f"{second}: 50 circles\n", ""))
        lines = [file.read_text().splitlines()[1:] for file in (first, second)]
        self.assertEqual(len(lines[0]), 51)
        self.assertEqual(*lines)
        run = Run(CHAPTER.fast, "--load", str(first), "--soft", "--rung", "warp_blocks")
        self.assertEqual((run.code, len(run.rows)), (0, 1), run.explain())

    def test_circles_whose_centre_is_far_away(self):
        """Where floats are coarser than pixels, neither a box nor the reference may lose what a pixel's test finds."""
        far = self.folder / "far.txt"
        far.write_text("900000.5 .3 0 1 0 0 900000.2\n100000.5 .3 0 0 1 0 100000.2\n.3 -300000.5 0 0 0 1 300000.8\n")
        run = Run(CHAPTER.fast, "--load", str(far), "--size", "61x90")
        self.assertEqual(run.code, 0, run.explain())

    def test_bad_files_name_the_line(self):
        good = "# a comment\n0 0 0 1 1 1 .5  # and another\n\n"
        for bad, said in (
            ("1 2 3", "there are 3"),
            ("0 0 0 1 1 1 1 1", "there are 8"),
            ("0 0 0 red 1 1 1", "'red' is not a finite number"),
            ("0 0 nan 1 1 1 1", "'nan' is not a finite number"),
            ("0 0 0 1 1.5 1 1", "colour is out of range"),
            ("0 0 0 1 1 1 0", "radius is not positive"),
            ("0 0 0 1 1 1 -1", "radius is not positive"),
            ("2e6 0 0 1 1 1 1", "larger than 1000000"),
            ("1e99 0 0 1 1 1 1", "'1e99' is not a finite number"),
        ):
            file = self.folder / "bad.txt"
            file.write_text(good + bad + "\n")
            with self.subTest(bad=bad):
                code, out, err = called("--load", file)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
                self.assertIn(f"{file}:4: ", err)
                self.assertIn(said, err)
        (self.folder / "empty.txt").write_text("# nothing\n")
        for arguments in (
            ("--load", self.folder / "empty.txt"),
            ("--load", self.folder / "none.txt"),
            ("--load", self.folder),
            ("--scene", "rgbb"),
            ("--scene", "rgb=5"),
            ("--scene", "snow=0"),
            ("--scene", "rgb", "--scene", "rgb"),
            ("--frames", "0"),
            ("--image", ""),
            ("--image", self.folder / "none" / "a.png"),
            ("--gif", self.folder / "none" / "a.gif"),
            ("--save", self.folder / "none" / "a.txt"),
            ("--image", self.folder / "a.jpg"),
            ("--image", ".png"),
            ("--gif", self.folder / "a.png"),
            ("--gif", self.folder / "a.gif"),
            ("--scene", "rgb", "--frames", "2", "--image", self.folder / "a.png"),
            ("--scene", "rgb", "--scene", "snow", "--image", self.folder / "a.png"),
            ("--frames", "2"),
            ("--soft",),
        ):
            with self.subTest(arguments=arguments):
                code, out, err = called(*arguments)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)

    def test_the_page_lists_the_scenes(self):
        code, out, _ = called("--scenes")
        self.assertEqual(code, 0)
        listed = [tuple(line.split(None, 2)) for line in out.splitlines()]
        rows = re.findall(r"^// \| `(\w+)` \| (\d+) \| (.*) \|$", CHAPTER.source.read_text(), re.MULTILINE)
        self.assertEqual(rows, listed)
        self.assertEqual([scene.split("=")[0] for scene in SCENES], [name for name, _, _ in listed])

    def test_images(self):
        png = self.folder / "a.png"
        for more, by in (
            ((), "the reference"),
            (("--rung", "one_by_one"), "one_by_one"),
            (("--rung", "warp_blocks"), "warp_blocks"),
        ):
            code, out, err = called("--scene", "rgb", "--size", "90x61", "--image", png, *more)
            self.assertEqual((code, err), (0, ""))
            self.assertIn(f"{png}: 3 circles, 90 x 61 pixels, drawn by {by}\n", out)
            width, height, pixels = pixels_of_png(png.read_bytes())
            self.assertEqual((width, height), (90, 61))
            # y points upwards: the top row shows y = 60.5 / 90, where the three circles still are; the corner is white.
            self.assertEqual(pixels[:3], bytes([255, 255, 255]))
            # In the middle blue is on green, on red, on white: red ((1 + 1) / 2 / 2 / 2) and so on.
            middle = 3 * (90 * (60 - 45) + 45)
            self.assertEqual(list(pixels[middle : middle + 3]), [64, 96, 159])

    def test_animations(self):
        gif, png = self.folder / "a.gif", self.folder / "a.png"
        code, out, err = called("--scene", "balls", "--size", "61x40", "--frames", "3", "--gif", gif, "--image", png)
        self.assertEqual(code, 0, err)
        self.assertIn("a-0001.png to ", out)
        frames = frames_of_gif(gif.read_bytes())
        self.assertEqual(len(frames), 3)
        shown = [pixels_of_png((self.folder / f"a-000{i}.png").read_bytes()) for i in (1, 2, 3)]
        self.assertNotEqual(shown[0], shown[1])
        for frame, image in zip(frames, shown):
            self.assertEqual(frame[:2], image[:2])
            self.assertEqual(len(frame[2]), len(image[2]))
            # A dither takes a neighbouring level: 255 / 5 apart for red and blue.
            self.assertLessEqual(max(abs(a - b) for a, b in zip(frame[2], image[2])), 52)

    def test_a_gif_with_more_codes_than_its_table_holds(self):
        gif = self.folder / "a.gif"
        self.assertEqual(called("--scene", "rand10k=900", "--size", "150x140", "--frames", "1", "--gif", gif)[0], 0)
        ((width, height, pixels),) = frames_of_gif(gif.read_bytes())
        self.assertEqual(len(pixels), 3 * width * height)


# (function, text, what it becomes, the rung that it spoils)
MUTANTS = [
    ("one_by_one", "c.r, c.g, c.b", "c.r, c.b, c.g", "one_by_one"),
    ("pixel_per_thread", "i < frame.circles", "i + 1 < frame.circles", "pixel_per_thread"),
    ("in_registers", "{1, 1, 1, 0}", "{1, 1, 1, 1}", "in_registers"),
    ("tiles", "list[place - 1] = i", "list[total - place] = i", "tiles"),
    ("ballots", "list[place] = i", "list[total - 1 - place] = i", "ballots"),
    ("draw_down", "i = n - 1 - (k + t)", "i = k + t", "front_to_back"),
    ("draw_parts", "all.w * layer.w", "layer.w", "split_tiles"),
    ("count_pairs", "(box.right + TILE - 1) / TILE", "box.right / TILE", "sorted_pairs"),
    ("draw_lists", "end - 1 - t", "end - count + t", "sorted_pairs"),
    ("masks", "y + 8 * s, frame.scale", "y + 7 * s, frame.scale", "masks"),
    ("warp_blocks", "sums[s].w >= DARK", "sums[s].w >= 0x1p-6f", "warp_blocks"),
    ("draw_linked", "noted[place][pixel] = i + 1", "noted[place][pixel] = n - i", "linked_lists"),
    ("sort_down", "max(numbers[i], numbers[i + d])", "numbers[i]", "linked_lists"),
]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        with Mutant(CHAPTER, [mutant[:3] for mutant in MUTANTS]) as program:
            run = program.run()
            self.assertEqual(run.code, 1, run.explain())
            for _, _, mistake, rung in MUTANTS:
                with self.subTest(rung=rung, mistake=mistake):
                    rows = [row for row in run.rows if row["rung"] == rung]
                    self.assertIn("FAIL", [row["status"] for row in rows], run.explain())
                    said = [row["reason"] for row in rows if row["status"] == "FAIL"]
                    self.assertTrue(all("values are wrong" in reason for reason in said), said)
