"""The exercises on the site: what the learner may see, and what stays behind a click."""

import re
import unittest

import sample

from warp.chapter import header, source
from warp.exercise import exercises as course
from warp.site import exercises_page, way

FOLDER = "01_thread_indexing"


class Exercises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.staged = {}
        cls.exercises = [e for e in course.all_exercises(sample.ROOT) if e.chapter == FOLDER]
        cls.section = exercises_page.stage(cls.staged.__setitem__, cls.exercises)

    def test_every_exercise_has_a_card_at_the_end_of_its_chapter(self):
        self.assertTrue(self.exercises)
        places = [self.section.index(f"(/exercises/{FOLDER}/{exercise.name}.md)") for exercise in self.exercises]
        self.assertEqual(places, sorted(places))
        self.assertEqual(self.section.count("{container} card\n"), len(self.exercises))
        self.assertNotIn("{dropdown}", self.section)

    def test_hints_stand_one_behind_the_other_and_the_solution_behind_them(self):
        page = self.staged[f"exercises/{FOLDER}/first_index.md"]
        code = "const int i = blockIdx.x * blockDim.x + threadIdx.x;"
        self.assertNotIn(code, self.section)
        places = [page.index(part) for part in ("./learn check first_index", "Hint 1 of", "Hint 2 of", "{dropdown} The solution", code)]  # fmt: skip
        self.assertEqual(places, sorted(places))
        self.assertIn("orphan: true", page)
        self.assertEqual(len(self.staged), len(self.exercises))
        nested = exercises_page.hints(["one", "two", "three"])
        begins = [re.search(rf"^(:+)\{{dropdown\}} Hint {n} of 3$", nested, re.M)[1] for n in (1, 2, 3)]
        self.assertEqual(begins, [":::::", "::::", ":::"])
        self.assertTrue(nested.endswith(":::\n\n::::\n\n:::::"))

    def test_an_exercise_stands_at_the_section_that_it_trains(self):
        one = self.exercises[0]
        road = ["## 1. A", "", "text", "### 1.1 B", "## 2. C", "", "more", "## What to remember"]
        exercises_page.trained([one], road, "01_x")
        at = 4 if one.section == "1" else 7
        self.assertIn(f"Try it: [{one.title}](/exercises/{one.key}.md) ({one.kind}, {one.minutes} min)", road[at])
        with self.assertRaisesRegex(course.ExerciseError, f"{one.key}.md: 01_x has no section {one.section}"):
            exercises_page.trained([one], ["## 9. A"], "01_x")

    def test_every_exercise_of_a_chapter_with_sections_names_one(self):
        for exercise in course.all_exercises(sample.ROOT):
            if int(exercise.number) <= 12:
                self.assertRegex(exercise.section, r"\d", exercise.key)

    def test_listings_have_the_lines_of_the_file(self):
        for exercise in self.exercises:
            block = exercises_page.code_of(exercise.blank)
            first = int(re.search(r":lineno-start: (\d+)", block)[1])
            line = block.split("\n\n", 1)[1].split("\n")[0]
            self.assertEqual(exercise.blank.split("\n")[first - 1], line)

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
