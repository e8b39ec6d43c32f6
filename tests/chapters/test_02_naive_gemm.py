"""Chapter 02 on the simulator: what it prints, what it counts, and what it refuses."""

import json
import re
import unittest

from chapter import Caches, Chapter, Mutant, Run

CHAPTER = Chapter("02_naive_gemm")

SKIPPED = {"cublas", "memory_latency", "memory_bandwidth"}
DEMONSTRATIONS = {"naive_unguarded": "out-of-bounds"}
PRODUCTS = {"naive_flat", "naive_along_rows", "naive_along_columns"}
SHAPES = ("block=32x32", "block=32x8", "block=16x16")
H200 = CHAPTER.source.parent / "results" / "h200.json"
COUNTS = H200.with_name("h200_counts.json")

# What the text says of the times on an H200: (M = N = K, rung, variant, key, figure, as it is quoted). `measured`
# says what the keys are.
TILE, FLAT, ROWS = ("naive_along_columns", "block=32x32"), ("naive_flat", None), ("naive_along_rows", None)
QUOTED = [
    (4096, *FLAT, "ms", 27.3, "says 27.3 ms at 4096, 5.04 TFLOP/s"),
    (4096, *FLAT, "tera", 5.04, "at 4096, 5.04 TFLOP/s, 9.8 % of what cuBLAS"),
    (4096, *FLAT, "peer", 0.098, "9.8 % of what cuBLAS reaches"),
    (4096, *ROWS, "ms", 276, "says 276 ms, 0.498 TFLOP/s"),
    (4096, *ROWS, "tera", 0.498, "276 ms, 0.498 TFLOP/s, and at 1024"),
    (1024, *ROWS, "tera", 0.485, "between 0.485 and 0.502"),
    (2048, *ROWS, "tera", 0.486, "1024, 2048 and 8192 between 0.485 and"),
    (8192, *ROWS, "tera", 0.502, "0.485 and 0.502: it does"),
    (4096, *ROWS, "turn", 33.6, "a turn takes 33.6 at 4096"),
    (8192, *ROWS, "turn", 33.3, "at 4096 and 33.3 at 8192"),
    (4096, *FLAT, "four turns", 850, "four turns of a warp take 850 cycles"),
    (1024, *FLAT, "four turns", 827, "850 cycles at 4096, and 826 to 852"),
    (2048, *FLAT, "four turns", 852, "826 to 852 at the other sizes"),
    (8192, *FLAT, "four turns", 826, "and 826 to 852 at"),
    (2048, *TILE, "four turns", 858, "they take 858 at 2048"),
    (4096, *TILE, "four turns", 1619, "858 at 2048, and 1,619 at 4096"),
    (4096, *TILE, "ms", 52, "4.26 GB in 52 ms"),
    (4096, "read_strided", "stride=8", "ms", 0.0630, "knows nothing of it: 0.0630 ms"),
    (4096, "read_strided", "stride=16", "ms", 0.0629, "0.0630 ms and 0.0629"),
    (4096, "read_strided", "stride=32", "ms", 0.0366, "falls to 0.0366 ms"),
    (4096, "read_strided", "stride=1", "ms", 0.1194, "s = 1 takes 0.1194 ms"),
    (4096, "read_strided", "stride=2", "ms", 0.0758, "s = 2 takes 0.0758 ms"),
    (4096, "cublas", None, "ms", 2.68, "takes 2.68 ms, 51.3"),
    (4096, "cublas", None, "tera", 51.3, "2.68 ms, 51.3 TFLOP/s"),
    (4096, "cublas", None, "limit", 0.81, "that is 81 % of what a loop"),
    (4096, "memory_latency", "L2 cache", "cycles", 282, "anything: 282 cycles from L2"),
    (4096, "memory_latency", "global memory", "cycles", 684, "282 cycles from L2, 684 from memory"),
    (4096, "memory_latency", "global memory", "cycles", 684, "take at least 684 cycles"),
    (4096, "memory_latency", "global memory", "cycles", 0.35 * 1980, "684 cycles are 0.35 us"),
    (4096, "memory_latency", "global memory", "cycles", 0.35 * 1980, "684 cycles in section 7 are 0.35"),
    (4096, "memory_latency", "L2 cache", "cycles", 0.14 * 1980, "0.15 us each, and L2 takes 0.14"),
    (2048, *FLAT, "tera", 5.03, "the two rates, 5.03 and 5.04"),
    (4096, *FLAT, "tera", 5.04, "the two rates, 5.03 and 5.04"),
]
for rung, variant, figures in ((*FLAT, (5.18, 5.03, 5.04, 5.18)), (*TILE, (4.11, 4.99, 2.65, 2.50)),
                               (TILE[0], "block=32x8", (4.31, 5.35, 2.82, 2.62)),
                               (TILE[0], "block=16x16", (4.03, 4.72, 2.86, 2.85))):
    row = "| " + " | ".join(f"{figure:.2f}" for figure in figures) + " |"
    QUOTED += [(size, rung, variant, "tera", figure, row) for size, figure in zip((1024, 2048, 4096, 8192), figures)]
