"""./learn predict: asks, lets the run answer, explains, keeps the score."""

import json
import os

import fake

ASKED = """
// ## 1. How a {term}`warps <warp>` asks
//
// What nobody needs.
//
// What nobody needs, either.
//
// A {term}`request` is what `two` makes once.

/// A contract.
__global__ void also(float* out) {
  out[0] = 2;
}

//? first: How many requests?
//? answer: count("one", "global_load_requests")
//? unit: requests
//? near: exact
//
// Because of **that**, `one` asks eight times.
//
// ```{drawing} asking
// ```

//? second: Which is faster?
//? choices: `one` | `two`
//? answer: {"one": ms("one") < ms("two"), "two": ms("two") < ms("one")}
//
// A second reason.

//? third: How long does `three` take?
//? answer: ms("one", 77)
//? near: factor 2
//
// A third reason.
//
// ## Later (second reading)
//
//? fourth: Nobody asks this.
//? answer: 1
//? near: exact
//
// No reason.
"""

PROGRAM = """\
#!/bin/sh
[ "$1" = --json ] && cat >"$2" <<'END'
{"backend": "simulator", "device": "s", "date": "d", "commit": "c", "rows": [
 {"rung": "one", "size": {"n": 100}, "status": "PASS", "counts": {"global_load_requests": 8}},
 {"rung": "two", "size": {"n": 100}, "status": "PASS"}]}
END
exit 0
"""


def results(device, one, two):
    rows = [
        {
            "rung": rung,
            "size": {"n": 1000},
            "status": "PASS",
            "time_ms": {"median": ms, "p10": ms, "p90": ms, "runs": 9},
        }
        for rung, ms in (("one", one), ("two", two))
    ]
    return json.dumps({"backend": "gpu", "device": device, "date": "d", "commit": "c", "rows": rows})


