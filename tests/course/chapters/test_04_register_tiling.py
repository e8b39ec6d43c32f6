"""Chapter 04 on the simulator: what it prints, and what it counts. The numbers
of its prose are bound in the source, and py.course holds them against what they are computed from."""

import re
import unittest

from chapter import Chapter, DefaultRun, Products, notice

from warp.base import records
from warp.chapter import header as course_header
from warp.chapter.results import product_bytes
from warp.chapter.written import Row

CHAPTER = Chapter("04_register_tiling")
HEADER = course_header.read(CHAPTER.source)

LADDER = ("wide_reads", "thread_tile_1d", "thread_tile_2d", "thread_tile_float4")
PRODUCTS = {*LADDER, "k_tile_depth", "launch_bounds", "unroll_steps"}
M, N, K = (int(extent) for extent in HEADER.sizes["simulator"].split(","))


def up(a, b):
    return -(-a // b)


def fmas(tile, depth):
    """Warp-wide FMAs of tiles of tile x tile elements and K-tiles that deep, whatever sticks out."""
    return up(M, tile) * up(N, tile) * tile * tile * up(K, depth) * depth // 32


class FirstRun(DefaultRun, unittest.TestCase):
    chapter = CHAPTER

    def counts(self, rung, variant=None):
        return self.run_.row(rung, variant)["counts"]

    def test_the_default_size_fills_no_tile(self):
        for extent, tile in ((M, 32), (N, 32), (K, 8)):
            self.assertNotEqual(extent % tile, 0)
        self.assertEqual((N % 4, K % 4), (0, 0))  # so that rows are aligned

    def test_the_first_kernel_is_the_last_of_chapter_03(self):
        kernel = r"__global__ void __launch_bounds__\(1024\)\s+wide_reads\(.*?\n}\n"
        before = CHAPTER.source.parents[1] / "03_shared_tiling" / "shared_tiling.cu"
        theirs, ours = (re.search(kernel, source.read_text(), re.DOTALL) for source in (before, CHAPTER.source))
        self.assertEqual(theirs.group(0), ours.group(0))

    def test_wavefronts_of_an_fma(self):
        self.assertEqual((fmas(32, 32), fmas(64, 8), fmas(128, 8)), (57344, 65536, 65536))  # as the text says
        for rung, variant, work, loads, wavefronts in (
            ("wide_reads", None, fmas(32, 32), 5 / 4, 6 / 4),
            ("thread_tile_1d", None, fmas(64, 8), 12 / 32, 20 / 32),
            ("thread_tile_2d", None, fmas(128, 8), 16 / 256, 80 / 256),
            ("thread_tile_float4", None, fmas(128, 8), 16 / 256, 80 / 256),
            ("k_tile_depth", "BK=16", fmas(128, 16), 16 / 256, 80 / 256),
            ("k_tile_depth", "BK=32", fmas(128, 32), 16 / 256, 80 / 256),
        ):
            self.expect(rung, variant, shared_load_requests=work * loads, shared_load_wavefronts=work * wavefronts)

    def test_a_load_of_a_takes_two_wavefronts_and_one_of_b_eight(self):
        trace = CHAPTER.trace("--rung", "thread_tile_2d")
        lines = CHAPTER.source.read_text().splitlines()
        per_load = {}
        for entry in trace["launches"][0]["lines"]:
            counts, text = entry["counts"], lines[entry["line"] - 1]
            if counts.get("shared_load_requests"):
                per_load["A" if "a_tile" in text else "B"] = (
                    counts["shared_load_wavefronts"] / counts["shared_load_requests"]
                )
        self.assertEqual(per_load, {"A": 2, "B": 8})

    def test_global_memory(self):
        """Each element of A is read ceil(N / BN) times, each of B ceil(M / BM) times."""
        for rung, variant, tile in (
            ("wide_reads", None, 32),
            ("thread_tile_1d", None, 64),
            ("thread_tile_2d", None, 128),
            ("thread_tile_float4", None, 128),
            ("k_tile_depth", "BK=16", 128),
            ("k_tile_depth", "BK=32", 128),
        ):
            self.expect(rung, variant, global_load_bytes=4 * (M * K * up(N, tile) + K * N * up(M, tile)))

    def test_the_bytes_of_another_size(self):
        """The site's roofline takes them from this run's counts."""
        size = {"M": 128, "N": 384, "K": 512}
        small = CHAPTER.run("--size", "256,128,64", *(f"--rung={rung}" for rung in LADDER))
        run = CHAPTER.run("--size", ",".join(map(str, size.values())), *(f"--rung={rung}" for rung in LADDER))
        for rung in LADDER:
            counts = run.row(rung)["counts"]
            self.assertEqual(
                product_bytes(records.read(Row, small.row(rung)), size),
                32 * (counts["global_load_sectors"] + counts["global_store_sectors"]),
                rung,
            )

    def test_rows_that_are_not_aligned(self):
        """Where rows are not aligned, a float4 is four loads of one float each."""
        run = CHAPTER.run("--size", "256,127,64", "--rung", "thread_tile_float4")
        counts = run.row("thread_tile_float4")["counts"]
        self.assertEqual((counts["global_load_requests"], counts["global_store_requests"]), (640, 1024))

    def test_unrolling_changes_no_count(self):
        first, *others = [row["counts"] for row in self.run_.rows if row["rung"] == "unroll_steps"]
        self.assertEqual(len(others), 3)
        for other in others:
            self.assertEqual(
                {k: v for k, v in first.items() if "divergent" not in k},
                {k: v for k, v in other.items() if "divergent" not in k},
            )

    def test_bounds_change_no_count(self):
        bounds = [row for row in self.run_.rows if row["rung"] == "launch_bounds"]
        self.assertEqual(len(bounds), 4)
        for row in bounds:
            self.assertEqual(row["counts"], self.counts("thread_tile_float4"), row["variant"])

    def test_the_map(self):
        out = self.run_.out
        for line in (
            "A's tile, row   9:  18  19",
            "B's tile, row   7: 224 225",
            "C's squares, row   1:  16  17  18  19",
        ):
            self.assertIn(line, out)

    def test_thread_18(self):
        """The drawing follows it, from the addresses of the trace; the text says the same."""
        _, drawing, _ = CHAPTER.drawings()["places"]
        for words in ("(9, 0) to (9, 3)", "(0, 72) to (0, 75)", "rows 8 to 15 of A's tile", "columns 16 to 23 of B's"):
            self.assertIn(words, drawing.alt)
        prose = CHAPTER.prose()
        for words in (
            "elements (9, 0) to (9, 3)",
            "elements (0, 72) to (0, 75)",
            "rows 8 to 15 of A's tile and columns 16 to 23",
        ):
            self.assertIn(words, prose)


class Cases(Products, unittest.TestCase):
    chapter = CHAPTER
    rungs = PRODUCTS
    tall = ((64, "thread_tile_1d"),)

    def test_without_alpha_traced(self):
        rungs = ("k_tile_depth", "unroll_steps")
        self.passes(CHAPTER.run("--cases", "144-145", *(w for rung in rungs for w in ("--rung", rung))), 2, rungs)


# (rung, text, what it becomes, what the rung then says): edges of tiles. What else a product may get wrong tests/lab/gemm_test.cpp
# has, of any rung. Case 0 is a row of one block, case 1 has gaps and odd extents; behind the C of case 6 a page ends.
MUTANTS = [
    ("wide_reads", "rowC >= m || colC >= n", "rowC >= m", "case 1 .*: 31 of 66 elements"),
    ("thread_tile_1d", "row0 + rowC + i >= m ||", "row0 + rowC >= m ||", "case 6 .*out-of-bounds"),
    ("thread_tile_2d", "col0 + colC + j < n)", "col0 + colC < n)", "case .*"),
    ("thread_tile_float4", "n - col0 - colC - j", "4", "case .*"),
    ("unroll_steps", "a_frag[i] * b_frag[j]", "a_frag[j] * b_frag[i]", "case 0 .*: 28 of 32"),  # TM for TN
    ("thread_tile_float4", "if (row0 + rowC + i >= m) break;", "", "case .*"),
    ("thread_tile_float4", "k_left - colA", "4", "case .*"),  # the ends of A's rows
]

# (rung, text, what it becomes, what the simulator finds)
TRACED = [
    ("thread_tile_1d", "__syncthreads();", "", "shared-race"),
    ("thread_tile_2d", "rowC, colC);\n    __syncthreads();", "rowC, colC);", "shared-race"),
    ("thread_tile_float4", "aligned_b = lab::aligned16(b, ldb)", "aligned_b = true", "misaligned-access"),
    ("unroll_steps", "inside = row0 + rowA + i * stepA < m &&", "inside =", "out-of-bounds"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails; the same kernel without it passes."""

    def test_every_mistake_is_noticed(self):
        mutants = [(rung, old, new, rung, "FAIL.*" + said) for rung, old, new, said in MUTANTS]
        notice(self, CHAPTER, mutants, "--cases", "0-23")

    def test_what_the_simulator_finds(self):
        mutants = [(rung, old, new, rung, finding) for rung, old, new, finding in TRACED]
        notice(self, CHAPTER, mutants, "--cases", "0-11", traced=True)
