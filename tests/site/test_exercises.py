"""The exercises on the site: what the learner may see, and what stays behind a click."""

import re
import unittest

import sample

import exercises_page
import way

from warp.chapter import header, source
from warp.exercise import exercises as course

FOLDER = "01_thread_indexing"


class Exercises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.staged = {}
        cls.exercises = [e for e in course.all_exercises(sample.ROOT) if e.chapter == FOLDER]
        cls.section = exercises_page.stage(cls.staged.__setitem__, cls.exercises)

    def test_every_exercise_stands_at_the_end_of_its_chapter(self):
        self.assertTrue(self.exercises)
        places = [self.section.index(f"`{exercise.name}`: {exercise.kind}") for exercise in self.exercises]
        self.assertEqual(places, sorted(places))
        self.assertEqual(
            sum(f"{{dropdown}} Hint {n}" in line for line in self.section.split("\n") for n in range(1, 10)),
            sum(len(exercise.hints) for exercise in self.exercises),
        )

    def test_the_solution_is_on_a_page_of_its_own(self):
        self.assertNotIn("blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y", self.section)
        page = self.staged[f"exercises/{FOLDER}/first_index.md"]
        self.assertIn("const int i = blockIdx.x * blockDim.x + threadIdx.x;", page)
        self.assertIn("orphan: true", page)
        self.assertEqual(len(self.staged), len(self.exercises))
        for exercise in self.exercises:
            self.assertIn(f"(/exercises/{FOLDER}/{exercise.name}.md)", self.section)

    def test_listings_have_the_lines_of_the_file(self):
        for exercise in self.exercises:
            block = exercises_page.code_of(exercise.source)
            first = int(re.search(r":lineno-start: (\d+)", block)[1])
            line = block.split("\n\n", 1)[1].split("\n")[0]
            self.assertEqual(exercise.source.read_text(encoding="utf-8").split("\n")[first - 1], line)

    def test_a_chapter_without_exercises(self):
        self.assertEqual(exercises_page.stage(self.staged.__setitem__, []), "")

    def test_nothing_closes_a_fold_early(self):
        self.assertTrue(exercises_page.dropdown("x", ":::{note}\na\n:::").startswith("::::{dropdown}"))


class Way(unittest.TestCase):
    """How long a chapter takes, and what comes next, as its page says it."""

    @classmethod
    def setUpClass(cls):
        cls.headers = [header.read(main) for main in source.find_chapters(sample.ROOT / "chapters")]
        cls.exercises = {one.folder: course.all_exercises(sample.ROOT, one.folder) for one in cls.headers}

    def end(self, number):
        (one,) = [one for one in self.headers if one.number == number]
        return way.end(one, self.headers)

    def test_what_comes_next(self):
        both = "Next: [04 Register tiling](/chapters/04_register_tiling.md); on the short path [06 Transpose]("
        self.assertIn(both, self.end("03"))
        self.assertIn("You can now stage tiles in shared memory", self.end("03"))
        self.assertIn("Next: [02 Naive GEMM](/chapters/02_naive_gemm.md).", self.end("01"))
        self.assertIn("This is the end of the short path.", self.end("07"))
        self.assertNotIn("short path", self.end("04"))
        self.assertNotIn("Next:", self.end(self.headers[-1].number))

    def test_how_long_it_takes(self):
        one = self.headers[0]
        minutes = sum(e.minutes for e in self.exercises[one.folder])
        few = sum(e.minutes for e in self.exercises[one.folder] if e.on_short_path)
        self.assertGreater(minutes, few)
        said = way.facts(one, self.exercises[one.folder])
        self.assertIn(f"About {way.hours(one.minutes)} to read, and {way.hours(minutes)} for its exercises", said)
        self.assertIn(f", {few} of them on the short path.", said)
        self.assertIn("Not on the short path.", way.facts(self.headers[3], []))
        (said, _) = way.paths(self.headers, self.exercises)
        self.assertIn("chapters 01, 02, 03, 06, 07 and those", said)
        self.assertEqual(way.paths([], {}), [])
        self.assertEqual([way.hours(n) for n in (45, 60, 75)], ["45 min", "1 h", "1 h 15 min"])


if __name__ == "__main__":
    unittest.main()
