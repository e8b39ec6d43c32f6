"""Chapter 05 on the simulator: what it prints, what it counts, and what it refuses; what nvcc makes of it."""

import json
import math
import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import CUOBJDUMP, NVCC, ROOT, Caches, Chapter, Mutant, Run, measured, nvcc_is_the_one_of_the_text, row_of

CHAPTER = Chapter("05_bank_conflicts")
SM90 = CHAPTER.source.with_name("bank_conflicts_sm90.cu")
H200 = CHAPTER.source.parent / "results" / "h200.json"

# What the text says of the times on an H200: (rung, M = N = K, key of the row, figure, as it is quoted). Times are in
# ms, rates in GFLOP/s.
QUOTED = [
    ("read_words stride=1", 4096, "time_ms", 0.0202, "goes from 0.0202 ms to 0.5353 ms"),
    ("read_words stride=32", 4096, "time_ms", 0.5353, "goes from 0.0202 ms to 0.5353 ms"),
    ("read_quads one word", 4096, "time_ms", 0.0403, "of a float4 takes 0.0403 ms"),
    ("read_quads stride=1", 4096, "time_ms", 0.0706, "a stride of 1 take 0.0706 ms"),
    ("thread_tile_float4", 4096, "rate", 31200, "says 31.2 TFLOP/s for M = N = K = 4096"),
    ("cublas", 4096, "rate", 51600, "cuBLAS has 51.6 in the same run"),
    ("thread_tile", 4096, "rate", 26400, "26.4 TFLOP/s, a step back"),
    ("transposed_a", 4096, "rate", 36800, "36.8 TFLOP/s. It has as many wavefronts"),
    ("padded_a", 4096, "time_ms", 3.729, "3.729 ms, where it was 3.734"),
    ("transposed_a", 4096, "time_ms", 3.734, "3.729 ms, where it was 3.734"),
    ("padded_a", 4096, "rate", 36900, "It has reached 36.9."),
    ("split_tile", 4096, "rate", 40300, "40.3 TFLOP/s, 9 % more"),
    ("register_buffer", 1024, "rate", 21300, "nothing is gained, 21.3 as before"),
    ("async_copy", 1024, "rate", 21300, "nothing is gained, 21.3 as before"),
    ("warp_tile", 4096, "rate", 41500, "41.5 TFLOP/s. A third"),
    ("register_buffer", 4096, "rate", 46800, "46.8 TFLOP/s, 13 % more"),
    ("warp_tile", 1024, "rate", 13400, "even 21.3 where it was 13.4"),
    ("register_buffer", 1024, "rate", 21300, "even 21.3 where it was 13.4"),
    ("async_copy", 4096, "rate", 48200, "48.2 TFLOP/s, and 93.5 % of cuBLAS"),
    ("async_copy", 4096, "ratio_to_peer", 0.935, "48.2 TFLOP/s, and 93.5 % of cuBLAS"),
    ("wide_tile", 4096, "rate", 46800, "46.8 TFLOP/s, *less* than the 48.2 before"),
    ("serpentine", 4096, "rate", 50100, "50.1 TFLOP/s, 7 % more for the order"),
    ("serpentine", 1024, "rate", 11800, "11.8 where it had 21.3"),
    ("async_copy", 1024, "rate", 21300, "11.8 where it had 21.3"),
    ("serpentine", 4096, "rate", 50100, "50.1 TFLOP/s at 4096 for the one and 50.0"),
    ("grouped_tiles", 4096, "rate", 50000, "for the one and 50.0 for the other"),
    ("serpentine", 8192, "rate", 50700, "50.7 TFLOP/s at 8192 for the one"),
    ("grouped_tiles", 8192, "rate", 50600, "50.6 for the other"),
    ("serpentine", 8192, "time_ms", 21.7, "5.1 GB in 21.7 ms"),
    ("producer_warps", 4096, "rate", 53700, "53.7 TFLOP/s at 4096, 7 % more"),
    ("producer_warps", 1024, "rate", 13000, "It is 13.0 TFLOP/s"),
    ("even_shares", 1024, "rate", 36300, "At 1024 it is 36.3 TFLOP/s, where 4096 has 55.3"),
    ("even_shares", 4096, "rate", 55300, "At 1024 it is 36.3 TFLOP/s, where 4096 has 55.3"),
    ("tile_by_shape", 1024, "rate", 41100, "41.1 TFLOP/s at 1024, 1.21 of cuBLAS"),
    ("tile_by_shape", 1024, "ratio_to_peer", 1.21, "41.1 TFLOP/s at 1024, 1.21 of cuBLAS"),
]
# The same of what Nsight Compute counted: (rung, M = N = K, metric, figure, its digits, as it is quoted).
CACHES = Caches(CHAPTER)
ISSUED = "smsp__issue_active.avg.pct_of_peak_sustained_active"
WAITS = Caches.STALL
QUOTED_CACHES = [
    ("async_copy", 4096, WAITS % "barrier", 0.38, 2, "0.38 stand at a barrier"),
    ("async_copy", 4096, WAITS % "long_scoreboard", 0.09, 2, "0.09 wait for a load"),
    ("grouped_tiles", 4096, ISSUED, 84, 0, "90 % are multiply-adds, and 84 of a hundred cycles"),
    ("wide_tile", 4096, ISSUED, 79, 0, "issues one in 79 of a hundred cycles"),
    ("async_copy", 4096, ISSUED, 84, 0, "where `async_copy` did in 84"),
    ("wide_tile", 4096, WAITS % "dispatch_stall", 0.24, 2, "0.24 of a scheduler's two warps"),
    ("async_copy", 4096, WAITS % "dispatch_stall", 0.48, 2, "For `async_copy` it is 0.48 of four"),
    ("serpentine", 4096, WAITS % "dispatch_stall", 0.15, 2, "The dispatch stall has fallen from 0.24 to 0.15"),
    ("serpentine", 4096, ISSUED, 84, 0, "and 84 of a hundred cycles issue an instruction again"),
    ("serpentine", 8192, "dram__bytes_read.sum", 5.1e9, -8, "5.1 GB come from DRAM for `serpentine`"),
    ("grouped_tiles", 8192, "dram__bytes_read.sum", 3.0e9, -8, "and 3.0 GB for this kernel"),
    ("grouped_tiles", 4096, WAITS % "short_scoreboard", 0.12, 2, "0.13 warps for each instruction (\"short scoreboard\"), where it was 0.12"),
    ("producer_warps", 4096, WAITS % "short_scoreboard", 0.13, 2, "0.13 warps for each instruction"),
    ("producer_warps", 4096, ISSUED, 90, 0, "90 of a hundred cycles issue an instruction"),
    ("even_shares", 4096, ISSUED, 91, 0, "leaves 9 % of the cycles without an instruction"),
    ("grouped_tiles", 4096, WAITS % "dispatch_stall", 0.15, 2, "where it was 0.15. What a dispatch stall is"),
    ("producer_warps", 4096, WAITS % "dispatch_stall", 0.22, 2, "0.22 stand at a dispatch stall"),
]
# The table at the end of section 15: rates in TFLOP/s and a ratio.
LAST_RUNGS = ("grouped_tiles", "producer_warps", "even_shares")

