"""Chapter 03 on the simulator: what it prints, what it counts, and what it refuses."""

import json
import re
import unittest

from chapter import Caches, Chapter, Mutant, Run, measured

CHAPTER = Chapter("03_shared_tiling")

SKIPPED = {"cublas"}
DEMONSTRATIONS = {
    "unfilled_edges": "uninitialized-shared",
    "no_first_barrier": "shared-race",
    "no_second_barrier": "shared-race",
}
PRODUCTS = {"naive_along_columns", "shared_tiles", "sliced_tiles", "blocks_per_sm", "wide_reads"}
SLICES = (32, 64, 128, 256)
BLOCKS = ("at most 1", "at most 2", "at most 4", "all that fit")
H200 = CHAPTER.source.parent / "results" / "h200.json"

H200_02 = CHAPTER.source.parents[1] / "02_naive_gemm" / "results" / "h200.json"

# What the text says of the times on an H200: (rung, variant, M = N = K, key of the row, figure, as it is quoted). Times
# are in ms, rates in GFLOP/s.
QUOTED = [
    ("naive_along_columns", None, 4096, "time_ms", 51.98, "the naive kernel takes 51.98 ms"),
    ("shared_tiles", "tile=16", 4096, "time_ms", 17.07, "tiles of 16 take 17.07 ms"),
    ("shared_tiles", "tile=32", 4096, "time_ms", 16.70, "tiles of 32 take 16.70 ms"),
    ("naive_along_columns", None, 2048, "rate", 4990, "the naive kernel has 4.99 TFLOP/s"),
    ("shared_tiles", "tile=32", 2048, "rate", 8870, "and this one 8.87, no more than 1.8 times"),
    ("cublas", None, 4096, "time_ms", 2.68, "cuBLAS takes 2.68 ms"),
    ("sliced_tiles", "slice=32", 4096, "time_ms", 16.52, "| time in ms | 16.52 |"),
    ("sliced_tiles", "slice=64", 4096, "time_ms", 15.53, "| 16.52 | 15.53 |"),
    ("sliced_tiles", "slice=128", 4096, "time_ms", 14.92, "| 15.53 | 14.92 |"),
    ("sliced_tiles", "slice=256", 4096, "time_ms", 14.48, "| 14.92 | 14.48 |"),
    ("sliced_tiles", "slice=32", 4096, "rate", 8320, "| TFLOP/s | 8.32 |"),
    ("sliced_tiles", "slice=64", 4096, "rate", 8850, "| 8.32 | 8.85 |"),
    ("sliced_tiles", "slice=128", 4096, "rate", 9210, "| 8.85 | 9.21 |"),
    ("sliced_tiles", "slice=256", 4096, "rate", 9490, "| 9.21 | 9.49 |"),
    ("sliced_tiles", "slice=32", 2048, "rate", 8940, "from 8.94 to"),
    ("sliced_tiles", "slice=256", 2048, "rate", 9310, "to 9.31 TFLOP/s, 4 %"),
    ("sliced_tiles", "slice=32", 4096, "time_ms", 16.52, "16.52 ms are 1 % less than the 16.70 of `shared_tiles`"),
    ("blocks_per_sm", "at most 1", 4096, "rate", 1600, "| measured at 4096 | 1.60 |"),
    ("blocks_per_sm", "at most 2", 4096, "rate", 3100, "| 1.60 | 3.10 |"),
    ("blocks_per_sm", "at most 4", 4096, "rate", 6020, "| 3.10 | 6.02 |"),
    ("blocks_per_sm", "all that fit", 4096, "rate", 8030, "| 6.02 | 8.03 |"),
    ("blocks_per_sm", "at most 1", 2048, "rate", 2730, "| measured at 2048 | 2.73 |"),
    ("blocks_per_sm", "at most 2", 2048, "rate", 4550, "| 2.73 | 4.55 |"),
    ("blocks_per_sm", "at most 4", 2048, "rate", 7150, "| 4.55 | 7.15 |"),
    ("blocks_per_sm", "all that fit", 2048, "rate", 8110, "| 7.15 | 8.11 |"),
    ("shared_tiles", "tile=32", 4096, "rate", 8230, "says 8.23 TFLOP/s for `shared_tiles` at 4096"),
    ("shared_tiles", "tile=32", 2048, "rate", 8900, "at 4096 and 8.9 at 2048"),
    ("wide_reads", None, 4096, "time_ms", 16.71, "It does: 16.71 ms"),
    ("shared_tiles", "tile=16", 4096, "rate", 8050, "tiles of 16, with 8.05 TFLOP/s"),
]

