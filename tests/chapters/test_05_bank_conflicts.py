"""Chapter 05 on the simulator: what its kernels count, that they are right, and that a mistake in one is noticed."""

import json
import math
import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import NVCC, ROOT, Chapter, Mutant, Run, nvcc_is_the_one_of_the_text

CHAPTER = Chapter("05_bank_conflicts")
PRODUCTS = [
    "thread_tile_float4",
    "thread_tile",
    "transposed_a",
    "transposed_a",
    "split_tile",
    "square_warp",
    "warp_tile",
    *["thread_orders"] * 4,
]
STEPS = 6 * 8 * 64  # blocks, warps, steps along K at the simulator's size
READS = 8  # of each lane in strided_reads and its like


class Counts(unittest.TestCase):
    """What the kernels are made to show. The numbers of the text are bound to the same run."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()

    def counts(self, rung, variant=None):
        return self.run_.row(rung, variant)["counts"]

    def test_strides(self):
        """Wavefronts of one read, by the size of a word and the stride; conflicts are what exceeds the phases."""
        for word, phases, around, one_word, strides in (
            ("float", 1, 32, 1, (1, 2, 4, 8, 16, 32, 33)),
            ("float2", 2, 16, 1, (1, 2, 16, 17)),
            ("float4", 4, 8, 2, (1, 2, 8, 9)),
        ):
            expected = {stride: phases * math.gcd(stride, around) for stride in strides}
            for stride, wavefronts in {0: one_word, **expected}.items():
                with self.subTest(word=word, stride=stride):
                    counts = self.counts("strided_reads", f"{word}, " + (f"stride={stride}" if stride else "one word"))
                    self.assertEqual(counts["shared_load_requests"], READS)
                    self.assertEqual(counts["shared_load_wavefronts"], READS * wavefronts)
                    self.assertEqual(counts["shared_load_bank_conflicts"], READS * max(0, wavefronts - phases))

    def test_patterns(self):
        for variant, warps, wavefronts, conflicts in (
            ("permuted", 1, 1, 0),
            ("multicast", 1, 1, 0),
            ("half of float2", 1, 3, 1),
            ("two warps", 2, 1, 0),
        ):
            counts = self.counts("read_patterns", variant)
            self.assertEqual(counts["shared_load_requests"], READS * warps, variant)
            self.assertEqual(counts["shared_load_wavefronts"], READS * warps * wavefronts, variant)
            self.assertEqual(counts["shared_load_bank_conflicts"], READS * conflicts, variant)

    def test_wavefronts_of_a_step(self):
        """What the ladder is about: 20, 32, 20, 20, 12, 12 and 8 wavefronts, and no conflicts in the end."""
        for rung, variant, requests, wavefronts, loads, stores in (
            ("thread_tile_float4", None, 4, 20, 8, 0),
            ("thread_tile", None, 10, 32, 16, 0),
            ("transposed_a", "pad=0", 4, 20, 8, 0.5),
            ("transposed_a", "pad=4", 4, 20, 8, 0),
            ("split_tile", None, 4, 12, 0, 0),
            ("square_warp", None, 4, 12, 4, 0),
            ("warp_tile", None, 4, 8, 0, 0),
            ("thread_orders", "columns", 4, 68, 56, 0),
            ("thread_orders", "blocks", 4, 24, 12, 0),
            ("thread_orders", "z-curve", 4, 20, 12, 0),
            ("thread_orders", "rows", 4, 20, 8, 0),
        ):
            with self.subTest(rung=rung, variant=variant):
                counts = self.counts(rung, variant)
                self.assertEqual(counts["shared_load_requests"], requests * STEPS)
                self.assertEqual(counts["shared_load_wavefronts"], wavefronts * STEPS)
                self.assertEqual(counts["shared_load_bank_conflicts"], loads * STEPS)
                self.assertEqual(counts["shared_store_bank_conflicts"], stores * STEPS)

    def test_the_first_kernel_counts_as_the_last_of_chapter_04(self):
        size = "256,512,48"
        before = Chapter("04_register_tiling").run("--rung", "thread_tile_float4", "--size", size)
        here = CHAPTER.run("--rung", "thread_tile_float4", "--size", size)
        self.assertEqual(before.row("thread_tile_float4")["counts"], here.row("thread_tile_float4")["counts"])

    def test_rows_of_c_are_stored_in_whole_sectors(self):
        run = CHAPTER.run("--size", "256,512,48")
        for rung, variant, sectors in (
            ("transposed_a", "pad=4", 32),
            ("split_tile", None, 16),
            ("warp_tile", None, 16),
        ):
            counts = run.row(rung, variant)["counts"]
            self.assertEqual(counts["global_store_sectors"], sectors * counts["global_store_requests"], rung)


class Cases(unittest.TestCase):
    """Every rung is right for every pair of extents."""

    def passes(self, run, count):
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual([row["rung"] for row in run.rows if row["status"] == "PASS"], PRODUCTS)
        for row in run.rows:
            self.assertIn(f"{count} cases" if row["status"] == "PASS" else "needs a GPU", row["reason"])

    def test_all_untraced(self):
        self.passes(Run(CHAPTER.fast, "--cases", "all"), 153)

    def test_a_dozen_traced(self):
        self.passes(CHAPTER.run("--cases", "0-11"), 12)

    def test_more_rows_than_a_grid_has_blocks(self):
        run = Run(CHAPTER.fast, "--size", f"{65535 * 128 + 1},1,1", "--rung", "warp_tile")
        self.assertEqual(run.code, 0, run.explain())


# Programs with one mistake for each of some rungs: (function that has it, text, what it becomes, rung that has to fail).
MUTANTS = [
    [
        ("thread_tile_float4", "&b_tile[l + step][col + 4 * j]", "&b_tile[l][col + 4 * j]", "thread_tile_float4"),
        ("thread_tile", "a_tile[row + i][l]", "a_tile[row + i][(l + 1) % BK]", "thread_tile"),
        ("transposed_a", "a4.y", "a4.z", "transposed_a"),
        ("split_tile", "row0 + row, 64,", "row0 + row, 4,", "split_tile"),
        ("square_warp", "lane.col * TN", "lane.col * 4", "square_warp"),
        ("warp_tile", "% 2) * 64", "% 2) * 32", "warp_tile"),
        ("thread_orders", "&b_tile[l + step][col]", "&b_tile[l][col]", "thread_orders"),
    ],
    [
        ("transposed_a", "b_left > 0 ? b_there : 0", "b_there", "transposed_a"),
        ("warp_tile", "row0 + a_row < m ? k - a_k : 0", "k - a_k", "warp_tile"),
    ],
    [
        ("place_of", "lane >> 2 & 4", "lane >> 2 & 2", "thread_orders"),
        ("place_in_pairs", "rest % pairs * 2", "rest / pairs * 2", "warp_tile"),
    ],
]

# Without one of their barriers: the simulator has to find the race.
UNGUARDED = [
    ("thread_tile_float4", "    __syncthreads();  // all have read", "    // all have read", "thread_tile_float4"),
    ("thread_tile", "__syncthreads();  // all have read", "// all have read", "thread_tile"),
    ("warp_tile", "__syncthreads();  // the K-tile", "// the K-tile", "warp_tile"),
]

# With a guard that is one too generous: the simulator has to find the access outside.
OUTSIDE = [
    ("thread_tile_float4", "if (r >= m) continue;", "if (r > m) continue;", "thread_tile_float4"),
    ("store_tile", "if (r >= m) continue;", "if (r > m) continue;", "split_tile"),
    ("warp_tile", "row0 + a_row < m ?", "row0 + a_row <= m ?", "warp_tile"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails; without one it passes, as `Cases` shows."""

    def test_every_mistake_is_noticed(self):
        for mutants in MUTANTS:
            with Mutant(CHAPTER, [mutant[:3] for mutant in mutants]) as program:
                for mutant in mutants:
                    with self.subTest(mutant=mutant):
                        run = program.run("--rung", mutant[3], "--cases", "0-23")
                        self.assertEqual(run.code, 1, run.explain())
                        self.assertIn("FAIL", run.out)

    def test_a_missing_barrier_is_found(self):
        with Mutant(CHAPTER, [mutant[:3] for mutant in UNGUARDED], traced=True) as program:
            for mutant in UNGUARDED:
                with self.subTest(mutant=mutant):
                    run = program.run("--rung", mutant[3], "--size", "128,128,80")
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn("race", run.out + run.err)

    def test_an_access_outside_is_found(self):
        with Mutant(CHAPTER, [mutant[:3] for mutant in OUTSIDE], traced=True) as program:
            for mutant in OUTSIDE:
                with self.subTest(mutant=mutant):
                    run = program.run("--rung", mutant[3], "--size", "33,36,20")
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn("out-of-bounds", run.out + run.err)


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
        report = json.loads((ROOT / "tests" / "microkernels" / "h200.json").read_text())
        patterns = sum(name.startswith("lds") for name in report["cases"])
        self.assertIn(f"measured {patterns} read patterns", CHAPTER.prose())


