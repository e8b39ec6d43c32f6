"""The reader of a chapter's header: what it gives, and the line that each mistake gets."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from warp.chapter import header, source  # noqa: E402
from warp.exercise import exercises  # noqa: E402

SOURCE = """\
// # Chapter 06: Transpose
//
// Question: A transpose moves the bytes of a copy.
//   Why does it take longer?
// Builds on: 01_thread_indexing, 05_bank_conflicts (and patience)
// Kind: map
// Size gpu: 16384,16384
// Size simulator: 96,160
// Sizes measured: 16384,16384 16384,10007
// Run: ./learn run 06
//   ./learn run 06 --rung naive        rows in, columns out
//   ./learn run 06 --rung no_barrier   reads before the tile is full   [raises shared-race]
//   ./learn run 06 --rung tma          one thread asks,
//                                      the TMA moves   [needs sm_90a, cuda 12.9]
//   ./learn run 06 --rung cublas       the library's tile[][]   [needs cublas; raises out-of-bounds]

#include "lab/lab.h"
"""


def parse(text, folder="06_transpose"):
    return header.parse("transpose.cu", folder, text.split("\n"))


class Read(unittest.TestCase):
    def test_the_way_through(self):
        plain = parse(SOURCE)
        self.assertEqual((plain.minutes, plain.on_short_path, plain.afterwards), (0, False, ""))
        fields = "// Minutes: 45\n// Path: short\n// Afterwards: move data,\n//   fast\n"
        read = parse(SOURCE.replace("// Size gpu", fields + "// Size gpu", 1))
        self.assertEqual((read.minutes, read.on_short_path, read.afterwards), (45, True, "move data, fast"))
        for wrong, legal in (
            ("Minutes: long", "a number from 1"),
            ("Minutes: 1000", "a number"),
            ("Path: long", "legal is short"),
        ):
            with self.assertRaisesRegex(header.SourceError, legal):
                parse(SOURCE.replace("// Size gpu", f"// {wrong}\n// Size gpu", 1))

    def test_all_of_it(self):
        read = parse(SOURCE)
        self.assertEqual((read.number, read.title, read.kind), ("06", "Transpose", "map"))
        self.assertEqual(read.question, "A transpose moves the bytes of a copy. Why does it take longer?")
        self.assertEqual(read.builds_on, ["01_thread_indexing", "05_bank_conflicts"])
        self.assertEqual(read.sizes, {"gpu": "16384,16384", "simulator": "96,160"})
        self.assertEqual(read.sizes_measured, ["16384,16384", "16384,10007"])
        self.assertEqual((read.end, read.intro), (SOURCE.split("\n").index(""), ""))
        rungs = [(rung.name, rung.idea, rung.needs, rung.raises) for rung in read.rungs.values()]
        self.assertEqual(
            rungs,
            [
                ("naive", "rows in, columns out", [], None),
                ("no_barrier", "reads before the tile is full", [], "shared-race"),
                ("tma", "one thread asks, the TMA moves", ["sm_90a", "cuda 12.9"], None),
                ("cublas", "the library's tile[][]", ["cublas"], "out-of-bounds"),
            ],
        )

    def test_what_may_be_left_out(self):
        text = SOURCE.replace("// Kind: map\n", "").replace("// Sizes measured: 16384,16384 16384,10007\n", "")
        read = parse(text.replace("01_thread_indexing, 05_bank_conflicts (and patience)", "nothing"))
        self.assertEqual((read.kind, read.builds_on, read.sizes_measured), ("free", [], ["16384,16384"]))
        product = text.replace("16384,16384", "64,64,64").replace("96,160", "9,9,9")
        self.assertEqual(parse(product).kind, "gemm")

    def test_prose_may_follow(self):
        self.assertEqual(parse(SOURCE.replace("\n\n#include", "\n//\n// Some words.\n\n#include")).intro, "Some words.")

    def test_a_chapter_of_the_course(self):
        for folder in sorted((ROOT / "chapters").glob("[0-9][0-9]_*")):
            self.assertEqual(header.read(folder / f"{folder.name[3:]}.cu").folder, folder.name)

    def test_no_such_file_and_no_chapter(self):
        for file, said in (
            (ROOT / "none.cu", "none.cu: No such file"),
            (Path(__file__), "test_header.py:1: a chapter starts with"),
        ):
            with self.assertRaisesRegex(header.SourceError, said):
                header.read(file)


class Refused(unittest.TestCase):
    def refused(self, old, new, line, words, folder="06_transpose"):
        self.assertIn(old, SOURCE)
        with self.assertRaises(header.SourceError) as caught:
            parse(SOURCE.replace(old, new), folder)
        message = str(caught.exception)
        self.assertTrue(message.startswith(f"transpose.cu:{line}: "), message)
        self.assertIn(words, message)
        self.assertNotIn("\n", message)

    def test_mistakes(self):
        self.refused("// # Chapter 06:", "// Chapter 06:", 1, "starts with the line")
        self.refused("Chapter 06: T", "Chapter 07: T", 1, "the folder is 06_transpose")
        self.refused("// Question:", "// Questions:", 1, "lacks the line '// Question: ...'")
        self.refused("// Size gpu: 16384,16384\n", "", 1, "lacks the line '// Size gpu: ...'")
        self.refused("// Size gpu: 16384,16384", "// Size gpu:", 1, "lacks the line '// Size gpu: ...'")
        self.refused("// Kind: map", "// Kind: map\n// Kind: map", 7, "a second time")
        self.refused("// Kind: map", "// Kind: chart", 6, "legal is map, gemm, free")
        self.refused("// Kind: map", "// Kind: gemm", 6, "a kind of 2 extents; a gemm has a size of 3")
        self.refused("96,160", "96, 160", 8, "a size: n, rows,cols or M,N,K")
        self.refused("96,160", "96,0", 8, "a size: n, rows,cols or M,N,K")
        self.refused("96,160", "96", 8, "as many extents as 'Size gpu' has, 2")
        self.refused("measured: 16384,16384", "measured: 8,8", 9, "that of 'Size gpu' (16384,16384) first")
        self.refused("05_bank_conflicts", "chapter 5", 5, "folder names such as 01_thread_indexing")
        self.refused("06 --rung tma", "05 --rung tma", 13, "write './learn run 06 --rung ...'")
        self.refused("--rung tma ", "--rung naive ", 13, "rung naive is listed twice")
        self.refused("--rung tma ", "--rung tma-2 ", 13, "is no name of a rung")
        self.refused("[raises shared-race]", "[raises]", 12, "legal is [needs A, B]")
        self.refused("[raises shared-race]", "[needs gpu; needs gpu]", 12, "legal is [needs A, B]")
        self.refused("cuda 12.9", "cuda", 13, "needs 'cuda': legal is gpu, sm_90")
        self.refused("needs cublas", "needs cublass", 15, "needs 'cublass': legal is gpu, sm_90")

    def test_no_rung(self):
        text = "\n".join(line for line in SOURCE.split("\n") if "--rung" not in line)
        with self.assertRaisesRegex(header.SourceError, r"^transpose.cu:1: the header lists no rung"):
            parse(text)


class Readme(unittest.TestCase):
    def test_it_lists_the_chapters_by_their_headers(self):
        titles = {}
        for main in source.find_chapters(ROOT / "chapters"):
            found = header.read(main)
            titles[main.parent.name] = f"{found.number} {found.title}"
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        shown = [(folder, title) for title, folder in re.findall(r"\[([^]]*)\]\(chapters/(\w+)\)", text)]
        self.assertEqual([one for one in shown if one not in titles.items()], [])
        self.assertEqual(shown, sorted(set(shown)))
        # A chapter is in the list once it is measured; `./learn new chapter` edits nothing outside its folder.
        recorded = {folder for folder in titles if list((ROOT / "chapters" / folder / "results").glob("*00.json"))}
        self.assertLessEqual(recorded, set(dict(shown)), "README.md lacks a chapter that has results")


class Paths(unittest.TestCase):
    """The way through the course, as the headers of its chapters and exercises state it."""

    @classmethod
    def setUpClass(cls):
        cls.chapters = {main.parent.name: header.read(main) for main in source.find_chapters(ROOT / "chapters")}
        cls.exercises = exercises.all_exercises(ROOT)

    def hours(self, on):
        chosen = [one for one in [*self.chapters.values(), *self.exercises] if on(one)]
        return sum(one.minutes for one in chosen) / 60

    def test_the_short_path_takes_about_six_hours(self):
        self.assertTrue(5.5 < self.hours(lambda one: one.on_short_path) < 6.5)

    def test_the_readme_has_the_hours(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        full, short = re.search(r"about (\d+) hours.*?about (\d+)", text, re.DOTALL).groups()
        self.assertEqual(int(full), round(self.hours(lambda one: True)))
        self.assertEqual(int(short), round(self.hours(lambda one: one.on_short_path)))

    def test_exercises_of_the_short_path_have_their_chapter_on_it(self):
        """And a chapter on it has two at least, none of which needs one that is left out."""
        short = [key for key, one in self.chapters.items() if one.on_short_path]
        found = [one.chapter for one in self.exercises if one.on_short_path]
        self.assertEqual(sorted(set(found)), short)
        for key in short:
            self.assertGreaterEqual(found.count(key), 2, key)
