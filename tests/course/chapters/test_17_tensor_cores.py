"""Chapter 17, run as a reader runs it: what its text says of counts, any size, and kernels with a mistake."""

import unittest

from chapter import Chapter, Mutant, conflicts, notice, only, right_for

CHAPTER = Chapter("17_tensor_cores")
HOPPER = ("tma_wgmma", "producer_warp", "box_stores", "persistent", "multicast", "overlapped")
SIMULATED = ("wmma", "mma_sync", "ldmatrix", "swizzled", "copy_ring", "tf32", *HOPPER)


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
        rungs = ("swizzled", "copy_ring", "tf32", "box_stores")
        run = CHAPTER.right("--size", "130,270,40", *only(*rungs))
        for row in run.rows:
            self.assertEqual(conflicts(row), 0, row["rung"])
        self.assertEqual({row["rung"] for row in run.rows}, set(rungs))

    def test_padded_rows_leave_the_conflicts_of_the_sums(self):
        """Those of a fragment of sums in rows of 64 bytes are as many for any K; of the others, a tenth is left at most."""
        of = {}
        for k in (32, 96):
            run = CHAPTER.right("--size", f"128,128,{k}", *only("wmma"))
            of[k] = [conflicts(row) for row in run.rows]
        plain, padded = (after - before for before, after in zip(of[32], of[96]))
        self.assertLess(10 * padded, plain)
        self.assertEqual(len(of[32]), 2)

    def test_no_thread_loads_what_the_tma_copies(self):
        for row in CHAPTER.right("--size", "136,264,72", *only(*HOPPER)).rows:
            if row.get("variant") == "type=tf32":  # its B is transposed by threads
                continue
            self.assertEqual(row["counts"]["global_load_requests"], 0, row["rung"])
            if row["rung"] in ("box_stores", "persistent", "multicast", "overlapped"):
                self.assertEqual(row["counts"]["global_store_requests"], 0, row["rung"])


class Errors(unittest.TestCase):
    def test_three_products_and_sums_outside_of_the_tensor_core(self):
        run = CHAPTER.right("--size", "70,66,1000", *only("tf32"), fast=True)
        once, thrice, outside = (
            run.row("tf32", variant)["max_error"]
            for variant in ("products=1", "products=3", "products=3, sums=outside")
        )
        self.assertGreater(once, 8 * thrice)
        self.assertGreater(thrice, 8 * outside)

    def test_sums_of_fp8_inside_of_the_tensor_core_and_outside(self):
        run = CHAPTER.right("--size", "66,72,2000", *only("fp8"), fast=True)
        inside, outside, floats = (
            run.row("fp8", variant)["max_error"]
            for variant in ("sums=inside", "sums=outside", "sums=outside, beside=floats")
        )
        self.assertGreater(inside, 2 * outside)
        self.assertGreater(floats, 2 * outside)


class Sizes(unittest.TestCase):
    def test_small_products_of_any_shape_and_pitch(self):
        CHAPTER.right("--cases", "all", *only(*SIMULATED), results=False, fast=True)

    def test_small_products_of_8_bits(self):
        CHAPTER.right("--cases", "0-47", *only("int8", "fp8"), results=False, fast=True)

    def test_blocks_that_compute_several_tiles(self):
        """The simulated GPU has eight SMs: two tiles a block, and K ends before all boxes of the tile before have left, or after."""
        for size in ("400,700,60", "390,704,280"):
            CHAPTER.right("--size", size, *only("persistent", "multicast", "overlapped"), fast=True)

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
    ("multiply_ring", "sizeof(T) * k * BN", "sizeof(T) * 0 * BN"),
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


class HopperMutants(unittest.TestCase):
    """(file, function, text, what it becomes, rung, what the simulator says)."""

    mutants = (
        (
            "hopper.cuh",
            "store_box",
            "ptx::fence_proxy_async(ptx::space_shared);",
            "",
            "box_stores",
            "fence.proxy.async",
        ),
        ("hopper.cuh", "specialized", "wgmma_wait<1>();", "", "producer_warp", "wgmma"),
        (
            "tensor_cores_multicast_hopper.cu",
            "leave",
            "{ cluster_barrier(); }",
            "{}",
            "multicast",
            "absent-block",
        ),
        ("tf32.cu", "tf32", "place * LDB", "place * BN", "tf32", "uninitialized-shared"),
        ("int8.cu", "int8", "fb[now][j / 2][j % 2 + 2]", "fb[now][j / 2][j % 2]", "int8", "FAIL"),
        ("fp8_hopper.cu", "fp8", "d[j][2] *= below", "d[j][2] *= above", "fp8", "FAIL"),
        (
            "instructions_hopper.cu",
            "one_wgmma",
            "ptx::fence_proxy_async(ptx::space_shared);",
            "",
            "one_wgmma",
            "fence.proxy.async",
        ),
    )

    def test_every_mistake_is_noticed(self):
        for file, function, text, becomes, rung, says in self.mutants:
            source = "tensor_cores_hopper.cu" if file == "hopper.cuh" else file
            wrong = Mutant(CHAPTER, [(function, text, becomes)], traced=True, file=file, compiled=source)
            with self.subTest(mistake=text), wrong as program:
                run = program.run("--size", "136,264,456", *only(rung))
                self.assertIn(run.code, (1, 86), run.explain())
                self.assertRegex(run.out + run.err, says)
