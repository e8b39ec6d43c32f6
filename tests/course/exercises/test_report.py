"""What a failed check says, from what the grader noted."""

import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from warp.base import records  # noqa: E402
from warp.base.ui import Palette  # noqa: E402
from warp.exercise import checking, outcomes, report  # noqa: E402

FILE = "/course/my/03_tiles/second_barrier.cu"
RACE = (
    "write at my/03_tiles/second_barrier.cu:23 in product, block (0,0,0), thread (0,0,0) races with the read at "
    "my/03_tiles/second_barrier.cu:26 by thread (15,0,0) of the same block: nothing orders the two. Usual cause: a "
    "missing __syncthreads(), or within a warp __syncwarp()."
)
WRONG = {"kind": "wrong-result", "case": "n = 2", "place": "y[1]", "expected": "2", "got": "7", "wrong": 1, "of": 2}
WRONG["message"] = "y[1]: expected 2, got 7"


def finding(kind, line, message):
    return {"kind": kind, "case": "n = 2", "file": FILE, "line": line, "message": message}


class Report(unittest.TestCase):
    def said(self, *failures, bars=(), predictions=(), tries=1, hints=0):
        result = checking.Outcome()
        result.predictions = [records.read(outcomes.Guess, one) for one in predictions]
        result.failures = [records.read(outcomes.Failure, one) for one in failures]
        result.bars = [records.read(outcomes.Bar, one) for one in bars]
        result.cases = ["n = 1", "n = 2"]
        exercise = SimpleNamespace(name="alpha", hints=["a", "b", "c"])
        record = SimpleNamespace(tries=tries, hints=hints)
        lines = report.outcome(exercise, FILE, result, {}, Palette(False))
        return "\n".join(lines + report.next_step(exercise, result, record))

    def test_a_second_finding_of_a_kind_is_a_line(self):
        said = self.said(finding("shared-race", 23, RACE), finding("shared-race", 24, RACE))
        self.assertEqual(" ".join(said.split()).count("races with the read in line 26 by thread (15,0,0)"), 1)
        self.assertIn("and in line 24", said)
        self.assertNotIn("Usual cause", said)
        self.assertIn("Next: two threads touch the same word", said)

    def test_what_follows_from_a_finding_is_not_said(self):
        outside = finding(
            "out-of-bounds", 16, "read of 4 bytes at a.cu:16 in add: just past the end. Usual cause: no guard."
        )
        self.assertNotIn("y[1]", self.said(outside, WRONG))
        self.assertIn("y[1] is wrong", self.said(finding("shared-race", 23, RACE), WRONG))

    def test_a_wrong_element_has_its_inputs(self):
        self.assertIn("inputs    x[1] = 1, r[1] = 0.5", self.said({**WRONG, "inputs": "x[1] = 1, r[1] = 0.5"}))
        self.assertNotIn("inputs", self.said(WRONG))

    def test_a_kind_without_a_question_has_its_usual_cause(self):
        said = self.said(finding("new-kind", 3, "something. Usual cause: a {brace} too many."))
        self.assertIn("Next: usual cause: a {brace} too many.", said)

    def test_an_empty_grid(self):
        said = self.said(
            finding(
                "api-error",
                23,
                "the launch of add at a.cu:23 failed and did nothing: a grid of (0,1,1) blocks holds no thread. Its "
                "error is cudaErrorInvalidValue (invalid argument), and the program never asked for it: the results "
                "are missing.",
            ),
            WRONG,
        )
        self.assertIn("the launch of add failed and did nothing", said)
        self.assertNotIn("never asked", said)
        self.assertIn("how many blocks does n = 2 need", said)

    def test_an_element_that_nobody_wrote(self):
        said = self.said(dict(WRONG, unwritten=1))
        self.assertIn("got       7, as before: no thread wrote it", said)
        self.assertIn("which thread should write y[1]", said)
        self.assertIn("got       NaN", self.said(dict(WRONG, got="-nan")))

    def test_an_element_made_of_what_nobody_has_set(self):
        said = self.said(dict(WRONG, unset=1))
        self.assertIn("got       7, which is made of an element that nobody has set", said)
        self.assertIn("which element does the thread that writes y[1] read before anyone has set it?", said)

    def test_each_kind_of_bar_has_its_question(self):
        for name, words in (
            ("sectors per load request", "which addresses"),
            ("global load requests", "how often"),
            ("bank conflicts", "in which banks"),
            ("wavefronts per shared store request", "in which banks"),
            ("divergent branches", "which lanes of one warp"),
            ("active lanes per load request", "nothing to do"),
        ):
            bar = {"name": name, "case": "n = 2", "is": 8, "relation": "at most", "bar": 4, "holds": 0}
            self.assertIn(words, self.said(bars=[dict(bar, file=FILE, line=7, at_line=8)]))
            self.assertIn("look at the launch", self.said(bars=[bar]))

    def test_each_kind_of_prediction_has_its_question(self):
        seen = set()
        for name, hint, words in (
            ("float4", "too low", "what does one warp do there? And does your number leave out"),
            ("float4", "too high", "what several lanes share"),
            ("store sectors along rows", "too low", "which sectors of 32 bytes"),
            ("load requests", "too low", "how many warps?"),
            ("stride 32", "too low", "one bank"),
            ("waves, 4096", "too high", "run at the same time"),
            ("steps near", "too low", "halved or doubled"),
        ):
            guess = {"question": name, "guess": 7, "answered": 1, "holds": 0, "hint": hint}
            asked = self.said(predictions=[guess])
            self.assertIn(f"'{name}': ", asked)
            self.assertIn(words, asked)
            seen.add(asked)
        self.assertEqual(len(seen), 7)

    def test_the_lines_that_share_a_bar(self):
        bar = {
            "name": "shared load requests",
            "case": "n = 2",
            "is": 8,
            "relation": "at most",
            "bar": 4,
            "holds": 0,
        }
        others = [{"file": FILE, "line": line, "at_line": 2} for line in (9, 11, 13)]
        said = self.said(bars=[dict(bar, file=FILE, line=7, at_line=4, others=others)])
        self.assertIn("how often does a warp come to lines 7, 9 and 11, and", said)
        self.assertIn(":11  2", said)
        self.assertNotIn(":13", said)

    def test_the_element_of_a_byte(self):
        said = report.first_sentences(
            "read of 4 bytes in f: nobody has written there, tile in shared memory, byte 1020."
        )
        self.assertIn("byte 1020 (element 255 of 4 bytes).", said)
        said = report.first_sentences("read of 8 bytes in f: nobody has written there, tile in shared memory, byte 12.")
        self.assertIn("byte 12.", said)

    def test_a_name_that_is_gone(self):
        failure = {
            "kind": "interface",
            "message": "the check uses place, which your file no longer has",
            "name": "place",
        }
        self.assertIn("Next: give place its name back", self.said(failure))

    def test_answers_that_need_no_run(self):
        result = checking.Outcome()
        self.assertEqual(report.facts(result), "(not run)")
        result.predictions = [outcomes.Guess("warps", 1, 8, 1)] * 2
        self.assertEqual(report.facts(result), "(2 answers)")

    def test_a_value_of_the_host(self):
        said = self.said({**WRONG, "place": "the kind of the memory", "host": 1})
        self.assertIn("Next: which line of your host code decides about the kind of the memory, and when", said)

    def test_memory_that_another_call_gives_back(self):
        for message in (
            "free() of the 512-byte allocation made by cudaMallocHost: to free it takes cudaFreeHost.",
            "cudaFree failed and did nothing: to free the 512-byte allocation takes cudaFreeHost.",
        ):
            said = self.said(finding("api-error", 3, message))
            self.assertIn("Next: which call has made that memory, and which one gives it back?", said)

    def test_an_element_that_several_have_written(self):
        writer = "block (0,0,0), thread (29,0,0), line 23"
        self.assertIn("Next: compute by hand", self.said({**WRONG, "writer": writer}))
        said = self.said({**WRONG, "writer": writer + ", the last of 4 writes"})
        self.assertIn("Next: which threads write y[1], and how often should it be written?", said)

    def test_help_comes_beside_the_question(self):
        self.assertNotIn("Help:", self.said(WRONG))
        said = self.said(WRONG, tries=2)
        self.assertIn("Next: compute by hand", said)
        self.assertIn("Help: ./learn hint alpha shows hint 1 of 3.", said)
        self.assertIn("Help: ./learn solution alpha --anyway", self.said(WRONG, tries=3, hints=3))
