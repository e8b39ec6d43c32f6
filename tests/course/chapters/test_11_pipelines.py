"""Chapter 11 on the simulator: that its pipelines do the same work, are right, and that a mistake in one is noticed; what
nvcc makes of them."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import NVCC, ROOT, Chapter, Mutant, Run, nvcc_is_the_one_of_the_text

CHAPTER = Chapter("11_pipelines")
PIPELINED = ["async_copy", "wide_tile", "serpentine", "grouped_tiles"]
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

    def test_the_ring_turns(self):
        self.assertGreater(-(-K // 16), 4)
        self.assertGreater(10, 4)  # rows of copy_ring


class Cases(unittest.TestCase):
    def passes(self, run, count):
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual([row["rung"] for row in run.rows if row["status"] == "PASS"], PRODUCTS)
        for row in run.rows:
            self.assertIn(f"{count} cases" if row["status"] == "PASS" else "needs a GPU", row["reason"])

    def test_all_untraced(self):
        self.passes(Run(CHAPTER.fast, "--cases", "all"), 153)

    def test_a_dozen_traced(self):
        self.passes(CHAPTER.run("--cases", "0-11"), 12)

    def test_whole_blocks(self):
        # The path without checks, with every number of steps in the first K-tile, and fewer K-tiles than stages.
        sizes = [f"128,256,{k}" for k in (1, 15, 16, 17, 48, 49, 64, 65, 96)] + ["1280,512,20", "128,2304,33"]
        run = Run(CHAPTER.fast, *(word for size in sizes for word in ("--size", size)))
        self.assertEqual(run.code, 0, run.explain())

    def test_more_rows_than_a_grid_has_blocks(self):
        run = Run(CHAPTER.fast, "--size", f"{65535 * 128 + 1},1,1", "--rung", "async_copy")
        self.assertEqual(run.code, 0, run.explain())


# Programs with one mistake for each of some rungs: (function that has it, text, what it becomes, rung that has to fail).
MUTANTS = [
    [
        ("register_buffer", "l + 1 < BK", "l + 2 < BK", "register_buffer"),
        ("async_copy", "a_k < steps ? rows_there : 0", "rows_there", "async_copy"),
        ("grouped_place", "in_group / height", "in_group % cols", "grouped_tiles"),
        ("serpentine_product", "a[ii] * b[j]", "a[i] * b[j]", "serpentine"),
        ("tile_of_c", "j < cols_there", "j + 1 < cols_there", "wide_tile"),
    ],
    [
        ("async_copy", "k - (tiles - 1) * BK", "BK", "async_copy"),
        ("tile_of_c", "k - (tiles - 1) * BK", "BK", "wide_tile"),
        ("register_buffer", "b_left > 0 ? b_there : 0", "b_there", "register_buffer"),
    ],
    [
        ("async_copy", "% 2 * 8 + lane % 8", "% 2 * 8 + lane % 4", "async_copy"),
        ("lane_in_warp", "lane / 4 % 4 * 2", "lane / 8 % 4 * 2", "warp_tile"),
    ],
]

# Without one of their barriers: the simulator has to find the race. The ring without a barrier, too.
UNGUARDED = [
    ("register_buffer", "    __syncthreads();  // all have read", "    // all have read", "register_buffer"),
    ("async_copy", "        __syncthreads();\n", "", "async_copy"),
    ("tile_of_c", "        __syncthreads();\n", "", "wide_tile"),
    ("sum_columns", "    __syncthreads(); ", "", "copy_ring"),
]


class Mutants(unittest.TestCase):
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


@unittest.skipUnless(nvcc_is_the_one_of_the_text(), "the text quotes nvcc 13.0, which is not here")
class Compiled(unittest.TestCase):
    """What nvcc makes of the kernels: the speed of the last ones depends on the allocation of registers."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cubin = pathlib.Path(cls.folder.name) / "a.cubin"
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
                cls.cubin,
                CHAPTER.source,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        cls.made = {}
        for entry in done.stderr.split("Compiling entry function '")[1:]:
            cls.made[cls.readable(entry)] = (
                int(re.search(r"Used (\d+) registers", entry).group(1)),
                int(re.search(r"(\d+) bytes spill stores", entry).group(1)),
            )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def readable(mangled):
        match = re.match(r"_Z(\d+)(\w+)", mangled)
        return match.group(2)[: int(match.group(1))] if match else mangled

    def test_registers(self):
        for kernel in PRODUCTS:
            registers, spilled = self.made[kernel]
            self.assertEqual(spilled, 0, kernel)
            self.assertLessEqual(registers, 128 if kernel in PRODUCTS[:3] else 255, kernel)


if __name__ == "__main__":
    unittest.main()
