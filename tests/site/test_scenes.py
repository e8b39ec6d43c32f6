"""The figures with steps: their models say what the simulator and the course's own tools say, and everyone can use them."""

import html
import json
import shutil
import tempfile
import unittest
from pathlib import Path

import sample

import browser

from warp.chapter import run
from warp.machinecode import occupancy
from warp.site import figures, live

NEEDS = ["chapters"]

STATIC = sample.ROOT / "docs" / "_static"
SCENES = ("warp", "sm", "tiles", "lookback", "ring")
BYTES = 25_000
SIZES = {"BM": 128, "BN": 128, "BK": 8, "TM": 8, "TN": 8}


def walk(**sizes):
    return figures.tile_walk(
        {**SIZES, **sizes},
        {
            "measured": [],
            "peak": 66000,
            "roofs": [["L2 cache", 8148]],
            "limits": occupancy.limits("sm_90")._asdict(),
            "among": {"BM": (16, 256), "BK": (4, 64)},
            "wide": True,
        },
    )


class Files(unittest.TestCase):
    def test_each_is_small(self):
        for scene in SCENES:
            files = ["player.js", *live.files_of(scene)]
            own = [name for name in files if name not in ("rules.js", "access.js")]  # the live figure's
            size = sum((STATIC / name).stat().st_size for name in own)
            self.assertLess(size, BYTES, own)

    def test_the_stills(self):
        held = figures.resident(256, 129, 8)
        self.assertIn("1 fit, 12% of its warps.", held.alt)
        self.assertIn("The registers are used up first.", held.alt)
        self.assertEqual(figures.resident(256, 128, 8).svg.count("role-computing"), 3 * 2 + 1)
        self.assertIn("walked over 8 of 16 K-tiles", walk().alt)
        self.assertIn("reads 8 rows of the one and 4 columns of the other, and keeps 8 x 4 sums", walk(TN=4).alt)