@unittest.skipUnless(nvcc_is_the_one_of_the_text(), "the text speaks of nvcc 13.0, which is not here")
class Compiled(unittest.TestCase):
    def test_two_blocks_fit_and_nothing_is_spilled(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [
                    NVCC,
                    "-std=c++20",
                    "--extended-lambda",
                    "-O3",
                    "-lineinfo",
                    "-arch=sm_90a",
                    "-cubin",
                    "-Xptxas",
                    "-v",
                    f"-I{ROOT}/common/lab/include",
                    "-o",
                    pathlib.Path(folder) / "a.cubin",
                    CHAPTER.source,
                ],
                capture_output=True,
                text=True,
                check=True,
            )
        seen = set()
        for entry in done.stderr.split("Compiling entry function '")[1:]:
            name = re.match(r"_Z(\d+)(\w+)", entry)
            name = name.group(2)[: int(name.group(1))] if name else ""
            if name in set(PRODUCTS) - {"thread_orders"}:  # two of these four orders spill 12 bytes
                seen.add(name)
                self.assertIn(" 0 bytes spill stores", entry, name)
                self.assertLessEqual(int(re.search(r"Used (\d+) registers", entry).group(1)), 128, name)
        self.assertEqual(seen, set(PRODUCTS) - {"thread_orders"})


if __name__ == "__main__":
    unittest.main()
