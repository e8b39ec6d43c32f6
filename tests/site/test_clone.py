"""A fresh clone, used as a reader's first hour uses it: the site first, then programs of one's own."""

import os
import resource
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import sample

import suites

LABELS = ["site", "slow"]
SECONDS = 3600  # it compiles everything once more
COST = 400

PYTHON = suites.site_python()
PATIENCE = 3000  # seconds for a step: the simulator and every chapter are compiled


@unittest.skipUnless(PYTHON, "the site's Python environment is not there: ./learn setup --docs makes it")
@unittest.skipUnless(shutil.which("doxygen") and shutil.which("git"), "doxygen or git is not installed")
class Clone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="warp-clone-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.root = cls.folder / "course"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(sample.ROOT), str(cls.root)], check=True)
        # The packages of the site are as setup leaves them, so that nothing is downloaded here.
        (cls.root / "build").mkdir()
        (cls.root / "build" / "venv").symlink_to(Path(PYTHON).parents[1])

    def learn(self, *words):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("WARP_", "CMAKE_GENERATOR"))}
        environment |= {"NO_COLOR": "1"}
        done = subprocess.run(
            [self.root / "learn", *words],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def touched(self):
        """What git sees beside what it ignores."""
        done = subprocess.run(
            ["git", "-C", self.root, "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True
        )
        return [line[3:] for line in done.stdout.splitlines()]

    def page(self):
        return (self.root / "build" / "docs" / "html" / "chapters" / "02_naive_gemm.html").read_text(encoding="utf-8")

    def test_the_first_hour(self):
        with self.subTest("the site is the first command"):
            self.assertIn("The site: build/docs/html/index.html", self.learn("docs"))
            self.assertIn("Naive GEMM", self.page())
            self.assertEqual(self.touched(), [])
        with self.subTest("an edit of prose is on its page in ten seconds"):
            source = self.root / "chapters" / "02_naive_gemm" / "naive_gemm.cu"
            text = source.read_text(encoding="utf-8")
            edited = text.replace("\n// ## 1.", "\n// A sentence that nobody\n// has written before.\n//\n// ## 1.", 1)
            self.assertNotEqual(edited, text)
            source.write_text(edited, encoding="utf-8")
            time.sleep(0.1)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                self.learn("docs")
            finally:
                source.write_text(text, encoding="utf-8")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.assertIn("nobody\nhas written before", self.page())
            # Of work, not on the clock; where other tests run beside, the same work takes a processor a fifth longer.
            self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 12)
        with self.subTest("a program of one's own"):
            self.learn("new", "my.cu")
            self.assertIn("saxpy", self.learn("explain", "my/my.cu"))
            (self.root / "my" / "my.cu").unlink()
        with self.subTest("a chapter is its folder"):
            self.learn("new", "chapter", "21_histograms")
            self.assertEqual(
                self.touched(), ["chapters/21_histograms/histograms.cu", "chapters/21_histograms/test_histograms.py"]
            )
            self.assertIn("2 PASS", self.learn("run", "21", "--backend", "simulator"))
            build = self.root / "build" / "simulator"
            environment = {
                **os.environ,
                "WARP_BUILD_DIR": str(build.parent),
                "PYTHONPATH": str(self.root / "tests" / "course" / "chapters"),
            }
            for command, folder in (
                ([PYTHON, "-m", "unittest", "test_histograms"], self.root / "chapters" / "21_histograms"),
                (["./learn", "author", "check", "21"], self.root),
            ):
                done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(len(self.touched()), 2)


if __name__ == "__main__":
    unittest.main()
