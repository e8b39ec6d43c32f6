"""The sheet: one page, whose words are those of the simulator and of `explain`."""

import os
import re
import unittest

import fake

from warp.base.ui import Palette
from warp.cli.commands import sheet
from warp.explain.report import COLUMNS


def source():
    return fake.read(sheet.SOURCE)


class Sheet(unittest.TestCase):
    def rows(self, heading):
        part = source().split(f"## {heading}\n")[1].split("\n## ")[0]
        return [
            name for line in re.findall(r"^\| (`.*?) \|", part, re.MULTILINE) for name in re.findall("`(.+?)`", line)
        ]

    def test_it_is_one_page_without_markdown(self):
        lines = sheet.shown(source(), Palette(False))
        self.assertLessEqual(len(lines), 80)
        self.assertEqual([line for line in lines if len(line) > 100 or "`" in line or line.startswith(("#", "|"))], [])
        for words in (
            "Launch",
            "  const int threads = 256;",
            "  guard                if (i < n)",
            "  __syncthreads()  ",
        ):
            self.assertTrue(any(line.startswith(words) for line in lines), words)

    def test_its_counts_are_columns_of_explain(self):
        self.assertTrue(self.rows("Counts"))
        self.assertLessEqual(set(self.rows("Counts")), {column.heading for column in COLUMNS})

    def test_its_findings_are_those_of_the_simulator(self):
        folder, texts = os.path.join(fake.ROOT, "common", "simt"), []
        for place, _, files in os.walk(folder):
            for name in files:
                if name.endswith((".cpp", ".h")):
                    texts.append(fake.read(os.path.join(place, name)))
        known = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', "".join(texts)))
        self.assertGreater(len(self.rows("Findings")), 5)
        self.assertLessEqual(set(self.rows("Findings")), known)


class Command(fake.Checkout):
    def test_it_prints_the_page(self):
        self.write("docs/sheet.md", "# The sheet\n\nWords.\n")
        self.assertEqual(self.learn("sheet", code=0).stdout, "The sheet\n\nWords.\n")
        os.unlink(os.path.join(self.root, "docs", "sheet.md"))
        self.assertIn("cannot read docs/sheet.md", self.learn("sheet", code=1).stderr)
