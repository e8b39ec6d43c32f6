"""Chapter 04 on the simulator: what it prints, what it counts, and what it refuses; what nvcc makes of it."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import (CUOBJDUMP, NVCC, ROOT, Chapter, Mutant, Run, load_counted, measured,
                     nvcc_is_the_one_of_the_text, site_results)

CHAPTER = Chapter("04_register_tiling")

SKIPPED = {"cublas"}
MAPS = {"thread_map"}
LADDER = ("wide_reads", "thread_tile_1d", "thread_tile_2d", "thread_tile_float4")
PRODUCTS = {*LADDER, "unroll_steps", "launch_bounds", "thread_orders"}
ORDERS = ("columns", "blocks", "z-curve", "rows")
H200 = CHAPTER.source.parent / "results" / "h200.json"

# What the text says of the rates on an H200: (rung, variant, M = N = K, TFLOP/s, as it is quoted).
QUOTED = [
    ("wide_reads", None, 4096, 8.24, "**The clock** says 8.24 TFLOP/s"),
    ("cublas", None, 4096, 51.4, "cuBLAS has 51.4 in the same run"),
    ("thread_tile_1d", None, 4096, 16.8, "agrees. 16.8 TFLOP/s are 2.04 times"),
    ("thread_tile_2d", None, 4096, 32.1, "**The clock** says 32.1 TFLOP/s"),
    ("thread_tile_1d", None, 1024, 16.6, "`thread_tile_1d` has 16.6 TFLOP/s"),
    ("thread_tile_2d", None, 1024, 10.4, "on 64 SMs, has 10.4"),
    ("thread_tile_1d", None, 2048, 17.5, "it is 17.5 against"),
    ("thread_tile_2d", None, 2048, 31.0, "against 31.0"),
    ("cublas", None, 1024, 34.0, "cuBLAS has 34.0 at 1024"),
    ("unroll_steps", "the tile, 8 steps", 4096, 33.2, "33.2 against"),
    ("thread_tile_2d", None, 4096, 32.1, "33.2 against 32.1"),
    ("thread_tile_float4", None, 4096, 32.8, "with 32.8 TFLOP/s, 64 %"),
    ("launch_bounds", "blocks=1", 1024, 11.0, "11.0 TFLOP/s on 64 SMs"),
    ("launch_bounds", "blocks=3", 1024, 4.33, "4.33 TFLOP/s on 64 SMs"),
    ("launch_bounds", "blocks=3", 4096, 6.14, "with three blocks on each it is 6.14"),
    ("unroll_steps", "nothing", 1024, 0.73, "and make 0.73 TFLOP/s, so 132"),
    ("thread_orders", "columns", 4096, 12.7, "gives `columns` 12.7 TFLOP/s"),
    ("thread_orders", "blocks", 4096, 29.9, "`blocks` 29.9, "),
    ("thread_orders", "z-curve", 4096, 30.1, "`z-curve` 30.1, "),
    ("thread_orders", "rows", 4096, 32.8, "and `rows` 32.8."),
]
TABLES = {
    ("unroll_steps", "nothing"): "| nothing | 0.73 | 1.25 | 0.94 | 1.00 |",
    ("unroll_steps", "the tile"): "| the tile | 8.68 | 25.0 | 25.7 | 25.8 |",
    ("unroll_steps", "the tile, 2 steps"): "| the tile, 2 steps | 9.13 | 28.1 | 28.7 | 29.1 |",
    ("unroll_steps", "the tile, 8 steps"): "| the tile, 8 steps | 10.5 | 31.9 | 33.2 | 33.1 |",
    ("launch_bounds", "blocks=1"): "| 1 | 11.0 | 22.7 | 22.4 | 22.7 |",
    ("launch_bounds", "blocks=2"): "| 2 | 11.1 | 32.2 | 32.8 | 32.7 |",
    ("launch_bounds", "blocks=3"): "| 3 | 4.33 | 6.03 | 6.14 | 6.62 |",
    ("launch_bounds", "blocks=4"): "| 4 | 2.28 | 3.23 | 3.18 | 3.19 |",
}
for (rung_, variant_), line in TABLES.items():
    QUOTED += [(rung_, variant_, edge_, float(figure_), line)
               for edge_, figure_ in zip((1024, 2048, 4096, 8192), re.findall(r"\d+\.\d+", line))]

PEAK = 132 * 1.98e9 * 64 / 1e12  # TFLOP/s of a kernel with one wavefront of shared memory for each multiply-add
TILE_1D, TILE_2D, FLOAT4 = ("thread_tile_1d", None), ("thread_tile_2d", None), ("thread_tile_float4", None)
NOTHING, ONE_STEP, ALL_STEPS = (("unroll_steps", variant) for variant in ("nothing", "the tile", "the tile, 8 steps"))
ALONE, IN_PAIRS, IN_THREES, IN_FOURS = (("launch_bounds", f"blocks={blocks}") for blocks in range(1, 5))


def slice_cycles(ms, edge, blocks):
    """How long an SM takes at 1.98 GHz for a slice of each of its blocks; `blocks` come to it one after the other."""
    return ms / 1e3 * 1.98e9 / (blocks * edge / 8)


def later_than_rows(tera, order):
    """By how many cycles a slice of a block alone takes longer than in the order `rows`."""
    ours, rows = (slice_cycles(2 * 1024**3 / 1e9 / tera(("thread_orders", name), 1024), 1024, 1)
                  for name in (order, "rows"))
    return ours - rows


# What the text computes from these rates: (as it is quoted, the value, as it is rounded, digits).
DERIVED = [
    ("77 % of the bound. That is", lambda tera: 100 * tera(("wide_reads", None)) / (PEAK / 1.5625), 77, 0),
    ("are 2.04 times as much", lambda tera: tera(TILE_1D) / tera(("wide_reads", None)), 2.04, 2),
    ("and 66 % of the bound", lambda tera: 100 * tera(TILE_1D) / (PEAK / 0.65625), 66, 0),
    ("it is 1.97 to", lambda tera: tera(TILE_1D, 2048) / tera(("wide_reads", None), 2048), 1.97, 2),
    ("to 2.04 times as much", lambda tera: tera(TILE_1D, 1024) / tera(("wide_reads", None), 1024), 2.04, 2),
    ("1.9 times as much as `thread_tile_1d`", lambda tera: tera(TILE_2D) / tera(TILE_1D), 1.9, 1),
    ("63 % of the one bound", lambda tera: 100 * tera(TILE_2D) / (PEAK / 0.328125), 63, 0),
    ("58 % of the other", lambda tera: 100 * tera(TILE_2D) / (4 * PEAK * 512 / 617), 58, 0),
    ("by a factor of 35 at 4096", lambda tera: tera(ALL_STEPS) / tera(NOTHING), 35, 0),
    ("so 132 would make 1.5", lambda tera: tera(NOTHING, 1024) * 132 / 64, 1.5, 1),
    ("at 79 % of its own", lambda tera: 100 * tera(ONE_STEP) / (PEAK / (33792 / 65536)), 79, 0),
    ("and it is 3.6 % faster", lambda tera: 100 * tera(ALL_STEPS) / tera(TILE_2D) - 100, 3.6, 1),
    ("At 8192 it is 2.3 %", lambda tera: 100 * tera(ALL_STEPS, 8192) / tera(TILE_2D, 8192) - 100, 2.3, 1),
    ("at 2048 3.0 %", lambda tera: 100 * tera(ALL_STEPS, 2048) / tera(TILE_2D, 2048) - 100, 3.0, 1),
    ("and 0.3 % at 1024", lambda tera: 100 * tera(ALL_STEPS, 1024) / tera(TILE_2D, 1024) - 100, 0.3, 1),
    ("64 % of what cuBLAS has", lambda tera: 100 * tera(FLOAT4) / tera(("cublas", None)), 64, 0),
    ("by 2 % at 4096", lambda tera: 100 * tera(FLOAT4) / tera(TILE_2D) - 100, 2, 0),
    ("by 1 % at 8192", lambda tera: 100 * tera(FLOAT4, 8192) / tera(TILE_2D, 8192) - 100, 1, 0),
    ("by 4 % at 2048", lambda tera: 100 * tera(FLOAT4, 2048) / tera(TILE_2D, 2048) - 100, 4, 0),
    ("before its barrier, it is 6 %", lambda tera: 100 * tera(FLOAT4, 1024) / tera(TILE_2D, 1024) - 100, 6, 0),
    ("takes 1 % less time than this kernel", lambda tera: 100 - 100 * tera(FLOAT4) / tera(ALL_STEPS), 1, 0),
    ("and 6 % more at 1024", lambda tera: 100 * tera(FLOAT4, 1024) / tera(ALL_STEPS, 1024) - 100, 6, 0),
    ("One register costs nearly a third", lambda tera: 1 - tera(ALONE) / tera(IN_PAIRS), 0.3, 1),
    ("are within 1 % of each other", lambda tera: 100 * tera(IN_PAIRS, 1024) / tera(ALONE, 1024) - 100, 1, 0),
    ("would be 22.6 on 132", lambda tera: tera(ALONE, 1024) * 132 / 64, 22.6, 1),
    # 1024 blocks on 132 SMs, in 8 rounds of one block on each, or in 4 of two.
    ("it takes 2,960 cycles", lambda tera: slice_cycles(2 * 4096**3 / 1e9 / tera(ALONE), 4096, 8), 2960, -1),
    ("two slices take 4,060 cycles", lambda tera: slice_cycles(2 * 4096**3 / 1e9 / tera(IN_PAIRS), 4096, 4), 4060, -1),
    ("it is 5.3 and", lambda tera: tera(IN_PAIRS) / tera(IN_THREES), 5.3, 1),
    ("and 10.3 times as long", lambda tera: tera(IN_PAIRS) / tera(IN_FOURS), 10.3, 1),
    ("would be 8.9 on 132", lambda tera: tera(IN_THREES, 1024) * 132 / 64, 8.9, 1),
    ("82 % of its bound", lambda tera: 100 * tera(("thread_orders", "columns")) / 15.5, 82, 0),
    ("takes 280 cycles more", lambda tera: later_than_rows(tera, "z-curve"), 280, -1),
    ("and 150 more in `blocks`", lambda tera: later_than_rows(tera, "blocks"), 150, -1),
    ("at four times the rate of chapter 03", lambda tera: tera(FLOAT4) / tera(("wide_reads", None)), 4, 0),
    ("and at 64 % of cuBLAS", lambda tera: 100 * tera(FLOAT4) / tera(("cublas", None)), 64, 0),
]

M, N, K = 256, 128, 64
WARP_MULTIPLY_ADDS = M * N * K // 32


class DefaultRun(unittest.TestCase):
    """The run that a reader sees first."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()
        cls.prose = CHAPTER.prose()

    def counts(self, rung, variant=None):
        return self.run_.row(rung, variant)["counts"]

    def expect(self, rung, variant=None, **counts):
        for name, value in counts.items():
            self.assertEqual(self.counts(rung, variant)[name], value, f"{rung} {variant or ''}: {name}")

    def test_ends_well(self):
        self.assertEqual(self.run_.code, 0, self.run_.explain())
        for row in self.run_.rows:
            self.assertEqual(row["status"], "SKIP" if row["rung"] in SKIPPED else "PASS", row)
            self.assertEqual(row["size"], {"M": M, "N": N, "K": K})
        self.assertIn("needs a GPU", self.run_.row("cublas")["reason"])

    def test_the_first_kernel_is_the_last_of_chapter_03(self):
        kernel = r"__global__ void __launch_bounds__\(1024\)\s+wide_reads\(.*?\n}\n"
        before = CHAPTER.source.parents[1] / "03_shared_tiling" / "shared_tiling.cu"
        theirs, ours = (re.search(kernel, source.read_text(), re.DOTALL) for source in (before, CHAPTER.source))
        self.assertEqual(theirs.group(0), ours.group(0))

    def test_every_rung_of_the_header_is_there_in_order(self):
        ran = list(dict.fromkeys(row["rung"] for row in self.run_.rows))
        self.assertEqual(ran, [name for name, _ in CHAPTER.header_rungs()])

    # The counts that the text quotes, for M = 256, N = 128, K = 64.

    def test_wavefronts_of_a_multiply_add(self):
        """w, and the bound that follows from it."""
        self.assertEqual(WARP_MULTIPLY_ADDS, 65536)
        per_second = 132 * 1.98e9 * 64 / 1e12
        self.assertAlmostEqual(per_second, 16.7, places=1)
        for rung, variant, loads, wavefronts, fills, w, bound in (
                ("wide_reads", None, 81920, 98304, 4096, 1.5625, 10.7),
                ("thread_tile_1d", None, 24576, 40960, 2048, 0.656, 25.5),
                ("thread_tile_2d", None, 4096, 20480, 1024, 0.328, 51.0),
                ("thread_tile_float4", None, 4096, 20480, 1024, 0.328, 51.0),
                ("thread_orders", "columns", 4096, 69632, 1024, None, 15.5),
                ("thread_orders", "blocks", 4096, 24576, 1024, None, 42.8),
                ("thread_orders", "z-curve", 4096, 20480, 1024, None, 51.0),
                ("thread_orders", "rows", 4096, 20480, 1024, None, 51.0)):
            with self.subTest(rung=rung, variant=variant):
                self.expect(rung, variant, shared_load_requests=loads, shared_load_wavefronts=wavefronts,
                            shared_store_wavefronts=fills, shared_wavefronts=wavefronts + fills)
                self.assertAlmostEqual(per_second / ((wavefronts + fills) / WARP_MULTIPLY_ADDS), bound, delta=0.06)
                if w:
                    self.assertAlmostEqual((wavefronts + fills) / WARP_MULTIPLY_ADDS, w, places=3)

    def test_global_memory(self):
        for rung, requests, sectors, stores, stored in (
                ("wide_reads", 4096, 16384, 1024, 4096),
                ("thread_tile_1d", 2048, 8192, 1024, 4096),
                ("thread_tile_2d", 1024, 4096, 1024, 32768),
                ("thread_tile_float4", 256, 4096, 256, 8192)):
            self.expect(rung, global_load_requests=requests, global_load_sectors=sectors,
                        global_store_requests=stores, global_store_sectors=stored, divergent_branches=0)

    def test_the_bytes_of_another_size(self):
        """The site's roofline takes them from this run's counts."""
        size = {"M": 128, "N": 384, "K": 512}
        run = CHAPTER.run("--size", ",".join(map(str, size.values())), *(f"--rung={rung}" for rung in LADDER))
        for rung in LADDER:
            counts = run.row(rung)["counts"]
            self.assertEqual(site_results.product_bytes(self.run_.row(rung), size),
                             32 * (counts["global_load_sectors"] + counts["global_store_sectors"]), rung)

    def test_rows_that_are_not_aligned(self):
        run = CHAPTER.run("--size", "256,127,64", "--rung", "thread_tile_float4")
        counts = run.row("thread_tile_float4")["counts"]
        self.assertEqual((counts["global_load_requests"], counts["global_store_requests"]), (640, 1024))
        for quote in ("It makes 640 load requests then", "Of the stores there are 1,024"):
            self.assertIn(quote, self.prose)

    def test_the_ratio_that_is_printed_is_the_one_that_is_counted(self):
        """Computed-to-loaded, from shared and from global memory."""
        for rung, text, shared, block in (("wide_reads", "1 x 1 elements from 1 + 1 floats: 0.5", 0.5, 16),
                                          ("thread_tile_1d", "8 x 1 elements from 8 + 1 floats: 0.889", 8 / 9, 32),
                                          ("thread_tile_2d", "8 x 8 elements from 8 + 8 floats: 4", 4, 64)):
            with self.subTest(rung=rung):
                printed = self.run_.out[self.run_.out.index(f"\n{rung}:"):].split("\n\n")[0]
                self.assertIn(f"{text} multiply-adds for each", printed)
                self.assertIn(f": {block} multiply-adds for each float of global memory", printed)
                counts = self.counts(rung)
                self.assertEqual(counts["global_load_bytes"] / 4, M * N * K / block)
                read = sum(width * lanes for width, lanes in self.shared_lanes(rung))
                self.assertAlmostEqual(M * N * K / read, shared)

    def shared_lanes(self, rung):
        """(floats of each load, lanes) for the lines of a kernel that load from shared memory."""
        trace = CHAPTER.trace("--rung", rung)
        lines = CHAPTER.source.read_text().splitlines()
        for entry in trace["launches"][0]["lines"]:
            if entry["counts"].get("shared_load_requests"):
                yield 4 if "float4" in lines[entry["line"] - 1] else 1, entry["counts"]["shared_load_active_lanes"]

    def test_unrolling_changes_no_count(self):
        first, *others = [row["counts"] for row in self.run_.rows if row["rung"] == "unroll_steps"]
        self.assertEqual(len(others), 3)
        for other in others:
            self.assertEqual({k: v for k, v in first.items() if "divergent" not in k},
                             {k: v for k, v in other.items() if "divergent" not in k})
        self.expect("unroll_steps", "nothing", shared_load_requests=16384, shared_load_wavefronts=49152)

    def test_bounds_change_no_count(self):
        for row in self.run_.rows:
            if row["rung"] == "launch_bounds":
                self.assertEqual(row["counts"], self.counts("thread_tile_float4"), row["variant"])

    def test_wavefronts_of_a_load_in_each_order(self):
        trace = CHAPTER.trace("--rung", "thread_orders")
        lines = CHAPTER.source.read_text().splitlines()
        for order, launch in zip(ORDERS, trace["launches"]):
            per_load = {}
            for entry in launch["lines"]:
                counts, text = entry["counts"], lines[entry["line"] - 1]
                if counts.get("shared_load_requests"):
                    per_load["A" if "a_tile" in text else "B"] = (counts["shared_load_wavefronts"]
                                                                  / counts["shared_load_requests"])
            row = re.search(rf"\| `{order}` \| \d+ x \d+ \| \d+ \| (\d+) \| (\d+) \| ([\d,]+) \|", self.prose)
            self.assertEqual(per_load, {"A": int(row.group(1)), "B": int(row.group(2))}, order)
            self.assertEqual(self.counts("thread_orders", order)["shared_load_wavefronts"],
                             int(row.group(3).replace(",", "")))

    def test_the_maps(self):
        out = self.run_.out
        rows = out[out.index("thread_map rows:"):out.index("thread_map columns:")]
        self.assertIn("row   1:   2   3\n", rows)
        self.assertIn("row 127: 254 255\n", rows)
        self.assertIn("row   7: 224 225 226 227 228 229 ... 254 255\n", rows)
        self.assertIn("0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0    16 17 18", rows)
        z_curve = out[out.index("thread_map z-curve:"):]
        self.assertIn("0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1    10 11 14 15 26 27 30 31", z_curve)

    def test_the_figures_of_the_text(self):
        large = 4096
        for quote, value, figure in (
                ("2,097,152 multiply-adds, or 65,536", M * N * K, 2097152),
                ("81,920 loads with 98,304 wavefronts", 98304 / WARP_MULTIPLY_ADDS, 1.5),
                ("the bound is 10.7 TFLOP/s", 16.73 / 1.5625, 10.7),
                ("24,576 loads with 40,960", 40960 / WARP_MULTIPLY_ADDS, 0.625),
                ("the bound 25.5 TFLOP/s", 16.73 / 0.65625, 25.5),
                ("4.3 GB where `wide_reads` fetches 17.2 GB", 4 * large**3 / 64 / 1e9, 4.3),
                ("fetches 17.2 GB", 4 * large**3 / 16 / 1e9, 17.2),
                ("and the bound is at 51.0 TFLOP/s", 16.73 / 0.328125, 51.0),
                ("In `thread_tile_2d` 83 %", 100 * 512 / 617, 83),
                ("between the barriers 94 %", 100 * 512 / 546, 94),
                ("are 55 TFLOP/s", 132 * 4 * 1.98e9 * 64 / 1e12 * 512 / 617, 55),
                ("as 79, 88 and 94 %", 100 * 64 / 81, 79),
                ("79, 88 and", 100 * 128 / 146, 88),
                ("and 89 % are multiply-adds", 100 * 512 / 574, 89),
                ("43 instructions less", 617 - 574, 43),
                ("for a slice are 7 %", 100 * 43 / 617, 7),
                ("With 128 for each, a block of 256 takes 32,768", 128 * 256, 32768),
                ("rounded up to 136, it takes 34,816", 136 * 256, 34816),
                ("needs 16 rows and 128 columns, 144 floats", 2 * 8 + 16 * 8, 144),
                ("32 and 64, 96 floats", 4 * 8 + 8 * 8, 96),
                ("move 344 values", 174 + 170, 344),
                ("for 4 blocks 628", 316 + 312, 628),
                ("There 64 SMs have a block each", 1024**2 / 128**2, 64),
                ("The local memory of one is 80 KiB", 256 * 320 / 1024, 80),
                ("five 400 KiB", 5 * 256 * 320 / 1024, 400),
                ("multiply-adders for 1,024 of them", 512 * 8 / 4, 1024),
                ("has 1.7 and 2.2 times as many", 975 / 574, 1.7),
                ("1.7 and 2.2 times as many", 1258 / 574, 2.2),
                ("What they have spilled is 264 KiB", 3 * 256 * 352 / 1024, 264),
                ("with four blocks 624 KiB", 4 * 256 * 624 / 1024, 624),
                ("with 176 KiB", 2 * 256 * 352 / 1024, 176),
                ("8 * (8 * 8 + 2 * 2) = 544", 8 * (8 * 8 + 2 * 2), 544),
                ("384 for `blocks`", 8 * (8 * 4 + 2 * 8), 384),
                ("and 256 for `rows`", 8 * (8 * 2 + 2 * 8), 256),
                ("288 and 128 more than for `rows`", 544 - 256, 288),
                ("128 more than for `rows`", 384 - 256, 128),
                ("computed-to-loaded ratio is 5.3", 8 * 16 / 24, 5.3)):
            with self.subTest(quote=quote):
                self.assertIn(quote, self.prose)
                self.assertAlmostEqual(value, figure, delta=0.01 * figure)