class Predict(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.add_chapter("01_first_steps", "First steps", ("one", "two"), "1000", "100")
        source = os.path.join(self.root, "chapters", "01_first_steps", "first_steps.cu")
        text = fake.read(source).replace("idea\n\n", "idea\n// Sizes measured: 1000 77\n\n", 1)
        self.write(
            "chapters/01_first_steps/first_steps.cu", text + "__global__ void two(float* out) { out[0] = 1; }\n" + ASKED
        )
        self.write("chapters/01_first_steps/results/h200.json", results("NVIDIA H200", 1.0, 2.0))
        self.tool("chapter", PROGRAM, self.home)

    def kept(self):
        return fake.load(os.path.join(self.root, ".progress.json"))["predictions"]["01_first_steps"]

    def predict(self, typed, *words, code=0):
        import subprocess

        done = subprocess.run(
            self.command("predict", "01", *words),
            input=typed,
            env=self.environment(),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
        )
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_answers_given_at_once(self):
        out = self.learn("predict", "01", "--answers", "8; 2", code=0).stdout
        for words in (
            "3 predictions",
            "1/3  How many requests? (requests, exact)\n",
            "2/3  Which is faster? (on an NVIDIA H200)\n",
            "3/3  How long does `three` take? (a number on an NVIDIA H200, within a factor of 2)\n",
            "your guess  8 requests",
            "the answer  8 requests  (counted on the simulator)  right",
            "Because of that, `one` asks eight times.",
            "the answer  `one`  (measured on NVIDIA H200)  no",
            "A second reason.",
            "Nobody has measured this yet",
            "Score: 1 of 2 right or near; 1 of 3 still open.",
        ):
            self.assertIn(words, out)
        self.assertNotIn("Nobody asks this", out)
        self.assertLess(out.index("How many requests?"), out.index("Because of that"))
        # Before a question: where it stands, the paragraphs above it, and the kernel without its contract.
        before = out[: out.index("How many requests?")]
        for words in (
            "--- How a warps asks (chapters/01_first_steps/first_steps.cu:",
            "What nobody needs, either.",
            "  A request is what `two` makes once.",
            "    __global__ void one(float* out)",
        ):
            self.assertIn(words, before)
        # The answer names the kernel, and that of the second question is shown before it; the first is there already.
        self.assertNotIn("void two(", before)
        self.assertIn("    __global__ void two(float* out) { out[0] = 1; }\n\n2/3  ", out)
        self.assertNotIn("more lines", out)
        self.assertNotRegex(out, r"\n\n\n")  # where a drawing was
        self.assertEqual(out.count("  What nobody needs.\n"), 1)
        self.assertIn("    // one: as above\n    __global__ void two(", out)
        self.assertIn("Read again: How a warps asks (chapters/01_first_steps/first_steps.cu)\n", out)
        self.assertNotIn("A contract", out)
        self.assertEqual(self.kept(), {"first": {"guess": "8", "near": True}, "second": {"guess": "2", "near": False}})

    def test_a_function_that_does_not_fit_is_named_with_its_place(self):
        source = os.path.join(self.root, "chapters", "01_first_steps", "first_steps.cu")
        text = fake.read(source)
        body = "".join(f"  out[{i}] = {i};\n" for i in range(45))
        text = text.replace("{ out[threadIdx.x] = 1; }", "{\n" + body + "}").replace(
            "two(float* out) { out[0] = 1; }", "two(float* out) {\n" + body + "}"
        )
        asked = 'count("one", "global_load_requests")'
        text = text.replace(asked, asked + ' + 0 * ms("two")')
        self.write("chapters/01_first_steps/first_steps.cu", text)
        out = self.learn("predict", "01", "--answers", "8", code=0).stdout
        before = out[: out.index("1/3  ")]
        self.assertEqual(before.count("__global__"), 1)
        self.assertRegex(before, r"\n    // (one|two): 47 lines, 01_first_steps/first_steps.cu:\d+\n")

    def test_asked_one_after_the_other(self):
        out = self.predict("many\n9\n\nq\n")
        self.assertIn("Type a number, as 32", out)
        self.assertNotIn("{drawing}", out)
        self.assertIn("the answer  8 requests  (counted on the simulator)  no", out)
        self.assertIn("skipped", out)
        self.assertEqual(list(self.kept()), ["first"])
        # What is answered is not asked again, and the first guess counts.
        self.assertNotIn("How many requests?", self.predict("1\n"))
        self.assertIn("How many requests?", self.predict("8\n", "--again"))
        self.assertEqual(self.kept()["first"], {"guess": "9", "near": False})
        self.assertTrue(self.kept()["second"]["near"])

    def test_what_was_answered_is_where_the_learner_looks(self):
        for words in ((), ("list",)):
            self.assertNotIn("answered", self.learn(*words, code=0).stdout)
        self.learn("predict", "01", "--answers", "8; 2", code=0)
        words = "2 predictions answered, 1 right or near"
        home = self.learn(code=0).stdout
        self.assertIn(f"Chapter 01, First steps: taken as read; {words}", home)
        self.assertIn("[x] 01 First steps", self.learn("path", code=0).stdout)  # the way takes it so, too
        self.assertIn("Next: ./learn run 02", home)
        self.assertIn(f"\n    {words}\n", self.learn("list", code=0).stdout)

    def test_the_end_of_the_input_ends_it(self):
        self.assertIn("3 of 3 still open", self.predict(""))

    def test_times_of_this_machine(self):
        self.write("build/results/gpu/01_first_steps.json", results("My GPU", 2.0, 1.0))
        out = self.learn("predict", "01", "--answers", ";two", code=0).stdout
        self.assertIn("the answer  `two`  (measured on My GPU)  right", out)

    def test_a_gpu_of_which_no_choice_is_true(self):
        self.write("build/results/gpu/01_first_steps.json", results("My GPU", 2.0, 2.0))
        out = self.learn("predict", "01", "--answers", ";two", code=0).stdout
        self.assertIn("No answer: of the choices exactly one has to hold; none holds on My GPU.", out)
        self.assertIn("A second reason.", out)

    def test_what_is_refused(self):
        self.assertIn("name one chapter", self.refused("predict"))
        self.assertIn("name one chapter", self.refused("predict", "01", "02"))
        self.assertIn("unknown chapter '7'", self.refused("predict", "7"))
        self.assertIn("'x' is no answer to second", self.refused("predict", "01", "--answers", "8;x"))
        self.assertIn("has 4 guesses; chapter 01 asks 3", self.refused("predict", "01", "--answers", "1;1;1;1"))
        self.assertIn("asks no predictions yet", self.learn("predict", "02", code=1).stderr)
