"""Bounds worked out on paper, and the table of GPUs that they stand on."""

import contextlib
import dataclasses
import io
import json
import tarfile
import unittest

import small  # noqa: F401  (the path)

from warp.base.errors import UsageError
from warp.chapter import chapters
from warp.chapter.written import Clock, Row, Times
from warp.machinecode import bounds
from warp.record import bounds_at_size, last_rungs, least_work
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
        self.assertAlmostEqual(seconds[bounds.DRAM], (1000 / 0.93 + (100 - 60) / 0.8) * 2**20 / 4917e9)
        seconds = of({"global_sectors_read_distinct": 10 * mib, "global_sectors_written_distinct": 10 * mib})
        self.assertAlmostEqual(seconds[bounds.DRAM], 10 / 0.93 * 2**20 / 4917e9)
        seconds = of({"global_sectors_read_distinct": mib, "global_sectors_written_distinct": 41 * mib}, name="A100")
        self.assertAlmostEqual(seconds[bounds.DRAM], 2 * 2**20 / 2039e9)  # the pins' rate, as none is measured
        seconds = of({"global_sectors_read_distinct": 10 * mib, "global_sectors_written_distinct": 160 * mib})
        self.assertAlmostEqual(seconds[bounds.DRAM], (10 / 0.93 + 10 / 0.8 + 90) * 2**20 / 4917e9)  # 90 alone

    def test_l2_may_hold_what_the_launch_before_has_left(self):
        mib = 2**20 // bounds.SECTOR
        counts = {"global_sectors_read_distinct": 1000 * mib, "global_sectors_written_distinct": 100 * mib}
        second = {one.resource: one.seconds for one in bounds.of_launch(counts, FULL, bounds.gpu(), follows=True)}
        self.assertAlmostEqual(second[bounds.DRAM], ((1000 - 60) / 0.93 + (100 - 60) / 0.8) * 2**20 / 4917e9)
        small = {"global_sectors_read_distinct": 50 * mib}
        self.assertNotIn(
            bounds.DRAM, [one.resource for one in bounds.of_launch(small, FULL, bounds.gpu(), follows=True)]
        )

    def test_tensor_cores_have_their_peak(self):
        self.assertAlmostEqual(of({"tensor_fmas": 132 * 2048 * 1980})[bounds.TENSOR], 1e-6)
        self.assertNotIn(bounds.TENSOR, of({"tensor_fmas": 1000}, name="T4"))
        for name, clock_mhz, teraflops in (("A100", 1410, 312), ("H100", 1830, 989.4), ("RTX 4090", 2520, 165.2)):
            gpu = bounds.gpu(name)
            self.assertAlmostEqual(2 * gpu.tensor * gpu.sms * clock_mhz / 1e6, teraflops, delta=teraflops / 1000)

    def test_bytes_cross_a_link_at_its_rate(self):
        self.assertAlmostEqual(of({"host_bytes": 56_000_000})[bounds.HOST], 1e-3)
        self.assertAlmostEqual(of({"peer_bytes": 394_000_000})[bounds.PEER], 1e-3)
        self.assertNotIn(bounds.PEER, of({"peer_bytes": 394_000_000}, name="H100"))

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
        self.assertEqual(of({}, bounds.Shape((1, 1, 1), (32, 1, 1), True)), {bounds.LAUNCH: 0.9e-6})
        self.assertEqual(of({}, name="A100"), {})

    def test_blocks_start_one_after_the_other(self):
        self.assertAlmostEqual(of({}, bounds.Shape((1683, 1000, 1), (32, 1, 1)))[bounds.BLOCKS], 1e-3)
        self.assertNotIn(
            bounds.BLOCKS, of({}, bounds.Shape((1683, 1000, 1), (32, 1, 1), True))
        )  # as many as are wanted

    def test_the_slowest_is_first(self):
        found = bounds.of_launch({"global_atomics_on_one_word": 198_000, "issued": 5280}, FULL, bounds.gpu())
        order = [bounds.ATOMICS, bounds.LAUNCH, bounds.BLOCKS, bounds.ISSUE]
        self.assertEqual([bound.resource for bound in found], order)


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
        header = small.ROOT / "common" / "simt" / "base" / "device_limits.h"
        self.assertIn(f"kMultiprocessors = {execution.SIMULATED_SMS};", header.read_text(encoding="utf-8"))


class Sequences(unittest.TestCase):
    """Launches one after the other."""

    def bound(self, resource, seconds):
        return bounds.Bound(resource, seconds, "")

    def test_each_has_its_own_slowest_resource(self):
        first = [self.bound(bounds.DRAM, 3), self.bound(bounds.ISSUE, 1)]
        second = [self.bound(bounds.ISSUE, 4), self.bound(bounds.DRAM, 2)]
        found = {one.resource: one.seconds for one in bounds_at_size.together([first, second])}
        self.assertEqual(found, {bounds.DRAM: 5, bounds.ISSUE: 5, bounds.IN_TURN: 7})
        self.assertEqual([one.resource for one in bounds_at_size.together([first])], [bounds.DRAM, bounds.ISSUE])

    def test_the_larger_bound_of_a_resource_stays(self):
        found = bounds_at_size.slowest([self.bound("a", 1), self.bound("b", 2), self.bound("a", 3)])
        self.assertEqual([(one.resource, one.seconds) for one in found], [("a", 3), ("b", 2)])

    def test_under_the_power_cap_the_clock_is_the_one_that_was_seen(self):
        held, free = Clock(1500.0, 1470.0, throttled="power cap"), Clock(1500.0, 1470.0)
        for clock, mhz in ((held, 1500), (free, 1980), (None, 1980)):
            row = Row("r", {}, "PASS", clock=clock)
            self.assertEqual(bounds_at_size.at_its_clock(row, bounds.gpu()).clock_mhz, mhz)


