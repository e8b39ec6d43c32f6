"""Chapter 03 on the simulator: what it prints, what it counts, and what it refuses. The numbers of its prose are bound
in the source, and py.course holds them against what they are computed from."""

import re
import unittest

from chapter import Chapter, DefaultRun, Mutant, Products, notice

from warp.chapter import header as course_header

CHAPTER = Chapter("03_shared_tiling")
HEADER = course_header.read(CHAPTER.source)

DEMONSTRATIONS = {name: rung.raises for name, rung in HEADER.rungs.items() if rung.raises}
PRODUCTS = {"naive_along_columns", "shared_tiles", "wide_reads", "k_tile_depth", "blocks_per_sm"}
DEPTHS = (32, 64, 128, 256)
BLOCKS = ("at most 1", "at most 2", "at most 4", "all that fit")
M, N, K = (int(extent) for extent in HEADER.sizes["simulator"].split(","))


def up(a, b):
    return -(-a // b)


def floats(m, n, k, t):
    """Section 2: M K ceil(N / T) + K N ceil(M / T)."""
    return m * k * up(n, t) + k * n * up(m, t)


def requests(m, n, k, t):
    """A warp has R = 32 / T rows of a tile: ceil(M / R) ceil(K / T) ceil(N / T) + ceil(K / R) ceil(N / T) ceil(M / T)."""
    r = 32 // t
    return up(m, r) * up(k, t) * up(n, t) + up(k, r) * up(n, t) * up(m, t)


def sectors(m, n, k, t):
    """M ceil(K / 8) ceil(N / T) + K ceil(N / 8) ceil(M / T), for rows that start at sectors."""
    return m * up(k, 8) * up(n, t) + k * up(n, 8) * up(m, t)


class FirstRun(DefaultRun, unittest.TestCase):
    chapter = CHAPTER

    def test_the_default_size_fills_no_tile(self):
        for extent in (M, N, K):
            self.assertNotEqual(extent % 16, 0)

    def test_demonstrations_show_their_finding(self):
        self.assertEqual(len(DEMONSTRATIONS), 5)
        for rung, kind in DEMONSTRATIONS.items():
            self.assertIn(f"raises {kind}", self.run_.row(rung)["reason"])
        # As the text says: two barriers; rows 20 and on of B's tile; a write of the next K-tile.
        lines = re.findall(r"shared_tiling\.cu:(\d+)", self.run_.row("barrier_in_branch")["reason"])
        source = CHAPTER.source.read_text().splitlines()
        self.assertEqual([source[int(line) - 1].split("//")[1].split()[1] for line in lines], ["other", "of"], lines)
        self.assertIn(
            f"b_tile in shared memory, byte {20 * 32 * 4}", " ".join(self.run_.row("early_return")["reason"].split())
        )
        self.assertRegex(self.run_.row("no_second_barrier")["reason"], r"write at .* races with the read ")

    def test_naive(self):
        self.expect(
            "naive_along_columns",
            global_load_requests=2 * M * up(N, 32) * K,
            global_load_sectors=M * K * (up(N, 32) + up(N, 8)),
        )

    def test_tiles(self):
        for rung, variant, tile in (
            ("shared_tiles", "tile=16", 16),
            ("shared_tiles", "tile=32", 32),
            *(("blocks_per_sm", most, 16) for most in BLOCKS),
        ):
            padded = [up(extent, tile) * tile for extent in (M, N, K)]  # what whole tiles cover
            warps, k = padded[0] * padded[1] // 32, padded[2]
            self.expect(
                rung,
                variant,
                global_load_requests=requests(M, N, K, tile),
                global_load_sectors=sectors(M, N, K, tile),
                global_load_active_lanes=floats(M, N, K, tile),
                shared_load_requests=2 * warps * k,
                shared_load_wavefronts=2 * warps * k,
                shared_store_requests=2 * warps * k // tile,
                shared_store_wavefronts=2 * warps * k // tile,
                shared_load_bank_conflicts=0,
                shared_store_bank_conflicts=0,
            )

    def test_the_depth_of_a_k_tile_costs_no_read(self):
        warps = up(M, 32) * up(N, 32) * 32
        for depth in DEPTHS:
            self.expect(
                "k_tile_depth",
                f"BK={depth}",
                global_load_requests=requests(M, N, K, 32),
                global_load_sectors=sectors(M, N, K, 32),
                global_load_active_lanes=floats(M, N, K, 32),
                shared_load_requests=2 * warps * up(K, depth) * depth,
                shared_load_bank_conflicts=0,
            )

    def test_wide_reads(self):
        fmas = up(M, 32) * up(N, 32) * 32 * up(K, 32) * 32
        self.expect(
            "wide_reads",
            global_load_requests=requests(M, N, K, 32),
            shared_load_requests=fmas // 4 * 5,
            shared_load_wavefronts=fmas // 4 * 6,
            shared_load_bank_conflicts=0,
        )

    def test_a_broadcast_from_a_and_neighbours_from_b(self):
        """The examples that the trace keeps of the inner loop's reads."""
        trace = CHAPTER.trace("--rung", "shared_tiles")
        lines = CHAPTER.source.read_text().splitlines()
        launch = trace["launches"][1]
        inner = next(entry for entry in launch["lines"] if "a_tile[ty][l] * b_tile[l][tx]" in lines[entry["line"] - 1])
        self.assertEqual(sorted(len(set(example["addresses"])) for example in inner["examples"]), [1, 32])

    def test_occupancy(self):
        for depth in DEPTHS:
            self.assertIn(f"\n  {depth // 4} KiB of shared memory a block: 2 blocks fit on an SM\n", self.run_.out)


class Formulas(unittest.TestCase):
    """Section 2 holds for any size; that of the sectors where rows start at sectors."""

    def test_other_sizes(self):
        for m, n, k in ((1, 1, 1), (33, 64, 5), (70, 104, 9), (31, 8, 40), (128, 100, 64), (5, 37, 11)):
            run = CHAPTER.right("--size", f"{m},{n},{k}", "--rung", "shared_tiles", "--rung", "k_tile_depth")
            for rung, variant, tile in (
                ("shared_tiles", "tile=16", 16),
                ("shared_tiles", "tile=32", 32),
                ("k_tile_depth", "BK=64", 32),
            ):
                with self.subTest(m=m, n=n, k=k, rung=rung, variant=variant):
                    counts = run.row(rung, variant)["counts"]
                    self.assertEqual(counts["global_load_requests"], requests(m, n, k, tile))
                    self.assertEqual(counts["global_load_active_lanes"], floats(m, n, k, tile))
                    if n % 8 == 0 and k % 8 == 0:
                        self.assertEqual(counts["global_load_sectors"], sectors(m, n, k, tile))
                    elif tile == 32:  # a warp of tile=16 has two rows, which may then share a sector
                        self.assertGreaterEqual(counts["global_load_sectors"], sectors(m, n, k, tile))


class Cases(Products, unittest.TestCase):
    chapter = CHAPTER
    rungs = PRODUCTS
    tall = ((16, "shared_tiles"), (16, "blocks_per_sm"))


# (rung, text, what it becomes, how the row says it): barriers and edges of tiles. What else a product may get wrong
# tests/lab/gemm_test.cpp has, of any rung. Case 0 has M = 1, N = K = 32 and no gaps; 1 is the first with K no multiple of 32, and
# with gaps in A and B (NaN).
MUTANTS = [
    ("shared_tiles", "__syncthreads();  // the tiles are full", "", r"case 0 .*: 32 of 32"),
    # Whoever comes first has everything right.
    ("shared_tiles", "__syncthreads();  // the tiles may be overwritten", "", r"case [01] .* first at index [1-9]"),
    ("shared_tiles", "float sum = 0;", "float sum = 0;\n  if (rowC >= m || colC >= n) return;", r"case 0 .*: 32 of 32"),
    ("k_tile_depth", "k0 + l < k", "true", r"case 1 .* first at index 0: nan"),
    ("k_tile_depth", "k0 += BK", "k0 += T", r"case 1 .*: 66 of 66"),  # with BK=64, for K above 32
    ("wide_reads", "rowC >= m || colC >= n", "rowC >= m", r"case 1 .* first at index 33: "),  # right of row 0
]


class Mutants(unittest.TestCase):
    """A kernel with a mistake fails."""

    def test_every_mistake_is_noticed(self):
        mutants = [(rung, old, new, rung, "FAIL.*" + said) for rung, old, new, said in MUTANTS]
        notice(self, CHAPTER, mutants, "--cases", "0-23")

    def test_a_missing_guard_or_barrier_is_found_at_the_default_size(self):
        """As a reader would try it: without --cases."""
        mistakes = [
            ("reverse_block", "count - 1 - t", "255 - t"),
            ("shared_tiles", "rowA < m && colA < k", "rowA < m"),
            ("k_tile_depth", "rowC >= m || colC >= n", "rowC >= m"),
            ("wide_reads", "    __syncthreads();\n  }", "  }"),
        ]
        with Mutant(CHAPTER, mistakes, traced=True) as program:
            for rung, *mistake in mistakes:
                with self.subTest(rung=rung, mistake=mistake):
                    run = program.run("--rung", rung, "--size", f"{M},{N},{K}")
                    self.assertEqual(run.code, 1, run.explain())
            # Section 4: the second barrier is needed from K = 33 on.
            right, racing = (program.run("--rung", "wide_reads", "--size", f"32,32,{k}") for k in (32, 33))
        self.assertEqual(right.code, 0, right.explain())
        self.assertIn("shared-race", racing.err + racing.out)

    def test_repaired_demonstrations_fail_and_leftovers_raise_nothing(self):
        barrier = "\n  __syncthreads();\n"
        fixed = [
            ("reverse_block", "min(256, n - first)", "256"),
            ("shared_tiles", "rowB < k && colB < n", "rowB < k"),
            ("reverse_no_barrier", "in[first + t];\n", "in[first + t];" + barrier),
            ("barrier_in_branch", "__syncthreads();  // half of the block waits here", ""),
            ("no_second_barrier", "b_tile[l][tx];\n", "b_tile[l][tx];" + barrier),
            (
                "unfilled_edges",
                "if (rowA < m && colA < k) a_tile[ty][tx] = a[size_t(rowA) * lda + colA];",
                "a_tile[ty][tx] = rowA < m && colA < k ? a[size_t(rowA) * lda + colA] : 0.0f;",
            ),
            (
                "unfilled_edges",
                "if (rowB < k && colB < n) b_tile[ty][tx] = b[size_t(rowB) * ldb + colB];",
                "b_tile[ty][tx] = rowB < k && colB < n ? b[size_t(rowB) * ldb + colB] : 0.0f;",
            ),
            ("early_return", "if (rowC >= m || colC >= n) return;", ""),
            ("early_return", "k0 + tx < k ?", "rowC < m && k0 + tx < k ?"),
            ("early_return", "  float& out", "  if (rowC >= m || colC >= n) return;\n  float& out"),
            ("wide_reads", "a_tile[ty][tx] = rowA", "if (colA < k) a_tile[ty][tx] = rowA"),
            ("wide_reads", "b_tile[ty][tx] = rowB", "if (rowB < k) b_tile[ty][tx] = rowB"),
        ]
        with Mutant(CHAPTER, fixed, traced=True) as program:
            for rung, kind in DEMONSTRATIONS.items():
                run = program.run("--rung", rung, "--size", "40,36,20")
                with self.subTest(rung=rung):
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn(f"should raise {kind}, and raised nothing", " ".join(run.out.split()))
            for rung in ("reverse_block", "shared_tiles"):  # two more guards that are missing
                run = program.run("--rung", rung, "--size", f"{M},{N},{K}")
                self.assertEqual(run.code, 1, run.explain())
            # Section 3: for K = 8 the leftovers are found, for K = 40 they are only wrong.
            found, wrong = (program.run("--rung", "wide_reads", "--size", f"32,32,{k}") for k in (8, 40))
        self.assertIn("uninitialized-shared", found.err + found.out)
        self.assertEqual(wrong.code, 1, wrong.explain())
        self.assertEqual(wrong.row("wide_reads")["status"], "FAIL")
        self.assertNotIn("simt:", wrong.err + wrong.out)
