"""Chapter 17, run as a reader runs it: what its text says of counts, any size, and kernels with a mistake."""

import unittest

from chapter import Chapter, conflicts, notice, only, right_for

CHAPTER = Chapter("17_tensor_cores")
SIMULATED = ("wmma", "mma_sync", "ldmatrix", "swizzled", "copy_ring")


class Counts(unittest.TestCase):
    """Formulas hold at sizes of which the text says nothing."""

    def test_a_fragment_is_one_ldmatrix_or_several_loads(self):
        m, n, k = 256, 128, 96
        run = CHAPTER.right("--size", f"{m},{n},{k}", *only("mma_sync", "ldmatrix", "swizzled"))
        steps = m // 128 * (n // 128) * 8 * (k // 16)  # of 16 columns, for each warp
        by_hand, plain, swizzled = (run.row(rung)["counts"] for rung in ("mma_sync", "ldmatrix", "swizzled"))
        self.assertEqual(by_hand["shared_load_requests"], steps * (4 * 4 + 2 * 8))
        self.assertEqual(plain["shared_load_requests"], steps * (4 + 2))
        self.assertEqual(swizzled["shared_load_requests"], plain["shared_load_requests"])
        self.assertEqual(plain["shared_load_wavefronts"], by_hand["shared_load_wavefronts"])
        self.assertEqual(swizzled["shared_load_wavefronts"], 4 * swizzled["shared_load_requests"])

    def test_swizzled_tiles_have_no_conflict(self):
        run = CHAPTER.right("--size", "130,270,40", *only("swizzled", "copy_ring"))
        for rung in ("swizzled", "copy_ring"):
            self.assertEqual(conflicts(run.row(rung)), 0, rung)


class Sizes(unittest.TestCase):
    def test_small_products_of_any_shape_and_pitch(self):
        CHAPTER.right("--cases", "all", *only(*SIMULATED), results=False, fast=True)

    def test_sizes_around_the_tiles(self):
        right_for(
            self, CHAPTER, ("1,1,1", "129,257,65", "128,256,64", "127,255,63", "300,600,8", "8,8,300"), *SIMULATED
        )


# (rung, text, what it becomes): each gives a wrong result, or what the simulator tells.
MUTANTS = [
    ("one_mma", "group + r % 2 * 8", "group + r / 2 * 8"),
    ("wmma", "k0 += BK", "k0 += 2 * BK"),
    ("of_a", "r % 2 * 8) * BK", "r / 2 * 8) * BK"),
    ("of_b", "lane % 4 * 2 + r % 2 * 8", "lane % 4 * 2 + r / 2 * 8"),
    ("chunk_at", "COLS == 32 ? row / 2 % 4 : row % 8", "COLS == 32 ? row / 2 % 8 : row % 8"),
    ("multiply_ring", "b.rows -= BK", "b.rows -= 0"),
    ("multiply_ring", "sizeof(bf16) * k * BN", "sizeof(bf16) * 0 * BN"),
    ("existing", "cols - col", "cols - col + 1"),
]
RUNG_OF = {
    "multiply_ring": "copy_ring",
    "of_a": "mma_sync",
    "of_b": "mma_sync",
    "chunk_at": "swizzled",
    "existing": "swizzled",
}


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(
            self,
            CHAPTER,
            [(*mutant, RUNG_OF.get(mutant[0], mutant[0])) for mutant in MUTANTS],
            "--size",
            "200,265,103",
            at_once=True,
        )

    def test_what_only_the_simulator_notices(self):
        mistake = ("multiply_ring", "if (WAITS) __pipeline_wait_prior(STAGES - 2);", "", "copy_ring")
        notice(self, CHAPTER, [mistake], "--size", "200,264,200", traced=True)


if __name__ == "__main__":
    unittest.main()
