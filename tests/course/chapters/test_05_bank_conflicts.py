"""Chapter 05 on the simulator: what its kernels count, that they are right, and that a mistake in one is noticed."""

import json
import math
import re
import unittest

from chapter import ROOT, Chapter, Products, load_counted, notice

CHAPTER = Chapter("05_bank_conflicts")
RUNGS = ("as_a_lies", "transposed_a", "padded_a", "swizzled_a", "split_tile", "square_warp", "warp_tile")


class Counts(unittest.TestCase):
    """At sizes at which the hardware has not counted; at that of the simulator test_every_chapter.py holds all to its counts."""

    def test_the_hardware_has_counted_the_others(self):
        counted = load_counted(CHAPTER.source.parent / "results")
        for kernel in ("strided_reads", "read_patterns", "warp_shapes", "product"):
            self.assertIn(kernel, {launch["kernel"] for launch in counted.launches})

    def test_the_first_kernel_counts_as_the_last_of_chapter_04(self):
        size = "256,512,48"
        before = Chapter("04_register_tiling").run("--rung", "k_tile_depth", "--size", size)
        here = CHAPTER.run("--rung", "as_a_lies", "--size", size)
        for depth in (16, 32):
            theirs, ours = (
                run.row(rung, f"BK={depth}")["counts"] for run, rung in ((before, "k_tile_depth"), (here, "as_a_lies"))
            )
            self.assertEqual(theirs, ours)

    def test_rows_of_c_are_stored_in_whole_sectors(self):
        run = CHAPTER.run("--size", "256,512,48")
        for rung, sectors in (("padded_a", 32), ("split_tile", 16), ("warp_tile", 16)):
            counts = run.row(rung, "BK=32")["counts"]
            self.assertEqual(counts["global_store_sectors"], sectors * counts["global_store_requests"], rung)


class Cases(Products, unittest.TestCase):
    chapter = CHAPTER
    rungs = (*RUNGS, "thread_orders")
    tall = ((128, "warp_tile"),)


# Programs with one mistake for each of some rungs: (function that has it, text, what it becomes, rung that has to fail).
MUTANTS = [
    [
        ("store", "frag[0][i] = four.x", "frag[0][i] = four.y", "as_a_lies"),
        ("store", "tile[k + 1][row] = four.y", "tile[k + 1][row] = four.z", "transposed_a"),
        ("column", "k / 4 % 2 * 16", "k / 2 % 2 * 16", "swizzled_a"),
        ("thread_tile", "SPLIT ? 4 * ROWS : 4", "SPLIT ? 4 * ROWS : 8", "square_warp"),
        ("place_in_pairs", "rest % pairs * 2", "rest / pairs * 2", "warp_tile"),
        ("place", "lane) / ROWS", "lane) % COLS", "thread_orders"),
    ],
    [
        ("product", "b_rows_left > 0 ? b_left", "true ? b_left", "padded_a"),
        ("thread_tile", "SPLIT ? 4 * COLS : 4", "4", "split_tile"),
    ],
    [("product", "row0 + a_row < m ? k - a_k", "true ? k - a_k", "warp_tile")],
    [("product", "a_left - right : 0", "a_left : 0", "warp_tile")],
]

# Without one of its barriers: the simulator has to find the race.
UNGUARDED = [
    ("product", "__syncthreads();  // all have read", "// all have read", "as_a_lies"),
    ("product", "__syncthreads();  // the K-tile", "// the K-tile", "warp_tile"),
]

# With a guard that is one too generous: the simulator has to find the access outside.
OUTSIDE = [
    ("store_tile", "if (row >= m) continue;", "if (row > m) continue;", "split_tile"),
    ("product", "row0 + a_row < m ?", "row0 + a_row <= m ?", "warp_tile"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails; without one it passes, as `Cases` shows."""

    def test_every_mistake_is_noticed(self):
        for together in MUTANTS:
            notice(self, CHAPTER, [(*mutant, "FAIL") for mutant in together], "--cases", "0-23")

    def test_a_missing_barrier_is_found(self):
        for mutant in UNGUARDED:  # each in a program of its own, as they all are mistakes of one kernel
            notice(self, CHAPTER, [(*mutant, "race")], "--size", "128,128,80", traced=True)

    def test_an_access_outside_is_found(self):
        for mutant in OUTSIDE:
            notice(self, CHAPTER, [(*mutant, "out-of-bounds")], "--size", "33,36,20", traced=True)


class Drawings(unittest.TestCase):
    def test_banks(self):
        """What is drawn of a read of B, and of words a stride apart, is what the text says of it."""
        drawn = CHAPTER.drawings()
        for name, wavefronts in (
            ("strides", (2, 4, 32)),
            ("reads", (2, 8)),
            ("stores", (2, 1)),
            ("split", (4,)),
            ("clean", (2,)),
        ):
            alt = drawn[name][1].alt
            self.assertEqual(tuple(map(int, re.findall(r"(\d+) wavefronts?: at most", alt))), wavefronts, alt)
        # At every stride from 1 on it is the formula of section 1, and less at stride 0, where phases merge.
        bars = re.findall(r"from stride 0 on ([\d ]+); NVIDIA H200 counted the same\.", drawn["every-stride"][1].alt)
        self.assertEqual(len(bars), 3)
        for phases, broadcast, waves in zip((1, 2, 4), (1, 1, 2), bars):
            self.assertEqual(
                list(map(int, waves.split())),
                [broadcast] + [phases * math.gcd(stride, 32 // phases) for stride in range(1, 34)],
            )
        # Below the words of a stride of 32, all in bank 0, stand the lanes in order: the array begins in bank 0.
        lanes = re.findall(r">(\d+)</text>", drawn["strides"][1].svg)[-32:]
        self.assertEqual(lanes, [str(lane) for lane in range(32)])


class Patterns(unittest.TestCase):
    def test_as_many_as_the_text_says(self):
        report = json.loads((ROOT / "tests" / "simulator" / "microkernels" / "h200.json").read_text())
        patterns = sum(name.startswith("lds") for name in report["cases"])
        self.assertIn(f"measured {patterns} read patterns", CHAPTER.prose())
