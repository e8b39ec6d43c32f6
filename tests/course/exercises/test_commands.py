"""The commands of the exercises, as a learner types them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

import learner
from learner import fake


class Start(learner.Checkout):
    def test_copies_all_and_shows_the_first(self):
        done = self.learn("start", code=0)
        self.assertIn("3 exercises are now in my/", done.stdout)
        self.assertIn("This is the task of Alpha", done.stdout)
        self.assertIn("my/01_first_steps/alpha.cu", done.stdout)
        for name in self.names:
            self.assertIn("TODO", self.read(name))

    def test_never_overwrites(self):
        self.learn("start", code=0)
        self.edit("beta", "mine")
        os.unlink(self.mine("gamma"))
        done = self.learn("start", code=0)
        self.assertIn("1 exercise is now", done.stdout)
        self.assertEqual(self.read("beta"), "mine")
        self.assertIn("nothing was changed", self.learn("start", code=0).stdout)

    def test_a_named_one_is_where_the_learner_is(self):
        self.assertIn("task of Gamma", self.learn("start", "gamma", code=0).stdout)
        self.assertIn("gamma: hint 1 of 3", self.learn("hint", code=0).stdout)

    def test_names(self):
        for word in ("beta", "bet", "01_first_steps/beta", "my/01_first_steps/beta.cu", "beta.cu"):
            self.assertIn("task of Beta", self.learn("start", word, code=0).stdout, word)
        done = self.learn("start", "bata", code=2)
        self.assertIn("unknown exercise 'bata'; did you mean beta?", done.stderr)
        done = self.learn("check", "foo", code=2)
        self.assertIn("unknown exercise 'foo'; chapter 01 has alpha or beta (./learn list shows all)", done.stderr)

    def test_a_chapter_is_the_exercise_that_the_learner_is_at_or_its_first_open_one(self):
        for word in ("02", "2", "02_matrix", "matrix", "matr", "chapters/02_matrix", "my/02_matrix/"):
            self.learn("start", "alpha", code=0)
            self.assertIn("task of Gamma", self.learn("start", word, code=0).stdout, word)
        self.assertIn("gamma: hint 1 of 3", self.learn("hint", code=0).stdout)
        self.assertIn("alpha: hint 1 of 3", self.learn("hint", "first_steps", code=0).stdout)
        self.assertIn("task of Beta", self.learn("next", "beta", code=0).stdout)
        self.assertIn("beta: hint 1 of 3", self.learn("hint", "01_first", code=0).stdout)
        self.assertIn("beta is not passed yet", self.learn("solution", "01", code=1).stderr)
        self.edit("beta", "solved")
        self.learn("check", "beta", code=0)
        self.assertIn("task of Alpha", self.learn("next", "first-steps", code=0).stdout)

    def test_a_chapter_is_all_of_its_exercises_where_several_can_be_meant(self):
        self.learn("start", code=0)
        for name in self.names:
            self.edit(name, "solved")
        said = self.learn("check", "first_steps", "alpha", code=0).stdout
        self.assertEqual([said.count(name + ": passed") for name in ("alpha", "beta", "gamma")], [1, 1, 0])
        self.assertIn("what you wrote in alpha, beta (a backup", self.learn("reset", "01_first_steps", code=1).stderr)
        self.learn("reset", "01_first_steps", "--yes", code=0)
        self.assertEqual([self.read(name) == "solved" for name in ("alpha", "beta", "gamma")], [False, False, True])

    def test_no_chapter(self):
        self.assertIn("unknown exercise '03'", self.learn("start", "03", code=2).stderr)

    def test_a_file_of_an_exercise_that_has_gone_is_named_and_stays(self):
        self.assertNotIn("belongs to no exercise", self.learn("start", code=0).stderr)
        self.edit("alpha", "mine")
        os.rename(self.mine("alpha"), self.mine("omega"))
        done = self.learn("start", code=0)
        self.assertIn("my/01_first_steps/omega.cu belongs to no exercise", done.stderr)
        self.assertEqual(fake.read(os.path.join(self.root, "my/01_first_steps/omega.cu")), "mine")

    def test_no_exercise_is_an_error(self):
        import shutil

        shutil.rmtree(os.path.join(self.root, "exercises"))
        self.assertIn("there is no exercise", self.learn("start", code=1).stderr)

    def test_a_folder_that_cannot_be_written(self):
        self.write("my", "a file, not a folder")
        done = self.learn("start", code=1)
        self.assertIn("cannot write", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


class Check(learner.Checkout):
    def setUp(self):
        super().setUp()
        self.learn("start", code=0)

    def check(self, text, *words, code=1):
        self.edit("alpha", text)
        return self.learn("check", *(words or ("alpha",)), code=code).stdout

    def test_a_pass_is_kept(self):
        said = self.check("solved", code=0)
        self.assertIn("alpha: passed  (2 cases on the simulator", said)
        self.assertIn("./learn next", said)
        self.assertIn("[x] alpha", self.learn("list", code=0).stdout)
        self.assertIn("exercises: 1 of 2", self.learn(code=0).stdout)

    def test_a_wrong_element(self):
        said = self.check("wrong")
        for part in (
            "n = 2: y[1] is wrong",
            "expected  2",
            "got       7",
            "thread (1,0,0), line 9",
            "1 of 2 elements",
            "Right so far: n = 1.",
            "Next: ",
        ):
            self.assertIn(part, said)

    def test_a_finding_stands_at_its_line(self):
        said = self.check("\n" * 8 + "the line at fault\n")
        self.assertIn("my/01_first_steps/alpha.cu:9: n = 2: out-of-bounds", said)
        self.assertIn("the line at fault", said)
        self.assertIn("read of 4 bytes in work", said)

    def test_a_bar_with_the_last_try(self):
        self.assertIn("launches  1  (at most 0)  missed  at n = 2", self.check("slow"))
        self.assertIn("launches  2  (at most 0)  missed  before: 1  at n = 2", self.check("slow\nslow"))

    def test_a_compiler_error_in_one_sentence(self):
        said = self.check("\n" * 8 + "  nonsense;\n")
        self.assertIn("my/01_first_steps/alpha.cu:9: does not compile", said)
        self.assertIn("nonsense;", said)
        self.assertIn("'nonsense' was not declared in this scope", said)

    def test_a_missing_semicolon_is_at_the_end_of_its_line(self):
        said = self.check("  unended = 1  // TODO\n\n  int next;\n")
        self.assertIn("my/01_first_steps/alpha.cu:1: does not compile", said)
        self.assertIn("a ; is missing at the end of this line", said)
        said = self.check("  unended = 1;\n\n  int next;\n")
        self.assertIn("my/01_first_steps/alpha.cu:3: does not compile", said)
        self.assertIn("expected ',' or ';' before 'int'", said)

    def test_an_empty_file(self):
        said = self.check(" \n")
        self.assertIn("the file is empty", said)
        self.assertIn("Next: ./learn reset alpha puts the exercise back.", said)

    def test_a_file_that_is_no_source(self):
        said = self.check("x" * (2 << 20))
        self.assertIn("the file has 2 MB, an exercise a few KB", said)
        self.assertIn("Next: undo that in your editor", said)
        said = self.check("solved\0")
        self.assertIn("the file has bytes of 0, so it is no C++ source", said)
        with open(self.mine("alpha"), "w", encoding="utf-16") as file:
            file.write("solved")
        self.assertIn("UTF-16 (save it as UTF-8)", self.learn("check", "alpha", code=1).stdout)

    def test_the_one_saved_last_is_named_where_another_is_checked(self):
        self.learn("check", "beta", code=1)
        self.edit("alpha", "solved")
        os.utime(self.mine("alpha"), (time.time() + 60, time.time() + 60))
        done = self.learn("check", code=1)
        self.assertIn("This checks beta; of alpha, saved last, it is ./learn check alpha.", done.stderr)
        self.assertNotIn("This checks", self.learn("check", "beta", code=1).stderr)
        os.utime(self.mine("alpha"), (1, 1))
        self.assertNotIn("This checks", self.learn("check", code=1).stderr)

    def test_a_program_that_ends_early_or_crashes_never_passes(self):
        self.assertIn("your code ended the program with exit code 3", self.check("ends_early solved"))
        self.assertIn("your code ended the program by SIGSEGV", self.check("crashes solved"))

    def test_what_the_code_prints(self):
        said = self.check("prints solved", code=0)
        self.assertIn("Your code printed:\n    hello from the kernel", said)

    def test_hints_are_offered_after_two_tries(self):
        self.assertNotIn("./learn hint", self.check("wrong"))
        self.assertIn("./learn hint alpha shows hint 1 of 3", self.check("wrong"))
        for _ in range(3):
            self.learn("hint", code=0)
        self.assertIn("./learn solution alpha --anyway", self.check("wrong"))

    def test_all_with_files(self):
        self.edit("alpha", "solved")
        os.unlink(self.mine("gamma"))
        done = self.learn("check", "--all", "--json", "out.json", "--junit", "out.xml", "--markdown", "out.md", code=1)
        self.assertIn("1 of 3 exercises passed, 2 started.", done.stdout)
        data = fake.load(os.path.join(self.root, "out.json"))
        self.assertEqual((data["passed"], data["total"]), (1, 3))
        self.assertEqual([row["passed"] for row in data["exercises"]], [True, False, False])
        self.assertEqual(data["exercises"][1]["failures"][0]["kind"], "out-of-bounds")
        root = ElementTree.parse(os.path.join(self.root, "out.xml")).getroot()
        self.assert_junit(root)
        self.assertEqual(len(root.findall(".//testcase")), 3)
        self.assertEqual(len(root.findall(".//failure")), 2)
        table = fake.read(os.path.join(self.root, "out.md"))
        self.assertIn("1 of 3 passed", table)
        self.assertIn("| 01 `beta` | fill in | not yet | out-of-bounds at n = 2 |", table)
        self.assertIn("| 02 `gamma` | fill in | not started |  |", table)
        self.assertFalse(os.path.exists(self.mine("gamma")), "check --all must not start exercises")

    # What Jenkins, GitLab and GitHub's actions read: each element, its attributes (! must be there), its children.
    JUNIT = {
        "testsuites": ("name tests failures errors time", "testsuite"),
        "testsuite": ("name! tests! failures errors time", "testcase"),
        "testcase": ("name! classname! time", "failure"),
        "failure": ("type message", ""),
    }

    def assert_junit(self, element):
        attributes, children = self.JUNIT[element.tag]
        needed = {name[:-1] for name in attributes.split() if name.endswith("!")}
        self.assertLessEqual(needed, set(element.attrib))
        self.assertLessEqual(set(element.attrib), set(attributes.replace("!", "").split()))
        for name in {"tests", "failures", "errors", "time"} & set(element.attrib):
            self.assertRegex(element.get(name), r"^\d+(\.\d+)?$" if name == "time" else r"^\d+$")
        for tag in ("testcase", "failure"):
            total = {"testcase": "tests", "failure": "failures"}[tag]
            if total in element.attrib:
                self.assertEqual(len(element.findall(".//" + tag)), int(element.get(total)))
        for child in element:
            self.assertIn(child.tag, children.split())
            self.assert_junit(child)

    def test_junit_that_is_none(self):
        for text in (
            "<testsuites><testcase name='a' classname='b'/></testsuites>",
            "<testsuite name='a' tests='2'><testcase name='a' classname='b'/></testsuite>",
            "<testcase name='a'/>",
            "<testsuite name='a' tests='0' colour='red'/>",
        ):
            with self.assertRaises(AssertionError):
                self.assert_junit(ElementTree.fromstring(text))

    def test_lines_for_editors(self):
        tasks = fake.load(os.path.join(fake.ROOT, ".vscode", "tasks.json"))["tasks"]
        tasks = [task for task in tasks if "learn check" in task["command"]]
        pattern = tasks[0]["problemMatcher"]["pattern"]["regexp"]
        for text, line, message in (
            ("wrong", 9, "n = 2: y[1]: expected 2, got 7"),
            ("slow", 9, "n = 2: launches: 1, at most 0"),
            ("nonsense", 9, "'nonsense' was not declared in this scope"),
            ("nothing", 9, "n = 2: read of 4 bytes in work"),
        ):
            said = self.check(text, "my/01_first_steps/alpha.cu", "--lines")
            found = re.search(pattern, said, re.MULTILINE)
            self.assertTrue(found, said)
            self.assertEqual(found.groups(), ("my/01_first_steps/alpha.cu", str(line), "error", message))
            self.assertIn("alpha: not yet", said)
        said = self.check("solved", "alpha", "--lines", code=0)
        self.assertNotIn("error", said)
        self.assertIn("alpha: passed", said)

    def test_a_chapter(self):
        said = self.check("solved", "01")
        self.assertIn("alpha: passed", said)
        self.assertIn("beta: not yet", said)
        self.assertNotIn("gamma", said)

    def test_bad_input(self):
        self.assertIn("./learn check --all", self.learn("check", "all", code=2).stderr)
        self.assertIn("not both", self.learn("check", "--all", "alpha", code=2).stderr)
        self.assertIn("no NVIDIA GPU", self.learn("check", "--backend", "gpu", code=1).stderr)
        self.learn("check", "--json", "no/such/folder/out.json", code=2)

    def test_a_file_that_is_not_there_is_started_not_judged(self):
        os.unlink(self.mine("beta"))
        done = self.learn("check", "beta", code=1)
        self.assertIn("was not there yet", done.stdout)
        self.assertIn("task of Beta", done.stdout)
        self.learn("check", "beta", code=1)
        os.unlink(self.mine("beta"))
        out = self.learn("check", "beta", code=1).stdout
        self.assertIn("was gone: here it is again", out)
        self.assertNotIn("checked last", out)  # it was the blank

    def test_the_version_that_was_checked_last_is_kept(self):
        for text in ("solved", "solved twice"):
            self.edit("alpha", text)
            self.learn("check", "alpha")
        self.edit("alpha", "not checked")
        os.unlink(self.mine("alpha"))
        kept = os.path.join("my", "checked", "01-alpha.cu")
        self.assertIn(f"The version that you checked last: {kept}\n", self.learn("check", "alpha", code=1).stdout)
        self.assertEqual(fake.read(os.path.join(self.root, kept)), "solved twice")
        self.learn("check", "alpha", code=1)  # the blank is none
        os.unlink(self.mine("alpha"))
        self.assertIn(f"alpha was gone; the version that you checked last: {kept}", self.learn("start", code=0).stderr)
        self.assertEqual(fake.read(os.path.join(self.root, kept)), "solved twice")


class OnAGpu(learner.Checkout):
    """The simulator first, then the GPU; a pass is one on both."""

    def setUp(self):
        super().setUp()
        self.add_gpu()
        self.tool("nvcc", learner.NVCC)
        self.learn("start", code=0)

    def check(self, text, code):
        self.edit("alpha", text)
        return self.learn("check", "alpha", "--backend", "gpu", code=code).stdout

    def test_both(self):
        self.assertIn("alpha: passed  (2 cases on the simulator and the GPU", self.check("solved", 0))

    def test_what_the_simulator_finds_ends_it(self):
        self.assertIn("alpha: not yet  (2 cases on the simulator,", self.check("slow", 1))

    def test_what_the_gpu_finds(self):
        self.assertIn("launches  0  (at most 0)  missed", self.check("late solved", 1))
        self.assertNotIn("passed", self.progress()["exercises"]["01_first_steps/alpha"])

    # A machine of others: no libdw, and no right to install it.
    WITHOUT_SIMULATOR = """
