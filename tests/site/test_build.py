"""tools/warp/site/build.py on a small course: it builds, and what is wrong stops it with one clear line."""

import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import sample

import browser
import suites

NEEDS = ["site_programs"]
SECONDS = 1800

PYTHON = suites.site_python()
BUILD = sample.ROOT / "tools" / "warp" / "site" / "build.py"


@unittest.skipUnless(PYTHON, "the site's Python environment is not there: ./learn setup --docs makes it")
@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Build(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="warp-docs-"))
        self.addCleanup(shutil.rmtree, self.root)

    def build(self, *arguments, **changes):
        if changes.pop("made", True):
            sample.make(self.root, **changes)
        environment = {k: v for k, v in os.environ.items() if k != "WARP_BUILD_DIR"}
        return subprocess.run(
            [PYTHON, str(BUILD), "--root", str(self.root), *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=800,
        )

    def refused(self, done, pattern):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)
        self.assertNotIn("Traceback", done.stderr)

    def test_it_builds_and_warnings_stop_it(self):
        done = self.build()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        site = self.root / "build" / "docs" / "html"
        page = (site / "chapters" / "01_sample.html").read_text()
        for text in (
            "The first paragraph",
            'id="copy_far"',
            "number of elements",
            "copy_one drew this",
            'href="#copy_far"',
            "12.5 %",
        ):
            self.assertIn(text, page)
        contents = page[page.index('class="toc-tree"') :]
        self.assertRegex(contents, r'(?s)A heading.*href="#copy_one".*href="#copy_far"')
        landing = html.unescape(re.sub(r"<.*?>", "", (site / "index.html").read_text()))
        self.assertRegex(
            landing, r"(?s)At least 900 ns on an H200, bound by the launch itself .*\n +DRAM +0\.224 ns +1\.02 KB"
        )
        buttons = re.findall(
            r'<span class="linenos" id="L\d+">(\d+)</span><button type="button" class="cost" data-line="\d+" (.*?)>',
            page,
        )
        said = [("30", "loads"), ("31", "stores")]
        self.assertEqual(
            buttons,
            [
                (
                    n,
                    f'data-requests="8" data-cost="4s" title="Line {n}: global {what} of copy_one: 8 requests, 4 sectors each"',
                )
                for n, what in said
            ],
        )
        self.assertIn('<label class="counts-switch"><input type="checkbox" checked>', page)
        # A link to nowhere, in the same course.
        done = self.build(chapter=sample.CHAPTER.replace("- a list", "[nowhere](nowhere.md)"))
        self.refused(done, "(?s)nowhere.*docs: Sphinx found something wrong")

    WRONG = """\
// Between the two, 3
// ms of it.
//
// - [nowhere](nowhere.md)
//
// ```{drawing} none
// ```
//
// ```{unheard}
// ```
"""

    def test_what_is_wrong_in_prose_is_named_by_its_line(self):
        text = sample.CHAPTER.replace("// Between the two.\n", self.WRONG)
        done = self.build(chapter=text)
        self.refused(done, "docs: Sphinx found something wrong")
        first = text.split("\n").index("// Between the two, 3") + 1
        source = self.root / "chapters" / "01_sample" / "sample.cu"
        for line, words in (
            (3, "nowhere"),
            (5, "figures.py draws no 'none'"),
            (8, "Unknown directive type: 'unheard'"),
        ):
            self.assertRegex(done.stderr, rf"(?m)^{source}:{first + line}: .*{words}")
        self.assertNotIn("docs/source", done.stderr)

    def test_a_chapter_alone(self):
        """Without the rest of the site, and a link that leads there does not stop it."""
        text = sample.CHAPTER.replace("- a list", "- [elsewhere](/profiling.md)")
        self.assertNotEqual(text, sample.CHAPTER)
        done = self.build("--only", "01_sample", chapter=text)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("/profiling.md", done.stderr)
        site = self.root / "build" / "docs" / "alone" / "html"
        self.assertIn('id="copy_far"', (site / "chapters" / "01_sample.html").read_text())
        self.assertFalse((site / "profiling.html").exists())
        self.assertFalse((self.root / "build" / "docs" / "html").exists())
        self.refused(self.build("--only", "02_none", made=False), "there is no chapter 02_none")

    def test_a_part_that_nothing_makes(self):
        index = sample.INDEX + "\n```{made} version\n```\n\n```{made} none\n```\n"
        done = self.build(index=index)
        line = index.split("\n").index("```{made} none") + 1
        self.refused(done, rf"index\.md:{line}: .*a page asks for 'none'; there are chapters, copies, ")

    PREDICTIONS = """\
//? sectors: How many sectors does a load of `copy_one` touch?
//? answer: count("copy_one", "global_load_sectors") / count("copy_one", "global_load_requests")
//? unit: sectors per request
//? near: exact
//
//? faster: Which is faster?
//? choices: `copy_one` | neither
//? answer: {"copy_one": ms("copy_one", 256) < ms("copy_far/stride=8", 256),
//?   "neither": ms("copy_one", 256) >= ms("copy_far/stride=8", 256)}
//
//? later: How long does it take at 1024?
//? answer: ms("copy_one")
//? near: factor 2
"""

    SECOND = """\
// ## Much later (second reading)
//
// Only for the patient.
//
// ### Even later
//
// And for the very patient.

int main() { return 0; }"""

    def predicted(self):
        """A course with predictions in front of the second kernel; its page."""
        text = sample.CHAPTER.replace("// Between the two.\n", self.PREDICTIONS)
        text = text.replace(
            "// [hide] Setting up", "// Because of that, a reason:\n//\n//     4 = 128 / 32\n\n// [hide] Setting up"
        )
        sample.make(self.root, chapter=text.replace("int main() { return 0; }", self.SECOND))
        recorded = self.root / "chapters" / "01_sample" / "results" / "h200.json"
        recorded.parent.mkdir()
        recorded.write_text(json.dumps(sample.results("gpu")))
        done = self.build(made=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        return self.root / "build" / "docs" / "html" / "chapters" / "01_sample.html"

    def test_answers_are_folded_behind_their_questions(self):
        page = self.predicted().read_text()
        self.assertEqual(re.findall(r'id="predict-(\w+)"', page), ["sectors", "faster", "later"])
        data = [json.loads(html.unescape(text)) for text in re.findall(r'data-prediction="(.*?)"', page)]
        self.assertEqual(
            data[0], {"near": "exact", "unit": "sectors per request", "choices": [], "answer": 4.0, "shown": "4"}
        )
        self.assertEqual(data[1]["answer"], "`copy_one`")
        self.assertNotIn("answer", data[2])  # nobody has measured it
        folds = re.findall(
            r'<details class="answer" data-for="sectors faster later"><summary>(.*?)</summary>(.*?)</details>',
            page,
            re.DOTALL,
        )
        self.assertEqual([summary for summary, _ in folds], ["Answer"])
        answer = page[page.index("<summary>Answer</summary>") : page.index('id="more-about-this-chapter"')]
        self.assertIn("Counted on the simulator: 4 sectors per request.", answer)
        self.assertIn("Counted on the simulator, n = 256", answer)
        self.assertIn("Because of that, a reason:", answer)
        self.assertIn("4 = 128 / 32", re.sub(r"<.*?>", "", answer))  # a formula is part of the answer
        kernel = page.index("} // no comment")  # a string in the second kernel
        self.assertLess(page.index('id="predict-later"'), kernel)
        self.assertLess(kernel, page.index("<summary>Answer</summary>"))
        self.assertNotRegex(page, r'<details class="answer"[^>]* open')

    def test_a_page_follows_what_it_is_made_of(self):
        """Its source is as it was; its results are not."""
        page = self.predicted()
        before = page.read_text()
        file = self.root / "chapters" / "01_sample" / "results" / "h200.json"
        file.write_text(file.read_text().replace('"median": 0.125', '"median": 0.375'))
        kept = (page.parents[1] / "more" / "01_sample" / "much_later.html").stat().st_mtime_ns
        done = self.build(made=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertIn("0.1250 ms", before)
        self.assertIn("0.3750 ms", page.read_text())
        self.assertEqual((page.parents[1] / "more" / "01_sample" / "much_later.html").stat().st_mtime_ns, kept)

    def test_a_second_reading_is_a_page_of_its_own(self):
        page = self.predicted()
        road = page.read_text()
        self.assertRegex(
            road, r'<h2>Much later<a.*?</h2>\s*<p>For a second reading: <a [^>]*href="\.\./more/01_sample/much_later'
        )
        for words in ("Only for the patient.", "Even later", "(second reading)"):
            self.assertNotIn(words, road)
        later = (page.parents[1] / "more" / "01_sample" / "much_later.html").read_text()
        for words in ("Only for the patient.", "<h2>Even later", "And for the very patient."):
            self.assertIn(words, later)

    @unittest.skipUnless(
        browser.sync_playwright and browser.CHROMIUM,
        "there is no playwright or Chromium: ./learn setup --all brings them",
    )
    def test_a_browser_asks(self):
        page_file = self.predicted()
        with browser.sync_playwright() as started:
            chromium = browser.launched(started)
            context = chromium.new_context()
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.goto(page_file.as_uri())

            def opened():
                return page.locator("details.answer[open]").count()

            self.assertEqual((page.locator(".prediction form").count(), opened()), (2, 0))
            counts = page.locator(".counted-listing button.cost >> visible=true")
            self.assertEqual(counts.count(), 0)  # they wait for the predictions of their section
            field, said = page.locator(".prediction input[type=text]"), page.locator(".prediction output")
            for typed, words in (
                ("many", "Write a number"),
                ("5", "Not so: read why."),
                ("4", "Right."),
                ("8/2", "Right."),
                ("2^2", "Right."),
            ):
                field.fill(typed)
                page.keyboard.press("Enter")
                self.assertIn(words, said.first.inner_text())
            self.assertEqual(opened(), 0)  # one more is asked
            page.locator("input[type=radio]").last.check()
            page.locator(".prediction button").last.click()
            self.assertIn("Not so", said.last.inner_text())
            self.assertEqual(opened(), 1)  # nobody has measured the third: it keeps nothing shut
            self.assertEqual(counts.count(), 2)
            counts.first.focus()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            self.assertEqual(
                page.locator(".cost-detail").inner_text(),
                "Line 31: global stores of copy_one: 8 requests, 4 sectors each.",
            )
            page.keyboard.press("Escape")
            self.assertEqual(page.locator(".cost-detail").inner_text(), "")
            page.reload()
            self.assertIn("Right.", said.first.inner_text())
            self.assertEqual(opened(), 1)
            another = chromium.new_context().new_page()
            another.goto(page_file.as_uri())
            for _ in range(2):
                self.assertEqual(another.locator("details.answer[open]").count(), 0)
                another.locator(".show-answers input").check()
                self.assertEqual(another.locator("details.answer[open]").count(), 1)
                another.reload()
                self.assertEqual(another.locator("details.answer[open]").count(), 1)
                another.locator(".show-answers input").uncheck()
            without = chromium.new_context(java_script_enabled=False).new_page()
            without.goto(page_file.as_uri())
            self.assertEqual(
                (without.locator(".prediction form").count(), without.locator(".show-answers").count()), (0, 0)
            )
            self.assertEqual(without.locator("button.cost >> visible=true").count(), 0)
            without.locator(".counts-switch input").check()
            self.assertEqual(without.locator("button.cost >> visible=true").count(), 2)
            without.locator("details.answer summary").first.click()
            self.assertTrue(without.get_by_text("4 sectors per request").first.is_visible())
            chromium.close()

    def test_a_chapter_draws_for_itself(self):
        sample.make(self.root)
        own = self.root / "chapters" / "01_sample" / "figures.py"
        text = (
            'from warp.site import figures\n\n\ndef draw(simulated, source):\n    assert simulated.rows and source.name == "sample.cu"\n'
            "    drawing = figures.Drawing(figures.svg([], 600, 90), 'Words.')\n"
            '    return [("copy_far", "own", drawing, "A caption of its own")]\n'
        )
        own.write_text(text)
        done = self.build(made=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        page = (self.root / "build" / "docs" / "html" / "chapters" / "01_sample.html").read_text()
        self.assertIn("A caption of its own", page)
        own.write_text(text.replace("copy_far", "copy_none"))
        self.refused(
            self.build(made=False), r"^docs: .*figures\.py: draws for copy_none, which is no rung of the chapter$"
        )

    def test_a_program_that_is_not_built(self):
        sample.make(self.root)
        (self.root / "build" / "simulator" / "chapters" / "01_sample" / "sample").unlink()
        done = self.build(made=False)
        self.refused(done, r"^docs: .*is not built; run './learn run --backend simulator' first$")

    def test_bad_sources(self):
        self.refused(
            self.build(chapter=sample.CHAPTER.replace("--rung copy_far", "--rung copy_none")),
            r"^docs: .*sample\.cu:1: the header lists rung copy_none",
        )
        text = "\n".join(line for line in sample.CHAPTER.split("\n") if not line.startswith("/// Copies n floats, far"))
        self.refused(self.build(chapter=text), r"^docs: .*sample\.cu:\d+: rung copy_far has no contract")
        self.refused(
            self.build(chapter=sample.CHAPTER.replace("Builds on: nothing", "Builds on: 00_before")),
            r"^docs: .*builds on 00_before, which is no earlier chapter",
        )

    def test_bad_arguments(self):
        self.refused(self.build("--nonsense"), "unrecognized arguments")
        shutil.rmtree(self.root / "chapters")
        self.refused(self.build(made=False), "no chapter here")

    def test_headers_that_hold_nothing(self):
        sample.make(self.root)
        (self.root / "common" / "lab" / "include" / "lab" / "lab.h").write_text("int x;\n")
        self.refused(self.build(made=False), "Doxygen extracted nothing from the headers of lab")

    def test_a_python_without_the_packages(self):
        sample.make(self.root)
        done = subprocess.run(
            [PYTHON, "-S", "-E", str(BUILD), "--root", str(self.root)],
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.refused(done, r"^docs: this Python lacks sphinx: './learn docs'")
