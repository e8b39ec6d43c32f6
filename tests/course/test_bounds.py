"""Bounds worked out on paper, and the table of GPUs that they stand on."""

import dataclasses
import json
import unittest

import small  # noqa: F401  (the path)

from warp.base.errors import UsageError
from warp.machinecode import bounds
from warp.record import bounds_at_size
from warp.site import gpu_table
from warp.trace import execution
from warp.trace.model import Compiled, Launch, Line

FULL = bounds.Shape((1320, 1, 1), (256, 1, 1))  # ten blocks for each SM of an H200


def of(counts, shape=FULL, name="H200"):
    """{resource: seconds} of some counts."""
    return {bound.resource: bound.seconds for bound in bounds.of_launch(counts, shape, bounds.gpu(name))}


class Resources(unittest.TestCase):
    def test_dram_is_what_is_read_and_what_l2_has_no_room_for(self):
        mib = 2**20 // bounds.SECTOR
        seconds = of({"global_sectors_read_distinct": 1000 * mib, "global_sectors_written_distinct": 100 * mib})
        self.assertAlmostEqual(seconds[bounds.DRAM], (1000 + 100 - 60) * 2**20 / 4917e9)
        seconds = of({"global_sectors_read_distinct": 10 * mib, "global_sectors_written_distinct": 10 * mib})
        self.assertAlmostEqual(seconds[bounds.DRAM], 10 * 2**20 / 4917e9)

    def test_l2_has_to_pass_all_that_is_touched(self):
        seconds = of({"global_sectors_read_distinct": 660_000, "global_sectors_written_distinct": 660_000})
        self.assertAlmostEqual(seconds[bounds.L2], 1_320_000 / 132 / 1.98e9)
        seconds = of({"global_sectors_read_distinct": 660_000, "global_sectors_written_distinct": 660_000}, name="T4")
        self.assertNotIn(bounds.L2, seconds)

    def test_instructions_share_four_schedulers_of_each_sm(self):
        seconds = of({"issued": 5280, "fp32": 528, "fp64": 528, "int32": 528, "special": 528})
        self.assertAlmostEqual(seconds[bounds.ISSUE], 10 / 1.98e9)
        self.assertAlmostEqual(seconds["FP32 instructions"], 1 / 1.98e9)
        self.assertAlmostEqual(seconds["FP64 instructions"], 2 / 1.98e9)
        self.assertAlmostEqual(seconds["integer instructions"], 2 / 1.98e9)
        self.assertAlmostEqual(seconds["special functions"], 8 / 1.98e9)

    def test_a_grid_of_few_blocks_has_few_units(self):
        counts = {"issued": 4000, "shared_wavefronts": 1000}
        one_block = of(counts, bounds.Shape((1, 1, 1), (256, 1, 1)))
        self.assertAlmostEqual(one_block[bounds.ISSUE], 1000 / 1.98e9)
        self.assertAlmostEqual(one_block[bounds.SHARED], 1000 / 1.98e9)
        one_warp = of(counts, bounds.Shape((1, 1, 1), (32, 1, 1)))
        self.assertAlmostEqual(one_warp[bounds.ISSUE], 4000 / 1.98e9)
        larger_there = of(counts, bounds.Shape((1, 1, 1), (256, 1, 1), True))
        self.assertAlmostEqual(larger_there[bounds.ISSUE], 4000 / 528 / 1.98e9)

    def test_atomics_on_one_word_take_a_cycle_each(self):
        self.assertAlmostEqual(of({"global_atomics_on_one_word": 1980})[bounds.ATOMICS], 1e-6)

    def test_a_launch_takes_its_time_where_it_was_measured(self):
        self.assertEqual(of({}), {bounds.LAUNCH: 1e-6})
        self.assertEqual(of({}, name="A100"), {})

    def test_the_slowest_is_first(self):
        found = bounds.of_launch({"global_atomics_on_one_word": 198_000, "issued": 5280}, FULL, bounds.gpu())
        self.assertEqual([bound.resource for bound in found], [bounds.ATOMICS, bounds.LAUNCH, bounds.ISSUE])


