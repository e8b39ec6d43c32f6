"""Chapter 01 on the simulator: its first program, what it prints, what it counts, and what it refuses."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import BINARY_DIR, NVCC, Chapter, Run

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
        with tempfile.TemporaryDirectory() as name:
            source, program = pathlib.Path(name) / "first.cu", pathlib.Path(name) / "first"
            source.write_text(text.replace(old, new, 1) if old else text)
            subprocess.run([BINARY_DIR / "bin" / "simtcc", source, "-o", program], check=True)
            return subprocess.run([program], capture_output=True, text=True, timeout=60)

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


class DefaultRun(unittest.TestCase):
    """The run that a reader sees first. What the prose says in numbers is bound to it where it stands."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()

    def expect(self, rung, variant=None, **counts):
        row = self.run_.row(rung, variant)
        for name, value in counts.items():
            self.assertEqual(row["counts"][name], value, f"{rung} {variant or ''}: {name}")

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
        self.assertIn("copy_x_fastest: one load: 4 sectors, 128 of 128 bytes used", alt)
        self.assertIn("copy_y_fastest: one load: 32 sectors, 128 of 1,024 bytes used", alt)


class Arguments(unittest.TestCase):
    """Any legal size is right, and what is not legal is refused in one line."""

    def test_each_rung_alone(self):
        for rung in CHAPTER.rungs:
            with self.subTest(rung=rung):
                run = CHAPTER.run("--rung", rung, "--size", "1000")
                self.assertEqual(run.code, 0, run.explain())
                self.assertEqual({row["rung"] for row in run.rows}, {rung})

    def test_several_rungs(self):
        run = CHAPTER.run("--rung", "add_guarded", "--rung", "map_square", "--size", "100")
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual({row["rung"] for row in run.rows}, {"add_guarded", "map_square"})

    def test_sizes(self):
        for size in SIZES:
            with self.subTest(size=size):
                run = CHAPTER.run("--size", str(size), "--seed", str(size + 1))
                self.assertEqual(run.code, 0, run.explain())
                for row in run.rows:
                    self.assertEqual(row["status"], "SKIP" if row["rung"] in SKIPPED else "PASS", row)

    def test_bad_input(self):
        for arguments in (
            ["--size", "0"],
            ["--size", "-1"],
            ["--size", "1.5"],
            ["--size", "many"],
            ["--size", ""],
            ["--size", "3,4"],
            ["--size", "18446744073709551616"],
            ["--size", "1e6"],
            ["--size", " 7"],
            ["--size"],
            ["--seed", "x"],
            ["--rung", "no_such_rung"],
            ["--rung"],
            ["--frobnicate"],
            ["stray"],
            ["--json", "/no/such/folder/results.json"],
        ):
            with self.subTest(arguments=arguments):
                run = CHAPTER.run(*arguments, results=False)
                self.assertEqual(run.code, 2, run.explain())
                self.assertEqual(run.err.count("\n"), 1, run.err)
                self.assertEqual(run.out, "")

    def test_a_misspelt_rung_gets_the_nearest(self):
        run = CHAPTER.run("--rung", "add_gaurded", results=False)
        self.assertEqual(run.code, 2, run.explain())
        self.assertIn("add_guarded", run.err)

    def test_a_size_that_does_not_fit(self):
        run = CHAPTER.run("--size", "1099511627776", results=False)
        self.assertIn(run.code, (1, 2), run.explain())
        self.assertEqual(run.err.count("\n"), 1, run.err)
        self.assertIn("--size", run.err)


class FastProgram(unittest.TestCase):
    """The uninstrumented compilation: the same results, without counts and demonstrations."""

    def test_fast(self):
        run = Run(CHAPTER.fast, "--size", "100000")
        self.assertEqual(run.code, 0, run.explain())
        for row in run.rows:
            skipped = row["rung"] in SKIPPED or row["rung"] in DEMONSTRATIONS
            self.assertEqual(row["status"], "SKIP" if skipped else "PASS", row)
            self.assertFalse(any(row.get("counts", {}).values()), row)


if __name__ == "__main__":
    unittest.main()
