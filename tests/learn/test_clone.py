"""A fresh clone of this course: the cells of notebooks/start.ipynb from top to bottom, then a chapter of one's own.

There is no IPython here: a line of `!` runs in a shell, `%%writefile` does what it does there, and a cell of neither is Python. That
the site can be a clone's first command, .ci/site sees.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import fake

import suites
from test_notebook import EXERCISE, code_cells, exercise, fetched_from

LABELS = ["learn", "slow"]
SECONDS = 3600  # it compiles the simulator and a chapter
COST = 300
PATIENCE = 3000  # seconds for a cell


class Notebook:
    """What a notebook keeps from cell to cell, and what the last one printed."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("WARP_", "CMAKE_GENERATOR"))}
        self.environment.update(NO_COLOR="1", CUDACXX="none")  # no GPU, whatever this machine has

    def run(self, cell):
        """Its output, of both streams."""
        if cell.startswith("%%writefile "):
            head, _, text = cell.partition("\n")
            fake.write(os.path.join(self.folder, head.split()[1]), text + "\n")
            return ""
        if not cell.startswith("!"):
            return self.python(cell)
        return "".join(self.shell(line[1:]) for line in cell.split("\n"))

    def python(self, cell):
        """What it prints; the folder that it goes to stays."""
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(cell, {})
            self.folder = os.getcwd()
        finally:
            os.chdir(here)
        return printed.getvalue()

    def shell(self, command):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        return done.stdout + f"\n[exit code {done.returncode}]\n"


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Clone(unittest.TestCase):
    def test_the_first_hour(self):
        folder = os.path.realpath(tempfile.mkdtemp(prefix="warp-notebook-"))
        self.addCleanup(shutil.rmtree, folder)
        notebook, said = Notebook(folder), []
        for cell in code_cells():
            said.append((cell, notebook.run(fetched_from("file://" + fake.ROOT, cell))))
        outputs = dict(said)

        def output(begin):
            return next(text for cell, text in outputs.items() if cell.startswith(begin))

        self.assertEqual(output("import os").strip(), "The course is in " + os.path.join(folder, "warp-by-warp"))
        self.assertIn("simulator", output("!./learn doctor"))
        for begin, words in (
            ("!./learn run 02", ("naive_along_rows", "H200 ms", "0 FAIL", "on the simulator: ok")),
            ("!./learn explain 02", ("Kernel naive_along_rows", "sect/load")),
            ("!./learn start", ("Right for square matrices only", "my/02_naive_gemm/swapped_indices.cu")),
            ("!./learn new", ("PASS: 10007 of 10007 elements are right", "Kernel saxpy")),
        ):
            for word in words:
                self.assertIn(word, output(begin))
            self.assertIn("[exit code 0]", output(begin))
        # The blank is wrong; the solution in its place passes.
        self.assertIn("swapped_indices: not yet", output("!./learn check"))
        notebook.run("%%writefile my/" + EXERCISE + "\n" + exercise().solution.rstrip("\n"))
        self.assertIn("swapped_indices: passed", notebook.run("!./learn check swapped_indices"))
        self.a_chapter_is_its_folder(notebook)

    def a_chapter_is_its_folder(self, notebook):
        self.assertIn("[exit code 0]", notebook.run("!./learn new chapter 21_histograms"))
        # What git sees beside what it ignores.
        new = ["chapters/21_histograms/histograms.cu", "chapters/21_histograms/test_histograms.py"]
        self.assertEqual(notebook.run("!git status --porcelain -uall | cut -c4-").split("\n")[:2], new)
        self.assertIn("2 PASS", notebook.run("!./learn run 21 --backend simulator"))
        suite = f"cd chapters/21_histograms && {suites.site_python() or sys.executable} -m unittest test_histograms"
        for command in (
            f"export WARP_BUILD_DIR=$PWD/build PYTHONPATH=$PWD/tests/course/chapters; {suite}",
            "./learn author check 21",
        ):
            output = notebook.run("!" + command)
            self.assertIn("[exit code 0]", output, output)
        self.assertEqual(notebook.run("!git status --porcelain -uall | cut -c4-").split("\n")[:3], [*new, ""])
