"""notebooks/start.ipynb: what it says exists. test_clone.py runs it."""

import os
import pathlib
import re
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