# The same of chapter 02's results.
QUOTED_02 = [
    ("naive_flat", None, 4096, "time_ms", 27.3, "is done in 27.3 ms"),
    ("memory_bandwidth", "L2 cache", 4096, "rate", 8104, "8,104 GB/s (`memory_bandwidth` in chapter 02)"),
    ("memory_latency", "L2 cache", 4096, "time_ms", 282 / 1.98, "a load takes 282 cycles"),  # of a million, one by one
    ("memory_latency", "global memory", 4096, "time_ms", 684 / 1.98, "from memory takes 684 cycles"),
    ("memory_latency", "registers", 4096, "time_ms", 4.45 / 1.98, "multiply-adds, 4.4 cycles each"),
    ("memory_bandwidth", "shared memory", 4096, "rate", 0.97 * 132 * 128 * 1.98, "reaches 97 % of that"),
]

CYCLES = 132 * 1.98e9  # of all SMs of an H200 in a second, as the text states it


def percent(a, b):
    """By how many per cent a is more than b."""
    return 100 * (a / b - 1)


def slice_cycles(ms, edge):
    """Of one block alone on each SM, for a slice of 16 of a tile of 16 x 16."""
    return ms / 1e3 * CYCLES / (edge / 16) ** 3


def of_bound(ms, steps, cycles):
    """What per cent of a bound is reached at 4096: `steps` multiply-adds of a warp in so many cycles of an SM."""
    return 100 * 2 * 4096**3 / (ms / 1e3) / (64 * steps * CYCLES / cycles)


# What the text computes from such rows: (quote, what it is, of times in ms, the figure, the digits it is rounded to).
DERIVED = [
    ("It is three times faster", lambda ms: ms("naive_along_columns") / ms("shared_tiles", "tile=32"), 3, 0),
    ("no more than 1.8 times as much",
     lambda ms: ms("naive_along_columns", None, 2048) / ms("shared_tiles", "tile=32", 2048), 1.8, 1),
    ("a gain of 14 %", lambda ms: percent(ms("sliced_tiles", "slice=32"), ms("sliced_tiles", "slice=256")), 14, 0),
    ("TFLOP/s, 4 %",
     lambda ms: percent(ms("sliced_tiles", "slice=32", 2048), ms("sliced_tiles", "slice=256", 2048)), 4, 0),
    ("There depth gains 10 %",
     lambda ms: percent(ms("sliced_tiles", "slice=32", 1024), ms("sliced_tiles", "slice=256", 1024)), 10, 0),
    ("are 1 % less", lambda ms: percent(ms("sliced_tiles", "slice=32"), ms("shared_tiles", "tile=32")), -1, 0),
    ("needs 1,340 cycles", lambda ms: slice_cycles(ms("blocks_per_sm", "at most 1"), 4096), 1340, -1),
    ("at 2048 it needs 780", lambda ms: slice_cycles(ms("blocks_per_sm", "at most 1", 2048), 2048), 780, -1),
    ("eight still gains a third",
     lambda ms: percent(ms("blocks_per_sm", "at most 4"), ms("blocks_per_sm", "all that fit")), 33, 0),
    ("same step gains 13 %",
     lambda ms: percent(ms("blocks_per_sm", "at most 4", 2048), ms("blocks_per_sm", "all that fit", 2048)), 13, 0),
    ("are 17 % above the bound", lambda ms: of_bound(ms("sliced_tiles", "slice=256"), 32, 66), 117, 0),
    ("tiles of 32 reach 77 %", lambda ms: of_bound(ms("shared_tiles", "tile=32"), 32, 50), 77, 0),
    ("78 % of theirs", lambda ms: of_bound(ms("shared_tiles", "tile=16"), 16, 26), 78, 0),
    ("slices of 256 reach 89 %", lambda ms: of_bound(ms("sliced_tiles", "slice=256"), 32, 50), 89, 0),
]