class Cases(unittest.TestCase):
    """Every rung is right for every pair of extents."""

    def passes(self, run, count, rungs=PRODUCTS):
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual({row["rung"] for row in run.rows if row["status"] == "PASS"}, set(rungs))
        for row in run.rows:
            if row["status"] != "SKIP":
                self.assertEqual(row["reason"], f"{count} cases")

    def test_all_untraced(self):
        self.passes(Run(CHAPTER.fast, "--cases", "all"), 153)

    def test_a_dozen_traced(self):
        rungs = [argument for rung in LADDER for argument in ("--rung", rung)]
        self.passes(CHAPTER.run("--cases", "0-11", *rungs), 12, LADDER)
        # Case 144 on has alpha = 0; the orders differ in no more than the places.
        self.passes(CHAPTER.run("--cases", "144-145", "--rung", "thread_orders", "--rung", "unroll_steps"), 2,
                    ("thread_orders", "unroll_steps"))

    def test_more_rows_than_a_grid_has_blocks(self):
        # 65,535 blocks of 64 rows, and one row more.
        run = Run(CHAPTER.fast, "--size", f"{65535 * 64 + 1},1,2", "--rung", "thread_tile_1d")
        self.assertEqual(run.code, 0, run.explain())


# (rung, function, text, what it becomes, what the rung then says): one program has the n-th of each rung. The text is
# looked for in the function. Case 0 is a row of one block, case 1 has gaps and odd extents, case 2 NaN in C and rows of
# B that are not aligned, case 4 rows of C that are aligned, with a gap; behind the C of case 6 a page ends.
MUTANTS = [
    ("wide_reads", "wide_reads", "row >= m || col >= n", "row >= m", "case 1 .*: 31 of 66 elements"),
    ("thread_tile_1d", "thread_tile_1d", "row + i < m - row0", "row < m - row0", "case 6 .*out-of-bounds"),
    ("thread_tile_2d", "thread_tile_2d", "at + 2 < cols_left", "at < cols_left", "case 1 .*: 1 of 66 elements"),
    ("thread_tile_float4", "store_quad", "aligned && have >= 4", "aligned && have > 0",  # the guard of a quad
     "case 4 .*a write between the rows of C: row 0, column 129 of 129"),
    ("unroll_steps", "unroll_steps", "left[i] * right[j]", "left[j] * right[i]", "case 0 .*: 28 of 32"),  # TM for TN

    ("wide_reads", "wide_reads", "k0 += tile", "k0 += tile + 1", "case 1 .*: 66 of 66"),  # the stride of the slices
    ("thread_tile_1d", "thread_tile_1d", "a_tile[row + i][l]", "a_tile[row + i][0]", "case 0 .*: 32 of 32"),
    ("thread_tile_2d", "thread_tile_2d", "/ threads_across * TM", "% threads_across * TM", "case 0 .*: 32 of 32"),
    ("thread_tile_float4", "put_quads", "tile[first.row + i * step]", "tile[first.row ^ 1]", "case 0 .*: 32 of 32"),
    ("unroll_steps", "unroll_steps", "b_tile[l][col + j]", "b_tile[l][col + TN - 1 - j]", "case 0 .*: 32 of 32"),

    ("wide_reads", "wide_reads", "b_tile[l + 3][tx]", "b_tile[l + 2][tx]", "case 0 .*: 32 of 32"),
    ("thread_tile_1d", "thread_tile_1d", "sum[i], beta", "sum[i], 1.0f", "case 0 .*: 32 of 32"),
    ("thread_tile_2d", "thread_tile_2d", "b_from += BK * ldb", "b_from += BK * n", "case 1 .*: 66 of 66"),
    ("thread_tile_float4", "store_quad", "if (beta != 0)", "if (true)", "case 2 .*: nan where"),  # reads C's NaN
    ("unroll_steps", "unroll_steps", "sum[i][j], beta", "sum[i][j], 0.0f", "case 0 .*: 32 of 32"),

    ("thread_tile_1d", "thread_tile_1d", "(row0 + row + i) * ldc", "(row0 + row + i) * n",
     "case 4 .*the first at index 129"),
    ("thread_tile_2d", "thread_tile_2d", "row0 + row + i", "row0 + row", "case 1 .*: 66 of 66"),
    ("thread_tile_float4", "multiply_quads", "row + i < m - row0", "row < m - row0", "case 6 .*out-of-bounds"),

    ("thread_tile_float4", "load_quad", "quad.z = from[2];", "quad.z = from[1];", "case 1 .*: 66 of 66"),
]