for variant, cycles, rate in (("registers", "4.4", "371"), ("shared memory", "23", "32.6"), ("L1 cache", "32", "32.5"),
                              ("L2 cache", "282", "8.1"), ("global memory", "684", "4.34")):
    row = f"| {variant} | {cycles} | {rate} |"
    QUOTED += [(4096, "memory_latency", variant, "cycles", float(cycles), row),
               (4096, "memory_bandwidth", variant, "tera", float(rate), row)]
QUOTED += [(4096, "memory_latency", "constant memory", "cycles", 53, "| constant memory, one word | 53 | 16.0 |"),
           (4096, "memory_bandwidth", "constant, one word", "tera", 16.0, "| constant memory, one word | 53 | 16.0 |"),
           (4096, "memory_bandwidth", "constant, 32 words", "tera", 0.52, "| constant memory, 32 words | | 0.52 |")]

# What the text says of what Nsight Compute counted: (rung, variant, M = N = K, what it is of Caches' figures and of the
# milliseconds of h200.json, figure, digits that it is rounded to, as it is quoted).
TURNS = 31  # instructions in the loop of four turns of a tile, and of naive_flat
FLAT_TURNS = 33
COUNTED_CLOCK = 1.5  # GHz
COUNTED = []
for (rung, variant), edge, hits, memory, cycles in (
        (TILE, 2048, (95.0, 97.7), "0.034", 14.20), (TILE, 4096, (95.5, 58.9), "4.26", 32.41),
        (FLAT, 2048, (24.2, 99.6), "0.034", 10.77), (FLAT, 4096, (34.6, 87.3), "4.30", 12.64)):
    row = f"| {edge} | {hits[0]:.1f} % | {hits[1]:.1f} % | {memory} GB | {cycles:.2f} |"
    COUNTED += [
        (rung, variant, edge, lambda c, ms: c["found in L1"], hits[0], 1, row),
        (rung, variant, edge, lambda c, ms: c["found in L2"], hits[1], 1, row),
        (rung, variant, edge, lambda c, ms: c["bytes of memory"] / 1e9, float(memory), len(memory.split(".")[1]), row),
        (rung, variant, edge, lambda c, ms: c["loads"], cycles, 2, row),
    ]
