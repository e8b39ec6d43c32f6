"""notebooks/start.ipynb: what it says exists. test_clone.py runs it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import fake

from warp.cli import options, table
from warp.exercise import exercises as course

NOTEBOOK = os.path.join(fake.ROOT, "notebooks", "start.ipynb")
EXERCISE = "02_naive_gemm/swapped_indices.cu"


def exercise():
    return course.read(pathlib.Path(fake.ROOT), *EXERCISE[: -len(".cu")].split("/"))


def cells():
    found = fake.load(NOTEBOOK)
    return [("".join(cell["source"]), cell) for cell in found["cells"]]


def code_cells():
    return [text for text, cell in cells() if cell["cell_type"] == "code"]


def fetched_from(address, cell):
    """The cell with an address of the course."""
    return re.sub(r'^REPOSITORY = ""', lambda _: f"REPOSITORY = {address!r}", cell, flags=re.MULTILINE)


class Form(unittest.TestCase):
    def test_no_output_is_kept(self):
        for _, cell in cells():
            self.assertEqual(cell.get("outputs", []), [])
            self.assertIsNone(cell.get("execution_count"))

    def test_its_commands_exist(self):
        lines = re.findall(r"!\./learn ?([^\n`]*)", "\n".join(text for text, _ in cells()))
        self.assertGreater(len(lines), 5)
        for line in filter(None, lines):
            words = line.split()
            self.assertIsNotNone(table.find(words[0]), line)
            options.parse(table.find(words[0]), words[1:])

    def test_its_exercise_is_that_of_the_course(self):
        (cell,) = [text for text in code_cells() if text.startswith("%%writefile ")]
        head, _, text = cell.partition("\n")
        self.assertEqual(head, "%%writefile my/" + EXERCISE)
        self.assertEqual(text, exercise().blank.rstrip("\n"))


class Fetch(unittest.TestCase):
    """The cell that finds the course, or clones it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)

    def run_cell(self, address="", at=""):
        """(exit code, what it says) of a Python of its own in a folder of this test."""
        (cell,) = [text for text in code_cells() if "REPOSITORY" in text]
        where = os.path.join(self.folder, at)
        command = [sys.executable, "-c", fetched_from(address, cell)]
        done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout.strip()

    def a_course(self, name):
        """A folder that looks like the course, and is a git repository."""
        where = os.path.join(self.folder, name)
        for path in (("chapters", "01_thread_indexing", "thread_indexing.cu"), ("notebooks", "start.ipynb")):
            os.makedirs(os.path.join(where, *path[:-1]))
            fake.write(os.path.join(where, *path), "")
        for words in (
            ["init", "-q"],
            ["add", "."],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
        ):
            subprocess.run(["git", *words], cwd=where, check=True)
        return where

    def test_without_an_address_one_line_says_what_to_do(self):
        code, said = self.run_cell()
        self.assertEqual(said, "Put the address of the course into REPOSITORY, in this cell, and run the cell again.")
        self.assertEqual(code, 1)

    def test_an_address_is_cloned_once(self):
        address = self.a_course("origin")
        os.mkdir(os.path.join(self.folder, "content"))
        clone = os.path.join(self.folder, "content", "warp-by-warp")
        for _ in range(2):
            self.assertEqual(self.run_cell(address, "content"), (0, "The course is in " + clone))

    def test_a_clone_needs_no_address(self):
        clone = self.a_course("clone")
        for at in ("clone", "clone/notebooks"):
            self.assertEqual(self.run_cell("", at), (0, "The course is in " + clone))

    def test_a_wrong_address_is_named(self):
        code, said = self.run_cell("nowhere.git")
        self.assertEqual(code, 1)
        self.assertRegex(said, "^git clone nowhere.git: fatal: .*nowhere.git")
