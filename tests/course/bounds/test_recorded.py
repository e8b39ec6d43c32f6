"""No bound is above a recorded time: each rung of a chapter, on each GPU that has results."""

import dataclasses
import json
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.chapter import chapters
from warp.machinecode import bounds, tools
from warp.record import bounds_at_size as recorded

SECONDS = 1800
# Counted again here: products, maps and a scan, and of two chapters with many rungs a few. What the others execute changes only with
# their machine code or the simulator's counts, which have tests of their own; `./learn author bounds NN` counts them.
COUNTED = ("02", "06", "08")
PARTS = {"14": ("compact", "permute"), "15": ("gradient",)}
# The least share of the recorded time that the bound of some rung has to reach, on an H200.
CLOSEST = 0.4


def above(rows):
    return [
        f"{name} {rung} {variant} {size}: {bounds.in_time(seconds)}, bound {bounds.in_time(found[0].seconds)} by {found[0].resource}"
        for name, rung, variant, size, seconds, found, _ in rows
        if found and found[0].seconds > seconds
    ]


class Polynomials(unittest.TestCase):
    PLAN = recorded.gemm(64, 256)

    def samples(self, count):
        sizes = [*self.PLAN[1], self.PLAN[2]]
        return [{"issued": count(*size)} for size in sizes]

    def test_a_product_is_extended_exactly(self):
        counts, others = recorded.extended(
            self.samples(lambda m, n, k: 7 + m * n * (3 + k) + 2 * m * k), self.PLAN, (4096,) * 3
        )
        self.assertEqual((counts, others), ({"issued": 7 + 4096**2 * (3 + 4096) + 2 * 4096**2}, []))

    def test_what_is_no_polynomial_is_left_out(self):
        counts, others = recorded.extended(
            self.samples(lambda m, n, k: m * n * (3 + k) + k * k), self.PLAN, (4096,) * 3
        )
        self.assertEqual((counts, others), ({}, ["issued"]))

    def test_fewer_instructions_than_the_units_have_are_none(self):
        sizes = [*self.PLAN[1], self.PLAN[2]]
        samples = [{"issued": m * n, "fp32": 2 * m * n} for m, n, _ in sizes]
        self.assertEqual(recorded.extended(samples, self.PLAN, (64, 64, 256)), ({"fp32": 2 * 64 * 64}, ["issued"]))

    def test_an_extent_between_two_multiples_counts_as_the_lower_one(self):
        counts, _ = recorded.extended(self.samples(lambda m, n, k: m * n), self.PLAN, (100, 129, 300))
        self.assertEqual(counts, {"issued": 64 * 128})


class Files(unittest.TestCase):
    """What the pages show, of all chapters."""

    def test_no_bound_of_a_page_is_above_its_time(self):
        seen = set()
        for chapter in chapters.all_chapters():
            for gpu in recorded.GPUS:
                file = recorded.file_of_the_page(chapter, gpu)
                if os.path.exists(file):
                    seen.add(chapter.number)
                    with self.subTest(chapter=chapter.number, gpu=gpu):
                        shares = self.shares(file)
                        self.assertEqual({row: share for row, share in shares.items() if share > 1}, {})
        self.assertEqual(seen, {*recorded.PLANS, *recorded.NOT_COUNTED})

    @staticmethod
    def shares(file):
        """{(rung, variant, size): its bound as a share of the time recorded} of a file of bounds."""

        def key(row, size):
            return row["rung"], row.get("variant"), tuple(size)

        with (
            open(file, encoding="utf-8") as bounds_of_page,
            open(file.replace("_bounds", ""), encoding="utf-8") as times,
        ):
            shown, rows = json.load(bounds_of_page)["rows"], json.load(times)["rows"]
        medians = {key(row, row["size"].values()): row["time_ms"]["median"] for row in rows if row.get("time_ms")}
        return {
            key(row, row["size"]): max(row["alone_ms"].values()) / medians[key(row, row["size"])]
            for row in shown
            if row["alone_ms"]
        }


class Recorded:
    @classmethod
    def setUpClass(cls):
        try:
            tools.Toolchain(Machine())
        except LearnError as error:
            if cls.number in recorded.PLANS:
                raise unittest.SkipTest(error.message) from error
        (cls.chapter,) = [one for one in chapters.all_chapters() if one.number == cls.number]
        cls.rungs = PARTS.get(cls.number, ())
        cls.runs = recorded.counted_at_sizes(cls.chapter, Machine(), cls.rungs)

    def test_no_bound_is_above_a_time(self):
        rows, _ = recorded.table(self.chapter, self.runs)
        self.assertTrue(rows)
        self.assertEqual(above(rows), [])
        best = max(found[0].seconds / seconds for name, _, _, _, seconds, found, _ in rows if name == "h200")
        self.assertGreaterEqual(best, CLOSEST)

    def test_the_files_have_these(self):
        rows, _ = recorded.table(self.chapter, self.runs)
        for gpu in {row[0] for row in rows}:
            with self.subTest(gpu):
                self.compare(gpu, rows)

    def compare(self, gpu, rows):
        with open(recorded.file_of_the_page(self.chapter, gpu), encoding="utf-8") as file:
            shown = json.load(file)
        fresh = recorded.of_the_page(self.chapter, rows, gpu)
        again = "./learn author bounds --write " + self.chapter.number

        def by_row(bounds_of_page):
            rows = [row for row in bounds_of_page["rows"] if not self.rungs or row["rung"] in self.rungs]
            return {(row["rung"], row["variant"], tuple(row["size"])): row["alone_ms"] for row in rows}

        shown, fresh = by_row(shown), by_row(fresh)
        self.assertEqual(set(shown), set(fresh), again)
        for row, alone in fresh.items():
            # How many atomics of random indices meet on one word differs a little from run to run, and is then no polynomial.
            both = alone.keys() & shown[row].keys()
            self.assertTrue(both, f"{row}: {again}")
            for resource in both:
                ratio = shown[row][resource] / alone[resource]
                self.assertTrue(0.98 < ratio < 1.02, f"{row}, {resource}: {ratio} of what it is now: {again}")

    def test_figures_that_are_too_low_are_found(self):
        slow = dataclasses.replace(bounds.gpu("H200"), dram_gb_s=1000, clock_mhz=400, host_gb_s=10, peer_gb_s=50)
        self.assertTrue(above(recorded.table(self.chapter, self.runs, {"h200": slow})[0]))


for _number in (*COUNTED, *PARTS, *recorded.NOT_COUNTED):
    _name = f"Chapter{_number}"
    globals()[_name] = type(_name, (Recorded, unittest.TestCase), {"number": _number})
