"""Predictions: how they are written, what answers them, how near is near, what gives an answer away."""

import json
import subprocess
import sys
import unittest
import unittest.mock

import small

from warp.chapter import asked_about, expressions, limits, predictions
from warp.chapter.errors import SourceError
from warp.chapter.source import Prediction

QUESTION = """\
## One

Words before.

//? sectors: How many sectors does
//?   a load of `plain` touch?
//? answer: count("plain", "global_load_sectors") / count("plain", "global_load_requests")
//? unit: sectors per request
//? near: exact
//? wide: Which is faster?
//? choices: `plain` | `wide` | neither
//? answer: {"`plain`": ms("plain") < ms("wide/w=4"), "wide": ms("wide/w=4") < ms("plain"),
//?   "neither": ms("wide/w=4") == ms("plain")}

Because of this.

And of that.

## Two

Other words.
"""


ANSWER = QUESTION[QUESTION.index('{"`plain`"') : QUESTION.index("\n\nBecause")]


class Written(small.Course):
    def refused(self, old, new, words):
        self.assertIn(old, QUESTION)
        self.source(QUESTION.replace(old, new))
        with self.assertRaises(SourceError) as caught:
            predictions.collect(self.main)
        self.assertRegex(str(caught.exception), r"^\S+small\.cu:\d+: ")
        self.assertIn(words, str(caught.exception))

    def test_what_is_read(self):
        self.source(QUESTION)
        first, second = predictions.collect(self.main)
        self.assertEqual(first.prediction.question, "How many sectors does a load of `plain` touch?")
        self.assertEqual((first.section, first.main_track), ("One", True))
        self.assertEqual((first.prediction.unit, first.prediction.near), ("sectors per request", "exact"))
        self.assertEqual(second.prediction.choices, ["`plain`", "`wide`", "neither"])
        self.assertIs(first.explanation, second.explanation)
        self.assertEqual(first.explanation, ["Because of this.", "And of that."])

    def test_what_is_refused(self):
        self.refused("//? near: exact\n", "", "'near' is exact, N % or factor N")
        self.refused("near: exact", "near: close", "'near' is exact, N % or factor N")
        self.refused("//? unit", "//? near: 1 %\n//? unit", "has a second 'near'")
        self.refused("//? answer: {", "//? unit: {", "lacks the line '//? answer: EXPRESSION'")
        self.refused("`plain` | `wide` | neither", "`plain`", "two or more")
        self.refused("//? choices", "//? near: exact\n//? choices", "it needs neither 'near' nor 'unit'")
        self.refused("//? sectors: ", "//? Sectors ", "write '//? NAME: QUESTION'")
        self.refused("//? sectors: ", "//? Sectors: ", "is no name of a prediction")
        self.refused(
            "//? sectors: How many sectors does\n//?   a load of `plain` touch?\n",
            "",
            "without the line '//? NAME: QUESTION'",
        )
        self.refused("//? wide:", "//? sectors:", "two predictions are named sectors")


CODE = """\
// ## One

//? ahead: What does it count?
//? answer: count("wide/w=4", "global_load_requests") / count("plain", "global_load_requests")
//? near: exact

constexpr int WIDTH = 4;  // floats
constexpr int OTHER = 5;

/// A contract.
__device__ float helper(int n) { return n * WIDTH; }

struct Pair {
  Pair(int first, int plain) : first(first), helper(plain) {}
};

__global__ void other() {}

// Words.

//? named: What does `other` do?
//? choices: nothing | harm
//? answer: "nothing"

//? against: Does `plain` ask more often than `other`?
//? choices: yes | no
//? answer: {"yes": count("plain", "global_load_requests") > 1, "no": count("plain", "global_load_requests") <= 1}

//? beside: What happens next?
//? choices: nothing | harm
//? answer: "nothing"

struct Last {};

// ## Two
"""


