"""What every chapter's program has to do on the simulator: run the rungs of its header, each as the header says."""

import functools
import json
import re
import unittest

from chapter import ROOT, Chapter

import registration

from warp.base import records
from warp.chapter import header, source
from warp.chapter.results import as_text
from warp.chapter.written import Report

LABELS = ["chapter"]
NEEDS = ["chapters"]

MOST_REGISTRATION = 60  # lines of a chapter that register rungs

CHAPTERS = [Chapter(main.parent.name) for main in source.find_chapters(ROOT / "chapters")]


def for_each_chapter(test):
    """A test of one chapter, made one of all: what fails is reported under its chapter, and the others go on."""

    @functools.wraps(test)
    def all_of_them(self):
        for chapter in CHAPTERS:
            with self.subTest(chapter.name):
                test(self, chapter, header.read(chapter.source))

    return all_of_them


class EveryChapter(unittest.TestCase):
    @for_each_chapter
    def test_each_rung_passes_or_says_what_it_needs(self, chapter, said):
        run = chapter.simulated()  # ResultsError where a rung fails
        text = (run.work / "results.json").read_text(encoding="utf-8")
        self.assertEqual(list(dict.fromkeys(row.rung for row in run.rows)), list(said.rungs))
        for row in run.rows:
            rung = said.rungs[row.rung]
            self.assertIn(row.status, ("PASS", "SKIP"), row)
            if row.status == "SKIP":
                self.assertTrue(row.reason.startswith("needs "), row)
            if rung.raises:
                self.assertTrue(row.reason.startswith(f"raises {rung.raises}, as it should"), row)
        report = json.loads(text)
        records.read(Report, report, strict=True)  # FormError where lab writes what nobody reads
        # The program and the recorder write one form. Of several digits that read back as one double, either may take any.
        written, recorded = (re.sub(r": -?\d[-+.e\d]*", ": 0", form) for form in (text, as_text(report)))
        self.assertEqual(written, recorded)

    @for_each_chapter
    def test_the_smallest_size_is_right_too(self, chapter, said):
        run = chapter.run("--size", ",".join("1" for _ in said.sizes["simulator"].split(",")), results=False)
        self.assertEqual(run.code, 0, run.explain())

    @for_each_chapter
    def test_a_size_that_fills_no_block_is_right_too(self, chapter, said):
        # No more than by default: where an extent is a number of heads, more of them take time and tell nothing.
        extents = [min(odd, int(default)) for odd, default in zip((33, 19, 13), said.sizes["simulator"].split(","))]
        run = chapter.run("--size", ",".join(map(str, extents)), results=False)
        self.assertEqual(run.code, 0, run.explain())

    @for_each_chapter
    def test_the_list_is_the_headers(self, chapter, said):
        listed = chapter.run("--list", results=False)
        self.assertEqual(listed.code, 0, listed.explain())
        names = [line.split()[0] for line in listed.out.splitlines() if line.strip()]
        self.assertEqual(names, list(said.rungs))
        for rung in said.rungs.values():
            self.assertIn(rung.idea.split("(")[0].strip(), " ".join(listed.out.split()))

    @for_each_chapter
    def test_header_and_registration_name_the_same_rungs(self, chapter, said):
        """In the files that only a GPU's build compiles, too."""
        call = re.compile(r'\.(?:add|sweep|demonstrate|skip)\(\s*\{?\s*(?:\.name\s*=\s*)?"(\w+)"')
        code = "".join(
            re.sub(r"^//.*\n", "", file.read_text(), flags=re.MULTILINE) for file in chapter.source.parent.glob("*.cu")
        )
        self.assertEqual(set(call.findall(code)) - set(said.rungs), set(), "registered, and not in the header")
        absent = [
            name
            for name, rung in said.rungs.items()
            if f'"{name}"' not in code and not {"cublas", "cub"} & set(rung.needs)
        ]
        self.assertEqual(absent, [], "in the header, and not registered")

    @for_each_chapter
    def test_its_registration_is_short(self, chapter, said):
        lines = registration.count(chapter.source.parent)
        said = f"{lines} lines register rungs: `python3 tests/course/chapters/registration.py`"
        self.assertLessEqual(lines, MOST_REGISTRATION, said)

    @for_each_chapter
    def test_the_counts_are_those_of_the_hardware(self, chapter, said):
        self.assertFalse(chapter.disagreements())


class Registration(unittest.TestCase):
    """registration.py, on sources made up."""

    def lines(self, *text):
        return sorted(registration.registration("\n".join(text)))

    def test_main_and_what_takes_a_ladder_count(self):
        self.assertEqual(
            self.lines(
                "int main(int argc, char** argv) {",
                "  return lab::run(argc, argv, [](lab::Ladder& ladder, size_t n) {",
                "    // a comment",
                "",
                "    ladder.add({});  // a rung",
                "  });",
                "}",
            ),
            [0, 1, 4, 5, 6],
        )
        for taken in (
            "lab::Ladder& ladder",
            "lab::GemmLadder& ladder",
            "int n, lab::Map<float, lab::Pair<int>>& map",
            "const lab::Problem& sums",
            "lab::Problem const& sums",
            "Canvas& canvas",
            "int n,\n    lab::Map<float>& map",
        ):
            body = " {", "  f();", "}", "int other;"
            more = taken.count("\n")
            self.assertEqual(self.lines("void add(" + taken + ")" + body[0], *body[1:]), list(range(3 + more)), taken)
            rungs = self.lines("static const lab::Rungs here([](" + taken + ") mutable -> void {", "  f();", "});")
            self.assertEqual(rungs, list(range(3 + more)), taken)
        self.assertEqual(self.lines("template <class T>", "void add(lab::Map<T>& map) {", "}"), [0, 1, 2])

    def test_all_else_does_not(self):
        for text in (
            "__global__ void f(float* out) {\n}",
            "void add(lab::Ladder& ladder);\nint f() {\n  return 1;\n}",
            "void f(const lab::Input<float>& in) {\n}",
            "// void add(lab::Ladder& ladder) {\nint x = f(a) {\n}",
            'const char* text = "(lab::Ladder& ladder) {";\n',
            "void f(Mapping& map, Ladders& other) {\n}",
        ):
            self.assertEqual(self.lines(text), [], text)

    def test_braces_in_texts_and_comments_are_none(self):
        self.assertEqual(
            self.lines("void add(lab::Ladder& l) {", '  f("}");  // }', "  g('}', 1'000);", "}", "int n;"), [0, 1, 2, 3]
        )


class TwoThatFail(unittest.TestCase):
    def test_each_is_reported_by_its_name(self):
        self.assertGreater(len(CHAPTERS), 2)
        failing = [CHAPTERS[0].name, CHAPTERS[-1].name]

        class Failing(unittest.TestCase):
            @for_each_chapter
            def test(self, chapter, said):
                self.assertNotIn(chapter.name, failing)

        result = unittest.TestResult()
        Failing("test").run(result)
        self.assertEqual(result.errors, [])
        self.assertEqual([re.search(r"\[(\w+)\]", str(test)).group(1) for test, _ in result.failures], failing)