# What the text says of what Nsight Compute counted: (rung, variant, M = N = K, what it is of Caches' figures, figure,
# digits that it is rounded to, as it is quoted).
SLICE = 66  # instructions in the loop of sliced_tiles<16, 16>
LONE, DEEP = ("blocks_per_sm", "at most 1"), "sliced_tiles"
COUNTED = [
    ("shared_tiles", "tile=32", 4096, lambda c: c["cycles"], 37.7, 1, "issues an instruction every 37.7 cycles"),
    ("shared_tiles", "tile=32", 4096, lambda c: c["shared"], 16.8, 1, "for 16.8 of them it stands in the queue"),
    (DEEP, "slice=32", 4096, lambda c: c["found in L2"], 37.8, 1, "L2 finds 37.8 % of what it is asked for"),
    (DEEP, "slice=32", 4096, lambda c: c["bytes of memory"] / 1e9, 8.49, 2, "and 8.49 GB come from memory"),
    (DEEP, "slice=32", 2048, lambda c: c["found in L2"], 96.2, 1, "At 2048 it finds 96.2 %"),
    (DEEP, "slice=32", 2048, lambda c: c["bytes of memory"] / (2 * 4 * 2048**2), 1, 2, "memory delivers A and B once"),
    (*LONE, 4096, lambda c: c["bytes of memory"] / 1e9, 17.2, 1, "where 17.2 GB come from memory"),
    (*LONE, 2048, lambda c: c["loads"] * SLICE * 1.98 / 1.5, 350, 0, "265 of them are 350 at 1.98 GHz"),
]
for edge, name, key, figures in ((4096, "for loads, at 4096 (`long_scoreboard`)", "loads", (5.14, 2.30, 1.43, 0.50)),
                                 (4096, "at a barrier, at 4096 (`barrier`)", "barrier", (4.54, 2.61, 2.24, 1.42)),
                                 (4096, "before shared memory, at 4096 (`mio_throttle`)", "shared",
                                  (16.57, 17.74, 19.64, 21.66)),
                                 (2048, "for loads, at 2048", "loads", (3.04, 1.14, 0.50, 0.14)),
                                 (2048, "at a barrier, at 2048", "barrier", (3.16, 2.58, 1.88, 2.22)),
                                 (2048, "before shared memory, at 2048", "shared", (17.85, 17.88, 20.19, 20.90))):
    row = f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |"
    COUNTED += [(DEEP, f"slice={depth}", edge, lambda c, key=key: c[key], figure, 2, row)
                for depth, figure in zip(SLICES, figures)]


def own_work(c):
    return c["shared words"] + c["results"] + c["issue"]


def all_else(c):
    return c["cycles"] - c["loads"] - c["barrier"] - own_work(c)


for name, part, figures in (("waiting for loads | 300", lambda c: c["loads"], (265, 562)),
                            ("waiting at the barriers |", lambda c: c["barrier"], (57, 202)),
                            ("issuing | 308", own_work, (321, 321)), ("anything else |", all_else, (42, 24))):
    row = f"{name} | {figures[0]} | {figures[1]} |"
    COUNTED += [(*LONE, edge, lambda c, part=part: SLICE * part(c), figure, 0, row)
                for edge, figure in zip((2048, 4096), figures)]

