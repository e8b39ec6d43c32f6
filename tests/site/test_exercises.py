"""The exercises on the site: what the learner may see, and what stays behind a click."""

import unittest

import sample

from outline import outline

from warp.chapter import header, source
from warp.exercise import exercises as course
from warp.site import exercises_page, way
from warp.site.blocks import Text, written

FOLDER = "01_thread_indexing"


class Exercises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exercises = [e for e in course.all_exercises(sample.ROOT) if e.chapter == FOLDER]
        cls.section = outline(exercises_page.section(cls.exercises))

    def test_every_exercise_has_a_card_at_the_end_of_its_chapter(self):
        self.assertTrue(self.exercises)
        places = [self.section.index(f"(/exercises/{FOLDER}/{exercise.name}.cu)") for exercise in self.exercises]
        self.assertEqual(places, sorted(places))
        self.assertEqual(self.section.count("{box} card\n"), len(self.exercises))
        self.assertNotIn("{fold}", self.section)

    def test_hints_stand_one_behind_the_other_and_the_solution_behind_them(self):
        (one,) = [exercise for exercise in self.exercises if exercise.name == "first_index"]
        made = exercises_page.exercise_page(one)
        page = outline(made)
        code = "const int i = blockIdx.x * blockDim.x + threadIdx.x;"
        self.assertNotIn(code, self.section)
        places = [page.index(part) for part in ("./learn check first_index", "Hint 1 of", "Hint 2 of", "{fold} The solution", code)]  # fmt: skip
        self.assertEqual(places, sorted(places))
        self.assertTrue(made.is_beside)
        self.assertEqual(made.source, sample.ROOT / "exercises" / FOLDER / "first_index.cu")
        inside = exercises_page.hints(["one", "two", "three"], one.notes)
        for number, words in enumerate(("one", "two", "three"), start=1):
            (fold,) = inside
            said, *inside = fold.blocks
            self.assertEqual((fold.title, said.text), (f"Hint {number} of 3", words))
        self.assertEqual(inside, [])

    def test_an_exercise_stands_at_the_section_that_it_trains(self):
        one = self.exercises[0]
        words = ("## 1. A", "text", "### 1.1 B", "## 2. C", "more", "## What to remember")
        road = [Text(one) for one in words]
        exercises_page.trained([one], road, "01_x")
        at = 3 if one.section == "1" else 5
        self.assertIn(
            f"Try it: [{one.title}](/exercises/{one.key}.cu) ({one.kind}, {one.minutes} min)",
            outline(road[at : at + 1]),
        )
        with self.assertRaisesRegex(course.ExerciseError, f"{one.key}.md: 01_x has no section {one.section}"):
            exercises_page.trained([one], [Text("## 9. A")], "01_x")

    def test_every_exercise_of_a_chapter_with_sections_names_one(self):
        for exercise in course.all_exercises(sample.ROOT):
            if int(exercise.number) <= 12:
                self.assertRegex(exercise.section, r"\d", exercise.key)

    def test_listings_have_the_lines_of_the_file(self):
        for exercise in self.exercises:
            code = exercises_page.code_of(exercise.blank).code
            self.assertEqual(exercise.blank.split("\n")[code.line - 1], code.lines[0])

    def test_words_stand_where_their_lines_say(self):
        """In the comment of a source, and in the notes beside it."""
        for one in course.all_exercises(sample.ROOT):
            told = [
                (one.task, one.source),
                *((words, one.notes) for words in (*one.hints, one.explanation, one.alternatives)),
            ]
            for words, file in told:
                text = written(words, file)
                lines = file.read_text().split("\n")
                self.assertEqual(len(text.rows), text.text.count("\n") + 1)
                for row, line in ((text.rows[0], words.split("\n")[0]), (text.rows[-1], words.split("\n")[-1])):
                    self.assertIn(line.split("\u00a0")[-1].strip(), lines[row - 1], one.key)

    def test_a_chapter_without_exercises(self):
        self.assertEqual(exercises_page.section([]), [])


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
        both = "Next: [04 Register tiling](/chapters/04_register_tiling.cu); on the short path [06 Transpose]("
        self.assertIn(both, self.end("03"))
        self.assertIn("You can now stage tiles in shared memory", self.end("03"))
        self.assertIn("Next: [02 Naive GEMM](/chapters/02_naive_gemm.cu).", self.end("01"))
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