class CodeOf(small.Course):
    """The code that is shown before a question: whole functions, however long."""

    def setUp(self):
        super().setUp()
        text = small.HEADER + CODE + small.KERNELS
        body = "\n".join(f"  x[{n}] = helper({n});" for n in range(40)) + "\n  if (x[0] > 1) x[1] = 0;"
        self.wide = "template <int W>\n__global__ void wide(float* x) {\n" + body + "\n}"
        self.main.write_text(text.replace("__global__ void wide(float* x) { x[0] = 1; }", self.wide))
        asked_about.functions.cache_clear()
        self.pieces = {one.name: asked_about.pieces(self.main, one) for one in predictions.collect(self.main)}

    def test_the_functions_that_the_answer_names_whole(self):
        pieces = self.pieces["ahead"]
        self.assertEqual(sorted(pieces), ["WIDTH", "helper", "plain", "wide"])
        self.assertEqual(pieces["wide"], self.wide.split("\n"))
        self.assertEqual(pieces["helper"], ["__device__ float helper(int n) { return n * WIDTH; }"])
        self.assertEqual(pieces["WIDTH"], ["constexpr int WIDTH = 4;  // floats"])

    def test_and_those_that_the_question_names_where_that_is_not_long(self):
        self.assertEqual(sorted(self.pieces["against"]), ["other", "plain"])
        with unittest.mock.patch.object(asked_about, "TOGETHER", 1):
            asked = {one.name: one for one in predictions.collect(self.main)}
            self.assertEqual(sorted(asked_about.pieces(self.main, asked["against"])), ["plain"])

    def test_else_those_that_the_question_names_else_the_code_beside_it(self):
        self.assertEqual(self.pieces["named"], {"other": ["__global__ void other() {}"]})
        self.assertEqual(self.pieces["beside"], {"": ["struct Last {};"]})