# How much more or less it is of one launch than of another: (of, than of, what, figure, digits, as it is quoted).
DIFFERENCES = [
    ((DEEP, "slice=32", 4096), (DEEP, "slice=256", 4096), lambda c: c["loads"], 4.64, 2, "for them falls by 4.64 cycles"),
    ((DEEP, "slice=32", 4096), (DEEP, "slice=256", 4096), lambda c: c["barrier"], 3.12, 2, "that at barriers by 3.12"),
    ((DEEP, "slice=32", 2048), (DEEP, "slice=256", 2048), lambda c: c["loads"], 2.90, 2, "at 2048 by 2.90 and 0.94"),
    ((DEEP, "slice=32", 2048), (DEEP, "slice=256", 2048), lambda c: c["barrier"], 0.94, 2, "at 2048 by 2.90 and 0.94"),
    ((DEEP, "slice=256", 4096), (DEEP, "slice=32", 4096), lambda c: c["shared"], 5.09, 2, "5.09 cycles more at 4096"),
    ((*LONE, 4096), (*LONE, 2048), lambda c: SLICE * c["loads"], 297, 0, "by 297 and by 145 cycles"),
    ((*LONE, 4096), (*LONE, 2048), lambda c: SLICE * c["barrier"], 145, 0, "by 297 and by 145 cycles"),
    # "that is all that this size adds": the block's own work is the same.
    ((*LONE, 4096), (*LONE, 2048), own_work, 0, 2, "that is all that this size adds"),
]


