"""An edit of prose keeps the run that was made before; an edit of code does not."""

import json
from concurrent.futures import ThreadPoolExecutor

import small

from warp.chapter import freshness, results, run

PROSE = "Some words.\n\nOther words.\n"


class Code(small.Course):
    def digest(self):
        return freshness.code_of(self.main)["digest"]

    def edit(self, old, new):
        text = self.main.read_text()
        self.assertIn(old, text)
        self.main.write_text(text.replace(old, new))

    def test_prose_is_no_code(self):
        self.source(PROSE)
        before = self.digest()
        for old, new in (
            ("Some words.", "Some more\n// words."),
            ("// Question: Does", "// Question: Why does"),
            ("one element a", "an element a"),
            ("x[0] = 1; }\n", "x[0] = 1; }  // a comment\n"),
            ("Chapter 02: Small", "Chapter 02: Smaller"),
        ):
            self.edit(old, new)
            self.assertEqual(self.digest(), before, new)

    def test_code_is(self):
        self.source(PROSE)
        self.edit("int main() {}", 'int main() { puts("// a text"); }')
        before = self.digest()
        for old, new in (
            ("// a text", "// another text"),
            ("x[0] = 1", "x[0] = 2"),
            ("Size simulator: 9", "Size simulator: 10"),
            ("--rung later ", "--rung never "),
            ("[needs sm_90a]", "[needs sm_90]"),
        ):
            self.edit(old, new)
            self.assertNotEqual(self.digest(), before, new)
            before = self.digest()
        (self.folder / "small_gpu.cu").write_text("int x;\n")
        self.assertNotEqual(self.digest(), before)


class Kept(small.Course):
    def setUp(self):
        super().setUp()
        self.source(PROSE)
        self.line = self.main.read_text().split("\n").index("int main() {}") + 1
        self.say(self.line)

    def say(self, line):
        """The program names this line wherever a program can."""
        place = {"file": str(self.main), "line": line}
        report = json.loads(json.dumps(small.SIMULATED))
        report["rows"][0]["reason"] = f"raises it at {self.main}:{line} in plain"
        trace = {
            "launches": [
                {"kernel": "plain", "counts": {}, "lines": [{**place, "counts": {"x": 1}}], "findings": [place]}
            ],
            "findings": [place],
        }
        small.TRACE, kept = trace, small.TRACE
        self.addCleanup(setattr, small, "TRACE", kept)
        self.program(report)

    def kept(self):
        return run.kept_run(self.main, run.program_of(self.main, self.build), "abc")

    def lines_of(self, found):
        launch = found.trace["launches"][0]
        return {
            launch["lines"][0]["line"],
            launch["findings"][0]["line"],
            found.trace["findings"][0]["line"],
            *(line for _, line in found.lines["plain"]),
            int(found.rows[0].reason.split(":")[1].split()[0]),
        }

    def test_the_run_is_kept_and_its_lines_move(self):
        self.assertEqual(self.lines_of(self.kept()), {self.line})
        self.assertEqual(self.runs(), 1)
        self.source("One more\nline.\n\n" + PROSE)
        self.assertEqual(self.lines_of(self.kept()), {self.line + 3})
        self.source("Words.")
        self.assertEqual(self.lines_of(self.kept()), {self.line - 3})
        self.assertEqual(self.runs(), 1)
        self.assertEqual(self.kept().rows[1].counts, small.SIMULATED["rows"][1]["counts"])

    def test_the_numbers_of_the_prose_take_the_same_run(self):
        self.kept()
        found = run.simulated_run(self.main, self.build)
        self.assertEqual(found.rows, self.kept().rows)
        self.assertEqual([kernel for kernel, _ in found.launches], ["plain"])
        self.assertEqual(self.runs(), 1)
        self.say(self.line - 1)  # another program
        self.assertEqual(run.simulated_run(self.main, self.build).rows, self.kept().rows)
        self.assertEqual(self.runs(), 2)

    def test_those_who_ask_at_once_wait_for_one_run(self):
        program = run.program_of(self.main, self.build)
        program.write_text(program.read_text().replace("#!/bin/sh\n", "#!/bin/sh\nsleep 0.3\n", 1))
        self.assertIn("sleep", program.read_text())
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: run.simulated_results(self.main, program).rows, range(4)))
        self.assertEqual(self.runs(), 1)
        self.assertTrue(all(rows == found[0] for rows in found))

    def test_another_program_runs_again(self):
        self.kept()
        self.say(self.line - 1)
        self.assertEqual(self.lines_of(self.kept()), {self.line - 1})
        self.assertEqual(self.runs(), 2)

    def test_a_program_that_fails_keeps_nothing(self):
        program = run.program_of(self.main, self.build)
        text = program.read_text()
        program.write_text("#!/bin/sh\nexit 1\n")
        for _ in range(2):
            with self.assertRaises(results.ResultsError):
                self.kept()
        program.write_text(text)
        self.assertEqual(self.lines_of(self.kept()), {self.line})
