"""Every number that a chapter binds is what its expression says, every time and rate is bound, and every prediction has its answer."""

import json
import unittest

import small

from warp.chapter import bindings, limits, predictions, run, source
from warp.chapter.results import as_text

NEEDS = ["chapters"]


class Numbers(unittest.TestCase):
    def test_every_chapter(self):
        chapters = source.find_chapters(small.ROOT / "chapters")
        for main in chapters:
            with self.subTest(main.parent.name):
                outcomes = bindings.check_chapter(main, run.build_folder())
                if outcomes is None:
                    self.skipTest("not yet bound")
                wrong = [str(outcome) for outcome in outcomes if outcome.word == bindings.WRONG]
                self.assertEqual(wrong, [], "\n" + "\n".join(wrong))
                pending = [outcome for outcome in outcomes if outcome.word == bindings.PENDING]
                if pending:
                    self.skipTest(f"{len(pending)} of {len(outcomes)} numbers are not recorded yet; first {pending[0]}")


class Predictions(unittest.TestCase):
    """The chapters themselves: each prediction has its answer from a run, none is given away, none is too long."""

    def test_every_chapter(self):
        for main in source.find_chapters(small.ROOT / "chapters"):
            with self.subTest(main.parent.name):
                if not predictions.collect(main):
                    self.skipTest("not yet in the form with predictions")
                wrong, pending, _ = predictions.check_chapter(main, run.build_folder())
                wrong += limits.check_chapter(main)[0]
                self.assertEqual(wrong, [], "\n" + "\n".join(wrong))
                if pending:
                    self.skipTest(f"{len(pending)} answers are not recorded yet; first {pending[0]}")


class Files(unittest.TestCase):
    def test_the_form(self):
        data = {
            "device": "\u00fc",
            "limits": {"copy": 4232.0, "fma": 1},
            "none": {},
            "rows": [{"n": [1, 2]}, {"n": {"m": 3}}],
        }
        lines = """\
{
 "device": "\u00fc",
 "limits": {
  "copy": 4232.0,
  "fma": 1
 },
 "none": {},
 "rows": [
  {"n": [1, 2]},
  {"n": {"m": 3}}
 ]
}
"""
        self.assertEqual(as_text(data), lines)
        self.assertEqual(json.loads(lines), data)

    def test_recorded_files_have_a_row_a_line(self):
        files = [file for file in small.ROOT.glob("chapters/*/results/*.json") if file.name != "differences.json"]
        self.assertGreater(len(files), 24)
        for file in files:
            with self.subTest(str(file.relative_to(small.ROOT))):
                text = file.read_text(encoding="utf-8")
                self.assertTrue(text == as_text(json.loads(text)), "learn record writes it in another form")