SKIPPED = {"cublas", "producer_warps", "even_shares", "tile_by_shape"}
SLICED = ["thread_tile_float4", "thread_tile", "transposed_a", "padded_a", "split_tile", "warp_tile",
          "register_buffer"]
PIPELINED = ["async_copy", "wide_tile", "serpentine", "grouped_tiles"]
PRODUCTS = SLICED + PIPELINED

M, N, K = 256, 512, 48  # the simulator's size
STEPS = M // 128 * (N // 128) * 8 * K  # steps along K of all warps, with blocks of 128 x 128
TURNS = 8  # reads of each lane in read_words and its like


def prose():
    """The comment lines of both sources as one text."""
    return " ".join(line[2:].strip() for source in (CHAPTER.source, SM90)
                    for line in source.read_text().splitlines() if line.startswith("//"))


class DefaultRun(unittest.TestCase):
    """The run that a reader sees first, and the counts that the text quotes of it."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = CHAPTER.run()

    def counts(self, rung, variant=None):
        return self.run_.row(rung, variant)["counts"]

    def test_ends_well(self):
        self.assertEqual(self.run_.code, 0, self.run_.explain())
        for row in self.run_.rows:
            self.assertEqual(row["status"], "SKIP" if row["rung"] in SKIPPED else "PASS", row)
            self.assertEqual(row["size"], {"M": M, "N": N, "K": K})

    def test_every_rung_of_the_header_is_there_in_order(self):
        ran = list(dict.fromkeys(row["rung"] for row in self.run_.rows))
        self.assertEqual(ran, [name for name, _ in CHAPTER.header_rungs()])

    def test_strides(self):
        """Section 1: wavefronts of one read, by the size of a word and the stride."""
        for rung, least, expected in (
                ("read_words", 1, {0: 1, 1: 1, 2: 2, 4: 4, 8: 8, 16: 16, 32: 32, 33: 1}),
                ("read_pairs", 2, {0: 1, 1: 2, 2: 4, 4: 8, 8: 16, 16: 32, 17: 2}),
                ("read_quads", 4, {0: 2, 1: 4, 2: 8, 4: 16, 8: 32, 9: 4})):
            for stride, wavefronts in expected.items():
                with self.subTest(rung=rung, stride=stride):
                    counts = self.counts(rung, f"stride={stride}" if stride else "one word")
                    self.assertEqual(counts["shared_load_requests"], TURNS)
                    self.assertEqual(counts["shared_load_wavefronts"], TURNS * wavefronts)
                    self.assertEqual(counts["shared_load_bank_conflicts"], TURNS * max(0, wavefronts - least))
        self.assertEqual(self.counts("read_words", "stride=32")["shared_load_bank_conflicts"], 248)

    def test_wavefronts_of_a_step(self):
        """What the ladder is about: 20, 32, 20, 20, 12 and 8 wavefronts, and no conflicts in the end."""
        self.assertEqual(STEPS, 3072)
        for rung, requests, wavefronts, load_conflicts, store_conflicts in (
                ("thread_tile_float4", 4, 20, 24576, 0), ("thread_tile", 10, 32, 49152, 0),
                ("transposed_a", 4, 20, 24576, 1536), ("padded_a", 4, 20, 24576, 0),
                ("split_tile", 4, 12, 0, 0), ("warp_tile", 4, 8, 0, 0), ("register_buffer", 4, 8, 0, 0)):
            with self.subTest(rung=rung):
                counts = self.counts(rung)
                self.assertEqual(counts["shared_load_requests"], requests * STEPS)
                self.assertEqual(counts["shared_load_wavefronts"], wavefronts * STEPS)
                self.assertEqual(counts["shared_load_bank_conflicts"], load_conflicts)
                self.assertEqual(counts["shared_store_bank_conflicts"], store_conflicts)
        self.assertEqual((20 * STEPS, 32 * STEPS, 8 * STEPS), (61440, 98304, 24576))

    def test_the_first_kernel_is_the_last_of_chapter_04(self):
        before = Chapter("04_register_tiling").run("--rung", "thread_tile_float4", "--size", f"{M},{N},{K}")
        self.assertEqual(before.row("thread_tile_float4")["counts"], self.counts("thread_tile_float4"))

    def test_pipelined(self):
        """Sections 9 to 12: one step more for each block, and three quarters of the reads with the wide tile."""
        for rung, warps, wavefronts in (("async_copy", 64, 8), ("wide_tile", 32, 12), ("serpentine", 32, 12),
                                        ("grouped_tiles", 32, 12)):
            with self.subTest(rung=rung):
                counts = self.counts(rung)
                self.assertEqual(counts["shared_load_wavefronts"], warps * (K + 1) * wavefronts)
                self.assertEqual(counts["shared_load_bank_conflicts"], 0)
                self.assertEqual(counts["shared_store_bank_conflicts"], 0)
        self.assertEqual(self.counts("wide_tile")["shared_load_wavefronts"] /
                         self.counts("async_copy")["shared_load_wavefronts"], 0.75)
        copying = self.counts("async_copy")
        slices = M // 128 * (N // 128) * (K // 16)
        self.assertEqual((copying["shared_wavefronts"], copying["shared_load_wavefronts"]), (29696, 25088))
        self.assertEqual(29696 - 25088, slices * (64 * 2 + 16 * 4))
        deep = CHAPTER.run("--rung", "async_copy", "--size", "128,128,64").row("async_copy")["counts"]
        self.assertEqual(deep["shared_wavefronts"] - deep["shared_load_wavefronts"], 4 * (64 * 4 + 16 * 4))
        for quote in ("29,696, of which 25,088 are", "have the other 4,608", "all four of them, and 4 wavefronts"):
            self.assertEqual(prose().count(quote), 1, quote)

    def test_shapes(self):
        """The table of section 6."""
        for shape, expected in (("1x32 in rows", 12), ("2x16 in rows", 12), ("4x8 in rows", 12), ("8x4 in rows", 12),
                                ("2x16 in pairs", 8), ("4x8 in pairs", 8), ("8x4 in pairs", 8)):
            counts = self.counts("warp_shapes", shape)
            self.assertEqual((counts["shared_load_requests"], counts["shared_load_wavefronts"]), (4, expected), shape)
        prose = CHAPTER.prose()
        for rows, different, line in ((1, 264, "| 1 x 32 | 264 | 12 | |"), (2, 144, "| 2 x 16 | 144 | 12 | 8 |"),
                                      (4, 96, "| 4 x 8 | 96 | 12 | 8 |"), (8, 96, "| 8 x 4 | 96 | 12 | 8 |")):
            self.assertEqual(8 * rows + 8 * (32 // rows), different)
            self.assertIn(line, prose)

    def test_stores_of_c(self):
        for rung, sectors in (("padded_a", 32), ("split_tile", 16), ("warp_tile", 16), ("wide_tile", 16)):
            counts = self.counts(rung)
            self.assertEqual(counts["global_store_sectors"], sectors * counts["global_store_requests"], rung)

    def test_the_text_quotes_these(self):
        prose = CHAPTER.prose()
        for quote in ("3,072 steps of a warp", "61,440 wavefronts for 3,072 steps: 20 for each",
                      "98,304 wavefronts: 32 for a step", "that is 20. It was 32.",
                      "1,536 bank conflicts", "all 1,536 of them", "The 24,576 that are left", "12 for a step",
                      "8 wavefronts for a step, 24,576 in all; we came from 98,304", "248 for a stride of 32",
                      "16 sectors for each store, where it was 32"):
            self.assertEqual(prose.count(quote), 1, quote)


class Cases(unittest.TestCase):
    """Every rung is right for every pair of extents."""

    def passes(self, run, count):
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual([row["rung"] for row in run.rows if row["status"] == "PASS"], PRODUCTS)
        for row in run.rows:
            self.assertIn(f"{count} cases" if row["rung"] in PRODUCTS else "needs a GPU", row["reason"])

    def test_all_untraced(self):
        self.passes(Run(CHAPTER.fast, "--cases", "all"), 153)

    def test_a_dozen_traced(self):
        self.passes(CHAPTER.run("--cases", "0-11"), 12)

    def test_whole_blocks(self):
        # The short way of the copies, with every number of steps in the first slice, and fewer slices than stages.
        sizes = [f"128,256,{k}" for k in (1, 15, 16, 17, 48, 49, 64, 65, 96)] + ["1280,512,20", "128,2304,33"]
        run = Run(CHAPTER.fast, *(word for size in sizes for word in ("--size", size)))
        self.assertEqual(run.code, 0, run.explain())

    def test_more_rows_than_a_grid_has_blocks(self):
        for rung in ("warp_tile", "async_copy"):
            run = Run(CHAPTER.fast, "--size", f"{65535 * 128 + 1},1,1", "--rung", rung)
            self.assertEqual(run.code, 0, run.explain())


# Programs with one mistake for each of some rungs: (function that has it, text, what it becomes, rung that has to fail).
MUTANTS = [
    [("thread_tile_float4", "&bs[k + step][col], 4", "&bs[k][col], 4", "thread_tile_float4"),
     ("thread_tile", "as[row + i][k]", "as[row + i][(k + 1) % BK]", "thread_tile"),
     ("transposed_a", "a4.y", "a4.z", "transposed_a"),
     ("padded_a", "read_quads_of(b, &bs[k][col], 4)", "read_quads_of(b, &bs[k][col], 0)", "padded_a"),
     ("split_tile", "row0 + row, 64,", "row0 + row, 4,", "split_tile"),
     ("warp_tile", "place.warp_col * 64", "place.warp_col * 32", "warp_tile"),
     ("register_buffer", "k + 1 < BK", "k + 2 < BK", "register_buffer"),
     ("run", "a_k < steps ? rows_there : 0", "rows_there", "async_copy"),
     ("grouped_place", "in_group / height", "in_group % cols", "grouped_tiles"),
     ("serpentine_product", "a[ii] * b[j]", "a[i] * b[j]", "serpentine")],
    [("run", "j < cols_there", "j + 1 < cols_there", "wide_tile"),
     ("read", "b_left_ > 0 ? b_there_ : 0", "b_there_", "padded_a")],
    [("run", "g.k - (slices - 1) * BK", "BK", "async_copy"),
     ("load4", "there > 2", "there > 3", "thread_tile")],
    [("update4", "if (beta != 0) {", "if (false) {", "warp_tile"),
     ("write_tile", "if (r >= g.m) continue;", "if (r > g.m) continue;", "split_tile")],
    [("update4", "if (there > 1) c[1] = beta == 0 ? sum.y : ", "if (there > 1) c[1] = ", "serpentine"),
     ("place_in_pairs", "rest % pairs * 2", "rest / pairs * 2", "warp_tile")],
]

# Without one of their barriers: the simulator has to find the race.
UNGUARDED = [
    ("thread_tile", "__syncthreads();  // nobody", "// nobody", "thread_tile"),
    ("register_buffer", "    __syncthreads();\n\n", "\n", "register_buffer"),
    ("run", "          __syncthreads();\n", "", "async_copy"),
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


class Drawings(unittest.TestCase):
    def test_banks(self):
        """What is drawn of a read of B, and of words a stride apart, is what the text says of it."""
        drawn = CHAPTER.drawings()
        for name, wavefronts in (("strides", (2, 8, 1)), ("reads", (2, 8)), ("stores", (2, 1)), ("split", (4,)),
                                 ("clean", (2,))):
            alt = drawn[name][1].alt
            self.assertEqual(tuple(map(int, re.findall(r"(\d+) wavefronts?: at most", alt))), wavefronts, alt)
        self.assertIn("so that two are enough", drawn["clean"][2])
        # At every stride from 1 on it is what section 1 says in general, and less at stride 0, where phases merge.
        self.assertIn("takes gcd(s, 32) wavefronts of 32 bits, 2 gcd(s, 16) of 64 bits, and 4 gcd(s, 8) of 128 bits", prose())
        bars = re.findall(r"from stride 0 on ([\d ]+); NVIDIA H200 counted the same\.", drawn["every-stride"][1].alt)
        self.assertEqual(len(bars), 3)
        for phases, broadcast, waves in zip((1, 2, 4), (1, 1, 2), bars):
            self.assertEqual(list(map(int, waves.split())),
                             [broadcast] + [phases * math.gcd(stride, 32 // phases) for stride in range(1, 34)])
        # Below the words of a stride of 33 stand the lanes in order: the array begins in bank 0.
        lanes = re.findall(r">(\d+)</text>", drawn["strides"][1].svg)[-32:]
        self.assertEqual(lanes, [str(lane) for lane in range(32)])


class Patterns(unittest.TestCase):
    def test_as_many_as_the_text_says(self):
        report = json.loads((ROOT / "tests" / "microkernels" / "h200.json").read_text())
        patterns = sum(name.startswith("lds") for name in report["cases"])
        self.assertIn(f"has {patterns} patterns of reads from shared memory", prose())


class Arguments(unittest.TestCase):
    def test_list_is_the_header(self):
        run = CHAPTER.run("--list", results=False)
        listed = [tuple(line.split(None, 1)) for line in run.out.splitlines()]
        self.assertEqual(listed, CHAPTER.header_rungs())

    def test_each_rung_alone(self):
        for rung, _ in CHAPTER.header_rungs():
            with self.subTest(rung=rung):
                run = CHAPTER.run("--rung", rung, "--size", "33,5,70")
                self.assertEqual(run.code, 0, run.explain())
                self.assertEqual({row["rung"] for row in run.rows}, {rung})


class Arithmetic(unittest.TestCase):
    """What the text works out by hand, for 132 SMs and tiles of 128 x 256."""

    def test_blocks_at_work(self):
        """Section 12: floats for a step along K, blocks along rows and in groups of 8 rows."""
        rows, columns = 132 // (8192 // 256), 8192 // 256
        self.assertEqual(rows * 128 + columns * 256, 8704)
        self.assertEqual(8 * 128 + 132 / 8 * 256, 5248)
        self.assertIn("8,704 in", prose())
        self.assertIn("5,248 floats", prose())

    def test_waves(self):
        """Section 15."""
        for size, tiles in ((1024, 32), (2048, 128), (4096, 512), (8192, 2048)):
            self.assertEqual(size // 128 * (size // 256), tiles)
            if size > 1024:
                self.assertEqual(round(tiles / (-(-tiles // 132) * 132), 2), 0.97)
        left, slices = 512 % 132, 4096 // 16
        self.assertEqual((left, left * slices), (116, 29696))
        self.assertEqual([left * slices * (i + 1) // 132 - left * slices * i // 132 for i in (0, 1)], [224, 225])
        self.assertEqual((32 * 64, 32 * 64 // 132, -(-32 * 64 // 132)), (2048, 15, 16))
        self.assertEqual(2048 // 128, 16)
        for quote in ("the 116 that are left", "29,696 slices in all", "224 or 225 *in a row*", "2,048 in all",
                      "15 or 16 for each block", "128 blocks get 16 slices each"):
            self.assertEqual(prose().count(quote), 1, quote)

    def test_small_tiles(self):
        """Section 16: bytes of the fix-up, and what the cycles of the trial come to."""
        self.assertEqual((96 * 128 * 256 * 4 / 2**20, 64 * 128 * 128 * 4 / 2**20), (12, 4))
        self.assertEqual((8800 + 79500 + 16500, 5700 + 84200 + 5200), (104800, 95100))
        self.assertEqual((round(79500 * 0.03, -2), 16500 * 2 // 3, round(100 * (11000 - 2400) / 104800)),
                         (2400, 11000, 8))
        for quote in ("or 12 MiB", "64 KiB each, 4 MiB", "11,000 of 104,800 cycles are saved, or 8 % in all",
                      "95,100 cycles instead of 104,800"):
            self.assertEqual(prose().count(quote), 1, quote)

    def test_registers(self):
        """Section 14."""
        self.assertEqual((65536 // 384 // 8 * 8, 384 * 168, 128 * 40 + 256 * 232), (168, 64512, 64512))


@unittest.skipUnless(nvcc_is_the_one_of_the_text(), "the text quotes nvcc 13.0, which is not here")
class Compiled(unittest.TestCase):
    """What nvcc makes of the kernels. The last rungs are fast for one allocation of registers only: a change of their
    source that gives another one has to be measured again."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cubins, cls.made = [], {}  # kernel -> registers, bytes of spilled stores, of spilled loads
        for source in (CHAPTER.source, SM90):
            cls.cubins.append(pathlib.Path(cls.folder.name) / f"{source.stem}.cubin")
            done = subprocess.run([NVCC, "-std=c++20", "-O3", "-lineinfo", "-arch=sm_90a", "-cubin", "-Xptxas", "-v",
                                   f"-I{ROOT}/common/lab/include", "-o", cls.cubins[-1], source],
                                  capture_output=True, text=True, check=True)
            for entry in done.stderr.split("Compiling entry function '")[1:]:
                cls.made[cls.readable(entry.split("'")[0])] = tuple(
                    int(re.search(pattern, entry).group(1))
                    for pattern in (r"Used (\d+) registers", r"(\d+) bytes spill stores", r"(\d+) bytes spill loads"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def readable(mangled):
        """_Z14producer_warpsILb1EEv... -> producer_warps true, _Z11even_sharesILb1EN..5LargeEEv... -> even_shares true Large"""
        match = re.match(r"_Z(\d+)", mangled)
        name = mangled[match.end():match.end() + int(match.group(1))] if match else mangled
        flag = re.match(r"ILb([01])E", mangled[match.end() + len(name):]) if match else None
        if not flag:
            return name
        tile = re.search(r"5(Large|Small)EEv", mangled)
        return " ".join([name, "true" if flag.group(1) == "1" else "false"] + ([tile.group(1)] if tile else []))

    def test_registers(self):
        for kernel, made in self.made.items():
            self.assertEqual(made[1:], (0, 0), kernel)
        for kernel in ("register_buffer", "async_copy"):
            self.assertEqual(self.made[kernel][0], 128)
        for kernel in ("producer_warps true", "even_shares true Large", "even_shares true Small"):
            self.assertEqual(self.made[kernel][0], 168)

    @unittest.skipUnless(CUOBJDUMP, "no cuobjdump")
    def test_the_loop_over_slices(self):
        """Instructions, and how many of them are multiply-adds or reads of fragments."""
        found, loading = {}, {}
        for cubin in self.cubins:
            text = subprocess.run([CUOBJDUMP, "-sass", cubin], capture_output=True, text=True, check=True).stdout
            for function in text.split("Function : ")[1:]:
                code = re.findall(r"/\*([0-9a-f]{4,5})\*/\s+(?:@!?U?P[T\d]+ )?\s*([A-Z][\w.]*)([^;]*);", function)
                at = {int(address, 16): number for number, (address, _, _) in enumerate(code)}
                bodies = []
                for number, (_, name, rest) in enumerate(code):
                    target = re.search(r"0x([0-9a-f]+)", rest) if name == "BRA" else None
                    begin = at.get(int(target.group(1), 16), number) if target else number
                    body = [inner for _, inner, _ in code[begin:number + 1]]
                    if body.count("FFMA") >= 512:
                        bodies.append(body)
                    elif sum(inner.startswith("LDGSTS") for inner in body) == 16:
                        loading.setdefault(self.readable(function.split()[0]), []).append(len(body))
                if bodies:
                    body = min(bodies, key=len)
                    found[self.readable(function.split()[0])] = (
                        len(body), body.count("FFMA"), sum(name.startswith("LDS.128") for name in body))
        self.assertEqual(found["async_copy"], (1221, 1024, 64))
        for kernel in ("wide_tile", "serpentine"):
            self.assertEqual(found[kernel], (2274, 2048, 96), kernel)
        self.assertEqual(found["producer_warps true"], (2163, 2048, 96))
        self.assertEqual(found["even_shares true Large"], (2166, 2048, 96))
        self.assertEqual(found["even_shares true Small"], (1111, 1024, 64))
        self.assertEqual(min(loading["producer_warps true"]), 73)
        self.assertEqual(8 * 2163 // (4 * 73), 59)
        self.assertEqual([round(100 * a / b) for a, b in ((1024, 1221), (2048, 2274), (2048, 2163), (1024, 1111))],
                         [84, 90, 95, 92])
        self.assertEqual((2163 - 2048 - 96, round(100 * (1 - 2274 / 2 / 1221))), (19, 7))
        for quote in ("That leaves 19.", "add 73 each for a slice",
                      "one in 59", "has 1221 instructions for a slice, of which 1024 are multiply-adds, or 84 %",
                      "2048 are multiply-adds, or 90 %", "Of its 2163 instructions 2048 are multiply-adds, 95 %",
                      "1111 for a slice, of which 1024 are multiply-adds, 92 %"):
            self.assertEqual(prose().count(quote), 1, quote)


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
        for name, size, key, figure, quote in QUOTED:
            with self.subTest(rung=name, size=size):
                rung, _, variant = name.partition(" ")
                value = measured(results, rung, variant or None, size, key)
                self.assertAlmostEqual(value, figure, delta=0.005 * figure)
                self.assertTrue(quote in prose(), quote)

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_what_the_text_computes_from_it(self):
        results = json.loads(H200.read_text())

        def ms(rung, variant=None):
            return measured(results, rung, variant, 4096)

        def faster(rung, before):
            """By how many percent."""
            return round(100 * (ms(before) / ms(rung) - 1))

        reads = 264 * 32 * 512 // 132
        self.assertEqual(reads, 32768)
        wavefront = (ms("read_words", "stride=32") - ms("read_words", "stride=1")) * 1e6 / (31 * reads)
        self.assertAlmostEqual(wavefront, 0.506, places=3)
        self.assertAlmostEqual(wavefront * 1.98, 1, places=2)
        for name, before, percent, quote in (
                ("transposed_a", "thread_tile_float4", 18, "and is 18 % faster"),
                ("split_tile", "padded_a", 9, "40.3 TFLOP/s, 9 % more"),
                ("warp_tile", "split_tile", 3, "and it is 3 % faster"),
                ("async_copy", "register_buffer", 3, "93.5 % of cuBLAS: 3 % more"),
                ("register_buffer", "warp_tile", 13, "46.8 TFLOP/s, 13 % more"),
                ("serpentine", "wide_tile", 7, "50.1 TFLOP/s, 7 % more"),
                ("serpentine", "async_copy", 4, "together have gained 4 %"),
                ("producer_warps", "grouped_tiles", 7, "53.7 TFLOP/s at 4096, 7 % more")):
            self.assertEqual(faster(name, before), percent, name)
            self.assertTrue(quote in prose(), quote)
        limits = results["limits"]
        self.assertAlmostEqual(limits["fp32_gflop_s"] / 1000, 62.9, places=1)
        self.assertAlmostEqual(limits["copy_gb_s"], 4286, delta=1)
        self.assertAlmostEqual(limits["fp32_gflop_s"] / 1000 * 16 / 20, 50.3, delta=0.06)
        before = json.loads((ROOT / "chapters" / "04_register_tiling" / "results" / "h200.json").read_text())
        self.assertAlmostEqual(measured(before, "thread_tile_float4", None, 4096, "rate") / 1000, 32.8, places=1)
        for quote in ("(In chapter 04 it is 32.8.", "bounds `padded_a` at 50.3 TFLOP/s, four fifths of 62.9",
                      "More than 31.5 could not be had", "half of the 62.9",
                      "233 GB/s, and a copy reaches 4,286 GB/s"):
            self.assertEqual(prose().count(quote), 1, quote)

    @unittest.skipUnless(CACHES.file.exists(), "no counts of caches are recorded")
    def test_what_the_text_quotes_of_caches_and_waits(self):
        for rung, size, metric, figure, digits, quote in QUOTED_CACHES:
            with self.subTest(rung=rung, metric=metric):
                self.assertEqual(round(CACHES.metrics(rung, None, size)[metric], digits), figure)
                self.assertTrue(quote in prose(), quote)

    @unittest.skipUnless(H200.exists(), "no results of an H200 are recorded")
    def test_the_last_rungs_against_cublas(self):
        """The table of section 15, and what the ladder is for."""
        results = json.loads(H200.read_text())
        for size in (1024, 2048, 4096, 8192):
            rows = [row_of(results, rung, None, size) for rung in LAST_RUNGS]
            peer = 2 * size ** 3 / rows[-1]["peer"]["time_ms"]["median"] / 1e9
            cells = [f"{row['rate'] / 1000:.1f}" for row in rows] + [f"{peer:.1f}", f"{rows[-1]['ratio_to_peer']:.2f}"]
            line = f"| {size} | {' | '.join(cells)} |"
            self.assertTrue(line in prose(), line)
            last = row_of(results, "tile_by_shape", None, size)
            for row in (rows[-1], last):
                self.assertGreaterEqual(row["ratio_to_peer"], 1.05 if size >= 4096 else 1.0)

        def times(rung, before, size):
            return measured(results, before, None, size) / measured(results, rung, None, size)

        for size in (4096, 8192):
            self.assertEqual(round(100 * (times("even_shares", "producer_warps", size) - 1)), 3)
        self.assertAlmostEqual(times("even_shares", "producer_warps", 2048), 1, places=2)
        self.assertAlmostEqual(times("even_shares", "producer_warps", 1024), 2.8, places=1)
        self.assertEqual(round(100 * (1 - 1 / times("tile_by_shape", "even_shares", 1024))), 12)
        for quote in ("At 4096 and 8192 it is 3 %", "At 2048 nothing is won", "At 1024 the rate is 2.8 times",
                      "in 12 % less time than `even_shares`"):
            self.assertEqual(prose().count(quote), 1, quote)


if __name__ == "__main__":
    unittest.main()