COUNTED += [
    (*ROWS, 4096, lambda c, ms: c["found in L1"], 99.2, 1, "at 4096 L1 finds 99.2 % of the sectors"),
    (*ROWS, 4096, lambda c, ms: 100 * c["L1 queue"] / c["cycles"], 62, 0, "a warp spends 62 % of its time in the queue"),
    (*ROWS, 4096, lambda c, ms: c["ns"] / 1e6 / ms, 1.32, 2, "bound by cycles of L1, takes 1.32 times as long"),
    (*ROWS, 4096, lambda c, ms: 1.98 * ms / (c["ns"] / 1e6), COUNTED_CLOCK, 1, "holds the SMs at about 1.5 GHz"),
    (*TILE, 4096, lambda c, ms: c["bytes of memory"] / 1e9, 4.26, 2, "4.26 GB in 52 ms are 1.9 % of it"),
    (*TILE, 4096, lambda c, ms: c["bytes of memory"] / ms / 1e6 / 4260 * 100, 1.9, 1, "are 1.9 % of it"),
    (*TILE, 4096, lambda c, ms: c["loads"] * TURNS, 1005, 0, "a warp waits 1,005 cycles in it"),
    (*TILE, 4096, lambda c, ms: c["loads"] * TURNS / 2, 502, 0, "1,005 cycles in it, twice 502"),
    (*TILE, 4096, lambda c, ms: c["loads"] * TURNS / 2 / COUNTED_CLOCK / 1e3, 0.33, 2, "so these are 0.33 us each"),
    (*TILE, 2048, lambda c, ms: c["loads"] * TURNS / 2, 220, 0, "At 2048 it is twice 220"),
    (*TILE, 2048, lambda c, ms: c["loads"] * TURNS / 2 / COUNTED_CLOCK / 1e3, 0.15, 2, "twice 220, 0.15 us each"),
    (*TILE, 4096, lambda c, ms: 100 * c["loads"] / c["cycles"], 79, 0, "79 % of a warp's time at 4096"),
    (*TILE, 2048, lambda c, ms: 100 * c["loads"] / c["cycles"], 58, 0, "79 % of a warp's time at 4096 and 58 % at 2048"),
    (*TILE, 2048, lambda c, ms: 100 * (c["ns"] / 1e6 / ms - 1), 21, 0, "the tile takes 21 % longer with it at 2048"),
    (*TILE, 4096, lambda c, ms: 100 * (c["ns"] / 1e6 / ms - 1), 5, 0, "with it at 2048 and 5 % at 4096"),
    (*FLAT, 2048, lambda c, ms: c["sectors of L2"] * 32 / 1e9, 31.7, 1, "L2 sent 31.7 GB"),
    (*FLAT, 2048, lambda c, ms: c["sectors of L2"] * 32 / ms / 1e9, 9.3, 1, "31.7 GB, which are 9.3 TB/s"),
    (*FLAT, 2048, lambda c, ms: c["sectors of L2"] * 32 / ms / 1e9, 9.3, 1, "`naive_flat` had 9.3 TB/s from L2"),
    (*FLAT, 2048, lambda c, ms: c["found in L1"], 24.2, 1, "L1 finds 24.2 % of the sectors"),
    (*FLAT, 2048, lambda c, ms: c["loads"] * FLAT_TURNS / COUNTED_CLOCK / 1e3, 0.24, 2, "is 0.24 us, not 0.14"),
    (*FLAT, 4096, lambda c, ms: c["sectors of L2"] * 32 / 1e9, 87.8, 1, "no more than 87.8 GB"),
    (*FLAT, 4096, lambda c, ms: c["sectors of L2"] * 32 / (4 * 4096**3), 1 / 3, None, "a third of what the warps wanted"),
    (TILE[0], "block=16x16", 4096, lambda c, ms: 100 * c["loads"] / c["cycles"], 89, 0,
     "At 4096 both wait for loads for 89 % of their time"),
    (TILE[0], "block=32x8", 4096, lambda c, ms: 100 * c["loads"] / c["cycles"], 89, 0, "both wait for loads for 89 %"),
]