class Answered(small.Course):
    def test_the_run_answers(self):
        self.source(QUESTION)
        first, second = predictions.collect(self.main)
        numbers = expressions.Numbers(self.main, self.build)
        answer = predictions.answer(first.prediction, numbers)
        self.assertEqual((answer.value, answer.source), (2.5, "counted on the simulator"))
        answer = predictions.answer(second.prediction, numbers)
        self.assertEqual((answer.value, answer.source), ("`wide`", "measured on NVIDIA H200"))

    def test_choices_that_are_numbers_are_computed(self):
        def answer(choices, text):
            return predictions.chosen(Prediction(1, "a", "?", text, choices=choices), None)

        tenths = ["6 %", "about 10 %", "25 %"]
        self.assertEqual(answer(tenths, "100 / 9"), "about 10 %")
        self.assertEqual(answer(["once", "32 times", "1,024 times"], "2**10"), "1,024 times")
        self.assertEqual(answer(["a half", "a fifth"], "31 / 160"), "a fifth")
        for text in '"25 %"', "25":
            with self.assertRaisesRegex(expressions.ExpressionError, "compute the answer"):
                answer(tenths, text)
        with self.assertRaisesRegex(predictions.NoChoice, "none holds"):
            answer(tenths, "100 / 5")
        self.assertEqual(answer(["zeros", "what was there"], '"zeros"'), "zeros")

    def test_times_of_ones_own_gpu_come_first(self):
        own = self.root / "own.json"
        report = small.report("gpu", [small.timed("plain", None, 64, 1.0, 1)])
        own.write_text(json.dumps(report | {"device": "My GPU"}))
        numbers = expressions.Numbers(self.main, self.build, own)
        self.assertEqual((numbers.ms("plain"), numbers.ms("plain", 128), numbers.device()), (1.0, 103.2, "My GPU"))

    def test_choices(self):
        choice = Prediction(1, "a", "?", choices=["`row`", "rows of it", "neither"])
        for text, value in (
            ("1", "`row`"),
            ("row", "`row`"),
            ("ROWS", "rows of it"),
            ("n", "neither"),
            ("ro", None),
            ("4", None),
            ("", None),
        ):
            self.assertEqual(predictions.guessed(choice, text), value, text)

    def test_numbers_are_judged_as_the_site_judges_them(self):
        """tests/site/test_guesses.py gives the same guesses to the site's script."""
        for one in json.loads((small.ROOT / "tests" / "course" / "guesses.json").read_text(encoding="utf-8")):
            with self.subTest(**one):
                asked = Prediction(1, "a", "?", unit=one["unit"], near=one["near"])
                guess = predictions.guessed(asked, one["typed"])
                near = guess is not None and predictions.is_near(asked, guess, one["answer"])
                self.assertEqual("no number" if guess is None else "right" if near else "wrong", one["verdict"])

    def wrong(self, text):
        self.source(text)
        return predictions.check_chapter(self.main, self.build)

    def test_a_chapter_that_is_right(self):
        self.assertEqual(self.wrong(QUESTION), ([], [], 2))

    def test_what_is_wrong_with_a_chapter(self):
        for old, new, words in (
            ("Because of this.\n\nAnd of that.\n", "", "no paragraph behind it explains"),
            (
                'count("plain", "global_load_sectors") / count("plain", "global_load_requests")',
                "5 / 2",
                "no run answers it",
            ),
            ('"global_load_requests"', '"requests"', "no count is named requests"),
            ('"wide": ms', '"wider": ms', "each choice needs a condition of its own"),
            (',\n//?   "neither": ms("wide/w=4") == ms("plain")}', "}", "each choice needs a condition of its own"),
            (
                ANSWER,
                '"`wide`" if ms("wide/w=4") < ms("plain") else "plain"',
                "each choice needs a condition of its own",
            ),
            ('ms("wide/w=4") < ms("plain")', 'ms("wide/w=4") < ms("plain") / 999', "none holds on NVIDIA H200"),
            ('ms("wide/w=4") == ms("plain")', 'ms("wide/w=4") > 0', "'`wide`' and 'neither' hold on NVIDIA H200"),
            ('ms("wide/w=4") == ms("plain")', 'ms("wide/w=4")', "the condition of a choice is a comparison"),
            (ANSWER, '"none of them"', "none holds"),
            ("## Two", "## Two 2.5 sectors", "gives away sectors: 2.5"),
            ("## Two", "## Two and a half, 2.5 a request", "gives away sectors: 2.5"),
            ("## One", "## The wide one", "gives away wide: `wide`"),
        ):
            wrong, _, _ = self.wrong(QUESTION.replace(old, new))
            self.assertTrue(wrong and words in wrong[0], (words, wrong))
        _, pending, _ = self.wrong(QUESTION.replace('ms("plain")', 'ms("later")'))
        self.assertIn("later is not in h200.json yet", pending[0])

    def test_a_question_behind_the_results_that_answer_it(self):
        for old, new, late in (
            ("//? sectors", "PLAIN\n\n//? sectors", ["sectors"]),
            ("//? sectors", "WIDE\n\n//? sectors", []),
            ("//? sectors", "PLAIN\n\nWIDE\n\n//? sectors", ["sectors", "wide"]),
            ("Because", "PLAIN\n\nWIDE\n\nBecause", []),
        ):
            self.source(QUESTION.replace(old, new))
            text = self.main.read_text()
            for name in "plain", "wide":
                text = text.replace(f"// {name.upper()}", f"__global__ void {name}(int* x) {{ x[0] = 2; }}")
            self.main.write_text(text)
            found = predictions.shown_before(self.main)
            self.assertEqual([line.split("prediction ")[1].split(":")[0] for line in found], late)

    def test_what_gives_nothing_away(self):
        for heading in ("## 2.5. Two", "## Two 2.5 rows", "## plain, wide or neither"):
            self.assertEqual(self.wrong(QUESTION.replace("## Two", heading))[0], [], heading)


