"""Chapter 19, run as a reader runs it: any size, what depends on order alone, and kernels with a mistake."""

import json
import pathlib
import tempfile
import unittest

from chapter import Chapter, notice, only, seconds_of_children

from warp.chapter import results
from warp.explain import order
from warp.trace import trace

CHAPTER = Chapter("19_transfers")


class Sizes(unittest.TestCase):
    def test_sizes_around_pieces_and_blocks(self):
        # One element, fewer than pieces, no multiple of a warp, three buffers of the ring and a rest.
        for size in ("1", "3", "63", "769", "4099", "65537"):
            with self.subTest(size=size):
                run = CHAPTER.right("--size", size, fast=True)
                skipped = {row["rung"] for row in run.rows if row["status"] == "SKIP"}
                # What looks for no mistake at full speed.
                self.assertLessEqual(skipped, {"missing_event", "too_early", "wrong_stream"}, run.explain())


class Time(unittest.TestCase):
    def test_the_chapter_takes_less_than_half_a_minute(self):
        before = seconds_of_children()
        run = CHAPTER.run()
        self.assertEqual(run.code, 0, run.explain())
        self.assertLess(seconds_of_children() - before, 30)


class Counts(unittest.TestCase):
    def test_zero_copy_reads_one_group_of_sixteen(self):
        run = CHAPTER.right("--size", "16384", *only("zero_copy"))
        part, whole = (run.row("zero_copy", f"part={part}")["counts"] for part in ("1 of 16", "all"))
        self.assertEqual(16 * part["global_load_sectors"], whole["global_load_sectors"])


class Timeline(unittest.TestCase):
    def test_it_has_each_part_of_each_piece_in_order(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "timeline.json"
            run = CHAPTER.run("--timeline", str(file), results=False)
            self.assertEqual(run.code, 0, run.explain())
            text = file.read_text(encoding="utf-8")
        rows = json.loads(text)["rows"]
        self.assertEqual(text, results.as_text(json.loads(text)))
        self.assertEqual(len(rows), 2 * 16 * 3)
        for way in ("in turn", "by part"):
            for piece in range(16):
                own = [row for row in rows if (row["order"], row["piece"]) == (way, piece)]
                self.assertEqual([row["part"] for row in own], ["in", "work", "out"])
                times = [row[key] for row in own for key in ("begin_ms", "end_ms")]
                self.assertEqual(times, sorted(times), own)

    def test_a_file_that_cannot_be_written_is_told(self):
        run = CHAPTER.run("--timeline", "/nowhere/timeline.json", results=False)
        self.assertEqual(run.code, 2)
        self.assertEqual(run.err, "--timeline /nowhere/timeline.json: cannot be written\n")


class Order(unittest.TestCase):
    def test_the_charts_of_the_text_are_those_of_the_simulator(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            run = CHAPTER.run(*only("staged"), environment={"SIMT_JSON": str(file)})
            self.assertEqual(run.code, 0, run.explain())
            rounds = trace.of_json(json.loads(file.read_text(encoding="utf-8"))).rounds
        drawn = {"\n".join("// " + line for line in order.lines(chart, 46)) for chart in order.charts(rounds)}
        text = CHAPTER.source.read_text(encoding="utf-8")
        shown = text.split("// ```text\n")[1].split("\n// ```")[0].split("\n//\n")
        self.assertEqual(len(shown), 2)
        for chart in shown:
            self.assertIn(chart, drawn)


# (rung, text, what it becomes): each gives a wrong result, or a finding where the simulator looks.
MUTANTS = [
    ("in_pieces", "end = n * (p + 1) / pieces;", "end = n * (p + 1) / pieces - (p == 0);"),
    ("by_hand", "count * sizeof(float)", "(count - 1) * sizeof(float)"),
    ("both_ways", "cudaMemcpyAsync(to, d_from, n * sizeof", "cudaMemcpyAsync(to, d_from, (n - 1) * sizeof"),
    ("zero_copy", "thread / 32 * 32 * stride + thread % 32", "thread / 32 * 32 * stride + thread % 31"),
    ("managed", "(out + first, pages + first, count,", "(out + first, pages, count,"),
    ("staged", "to + first, d_out + first, count", "to + first, d_out + first, count - 1"),
    ("one_word", "i < 1024; i += 32", "i < 1023; i += 32"),
    ("priority", "BLOCK, 0, other>>>(d_x, CHAINED)", "BLOCK, 0, other>>>(d_x, CHAINED - 1)"),
    ("host_function", "hop < HOPS", "hop < HOPS - 1"),
    ("summed", "first = done % n;", "first = done % n / 2;"),
    ("generated", "out[i] = random_at(static_cast<unsigned>(i));", "out[i] = random_at(static_cast<unsigned>(i / 2));"),
]
# What no result shows, on the simulator or on an idle machine, and what is told of it.
UNORDERED = [
    ("staged", "work<<<lab::tiles(count, BLOCK), BLOCK, 0, stream>>>", "work<<<lab::tiles(count, BLOCK), BLOCK, 0, streams[(p + 1) % 3]>>>", "stream-race"),
    ("summed", "CUDA_CHECK(cudaStreamWaitEvent(sums, ring.full[b]));", "", "stream-race"),
    ("by_hand", "CUDA_CHECK(cudaEventSynchronize(staging.empty[b]));", "", "host-access"),
]  # fmt: skip


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, [(*mutant, mutant[0]) for mutant in MUTANTS], "--size", "4099", at_once=True)

    def test_what_has_no_order_is_told(self):
        mutants = [(*mutant[:3], mutant[0], mutant[3]) for mutant in UNORDERED]
        notice(self, CHAPTER, mutants, "--size", "4099", traced=True, at_once=True)

    def test_parts_in_streams_of_their_own_need_their_events(self):
        mistakes = [
            ("staged_by_part", "CUDA_CHECK(cudaStreamWaitEvent(working, event));", "", "staged", "stream-race"),
            ("built", "s ? &nodes[s - 1] : nullptr, s ? 1 : 0,", "nullptr, 0,", "new_graph", "stream-race"),
        ]
        notice(self, CHAPTER, mistakes, "--size", "4099", traced=True)