# (rung, function, text, what it becomes, what the simulator finds)
TRACED = [
    ("thread_tile_1d", "thread_tile_1d", "__syncthreads();", "", "shared-race"),
    ("thread_tile_2d", "thread_tile_2d", "multiply_slice(sum, a_tile, b_tile, row, col);\n    __syncthreads();",
     "multiply_slice(sum, a_tile, b_tile, row, col);", "shared-race"),
    ("thread_tile_float4", "multiply_quads", "k - k0, a_aligned", "k - k0, true", "misaligned-access"),
]


# (function, text, what it becomes, what the rungs say), where several kernels share the function.
SHARED = [
    ("fetch", "i * step < below", "true", r"case \d+ .*out-of-bounds"),
    ("fetch", "inside &&", "true &&", "case 1 .*: 33 of 66 .*nan where"),  # NaN from between the rows
    ("put", "[first.row + i * (threads / cols)]", "[first.row]", "case 0 .*: 32 of 32"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails; the same kernel without it passes."""

    def test_mistakes_in_what_several_kernels_share(self):
        for function, text, becomes, said in SHARED:
            with Mutant(CHAPTER, [(function, text, becomes)]) as program:
                for rung in ("thread_tile_2d", "unroll_steps"):
                    run = program.run("--rung", rung, "--cases", "0-23")
                    with self.subTest(function=function, text=text, rung=rung):
                        self.assertEqual(run.code, 1, run.explain())
                        self.assertRegex(run.rows[0]["reason"], said)

    def test_every_mistake_is_noticed(self):
        rungs = {}
        for rung, *mutant in MUTANTS:
            rungs.setdefault(rung, []).append(mutant)  # [function, text, what it becomes, what the rung says]
        for number in range(max(map(len, rungs.values()))):
            mutants = {rung: those[number] for rung, those in rungs.items() if number < len(those)}
            with Mutant(CHAPTER, [mutant[:3] for mutant in mutants.values()]) as program:
                for rung in rungs:
                    run = program.run("--rung", rung, "--cases", "0-23")
                    with self.subTest(rung=rung, mutant=mutants.get(rung)):
                        self.assertEqual(run.code, 1 if rung in mutants else 0, run.explain())
                        if rung in mutants:
                            self.assertEqual(run.rows[0]["status"], "FAIL")
                            self.assertRegex(run.rows[0]["reason"], mutants[rung][3])

    def test_what_the_simulator_finds(self):
        with Mutant(CHAPTER, [mutant for _, *mutant, _ in TRACED], traced=True) as program:
            for rung, *mutant, finding in TRACED:
                run = program.run("--rung", rung, "--cases", "0-11")
                with self.subTest(rung=rung, mutant=mutant):
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn(finding, run.out)


class Arguments(unittest.TestCase):
    def test_list_is_the_header(self):
        run = CHAPTER.run("--list", results=False)
        listed = [tuple(line.split(None, 1)) for line in run.out.splitlines()]
        self.assertEqual(listed, CHAPTER.header_rungs())

    def test_each_rung_alone_at_any_size(self):
        for rung, _ in CHAPTER.header_rungs():
            with self.subTest(rung=rung):
                run = CHAPTER.run("--rung", rung, "--size", "33,5,13")
                self.assertEqual(run.code, 0, run.explain())
                self.assertEqual({row["rung"] for row in run.rows}, {rung})

    def test_bad_input(self):
        for arguments in (["--size", "5"], ["--size", "0,1,1"], ["--size", "1,1,2147483648"], ["--cases", "153"],
                          ["--rung", "thread_tile_3d"]):
            with self.subTest(arguments=arguments):
                run = CHAPTER.run(*arguments, results=False)
                self.assertEqual(run.code, 2, run.explain())
                self.assertEqual(run.err.count("\n"), 1, run.err)


@unittest.skipUnless(nvcc_is_the_one_of_the_text(), "the text quotes nvcc 13.0, which is not here")
class Compiled(unittest.TestCase):
    """What nvcc makes of the kernels: the tables of sections 3, 4 and 6."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cubin = pathlib.Path(cls.folder.name) / "chapter.cubin"
        done = subprocess.run(
            [NVCC, "-std=c++20", "-O3", "-lineinfo", "-arch=sm_90a", "-cubin", "-Xptxas", "-v",
             f"-I{ROOT}/common/lab/include", "-o", cls.cubin, CHAPTER.source],
            capture_output=True, text=True, check=True)
        # kernel -> registers, bytes of the frame, of spilled stores
        cls.made = {}
        for entry in done.stderr.split("Compiling entry function '")[1:]:
            cls.made[cls.readable(entry.split("'")[0])] = tuple(
                int(re.search(pattern, entry).group(1))
                for pattern in (r"Used (\d+) registers", r"(\d+) bytes stack frame", r"(\d+) bytes spill stores"))
        cls.prose = CHAPTER.prose()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def readable(mangled):
        """_Z12unroll_stepsILj8ELj1EEv... -> unroll_steps 8 1"""
        match = re.match(r"_Z(\d+)", mangled)
        name = mangled[match.end():match.end() + int(match.group(1))] if match else mangled
        numbers = re.match(r"I((?:L(?:j|5Order)\d+E)+)E", mangled[match.end() + len(name):]) if match else None
        return " ".join([name, *(re.findall(r"L(?:j|5Order)(\d+)E", numbers.group(1)) if numbers else [])])

    def functions(self):
        """kernel -> its instructions: (address, predicate, name, operands)."""
        text = subprocess.run([CUOBJDUMP, "-sass", self.cubin], capture_output=True, text=True, check=True).stdout
        pattern = r"/\*([0-9a-f]{4,5})\*/\s+(@!?U?P\d+ )?\s*([A-Z][\w.]*)([^;]*);"
        return {self.readable(function.split()[0]): [(int(at, 16), *rest) for at, *rest in re.findall(pattern, function)]
                for function in text.split("Function : ")[1:]}

    @staticmethod
    def target(instruction):
        """The address that an instruction may jump to, or None."""
        found = re.search(r"0x([0-9a-f]+)", instruction[3]) if instruction[2] == "BRA" else None
        return int(found.group(1), 16) if found else None

    @staticmethod
    def barriers(code):
        return [number for number, instruction in enumerate(code) if instruction[2].startswith("BAR")]

    def slice_of(self, code):
        """What a warp executes for a slice: the shortest way round the loop that has both barriers. Where there are
        two ways to fetch, that is the one without the ends of rows."""
        number = {instruction[0]: at for at, instruction in enumerate(code)}
        first, last = self.barriers(code)
        end = next(at for at in range(last, len(code))
                   if (to := self.target(code[at])) is not None and number[to] < first)
        head = number[self.target(code[end])]
        before, queue = {head: None}, [head]
        for at in queue:
            _, predicate, name, operands = code[at]
            nexts = [] if name in ("BRA", "EXIT") and not predicate and "P" not in operands else [at + 1]
            if self.target(code[at]) is not None:
                nexts.append(number[self.target(code[at])])
            for to in nexts:
                if to not in before:
                    before[to] = at
                    queue.append(to)
        way = [end]
        while before[way[-1]] is not None:
            way.append(before[way[-1]])
        return [code[at] for at in reversed(way)]

    def test_registers(self):
        self.assertEqual(self.made["thread_tile_2d"], (128, 0, 0))
        self.assertEqual(self.made["thread_tile_float4"], (128, 0, 0))
        for order in range(4):
            self.assertEqual(self.made[f"thread_orders {order}"], (128, 0, 0))
        for kernel, label in (("1 1", "nothing"), ("1 8", "the tile"), ("2 8", "the tile, 2 steps"),
                              ("8 8", "the tile, 8 steps")):
            registers, frame, spilled = self.made[f"unroll_steps {kernel}"]
            self.assertEqual(spilled, 0)
            row = re.search(rf"\| {label} \| (\d+) \| (\d+)", self.prose)
            self.assertEqual((registers, frame), (int(row.group(1)), int(row.group(2))), label)
        for blocks in range(1, 5):
            registers, _, spilled = self.made[f"launch_bounds {blocks}"]
            row = re.search(rf"\| {blocks} \| (\d+) \| (\d+) \|", self.prose)
            self.assertEqual((registers, spilled), (int(row.group(1)), int(row.group(2))), blocks)

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_the_instructions_of_a_slice(self):
        functions = self.functions()
        count = lambda code, *names: sum(name.startswith(names) for _, _, name, _ in code)
        for kernel in LADDER[:3]:
            code = self.slice_of(functions[kernel])
            row = re.search(rf"\| `{kernel}` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", self.prose)
            multiplied, loads = count(code, "FFMA"), count(code, "LDS")
            self.assertEqual((len(code), multiplied, loads, len(code) - multiplied - loads),
                             tuple(map(int, row.groups())), kernel)
        self.assertEqual(len(self.slice_of(functions["thread_tile_float4"])), 574)
        self.assertIn("A slice takes 574 instructions now, where `thread_tile_2d` takes 617", self.prose)
        for blocks in range(1, 5):
            code = self.slice_of(functions[f"launch_bounds {blocks}"])
            self.assertEqual((count(code, "FFMA"), count(code, "LDS.128"), count(code, "LDG.E.128")), (512, 32, 2))
            self.assertIn(f"| {len(code)} | {count(code, 'LDL')} | {count(code, 'STL')} |", self.prose)

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_the_same_work_in_another_order(self):
        """What section 4 says of thread_tile_2d and its twin, and section 7 of two of the orders."""
        functions = self.functions()
        tile, twin = self.slice_of(functions["thread_tile_2d"]), self.slice_of(functions["unroll_steps 8 8"])
        self.assertIn(f"A slice takes {len(twin)} instructions in one and {len(tile)} in the other", self.prose)
        for code in (tile, twin):
            names = [name for _, _, name, _ in code]
            self.assertEqual((names.count("FFMA"), names.count("LDS.128")), (512, 32))
        self.assertNotEqual([rest for _, *rest in tile], [rest for _, *rest in twin])

        # Jumps and where paths join are named by addresses.
        blocks, z_curve = ([rest if rest[1] not in ("BRA", "BSSY") else rest[:2] for _, *rest in
                            self.slice_of(functions[f"thread_orders {order}"])] for order in (2, 3))
        self.assertEqual(blocks, z_curve)
        self.assertIn(f"execute the same {len(blocks)} instructions for a slice, with the same registers", self.prose)

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_loads_do_not_wait_for_each_other(self):
        """All loads of a slice are issued before the first store to shared memory, without a jump in between but for
        the two ways to fetch a quad."""
        functions = self.functions()
        for kernel, loads in (("thread_tile_1d", 2), ("thread_tile_2d", 8), ("thread_tile_float4", 2),
                              ("unroll_steps 8 8", 8), ("thread_orders 0", 2)):
            names = [name for _, _, name, _ in self.slice_of(functions[kernel])]
            kinds = [name[:3] for name in names if name.startswith(("LDG", "STS"))]
            self.assertEqual(kinds, ["LDG"] * loads + ["STS"] * loads, kernel)
            if kernel in LADDER[:3]:
                self.assertEqual([name for name in names if name.startswith(("BRA", "BSSY"))], ["BRA"], kernel)

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_the_inner_loops(self):
        functions = self.functions()
        tile = functions["thread_tile_2d"]
        first, last = self.barriers(tile)
        self.assertEqual([sum(name.startswith(what) for _, _, name, _ in tile[first + 1:last])
                          for what in ("", "FFMA", "LDS.128")], [512 + 32 + 2, 512, 32])
        first, last = self.barriers(functions["unroll_steps 8 8"])
        self.assertEqual(last - first - 1, 546)
        for kernel, length, multiplied, label in (("1 1", 9, 1, "nothing"), ("1 8", 81, 64, "the tile"),
                                                  ("2 8", 146, 128, "the tile, 2 steps")):
            code = functions[f"unroll_steps {kernel}"]
            number = {instruction[0]: at for at, instruction in enumerate(code)}
            first, last = self.barriers(code)
            bodies = [code[number[to]:at + 1] for at in range(first, last)
                      if (to := self.target(code[at])) is not None and first < number[to] < at]
            innermost = min((body for body in bodies if any(name == "FFMA" for _, _, name, _ in body)), key=len)
            self.assertEqual((len(innermost), sum(name == "FFMA" for _, _, name, _ in innermost)), (length, multiplied))
            self.assertRegex(self.prose, rf"\| {label} \| \d+ \| [\w ]+ \| {length} \| {multiplied} \|")


class Hardware(unittest.TestCase):
    """What was recorded on an H200."""

    def test_counts_are_the_simulators_or_explained(self):
        found = CHAPTER.disagreements()
        if found is None:
            self.skipTest("no counts of an H200 are recorded")
        self.assertEqual(found, [], "\n".join(found))

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_what_the_text_quotes_of_it(self):
        results, prose = json.loads(H200.read_text()), CHAPTER.prose()
        self.assertIn("H200", results["device"])
        self.assertTrue(all(row["status"] in ("PASS", "SKIP") for row in results["rows"]))

        def tera(row, edge=4096):
            return measured(results, *row, edge, "rate") / 1000

        for rung, variant, edge, figure, quote in QUOTED:
            with self.subTest(rung=rung, variant=variant, edge=edge):
                digits = len(f"{figure:g}".partition(".")[2])
                self.assertAlmostEqual(tera((rung, variant), edge), figure, delta=0.5001 * 0.1**max(digits, 1))
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)
        for quote, value, figure, digits in DERIVED:
            with self.subTest(quote=quote):
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)
                self.assertEqual(round(value(tera), digits), figure)

    def test_the_counts_that_the_text_quotes(self):
        counted = load_counted(H200.parent)
        if counted is None:
            self.skipTest("no counts of an H200 are recorded")
        prose = CHAPTER.prose()

        def counts_of(kernel):
            return [launch["counts"] for launch in counted.launches if launch["kernel"] == kernel]

        merged = [counts["shared_wavefronts"] for counts in counts_of("unroll_steps")][1:]
        self.assertIn("hardware counts {:,}, {:,} and {:,} of them".format(*merged), prose)
        self.assertIn("are bounds of {:.1f}, {:.1f} and {:.1f} TFLOP/s".format(
            *(PEAK / (wavefronts / WARP_MULTIPLY_ADDS) for wavefronts in merged)), prose)
        spilling = counts_of("launch_bounds")[2:]
        self.assertIn("is {:.0f} and {:.0f} % too high".format(
            *(100 * counts["shared_load_wavefronts"] / 20480 - 100 for counts in spilling)), prose)


if __name__ == "__main__":
    unittest.main()
