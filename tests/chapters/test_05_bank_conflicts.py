"""Chapter 05 on the simulator: what it prints, what it counts, and what it refuses."""

import unittest

from chapter import Chapter, Mutant, Run

CHAPTER = Chapter("05_bank_conflicts")

SKIPPED = {"cublas", "producer_warps", "even_shares"}
SLICED = ["thread_tile", "transposed_a", "padded_a", "split_tile", "warp_tile", "register_buffer"]
PIPELINED = ["async_copy", "wide_tile", "serpentine", "grouped_tiles"]
PRODUCTS = SLICED + PIPELINED

M, N, K = 256, 512, 48  # the simulator's size
STEPS = M // 128 * (N // 128) * 8 * K  # steps along K of all warps, with blocks of 128 x 128
TURNS = 8  # reads of each lane in read_words and its like


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
        """What the ladder is about: 32, 20, 20, 12 and 8 wavefronts, and no conflicts in the end."""
        self.assertEqual(STEPS, 3072)
        for rung, requests, wavefronts, load_conflicts, store_conflicts in (
                ("thread_tile", 10, 32, 49152, 0), ("transposed_a", 4, 20, 24576, 1536), ("padded_a", 4, 20, 24576, 0),
                ("split_tile", 4, 12, 0, 0), ("warp_tile", 4, 8, 0, 0), ("register_buffer", 4, 8, 0, 0)):
            with self.subTest(rung=rung):
                counts = self.counts(rung)
                self.assertEqual(counts["shared_load_requests"], requests * STEPS)
                self.assertEqual(counts["shared_load_wavefronts"], wavefronts * STEPS)
                self.assertEqual(counts["shared_load_bank_conflicts"], load_conflicts)
                self.assertEqual(counts["shared_store_bank_conflicts"], store_conflicts)
        self.assertEqual((32 * STEPS, 8 * STEPS), (98304, 24576))

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
        for quote in ("3,072 steps of a warp", "98,304 wavefronts for 3,072 steps: 32 for each", "that is 20. It was 32.",
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
    [("thread_tile", "as[row + i][k]", "as[row + i][(k + 1) % BK]", "thread_tile"),
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


class Hardware(unittest.TestCase):
    """What was recorded on an H200."""

    def test_counts_are_the_simulators_or_explained(self):
        found = CHAPTER.disagreements()
        if found is None:
            self.skipTest("no counts of an H200 are recorded")
        self.assertEqual(found, [], "\n".join(found))


if __name__ == "__main__":
    unittest.main()
