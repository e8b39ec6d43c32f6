"""Chapter 07, run as a reader runs it: what its text says of counts, any length and input, and kernels with a mistake."""

import unittest

from chapter import Chapter, Mutant, notice, only

CHAPTER = Chapter("07_reductions")
TREES = ("interleaved_modulo", "interleaved_strided", "sequential", "first_add", "last_warp", "unrolled")


class Counts(unittest.TestCase):
    """Formulas hold at lengths of which the text says nothing."""

    def test_the_trees_of_a_block(self):
        run = CHAPTER.right("--size", "5000", *only(*TREES))
        for rung, each, loads, wavefronts in (
            ("interleaved_modulo", 256, 95, 95),
            ("interleaved_strided", 256, 25, 95),
            ("sequential", 256, 25, 25),
            ("first_add", 512, 25, 25),
            ("last_warp", 512, 19, 19),  # six additions of which one operand is in a register
        ):
            counts = run.row(rung)["counts"]
            blocks = -(-5000 // each) + 1  # and the one of the second launch
            with self.subTest(rung):
                self.assertEqual(counts["shared_load_requests"], loads * blocks)
                self.assertEqual(counts["shared_load_wavefronts"], wavefronts * blocks)
                self.assertEqual(counts["global_store_requests"], blocks)

    def test_nothing_is_loaded_twice(self):
        n = 40961
        run = CHAPTER.right("--size", str(n), *only("scalars", "vectors", "integers", "histogram_shared"))
        for row in run.rows:
            if "launches=" in row.get("variant", ""):
                continue
            size = 1 if row["rung"] == "histogram_shared" else 4
            sectors = -(-n * size // 32)
            with self.subTest(row["rung"], variant=row.get("variant")):
                self.assertLessEqual(sectors, row["counts"]["global_load_sectors"])
                self.assertLess(row["counts"]["global_load_sectors"], sectors + 64)


class Lengths(unittest.TestCase):
    def test_all_cases(self):
        CHAPTER.right("--cases", "all")

    def test_many_blocks(self):
        for size in ((1 << 20) - 1, (1 << 20) + 7):
            CHAPTER.right("--size", str(size), fast=True)

    def test_more_elements_than_an_index_of_32_bits(self):
        CHAPTER.refused("--size", str(1 << 32))

    def test_no_element_and_inputs_that_are_not_random(self):
        # The chapter itself, its input chosen by the seed.
        inputs = [
            "-1.0f",
            "i % 2 != 0 ? 1.0f : -1.0f",
            "-1e-5f * i",
            "1e-5f * i",
            "-INFINITY",
            "i % 3 != 0 ? 0.0f : -0.0f",
        ]
        chosen = "".join(f"seed == {seed} ? {value} : " for seed, value in enumerate(inputs, start=2))
        fill = f"[=] __host__ __device__(size_t i) -> float {{ return {chosen} 0.5f; }}"
        changes = [
            ("main", "size_t n) {", "size_t n) {\n    const auto seed = ladder.seed();\n    if (seed == 1) n = 0;"),
            ("Memory", "in(n, lab::RandomValue<float>{seed})", f"in(n, {fill})"),
        ]
        with Mutant(CHAPTER, changes) as program:
            for seed in range(1, len(inputs) + 2):
                for size in ("1025", "70001"):
                    with self.subTest(seed=seed, size=size):
                        run = program.run("--seed", str(seed), "--size", size)
                        self.assertEqual(run.code, 0, run.explain())


# (rung, text, what it becomes): each gives a wrong result at the default length.
MUTANTS = [
    ("on_cpu", "i < n; ++i", "i + 9 < n; ++i"),
    ("interleaved_modulo", "i < n ? in[i] : 0", "i + 1 < n ? in[i] : 0"),
    ("interleaved_strided", "left < blockDim.x", "left + s < blockDim.x - 1"),
    ("sequential", "s > 0; s /= 2", "s > 1; s /= 2"),
    ("first_add", "sums[t] = low + high", "sums[t] = low"),
    ("last_warp", "s > 32; s /= 2", "s > 64; s /= 2"),
    ("unrolled", "* (2 * THREADS)", "* THREADS"),
    ("grid_stride", "gridDim.x} * BLOCK", "gridDim.x} * BLOCK + 1"),
    ("shuffled", "sum = block_sum<BLOCK>(sum)", "sum = warp_sum(sum)"),
    ("scalars", "i + u * step < n", "i + u * step + 1 < n"),
    ("vectors", "thread_sum<THREADS, LOADS>(in, n)", "thread_sum<THREADS, LOADS>(in, n / 4 * 4)"),
    ("single_pass", "threadIdx.x == 0 ? sum : 0", "threadIdx.x > THREADS ? sum : 0"),
    ("integers", "thread < n % 4", "thread + 1 < n % 4"),
    (
        "fold",
        "Op::combine(value, warp.shfl_down(value, distance))",
        "Op::combine(warp.shfl_down(value, distance), value)",
    ),
    ("arg_max", "value > best", "value >= best"),  # right, but for equal elements
    ("histogram_global", "i < n; i += threads", "i + 1 < n; i += threads"),
    ("histogram_shared", "t % COPIES], in, n", "t % COPIES], in, n / 16 * 16"),
]
# (function, text, what it becomes, rung, variant): the same for the variants with a kernel of their own.
VARIANTS = [
    ("group_sums", "lane < BLOCK / 32", "lane < BLOCK / 64", "shuffled", "by=groups"),
    ("grid_synced", "b < gridDim.x", "b + 1 < gridDim.x", "single_pass", "by=grid_sync"),
    ("dot_product", "x[rest] * y[rest]", "x[rest]", "fold", "op=dot_product"),
    ("histogram_warps", "counts[t / 32], in, n", "counts[t / 32], in, n - 1", "histogram_shared", "copies=warps"),
    # The first launch is right, and the next finds the tickets of the one before.
    ("last_block_adds", "*tickets = 0", "*tickets += 0", "integers", "of=floats,by=ticket,launches=16"),
    ("atomic_sum", "threadIdx.x % 32 == 0", "threadIdx.x % 64 == 0", "integers", "of=ints,launches=16"),
]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, [(*mutant, mutant[0], "FAIL") for mutant in MUTANTS], at_once=True)

    def test_so_is_every_mistake_of_a_variant(self):
        with Mutant(CHAPTER, [mutant[:3] for mutant in VARIANTS]) as program:
            run = program.run()
        self.assertEqual(run.code, 1, run.explain())
        for _, _, mistake, rung, variant in VARIANTS:
            with self.subTest(rung=rung, mistake=mistake):
                rows = [row for row in run.rows if row["rung"] == rung and row.get("variant", "").startswith(variant)]
                self.assertTrue(rows)
                self.assertEqual({row["status"] for row in rows}, {"FAIL"}, run.explain())

    def test_an_order_that_changes_is_noticed(self):
        """Sums by tickets whose order is that of the blocks' numbers, not of their shares; and a control that could find
        no difference, as the sums are exact in any order."""
        order = ("ticketed", "(sum, block, partial", "(sum, blockIdx.x, partial")
        exact = ("Memory", "BothSigns{seed}", "[] __host__ __device__(size_t) { return 0.5f; }")
        for mutant, wrong, right in (
            (order, "of=floats,by=ticket,launches=16", "of=floats,launches=16"),
            (exact, "of=floats,launches=16", "of=floats,by=ticket,launches=16"),
        ):
            with self.subTest(mutant[0]), Mutant(CHAPTER, [mutant]) as program:
                run = program.run(*only("integers"))
                self.assertEqual(run.row("integers", wrong)["status"], "FAIL", run.explain())
                self.assertEqual(run.row("integers", right)["status"], "PASS", run.explain())

    def test_a_block_that_is_no_power_of_two(self):
        """What padding to a power of two hides: a tree over 192 elements leaves some out."""
        smaller = "unsigned threads = BLOCK) {", "unsigned threads = BLOCK) {\n  threads = 192;"
        with Mutant(CHAPTER, [("in_passes", *smaller)]) as program:
            run = program.run(*only("sequential", "first_add"))
        self.assertEqual(run.code, 1, run.explain())
        self.assertEqual({row["status"] for row in run.rows}, {"FAIL"}, run.explain())

    def test_what_only_the_simulator_notices(self):
        changes = [
            ("last_warp_sum", "    __syncwarp();  // all lanes have read\n", ""),
            ("block_sum", "  __syncthreads();\n", ""),
            ("last_block_adds", "    __threadfence();  // the sum is visible before the ticket is drawn\n", ""),
            ("single_pass", "  __syncthreads();  // the first block_sum has been read\n", ""),
            ("scalars", "i + u * step < n", "i + u * step < n + 1"),
            ("vectors", "thread_sum<THREADS, LOADS>(in, n)", "thread_sum<THREADS, LOADS>(in, n + 4)"),
            # And the other way round: demonstrations that make no mistake.
            ("wrong_modulo", "t % s == 0", "t % (2 * s) == 0"),
            ("past_the_end", "in[i] + in[i + blockDim.x]", "in[i % 100] + in[i % 50]"),
        ]
        with Mutant(CHAPTER, changes, traced=True) as program:
            run = program.run(
                *only("last_warp", "shuffled", "scalars", "single_pass", "vectors", "wrong_modulo", "past_the_end")
            )
        self.assertEqual(run.code, 1, run.explain())
        text = " ".join(run.out.split())
        for rung, finding in (
            ("last_warp", "shared-race"),
            ("shuffled", "shared-race"),
            ("scalars", "out-of-bounds"),
            ("vectors", "out-of-bounds"),
        ):
            reasons = " ".join(row.get("reason", "") for row in run.rows if row["rung"] == rung)
            self.assertIn(finding, reasons, rung)
        self.assertIn("raised nothing", text)
        for rung, variant in (("wrong_modulo", None), ("past_the_end", None), ("single_pass", "by=ticket")):
            self.assertNotEqual(run.row(rung, variant)["status"], "PASS", rung)
        (single_pass,) = (row for row in run.rows if row["rung"] == "single_pass" and not row.get("variant"))
        self.assertNotEqual(single_pass["status"], "PASS")
        self.assertIn("race", run.row("single_pass", "by=ticket")["reason"])
