"""Chapter 20, run as a reader runs it: any number of GPUs, sizes that divide into nothing, and kernels with a mistake."""

import json
import pathlib
import tempfile
import unittest

from chapter import Chapter, notice, only, seconds_of_children

from warp.explain import order
from warp.trace import trace

CHAPTER = Chapter("20_many_gpus")
NEED_TWO = {"closed", "missing_wait", "early_read"}
NEED_CUBLAS = {"product_cublas"}
LONGEST = 30  # seconds of a CPU, for all rungs on any number of devices


def devices(count):
    return {"SIMT_DEVICES": str(count)}


class Devices(unittest.TestCase):
    def test_any_number_of_them_in_half_a_minute(self):
        for count in (1, 2, 3, 4, 8):
            with self.subTest(devices=count):
                before = seconds_of_children()
                run = CHAPTER.right(environment=devices(count))
                self.assertLess(seconds_of_children() - before, LONGEST)
                skipped = {row["rung"] for row in run.rows if row["status"] == "SKIP"}
                self.assertEqual(skipped, NEED_CUBLAS | (NEED_TWO if count == 1 else set()), run.explain())
                used = {row["variant"] for row in run.rows if row["rung"] == "jacobi_flags"}
                self.assertEqual(used, {"gpus=1", f"gpus={count}"}, run.explain())

    def test_no_more_than_the_kernels_are_made_for(self):
        run = CHAPTER.right("--size", "17", *only("jacobi_flags"), environment=devices(9))
        self.assertIn("gpus=8", {row["variant"] for row in run.rows})


class Order(unittest.TestCase):
    def chart(self, rung):
        """Of the steps on two devices, as wide as in the text."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            CHAPTER.right(*only(rung), environment={**devices(2), "SIMT_JSON": str(file)})
            rounds = trace.of_json(json.loads(file.read_text(encoding="utf-8"))).rounds
        return next(one for one in order.charts(rounds) if len({work.device for work in one.work}) == 2)

    def test_the_chart_of_the_text_is_that_of_the_simulator(self):
        drawn = self.chart("jacobi_overlap")
        shown = CHAPTER.source.read_text(encoding="utf-8").split("// ```text\n")[1].split("// ```")[0]
        self.assertEqual(shown, "".join(f"// {line}\n" for line in order.lines(drawn, 60)))
        self.assertEqual(max(drawn.steps), 3 * 10)
        self.assertEqual(max(self.chart("jacobi_copies").steps), 2 * 10)


class Sizes(unittest.TestCase):
    def test_rows_that_do_not_divide_and_several_blocks(self):
        # Where each thread waits for one of another device, a program that is not traced runs a thread until its time is over.
        others = [rung for rung in CHAPTER.rungs if rung != "tagged_shot"]
        for size in ("1", "3", "5", "17", "300"):
            with self.subTest(size=size):
                CHAPTER.right("--size", size, *only(*others), environment=devices(3), fast=True)
                CHAPTER.right("--size", size, *only("tagged_shot"), environment=devices(3))

    def test_a_size_that_is_too_large_is_refused(self):
        CHAPTER.refused("--size", "32769", says="from 1 to 32768")


# (rung, text, what it becomes): each gives a wrong result.
MUTANTS = [
    ("peer_store", "out[i] = in[i];\n}\n\n// The two kernels", "out[i] = in[i / 2];\n}\n\n// The two kernels"),
    ("jacobi_copies", "relax_rows(grid, s, g, 0, grid.rows(g), streams[g]);", "relax_rows(grid, s, g, 0, grid.rows(g) - 1, streams[g]);"),
    ("jacobi_overlap", "relax_rows(grid, s, g, 1, last, interior);", "relax_rows(grid, s, g, 1, last - 1, interior);"),
    ("jacobi_flags", "if (r == 0 && above.halo) *reinterpret_cast", "if (r == 1 && above.halo) *reinterpret_cast"),
    ("jacobi_stays", "if (r == 0 && above) *reinterpret_cast", "if (r == 1 && above) *reinterpret_cast"),
    ("one_shot", "out[i] = sum_at(in, gpus, i);", "out[i] = sum_at(in, gpus - 1, i);"),
    ("ring_sums", "const bool adds = step < gpus - 1;", "const bool adds = step < gpus;"),
    ("two_shots", "if (g < gpus) out.of[g][i] = sum;", "if (g == me) out.of[g][i] = sum;"),
    ("product", "const int p = (g + s) % gpus, e = s % 2;", "const int p = (g + 1) % gpus, e = s % 2;"),
]  # fmt: skip
TAGGED = ("tagged_shot", "sum += __uint_as_float(static_cast<unsigned>(word));", "sum += __uint_as_float(static_cast<unsigned>(mine));")  # fmt: skip
# What no result shows on the simulator, which runs what it can in the order of the launches: as above.
UNORDERED = [
    ("jacobi_copies", "relax_rows(grid, s, g, 0, grid.rows(g), streams[g]);", "relax_rows(grid, s, g, 0, grid.rows(g), nullptr);"),
    ("jacobi_overlap", "CUDA_CHECK(cudaStreamWaitEvent(edges, grid.inner[g]));", ""),
    ("jacobi_overlap", "CUDA_CHECK(cudaStreamWaitEvent(interior, grid.sent[g]));", ""),
    ("jacobi_flags", "if (is_first) await(above.mine, steps * gridDim.x);", ""),
    ("ring_sums", "CUDA_CHECK(cudaStreamWaitEvent(streams[g], stepped[other]));", "static_cast<void>(other);"),
    ("ring_sums", "(step > 0 || again)", "step > 0"),
    ("product", "CUDA_CHECK(cudaStreamWaitEvent(products, all.full[e][g]));", ""),
    ("product", "if (s > 2) CUDA_CHECK(cudaStreamWaitEvent(copies, all.empty[e][g]));", ""),
]  # fmt: skip


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, [(*mutant, mutant[0]) for mutant in MUTANTS], at_once=True)

    def test_what_has_no_order_is_told(self):
        mutants = [(*mutant, mutant[0], "stream-race") for mutant in UNORDERED] + [(*TAGGED, TAGGED[0], "are wrong")]
        notice(self, CHAPTER, mutants, traced=True, at_once=True)
