"""Chapter 19, run as a reader runs it: any size, what depends on order alone, and kernels with a mistake."""

import json
import pathlib
import tempfile
import unittest

from chapter import Chapter, notice, only

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
                # What looks for no mistake at full speed, and what needs a GPU.
                self.assertLessEqual(skipped, {"missing_event", "programmatic", "too_early"}, run.explain())


class Counts(unittest.TestCase):
    def test_zero_copy_reads_one_group_of_sixteen(self):
        run = CHAPTER.right("--size", "16384", *only("zero_copy"))
        part, whole = (run.row("zero_copy", f"part={part}")["counts"] for part in ("1 of 16", "all"))
        self.assertEqual(16 * part["global_load_sectors"], whole["global_load_sectors"])


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
        mistake = ("staged_by_part", "CUDA_CHECK(cudaStreamWaitEvent(working, event));", "", "staged", "stream-race")
        notice(self, CHAPTER, [mistake], "--size", "4099", traced=True)


if __name__ == "__main__":
    unittest.main()