class Limits(small.Course):
    def wrong(self, text, **header):
        self.source(text)
        found = [line.split(": ", 1)[1] for line in limits.check_chapter(self.main)[0]]
        return [line for line in found if "main track takes" not in line]

    def test_minutes(self):
        """A chapter that is measured says how long it takes, and that is near what its words and questions take."""
        asked = "".join(f"//? p{i}: Why?\n//? answer: 1\n//? near: exact\n" for i in range(8))
        text = asked + "".join(f"\n## H{i}\n\n{'word ' * 600}\n" for i in range(5))
        for stated, wrong in (
            ("// Minutes: 30\n", []),
            ("// Minutes: 45\n", ["'Minutes: 45'; its main track takes about 30"]),
            ("// Minutes: 20\n", ["'Minutes: 20'; its main track takes about 30"]),
            ("", ["no line 'Minutes:'; its main track takes about 30"]),
        ):
            self.source(text)
            source_text = self.main.read_text(encoding="utf-8").replace("// Minutes: 5\n", stated)
            self.main.write_text(source_text, encoding="utf-8")
            found = [line.split(": ", 1)[1] for line in limits.check_chapter(self.main)[0]]
            self.assertEqual(found, wrong, stated)
        text = self.main.read_text(encoding="utf-8").replace(
            "// Afterwards: read what was measured\n", "// Minutes: 30\n"
        )
        self.main.write_text(text, encoding="utf-8")
        self.assertIn("no line 'Afterwards:'", limits.check_chapter(self.main)[0][0])

    def test_lengths(self):
        asked = "".join(f"//? p{i}: Why?\n//? answer: 1\n//? near: exact\n" for i in range(8))
        words = "word " * 699
        table = "\n| 1 | 2 |\n|---|---|\n| 3 | 4 |\n"
        code = "\n```text\nnot prose\n```\n"
        parts = "".join(f"\n## H{i}\n\n{words}\n" for i in range(6))
        self.assertEqual(self.wrong(asked + words), ["707 words without a heading, a figure or a kernel; at most 700"])
        self.assertEqual(self.wrong(asked + "\n## A\n\n" + words + table + code), [])
        self.assertEqual(self.wrong(asked + parts), [])
        self.assertEqual(
            self.wrong(asked + parts + "\n## More\n\n" + "word " * 399),
            ["4,608 words on the main track; at most 4,500"],
        )
        self.assertEqual(self.wrong(asked + parts + "\n## More (second reading)\n\n" + "word " * 999), [])
        half = "word " * 400
        self.assertEqual(len(self.wrong(asked + half + "\n\n" + half)), 1)
        self.assertEqual(self.wrong(asked + half + "\n\n```{figure} a.svg\n```\n\n" + words), [])
        self.assertEqual(self.wrong("Words."), ["0 predictions on the main track; legal is 8 to 16"])
        self.assertEqual(limits.measure(self.main).rungs, 4)
        self.source("## More (second reading)\n")
        self.assertEqual(limits.measure(self.main).rungs, 0)  # all kernels come after it
        self.source("")
        beside = self.main.parent / "beside.cu"
        for heading, left in (("## More", 4), ("## More (second reading)", 3)):
            beside.write_text(f'// {heading}\n\nconst lab::Rungs here([](Launches& all) {{ all.add("plain"); }});\n')
            self.assertEqual(limits.measure(self.main).rungs, left)
        beside.unlink()
        self.assertEqual(self.wrong(asked + "// [hide] Before\n\n//\n// [/hide]"), ["a fold before the first kernel"])


class Command(small.Course):
    def test_check(self):
        self.source(QUESTION)
        command = [sys.executable, str(small.ROOT / "tools" / "warp"), "author", "check", str(self.main)]
        done = subprocess.run(
            command, capture_output=True, text=True, env={"WARP_BUILD_DIR": str(self.build.parent), "PATH": "/bin"}
        )
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("sectors: 2.5 sectors per request (counted on the simulator)", done.stdout)
        self.assertIn("2 predictions, 0 wrong", done.stdout)
        self.assertIn("2 predictions on the main track; legal is 8 to 16", done.stdout)