def measured(results, row, key):
    """A figure of a row: ms; TFLOP/s or TB/s ("tera"); parts of the peer or of the limit; the cycles of one of the
    million steps of memory_latency; the cycles that an SM takes for a turn of one warp, and all its 64 warps for four."""
    ms, mhz = row["time_ms"]["median"], results["limits"]["sm_clock_mhz"]
    if key in ("turn", "four turns"):
        turns = row["size"]["M"] * row["size"]["N"] * row["size"]["K"] / 32 / 132
        return ms * 1e3 * mhz / turns * {"turn": 1, "four turns": 4 * 64}[key]
    return {"ms": lambda: ms, "tera": lambda: row["rate"] / 1e3, "cycles": lambda: ms * mhz / 1e3,
            "peer": lambda: row["ratio_to_peer"], "limit": lambda: row["fraction_of_limit"]}[key]()


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

    def test_drawings(self):
        drawn = CHAPTER.drawings()
        self.assertIn("128 (right edge); 192 (bottom edge), 192 (bottom edge), 192 (bottom edge), 24 (corner).",
                      drawn["blocks"][1].alt)
        for words in ("naive_along_rows: of A 32 floats in 32 sectors; of B 1 float in 1 sector; they compute 32 x 1 ",
                      "naive_along_columns: of A 1 float in 1 sector; of B 32 floats in 4 sectors; they compute 1 x 32 "):
            self.assertIn(words, drawn["reads"][1].alt)

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
                # What section 3 concludes from the times.
                ("read all of it: 64 MiB", 4 * large**2 / 2**20, 64),
                ("read from memory 62 times over", large / 32 / (2 * 132 / (large / 32)), 62),
                ("62 times over, 4.2 GB", 62 * 4 * large**2 / 1e9, 4.2),
                ("10.1 TB/s at this rate", 5.04 * 4 / 2, 10.1),
                ("and A's alone are 20 %", 100 / 5, 20),
                ("by 12 % at 2048", 100 * (1 - 4.72 / 5.35), 12),
                ("the table is 64 % of the 8.4", 100 * 5.35 / 8.4, 64),
                ("half as slow again", 3 / 2, 1.5),
                ("a row has 129 lines", 4128 * 4 / 128, 129),
                ("B has 16 MiB.", 4 * 4096 * 1024 / 2**20, 16),
                # Section 6 and 7.
                ("an SM have 8 KiB on their way", 2048 * 4 / 1024, 8),
                ("is 12 bytes a cycle", 2048 * 4 / 684, 12),
                ("3.1 TB/s on all SMs", 2048 * 4 / 684 * cycles / 1e12, 3.1),
                ("comes in at 4.26 TB/s", 4 * 2**26 / 0.0630e-3 / 1e12, 4.26),
                ("are 31 times apart", 16.0 / 0.52, 31),
                ("an SM serves one in 2.1 cycles", cycles / (16.0e12 / 128), 2.1),
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

    @unittest.skipUnless(COUNTS.exists(), "no counts of an H200 are recorded")
    def test_strides_cost_the_same_sectors_a_request(self):
        # What differences.json says of the launches that are too large for the simulator.
        counts = [launch["counts"] for launch in json.loads(COUNTS.read_text())["launches"]
                  if launch["kernel"] == "read_strided"]
        self.assertEqual([each["global_load_sectors"] / each["global_load_requests"] for each in counts],
                         [4, 8, 16, 32, 32, 32])

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_what_the_text_quotes_of_it(self):
        results = json.loads(H200.read_text())
        self.assertIn("H200", results["device"])
        self.assertTrue(all(row["status"] in ("PASS", "SKIP") for row in results["rows"]))
        prose = CHAPTER.prose()
        for size, rung, variant, key, figure, quote in QUOTED:
            found = [row for row in results["rows"] if row["rung"] == rung and row.get("variant") == variant
                     and row["size"] == {"M": size, "N": size, "K": size}]
            with self.subTest(rung=rung, variant=variant, quote=quote):
                self.assertEqual(len(found), 1)
                self.assertAlmostEqual(measured(results, found[0], key), figure, delta=0.025 * figure)
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)

    def test_what_the_text_quotes_of_the_caches(self):
        results, caches, prose = json.loads(H200.read_text()), Caches(CHAPTER), CHAPTER.prose()
        for rung, variant, edge, value, figure, digits, quote in COUNTED:
            row = next(row for row in results["rows"] if row["rung"] == rung and row.get("variant") == variant
                       and row["size"] == {"M": edge, "N": edge, "K": edge})
            got = value(caches(rung, variant, edge), row["time_ms"]["median"])
            with self.subTest(rung=rung, variant=variant, edge=edge, quote=quote):
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)
                if digits is None:
                    self.assertAlmostEqual(got, figure, delta=0.05 * figure)
                else:
                    self.assertEqual(round(got, digits), figure)


if __name__ == "__main__":
    unittest.main()
