"""Files that only pretend to solve an exercise: none passes, and none does harm.

cheats/NAME.cu: its first line is `// EXERCISE: REASON`, what it is for and why it must fail. BLANK stands for the exercise's
own file.
"""

import ctypes
import functools
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import learner  # noqa: F401, for tools/ on the path

from warp.exercise import checking, outcomes, proofs
from warp.exercise import exercises as course

CHEATS = sorted((Path(__file__).parent / "cheats").glob("*.cu"))
KNOWN = {exercise.name: exercise for exercise in course.all_exercises(proofs.ROOT)}
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1)  # the version of the kernel's Landlock


class Cheats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        checking.prepare("simulator")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def check(self, exercise, text):
        blank = exercise.blank
        without = "\n".join(line for line in blank.splitlines() if not line.startswith("constexpr"))
        text = re.sub(r"^BLANK_WITHOUT_ANSWERS$", lambda _: without, text, flags=re.M)
        text = re.sub(r"^BLANK$", lambda _: blank, text, flags=re.M)
        return checking.check(exercise, self.write(f"my/{exercise.chapter}/{exercise.name}.cu", text))

    def test_each_of_them_fails_for_its_reason(self):
        self.assertGreaterEqual(len(CHEATS), 20)
        for file in CHEATS:
            with self.subTest(file.stem):
                text = file.read_text(encoding="utf-8")
                name, reason = re.match(r"// (\w+): (.+)", text).groups()
                outcome = self.check(KNOWN[name], text)
                self.assertFalse(outcome.passed)
                self.assertEqual(outcome.reasons()[0][0], reason, outcome.to_json())

    def test_the_grader_notes_what_is_read(self):
        """Strictly, where a reader leaves out what it does not know."""
        strict = functools.partial(outcomes.read_event, strict=True)
        with mock.patch("warp.exercise.outcomes.read_event", strict):
            for name in ("missing_guard", "count_sectors", "whole_program"):
                exercise = KNOWN[name]
                blank = self.check(exercise, exercise.blank)
                self.assertFalse(blank.passed)
                self.assertEqual(
                    [kind for kind, _ in blank.reasons() if kind in ("crash", "exit")], [], blank.to_json()
                )
                self.assertTrue(self.check(exercise, exercise.solution).passed)

    def test_an_honest_file_passes(self):
        for name in ("missing_guard", "count_sectors", "whole_program"):
            outcome = self.check(KNOWN[name], KNOWN[name].solution)
            self.assertTrue(outcome.passed, outcome.to_json())

    @unittest.skipIf(LANDLOCK < 1, "this kernel confines no process")
    def test_no_file_is_written(self):
        kept = {"exercises/01_first/check/one.cu": "// the checker\n", ".progress.json": "{}\n"}
        for name, text in kept.items():
            self.write(name, text)
        text = (Path(__file__).parent / "cheats" / "overwrites_the_checkers.cu").read_text(encoding="utf-8")
        self.check(KNOWN["missing_guard"], text)
        files = {str(file.relative_to(self.root)) for file in self.root.rglob("*") if file.is_file()}
        self.assertEqual(files, set(kept) | {"my/01_thread_indexing/missing_guard.cu"})
        for name, text in kept.items():
            self.assertEqual((self.root / name).read_text(encoding="utf-8"), text)
