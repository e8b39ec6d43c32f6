"""Chapter 01 with a mistake in every rung: each of them must be noticed."""

import unittest

from chapter import Chapter, Mutant

NEEDS = ["thread_indexing", "simtcc", "lab"]

CHAPTER = Chapter("01_thread_indexing")

# (rung, text, what it becomes), several for a rung: one program has the n-th of each. A comparison notices them.
MUTANTS = [
    ("who_am_i", "threadIdx.y) * blockDim.x + threadIdx.x", "threadIdx.y) * blockDim.x"),
    ("add_on_cpu", "i < n", "i + 1 < n"),
    ("add_guarded", "a[i] + b[i]", "a[i] + a[i]"),
    ("add_guarded", "if (i < n)", "if (i + 1 < n)"),
    ("add_truncated", "if (i < n)", "if (i + 256 < n)"),
    ("grid_stride", "i += stride", "i += stride + 1"),
    ("map_square", "in[i] * in[i]", "in[i] * in[n - 1 - i]"),
    ("copy_x_fastest", "= in[row * cols + col]", "= in[(row * cols + col) / 2]"),
    ("copy_y_fastest", "row < rows && col < cols", "row + 1 < rows && col < cols"),
    ("diverge_between_warps", "i / 32 % 2", "i / 16 % 2"),
    ("diverge_within_warps", "out[i] = mixed", "if (i % 32 != 5) out[i] = mixed"),
    ("async_launch", "in[i] + in[i]", "in[i] + 1.0f"),
    ("refused_launch", "= 1.0f", "= 1.5f"),
    ("copy_memory", "n * sizeof(float)", "(n - 1) * sizeof(float)"),
    ("read_managed", "managed[i]", "managed[n - 1 - i]"),
    ("count_above", "> threshold", ">= -threshold"),
]

# The same with a guard taken out, or half of one: the simulator finds it, since no size is a multiple of a block.
GUARDS = [
    ("add_guarded", "if (i < n) ", ""),
    ("grid_stride", "i < n", "i < n + 1"),
    ("map_square", "if (i < n) ", ""),
    ("copy_x_fastest", "row < rows && ", ""),
    ("copy_y_fastest", "row < rows && col < cols", "col < cols + 1"),
    ("diverge_between_warps", "if (i >= n) return;", ""),
    ("diverge_within_warps", "if (i >= n) return;", ""),
    ("async_launch", "if (i < n) ", ""),
    ("read_managed", "if (i < n) ", ""),
    ("count_above", "i < n && ", ""),
]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        rungs = {}
        for mutant in MUTANTS:
            rungs.setdefault(mutant[0], []).append(mutant)
        for number in range(max(map(len, rungs.values()))):
            mutants = {those[number][0]: those[number] for those in rungs.values() if number < len(those)}
            with Mutant(CHAPTER, mutants.values()) as program:
                run = program.run()
            self.assertEqual(run.code, 1, run.explain())
            for rung in rungs:
                found = {row["status"] for row in run.rows if row["rung"] == rung}
                with self.subTest(mutant=mutants.get(rung), rung=rung):
                    if rung in mutants:
                        self.assertTrue(found & {"FAIL", "ERROR"}, run.explain())
                    else:
                        self.assertEqual(found, {"PASS"}, run.explain())  # the twin without a mistake

    def test_every_missing_guard_is_noticed(self):
        mutant = ("add_unguarded", "out[i] = a[i] + b[i]", "if (i < 64000) out[i] = a[i] + b[i]")
        with Mutant(CHAPTER, [*GUARDS, mutant], traced=True) as program:
            runs = {rung: program.run("--rung", rung) for rung, _, _ in GUARDS}
            guarded = program.run("--rung", "add_unguarded")
        for rung, run in runs.items():
            with self.subTest(rung=rung):
                self.assertNotEqual(run.code, 0, run.explain())
                self.assertIn("out-of-bounds", run.err)
                if rung != "count_above":  # its host function ends the program
                    self.assertTrue({row["status"] for row in run.rows} & {"FAIL", "ERROR"}, run.explain())
        # And the other way round: a demonstration that makes no mistake.
        self.assertEqual(guarded.code, 1, guarded.explain())
        self.assertIn("should raise out-of-bounds", " ".join(guarded.out.split()))


if __name__ == "__main__":
    unittest.main()
