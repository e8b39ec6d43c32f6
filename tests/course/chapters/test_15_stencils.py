"""Chapter 15, run as a reader runs it: what its text says of counts, any size, and kernels with a mistake."""

import unittest

from chapter import Chapter, conflicts, notice, only, right_for

CHAPTER = Chapter("15_stencils")
# All but the small grid's hundred steps, which take seconds.
QUICK = tuple(name for name in CHAPTER.rungs if name not in ("step_by_step", "resident"))


class Counts(unittest.TestCase):
    """Formulas hold at sizes of which the text says nothing."""

    def test_a_block_of_the_gradient_loads_its_halo_with_two_requests(self):
        for rows, cols in ((64, 64), (100, 52)):
            run = CHAPTER.run("--size", f"{rows},{cols}", *only("gradient"))
            n = rows * cols // 4
            warps, blocks = -(-n // 32), -(-n // 256)
            # Warps of the last block without an element load, too: a moved index.
            self.assertLessEqual(warps + 2 * blocks, run.row("gradient")["counts"]["global_load_requests"])
            self.assertEqual(run.row("gradient")["counts"]["global_load_requests"], 10 * blocks)

    def test_a_shuffled_element_is_loaded_once(self):
        run = CHAPTER.run("--size", "124,120", *only("taps_shuffled"))
        for taps, halo in ((7, 1), (33, 4)):
            counts = run.row("taps_shuffled", f"taps={taps}")["counts"]
            useful = 128 - 8 * halo
            self.assertLessEqual(counts["global_load_sectors"], 17 * -(-124 * 30 // useful))

    def test_what_goes_through_shared_memory_has_no_conflict(self):
        run = CHAPTER.right("--size", "300,260", *only("taps_staged", "seven_tiles", "gradient"))
        for row in run.rows:
            self.assertEqual(conflicts(row), 0, (row["rung"], row.get("variant")))

    def test_a_tile_has_one_halo(self):
        # Of 5 x 5 tiles of an image of 120 x 640 pixels, 3 x 3 lie inside and are read as float4s: rows of 34 or 36.
        run = CHAPTER.right("--size", "240,1280", *only("filter_tiled"))
        for radius in range(1, 8):
            counts = run.row("filter_tiled", f"size={2 * radius + 1}")["counts"]
            rows, width = 24 + 2 * radius, 128 + 2 * 4 * -(-radius // 4)
            inside, outside = 9 * rows * 2, 16 * rows * -(-width // 32)
            # A row of zeros is not read.
            self.assertLessEqual(counts["global_load_requests"], inside + outside)
            self.assertGreater(
                counts["global_load_requests"], inside + outside - 2 * 5 * (radius + 1) * -(-width // 32)
            )
            self.assertEqual(counts["shared_load_bank_conflicts"], 0)

    def test_more_steps_in_a_pass_load_hardly_more(self):
        run = CHAPTER.run("--size", "300,480", *only("five_strips"))
        two, eight = (run.row("five_strips", f"steps={steps}")["counts"] for steps in (2, 8))
        self.assertLess(eight["global_load_sectors"], 1.3 * two["global_load_sectors"])
        self.assertEqual(eight["global_store_requests"] > 0, True)


class Sizes(unittest.TestCase):
    def test_sizes_around_the_tiles(self):
        # Rows that are a multiple of 16 bytes, and rows that are not; a single row, a single column.
        right_for(self, CHAPTER, ("1,7", "7,1", "2,2", "257,131", "130,513", "33,1028", "600,36"), *QUICK)

    def test_images_smaller_than_the_filter(self):
        filters = (name for name in QUICK if name.startswith("filter"))
        right_for(self, CHAPTER, ("1,1", "2,2", "14,26", "448,446", "33,1028"), *filters)

    def test_more_rows_than_a_grid_counts(self):
        CHAPTER.refused("--size", f"{8 * 65535 + 1},1", says="at most 524280 rows")

    def test_a_hundred_steps_on_other_small_grids(self):
        right_for(self, CHAPTER, ("600,1500", "520,1100"), "step_by_step", "resident")

    def test_a_grid_that_does_not_fit_is_skipped(self):
        run = CHAPTER.right("--size", "1300,1100", *only("resident"), fast=True)
        self.assertEqual([row["status"] for row in run.rows], ["SKIP"])

    def test_more_cells_than_an_index_counts(self):
        CHAPTER.refused("--size", f"{2**20},{2**12}")


# (rung, text, what it becomes): each gives a wrong result at 70 x 132.
MUTANTS = [
    ("gradient", "in[min(i + BLOCK, n - 1)]", "in[min(i + BLOCK - 1, n - 1)]"),
    ("taps_global", "if (j < n)", "if (j + 1 < n)"),
    ("taps_constant", "k <= 2 * RADIUS", "k < 2 * RADIUS"),
    ("taps_window", "i - 4 * HALO, n,", "i - 4 * HALO + 4, n,"),
    ("taps_shuffled", "lane + h - HALO", "lane + h - HALO + (h == 0)"),
    ("taps_staged", "first + k - 4 * HALO", "first + k - 3 * HALO"),
    ("five_naive", "y == rows - 1", "y == rows"),
    ("five_tiled", "tile[j][i + 1]", "tile[j][i]"),
    ("five_columns", "if (lane != 31)", "if (lane != 30)"),
    ("walk_down", "above[t] = now, here[t] = row", "above[t] = row, here[t] = row"),
    ("around4", "z = beyond<EDGE>(z, box.planes), y", "z = inside(z, box.planes), y"),
    ("beside_warp", "x - 1 : x + 4", "x : x + 4"),
    ("five_edges", "lane == 31 ? side[k] : behind", "behind"),
    ("seven_edges", "front[k], back[k]", "front[k], front[k]"),
    ("five_beside", "float4_of<WIDE>(from, x - 4, cols).w", "float4_of<WIDE>(from, x - 4, cols).z"),
    ("five_overlapped", "j < HEIGHT - step", "j < HEIGHT - step - 1"),
    ("seven_naive", "in[i + plane]", "in[i - plane]"),
    ("seven_column", "front = centre, centre = back", "centre = back"),
    ("seven_columns", "k > 0 ? row[k - 1] : above", "k > 0 ? row[k - 1] : below"),
    ("seven_bricks", "row[j][k], row[j + 2][k]", "row[j][k], row[j][k]"),
    ("walk_through", "max(warp - 1, 0)", "warp"),
    ("far_queue", "queue[REACH - d][k] + queue[REACH + d][k]", "queue[REACH + d][k] + queue[REACH + d][k]"),
    ("resident", "next(0, above, row[0], second)", "next(0, above, row[0], row[1])"),
    ("filter_naive", "y + i - RADIUS", "y + i + 1 - RADIUS"),
    ("filter_texture", "y + i - RADIUS + 0.5f", "y + i + 1 - RADIUS + 0.5f"),
    ("filter_between", "y0 + between[0][i].at", "y0 + between[1][i].at"),
    ("filter_rows", "pixel<EDGE>(in, y, x - HALO + k, box)", "pixel<EDGE>(in, y, x - HALO + k + 1, box)"),
    ("filter_tiled", "weights[i * SIZE + j], four_from", "weights[j * SIZE + i], four_from"),
    ("filter_separable", "taps[i], row, sum[r]", "taps[SIZE - 1 - i], row, sum[r]"),
]
RUNG_OF = {
    "walk_down": "five_strips",
    "walk_through": "seven_tiles",
    "filter_rows": "filter_columns",
    "around4": "seven_edges",
    "beside_warp": "five_edges",
}


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, [(*mutant, RUNG_OF.get(mutant[0], mutant[0])) for mutant in MUTANTS], at_once=True)

    def test_mistakes_in_what_several_rungs_share_and_a_race(self):
        barrier = ("gradient", "__syncthreads();", "")
        edge = ("load_tile", "none ? 4 : 0", "0")
        image = ("make_texture", "cudaAddressModeClamp", "cudaAddressModeBorder")
        notice(
            self,
            CHAPTER,
            [(*barrier, "gradient", "shared-race"), (*edge, "filter_tiled"), (*image, "filter_texture")],
            traced=True,
        )