import sys
sys.path.insert(0, {tools!r})
from warp.cli import main as cli
from warp.base import install, needs
needs.LIBDW.seen = lambda machine: ""
install.may_install = lambda: False
sys.exit(cli.main({words!r}))
"""

    def without_simulator(self, *words, code):
        text = self.WITHOUT_SIMULATOR.format(tools=os.path.join(self.root, "tools"), words=list(words))
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=self.root, env=self.environment(), capture_output=True, text=True
        )
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_without_the_simulator_the_gpu_checks_alone(self):
        self.edit("alpha", "solved")
        done = self.without_simulator("check", "alpha", "--backend", "gpu", code=0)
        self.assertIn("alpha: passed  (2 cases on the GPU alone", done.stdout)
        self.assertIn("as the simulator lacks libdw: races and counts are not looked at", done.stderr)
        self.edit("alpha", "late solved")
        self.assertIn("missed", self.without_simulator("check", "alpha", "--backend", "gpu", code=1).stdout)
        self.assertIn("libdw", self.without_simulator("check", "alpha", code=1).stderr)  # the simulator was asked for

    def test_without_the_simulator_counts_answer_nothing(self):
        source = os.path.join("exercises", "02_matrix", "gamma.cu")
        text = fake.read(os.path.join(self.root, source))
        self.write(source, text.replace("Kind: fill in", "Kind: predict"))
        self.edit("alpha", "solved")
        done = self.without_simulator("check", "gamma", "alpha", "--backend", "gpu", code=0)
        self.assertIn("left out, as counts answer them: gamma", done.stderr)
        done = self.without_simulator("check", "gamma", "--backend", "gpu", code=1)
        self.assertIn("gamma: the simulator's counts answer that, and it lacks libdw", done.stderr)

    def test_without_the_simulator_new_and_predict_do_what_they_can(self):
        self.without_simulator("new", "own.cu", code=0)
        chapter = os.path.join("chapters", "01_first_steps", "first_steps.cu")
        text = fake.read(os.path.join(self.root, chapter))
        ask = "\n// ## A\n//\n// Words.\n\n//? {0}: {0}?\n//? answer: {1}\n//? near: exact\n//\n// Because.\n"
        counted, computed = ask.format("counted", 'count("one", "x")'), ask.format("computed", "6 * 7")
        self.write(chapter, text + counted + computed)
        done = self.without_simulator("predict", "01", "--answers", "42", code=0)
        self.assertIn("1/1  computed?", done.stdout)
        self.assertIn("right", done.stdout)
        self.assertIn("1 of 2 predictions left out: counts answer them", done.stderr)
        self.write(chapter, text + counted)
        done = self.without_simulator("predict", "01", "--answers", "42", code=1)
        self.assertIn("counts answer these predictions, and it lacks libdw", done.stderr)

    def test_without_it_the_gpu_is_not_asked(self):
        self.edit("alpha", "late solved")
        self.learn("check", "alpha", code=0)


class GoingOn(learner.Checkout):
    def setUp(self):
        super().setUp()
        self.learn("start", code=0)

    def test_hints_one_by_one(self):
        self.assertNotIn("Second", self.learn("hint", "alpha", code=0).stdout)
        self.assertIn("Second", self.learn("hint", "alpha", code=0).stdout)
        self.learn("hint", "alpha", code=0)
        said = self.learn("hint", "alpha", code=0).stdout
        self.assertIn("hint 3 of 3", said)
        self.assertIn("That was the last one", said)

    def test_next_goes_on_only_when_told(self):
        self.edit("alpha", "solved")
        self.learn("check", "alpha", code=0)
        self.assertIn("alpha: hint", self.learn("hint", code=0).stdout)
        self.assertIn("task of Beta", self.learn("next", code=0).stdout)
        self.assertIn("beta: hint", self.learn("hint", code=0).stdout)
        said = self.learn("next", code=0).stdout
        self.assertIn("beta is still open; ./learn next beta comes back to it.", said)
        self.assertIn("Chapter 02: Matrix", said)  # which comes before its exercises
        self.assertIn("./learn next 02", said)
        self.assertIn("task of Gamma", self.learn("next", "02", code=0).stdout)
        self.assertIn("task of Alpha", self.learn("next", "alpha", code=0).stdout)

    def test_the_end(self):
        for name in self.names:
            self.edit(name, "solved")
        self.learn("check", "--all", code=0)
        for command in ((), ("next",), ("path",)):
            said = self.learn(*command, code=0).stdout
            self.assertIn("You have done all of the full path.\nYou can now\n  01  add two numbers\n", said)
            self.assertNotIn("Next:", said)

    def test_learn_alone_says_what_comes_next(self):
        self.assertIn("Next: ./learn run 01", self.learn(code=0).stdout)
        self.learn("check", "beta", code=1)
        self.assertIn("Next: ./learn check beta", self.learn(code=0).stdout)
        self.edit("alpha", "solved")
        self.learn("check", "alpha", code=0)
        self.assertIn("Next: ./learn next beta", self.learn(code=0).stdout)

    def test_an_exercise_has_no_predictions_to_ask(self):
        done = self.learn("predict", "alpha", code=2)
        self.assertIn("alpha is an exercise: write your numbers into its file", done.stderr)

    def test_the_solution_comes_after_passing(self):
        self.assertIn("not passed yet", self.learn("solution", "alpha", code=1).stderr)
        said = self.learn("solution", "alpha", "--anyway", code=0).stdout
        for part in ("return 1;", "It works because", "Nothing else is half as good"):
            self.assertIn(part, said)
        self.edit("alpha", "solved")
        self.learn("check", "alpha", code=0)
        self.learn("solution", "alpha", code=0)

    def test_reset_asks_and_keeps_a_backup(self):
        blank = self.read("alpha")
        self.assertIn("you had changed nothing", self.learn("reset", "alpha", code=0).stdout)
        self.edit("alpha", "my work")
        self.assertIn("--yes", self.learn("reset", "alpha", code=1).stderr)
        self.assertEqual(self.read("alpha"), "my work")
        self.learn("reset", "alpha", "--yes", code=0)
        self.assertEqual(self.read("alpha"), blank)
        self.edit("alpha", " \n")  # nothing to lose, nothing to ask
        self.learn("reset", "alpha", code=0)
        self.assertEqual(self.read("alpha"), blank)
        self.edit("alpha", "more work")
        self.learn("reset", "--all", "--yes", code=0)
        self.assertEqual(sorted(self.backups()), [" \n", "more work", "my work"])
        self.learn("reset", code=2)

    def test_an_update_keeps_progress_and_says_what_changed(self):
        self.edit("alpha", "solved")
        self.learn("check", "alpha", code=0)
        self.write("exercises/01_first_steps/check/alpha.cu", "// a stricter checker\n")
        self.assertIn("The course has changed alpha since you passed it", self.learn(code=0).stdout)
        said = self.learn("list", code=0).stdout
        self.assertIn("[~] alpha", said)
        self.assertEqual(self.read("alpha"), "solved")
        self.learn("check", "alpha", code=0)
        self.assertIn("[x] alpha", self.learn("list", code=0).stdout)

    def test_an_update_renews_what_nobody_has_edited(self):
        self.learn("start", code=0)
        self.edit("gamma", "begun")
        for name in ("beta", "gamma"):
            source = os.path.join(
                self.root, "exercises", os.path.relpath(self.mine(name), os.path.join(self.root, "my"))
            )
            text = fake.read(source)
            fake.write(source, text.replace("in more words", "with a clearer task, in more words"))
        for words in ((), ("list",)):
            said = self.learn(*words, code=0).stdout
            self.assertIn("since you began", said)
            self.assertEqual(said.count("since you began"), 1, said)
        done = self.learn("start", code=0)
        self.assertIn("The course has changed beta; your copies were not edited and have been renewed.", done.stdout)
        self.assertIn("changed gamma since you began it: ./learn reset gamma brings the new one", done.stderr)
        self.assertIn("a clearer task", self.read("beta"))
        self.assertEqual(self.read("gamma"), "begun")
        # the second time nothing is left to do; a reset follows, and what is edited then has begun as the new one
        self.assertIn("nothing was changed", self.learn("start", code=0).stdout)
        self.learn("reset", "gamma", "--yes", code=0)
        self.edit("gamma", self.read("gamma") + "// mine\n")
        self.assertNotIn("since you began", self.learn("list", code=0).stdout)
        # of a copy that was made before this was kept, nothing is known: it stays
        kept = self.progress()
        del kept["blanks"]
        with open(self.progress_file(), "w", encoding="utf-8") as file:
            json.dump(kept, file)
        self.edit("beta", "an old blank")
        self.learn("start", code=0)
        self.assertEqual(self.read("beta"), "an old blank")

    def test_progress_that_makes_no_sense(self):
        for text in (
            "{ torn",
            "[]",
            '{"exercises": 3, "current exercise": {}}',
            '{"exercises": {"01_first_steps/alpha": 7}, "blanks": {"01_first_steps/alpha": []}}',
        ):
            fake.write(self.progress_file(), text)
            for words in ((), ("list",), ("hint", "alpha"), ("check", "alpha"), ("next",)):
                done = self.learn(*words)
                self.assertNotIn("Traceback", done.stderr, (text, words))
            self.assertIn("exercises", self.progress())
        self.assertTrue(os.path.exists(self.progress_file() + ".damaged"))


class Watch(learner.Checkout):
    def watching(self, **extra):
        self.learn("start", code=0)
        process = subprocess.Popen(
            self.command("watch"),
            env=self.environment(**extra),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until(self, process, text):
        said = ""
        end = time.monotonic() + 60
        while text not in said and time.monotonic() < end:
            said += process.stdout.readline()
        self.assertIn(text, said)
        return said

    def save_as_editors_do(self, name, text):
        new = self.mine(name) + "~"
        fake.write(new, text)
        os.replace(new, self.mine(name))

    def watches(self, how, **extra):
        process = self.watching(**extra)
        self.until(process, f"Watching my/ ({how})")
        self.edit("alpha", "wrong")
        self.until(process, "y[1] is wrong")
        self.until(process, "Watching")
        self.save_as_editors_do("beta", "solved")
        self.until(process, "beta: passed")
        self.until(process, "Watching")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)

    def test_inotify(self):
        self.watches("inotify")

    def test_polling(self):
        self.watches("polling", WARP_POLL="1")