class Launches(unittest.TestCase):
    LAUNCH = Launch(
        0,
        "k",
        [8, 1, 1],
        [256, 1, 1],
        {"shared_wavefronts": 99},
        is_sized_by_device=True,
        global_sectors_read_distinct=7,
        global_sectors_written_distinct=5,
        global_atomics_on_one_word=320,
    )

    def test_the_sources_own_counts_of_shared_memory_are_left_out(self):
        self.assertEqual(
            execution.counts_of(self.LAUNCH),
            {
                "global_sectors_read_distinct": 7,
                "global_sectors_written_distinct": 5,
                "global_atomics_on_one_word": 320,
            },
        )

    def test_those_of_the_machine_code_are_taken(self):
        executed = {"issued": 50, "fp32": 10, "atomics_on_one_word": 10}
        counted = {"shared_load_wavefronts": 22, "shared_store_wavefronts": 11}
        launch = dataclasses.replace(self.LAUNCH, compiled=Compiled(counted, executed=executed))
        counts = execution.counts_of(launch)
        self.assertEqual((counts["shared_wavefronts"], counts["issued"], counts["fp32"]), (33, 50, 10))
        self.assertEqual(counts["global_atomics_on_one_word"], 10)

    def test_those_of_a_kernel_that_waits_are_not(self):
        executed = {"issued": 50, "atomics_on_one_word": 10}
        waits = [Line("k.cu", 3, {}, polls=7)]
        launch = dataclasses.replace(self.LAUNCH, compiled=Compiled({}, executed=executed), lines=waits)
        self.assertNotIn("issued", execution.counts_of(launch))

    def test_a_grid_that_follows_the_device_fills_it(self):
        self.assertEqual(bounds.filled(execution.shape_of(self.LAUNCH), bounds.gpu()), (132, 528))
        self.assertEqual(bounds.filled(bounds.Shape((8, 1, 1), (64, 1, 1)), bounds.gpu()), (8, 16))

    def test_a_grid_that_cannot_have_followed_it_does_not(self):
        self.assertFalse(execution.shape_of(dataclasses.replace(self.LAUNCH, grid=[1, 1, 1])).fills)
        self.assertFalse(execution.shape_of(dataclasses.replace(self.LAUNCH, grid=[20, 1, 1])).fills)
        self.assertTrue(execution.shape_of(dataclasses.replace(self.LAUNCH, grid=[20, 2, 1])).fills)

    def test_the_simulated_device_has_that_many_sms(self):
        header = small.ROOT / "common" / "simt" / "launch" / "device_limits.h"
        self.assertIn(f"kMultiprocessors = {execution.SIMULATED_SMS};", header.read_text(encoding="utf-8"))


class Table(unittest.TestCase):
    def test_each_figure_has_a_source(self):
        with open(bounds.TABLE, encoding="utf-8") as file:
            table = json.load(file)
        for row in table["gpus"]:
            sourced = " ".join(row["from"].values()).split()
            figures = {name for name, value in row.items() if isinstance(value, (int, float))}
            self.assertEqual(sorted(sourced), sorted(figures), row["name"])
            self.assertLessEqual(set(row["from"]), set(table["sources"]), row["name"])

    def test_a_name_is_found_in_any_spelling(self):
        for name in ("RTX 4090", "rtx4090", "rtx-4090", "RTX_4090"):
            self.assertEqual(bounds.gpu(name).name, "RTX 4090")
        with self.assertRaises(KeyError):
            bounds.gpu("H300")

    def test_each_has_the_limits_of_its_compute_capability(self):
        for gpu in bounds.gpus().values():
            self.assertIsNotNone(gpu.limits, gpu.name)


class Recorded(unittest.TestCase):
    """The bounds that pages draw, beside the recorded times."""

    def above(self, times, alone):
        return {
            key: more for key, of in alone.items() if (more := [what for what, ms in of.items() if ms > times[key]])
        }

    def test_none_is_above_a_time(self):
        files = sorted(small.ROOT.glob("chapters/*/results/h200_bounds.json"))
        self.assertGreater(len(files), 12)
        for file in files:
            results = json.loads(file.with_name("h200.json").read_text(encoding="utf-8"))
            shown = json.loads(file.read_text(encoding="utf-8"))
            times = {
                (row["rung"], row.get("variant") or None, *row["size"].values()): row["time_ms"]["median"]
                for row in results["rows"]
                if row.get("time_ms")
            }
            alone = {(row["rung"], row["variant"], *row["size"]): row["alone_ms"] for row in shown["rows"]}
            with self.subTest(file.parents[1].name):
                self.assertEqual(self.above(times, alone), {})
                slower = {key: {what: 100 * ms for what, ms in of.items()} for key, of in alone.items()}
                self.assertTrue(self.above(times, slower))


class Sizes(unittest.TestCase):
    def test_a_chapter_without_sizes_is_named(self):
        for words in (["--write", "18"], ["nope"]):
            with self.assertRaisesRegex(UsageError, f"no sizes for '{words[-1]}'.* 01, 02,"):
                bounds_at_size.main(words)


class Page(unittest.TestCase):
    def test_each_gpu_and_each_source_is_there(self):
        table, listed = gpu_table.table()
        self.assertEqual([cells[0] for cells in table.rows], list(bounds.gpus()))
        self.assertIn("4,917", " ".join(next(cells for cells in table.rows if cells[0] == "H200")))
        sources = {source for gpu in bounds.gpus().values() for source in gpu.sources.values()}
        self.assertEqual({line.split(". ", 1)[1][:-1] for line in listed.text.split("\n")}, sources)


class Words(unittest.TestCase):
    def test_times(self):
        for seconds, text in (
            (0.5e-3, "0.50 ms"),
            (2.34e-6, "2.34 us"),
            (41e-9, "41 ns"),
            (0.0125, "12.5 ms"),
            (2, "2.00 s"),
        ):
            self.assertEqual(bounds.in_time(seconds), text)

    def test_bytes(self):
        self.assertEqual(
            (bounds.in_bytes(1), bounds.in_bytes(999), bounds.in_bytes(1.5e6)), ("1 byte", "999 bytes", "1.5 MB")
        )


if __name__ == "__main__":
    unittest.main()
