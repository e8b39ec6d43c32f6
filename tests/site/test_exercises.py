"""The exercises on the site: what the learner may see, and what stays behind a click."""

import re
import unittest

import sample

import exercises_page

from course import exercises as course

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


if __name__ == "__main__":
    unittest.main()
