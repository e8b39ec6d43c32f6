"""Chapter 11 on the simulator: that its pipelines do the same work, are right, and that a mistake in one is noticed."""

import unittest

from chapter import Chapter, Products, notice

CHAPTER = Chapter("11_pipelines")
PIPELINED = ["async_copy", "ring_sizes", "wide_tile", "serpentine", "grouped_tiles"]
PRODUCTS = ["warp_tile", "register_buffer", *PIPELINED]
K = 92


class Counts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()

    def counts(self, rung):
        return self.run_.row(rung)["counts"]

    def test_the_first_kernel_counts_as_the_last_of_chapter_05(self):
        size = ("--rung", "warp_tile", "--size", "256,512,48")
        before, here = Chapter("05_bank_conflicts").run(*size), CHAPTER.run(*size)
        self.assertEqual(before.row("warp_tile", "BK=8")["counts"], here.row("warp_tile")["counts"])

    def test_a_pipeline_does_the_same_work(self):
        before, after = self.counts("warp_tile"), self.counts("register_buffer")
        for name in before:
            if name != "divergent_branches":
                self.assertEqual(before[name], after[name], name)

    def test_reads_of_fragments(self):
        """One step more for each block, the one that is read at the very end; no conflicts."""
        for rung, warps, wavefronts in (
            ("async_copy", 6 * 8, 8),
            ("wide_tile", 4 * 8, 12),
            ("serpentine", 4 * 8, 12),
            ("grouped_tiles", 4 * 8, 12),
        ):
            with self.subTest(rung=rung):
                counts = self.counts(rung)
                steps = 16 * -(-K // 16) + 1
                self.assertEqual(counts["shared_load_wavefronts"], warps * steps * wavefronts)
                self.assertEqual(counts["shared_load_bank_conflicts"], 0)


class Cases(Products, unittest.TestCase):
    chapter = CHAPTER
    rungs = PRODUCTS
    tall = ((128, "async_copy"),)

    def test_whole_blocks(self):
        # The path without checks, with every number of steps in the first K-tile, and fewer K-tiles than stages.
        sizes = [f"128,256,{k}" for k in (1, 15, 16, 17, 48, 49, 64, 65, 96)] + ["1280,512,20", "128,2304,33"]
        CHAPTER.right(*(word for size in sizes for word in ("--size", size)), fast=True)


# Programs with one mistake for each of some rungs: (function that has it, text, what it becomes, rung that has to fail).
MUTANTS = [
    [
        ("register_buffer", "l + 1 < BK", "l + 2 < BK", "register_buffer"),
        ("tile_of_c", "a_k < steps ? rows_there : 0", "rows_there", "async_copy"),
        ("grouped_place", "in_group / height", "in_group % cols", "grouped_tiles"),
        ("serpentine_product", "a[ii] * b[j]", "a[i] * b[j]", "serpentine"),
    ],
    [
        ("tile_of_c", "k - (k_tiles - 1) * BK", "BK", "async_copy"),
        ("register_buffer", "b_left > 0 ? b_there : 0", "b_there", "register_buffer"),
    ],
    [
        ("tile_of_c", "(BK / 8) * 8 + lane % 8", "(BK / 8) * 8 + lane % 4", "ring_sizes"),
        ("lane_in_warp", "lane / 4 % 4 * 2", "lane / 8 % 4 * 2", "warp_tile"),
    ],
    [("tile_of_c", "j < cols_there", "j + 1 < cols_there", "wide_tile")],
]

# Without one of their barriers: the simulator has to find the race. The ring without a barrier, too.
UNGUARDED = [
    ("register_buffer", "    __syncthreads();  // all have read", "    // all have read", "register_buffer"),
    ("tile_of_c", "        __syncthreads();\n", "", "async_copy"),
    ("sum_columns", "    __syncthreads(); ", "", "copy_ring"),
]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        for together in MUTANTS:
            notice(self, CHAPTER, [(*mutant, "FAIL") for mutant in together], "--cases", "0-23")

    def test_a_missing_barrier_is_found(self):
        notice(self, CHAPTER, [(*mutant, "race") for mutant in UNGUARDED], "--size", "128,128,80", traced=True)
