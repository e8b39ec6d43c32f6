"""The README's picture is what the recorded results make of it."""

import shutil
import tempfile
import unittest
from pathlib import Path

import sample

from warp.site import picture


class Picture(unittest.TestCase):
    def test_it_is_of_these_results(self):
        kept = picture.PICTURE.read_text(encoding="utf-8")
        self.assertTrue(kept == picture.picture(), "docs/ladder.svg is of other results: ./learn author picture")

    def test_other_results_make_another(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            shutil.copytree(sample.ROOT / "chapters", root / "chapters")
            self.assertEqual(picture.picture(root), picture.picture())
            file = root / "chapters" / "12_past_cublas" / "results" / "h200.json"
            shutil.copy(root / "chapters" / "05_bank_conflicts" / "results" / "h200.json", file)
            self.assertNotEqual(picture.picture(root), picture.picture())

    def test_its_colours_are_those_of_the_site(self):
        text = picture.picture()
        self.assertEqual(text.count("--draw-accent: "), 2)
        for name in picture.COLOURS:
            self.assertNotIn(f"--draw-{name}: ;", text)
