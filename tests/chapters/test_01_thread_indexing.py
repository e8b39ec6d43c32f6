"""Chapter 01 on the simulator: what it prints, what it counts, and what it refuses."""

import json
import re
import unittest

from chapter import Chapter, Run

CHAPTER = Chapter("01_thread_indexing")

SKIPPED = {"where_blocks_run", "missing_image"}
DEMONSTRATIONS = {
    "add_unguarded": "out-of-bounds",
    "host_touches_device": "host-access",
    "device_touches_host": "device-access",
    "sticky_error": "out-of-bounds",
}
SIZES = (1, 2, 3, 31, 32, 33, 255, 257, 1000)


def line_of(text):
    """Number of the only source line that holds a text."""
    lines = CHAPTER.source.read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


class DefaultRun(unittest.TestCase):
    """The run that a reader sees first."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()

    def test_ends_well(self):
        self.assertEqual(self.run_.code, 0, self.run_.explain())

    def test_every_rung_passes_or_needs_a_gpu(self):
        for row in self.run_.rows:
            wanted = "SKIP" if row["rung"] in SKIPPED else "PASS"
            self.assertEqual(row["status"], wanted, row)
        for rung in SKIPPED:
            self.assertIn("needs a GPU", self.run_.row(rung)["reason"])

    def test_every_rung_of_the_header_is_there(self):
        self.assertEqual({row["rung"] for row in self.run_.rows},
                         {name for name, _ in CHAPTER.header_rungs()})

    def test_demonstrations_show_their_finding(self):
        for rung, kind in DEMONSTRATIONS.items():
            reason = self.run_.row(rung)["reason"]
            self.assertIn(f"raises {kind}", reason)
            self.assertIn("thread_indexing.cu", reason)

    def test_the_missing_guard_is_found_where_it_is_missing(self):
        reason = self.run_.row("add_unguarded")["reason"]
        body = line_of("std::size_t /*n*/) {")
        lines = {f"thread_indexing.cu:{body + offset}" for offset in (1, 2)}
        self.assertTrue(any(line in reason for line in lines), reason)
        self.assertRegex(reason, r"255")  # the last thread of the last block

    def test_results_file(self):
        results = self.run_.results
        self.assertEqual(results["chapter"], CHAPTER.name)
        self.assertEqual(results["backend"], "simulator")
        for key in ("device", "driver", "toolkit", "date", "commit", "limits"):
            self.assertIn(key, results)
        for row in self.run_.rows:
            self.assertEqual(row["size"], {"n": 65536})
            self.assertNotIn("time_ms", row)  # the time of a simulation says nothing
            if row["status"] == "PASS" and row["rung"] not in DEMONSTRATIONS:
                self.assertEqual(row["max_error"], 0, row)

    # The counts that the text quotes, for n = 65536.

    def expect(self, rung, variant=None, **counts):
        row = self.run_.row(rung, variant)
        for name, value in counts.items():
            self.assertEqual(row["counts"][name], value, f"{rung} {variant or ''}: {name}")

    def test_copies_make_no_requests(self):
        for row in self.run_.rows:
            if row["rung"].startswith("copy_h2d") or row["rung"] in ("copy_d2h", "copy_d2d",
                                                                     "memset_bytes"):
                self.assertFalse(any(row.get("counts", {}).values()), row)

    def test_who_am_i(self):
        self.expect("who_am_i", "4 blocks of 2x2x3", global_store_requests=16,
                    global_store_active_lanes=16 * 12)
        self.expect("who_am_i", "1 block of 8x6", global_store_requests=8,
                    global_store_active_lanes=8 * 24)

    def test_additions(self):
        self.expect("add_guarded", global_load_requests=4096, global_load_sectors=4 * 4096,
                    global_load_active_lanes=32 * 4096, global_store_requests=2048,
                    global_store_sectors=4 * 2048, divergent_branches=0)
        # 255 blocks of 8 warps
        self.expect("add_truncated", global_store_requests=255 * 8)

    def test_zero_copy(self):
        self.expect("read_mapped", global_load_requests=2048, global_load_sectors=8192)

    def test_block_sizes(self):
        for threads in (32, 64, 128, 256, 512, 1024):
            self.expect("map_square", f"block={threads}", global_load_requests=2048,
                        global_load_sectors=8192, global_store_requests=2048,
                        global_store_sectors=8192)
        self.expect("map_square", "block=48", global_load_requests=2731, global_load_sectors=8192,
                    global_load_active_lanes=65536)

    def test_grid_stride(self):
        for variant in ("grid=1", "grid=wave", "grid=n/256"):
            self.expect("grid_stride", variant, global_load_requests=2048,
                        global_load_sectors=8192, global_store_requests=2048)

    def test_two_dimensions(self):
        for kind in ("load", "store"):
            self.expect("copy_x_fastest", **{f"global_{kind}_requests": 2048,
                                             f"global_{kind}_sectors": 4 * 2048})
            self.expect("copy_y_fastest", **{f"global_{kind}_requests": 2048,
                                             f"global_{kind}_sectors": 32 * 2048})

    def test_divergence(self):
        self.expect("diverge_between_warps", global_load_requests=2048, global_load_sectors=8192,
                    global_load_active_lanes=65536, global_store_requests=2048,
                    divergent_branches=0)
        self.expect("diverge_within_warps", global_load_requests=4096, global_load_sectors=16384,
                    global_load_active_lanes=65536, global_store_requests=2048,
                    global_store_active_lanes=65536, divergent_branches=2048)

    # What the program prints besides the table.

    def test_picture(self):
        # Thread (1,0,2) of block (0,1,0) is number 33 of the grid, lane 9 of warp 0.
        picture = self.run_.out[self.run_.out.index("grid (2,2,1) of blocks (2,2,3)"):]
        row = picture[picture.index("block (0,1,0)"):]
        line = next(text for text in row.splitlines() if text.startswith("  z=2 y=0"))
        self.assertEqual(line.split()[2:6], ["32", "0:08", "33", "0:09"])
        second = self.run_.out[self.run_.out.index("grid (1,1,1) of blocks (8,6,1)"):]
        line = next(text for text in second.splitlines() if text.startswith("  z=0 y=4"))
        self.assertEqual(line.split()[2:4], ["32", "1:00"])

    def test_truncated_tail(self):
        self.assertIn("n = 65535, std::ceil(n / 256) = 255 blocks reach 65280 elements; "
                      "255 are never computed", self.run_.out)

    def test_memset(self):
        self.assertIn("16843009 = 0x01010101", self.run_.out)

    def test_limits(self):
        self.assertRegex(self.run_.out, r"block \(1024,   1, 1\), 1024 threads: accepted")
        self.assertRegex(self.run_.out,
                         r"block \(  32,  33, 1\), 1056 threads: cudaErrorInvalidValue")
        self.assertRegex(self.run_.out, r"blocks of   32 threads: 32 fit on an SM, 1024 of 2048")
        self.assertRegex(self.run_.out, r"blocks of  256 threads:  8 fit on an SM, 2048 of 2048")

    def test_errors(self):
        refused = self.run_.out[self.run_.out.index("\nrefused_launch:"):]
        codes = re.findall(r"(cuda(?:Error\w+|Success))\n", refused)[:5]
        self.assertEqual(codes, ["cudaErrorInvalidValue"] * 2 + ["cudaSuccess"] * 3)
        sticky = self.run_.out[self.run_.out.index("\nsticky_error:"):]
        codes = re.findall(r"(cuda(?:Error\w+|Success))\n", sticky)[:4]
        self.assertEqual(codes, ["cudaErrorIllegalAddress"] * 4)


# What the text says of the times on an H200: (rung, variant, median in ms, as it is quoted).
QUOTED_TIMES = [
    ("copy_h2d_pieces", "pieces=1", 4.87, "One piece takes 4.87 ms"),
    ("copy_h2d_pieces", "pieces=4096", 36.6, "4096 pieces take 36.6 ms"),
    ("copy_h2d_pieces", "pieces=64", 5.34, "5.34 ms is what the row"),
    ("copy_h2d", "pinned", 4.9, "4.9 ms where 4.3 were the least"),
    ("add_guarded", None, 0.23, "The kernel takes 0.23 ms"),
    ("read_mapped", None, 5.2, "sees the bus: 5.2 ms"),
    ("map_square", "block=32", 1.26, "| time in ms | 1.26 |"),
    ("map_square", "block=48", 0.84, "| 1.26 | 0.84 |"),
    ("map_square", "block=64", 0.63, "| 0.84 | 0.63 |"),
    ("map_square", "block=128", 0.32, "| 0.63 | 0.32 |"),
    ("map_square", "block=256", 0.20, "| 0.32 | 0.20 |"),
    ("map_square", "block=512", 0.21, "| 0.20 | 0.21 |"),
    ("map_square", "block=1024", 0.24, "| 0.21 | 0.24 |"),
    ("grid_stride", "grid=1", 95, "One block takes 95 ms"),
    ("grid_stride", "grid=n/256", 0.20, "one thread per element takes 0.20 ms"),
    ("grid_stride", "grid=wave", 0.17, "One wave takes 0.17 ms"),
    ("copy_x_fastest", None, 0.21, "The times are 0.21 ms and"),
    ("copy_y_fastest", None, 0.97, "and 0.97 ms"),
    ("diverge_within_warps", None, 0.92, "It is 0.92 ms"),
    ("diverge_between_warps", None, 0.48, "instead of 0.48 ms"),
    ("async_launch", "host, not waiting", 0.0036, "reports 3.6 us"),
    ("async_launch", "host, waiting", 0.203, "is honest: 0.203 ms"),
    ("async_launch", "device", 0.197, "third says 0.197 ms"),
]
H200 = CHAPTER.source.parent / "results" / "h200.json"


class QuotedTimes(unittest.TestCase):
    """The times in the text are those of the results file."""

    def test_the_text_holds_what_is_checked_here(self):
        prose = " ".join(line[2:].strip() for line in CHAPTER.source.read_text().splitlines()
                         if line.startswith("//"))
        for _, _, _, quote in QUOTED_TIMES:
            self.assertEqual(prose.count(quote), 1, quote)

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_times(self):
        results = json.loads(H200.read_text())
        self.assertIn("H200", results["device"])
        for rung, variant, quoted, _ in QUOTED_TIMES:
            found = [row for row in results["rows"]
                     if row["rung"] == rung and row.get("variant") == variant]
            self.assertEqual(len(found), 1, (rung, variant))
            tolerance = 0.025  # what rounding to two digits may cost: both sides are in the repository
            with self.subTest(rung=rung, variant=variant):
                self.assertAlmostEqual(found[0]["time_ms"]["median"], quoted,
                                       delta=tolerance * quoted)


class Arguments(unittest.TestCase):
    """Any legal size is right, and what is not legal is refused in one line."""

    def test_each_rung_alone(self):
        for rung, _ in CHAPTER.header_rungs():
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
            for seed in ("1", "2"):
                with self.subTest(size=size, seed=seed):
                    run = CHAPTER.run("--size", str(size), "--seed", seed)
                    self.assertEqual(run.code, 0, run.explain())
                    for row in run.rows:
                        wanted = "SKIP" if row["rung"] in SKIPPED else "PASS"
                        self.assertEqual(row["status"], wanted, row)

    def test_list_is_the_header(self):
        run = CHAPTER.run("--list", results=False)
        self.assertEqual(run.code, 0, run.explain())
        listed = [tuple(line.split(None, 1)) for line in run.out.splitlines()]
        self.assertEqual(listed, CHAPTER.header_rungs())

    def test_help(self):
        run = CHAPTER.run("--help", results=False)
        self.assertEqual(run.code, 0, run.explain())
        self.assertIn("--size", run.out)

    def test_bad_input(self):
        for arguments in (["--size", "0"], ["--size", "-1"], ["--size", "1.5"], ["--size", "many"],
                          ["--size", ""], ["--size", "3,4"], ["--size", "18446744073709551616"],
                          ["--size", "1e6"], ["--size", " 7"], ["--size"], ["--seed", "x"],
                          ["--rung", "no_such_rung"], ["--rung"], ["--frobnicate"], ["stray"],
                          ["--json", "/no/such/folder/results.json"]):
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
