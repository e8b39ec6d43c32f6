"""The pieces of the landing page, the one style sheet, and the archive that holds the site."""

import re
import tarfile
import tempfile
import unittest
from pathlib import Path

import sample

from warp.site import figures, landing, one_style, recording


class Stairs(unittest.TestCase):
    STEPS = [
        figures.Stair("chapter 02", ("naive",), 5113, "chapters/02.html"),
        figures.Stair("chapter 12", ("equal", "shares"), 54957, "chapters/12.html"),
    ]

    def test_each_step_is_a_link_and_the_peer_a_line_with_its_name(self):
        drawn = figures.stairs(self.STEPS, "cuBLAS", 51408, "GFLOP/s", "One product")
        for shown in (drawn.svg, drawn.narrow):
            self.assertEqual(re.findall(r'<a href="([^"]+)">', shown), ["chapters/02.html", "chapters/12.html"])
            self.assertIn("cuBLAS: 51,408 GFLOP/s", shown)
            self.assertIn("× 11", shown)
            self.assertEqual(shown.count('fill="var(--draw-accent)"'), 1, "the step above the line")
        self.assertIn("chapter 12, equal shares: 54,957 GFLOP/s", drawn.alt)

    def test_a_chapter_without_a_picture_gets_a_ladder(self):
        self.assertNotEqual(figures.icon("06_transpose"), figures.icon("99_nothing"))
        self.assertIn("<rect", figures.icon("99_nothing"))
        for folder in sorted((sample.ROOT / "chapters").glob("[0-9]*")):
            self.assertLess(len(figures.icon(folder.name)), 4000, folder.name)


class Recording(unittest.TestCase):
    def test_colours_of_a_terminal_become_classes(self):
        line = "\x1b[31;1mone: not yet\x1b[0m  if (i < n) \x1b[36ma && b\x1b[0m"
        self.assertEqual(
            recording.coloured(line),
            '<b class="bad">one: not yet</b>  if (i &lt; n) <b class="code">a &amp;&amp; b</b>',
        )

    def test_it_is_small_and_without_a_recording_there_is_nothing(self):
        (html,) = recording.watch(sample.ROOT)
        shown = html.text
        self.assertLess(len(shown), 30_000)
        self.assertEqual(shown.count("<li>"), 3)
        self.assertNotIn("\x1b", shown)
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(recording.watch(Path(empty)), [])


class OneStyle(unittest.TestCase):
    SHEET = "/* .no{} */.used{a:b}.other,.used .part{c:d}@media (x){.other{e:f}.used{g:h}}@font-face{i:j}p{k:l}"

    def test_what_no_page_has_is_left_out(self):
        self.assertEqual(
            one_style.used_rules(self.SHEET, {"used", "part"}),
            ".used{a:b}.used .part{c:d}@media (x){.used{g:h}}@font-face{i:j}p{k:l}",
        )
        self.assertEqual(one_style.used_rules("@media (x){.other{e:f}}", {"used"}), "")
        several = "p:not(.other){a:b}.used:is(.part,.other){c:d}.other:not(.used){e:f}"
        self.assertEqual(one_style.used_rules(several, {"used", "part"}), several.partition(".other:not")[0])

    def test_classes_are_read_from_the_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            page.write_text("<p class=\"a b\"><i class='c'>")
            self.assertEqual(one_style.classes_of([page]), {"a", "b", "c"})
            script = Path(folder, "some.js")
            script.write_text('one.classList.add("later-on")')
            self.assertEqual(
                one_style.classes_of([page], [script]) - {"one", "classList", "add"}, {"a", "b", "c", "later-on"}
            )


class Archive(unittest.TestCase):
    def test_it_holds_the_site_once(self):
        with tempfile.TemporaryDirectory() as folder:
            site, kept = Path(folder, "html"), Path(folder, "kept.tar.gz")
            archive = site / "_downloads" / "abc" / f"{landing.ARCHIVE}.tar.gz"
            archive.parent.mkdir(parents=True)
            (site / "index.html").write_text("the page")
            learn = Path(folder, "learn")
            learn.write_text("the command")
            with tarfile.open(archive, "w:gz") as course:
                course.add(learn, f"{landing.ARCHIVE}/learn")
            plain = archive.read_bytes()
            for anew in (True, True, False):
                if not anew:
                    archive.write_bytes(plain)  # as Sphinx copies it again
                landing.pack_site(site, kept, anew)
                with tarfile.open(archive) as both:
                    names = both.getnames()
                    self.assertEqual(both.extractfile(f"{landing.ARCHIVE}/site/index.html").read(), b"the page")
                self.assertEqual(sorted(names), [f"{landing.ARCHIVE}/learn", f"{landing.ARCHIVE}/site/index.html"])
