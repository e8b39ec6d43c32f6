"""The way through the course: one answer to what comes next, the two paths, and what is set aside."""

import re

import learner


class Way(learner.Checkout):
    def setUp(self):
        super().setUp()
        self.learn("start", code=0)

    def step(self):
        """The command that ./learn says comes next; path and list say the same."""
        found = {
            re.search(r"^Next: (\./learn .*?)  ", self.learn(*words, code=0).stdout, re.MULTILINE)[1]
            for words in ((), ("path",))
        }
        self.assertEqual(len(found), 1, found)
        return found.pop()

    def test_one_answer_to_what_comes_next(self):
        self.assertEqual(self.step(), "./learn run 01")
        self.assertIn("Chapter 01: First steps", self.learn("next", code=0).stdout)
        self.assertIn("\n  ./learn next alpha ", self.learn("run", "01", code=0).stdout)
        self.assertEqual(self.step(), "./learn next alpha")
        self.assertIn("task of Alpha", self.learn("next", code=0).stdout)
        self.assertEqual(self.step(), "./learn check alpha")
        self.edit("alpha", "solved")
        self.learn("check", code=0)
        self.assertEqual(self.step(), "./learn next beta")
        self.assertIn("task of Beta", self.learn("next", code=0).stdout)
        self.edit("beta", "solved")
        self.learn("check", code=0)
        self.assertEqual(self.step(), "./learn run 02")
        self.assertIn("Chapter 02: Matrix", self.learn("next", code=0).stdout)

    def test_a_page_is_named_where_it_is_built(self):
        self.assertIn("with figures: ./learn docs, about 3 minutes", self.learn("next", code=0).stdout)
        for page in ("index.html", "chapters/01_first_steps.html"):
            self.write(f"build/docs/html/{page}", "a page")
        self.assertIn("with figures: build/docs/html/chapters/01_first_steps.html", self.learn("next", code=0).stdout)

    def test_exercises_solved_before_their_chapter_is_run(self):
        self.edit("beta", "solved")
        self.learn("check", "beta", code=0)
        self.assertIn("Chapter 01, First steps (10 min): taken as read; exercises: 1 of 2.", self.learn(code=0).stdout)
        self.assertIn("[x] 01 First steps", self.learn("path", code=0).stdout)
        self.assertEqual(self.step(), "./learn run 02")

    def test_an_exercise_set_aside_comes_at_the_end(self):
        self.learn("run", "01", code=0)
        said = self.learn("later", code=0).stdout
        self.assertIn("alpha comes at the end of your path", said)
        self.assertIn("task of Beta", said)
        self.assertRegex(self.learn("list", code=0).stdout, r"alpha .*set aside")
        self.assertIn("exercises: 0 of 2; 1 set aside.", self.learn(code=0).stdout)
        self.edit("beta", "solved")
        self.learn("check", "beta", code=0)
        self.assertEqual(self.step(), "./learn run 02")
        self.learn("run", "02", code=0)
        self.learn("later", "gamma", code=0)
        self.assertIn("alpha", self.step())  # nothing else is left
        self.learn("next", "gamma", code=0)
        self.assertEqual(self.step(), "./learn check gamma")
        self.assertIn("beta is passed already", self.learn("later", "beta", code=2).stderr)
        self.assertIn("unknown exercise", self.learn("later", "delta", code=2).stderr)

    def test_the_short_path_has_what_is_marked(self):
        self.learn("run", "01", code=0)
        said = self.learn("path", "short", code=0).stdout
        self.assertRegex(said, r"short +12 min, of which 10 min done  \(yours\)\nfull +16 min, of which 10 min done")
        self.assertIn("[x] 01 First steps, 10 min\n    [ ] beta, 2 min\n", said)
        self.assertNotIn("alpha", said)
        self.assertEqual(self.step(), "./learn next beta")
        self.edit("beta", "solved")
        self.learn("check", "beta", code=0)
        said = self.learn("next", code=0).stdout
        self.assertIn("You have done all of the short path; ./learn path full goes on", said)
        self.assertIn("(short path)", self.learn("path", "full", code=0).stdout)
        self.assertEqual(self.step(), "./learn run 02")
        self.assertIn("path takes short or full", self.learn("path", "long", code=2).stderr)

    def test_a_run_of_one_rung_is_no_step_back(self):
        self.learn("run", "01", code=0)
        before = self.learn(code=0).stdout
        self.learn("run", "01", "--rung", "one", code=1, env={"FAKE_CHAPTER": "fail"})
        self.assertEqual(self.learn(code=0).stdout, before)
