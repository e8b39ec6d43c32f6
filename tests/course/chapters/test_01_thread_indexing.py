"""Chapter 01 on the simulator: its first program, what it prints, what it counts, and what it refuses."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import NVCC, Chapter, DefaultRun, notice, run_source

CHAPTER = Chapter("01_thread_indexing")
FIRST = CHAPTER.source.parent / "first" / "first.cu"

SKIPPED = {"where_blocks_run"}
DEMONSTRATIONS = {"add_unguarded", "host_touches_device", "device_touches_host", "sticky_error"}
SIZES = (1, 2, 3, 31, 32, 33, 255, 256, 257, 1000)


def line_of(text):
    """Number of the only source line that holds a text."""
    lines = CHAPTER.source.read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


class FirstProgram(unittest.TestCase):
    """The program that the chapter begins with, and the changes that it proposes."""

    def build_and_run(self, old="", new=""):
        text = FIRST.read_text()
        self.assertIn(old, text)
        return run_source(text.replace(old, new, 1) if old else text)

    def test_runs(self):
        done = self.build_and_run()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1000 numbers doubled\n", ""))

    def test_is_short(self):
        self.assertLessEqual(len(FIRST.read_text().splitlines()), 40)

    def test_a_wrong_factor_is_reported(self):
        done = self.build_and_run("2 * x[i]", "3 * x[i]")
        self.assertEqual((done.returncode, done.stdout), (1, "element 0 is 1.5 and should be 1\n"))

    def test_a_missing_guard_is_found(self):
        done = self.build_and_run("if (i < n) ")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("out-of-bounds", done.stderr)
        self.assertIn("block (3,0,0), thread (232,0,0)", done.stderr)

    def test_a_kernel_prints(self):
        line = 'printf("block %d, thread %d\\n", blockIdx.x, threadIdx.x);'
        self.assertIn(line, CHAPTER.source.read_text())
        done = self.build_and_run("  if (i < n)", f"  {line}\n  if (i < n)")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("block 3, thread "), 256)

    @unittest.skipUnless(NVCC, "no nvcc here")
    def test_compiles_with_nvcc(self):
        with tempfile.TemporaryDirectory() as name:
            command = [NVCC, "-Xcompiler", "-Wall,-Wextra", FIRST, "-o", pathlib.Path(name) / "first"]
            done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class FirstRun(DefaultRun, unittest.TestCase):
    chapter = CHAPTER

    def test_the_size_is_ragged(self):
        n = self.run_.row("add_guarded")["size"]["n"]
        for threads in (32, 48, 64, 128, 256, 512, 1024):
            self.assertNotEqual(n % threads, 0)

    def test_the_missing_guard_is_found_where_it_is_missing(self):
        reason = self.run_.row("add_unguarded")["reason"]
        body = line_of("std::size_t /*n*/) {")
        self.assertTrue(any(f"thread_indexing.cu:{body + offset}" in reason for offset in (1, 2)), reason)
        self.assertIn("block (253,0,0), thread (232,0,0)", reason)

    def test_blocks_of_all_sizes_make_the_same_requests(self):
        for threads in (32, 64, 128, 256, 512, 1024):
            self.expect(
                "map_square",
                f"block={threads}",
                global_load_requests=2032,
                global_load_sectors=8125,
                global_store_requests=2032,
                global_store_sectors=8125,
            )
        self.expect("map_square", "block=48", global_load_requests=2 * 1354 + 1, global_load_active_lanes=65000)
        for variant in ("grid=1", "grid=wave", "grid=n/256"):
            self.expect("grid_stride", variant, global_load_requests=2032, global_load_sectors=8125)

    def test_two_dimensions(self):
        rows, cols = 325, 200
        self.assertIn(f"picture of {rows} x {cols} floats", CHAPTER.prose())
        for kind in ("load", "store"):
            self.expect("copy_x_fastest", **{f"global_{kind}_requests": rows * 7, f"global_{kind}_sectors": rows * 25})
            self.expect(
                "copy_y_fastest", **{f"global_{kind}_requests": 11 * cols, f"global_{kind}_sectors": rows * cols}
            )

    def test_one_side_of_the_copy(self):
        rows, cols = 325, 200
        for variant, requests, sectors in (
            ("along the rows", rows * 7, rows * 25),
            ("down the columns", 11 * cols, rows * cols),
        ):
            loads = {"global_load_requests": requests, "global_load_sectors": sectors}
            self.expect("read_only", variant, **loads, global_store_requests=1)
            stores = {"global_store_requests": requests, "global_store_sectors": sectors}
            self.expect("write_only", variant, **stores, global_load_requests=0)

    def test_divergence(self):
        self.expect("diverge_between_warps", global_load_requests=2032, divergent_branches=1)  # the guard
        self.expect(
            "diverge_within_warps",
            global_load_requests=2 * 2032,
            global_load_active_lanes=65000,
            global_store_requests=2032,
            global_store_active_lanes=65000,
            divergent_branches=2032 + 1,
        )

    def test_moving_data_makes_no_requests_or_the_same(self):
        for variant in ("host to device", "device to host", "within the device"):
            self.assertFalse(any(self.run_.row("copy_memory", variant).get("counts", {}).values()))
        for variant in ("pages on the host", "pages on the device"):
            self.expect("read_managed", variant, global_load_requests=2032, global_load_sectors=8125)

    # What the program prints besides the table.

    def test_picture(self):
        # Thread (1,0,2) of block (0,1,0) is number 33 of the grid, lane 9 of warp 0.
        picture = self.run_.out[self.run_.out.index("grid (2,2,1) of blocks (2,2,3)") :]
        row = picture[picture.index("block (0,1,0)") :]
        line = next(text for text in row.splitlines() if text.startswith("  z=2 y=0"))
        self.assertEqual(line.split()[2:6], ["32", "0:08", "33", "0:09"])
        second = self.run_.out[self.run_.out.index("grid (1,1,1) of blocks (8,6,1)") :]
        line = next(text for text in second.splitlines() if text.startswith("  z=0 y=4"))
        self.assertEqual(line.split()[2:4], ["32", "1:00"])

    def test_truncated_tail(self):
        self.assertIn("n = 65000: std::ceil(n / 256) = 253 blocks reach 64768 elements", self.run_.out)

    def test_errors(self):
        refused = self.run_.out[self.run_.out.index("\nrefused_launch:") :]
        codes = re.findall(r"(cuda(?:Error\w+|Success))\n", refused)[:5]
        self.assertEqual(codes, ["cudaErrorInvalidValue"] * 2 + ["cudaSuccess"] * 3)
        sticky = self.run_.out[self.run_.out.index("\nsticky_error:") :]
        codes = re.findall(r"(cuda(?:Error\w+|Success))\n", sticky)[:4]
        self.assertEqual(codes, ["cudaErrorIllegalAddress"] * 4)

    def test_drawings(self):
        drawn = CHAPTER.drawings()
        self.assertIn("a GPU of 132 SMs", drawn["machine"][1].alt)
        alt = drawn["sectors"][1].alt
        self.assertIn("copy_x_fastest: 4 sectors, 128 bytes moved, 128 of them wanted", alt)
        self.assertIn("copy_y_fastest: 32 sectors, 1024 bytes moved, 128 of them wanted", alt)


class Sizes(unittest.TestCase):
    """Any legal size is right, with any seed."""

    def test_each_rung_alone(self):
        for rung in CHAPTER.rungs:
            with self.subTest(rung=rung):
                run = CHAPTER.right("--rung", rung, "--size", "1000")
                self.assertEqual({row["rung"] for row in run.rows}, {rung})

    def test_sizes(self):
        for size in SIZES:
            with self.subTest(size=size):
                for row in CHAPTER.right("--size", str(size), "--seed", str(size + 1)).rows:
                    self.assertEqual(row["status"], "SKIP" if row["rung"] in SKIPPED else "PASS", row)

    def test_a_size_that_does_not_fit(self):
        CHAPTER.refused("--size", "1099511627776", says="--size", codes=(1, 2))


class FastProgram(unittest.TestCase):
    """The uninstrumented compilation: the same results, without counts and demonstrations."""

    def test_fast(self):
        for row in CHAPTER.right("--size", "100000", fast=True).rows:
            skipped = row["rung"] in SKIPPED or row["rung"] in DEMONSTRATIONS
            self.assertEqual(row["status"], "SKIP" if skipped else "PASS", row)
            self.assertFalse(any(row.get("counts", {}).values()), row)


# (rung, text, what it becomes): a comparison notices each.
MUTANTS = [
    ("who_am_i", "threadIdx.y) * blockDim.x + threadIdx.x", "threadIdx.y) * blockDim.x"),
    ("add_on_cpu", "i < n", "i + 1 < n"),
    ("add_guarded", "a[i] + b[i]", "a[i] + a[i]"),
    ("add_guarded", "if (i < n)", "if (i + 1 < n)"),
    ("add_truncated", "if (i < n)", "if (i + 256 < n)"),
    ("grid_stride", "i += stride", "i += stride + 1"),
    ("map_square", "in[i] * in[i]", "in[i] * in[n - 1 - i]"),
    ("copy_x_fastest", "= in[row * cols + col]", "= in[(row * cols + col) / 2]"),
    ("copy_y_fastest", "row < rows && col < cols", "row + 1 < rows && col < cols"),
    ("read_only", "== wanted", "== wanted + 1"),
    ("write_only", "row < rows && col < cols", "row + 1 < rows && col < cols"),
    ("diverge_between_warps", "i / 32 % 2", "i / 16 % 2"),
    ("diverge_within_warps", "out[i] = mixed", "if (i % 32 != 5) out[i] = mixed"),
    ("async_launch", "in[i] + in[i]", "in[i] + 1.0f"),
    ("refused_launch", "= 1.0f", "= 1.5f"),
    ("copy_memory", "n * sizeof(float)", "(n - 1) * sizeof(float)"),
    ("read_managed", "managed[i]", "managed[n - 1 - i]"),
    ("count_above", "> threshold", ">= -threshold"),
]

# The same with a guard taken out, or half of one: the simulator finds it, since no size is a multiple of a block.
GUARDS = [
    ("add_guarded", "if (i < n) ", ""),
    ("grid_stride", "i < n", "i < n + 1"),
    ("map_square", "if (i < n) ", ""),
    ("copy_x_fastest", "row < rows && ", ""),
    ("copy_y_fastest", "row < rows && col < cols", "col < cols + 1"),
    ("read_only", "row >= rows || ", ""),
    ("write_only", "row < rows && ", ""),
    ("diverge_between_warps", "if (i >= n) return;", ""),
    ("diverge_within_warps", "if (i >= n) return;", ""),
    ("async_launch", "if (i < n) ", ""),
    ("read_managed", "if (i < n) ", ""),
    ("count_above", "i < n && ", ""),
]
GUARDED = ("add_unguarded", "out[i] = a[i] + b[i]", "if (i < 64000) out[i] = a[i] + b[i]")


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, [(*mutant, mutant[0]) for mutant in MUTANTS])

    def test_every_missing_guard_is_noticed_and_a_demonstration_that_has_one(self):
        guards = [(*mutant, mutant[0], "out-of-bounds") for mutant in GUARDS]
        there = (*GUARDED, GUARDED[0], "should raise out-of-bounds")
        notice(self, CHAPTER, [*guards, there], traced=True, at_once=True)