class Played(browser.InABrowser):
    def page(self, drawing=None, **how):
        """A page with all scenes, and a figure."""
        folder = Path(tempfile.mkdtemp(prefix="warp-scene-"))
        self.addCleanup(shutil.rmtree, folder)
        names = list(dict.fromkeys(["player.js", *(name for scene in SCENES for name in live.files_of(scene))]))
        for name in [*names, "player.css"]:
            shutil.copy(STATIC / name, folder)
        figure = ""
        if drawing:
            told = html.escape(json.dumps(drawing.data))
            figure = (
                f'<div class="player" data-scene="{drawing.scene}" data-told="{told}"><div>{drawing.svg}</div></div>'
            )
        scripts = "".join(f'<script defer src="{name}"></script>' for name in names)
        (folder / "page.html").write_text(
            f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="player.css">{figure}{scripts}'
        )
        page = self.browser.new_page(**how)
        self.addCleanup(page.close)
        page.set_default_timeout(browser.PATIENCE)
        page.goto((folder / "page.html").as_uri())
        return page

    def test_blocks_on_an_sm(self):
        page = self.page()
        limits = occupancy.limits("sm_90")
        cases = [
            (threads, registers, kib)
            for threads in (32, 96, 128, 256, 512, 640, 1024)
            for registers in (16, 32, 40, 64, 128, 129, 168, 255)
            for kib in (0, 8, 48, 112, 113, 227)
        ]
        ours = page.evaluate(
            "([limits, cases]) => cases.map(([t, r, s]) => warpPlayer.models.sm(limits, t, r, 1024 * s).blocks)",
            [limits._asdict(), cases],
        )
        theirs = [occupancy.occupancy("sm_90", t, r, 1024 * kib).blocks for t, r, kib in cases]
        self.assertEqual(ours, theirs)
        self.assertGreater(len(set(theirs)), 8)

    def test_wavefronts_of_a_product(self):
        """At the sizes of chapters 03 and 04 an FMA takes as many wavefronts as the simulator counts."""
        page = self.page()

        def ask(sizes, wide):
            return page.evaluate("([sizes, wide]) => warpPlayer.models.tiles.perFma(sizes, wide)", [sizes, wide])

        square = {"BM": 32, "BN": 32, "BK": 32, "TM": 1, "TN": 1}
        kernels = [
            ("03_shared_tiling", "shared_tiles", "tile=32", square, False),
            (
                "03_shared_tiling",
                "shared_tiles",
                "tile=16",
                dict.fromkeys(("BM", "BN", "BK"), 16) | {"TM": 1, "TN": 1},
                False,
            ),
            ("03_shared_tiling", "wide_reads", None, square, True),
            ("04_register_tiling", "thread_tile_2d", None, SIZES, True),
        ]
        for chapter, rung, variant, sizes, wide in kernels:
            with self.subTest(rung=rung, variant=variant):
                source = sample.ROOT / "chapters" / chapter / f"{chapter[3:]}.cu"
                build = run.build_folder()
                if not run.program_of(source, build).exists():
                    self.skipTest(f"{chapter} is not built")
                rows = run.simulated_run(source, build).rows
                row = next(r for r in rows if r.rung == rung and (r.variant or None) == variant)
                m, n, k = (-(-row.size[axis] // sizes[of]) * sizes[of] for axis, of in zip("MNK", ("BM", "BN", "BK")))
                fmas = m * n * k / 32
                self.assertAlmostEqual(ask(sizes, wide), row.counts["shared_load_wavefronts"] / fmas, places=6)

    def test_a_block_that_there_cannot_be(self):
        page = self.page(walk())
        said = page.locator(".said")
        self.assertIn("bounded by shared memory", said.inner_text())
        page.locator('input[max="4"]').first.fill("0")  # BM, down to 16: of 4 powers of two
        self.assertIn("K-tile", said.inner_text())
        wrong = page.evaluate(
            "(told) => [[16, 16, 4, 16, 16], [256, 256, 8, 1, 1], [256, 256, 256, 16, 16]].map(([BM, BN, BK, TM, TN]) => "
            "warpPlayer.models.tiles.judge({ BM, BN, BK, TM, TN }, told).wrong)",
            walk().data,
        )
        self.assertEqual(
            wrong,
            [
                "A warp has 32 lanes, and this block 1 threads.",
                "A block has at most 1,024 threads, and this one would have 65,536.",
                "A block may have 227 KiB of shared memory, and these K-tiles take 512.",
            ],
        )

    def test_look_back(self):
        """No tile knows its prefix before its predecessors have published, the chain is the slowest way, and a seed says all."""
        page = self.page()
        ask = "([way, latency, spread, seed]) => warpPlayer.models.lookback({ way, latency, spread, seed })"
        for seed in range(1, 6):
            for latency, spread in ((0.05, 2), (0.4, 0.5), (0.8, 0)):
                ends = []
                for way in ("chained", "look back, 1 lane", "look back, 32 lanes"):
                    tiles = page.evaluate(ask, [way, latency, spread, seed])
                    self.assertEqual(tiles, page.evaluate(ask, [way, latency, spread, seed]))
                    self.assertEqual(len(tiles), 32)
                    for i, tile in enumerate(tiles):
                        self.assertGreaterEqual(tile["prefix"] + 1e-9, max(before["sum"] for before in tiles[: i + 1]))
                        if way == "chained" and i:
                            self.assertGreaterEqual(tile["prefix"], tiles[i - 1]["prefix"] + latency - 1e-9)
                    ends.append(max(tile["end"] for tile in tiles))
                self.assertGreaterEqual(ends[0], ends[1] - 1e-9)
                self.assertGreaterEqual(ends[1], ends[2] - 1e-9)
        self.assertNotEqual(*(page.evaluate(ask, ["chained", 0.4, 1, seed]) for seed in (1, 2)))

    def test_ring(self):
        """No copy goes into a stage that is still read; enough stages hide the latency."""
        page = self.page()
        for stages in range(1, 7):
            for latency, compute in ((5, 2), (1, 5), (10, 1)):
                tiles = page.evaluate("(values) => warpPlayer.models.ring(values)",
                                      {"stages": stages, "latency": latency, "compute": compute})  # fmt: skip
                for i, tile in enumerate(tiles):
                    self.assertGreaterEqual(tile["begin"], tile["arrive"])
                    if i >= stages:
                        self.assertGreaterEqual(tile["copy"], tiles[i - stages]["end"])
                    if i:
                        self.assertGreaterEqual(tile["begin"], tiles[i - 1]["end"])
                if stages >= 1 + -(-latency // compute):
                    self.assertEqual(tiles[-1]["end"], latency + compute * len(tiles))
                else:
                    self.assertGreater(tiles[-1]["end"], latency + compute * len(tiles))

    def test_steps_by_keyboard(self):
        page = self.page(figures.resident(256, 128, 8))
        said, step = page.locator(".said"), page.get_by_label("Step", exact=True)
        self.assertIn("No room for another one: of the registers 0 are left", said.inner_text())
        step.focus()
        page.keyboard.press("Home")
        self.assertEqual(said.inner_text().strip(), "0 blocks on the SM.")
        page.keyboard.press("ArrowRight")
        self.assertEqual(said.inner_text().strip(), "1 block on the SM.")
        self.assertTrue(page.get_by_role("button", name="Play").is_visible())

    def test_reduced_motion_has_no_play(self):
        page = self.page(figures.resident(256, 128, 8), reduced_motion="reduce")
        self.assertFalse(page.get_by_role("button", name="Play").is_visible())
        self.assertTrue(page.get_by_role("button", name="One step back").is_visible())

    def test_without_scripts_the_drawing_stays(self):
        page = self.page(figures.resident(256, 128, 8), java_script_enabled=False)
        self.assertTrue(page.locator(".player svg").is_visible())
        self.assertEqual(page.locator(".player input").count(), 0)
