"""One source for blank and solution: what its marks mean, and that no blank has what is the solution's."""

import re
import subprocess
import unittest

import learner

from warp.exercise import exercises as course
from warp.exercise import marks, proofs

NEEDS = []
TEXT = """\
// # Title

#ifdef SOLUTION
solved();
#else
blank();  // TODO
#endif
both();
#ifdef SOLUTION
solved_alone();
#endif
#ifndef SOLUTION
blank_alone();
#endif
"""


def of(text):
    return marks.blank_and_solution(text, lambda line, what: course.ExerciseError(f"{line}: {what}"))


def preprocessed(texts, *options):
    """The same texts as g++ leaves them, which knows nothing of the course. They are put together, for it starts but once."""
    between = "// text of an exercise"
    whole = "".join(f"{between}\n{text}" for text in texts).replace("\n#include", "\n//#include")
    command = ["g++", "-x", "c++", "-E", "-P", "-fdirectives-only", *options, "-"]
    done = subprocess.run(command, input=whole, capture_output=True, text=True, check=True)
    return [part.replace("\n//#include", "\n#include") for part in done.stdout.split(between + "\n")[1:]]


def lines(text):
    return [line for line in text.split("\n") if line.strip()]


def given_away(source, blank):
    """Lines of a blank that stand nowhere in its source but in the parts for the solution."""
    elsewhere = re.sub(r"^#ifdef SOLUTION\n.*?(?=^#(?:else|endif)$)", "", source, flags=re.M | re.S)
    return [line for line in lines(blank) if line not in elsewhere.split("\n")]


class Marks(unittest.TestCase):
    def test_the_two_texts(self):
        blank, solution = of(TEXT)
        self.assertEqual(blank, "// # Title\n\nblank();  // TODO\nboth();\nblank_alone();\n")
        self.assertEqual(solution, "// # Title\n\nsolved();\nboth();\nsolved_alone();\n")
        self.assertEqual(of("no mark\nand no end of the line"), ("no mark\nand no end of the line",) * 2)

    def test_what_is_refused(self):
        for text, said in (
            ("a\n#ifdef SOLUTION\nb\n", "2: the mark that begins here has no '#endif'"),
            ("#ifdef SOLUTION\na\n#else\nb\n", "1: the mark that begins here has no '#endif'"),
            ("#ifdef SOLUTION\n#ifndef SOLUTION\n#endif\n#endif\n", "2: '#ifndef SOLUTION' within the one of line 1"),
            ("#ifdef SOLUTION\n#else\n#else\n#endif\n", "3: a second '#else' for the mark of line 1"),
            ("a\n#endif\n", "2: '#endif' without '#ifdef SOLUTION' above it"),
            ("#else\n", "1: '#else' without '#ifdef SOLUTION' above it"),
            ("  #ifdef SOLUTION\n", "1: '#ifdef SOLUTION': legal are"),
            ("#ifdef SOLUTION  // the index\n", "1: '#ifdef SOLUTION  // the index': legal are"),
            ("#if defined(SOLUTION)\n", "1: '#if defined(SOLUTION)': legal are"),
            ("#ifdef SOLVED\n", "1: '#ifdef SOLVED': legal are"),
        ):
            with self.subTest(text), self.assertRaises(course.ExerciseError) as refused:
                of(text)
            self.assertTrue(refused.exception.message.startswith(said), refused.exception.message)


class Course(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exercises = course.all_exercises(proofs.ROOT)

    def test_a_compiler_takes_the_marks_as_the_course_does(self):
        texts = [one.source.read_text(encoding="utf-8") for one in self.exercises]
        for options, derived in ((), "blank"), (("-DSOLUTION",), "solution"):
            found = preprocessed(texts, *options)
            self.assertEqual(len(found), len(self.exercises))
            for one, text in zip(self.exercises, found):
                self.assertEqual(lines(getattr(one, derived)), lines(text), f"{one.key}: {derived}")

    def test_no_blank_gives_the_solution_away(self):
        for one in self.exercises:
            source = one.source.read_text(encoding="utf-8")
            self.assertNotIn("SOLUTION", one.blank + one.solution, one.key)
            self.assertEqual(given_away(source, one.blank), [], one.key)
            self.assertEqual(course.to_fill_in(one), [])

    def test_a_prediction_asks_what_its_solution_answers(self):
        predictions = [one for one in self.exercises if one.kind == "predict"]
        self.assertGreater(len(predictions), 10)
        for one in predictions:
            self.assertEqual(proofs.asked(one.blank), proofs.asked(one.solution), one.key)
        one = predictions[0]
        question, of_another = one.blank.replace("= -1;", "= -1;  // TODO: of one warp", 1), one.solution
        self.assertNotEqual(proofs.asked(question), proofs.asked(of_another))

    def test_both_can_fail(self):
        blank, solution = of(TEXT)
        self.assertEqual(given_away(TEXT, blank), [])
        self.assertEqual(given_away(TEXT, solution), ["solved();", "solved_alone();"])
        self.assertEqual([lines(text) for text in preprocessed([TEXT, "b\n"])], [lines(blank), ["b"]])
        self.assertNotEqual(lines(preprocessed([TEXT], "-DSOLUTION")[0]), lines(blank))


class Commands(learner.Checkout):
    def test_bad_marks_are_one_line(self):
        file = "exercises/01_first_steps/alpha.cu"
        text = learner.SOURCE.format(title="Alpha", level=1)
        for wrong, said in (
            (text.replace("#endif\n", ""), f"{file}:9: the mark that begins here has no '#endif'"),
            (text.replace("#else\n", "#ifdef SOLUTION\n"), f"{file}:11: '#ifdef SOLUTION' within the one of line 9"),
            (text.replace("\n\n#ifdef", "\n#ifdef").replace("int work() { return 1", "//"), f"{file}:8: an empty line"),
        ):
            self.write(file, wrong)
            done = self.learn("author", "prove", "alpha", code=1)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_the_learner_gets_the_blank(self):
        self.learn("start", code=0)
        for name in self.names:
            self.assertEqual(lines(self.read(name))[-1], "int work() { return 0; }  // TODO")
            self.assertNotIn("SOLUTION", self.read(name))
