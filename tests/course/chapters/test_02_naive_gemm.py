"""Chapter 02 on the simulator: what it prints, what it counts, and what it refuses."""

import unittest

from chapter import Chapter, DefaultRun, Products, notice

CHAPTER = Chapter("02_naive_gemm")

PRODUCTS = {"naive_flat", "naive_along_rows", "naive_along_columns"}
M, N, K = 125, 104, 64  # the simulator's default


def requests(m, n, k, width=32):
    """Section 3: 2 K M ceil(N / 32)."""
    return 2 * k * m * -(-n // width)


def sectors(m, n, k):
    """Section 3: K M (ceil(N / 32) + ceil(N / 8)), for rows that start at sectors."""
    return k * m * (-(-n // 32) + -(-n // 8))


class FirstRun(DefaultRun, unittest.TestCase):
    chapter = CHAPTER

    def test_the_demonstration_shows_its_finding(self):
        reason = self.run_.row("naive_unguarded")["reason"]
        self.assertIn("raises out-of-bounds", reason)
        self.assertRegex(reason, r"naive_gemm\.cu:\d+ in naive_unguarded")
        self.assertIn("just past the end of", reason)
        self.assertIn(" of B", reason)  # the text says that it is B's last row

    def test_the_size_is_ragged(self):
        self.assertEqual(self.run_.row("naive_flat")["size"], {"M": M, "N": N, "K": K})
        for edge in (8, 16, 32):
            self.assertNotEqual(M % edge, 0)
            self.assertTrue(N % edge != 0 or edge == 8)  # rows start at sectors

    def test_along_columns(self):
        for variant in ("block=32x32", "block=32x8"):
            self.expect(
                "naive_along_columns",
                variant,
                global_load_requests=requests(M, N, K),
                global_load_sectors=sectors(M, N, K),
                global_store_requests=M * 4,
                global_store_sectors=M * 13,
            )

    def test_along_rows(self):
        warps = N * 4
        self.expect(
            "naive_along_rows",
            global_load_requests=2 * K * warps,
            global_load_sectors=K * (M * N + warps),
            global_store_requests=warps,
            global_store_sectors=M * N,
        )

    def test_blocks_of_16(self):
        # Seven warps cover two rows; the last of the seven has 8 columns, and the last row is alone.
        a, b = 7 * M, 63 * (6 * 2 + 1)
        self.expect(
            "naive_along_columns", "block=16x16", global_load_requests=2 * K * 7 * 63, global_load_sectors=K * (a + b)
        )

    def test_strides(self):
        for stride in (1, 2, 4, 8, 16, 32):
            loads = 512 // stride
            self.expect(
                "read_strided",
                f"stride={stride}",
                global_load_requests=loads,
                global_load_sectors=loads * min(32, 4 * stride),
            )

    def test_a_broadcast_is_one_sector_and_neighbours_are_four(self):
        trace = CHAPTER.trace("--rung", "naive_along_columns")
        lines = CHAPTER.source.read_text().splitlines()
        launch = trace["launches"][0]
        per_line = {lines[entry["line"] - 1].strip(): entry["counts"] for entry in launch["lines"]}
        left = next(counts for text, counts in per_line.items() if text.startswith("const float left"))
        right = next(counts for text, counts in per_line.items() if text.startswith("const float right"))
        self.assertEqual(left["global_load_sectors"], left["global_load_requests"])
        self.assertEqual(4 * right["global_load_sectors"], 13 * right["global_load_requests"])  # 104 columns

    def test_formulas_are_printed(self):
        self.assertIn("2 K M ceil(N / 32) = 64,000 load requests", self.run_.out)
        self.assertIn("= 136,000 sectors", self.run_.out)

    def test_four_kinds_of_blocks(self):
        self.assertIn("a 70 x 100 matrix in 3 x 4 blocks of 32 x 32 threads", self.run_.out)
        self.assertIn("|  192 |  192 |  192 |   24 |", self.run_.out)

    def test_drawings(self):
        drawn = CHAPTER.drawings()
        self.assertIn(
            "128 (right edge); 192 (bottom edge), 192 (bottom edge), 192 (bottom edge), 24 (corner).",
            drawn["blocks"][1].alt,
        )
        for words in (
            "naive_along_rows: of A 32 floats in 32 sectors; of B 1 float in 1 sector; they compute 32 x 1 ",
            "naive_along_columns: of A 1 float in 1 sector; of B 32 floats in 4 sectors; they compute 1 x 32 ",
        ):
            self.assertIn(words, drawn["reads"][1].alt)


class Formulas(unittest.TestCase):
    """Section 3 holds for any size, and where it says that it does not, it does not."""

    def test_other_sizes(self):
        for m, n, k in ((1, 1, 1), (33, 64, 5), (70, 104, 9), (31, 8, 40), (128, 100, 64), (5, 37, 11)):
            with self.subTest(m=m, n=n, k=k):
                run = CHAPTER.right("--size", f"{m},{n},{k}", "--rung", "naive_along_columns")
                counts = run.row("naive_along_columns", "block=32x32")["counts"]
                self.assertEqual(counts["global_load_requests"], requests(m, n, k))
                if n % 8 == 0:
                    self.assertEqual(counts["global_load_sectors"], sectors(m, n, k))
                else:
                    self.assertGreaterEqual(counts["global_load_sectors"], sectors(m, n, k))


class Cases(Products, unittest.TestCase):
    chapter = CHAPTER
    rungs = PRODUCTS
    tall = ((16, "naive_along_columns"),)

    def test_another_seed(self):
        self.passes(CHAPTER.run("--cases", "all", "--seed", "2", fast=True), 153)


# (rung, text, what it becomes): its guard. What else a product may get wrong tests/lab/gemm_test.cpp has, of any rung.
MUTANTS = [
    ("naive_flat", "if (i >= rows * cols) return;", "if (i + 1 >= rows * cols) return;"),
    ("naive_along_rows", "if (row >= rows || col >= cols) return;", "if (row >= rows) return;"),
    ("naive_along_columns", "if (row >= rows || col >= cols) return;", "if (col >= cols) return;"),
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails on the cases."""

    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, [(*mutant, mutant[0], "FAIL") for mutant in MUTANTS], "--cases", "0-23")

    def test_the_loop_on_the_host_is_checked(self):
        mutant = ("triple_loop", "b[l * n + col]", "b[l * n + row]", "triple_loop", "FAIL")
        notice(self, CHAPTER, [mutant], "--size", "128,96,64")

    def test_a_guarded_demonstration_fails(self):
        guard = ("naive_unguarded", "float sum = 0;", "if (row >= 127 || col >= 95) return;\n  float sum = 0;")
        said = "should raise out-of-bounds, and raised nothing"
        notice(self, CHAPTER, [(*guard, guard[0], said)], "--size", "128,96,64", traced=True)


class Arguments(unittest.TestCase):
    def test_a_size_that_does_not_fit(self):
        CHAPTER.refused("--size", "2147483647,2147483647,2147483647", codes=(1, 2))
