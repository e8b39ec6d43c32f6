"""Chapter 06, run as a reader runs it: what its text says of counts, any size, and kernels with a mistake."""

import json
import pathlib
import tempfile
import unittest

from chapter import Chapter, Mutant, conflicts, notice, only, right_for

CHAPTER = Chapter("06_transpose")
BY_TILES = ("naive_rows", "naive_columns", "longer_pitch", "tiled", "swizzled")
TRANSPOSES = (*BY_TILES, "large_tile", "vectors", "whole_sectors")


def per_request(counts, kind):
    return counts[f"global_{kind}_sectors"] / counts[f"global_{kind}_requests"]


class Counts(unittest.TestCase):
    """Formulas hold at sizes of which the text says nothing."""

    def test_a_pitch_that_is_no_multiple_of_a_sector(self):
        # Rows of out begin anywhere. Only `whole_sectors` stores no sector twice but those in which two rows meet.
        rows, cols = 513, 64
        run = CHAPTER.right("--size", f"{rows},{cols}", *only("vectors", "whole_sectors"))
        sectors = -(-rows * cols // 8)
        whole = run.row("whole_sectors")["counts"]["global_store_sectors"]
        self.assertLessEqual(whole, sectors + cols)
        cut = run.row("vectors", "along=out")["counts"]["global_store_sectors"]
        self.assertGreater(cut, sectors + 4 * cols)

    def test_an_offset_costs_a_sector_unless_it_is_a_multiple_of_one(self):
        run = CHAPTER.run("--size", "64,64", "--rung", "copy_offset")
        for offset, sectors in ((1, 5), (8, 4)):
            self.assertEqual(per_request(run.row("copy_offset", f"offset={offset}")["counts"], "load"), sectors)

    def test_no_transpose_behind_tiled_has_a_conflict(self):
        without = ("swizzled", "large_tile", "vectors", "whole_sectors")
        for size in ("128,192", "100,60", "33,70", "64,257"):
            for row in CHAPTER.right("--size", size).rows:
                if row["rung"] in without or row.get("variant") == "pad=1":
                    with self.subTest(size=size, rung=row["rung"]):
                        self.assertEqual(conflicts(row), 0)

    def test_the_tma_moves_what_no_thread_asks_for(self):
        row = CHAPTER.right("--size", "68,132", *only("tma")).row("tma")
        counts = row["counts"]
        self.assertEqual((counts["global_load_requests"], counts["global_store_requests"], conflicts(row)), (0, 0, 0))


class Sizes(unittest.TestCase):
    def test_all_cases(self):
        run = CHAPTER.right("--cases", "all")
        self.assertLessEqual(set(TRANSPOSES), {row["rung"] for row in run.rows if row["status"] == "PASS"})

    def test_rows_and_columns_around_the_tiles(self):
        # Four kinds of alignment: rows of in, of out, of both, of neither are multiples of 16 bytes.
        sizes = ("1,1023", "1025,1", "260,1028", "257,1020", "1020,257", "255,1023", "2,1048576")
        right_for(self, CHAPTER, sizes, *TRANSPOSES)
        # More tiles than blocks have stages, too.
        right_for(self, CHAPTER, ("4,4", "60,68", "1028,516"), "tma")

    def test_several_sizes_are_one_report_and_one_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            words = ("--size", "33,40", "--size", "5,7", *only("naive_rows", "tiled"))
            run = CHAPTER.right(*words, environment={"SIMT_JSON": str(file)})
            launches = json.loads(file.read_text())["launches"]
        self.assertEqual(run.out.count("\nrung "), 2)
        widths = []
        for row in run.rows:
            (launch,) = launches[row["launches"]["first"] : row["launches"]["end"]]
            self.assertTrue(launch["kernel"].startswith(row["rung"]), row)
            widths += launch["grid"][:1] if row["rung"] == "naive_rows" else []
        self.assertEqual(widths, [2, 1])  # 40 columns, then 7, in tiles of 32
        self.assertEqual(len(launches), len(run.rows))

    def test_more_rows_than_a_grid_has_tiles(self):
        run = CHAPTER.right("--size", f"{65535 * 32 + 1},1", *only(*TRANSPOSES), fast=True)
        status = {row["rung"]: row["status"] for row in run.rows}
        skips = dict.fromkeys(TRANSPOSES, "PASS") | dict.fromkeys(BY_TILES, "SKIP")
        self.assertEqual(status, skips)

    def test_more_rows_than_an_int_counts(self):
        CHAPTER.refused("--size", f"{2**31},1")


GUARD = ("tiled", "col0 + i < cols && row0 + x < rows", "col0 + i < rows && row0 + x < cols")

# (rung, text, what it becomes): each gives a wrong result at 33 x 70.
MUTANTS = [
    ("copy", "if (i < n) out[i] = in[i]", "if (i < n - 1) out[i] = in[i]"),
    ("copy_offset", "i + offset - n", "i + offset - n + 1"),
    ("copy_strided", "i / per_pass : i]", "i / per_pass : 0]"),
    ("points_aos", "out[3 * p] = y, out[3 * p + 1] = z", "out[3 * p] = z, out[3 * p + 1] = y"),
    ("points_soa", "const std::size_t points = n / 3", "const std::size_t points = n / 4"),
    ("points_staged", "__syncthreads();  // all structs are rotated", ""),
    ("points_aligned", "point.z, point.x, point.w", "point.z, point.w, point.x"),
    ("four_each", "out[i + 2 * BLOCK] = in[i + 2 * BLOCK]", "out[i + 2 * BLOCK] = in[i + BLOCK]"),
    ("naive_rows", "std::size_t{col} * rows + row] =", "std::size_t{col} * rows + row - row % 2] ="),
    ("naive_columns", "row < rows && col < cols", "row < cols && col < rows"),
    ("longer_pitch", "std::size_t{row} * pitch + col", "std::size_t{row} * cols + col"),
    ("large_tile", "tile[x][threadIdx.y + 4 * j]", "tile[x][threadIdx.y + 3 * j]"),
    GUARD,  # the well-known one: row and column have changed places, the extents have not
    ("swizzled", "tile[x][i ^ x]", "tile[x][i]"),
    ("vectors", "load<EVICT>(from)", "load<EVICT>(from - (col > 0))"),
    ("whole_sectors", "= tile[c][r];", "= tile[c][r - 1];"),
]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        with Mutant(CHAPTER, MUTANTS) as program:
            for rung, _, mistake in MUTANTS:
                with self.subTest(rung=rung, mistake=mistake):
                    run = program.run("--size", "33,70", "--rung", rung)
                    self.assertEqual(run.code, 1, run.explain())
            # What makes the wrong guard so durable: it is right for squares.
            for size, code in (("64,64", 0), ("33,33", 0), ("96,160", 1), ("33,70", 1)):
                self.assertEqual(program.run("--size", size, "--rung", "tiled").code, code, size)

    def test_mistakes_with_the_tma(self):
        for function, text, becomes, says in (
            ("swizzled_byte", "word % BOX / 4 ^ line % 8", "word % BOX / 4", "are wrong"),
            ("tma", "ptx::fence_proxy_async(ptx::space_shared);", "", "fence.proxy.async"),
        ):
            wrong = Mutant(CHAPTER, [(function, text, becomes)], traced=True, file="transpose_hopper.cu")
            with self.subTest(mistake=function), wrong as program:
                run = program.run("--size", "68,132", "--rung", "tma")
                self.assertIn(run.code, (1, 86), run.explain())
                self.assertRegex(" ".join((run.out + run.err).split()), says)

    def test_what_only_the_simulator_notices(self):
        barrier = ("no_barrier", "  }\n  for", "  }\n  __syncthreads();\n  for", "no_barrier", "raised nothing")
        guard = ("static_cast<int>(rows) && col0 + c < cols) {\n      out", "static_cast<int>(rows)) {\n      out")
        beyond = ("whole_sectors", *guard, "whole_sectors", "out-of-bounds")
        notice(self, CHAPTER, [barrier, beyond], "--size", "33,70", traced=True)
