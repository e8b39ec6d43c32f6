"""What the simulator records of a block, step by step: all of it, in order, and what the course reads in it."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import small  # noqa: F401  (the path)

from warp.base import records
from warp.chapter import recording, results, run
from warp.trace.model import Trace

NEEDS = ["chapters"]

HALF = 0x55555555


def step(what, warp=0, line=1, lanes=1, **more):
    return {"what": what, "warp": warp, "line": line, "lanes": lanes, **more}


def shared(what, warp, *words, line=1):
    return step(what, warp, line, (1 << len(words)) - 1, space="shared", addresses=[4 * word for word in words])


class Reading(unittest.TestCase):
    def test_steps_alike_in_a_row_are_one(self):
        made = recording.parse("k", [step("enter"), step("enter"), step("enter", lanes=3), step("enter")])
        self.assertEqual([(one.lanes, one.times) for one in made.steps], [(1, 2), (3, 1), (1, 1)])

    def test_an_access_says_more_than_the_block_that_it_begins(self):
        load = step("load", space="global", sectors=4, addresses=[0])
        self.assertEqual([one.what for one in recording.parse("k", [step("enter"), load]).steps], ["load"])
        self.assertEqual(
            [one.what for one in recording.parse("k", [step("enter", line=2), load]).steps], ["enter", "load"]
        )
        self.assertEqual(
            [one.what for one in recording.parse("k", [step("enter", line=2), load], False).steps], ["load"]
        )

    def test_a_barrier_begins_an_interval(self):
        made = recording.parse("k", [step("enter"), {"what": "meet", "line": 7}, step("enter")])
        self.assertEqual(([one.interval for one in made.steps], made.barriers), ([0, 1], [7]))

    def test_races(self):
        """Two warps, one of which stores, and the same word: a race unless a barrier stands between."""
        barrier = {"what": "meet", "line": 7}
        cases = {
            "a load and a store": ([shared("load", 0, 5), shared("store", 1, 5)], [True, True]),
            "two loads": ([shared("load", 0, 5), shared("load", 1, 5)], [False, False]),
            "one warp": ([shared("load", 0, 5), shared("store", 0, 5)], [False, False]),
            "other words": ([shared("load", 0, 5), shared("store", 1, 6)], [False, False]),
            "a barrier": ([shared("load", 0, 5), barrier, shared("store", 1, 5)], [False, False]),
        }
        for name, (steps, races) in cases.items():
            with self.subTest(name):
                self.assertEqual([one.races for one in recording.parse("k", steps).steps], races)


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def chapter(self, name):
        """A chapter's run, as far as recordings need one."""
        made = results.Results("simulator", "", "", "", "", "", {}, [])
        made.program, made.work = (
            run.program_of(run.ROOT / "chapters" / name / f"{name[3:]}.cu", run.build_folder()),
            self.folder,
        )
        if not made.program.exists():
            self.fail(f"{made.program} is not built")
        return made

    def test_nothing_is_missing(self):
        """The requests that are recorded of a launch of one block are those that are counted, line by line, and recording
        changes no count."""
        program = self.chapter("07_reductions").program
        counts = []
        for most in ("100000", "0"):
            trace = self.folder / "trace.json"
            command = [str(program), "--rung", "interleaved_strided", "--size", "256"]
            environment = dict(os.environ, SIMT_JSON=str(trace), SIMT_RECORD=most)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
            written = json.loads(trace.read_text(encoding="utf-8"))
            self.assertEqual(len(records.read(Trace, written, strict=True).launches), 1)
            (launch,) = written["launches"]
            counts.append(launch["counts"])
            steps = launch.get("recording", [])
            for line in launch["lines"] if steps else ():
                for what in ("load", "store"):
                    for space, cost in (("global", "sectors"), ("shared", "wavefronts")):
                        of = [s for s in steps if (s["what"], s.get("space"), s["line"]) == (what, space, line["line"])]
                        self.assertEqual(len(of), line["counts"][f"{space}_{what}_requests"], line)
                        self.assertEqual(sum(s[cost] for s in of), line["counts"][f"{space}_{what}_{cost}"], line)
                        lanes = sum(bin(s["lanes"]).count("1") for s in of)
                        self.assertEqual(lanes, line["counts"][f"{space}_{what}_active_lanes"], line)
        self.assertEqual(counts[0], counts[1])
        self.assertNotIn("recording", launch)

    def test_divergence(self):
        chapter = self.chapter("01_thread_indexing")
        within = recording.recorded(chapter, "diverge_within_warps", "--size", "64")
        loads = [one.lanes for one in within.steps if one.what == "load" and one.warp == 0]
        self.assertEqual(loads, [HALF, HALF << 1])
        loops = [one.lanes for one in within.steps if one.times > 60 and one.warp == 0]
        self.assertEqual(loops, [HALF, HALF << 1])
        between = recording.recorded(chapter, "diverge_between_warps", "--size", "64")
        self.assertEqual({one.lanes for one in between.steps if one.warp < 2}, {2**32 - 1})

    def test_the_race_without_the_second_barrier(self):
        chapter = self.chapter("03_shared_tiling")
        right = recording.recorded(chapter, "shared_tiles", "--size", "32,32,64", launch=1, blocks=False)
        self.assertEqual((len(right.barriers), any(one.races for one in right.steps)), (4, False))
        wrong = recording.recorded(chapter, "no_second_barrier", blocks=False)
        self.assertEqual({one.interval for one in wrong.steps if one.races}, {1})

    def test_lines_that_an_edit_of_prose_has_moved(self):
        chapter = self.chapter("01_thread_indexing")
        arguments = ("diverge_within_warps", "--size", "64")
        before = recording.recorded(chapter, *arguments).steps
        chapter.moves = {"thread_indexing.cu": {one.line: one.line + 3 for one in before}}
        after = recording.recorded(chapter, *arguments).steps
        self.assertEqual([one.line for one in after], [one.line + 3 for one in before])

    def test_a_rung_without_a_kernel(self):
        with self.assertRaisesRegex(results.ResultsError, "no recording of launch 0 of on_cpu"):
            recording.recorded(self.chapter("07_reductions"), "on_cpu", "--size", "64")
