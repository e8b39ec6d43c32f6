"""Chapter 10 on the simulator: what its text says of the counts. What every chapter has to do is tested for all."""

import unittest

from chapter import Chapter, Mutant

LABELS = ["chapter"]
NEEDS = ["sass_inspection"]

CHAPTER = Chapter("10_sass_inspection")


class Copies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_all = CHAPTER.run()

    def test_wider_accesses_are_fewer_requests_for_the_same_bytes(self):
        row = self.run_all.row("copy_scalar")
        n, moved = row["size"]["n"], row["counts"]["global_load_bytes"]
        self.assertEqual(moved, 4 * n)
        for rung, wide in (("copy_float2", 2), ("copy_float4", 4)):
            counts = self.run_all.row(rung)["counts"]
            tail = 1 if n % wide else 0
            self.assertEqual(counts["global_load_bytes"], moved, rung)
            self.assertEqual(counts["global_load_requests"], -(-(n // wide) // 32) + tail, rung)

    def test_of_a_bulk_copy_threads_move_the_rest_alone(self):
        row = self.run_all.row("copy_bulk")
        rest = row["size"]["n"] % 4
        self.assertEqual(row["counts"]["global_load_active_lanes"], rest)
        self.assertEqual(row["counts"]["global_store_active_lanes"], rest)

    def test_mistakes_of_a_bulk_copy_are_noticed(self):
        for text, becomes, says in (
            ("while (!ptx::mbarrier_try_wait_parity(&full, 0)) {\n    }", "", "has not arrived"),
            ("first + count + threadIdx.x", "first + count + threadIdx.x + 1", "are wrong"),
        ):
            wrong = Mutant(CHAPTER, [("copy_bulk", text, becomes)], traced=True, file="sass_inspection_hopper.cu")
            with self.subTest(mistake=becomes or text), wrong as program:
                run = program.run("--rung", "copy_bulk")
                self.assertIn(run.code, (1, 86), run.explain())
                self.assertRegex(run.out + run.err, says)

    def test_the_plain_struct_takes_four_requests(self):
        plain = self.run_all.row("copy_struct", "plain")["counts"]["global_load_requests"] - 1
        aligned = self.run_all.row("copy_struct", "aligned")["counts"]["global_load_requests"] - 1
        self.assertEqual(plain, 4 * aligned)

    def test_the_refusal_names_the_array_and_the_bytes(self):
        shown = CHAPTER.run("--rung", "copy_refused")
        self.assertIn("refused: in is 4 bytes past a multiple of 16", shown.out)

    def test_the_runtime_computes_the_occupancy_of_the_sweep(self):
        shown = CHAPTER.run("--rung", "warps_or_loads").out
        for blocks, warps in ((1, 8), (2, 16), (4, 32), (8, 64)):
            self.assertIn(f"{blocks} blocks, {warps} of 64 warps", shown)

    def test_every_size_has_its_tail(self):
        self.assertEqual(CHAPTER.run("--cases", "all", results=False).code, 0)