def up(a, b):
    return -(-a // b)


def floats(m, n, k, t):
    """Section 4: M K ceil(N / T) + K N ceil(M / T)."""
    return m * k * up(n, t) + k * n * up(m, t)


def requests(m, n, k, t):
    """Section 4: ceil(M / R) ceil(K / T) ceil(N / T) + ceil(K / R) ceil(N / T) ceil(M / T)."""
    r = 32 // t
    return up(m, r) * up(k, t) * up(n, t) + up(k, r) * up(n, t) * up(m, t)


def sectors(m, n, k, t):
    """Section 4: M ceil(K / 8) ceil(N / T) + K ceil(N / 8) ceil(M / T), for rows that start at sectors."""
    return m * up(k, 8) * up(n, t) + k * up(n, 8) * up(m, t)


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

    def test_demonstrations_show_their_finding(self):
        for rung, kind in DEMONSTRATIONS.items():
            reason = self.run_.row(rung)["reason"]
            self.assertIn(f"raises {kind}", reason)
            self.assertIn(f"in {rung}, block (0,0,0)", reason)
        # As the text says: a read without the first barrier, by a lane of the writer's warp; a write without the second.
        self.assertRegex(self.run_.row("no_first_barrier")["reason"],
                         r"read at \S+:\d+ in .*thread \(1,0,0\) races with the write .* by thread \(0,0,0\)")
        self.assertRegex(self.run_.row("no_second_barrier")["reason"],
                         r"write at \S+:\d+ in .*thread \(0,0,0\) races with the read ")

    # The counts that the text quotes, for M = 128, N = 96, K = 64.

    def test_the_formulas_are_what_the_text_quotes(self):
        self.assertEqual((requests(128, 96, 64, 32), sectors(128, 96, 64, 32)), (1536, 6144))
        self.assertEqual((requests(128, 96, 64, 16), sectors(128, 96, 64, 16)), (3072, 12288))
        self.assertIn("each element of A is read 6 times, each of B 8 times: 98,304 floats of 1,572,864", self.run_.out)
        self.assertIn("each element of A is read 3 times, each of B 4 times: 49,152 floats of 1,572,864", self.run_.out)
        for line in ("3,072 load requests", "12,288 sectors", "1,536 load requests", "6,144 sectors"):
            self.assertIn(f"\n  {line}", self.run_.out)

    def test_naive(self):
        self.expect("naive_along_columns", global_load_requests=49152, global_load_sectors=122880)
        self.assertEqual(122880 / 6144, 20)
        self.assertEqual(49152 / 1536, 32)

    def test_tiles(self):
        for rung, variant, tile in (("shared_tiles", "tile=16", 16), ("shared_tiles", "tile=32", 32),
                                    *(("blocks_per_sm", most, 16) for most in BLOCKS)):
            self.expect(rung, variant, global_load_requests=requests(128, 96, 64, tile),
                        global_load_sectors=sectors(128, 96, 64, tile), global_load_active_lanes=floats(128, 96, 64, tile),
                        global_store_requests=384, global_store_sectors=1536,
                        shared_load_requests=49152, shared_load_wavefronts=49152,
                        shared_store_requests=2 * 384 * 64 // tile, shared_store_wavefronts=2 * 384 * 64 // tile,
                        shared_load_bank_conflicts=0, shared_store_bank_conflicts=0)

    def test_the_depth_of_a_slice_costs_no_read(self):
        for depth in SLICES:
            self.expect("sliced_tiles", f"slice={depth}", global_load_requests=1536, global_load_sectors=6144,
                        global_load_active_lanes=49152, shared_load_requests=max(49152, 49152 * depth // 64),
                        shared_load_bank_conflicts=0)

    def test_wide_reads(self):
        self.expect("wide_reads", global_load_requests=1536, global_load_sectors=6144, shared_load_requests=30720,
                    shared_load_wavefronts=36864, shared_load_bank_conflicts=0)

    def test_every_sixty_fourth_of_what_a_thread_needs_is_its_own(self):
        """A broadcast from A, neighbours from B: the example that the trace keeps of the inner loop's reads."""
        trace = CHAPTER.trace("--rung", "shared_tiles")
        lines = CHAPTER.source.read_text().splitlines()
        launch = trace["launches"][1]
        inner = next(entry for entry in launch["lines"] if "a_tile[ty][l] * b_tile[l][tx]" in lines[entry["line"] - 1])
        spans = sorted(len({a for a in example["addresses"]}) for example in inner["examples"])
        self.assertEqual(spans, [1, 32])

    def test_occupancy(self):
        for slice_, blocks in ((32, 2), (64, 2), (128, 2), (256, 2), (384, 2), (448, 2), (512, 1), (896, 1)):
            self.assertRegex(self.run_.out, rf"32 x 32 threads, slice={slice_} +{slice_ / 4:.1f} KiB a block: {blocks} fit")
        for most, kib, blocks in (("at most 1", 227, 1), ("at most 2", 113, 2), ("at most 4", 56, 4), ("all that fit", 2, 8)):
            self.assertRegex(self.run_.out, rf"16 x 16 threads, {most} +{kib}.0 KiB a block: {blocks} fit")

    def test_the_figures_of_the_text(self):
        cycles, large = CYCLES, 4096
        bank = 2048 * cycles / 1e12
        prose = CHAPTER.prose()
        for quote, value, figure in (
                ("1,536, a 32nd of 49,152", 12 * 32 * 2 * 2, 1536),
                ("32 rows and 32 columns are 1 MiB", 2 * 32 * 4096 * 4 / 2**20, 1),
                ("it would load 1 element for 16 multiply-adds", 32 * 32 / (2 * 32), 16),
                ("two tiles are enough, 8 KiB", 2 * 32 * 32 * 4 / 1024, 8),
                ("6,144 sectors where the naive kernel asks for 122,880, a twentieth", 122880 / 6144, 20),
                ("3,072 requests and 12,288 sectors", sectors(128, 96, 64, 16), 12288),
                ("asks for 17 GB of sectors", 32 * sectors(large, large, large, 32) / 1e9, 17),
                ("hands over in 2.1 ms", 32 * sectors(large, large, large, 32) / 8.104e9, 2.1),
                ("8 operations a byte for T = 32, 4 for T = 16", 2 * 128 * 96 * 64 / (32 * 6144), 8),
                ("a roof of 34 TFLOP/s", 8 * 4.26, 34),
                ("98,304 and 196,608 requests", 4 * 49152, 196608),
                ("113 KiB each, slices of 452", 113 * 1024 / (8 * 32), 452),
                ("26 passes through shared memory", 16 / 4 * (2 + 4) + 2, 26),
                ("one in a cycle: 208 cycles", 8 * 26, 208),
                ("a slice of 8,192 operations", 2 * 16**3, 8192),
                ("= 3.6 TFLOP/s", cycles / 600 * 8192 / 1e12, 3.6),
                ("nearly twice as much, 7.1", 2 * cycles / 600 * 8192 / 1e12, 7.1),
                ("does so 128 times", large / 32, 128),
                ("the other two, 32 times in all", 2 * large / 256, 32),
                ("A and B have 16 MiB each", 2048**2 * 4 / 2**20, 16),
                ("At 4096 they have 64 MiB each", large**2 * 4 / 2**20, 64),
                ("over after four rounds of blocks", (1024 / 32)**2 / (2 * 132), 3.9),
                ("nearly the 8.6 of 128 rows of blocks", large / 32 * large**2 * 4 / 1e9, 8.6),
                ("issuing | 308 |", 208 + 100, 308),
                ("it is 1.6, 3.2 and 6.4", 4 * cycles / 1340 * 8192 / 1e12, 6.4),
                ("more than six blocks", 1340 / 208, 6.4),
                ("780 / 208, not quite four", 780 / 208, 3.75),
                ("its 8,104 GB/s are one sector in a cycle", 8104e9 / cycles / 32, 0.97),
                ("each element of one matrix 16 times", large / 256, 16),
                ("and of the other 32 times", large / 128, 32),
                ("an occupancy of 12.5 %", 100 * 256 / 2048, 12.5),
                ("16 steps, and 10.3 TFLOP/s", cycles / 26 * 1024 / 1e12, 10.3),
                ("= 8.1 TFLOP/s", bank / 66, 8.1),
                ("= 10.7 TFLOP/s", bank / 50, 10.7),
                ("next bound is at 21 TFLOP/s", bank / 25.5, 21),
                ("8 cycles out of 50, 16 %", 100 * 8 / 50, 16),
                ("where we fetch both 128 times", large / 32, 128)):
            with self.subTest(quote=quote):
                self.assertIn(quote, prose)
                self.assertAlmostEqual(value, figure, delta=0.03 * figure)
        self.assertIn("has {:.2f} instead of 8".format(2 * large / (large / 4 + 4)), prose)


class Formulas(unittest.TestCase):
    """Section 4 holds for any size, and where it says that it does not, it does not."""

    def test_other_sizes(self):
        for m, n, k in ((1, 1, 1), (33, 64, 5), (70, 104, 9), (31, 8, 40), (128, 100, 64), (5, 37, 11)):
            run = CHAPTER.run("--size", f"{m},{n},{k}", "--rung", "shared_tiles", "--rung", "sliced_tiles")
            self.assertEqual(run.code, 0, run.explain())
            for rung, variant, tile in (("shared_tiles", "tile=16", 16), ("shared_tiles", "tile=32", 32),
                                        ("sliced_tiles", "slice=64", 32)):
                with self.subTest(m=m, n=n, k=k, rung=rung, variant=variant):
                    counts = run.row(rung, variant)["counts"]
                    self.assertEqual(counts["global_load_requests"], requests(m, n, k, tile))
                    self.assertEqual(counts["global_load_active_lanes"], floats(m, n, k, tile))
                    if n % 8 == 0 and k % 8 == 0:
                        self.assertEqual(counts["global_load_sectors"], sectors(m, n, k, tile))
                    elif tile == 32:  # a warp of tile=16 has two rows, which may then share a sector
                        self.assertGreaterEqual(counts["global_load_sectors"], sectors(m, n, k, tile))
            self.assertIn(f"\n  {requests(m, n, k, 16):,} load requests", run.out)
            self.assertIn(f": {floats(m, n, k, 32):,} floats of {2 * m * n * k:,}", run.out)


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

    def test_a_dozen_traced(self):
        self.passes(CHAPTER.run("--cases", "0-11"), 12)

    def test_more_rows_than_a_grid_has_blocks(self):
        # 65,535 blocks of 16 rows, and one row more.
        for rung in ("shared_tiles", "blocks_per_sm"):
            run = Run(CHAPTER.fast, "--size", f"{65535 * 16 + 1},1,2", "--rung", rung)
            self.assertEqual(run.code, 0, run.explain())


BETA = "beta == 0 ? alpha * sum : alpha * sum + beta * out"

# (rung, [(text, what it becomes)], how the row says it), several for a rung: one program has the n-th of each. Case 0
# has M = 1, N = K = 32 and no gaps, beta -0.5; 1 is the first with K no multiple of 32, and with gaps in A and B (NaN);
# 2 is the first with beta 0, where C is NaN; 4 the first with gaps in C.
MUTANTS = [
    # No zeros where a tile sticks out along K.
    ("shared_tiles", [("a_tile[ty][tx] = from_a", "if (k0 + tx < k) a_tile[ty][tx] = from_a"),
                      ("b_tile[ty][tx] = from_b", "if (k0 + ty < k) b_tile[ty][tx] = from_b")], r"case 1 .*: 66 of 66"),
    ("shared_tiles", [("__syncthreads();  // the tiles are full", "")], r"case 0 .*: 32 of 32"),
    # Whoever comes first has everything right.
    ("shared_tiles", [("__syncthreads();  // nobody needs them any more", "")], r"case [01] .* first at index [1-9]"),
    ("shared_tiles", [("a_tile[ty][l] * b_tile[l][tx]", "a_tile[l][ty] * b_tile[l][tx]")], r"case 0 .*: 32 of 32"),
    ("shared_tiles", [("float sum = 0;", "float sum = 0;\n  if (row >= m || col >= n) return;")], r"case 0 .*: 32 of 32"),
    ("sliced_tiles", [("k0 + l < k", "true")], r"case 1 .* first at index 0: nan"),
    ("sliced_tiles", [(BETA, "alpha * sum")], r"case 0 .*: 32 of 32"),
    ("sliced_tiles", [("row * lda", "row * k")], r"case 1 .* first at index 33: nan"),  # row 1
    ("sliced_tiles", [("* ldb", "* n")], r"case 1 .* first at index 0: nan"),
    ("sliced_tiles", [("k0 += slice", "k0 += tile")], r"case 1 .*: 66 of 66"),  # with slice=64, for K above 32
    ("wide_reads", [("row * ldc", "row * n")], r"case 4 .* first at index 129: "),  # row 1
    ("wide_reads", [(BETA, "alpha * sum + beta * out")], r"case 2 .* first at index 0: nan"),
    ("wide_reads", [("left.z * b_tile[l + 2]", "left.z * b_tile[l + 1]")], r"case 0 .*: 32 of 32"),
    ("wide_reads", [("row >= m || col >= n", "row >= m")], r"case 1 .* first at index 33: "),  # what stands right of row 0
    ("wide_reads", [("b[(k0 + ty) * ldb + col]", "b[(k0 + tx) * ldb + col]")], r"case 0 .*: 32 of 32"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails on the cases."""

    def test_every_mistake_is_noticed(self):
        rungs = {}
        for mutant in MUTANTS:
            rungs.setdefault(mutant[0], []).append(mutant)
        for number in range(max(map(len, rungs.values()))):
            mutants = [those[number] for those in rungs.values() if number < len(those)]
            changes = [(rung, old, new) for rung, pairs, _ in mutants for old, new in pairs]
            with Mutant(CHAPTER, changes) as program:
                runs = {rung: program.run("--rung", rung, "--cases", "0-23") for rung in rungs}
            for mutant in mutants:
                with self.subTest(mutant=mutant):
                    run = runs[mutant[0]]
                    self.assertEqual(run.code, 1, run.explain())
                    reasons = [row["reason"] for row in run.rows if row["status"] == "FAIL"]
                    self.assertTrue(reasons and re.search(mutant[2], reasons[0]), reasons)

    def test_repaired_demonstrations_fail_and_leftovers_raise_nothing(self):
        barrier = "\n    __syncthreads();\n"
        fixed = [
            ("no_first_barrier", "from_b;\n\n    for", "from_b;" + barrier + "    for"),
            ("no_second_barrier", "b_tile[l][tx];\n", "b_tile[l][tx];" + barrier),
            ("unfilled_edges", "if (row < m && k0 + tx < k) a_tile[ty][tx] = a[row * lda + k0 + tx];",
             "a_tile[ty][tx] = row < m && k0 + tx < k ? a[row * lda + k0 + tx] : 0.0f;"),
            ("unfilled_edges", "if (k0 + ty < k && col < n) b_tile[ty][tx] = b[(k0 + ty) * ldb + col];",
             "b_tile[ty][tx] = k0 + ty < k && col < n ? b[(k0 + ty) * ldb + col] : 0.0f;"),
            *(("wide_reads", old, new) for old, new in MUTANTS[0][1]),
        ]
        with Mutant(CHAPTER, fixed, traced=True) as program:
            for rung, kind in DEMONSTRATIONS.items():
                run = program.run("--rung", rung)
                with self.subTest(rung=rung):
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn(f"should raise {kind}, and raised nothing", " ".join(run.out.split()))
            # Section 2: for K = 8 the leftovers are found, for K = 40 they are only wrong.
            found, wrong = (program.run("--rung", "wide_reads", "--size", f"32,32,{k}") for k in (8, 40))
        self.assertIn("uninitialized-shared", found.err + found.out)
        self.assertEqual(wrong.code, 1, wrong.explain())
        self.assertEqual(wrong.row("wide_reads")["status"], "FAIL")
        self.assertNotIn("simt:", wrong.err + wrong.out)


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

    def test_bad_input(self):
        for arguments in (["--size", "5,6"], ["--size", "0,1,1"], ["--cases", "none"], ["--rung", "shared_tile"]):
            with self.subTest(arguments=arguments):
                run = CHAPTER.run(*arguments, results=False)
                self.assertEqual(run.code, 2, run.explain())
                self.assertEqual(run.err.count("\n"), 1, run.err)


class Hardware(unittest.TestCase):
    """What was recorded on an H200."""

    def test_counts_are_the_simulators_or_explained(self):
        found = CHAPTER.disagreements()
        if found is None:
            self.skipTest("no counts of an H200 are recorded")
        self.assertEqual(found, [], "\n".join(found))

    def check_quotes(self, file, quoted):
        results = json.loads(file.read_text())
        self.assertIn("H200", results["device"])
        self.assertTrue(all(row["status"] in ("PASS", "SKIP") for row in results["rows"]))
        prose = CHAPTER.prose()
        for rung, variant, edge, key, figure, quote in quoted:
            with self.subTest(rung=rung, variant=variant, edge=edge):
                self.assertAlmostEqual(measured(results, rung, variant, edge, key), figure, delta=0.005 * figure)
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_what_the_text_quotes_of_it(self):
        self.check_quotes(H200, QUOTED)

    @unittest.skipUnless(H200_02.exists(), "no results of chapter 02 on an H200 are recorded")
    def test_what_the_text_quotes_of_chapter_02(self):
        self.check_quotes(H200_02, QUOTED_02)

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_what_the_text_computes_from_it(self):
        results, prose = json.loads(H200.read_text()), CHAPTER.prose()

        def ms(rung, variant=None, edge=4096):
            return measured(results, rung, variant, edge)

        for quote, value, figure, digits in DERIVED:
            with self.subTest(quote=quote):
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)
                self.assertEqual(round(value(ms), digits), figure)

    def test_what_the_text_quotes_of_the_caches(self):
        caches, prose = Caches(CHAPTER), CHAPTER.prose()
        quoted = [(value(caches(rung, variant, edge)), *rest) for rung, variant, edge, value, *rest in COUNTED]
        quoted += [(value(caches(*one)) - value(caches(*other)), *rest) for one, other, value, *rest in DIFFERENCES]
        for got, figure, digits, quote in quoted:
            with self.subTest(quote=quote):
                self.assertEqual(round(got, digits), figure)
                self.assertEqual(len(re.findall(re.escape(quote), prose)), 1, quote)

    def test_the_tiles_of_chapter_02_share_what_they_read(self):
        memory = Caches(Chapter("02_naive_gemm"))("naive_along_columns", "block=32x32")["bytes of memory"]
        self.assertEqual(round(memory / 1e9, 2), 4.26)
        self.assertIn("which are as many and have 4.26 GB from memory", CHAPTER.prose())


if __name__ == "__main__":
    unittest.main()
