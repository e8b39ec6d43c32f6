"""Commands say which page of the site shows what they print, and the site learns what is passed."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fake  # noqa: F401, for tools/ on the path

from warp.base import pages


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.built, self.shipped = Path(folder.name, "html"), Path(folder.name, "site")
        for name, value in (("BUILT", self.built), ("SHIPPED", self.shipped)):
            patch = mock.patch.object(pages, name, str(value))
            patch.start()
            self.addCleanup(patch.stop)

    def make(self, root):
        for name in ("index.html", "chapters/01_first.html", "_static/learned.js"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("")

    def told(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            pages.tell(*words)
        return out.getvalue()

    def test_a_page_is_named_where_there_is_a_site(self):
        self.assertEqual(self.told("chapters/01_first"), "")
        self.make(self.shipped)
        self.assertEqual(
            self.told("chapters/01_first", "copy"), f"Its page: {self.shipped}/chapters/01_first.html#copy\n"
        )
        self.make(self.built)
        self.assertEqual(self.told("chapters/01_first"), f"Its page: {self.built}/chapters/01_first.html\n")
        self.assertEqual(self.told("chapters/99_none"), "")

    def test_a_terminal_gets_a_link(self):
        self.make(self.built)
        with mock.patch.object(pages.ui, "is_terminal", lambda _stream: True):
            told = self.told("chapters/01_first", "copy")
        self.assertIn(f"\x1b]8;;{(self.built / 'chapters' / '01_first.html').as_uri()}#copy\x1b\\", told)
        self.assertTrue(told.endswith("\x1b]8;;\x1b\\\n"))

    def test_the_site_learns_what_is_passed(self):
        kept = {"exercises": {"01_first/one": {"passed": "2026-01-02"}, "01_first/two": {"tries": 3}, "bad": 7}}
        pages.note_passed(kept)  # no site: nothing
        self.assertFalse(os.path.exists(self.built))
        self.make(self.built)
        pages.note_passed(kept)
        self.assertEqual(
            (self.built / "_static" / "learned.js").read_text(), 'globalThis.learned = {"passed": ["01_first/one"]};\n'
        )


if __name__ == "__main__":
    unittest.main()
