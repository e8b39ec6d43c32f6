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

    def test_the_short_path_is_printed(self):
        from warp.base import paths
        from warp.base.errors import LearnError
        from warp.chapter import chapters
        from warp.cli.commands import docs

        class Browser:
            words = ""

            def chromium(self):
                return self.words

        folder = str(self.built.parent)
        for name, value in (("BUILD", folder), ("LOGS", os.path.join(folder, "logs"))):
            patch = mock.patch.object(paths, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        machine = Browser()
        with self.assertRaisesRegex(LearnError, "--pdf needs chromium"):
            docs.print_short_path(machine, str(self.built))
        machine.words = os.path.join(folder, "chromium")
        Path(machine.words).write_text(
            "#!/bin/sh\nfor one; do case $one in --print-to-pdf=*) : > ${one#*=};; esac; done\n"
        )
        os.chmod(machine.words, 0o755)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            docs.print_short_path(machine, str(self.built))
        printed = {path.stem for path in Path(folder, "docs", "pdf").glob("*.pdf")}
        self.assertEqual(printed, {one.key for one in chapters.all_chapters() if one.on_short_path})
        self.assertIn("01_thread_indexing", printed)
        Path(machine.words).write_text("#!/bin/sh\n")
        for path in Path(folder, "docs", "pdf").glob("*.pdf"):
            path.unlink()
        with self.assertRaisesRegex(LearnError, "wrote no"), contextlib.redirect_stderr(io.StringIO()):
            docs.print_short_path(machine, str(self.built))
