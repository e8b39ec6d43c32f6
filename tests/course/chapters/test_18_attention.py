"""Chapter 18, run as a reader runs it: what its text says of counts, any length, and kernels with a mistake."""

import unittest

from chapter import Chapter, Mutant, Run

CHAPTER = Chapter("18_attention")


def only(*rungs):
    return [word for rung in rungs for word in ("--rung", rung)]


class Counts(unittest.TestCase):
    """Formulas hold at lengths of which the text says nothing."""

    def test_a_row_in_registers_is_read_once(self):
        # 41 elements in a row of 4 * 41: whole float4s, which an L1 line's sectors hold.
        run = CHAPTER.run("--size", "164,4", *only("block_row", "three_passes"))
        self.assertEqual(run.code, 0, run.explain())
        bytes_of_rows = 328 * 8 * 164 * 4
        once = run.row("block_row", "softmax,long")["counts"]
        self.assertEqual(once["global_load_sectors"] * 32, bytes_of_rows)
        self.assertEqual(once["global_store_sectors"] * 32, bytes_of_rows)
        thrice = run.row("three_passes", "softmax,long")["counts"]
        self.assertEqual(thrice["global_load_sectors"] * 32, 3 * bytes_of_rows)

    def test_reads_of_the_products_take_two_wavefronts(self):
        run = CHAPTER.run("--size", "40,4", *only("fused"))
        self.assertEqual(run.code, 0, run.explain())
        for row in run.rows:
            counts = row["counts"]
            self.assertEqual(counts["shared_load_wavefronts"], 2 * counts["shared_load_requests"], row["variant"])

    def test_what_decoding_reads_does_not_depend_on_the_split(self):
        run = CHAPTER.run("--size", "64,4", *only("decode"))
        whole, split = (
            run.row("decode", f"one,long,{how}")["counts"]["global_load_sectors"] for how in ("whole", "split")
        )
        self.assertLess(split, 1.2 * whole)


    def test_a_swizzled_tile_is_read_without_conflicts(self):
        rungs = ("fragments", "fragments_swizzled")
        run = CHAPTER.run("--size", "40,4", *only(*rungs))
        self.assertEqual(run.code, 0, run.explain())
        in_order, swizzled = (
            run.row(rung, "bf16,d=128,short,full")["counts"]["shared_load_bank_conflicts"] for rung in rungs
        )
        self.assertEqual(swizzled, 0)
        self.assertGreater(in_order, 0)


class Sizes(unittest.TestCase):
    def test_lengths_around_the_tiles(self):
        # Rows that are a multiple of 16 bytes, and rows that are not; one position; one more than a tile.
        for size in ("1,4", "33,8", "129,4", "132,4"):
            with self.subTest(size=size):
                run = Run(CHAPTER.fast, "--size", size)
                self.assertEqual(run.code, 0, run.explain())

    def test_what_is_no_legal_size(self):
        for size in ("75,0", "20000,4", "75,5000"):
            with self.subTest(size=size):
                run = CHAPTER.run("--size", size, results=False)
                self.assertEqual(run.code, 2, run.explain())
                self.assertEqual(run.err.count("\n"), 1, run.err)


# (rung, text, what it becomes): each gives a wrong result at 75 x 4.
MUTANTS = [
    ("three_passes", "sum += expf(row[c] - max)", "sum += expf(row[c])"),
    ("online", "sum * expf(max - finite(now))", "sum"),
    ("merged_by_block", "part[threadIdx.x % WARPS]", "part[0]"),
    ("variance", "squares - mean * mean", "squares"),
    ("query_a_warp", "fmaf(sum, shrink, weight)", "sum + weight"),
    ("fused", "sum[i] *= shrink", "sum[i] *= 1"),
    ("store_output", "shape.seen(row0 + at.row_of(i))", "shape.seen(row0)"),
    ("scores_to_memory", "CAUSAL && key >= shape.seen(row)", "CAUSAL && key > shape.seen(row)"),
    ("weighted_sum", "weights + part * T::VK", "weights + 0 * T::VK"),
    ("decode", "sum *= shrink, max = now", "max = now"),
    ("merge_parts", "exp2_fast(parts[i].max[g] - finite(largest))", "1.0f"),
    ("unpack", "key % PAGE : key", "0 * PAGE : key"),
]
RUNG_OF = {
    "merged_by_block": "block_row",
    "scores_to_memory": "three_kernels",
    "weighted_sum": "three_kernels",
    "store_output": "fused",
    "merge_parts": "decode",
    "unpack": "paged",
}


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        with Mutant(CHAPTER, MUTANTS) as program:
            for function, _, mistake in MUTANTS:
                with self.subTest(function=function, mistake=mistake):
                    run = program.run("--rung", RUNG_OF.get(function, function))
                    self.assertEqual(run.code, 1, run.explain())

    def test_what_only_the_simulator_notices(self):
        barrier = ("Stream", "__syncthreads();", "")
        with Mutant(CHAPTER, [barrier], traced=True) as program:
            run = program.run("--rung", "fused")
            self.assertEqual(run.code, 1, run.explain())
            self.assertIn("shared-race", run.out)


if __name__ == "__main__":
    unittest.main()
