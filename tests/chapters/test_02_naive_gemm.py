"""Chapter 02 on the simulator: what it prints, what it counts, and what it refuses."""

import json
import re
import unittest

from chapter import Chapter, Mutant, Run

CHAPTER = Chapter("02_naive_gemm")

SKIPPED = {"cublas", "memory_latency", "memory_bandwidth"}
DEMONSTRATIONS = {"naive_unguarded": "out-of-bounds"}
PRODUCTS = {"naive_flat", "naive_along_rows", "naive_along_columns"}
SHAPES = ("block=32x32", "block=32x8", "block=16x16")
H200 = CHAPTER.source.parent / "results" / "h200.json"

# What the text says of the times on an H200: (rung, variant, key of the row, figure, as it is quoted), for M = N = K
# = 4096. Times are in ms, rates in GFLOP/s or GB/s.
QUOTED = []


def requests(m, n, k, width=32):
    """Section 4: 2 K M ceil(N / 32)."""
    return 2 * k * m * -(-n // width)


def sectors(m, n, k):
    """Section 4: K M (ceil(N / 32) + ceil(N / 8)), for rows that start at sectors."""
    return k * m * (-(-n // 32) + -(-n // 8))


class DefaultRun(unittest.TestCase):
    """The run that a reader sees first."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()

    def expect(self, rung, variant=None, **counts):
        row = self.run_.row(rung, variant)
        for name, value in counts.items():
            self.assertEqual(row["counts"][name], value, f"{rung} {variant or ''}: {name}")

    def test_ends_well(self):
        self.assertEqual(self.run_.code, 0, self.run_.explain())
        for row in self.run_.rows:
            self.assertEqual(row["status"], "SKIP" if row["rung"] in SKIPPED else "PASS", row)
            self.assertEqual(row["size"], {"M": 128, "N": 96, "K": 64})
            self.assertNotIn("time_ms", row)
        for rung in SKIPPED:
            self.assertIn("needs a GPU", self.run_.row(rung)["reason"])

    def test_every_rung_of_the_header_is_there_in_order(self):
        ran = list(dict.fromkeys(row["rung"] for row in self.run_.rows))
        self.assertEqual(ran, [name for name, _ in CHAPTER.header_rungs()])

    def test_the_demonstration_shows_its_finding(self):
        reason = self.run_.row("naive_unguarded")["reason"]
        self.assertIn("raises out-of-bounds", reason)
        self.assertRegex(reason, r"naive_gemm\.cu:\d+ in naive_unguarded")
        self.assertIn("just past the end of", reason)
        self.assertIn(" of B", reason)  # the text says that it is B's last row

    # The counts that the text quotes, for M = 128, N = 96, K = 64.

    def test_flat_and_along_columns_ask_for_the_same(self):
        self.assertEqual((requests(128, 96, 64), sectors(128, 96, 64)), (49152, 122880))
        for rung, variant in (("naive_flat", None), ("naive_along_columns", "block=32x32"),
                              ("naive_along_columns", "block=32x8")):
            self.expect(rung, variant, global_load_requests=49152, global_load_sectors=122880,
                        global_load_active_lanes=32 * 49152, global_store_requests=384, global_store_sectors=1536)

    def test_along_rows(self):
        self.expect("naive_along_rows", global_load_requests=49152, global_load_sectors=811008,
                    global_store_requests=384, global_store_sectors=12288)
        self.assertEqual(811008 / 49152, 16.5)
        self.assertAlmostEqual(122880 / 811008, 0.15, places=2)  # "15 % of what the other kernel asks for"

    def test_blocks_of_16(self):
        self.expect("naive_along_columns", "block=16x16", global_load_requests=49152, global_load_sectors=98304,
                    global_store_sectors=1536)

    def test_strides(self):
        for stride in (1, 2, 4, 8, 16, 32):
            loads = 512 // stride
            self.expect("read_strided", f"stride={stride}", global_load_requests=loads,
                        global_load_sectors=loads * min(32, 4 * stride))
        self.assertEqual([512 // s * min(32, 4 * s) for s in (1, 8, 16, 32)], [2048, 2048, 1024, 512])

    def test_a_broadcast_is_one_sector_and_neighbours_are_four(self):
        trace = CHAPTER.trace("--rung", "naive_along_columns")
        lines = CHAPTER.source.read_text().splitlines()
        launch = trace["launches"][0]
        per_line = {lines[entry["line"] - 1].strip(): entry["counts"] for entry in launch["lines"]}
        left = next(counts for text, counts in per_line.items() if text.startswith("const float left"))
        right = next(counts for text, counts in per_line.items() if text.startswith("const float right"))
        self.assertEqual(left["global_load_sectors"], left["global_load_requests"])
        self.assertEqual(right["global_load_sectors"], 4 * right["global_load_requests"])

    def test_formulas_are_printed(self):
        self.assertIn("2 K M ceil(N / 32) = 49,152 load requests", self.run_.out)
        self.assertIn("= 122,880 sectors", self.run_.out)

    def test_four_kinds_of_blocks(self):
        self.assertIn("a 70 x 100 matrix in 3 x 4 blocks of 32 x 32 threads", self.run_.out)
        self.assertIn("|  192 |  192 |  192 |   24 |", self.run_.out)
        self.assertIn("inside 6, right edge 2, bottom edge 3, corner 1", self.run_.out)

    def test_the_figures_of_the_text(self):
        m, n, k = 128, 96, 64
        peak, copy, cycles = 65e12, 4.2e12, 132 * 1.98e9  # an H200, as the text states it
        large = 4096
        prose = CHAPTER.prose()
        for quote, value, figure in (
                ("49,152 requests", requests(m, n, k), 49152),
                ("122,880 sectors in all", sectors(m, n, k), 122880),
                ("384 warps", m * n / 32, 384),
                ("811,008 sectors", 33 * requests(m, n, k) / 2, 811008),
                ("98,304 in all", 4 * requests(m, n, k) / 2, 98304),
                ("12,288 sectors where 1,536", 32 * 384 / 8, 1536),
                ("that is 6.3 MB here", 8 * m * n * k / 1e6, 6.3),
                ("The matrices have 106 KB", 4 * (m * k + k * n + m * n) / 1e3, 106),
                ("add up to 4.3e9", requests(large, large, large) / 1e9, 4.3),
                ("the sectors to 344 GB", 32 * sectors(large, large, large) / 1e9, 344),
                ("The matrices have 0.2 GB", 12 * large**2 / 1e9, 0.2),
                ("0.51 TFLOP/s", cycles / 33 * 64 / 1e12, 0.51),
                ("8.4 TFLOP/s", cycles / 2 * 64 / 1e12, 8.4),
                ("an intensity of 683", 2 * large**3 / (12 * large**2), 683),
                ("15 operations for a byte", peak / copy, 15),
                ("bytes for 64 operations, an intensity of 0.4", 64 / 160, 0.4),
                ("33 * 32 bytes, an intensity of 0.06", 64 / (33 * 32), 0.06),
                ("makes 1.7 and 0.26 TFLOP/s", 64 / 160 * copy / 1e12, 1.7),
                ("and 0.26 TFLOP/s", 64 / (33 * 32) * copy / 1e12, 0.26),
                ("= 33 TB/s", cycles * 128 / 1e12, 33),
                ("400 TB/s, from registers", cycles * 128 * 12 / 1e12, 400),
                ("16.7 TB/s", cycles * 64 / 1e12, 16.7),
                ("Here 43 % of the threads", 100 * (1 - 7000 / (12 * 1024)), 43)):
            with self.subTest(quote=quote):
                self.assertIn(quote, prose)
                self.assertAlmostEqual(value, figure, delta=0.035 * figure)


class Formulas(unittest.TestCase):
    """Section 4 holds for any size, and where it says that it does not, it does not."""

    def test_other_sizes(self):
        for m, n, k in ((1, 1, 1), (33, 64, 5), (70, 104, 9), (31, 8, 40), (128, 100, 64), (5, 37, 11)):
            with self.subTest(m=m, n=n, k=k):
                run = CHAPTER.run("--size", f"{m},{n},{k}", "--rung", "naive_along_columns")
                self.assertEqual(run.code, 0, run.explain())
                counts = run.row("naive_along_columns", "block=32x32")["counts"]
                self.assertEqual(counts["global_load_requests"], requests(m, n, k))
                if n % 8 == 0:
                    self.assertEqual(counts["global_load_sectors"], sectors(m, n, k))
                else:
                    self.assertGreaterEqual(counts["global_load_sectors"], sectors(m, n, k))


class Cases(unittest.TestCase):
    """Every rung is right for every pair of extents."""

    def passes(self, run, count):
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual({row["rung"] for row in run.rows if row["status"] == "PASS"}, PRODUCTS)
        for row in run.rows:
            if row["rung"] in PRODUCTS:
                self.assertEqual(row["reason"], f"{count} cases")
            else:
                self.assertEqual(row["status"], "SKIP")

    def test_all_untraced(self):
        self.passes(Run(CHAPTER.fast, "--cases", "all"), 153)
        self.passes(Run(CHAPTER.fast, "--cases", "all", "--seed", "2"), 153)

    def test_a_dozen_traced(self):
        self.passes(CHAPTER.run("--cases", "0-11"), 12)

    def test_more_rows_than_a_grid_has_blocks(self):
        # 65,535 blocks of 16 rows, and one row more.
        run = Run(CHAPTER.fast, "--size", f"{65535 * 16 + 1},1,2", "--rung", "naive_along_columns")
        self.assertEqual(run.code, 0, run.explain())


# (rung, text, what it becomes), several for a rung: one program has the n-th of each.
MUTANTS = [
    ("naive_flat", "if (i >= m * n) return;", "if (i + 1 >= m * n) return;"),
    ("naive_flat", "a[row * lda + l]", "a[row * k + l]"),
    ("naive_flat", "b[l * ldb + col]", "b[l * n + col]"),
    ("naive_flat", "c[row * ldc + col]", "c[row * n + col]"),
    ("naive_flat", "beta == 0 ? alpha * sum : ", ""),
    ("naive_along_rows", "if (row >= m || col >= n) return;", "if (row >= m) return;"),
    ("naive_along_rows", "a[row * lda + l]", "a[l * lda + row]"),
    ("naive_along_rows", "+ beta * out", ""),
    ("naive_along_rows", "alpha * sum : alpha * sum", "sum : sum"),
    ("naive_along_columns", "if (row >= m || col >= n) return;", "if (col >= n) return;"),
    ("naive_along_columns", "b[l * ldb + col]", "b[col * ldb + l]"),
    ("naive_along_columns", "l < k", "l + 1 < k"),
    ("naive_along_columns", "beta == 0 ? alpha * sum : ", ""),
    ("naive_along_columns", "c[row * ldc + col]", "c[row * ldc + col + 1]"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails on the cases."""

    def test_every_mistake_is_noticed(self):
        rungs = {}
        for mutant in MUTANTS:
            rungs.setdefault(mutant[0], []).append(mutant)
        for number in range(max(map(len, rungs.values()))):
            mutants = [those[number] for those in rungs.values() if number < len(those)]
            with Mutant(CHAPTER, mutants) as program:
                runs = {rung: program.run("--rung", rung, "--cases", "0-23") for rung in rungs}
            for rung, run in runs.items():
                mutant = next((one for one in mutants if one[0] == rung), None)
                with self.subTest(rung=rung, mutant=mutant):
                    if mutant:
                        self.assertEqual(run.code, 1, run.explain())
                        self.assertIn("FAIL", run.out)
                    else:
                        self.assertEqual(run.code, 0, run.explain())  # the twin without a mistake

    def test_a_guarded_demonstration_fails(self):
        mutant = ("naive_unguarded", "float sum = 0;", "if (row >= 127 || col >= 95) return;\n  float sum = 0;")
        with Mutant(CHAPTER, [mutant], traced=True) as program:
            run = program.run("--rung", "naive_unguarded", "--size", "128,96,64")
        self.assertEqual(run.code, 1, run.explain())
        self.assertIn("should raise out-of-bounds, and raised nothing", " ".join(run.out.split()))


class Arguments(unittest.TestCase):
    def test_list_is_the_header(self):
        run = CHAPTER.run("--list", results=False)
        listed = [tuple(line.split(None, 1)) for line in run.out.splitlines()]
        self.assertEqual(listed, CHAPTER.header_rungs())

    def test_each_rung_alone_at_any_size(self):
        for rung, _ in CHAPTER.header_rungs():
            for size in ("1,1,1", "33,5,70"):
                with self.subTest(rung=rung, size=size):
                    run = CHAPTER.run("--rung", rung, "--size", size)
                    self.assertEqual(run.code, 0, run.explain())
                    self.assertEqual({row["rung"] for row in run.rows}, {rung})

    def test_several_sizes(self):
        run = CHAPTER.run("--size", "8,9,10", "--size", "40,30,20", "--rung", "naive_flat")
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual([row["size"] for row in run.rows], [{"M": 8, "N": 9, "K": 10}, {"M": 40, "N": 30, "K": 20}])

    def test_bad_input(self):
        for arguments in (["--size", "5"], ["--size", "5,6"], ["--size", "0,1,1"], ["--size", "1,1,2147483648"],
                          ["--size", "2,2,2", "--size", "x"], ["--cases", "none"], ["--cases", "153"],
                          ["--cases", "9-3"], ["--cases"], ["--rung", "naive_flatt"]):
            with self.subTest(arguments=arguments):
                run = CHAPTER.run(*arguments, results=False)
                self.assertEqual(run.code, 2, run.explain())
                self.assertEqual(run.err.count("\n"), 1, run.err)

    def test_a_size_that_does_not_fit(self):
        run = CHAPTER.run("--size", "2147483647,2147483647,2147483647", results=False)
        self.assertIn(run.code, (1, 2), run.explain())
        self.assertEqual(run.err.count("\n"), 1, run.err)


class Hardware(unittest.TestCase):
    """What was recorded on an H200."""

    def test_counts_are_the_simulators_or_explained(self):
        found = CHAPTER.disagreements()
        if found is None:
            self.skipTest("no counts of an H200 are recorded")
        self.assertEqual(found, [], "\n".join(found))

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_what_the_text_quotes_of_it(self):
        results = json.loads(H200.read_text())
        self.assertIn("H200", results["device"])
        self.assertTrue(all(row["status"] in ("PASS", "SKIP") for row in results["rows"]))
        prose = CHAPTER.prose()
        for rung, variant, key, figure, quote in QUOTED:
            found = [row for row in results["rows"] if row["rung"] == rung and row.get("variant") == variant
                     and row["size"] == {"M": 4096, "N": 4096, "K": 4096}]
            with self.subTest(rung=rung, variant=variant):
                self.assertEqual(len(found), 1)
                value = found[0]["time_ms"]["median"] if key == "time_ms" else found[0][key]
                self.assertAlmostEqual(value, figure, delta=0.025 * figure)
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)


if __name__ == "__main__":
    unittest.main()
