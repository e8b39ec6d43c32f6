"""docs/build.py on a small course: it builds, and what is wrong stops it with one clear line."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import sample

PYTHON = sample.site_python()


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
        return subprocess.run([PYTHON, str(sample.ROOT / "docs" / "build.py"), "--root", str(self.root), *arguments],
                              capture_output=True, text=True, env=environment, timeout=800)

    def refused(self, done, pattern):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)
        self.assertNotIn("Traceback", done.stderr)

    def test_it_builds_and_warnings_stop_it(self):
        done = self.build()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        html = self.root / "build" / "docs" / "html"
        page = (html / "chapters" / "01_sample.html").read_text()
        for text in ("The first paragraph", 'id="copy_far"', "number of elements", "copy_one drew this",
                     'href="#copy_far"', "12.5 %"):
            self.assertIn(text, page)
        self.assertIn("copy_far  PASS  8  32.0", (html / "index.html").read_text())
        # A link to nowhere, in the same course.
        done = self.build(chapter=sample.CHAPTER.replace("- a list", "[nowhere](nowhere.md)"))
        self.refused(done, "(?s)nowhere.*docs: Sphinx found something wrong")

    def test_a_chapter_draws_for_itself(self):
        sample.make(self.root)
        own = self.root / "chapters" / "01_sample" / "figures.py"
        text = ('import figures\n\n\ndef draw(simulated, source):\n    assert simulated.rows and source.name == "sample.cu"\n'
                '    return [("copy_far", "own", figures.Drawing("<svg></svg>", "Words."), "A caption of its own")]\n')
        own.write_text(text)
        done = self.build(made=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        page = (self.root / "build" / "docs" / "html" / "chapters" / "01_sample.html").read_text()
        self.assertIn("A caption of its own", page)
        own.write_text(text.replace("copy_far", "copy_none"))
        self.refused(self.build(made=False), r"^docs: .*figures\.py: draws for copy_none, which is no rung of the chapter$")

    def test_a_program_that_is_not_built(self):
        sample.make(self.root)
        (self.root / "build" / "simulator" / "chapters" / "01_sample" / "sample").unlink()
        done = self.build(made=False)
        self.refused(done, r"^docs: .*is not built; run './learn run --backend simulator' first$")

    def test_bad_sources(self):
        self.refused(self.build(chapter=sample.CHAPTER.replace("--rung copy_far", "--rung copy_none")),
                     r"^docs: .*sample\.cu:1: the header lists rung copy_none")
        text = "\n".join(line for line in sample.CHAPTER.split("\n") if not line.startswith("/// Copies n floats, far"))
        self.refused(self.build(chapter=text), r"^docs: .*sample\.cu:\d+: rung copy_far has no contract")
        self.refused(self.build(chapter=sample.CHAPTER.replace("Builds on: nothing", "Builds on: 00_before")),
                     r"^docs: .*builds on 00_before, which is no earlier chapter")

    def test_bad_arguments(self):
        self.refused(self.build("--port", "0"), "legal is 1 to 65535")
        self.refused(self.build("--nonsense"), "unrecognized arguments")
        shutil.rmtree(self.root / "chapters")
        self.refused(self.build(made=False), "no chapter here")

    def test_headers_that_hold_nothing(self):
        sample.make(self.root)
        (self.root / "common" / "lab" / "include" / "lab" / "lab.h").write_text("int x;\n")
        self.refused(self.build(made=False), "Doxygen extracted nothing from the headers of lab")

    def test_a_python_without_the_packages(self):
        sample.make(self.root)
        done = subprocess.run([PYTHON, "-S", "-E", str(sample.ROOT / "docs" / "build.py"), "--root", str(self.root)],
                              capture_output=True, text=True, timeout=300)
        self.refused(done, r"^docs: this Python lacks sphinx, .*run './learn docs'")


if __name__ == "__main__":
    unittest.main()