class Demanded(unittest.TestCase):
    """What a problem demands of any kernel, worked out on paper."""

    def of(self, number, rung, variant="", size=(1,), ms=1.0, rate=1.0, unit="GFLOP/s"):
        (chapter,) = [one for one in chapters.all_chapters() if one.number == number]
        row = Row(
            rung, dict(zip("MNK", size)), "PASS", variant, time_ms=Times(ms, ms, ms, 1), rate=rate, rate_unit=unit
        )
        return least_work.of_row(chapter, row)

    def test_a_product_has_its_fmas_and_touches_each_element(self):
        touched = {
            "global_sectors_read_distinct": (64 * 32 + 32 * 128) // 8,
            "global_sectors_written_distinct": 64 * 128 // 8,
        }
        self.assertEqual(self.of("13", "choose", size=(64, 128, 32)), [{"fp32": 64 * 128, **touched}])
        half = {name: number // 2 for name, number in touched.items()}
        self.assertEqual(self.of("17", "copy_ring", size=(64, 128, 32)), [{"tensor_fmas": 64 * 128 * 32, **half}])
        tf32 = self.of("17", "tf32", "products=3", (64, 128, 32))
        self.assertEqual(tf32, [{"tensor_fmas": 6 * 64 * 128 * 32, **touched}])

    def test_wgmma_reads_shared_memory_as_the_hardware_counts_it(self):
        """Of 256 x 512 sums, four tiles, with 128 or 104 elements along K; the stores of sums are counted apart."""
        file = small.ROOT / "chapters" / "17_tensor_cores" / "results" / "h200_counts.json"
        launches = json.loads(file.read_text(encoding="utf-8"))["launches"]
        found: dict[str, set[int]] = {}
        for counts, rung in (
            (one["counts"], one["kernel"]) for one in launches if one["grid"] in ([4, 1, 1], [2, 2, 1])
        ):
            found.setdefault(rung, set()).add(counts["shared_wavefronts"] - counts["shared_store_wavefronts"])
        for rung, variant, k in (
            *((rung, "", 128) for rung in least_work.WGMMA if rung != "fp8"),
            *(("fp8", f"sums={where}", 128) for where in ("inside", "outside")),
        ):
            with self.subTest(rung, variant=variant):
                (counts,) = self.of("17", rung, variant, (256, 512, k))
                self.assertIn(counts["shared_wavefronts"], found[rung])
        (floats,) = self.of("17", "multicast", "type=tf32", (256, 512, 128))
        self.assertEqual(floats["shared_wavefronts"], 10240)

    def test_ldmatrix_reads_the_fragments_of_attention_as_the_simulator_counts_it(self):
        main = small.ROOT / "chapters" / "18_attention" / "attention.cu"
        with tarfile.open(main.parent / "results" / "simulated.tar.xz") as archive:
            rows = json.load(archive.extractfile("results.json"))["rows"]
        tiles = {
            128: 2 * 2,
            64: 4 * 2,
        }  # of 128 queries and 64 keys: two heads of 128 columns, four of 64, with 75 positions
        for columns, number in tiles.items():
            counted = {
                row["rung"]: row["counts"]["shared_load_wavefronts"]
                for row in rows
                if row["rung"] in least_work.OF_FRAGMENTS and row["variant"] == f"bf16,d={columns},short,full"
            }
            of = {rung: number * columns * each for rung, each in least_work.OF_FRAGMENTS.items()}
            self.assertEqual(counted, of)
        (counts,) = self.of("18", "fragments_reused", "bf16,d=128,short,full", ms=1, rate=4 * 128 * 4096**2 / 1e6)
        self.assertEqual(counts["shared_wavefronts"], 32 * 64 * 128 * least_work.OF_FRAGMENTS["fragments_reused"])

    def test_winograd_has_three_launches(self):
        pixels, tiles = 32 * 64 * 56**2, 36 * 32 * 14**2
        first, second, third = self.of("16", "winograd", "layer=c64,tile=4")
        self.assertEqual(first, least_work.floats(pixels, tiles * 64))
        self.assertEqual(second, {**least_work.floats(tiles * 64, tiles * 64), "fp32": tiles * 64 * 64 // 32})
        self.assertEqual(third, least_work.floats(tiles * 64, pixels))

    def test_attention_has_an_exponential_for_each_score(self):
        flops = 4 * 128 * 1000 * 64
        (counts,) = self.of("18", "ahead", "bf16,d=128,short,full", ms=1, rate=flops / 1e6)
        self.assertEqual(counts, {"tensor_fmas": flops // 2, "special": 64 * 1000 // 32})
        (counts,) = self.of("18", "fused", "d=128,full", ms=1, rate=flops / 1e6)
        self.assertEqual(counts, {"fp32": flops // 64, "special": 64 * 1000 // 32})

    def test_bytes_are_those_of_the_rate(self):
        (counts,) = self.of("08", "look_ahead", ms=1, rate=6400 / 1e6, unit="GB/s")
        self.assertEqual(counts, {"global_sectors_read_distinct": 100, "global_sectors_written_distinct": 100})
        self.assertEqual(self.of("19", "summed", ms=1, rate=6400 / 1e6, unit="GB/s"), [{"host_bytes": 6400}])
        self.assertEqual(self.of("20", "two_shots", "floats=100", unit="GB/s"), [{"peer_bytes": 400}])
        self.assertEqual(len(self.of("20", "jacobi_copies", "gpus=2", (64,), unit="GB/s")), 100)

    def test_of_the_host_nothing_is_known(self):
        for number, rung in (("01", "add_on_cpu"), ("02", "triple_loop"), ("16", "on_cpu")):
            self.assertEqual(self.of(number, rung, size=(8, 8, 8)), [])


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
        files = sorted(small.ROOT.glob("chapters/*/results/*_bounds.json"))
        self.assertGreater(len(files), 30)
        for file in files:
            results = json.loads(file.with_name(file.name.replace("_bounds", "")).read_text(encoding="utf-8"))
            shown = json.loads(file.read_text(encoding="utf-8"))
            times = {
                (row["rung"], row.get("variant") or None, *row["size"].values()): row["time_ms"]["median"]
                for row in results["rows"]
                if row.get("time_ms")
            }
            alone = {(row["rung"], row["variant"], *row["size"]): row["alone_ms"] for row in shown["rows"]}
            with self.subTest(file.parents[1].name, gpu=file.stem):
                self.assertEqual(self.above(times, alone), {})
                slower = {key: {what: 100 * ms for what, ms in of.items()} for key, of in alone.items()}
                self.assertTrue(self.above(times, slower))


class Figures(unittest.TestCase):
    """Each figure that holds for the problems alone is as low as recorded times allow, or nearly."""

    def above(self, number, **figures):
        (chapter,) = [one for one in chapters.all_chapters() if one.number == number]
        gpu = dataclasses.replace(bounds.gpu("H200"), **figures)
        rows, _ = bounds_at_size.table(chapter, [], {"h200": gpu})
        return [row for row in rows if row[5] and row[5][0].seconds > row[4]]

    def test_a_lower_one_is_found(self):
        for number, lower in (
            ("17", {"tensor": 1500}),
            ("18", {"dram_reads": 0.86}),
            ("18", {"dram_writes": 0.73}),
            ("19", {"host_gb_s": 55}),
            ("19", {"launch_us": 1.0}),
            ("20", {"peer_gb_s": 385}),
        ):
            with self.subTest(number, **lower):
                self.assertEqual(self.above(number), [])
                self.assertTrue(self.above(number, **lower))


class LastRungs(unittest.TestCase):
    ROWS = list(last_rungs.rows())

    def lacking(self, reasons):
        far = [(one.chapter, one.rung) for one in self.ROWS if one.share < last_rungs.CLOSE]
        return [one for one in far if one not in reasons]

    def test_each_chapter_has_some(self):
        self.assertEqual({one.chapter for one in self.ROWS}, {one.number for one in chapters.all_chapters()})

    def test_each_is_recorded_and_has_a_bound(self):
        known = {(one.chapter, one.rung) for one in self.ROWS if one.gpu == "h200"}
        self.assertEqual({(number, rung) for number, rungs in last_rungs.LAST.items() for rung in rungs} - known, set())

    def test_a_bound_far_below_the_time_has_a_reason(self):
        self.assertEqual(self.lacking(last_rungs.REASONS), [])
        self.assertTrue(self.lacking({}))

    def test_a_reason_is_one_of_a_last_rung(self):
        listed = {(number, rung) for number, rungs in last_rungs.LAST.items() for rung in rungs}
        self.assertEqual(set(last_rungs.REASONS) - listed, set())

    def test_none_is_above_the_time(self):
        self.assertEqual([one for one in self.ROWS if one.share > 1], [])

    def test_the_list_has_a_line_for_each(self):
        lines = last_rungs.as_table().split("\n")
        self.assertEqual(len(lines), 2 + len(self.ROWS))
        self.assertRegex(lines[2], r"^\| 01 \| `add_guarded` \| H200 \| .* \| DRAM \|")
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            self.assertEqual(bounds_at_size.main(["--list"]), 0)
        self.assertEqual(shown.getvalue().split("\n")[:-1], lines)


class Sizes(unittest.TestCase):
    def test_a_chapter_without_sizes_is_named(self):
        for words in (["--write", "21"], ["nope"]):
            with self.assertRaisesRegex(UsageError, f"nothing of a chapter '{words[-1]}'.* 01, 02,"):
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
