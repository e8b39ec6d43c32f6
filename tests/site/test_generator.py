"""The generator, on small sources: what a page is made of, and what it refuses."""

import base64
import json
import re
import shutil
import stat
import tempfile
import unittest
import urllib.parse
from dataclasses import replace
from pathlib import Path

import sample  # puts tools on the path

from outline import outline

from warp.chapter import maps, results, source
from warp.chapter.counted import load_counted
from warp.chapter.errors import SourceError
from warp.chapter.functions import find_function
from warp.chapter.source import Code, Fold, Prose, RungHere
from warp.chapter.written import Launches, Row, Times
from warp.explain import listing
from warp.site import (
    chapter_page,
    chapter_tables,
    compiler_explorer,
    counted_listing,
    doxygen,
    key_figures,
    markup,
    rung_tables,
    valid_html,
)
from warp.site.blocks import Text


class Temporary(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="warp-docs-"))
        self.addCleanup(shutil.rmtree, self.root)

    def chapter(self, text=sample.CHAPTER, folder="01_sample", name="sample.cu"):
        path = self.root / "chapters" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def parse(self, text=sample.CHAPTER, **place):
        return source.parse_chapter(self.chapter(text, **place))

    def refused(self, text, pattern):
        """The source is refused in one line that starts with the file and a line number."""
        with self.assertRaisesRegex(SourceError, pattern) as caught:
            self.parse(text)
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        self.assertRegex(message, r"sample\.cu:\d+: ")


KERNELS = """\
#include <cuda_pipeline.h>
#include <cstdio>

constexpr int WIDTH = 4;  // of a vector
constexpr int OTHER = 5;
struct Four {
  float x[WIDTH];
};

/// One of them.
__device__ float first(const Four& four) { return four.x[0]; }
void host() { first({}); }

/// The kernel.
template <class T>
__global__ void pick(float* out, const T* in) { out[0] = first(in[0]); }
"""


class CompilerExplorer(unittest.TestCase):
    def test_a_kernel_comes_with_what_it_needs(self):
        unit = compiler_explorer.unit(KERNELS, "pick<Four>")
        for part in (
            "<cuda_runtime.h>",
            "<cuda_pipeline.h>",
            "WIDTH = 4;  // of a vector",
            "struct Four",
            "/// One of",
        ):
            self.assertIn(part, unit)
        for part in ("OTHER", "host", "cstdio"):
            self.assertNotIn(part, unit)
        self.assertLess(unit.index("WIDTH"), unit.index("struct Four"))
        self.assertTrue(unit.endswith("reinterpret_cast<void*>(pick<Four>);\n"))
        self.assertEqual(compiler_explorer.unit(KERNELS, "missing"), "")

    def test_the_address_carries_the_source(self):
        link = compiler_explorer.address("int i = 1 > 0 ? 7 : 255;  // ??>>~~\n", "sm_90a")
        self.assertRegex(link, r"^https://godbolt\.org/clientstate/[A-Za-z0-9%]+$")
        state = json.loads(base64.b64decode(urllib.parse.unquote(link.rpartition("/")[2])))
        (session,) = state["sessions"]
        self.assertEqual((session["language"], session["source"][:5]), ("cuda", "int i"))
        self.assertEqual(session["compilers"][0]["options"], "-std=c++20 -O3 -arch=sm_90a")

    def test_the_first_listing_of_a_kernel_has_the_link(self):
        fence = '```{sass} one only=LDG\nLDG\n```\n\n```{sass} "02:two<4, 1>"\nLDS\n```'
        chapter = source.Chapter("01_x", Path("x.cu"), None, [], {})
        pages = chapter_page.Pages(chapter, "p", {}, None, None)
        pages.kernels = {"one": "https://godbolt.org/1", "three": "x"}
        texts = pages.render([Prose(1, fence), Prose(9, fence)], chapter.path)
        self.assertEqual([text.links for text in texts], [{"one": "https://godbolt.org/1"}, {}])
        self.assertEqual(chapter_page.MACHINE_CODE.findall(fence), [("", "one"), ("02:two<4, 1>", "")])


class Headers(Temporary):
    """Rungs and functions; tests/course/test_header.py has the fields."""

    def test_the_run_line_may_name_the_first_rung(self):
        text = sample.CHAPTER.replace("// Run: ./learn run 01\n", "// Run: ./learn run 01 --rung copy_zero   idea\n")
        self.assertRaisesRegex(SourceError, "rung copy_zero, but no function", self.parse, text)

    def test_a_rung_needs_a_function(self):
        self.refused(sample.CHAPTER.replace("copy_far(float", "copy_afar(float"), "rung copy_far, but no function")
        # A declaration and a call are no definition.
        text = (
            sample.CHAPTER.replace("copy_far(float", "copy_afar(float")
            + "void copy_far(int n);\nvoid f() { copy_far(1); }\n"
        )
        self.refused(text, "rung copy_far, but no function")

    def test_rungs_that_need_no_function(self):
        lines = (
            "//   ./learn run 01 --rung copy_far ",
            "//   ./learn run 01 --rung {} idea  [{}]\n//   ./learn run 01 --rung copy_far ",
        )
        for name, bracket in (("cublas", "needs cublas"), ("no_guard", "raises out-of-bounds")):
            text = sample.CHAPTER.replace(lines[0], lines[1].format(name, bracket))
            self.assertIn(name, self.parse(text).header.rungs)
            self.refused(text.replace(f"[{bracket}]", "[needs gpu]"), f"rung {name}, but no function")
            here = [
                b.name
                for b in self.parse(text.replace("// Between the two.", f"// [rung {name}]")).blocks
                if isinstance(b, RungHere)
            ]
            self.assertEqual(here, ["copy_one", name, "copy_far"])
            report = sample.results()
            report["rows"].insert(1, {"rung": name, "size": {"n": 256}, "status": "SKIP", "reason": "needs it"})
            for place, before in (("// Between the two.", "The ladder"), (f"// [rung {name}]", "{card} copy_far")):
                chapter = self.parse(text.replace("// Between the two.", place))
                names = {"copy_one": "copy_one", "copy_far": "copy_far"}
                simulated = results.parse(json.dumps(report), "r")
                pages = chapter_page.chapter_pages(chapter_page.Pages(chapter, "p", names, simulated, None))
                page = "\n".join(map(outline, pages.values()))
                self.assertEqual(page.count(f"{{card}} {name}\n"), 1)
                self.assertLess(page.index(f"{{card}} {name}\n"), page.index(before))

    def test_a_rung_may_stand_in_another_file_of_the_chapter(self):
        path = self.chapter(sample.CHAPTER.replace("copy_far(float", "copy_afar(float"))
        other = path.parent / "sample_gpu.cu"
        other.write_text("void copy_far() {\n}\n")
        self.assertNotIn("copy_far", source.parse_chapter(path, [other]).functions)

    def test_unreadable_sources(self):
        path = self.chapter()
        path.write_bytes(b"// # Chapter 01: \xff\n")
        self.assertRaisesRegex(SourceError, r"sample\.cu: not UTF-8", source.parse_chapter, path)
        self.assertRaisesRegex(SourceError, "No such file", source.parse_chapter, path.parent / "gone.cu")


class Blocks(Temporary):
    def test_the_whole(self):
        blocks = self.parse().blocks
        kinds = [type(block).__name__ for block in blocks]
        self.assertEqual(
            kinds, ["Code", "Prose", "Prose", "Code", "RungHere", "Prose", "Code", "RungHere", "Fold", "Code"]
        )
        self.assertEqual([b.name for b in blocks if isinstance(b, RungHere)], ["copy_one", "copy_far"])
        self.assertEqual(blocks[1].text, "The first paragraph, with `copy_far` named in it.")
        self.assertEqual((blocks[2].text, blocks[2].heading), ("## A heading\n\n- a list", (2, "A heading")))
        self.assertEqual(blocks[8].title, "Setting up")

    def test_every_line_is_shown_with_its_own_number(self):
        lines = sample.CHAPTER.split("\n")
        shown = set()

        def walk(blocks):
            for block in blocks:
                if isinstance(block, Code):
                    for number, line in enumerate(block.lines, start=block.line):
                        self.assertEqual(line, lines[number - 1])
                        shown.add(number)
                elif isinstance(block, Fold):
                    walk(block.blocks)

        walk(self.parse().blocks)
        code = {n for n, line in enumerate(lines, start=1) if line.strip() and not line.startswith("//")}
        self.assertLessEqual(code, shown)

    def test_contracts_of_rungs_are_left_out_and_of_others_kept(self):
        text = sample.CHAPTER.replace("int main()", "/// Not a rung.\nint main()")
        listed = "\n".join(line for b in self.parse(text).blocks if isinstance(b, Code) for line in b.lines)
        self.assertNotIn("@param", listed)
        self.assertIn("/// Not a rung.", listed)

    def test_what_looks_like_prose_and_is_none(self):
        text = (
            sample.CHAPTER
            + 'const char* s = R"(\n// not prose\n)";\n/*\n// nor this\n*/\n// clang-format off\nint x;\n'
        )
        blocks = self.parse(text).blocks
        self.assertFalse(
            any(
                isinstance(b, Prose) and "not prose" in b.text or isinstance(b, Prose) and "nor" in b.text
                for b in blocks
            )
        )
        self.assertFalse(any(isinstance(b, Prose) and "clang-format" in b.text for b in blocks))
        self.assertIn("// not prose", "\n".join(blocks[-1].lines))

    def test_prose_that_begins_with_a_fence_ends_at_the_next_heading(self):
        text = sample.CHAPTER.replace("// Between the two.", "// ```\n// x\n// ```\n//\n// ## Another (second reading)")
        prose = [block for block in self.parse(text).blocks if isinstance(block, Prose)]
        self.assertEqual(prose[-1].heading, (2, "Another"))
        self.assertTrue(prose[-1].second_reading)

    def test_windows_line_ends(self):
        path = self.chapter()
        path.write_bytes(sample.CHAPTER.replace("\n", "\r\n").encode())
        self.assertEqual(len(source.parse_chapter(path).blocks), len(self.parse().blocks))

    def test_bad_blocks(self):
        source = sample.CHAPTER
        self.refused(source.replace("// [/hide]\n", ""), r"'\[hide\]' is never closed")
        self.refused(source.replace("// [hide] Setting up\n", ""), r"'\[/hide\]' without '\[hide\]'")
        self.refused(source.replace("void helper() {}", "// [hide]"), r"'\[hide\]' inside the '\[hide\]' of line")
        self.refused(source.replace("// - a list", "// ```cpp\n// x"), "the fence '```' is not closed")
        self.refused(source.replace("// - a list", "// 62\n// % of its time"), r"a line of prose begins with '%'")
        self.parse(source.replace("// - a list", "// 62 %\n// of its time"))


class WhatBoundsEachRung(unittest.TestCase):
    def placed(self, *heads):
        road = [Text(f"{head}\n\nWords.") for head in heads]
        drawing = Text("drawing")
        chapter_page.place_bounds(road, [drawing])
        return [block.text.partition("\n")[0] for block in road]

    def test_the_drawing_stands_behind_the_chapters_own_words(self):
        own, last = chapter_page.BOUNDS, chapter_page.REMEMBER
        self.assertEqual(self.placed("## 1. A", own, last), ["## 1. A", own, "drawing", last])
        self.assertEqual(self.placed("## 1. A", last), ["## 1. A", own, "drawing", last])
        self.assertEqual(self.placed("## 1. A"), ["## 1. A", own, "drawing"])
        road = [Text("## 1. A")]
        chapter_page.place_bounds(road, [])
        self.assertEqual(len(road), 1)


class Functions(unittest.TestCase):
    def find(self, text, name="f"):
        found = find_function(text, name)
        return found and (found.contract, found.first, found.last)

    def test_forms(self):
        self.assertEqual(self.find("int f() {\n}\n"), (1, 1, 2))
        self.assertEqual(
            self.find(
                "/// a\n/// b\ntemplate <class T, int N = 3>\n__global__ void __launch_bounds__(32)\n    f(T* a,\n      int n) {\n  if (n) {\n  }\n}\n"
            ),
            (1, 3, 9),
        )
        self.assertEqual(self.find("#define X {\nauto f(int n) -> std::vector<int> { return {}; }"), (2, 2, 2))
        self.assertEqual(self.find("int g() { return 0; }\nint f() noexcept { return 1; }"), (2, 2, 2))
        self.assertEqual(self.find("namespace n {\nvoid f() {}\n}"), (2, 2, 2))

    def test_what_is_no_definition(self):
        for text in (
            "int f();",
            "// int f() {}",
            'auto s = "int f() {}";',
            "int ff() {}",
            "void g() { f(); }",
            "void g() { if (f()) { } }",
            "int f(",
            'x = R"(int f() {})";',
        ):
            self.assertIsNone(self.find(text), text)

    def test_braces_in_strings_and_comments_do_not_end_it(self):
        self.assertEqual(self.find("void f() {\n  c = '}';  // }\n  s = \"}\"; /* } */\n}\nint x;"), (1, 1, 4))

    def test_digit_separators_are_no_characters(self):
        self.assertEqual(self.find("int a = 1'000'000;\nvoid f() {\n}"), (2, 2, 3))


class CountsBesideLines(unittest.TestCase):
    def launch(self, kernel, line, example=None, **counts):
        examples = [{"space": "shared", "access": "load", "size": 4, "addresses": example}] if example else []
        entry = {"file": f"/somewhere/{line[0]}", "line": line[1], "counts": counts, "examples": examples}
        return {"kernel": f"{kernel}(float*)", "lines": [entry]}

    def costs(self, *launches):
        return counted_listing.costs_of({"launches": list(launches)}, "a.cu")

    def test_what_a_line_costs(self):
        steps = [self.launch("f", ("a.cu", 7), [1280 + 4 * s * i for i in range(32)], shared_load_requests=8,
                             shared_load_wavefronts=8 * s, shared_load_bank_conflicts=8 * (s - 1)) for s in (1, 2, 32)]  # fmt: skip
        far = self.launch(
            "g", ("a.cu", 7), None, global_store_requests=2, global_store_sectors=64, global_store_bytes=256
        )
        near = self.launch("g", ("a.cu", 9), None, global_load_requests=2, global_load_sectors=8, global_load_bytes=256)
        found = self.costs(*steps, far, near, self.launch("g", ("b.cu", 9), None, global_load_requests=1))
        self.assertEqual(sorted(found), [7, 9])
        self.assertEqual(listing.cost_of(found[7]), "32s 1–32w")
        self.assertEqual(listing.cost_of(found[9]), "4s")
        self.assertEqual(listing.cost_of(found[7][1:] + found[9]), "32/4s")
        self.assertEqual(
            [cost.words() for cost in found[7] + found[9]],
            [
                "shared loads of f, 3 launches: 1 to 32 wavefronts a request",
                "global stores of g: 2 requests, 32 sectors each",
                "global loads of g: 2 requests, 4 sectors each",
            ],
        )
        self.assertEqual([cost.wasted for cost in found[7] + found[9]], [True, True, False])
        self.assertEqual(found[7][0].patterns, [["s", 0, 4, [0, 4 * s]] for s in (1, 2, 32)])  # 1280 is bank 0

    def test_addresses_without_a_step_are_written_out(self):
        odd = [None, 132, *range(256, 256 + 30 * 4, 4)]
        one = maps.pattern({"space": "global", "access": "store", "size": 4, "addresses": odd})
        self.assertEqual(one, ["g", 1, 4, [None, 4, *range(128, 128 + 30 * 4, 4)]])
        self.assertIsNone(maps.pattern({"space": "shared", "access": "atomic", "size": 4, "addresses": odd}))

    def test_a_listing_has_what_its_lines_cost(self):
        code = Code(7, ["void f() {", "}"])
        costs = self.costs(self.launch("f", ("a.cu", 8), None, shared_load_requests=1, shared_load_wavefronts=1))
        told = counted_listing.listing(code, costs).told
        self.assertEqual({number: (line.requests, line.cost) for number, line in told.lines.items()}, {8: ("1", "1w")})
        plain = Code(17, ["void f() {", "}"])
        self.assertIs(counted_listing.listing(plain, costs).code, plain)
        self.assertEqual(counted_listing.listing(plain, costs).told.lines, {})


class ShortListings(unittest.TestCase):
    """What of a listing is marked, and what of a long one is shown at first."""

    TREE = [
        "__global__ void tree(float* out, const float* in, int n) {",
        "  __shared__ float sums[256];",
        "  sums[threadIdx.x] = in[threadIdx.x];",
        "  __syncthreads();",
        "  for (int s = 1; s < 256; s *= 2) {",
        "    if (threadIdx.x % (2 * s) == 0) sums[threadIdx.x] += sums[threadIdx.x + s];",
        "    __syncthreads();",
        "  }",
        "  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];",
        "}",
    ]
    STRIDED = [line.replace("tree", "strided") for line in TREE]
    STRIDED[5] = "    if (2 * s * threadIdx.x < 256) sums[2 * s * threadIdx.x] += sums[2 * s * threadIdx.x + s];"

    def test_a_kernel_is_compared_with_the_earlier_one_that_it_is_most_like(self):
        other = ["__global__ void other(int* p) {", "  *p = 1;", "}"]
        found = counted_listing.compared("strided", self.STRIDED, 101, {"tree": self.TREE, "other": other})
        self.assertEqual((found.base, found.changed), ("tree", {106}))  # its name alone is no difference
        self.assertIsNone(counted_listing.compared("strided", self.STRIDED, 101, {"other": other}))
        again = [line.replace("tree", "again") + ("  // why" if "sums[0]" in line else "") for line in self.TREE]
        self.assertEqual(counted_listing.compared("again", again, 1, {"tree": self.TREE}).changed, set())

    def test_a_long_kernel_shows_what_differs(self):
        filler = [f"  x{i} = {i};" for i in range(20)]
        code = Code(101, [*self.STRIDED[:1], *filler, *self.STRIDED[1:]])
        marks = counted_listing.compared(
            "strided", code.lines, 101, {"tree": [*self.TREE[:1], *filler, *self.TREE[1:]]}
        )
        shown = counted_listing.shown_lines(code, {}, marks)
        self.assertEqual(sorted(shown), [101, 102, 125, 126, 127, 128, 129, 130])
        self.assertEqual(counted_listing.shown_lines(code, {}, None, long=40), set(range(101, 131)))
        short = Code(101, self.STRIDED)
        self.assertEqual(len(counted_listing.shown_lines(short, {}, marks)), len(self.STRIDED))

    def test_a_long_one_without_an_earlier_shows_memory_barriers_and_loops(self):
        filler = [f"  x{i} = {i};" for i in range(30)]
        code = Code(1, [*self.TREE[:1], *filler, *self.TREE[1:]])
        shown = counted_listing.shown_lines(code, {33: [counted_listing.Cost("f", "l", "sectors")]}, None)
        self.assertLess(len(shown), counted_listing.LONG + 6)
        self.assertLessEqual({1, 33, 34, 35, 37, 40}, shown)
        self.assertNotIn(15, shown)


class KeyFigures(unittest.TestCase):
    """The two large numbers of a card."""

    def figures(self, before="copy_one", **measured):
        report = sample.results("gpu")
        for row in report["rows"]:
            row.update(measured)
        return key_figures.key_figures(
            "copy_far", before, results.parse(json.dumps(sample.results()), "r"), results.parse(json.dumps(report), "h")
        )

    def test_what_it_was_and_what_it_is(self):
        cost = ["4", "32", "sectors a global load"]
        self.assertEqual(self.figures(), [["4,000", "500", "GB/s, 10 % of cudaMemcpy"], cost])
        self.assertEqual(self.figures(before=""), [["", "500", "GB/s, 10 % of cudaMemcpy"], ["", *cost[1:]]])
        self.assertEqual(self.figures(rate=None)[0], ["", "1.000", "ms on NVIDIA H200"])
        simulated = results.parse(json.dumps(sample.results()), "r")
        self.assertEqual(key_figures.key_figures("copy_one", "", simulated, None), [["", "4", "sectors a global load"]])
        self.assertEqual(key_figures.key_figures("nothing", "", simulated, None), [])

    def test_of_several_variants_it_says_which(self):
        report = sample.results("gpu")
        far = next(row for row in report["rows"] if row["rung"] == "copy_far")
        far["variant"] = "stride=8"
        report["rows"].append({**far, "variant": "stride=2", "rate": 2 * far["rate"]})
        measured = results.parse(json.dumps(report), "h")
        simulated = results.parse(json.dumps(sample.results()), "r")
        speed = key_figures.key_figures("copy_far", "", simulated, measured)[0]
        self.assertEqual(speed, ["", "1,000", "GB/s, 10 % of cudaMemcpy (stride=2)"])

    def test_the_numbers_of_the_margin(self):
        measured = results.parse(json.dumps(sample.results("gpu")), "h")
        self.assertEqual(
            key_figures.in_margin("copy_far", measured),
            [["1.000 ms", "copy_far, stride=8"], ["12 %", "of the machine's limit"]],
        )
        self.assertEqual(key_figures.in_margin("nothing", measured), [])
        self.assertEqual(key_figures.in_margin("copy_far", None), [])
        report = sample.results("gpu")
        report["rows"][1]["fraction_of_limit"] = 0.001
        few = key_figures.in_margin("copy_far", results.parse(json.dumps(report), "h"))
        self.assertEqual(few[1], ["< 1 %", "of the machine's limit"])
        del report["rows"][1]["rate"]  # the card has its time
        self.assertEqual(key_figures.in_margin("copy_far", results.parse(json.dumps(report), "h")), [])


class Pages(Temporary):
    def page(self, simulated=None, measured=None, text=sample.CHAPTER, whole=False, **more):
        chapter = self.parse(text)
        names = {name: name for name in chapter.header.rungs}
        run = results.parse(json.dumps(simulated or sample.results()), "r.json")
        pages = chapter_page.chapter_pages(chapter_page.Pages(chapter, "chapter_01", names, run, measured, **more))
        return pages if whole else "\n".join(map(outline, pages.values()))

    def test_order(self):
        page = self.page()
        places = [
            page.index(text)
            for text in (
                "# [Chapter 01]{.chapter-number}[:]{.colon} Sample",
                "Does the page say",
                "`./learn run 01` runs it.",
                "The first paragraph",
                "{listing} 28",
                "const int i = blockIdx",
                "{card} copy_one",
                "{contract} copy_one",
                "Between the two.",
                "{card} copy_far",
                "{fold} Setting up",
                "int main()",
                "4,096 on a GPU",
                "256 on the simulator",
                "## The ladder",
            )
        ]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("@param", page)

    def test_bytes_that_several_lanes_ask_for(self):
        counts = {"global_load_requests": 2, "global_load_sectors": 2, "global_load_active_lanes": 64}
        often = outline(rung_tables.counts_table([Row("f", {}, "PASS", counts={**counts, "global_load_bytes": 256})]))
        self.assertIn("| 400 % |", often)
        self.assertIn("\n\nMore than 100 % of the bytes are used where several lanes ask for the same ones.", often)
        once = rung_tables.counts_table([Row("f", {}, "PASS", counts={**counts, "global_load_bytes": 64})])
        self.assertNotIn("several", outline(once))

    def test_counts(self):
        page = self.page()
        self.assertIn("| global loads | 8 | 32 | 4 |\n", page)
        self.assertIn("In every row: 100 % of the bytes used, 32 lanes per request.", page)
        self.assertIn("| global loads | 8 | 256 | 32 |\n", page)
        self.assertIn("In every row: 12.5 % of the bytes used, 32 lanes per request.", page)
        self.assertIn("| {rung}`01_sample/copy_far` `stride=8` | 8 | 32 | 8 | 32 | 32 | – | PASS |", page)
        self.assertIn("No measurement on hardware is recorded", page)
        self.assertNotIn("NVIDIA", page)

    def test_measured(self):
        page = self.page(measured=results.parse(json.dumps(sample.results("gpu")), "h200.json"))
        self.assertIn("| 0.1250 ms | 4,000 GB/s | 80.0 % | 95.2 % | 0.1125 to 0.1375 |", page)
        self.assertIn("| 1.000 ms | 500 GB/s | 10.0 % | 11.9 % | 0.9000 to 1.100 |", page)
        self.assertIn("NVIDIA H200, driver 580.1, CUDA 13.0, 2026-01-02, commit 0123456789", page)
        self.assertIn("`cudaMemcpy`", page)
        self.assertNotIn("No measurement on hardware", page)

    def test_what_was_not_measured_has_no_column(self):
        report = sample.results("gpu")
        for row in report["rows"]:
            del row["peer"], row["ratio_to_peer"]
        page = self.page(measured=results.parse(json.dumps(report), "h200.json"))
        self.assertIn("| 0.1250 ms | 4,000 GB/s | 95.2 % | 0.1125 to 0.1375 |", page)

    def test_a_long_listing_without_a_kernel_is_folded(self):
        def page(body):
            return self.page(text=sample.CHAPTER.replace("int main() { return 0; }", body))

        long = "int main() {\n" + "  step();\n" * 20 + "}"
        found = re.search(r"\{fold\} `main`: lines (\d+) to (\d+)\n", page(long))
        self.assertEqual(int(found[2]) - int(found[1]), 21)
        self.assertNotIn("{fold} `main`", page("int main() {\n" + "  step();\n" * 8 + "}"))
        self.assertNotIn("{fold} `", page(long.replace("int main()", "__global__ void kernel()")))
        two = page(long.replace("  step();\n", "}\nstruct Step {\n", 1))
        self.assertIn("{fold} `main`, `Step`: lines", two)

    def test_what_is_off_the_road_has_a_page_and_its_anchor_leads_there(self):
        text = sample.CHAPTER.replace(
            "// Between the two.\n", "// ## Much later (second reading)\n//\n// Patience.\n//\n// ### Even later\n"
        ).replace("// [hide] Setting up", "// ## Possibilities for extension\n//\n// Many.\n\n// [hide] Setting up")
        pages = self.page(text=text, whole=True)
        self.assertEqual(
            list(pages),
            ["chapters/01_sample", *(f"more/01_sample/{one}" for one in ("much_later", "further", "measurements"))],
        )
        self.assertEqual([page.is_beside for page in pages.values()], [False, True, True, True])
        road, later, further, _ = map(outline, pages.values())
        self.assertIn("## Much later\n\nFor a second reading: [Much later](/more/01_sample/much_later.cu).", road)
        self.assertIn("{elsewhere} copy_far\nmore/01_sample/much_later\n", road)
        self.assertNotIn("Patience.", road)
        for words in ("# Chapter 01: Much later", "Patience.", "\n### Even later", "{card} copy_far\n"):
            self.assertIn(words, later)
        (raised,) = {block.raised for block in pages["more/01_sample/much_later"].blocks[1:] if isinstance(block, Text)}
        self.assertEqual(raised, 1)
        self.assertIn("Many.", further)
        self.assertIn("int main()", further)
        self.assertIn("[Further](/more/01_sample/further.cu)\n\nPossibilities for extension.", road)

    def test_what_a_file_beside_it_is(self):
        plain, hopper = Path("sample_bf16.cu"), Path("sample_sm90.cu")
        blocks = source.parse_blocks(plain, ["// ## In BF16", "//", "// Words."], 1, [])
        self.assertEqual(chapter_page.about_file(plain, blocks), "In BF16.")
        self.assertEqual(chapter_page.about_file(plain, []), "A file of the chapter.")
        self.assertEqual(chapter_page.about_file(hopper, blocks), "A file of the chapter that needs a Hopper GPU.")

    def test_what_never_varies_is_said_once(self):
        report = sample.results()
        far = report["rows"][1]
        report["rows"] += [dict(far, variant="stride=1", counts=dict(far["counts"], global_load_sectors=64))]
        page = self.page(simulated=report)
        self.assertIn("| `stride=8` | global loads | 8 | 256 | 32 | 12.5 % |", page)
        self.assertIn("| `stride=1` | global loads | 8 | 64 | 8 | 50 % |", page)
        self.assertEqual(page.count("| global stores | 8 | 256 | 32 |"), 1)
        self.assertIn("| each | global stores | 8 | 256 | 32 | 12.5 % |", page)
        self.assertEqual(page.count("In every row: 100 % of the bytes used, 32 lanes per request."), 1)
        self.assertEqual(page.count("In every row: 32 lanes per request."), 1)
        head, body, constant = rung_tables.without_constants(
            ["a", "n", "x", "y"], [["p", "1", "5", "–"], ["q", "1", "5", "–"]], 2
        )
        self.assertEqual((head, body, constant), (["a", "n", "y"], [["p", "1", "–"], ["q", "1", "–"]], ["5 x"]))

    def test_many_variants_are_bars(self):
        body = [[f"`{n}`", f"{n}.5 GB/s", "x"] for n in (1, 10, 20, 5)]
        cells = [cells[1] for cells in rung_tables.charted(body, 1)]
        self.assertEqual(cells[1:3], ["[10.5 GB/s]{.bar .p10}", "[20.5 GB/s]{.bar .p20}"])
        self.assertEqual(rung_tables.charted(body[:3], 1), body[:3])
        self.assertEqual(rung_tables.charted([["a", "2"]] * 4, 1), [["a", "2"]] * 4)
        self.assertIn(["e", "–"], rung_tables.charted([*([f"{n}", f"{n}"] for n in range(4)), ["e", "–"]], 1))

    def test_every_gpu_is_shown(self):
        first, second = (results.parse(json.dumps(sample.results("gpu")), "r.json") for _ in range(2))
        second.device = "NVIDIA H100"
        second.rows = second.rows[:1]  # the other rung was not measured there
        page = self.page(measured=first, elsewhere=[second])
        self.assertEqual(page.count("{tab} On NVIDIA H100"), 1)
        self.assertEqual(page.count("{fold} On NVIDIA H100"), 1)  # in the ladder
        self.assertLess(page.index("Measured on NVIDIA H200, n = 256"), page.index("{tab} On NVIDIA H100"))
        ends = page[page.index("## The ladder") :]
        self.assertLess(ends.index("Measured on NVIDIA H200"), ends.index("Measured on NVIDIA H100"))

    def test_a_rung_that_was_not_measured_yet(self):
        measured = results.parse(json.dumps(sample.results("gpu")), "r.json")
        measured.rows = measured.rows[1:]
        self.assertIn("{card} copy_one", self.page(measured=measured))

    def test_which_gpus_were_recorded(self):
        folder = self.root / "results"
        folder.mkdir()
        for name in ("a100", "h200", "h100", "h200_counts", "h200_timeline", "h100_caches", "differences"):
            (folder / f"{name}.json").write_text(json.dumps(sample.results("gpu")))
        self.assertEqual(list(results.load_recorded(folder)), ["h200", "a100", "h100"])

    def test_measured_at_several_sizes(self):
        report = sample.results("gpu")
        for row in report["rows"][:2]:
            report["rows"].append(dict(row, size={"n": 1024}))
        page = self.page(measured=results.parse(json.dumps(report), "h200.json"))
        self.assertIn("| size | median |", page)
        self.assertIn("| 1,024 | 0.1250 ms |", page)
        self.assertIn("Measured on NVIDIA H200, n = 256:", page)
        self.assertIn("Measured on NVIDIA H200, n = 1,024:", page)
        ends = page[page.index("## The ladder") :]
        places = [ends.index(text) for text in ("{fold} On NVIDIA H200", "n = 256:", "n = 1,024:")]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("At other sizes", page[: page.index("## The ladder")])
        for size in (2048, 4096, 8192):
            report["rows"].append(dict(report["rows"][0], size={"n": size}))
        page = self.page(measured=results.parse(json.dumps(report), "h200.json"))
        panel = page[page.index("{card} copy_one") : page.index("{card} copy_far")]
        places = [
            panel.index(text) for text in ("H200, n = 256", "| 0.1250 ms", "At other sizes", "| 8,192 | 0.1250 ms")
        ]
        self.assertEqual(places, sorted(places))
        self.assertEqual(markup.short_size({"M": 4096, "N": 4096, "K": 4096}), "4,096")
        self.assertEqual(markup.short_size({"M": 1, "N": 2000, "K": 3}), "1\u00a0×\u00a02,000\u00a0×\u00a03")
        self.assertEqual(markup.short_size({"rows": 96, "cols": 96}), "96\u00a0×\u00a096")
        # Of two extents a chapter says what they are: rows and columns, or positions and heads.
        self.assertEqual(markup.size_text({"rows": 4096, "cols": 64}), "4,096\u00a0× 64")
        self.assertEqual(markup.size_text({"n": 4096}), "n = 4,096")

    def test_variants_of_most_rungs_are_columns(self):
        def row(rung, variant, ms):
            return Row(rung, {}, "PASS", variant, time_ms=Times(ms, ms, ms, 1))

        scenes = ("a", "b", "c", "d")
        full = [row("fast", scene, 1.5) for scene in scenes]
        rows = [row("slow", "d", 20.25), row("slow", "a", 10), Row("slow", {}, "PASS", "b"), *full]
        self.assertIsNone(chapter_tables.by_variant(rows, ["slow", "fast"]))  # b and c are those of one rung of two
        rows += [row("third", scene, 2) for scene in scenes]
        made = outline([chapter_tables.by_variant(rows, ["slow", "fast", "third"])])
        self.assertIn("| rung | `a` | `b` | `c` | `d` |", made)
        self.assertIn("| {rung}`slow` | 10.00 | – | – | 20.25 |", made)
        self.assertIsNone(chapter_tables.by_variant([*rows, row("third", "e", 2)], ["slow", "fast", "third"]))
        self.assertIsNone(chapter_tables.by_variant(full[:3], ["fast"]))

    def test_reasons(self):
        report = sample.results()
        report["rows"][0] = {"rung": "copy_one", "size": {"n": 256}, "status": "SKIP", "reason": "needs a GPU"}
        report["rows"][1] = {
            "rung": "copy_far",
            "size": {"n": 256},
            "status": "PASS",
            "reason": "read of 4 bytes: ```x\nin f",
        }
        page = self.page(report)
        self.assertIn("Not run on the simulator: needs a GPU.", page)
        self.assertIn("{box} finding\n\n`read of 4 bytes: '''x`\n", page)
        self.assertIn("{output} finding\nread of 4 bytes: ```x\nin f\n", page)
        # A demonstration is for the simulator alone, which the page need not say; of another rung it does.
        measured = sample.results("gpu")
        for row in measured["rows"]:
            row.update(status="SKIP", reason=f"no {row['rung']} here")
            del row["time_ms"]
        page = self.page(report, measured=results.parse(json.dumps(measured), "h200.json"))
        self.assertIn(r"Not run on NVIDIA H200: no copy\_one here.", page)
        self.assertNotIn("far here", page)

    def test_paths_of_the_course(self):
        report = sample.results()
        report["rows"][0]["reason"] = "read of 4 bytes at /home/me/course/chapters/x.cu:3 in f"
        found = results.parse(json.dumps(report), "r.json")
        found.output, found.shown = (
            "at /home/me/course/chapters/x.cu:3",
            {"f": "/home/me/course/x.cu and /home/me/coursework"},
        )
        results.without_root(found, Path("/home/me/course"))
        self.assertEqual(found.rows[0].reason, "read of 4 bytes at chapters/x.cu:3 in f")
        self.assertEqual((found.output, found.shown["f"]), ("at chapters/x.cu:3", "x.cu and /home/me/coursework"))

    def test_divergent_branches(self):
        report = sample.results()
        far = report["rows"][1]
        far["counts"]["divergent_branches"] = 3
        report["rows"].append(dict(far, variant="stride=4", counts=dict(far["counts"])))
        self.assertIn("Divergent branches: 3 in each variant.", self.page(report))
        report["rows"][2]["counts"]["divergent_branches"] = 4
        self.assertIn("Divergent branches: 3 (`stride=8`), 4 (`stride=4`).", self.page(report))

    def test_signs(self):
        text = "32 x 8, `32 x 8` and M x\nK, 0 x NaN; x along N, 2 x it\n\n    64 x 64\n\n```\n4 x 4\n```\n2 x 2\n"
        self.assertEqual(
            markup.typeset(text),
            "32 × 8, `32 x 8` and M ×\nK, 0 × NaN; x along N, 2 x it\n\n    64 x 64\n\n```\n4 x 4\n```\n2 × 2\n".replace(
                " ×", "\u00a0×"
            ),
        )
        self.assertEqual(
            markup.typeset("TILE x TILE, ROWS x COLS, `rows` x `cols`, an x of `v` and `x`"),
            "TILE\u00a0× TILE, ROWS\u00a0× COLS, `rows`\u00a0× `cols`, an x of `v` and `x`",
        )
        self.assertEqual(
            markup.typeset("62 %, 0.33\nms, 4 KiB, m x n, `2 ms`; 3 msx, 2 uses\n\n    1 ms\n"),
            "62\u00a0%, 0.33\u00a0ms, 4\u00a0KiB, m\u00a0× n, `2 ms`; 3 msx, 2 uses\n\n    1 ms\n",
        )
        self.assertEqual(
            markup.typeset("2 n^2, 2^31 - 1, C^T = B^T A^T, 2^-24; lane i ^ 1, `2^4`, a^b, e^2x\n\n    n^3\n"),
            "2 n², 2³¹ - 1, Cᵀ = Bᵀ Aᵀ, 2⁻²⁴; lane i ^ 1, `2^4`, a^b, e^2x\n\n    n^3\n",
        )

    def test_an_option_is_not_broken_at_its_hyphens(self):
        code = '<span class="pre">{}</span>'.format
        whole = '<span class="pre whole">{}</span>'.format
        for word in ("--sass", "apt-get", "-lineinfo", "x-" + "y" * 22):
            self.assertEqual(valid_html.repaired(code(word)), whole(word))
        for word in ("plain", "x-" + "y" * 23, "cudaOccupancyMaxActive-Blocks"):
            self.assertEqual(valid_html.repaired(code(word)), code(word))

    def test_a_line_that_takes_the_next_ones_unit_keeps_its_number(self):
        text = "It takes 3\nms of 4\nKiB;\nall of it.\n\n```\n1\nms\n```\nend"
        typeset, rows = markup.typeset_rows(text, range(10, 20))
        self.assertEqual(typeset.split("\n")[:2], ["It takes 3\u00a0ms of 4\u00a0KiB;", "all of it."])
        self.assertEqual((len(rows), rows), (typeset.count("\n") + 1, [10, 13, 14, 15, 16, 17, 18, 19]))

    def test_rungs_must_agree(self):
        report = sample.results()
        report["rows"][1]["rung"] = "copy_other"
        self.assertRaisesRegex(
            SourceError, r"sample\.cu:1: the simulator's run has a rung copy_other", self.page, report
        )
        report["rows"].pop()
        self.assertRaisesRegex(
            SourceError, "the header lists rung copy_far, which the simulator's run does not have", self.page, report
        )

    def test_notes_are_a_page_of_their_own(self):
        title = "# Laboratory notes of chapter 01"
        page = chapter_page.notes_page(f"{title}\n\n128 x 96\n", self.parse())
        self.assertTrue(page.startswith(f"---\norphan: true\n---\n\n{title}\n\n[Back to "), page)
        self.assertRaisesRegex(
            SourceError, "NOTES.md:1: the title is not", chapter_page.notes_page, "# Results\n\n128\n", self.parse()
        )
        self.assertIn("[Back to chapter 01](/chapters/01_sample.cu)\n\n128", page)
        self.assertIn("128\u00a0× 96", page)
        linked = self.page(notes="notes/01_sample.md")
        self.assertIn("[laboratory notes](/notes/01_sample.md)", linked)
        self.assertNotIn("laboratory notes", self.page())

    def test_numbers(self):
        self.assertEqual(
            [markup.number(x) for x in (0, 1234567, 4.0, 4.25, 1 / 3)], ["0", "1,234,567", "4", "4.25", "0.33"]
        )
        self.assertEqual(
            [markup.milliseconds(x) for x in (0.01234, 1.2345, 12.345, 123.45, 1234.5)],
            ["0.0123", "1.234", "12.35", "123.5", "1,234"],
        )

    def test_map(self):
        page = chapter_page.map_page([self.parse()], {})
        for text in (
            "{made} map",
            "Does the page say",
            "Builds on: nothing",
            "{rung}`01_sample/copy_one`",
            "01_sample\n",
        ):
            self.assertIn(text, page)


class Results(Temporary):
    """Programs' results, and what the hardware counted."""

    def run_program(self, **changes):
        build = sample.make(self.root, **changes)
        return results.run_program(build / "simulator" / "chapters" / "01_sample" / "sample", self.root / "work")

    def test_a_run(self):
        found = self.run_program()
        self.assertEqual([row.rung for row in found.rows], ["copy_one", "copy_far"])
        self.assertEqual(sorted(line for _, line in found.lines["copy_one"]), [30, 31])
        results.show_rungs(self.root / "build" / "simulator" / "chapters" / "01_sample" / "sample", found)
        self.assertEqual(found.shown["copy_one"], "copy_one drew this")

    def test_bytes_of_a_product_of_another_size(self):
        counts = {"global_load_sectors": 60, "global_store_sectors": 12}
        row = Row("f", {"M": 2, "N": 3, "K": 5}, "PASS", counts=counts)
        self.assertEqual(results.product_bytes(row, row.size), 32 * 72)
        # Twice as many elements of C, four times as deep: eight times the loads, twice the stores.
        self.assertEqual(results.product_bytes(row, {"M": 4, "N": 3, "K": 20}), 32 * (8 * 60 + 2 * 12))
        self.assertEqual(results.product_bytes(replace(row, counts={}), row.size), 0)
        self.assertEqual(results.product_bytes(replace(row, size={"N": 64}), {"N": 128}), 0)

    def test_no_program(self):
        self.assertRaisesRegex(
            results.ResultsError,
            r"is not built; run '\./learn run",
            results.run_program,
            self.root / "nothing",
            self.root,
        )

    def test_programs_that_fail(self):
        program = self.root / "program"
        for body, message in (
            ("echo 'cannot do it' >&2; exit 3", "exited with 3: cannot do it"),
            ("exit 1", "exited with 1: no message"),
            ("exit 0", "wrote no results file"),
            ('echo "[" > "$2"', "not JSON"),
            ('echo "{}" > "$2"', "no list 'rows'"),
            ("sleep 60", "did not end within"),
        ):
            program.write_text(f"#!/bin/sh\n{body}\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            with self.assertRaisesRegex(results.ResultsError, message):
                results.run_program(program, self.root / "work", timeout=1 if "sleep" in body else 60)

    def test_results_of_another_backend(self):
        self.assertRaisesRegex(
            results.ResultsError, "was built for the gpu", self.run_program, report=sample.results("gpu")
        )

    def test_bad_results(self):
        for change, message in (
            (lambda r: r["rows"][0].update(status="GOOD"), "status 'GOOD' is none of"),
            (lambda r: r["rows"][0].pop("rung"), "row 0 names no rung"),
            (lambda r: r.pop("device"), "the key 'device' is missing"),
            (lambda r: r.update(rows=3), "no list 'rows'"),
        ):
            report = sample.results()
            change(report)
            self.assertRaisesRegex(results.ResultsError, message, results.parse, json.dumps(report), "r.json")

    def test_kernel_names(self):
        for kernel, name in (
            ("copy", "copy"),
            ("reduce<float, 256>", "reduce"),
            ("void ns::f<2>(int*)", "f"),
            ("copy_one(float*, float const*, int)", "copy_one"),
            ("", ""),
        ):
            self.assertEqual(results.kernel_base(kernel), name)

    def counted(self, launches, **why):
        folder = self.root / "results"
        folder.mkdir(exist_ok=True)
        (folder / "h200_counts.json").write_text(
            json.dumps(
                {"device": "NVIDIA H200", "ncu": "2025.3", "date": "2026-01-02", "size": "256", "launches": launches}
            )
        )
        (folder / "differences.json").write_text(json.dumps(why))
        return load_counted(folder)

    def test_counts_of_the_hardware(self):
        self.assertIsNone(load_counted(self.root / "nothing"))
        simulated = results.parse(json.dumps(sample.results()), "r.json")
        launch = {
            "kernel": "f<2>(int)",
            "grid": [2, 1, 1],
            "block": [32, 1, 1],
            "counts": {"global_load_sectors": 8, "shared_load_wavefronts": 100, "divergent_branches": 1},
        }
        simulated.trace = {"launches": [launch, dict(launch, kernel="helper")]}
        theirs = {
            "kernel": "f",
            "grid": [2, 1, 1],
            "block": [32, 1, 1],
            "counts": {"global_load_sectors": 8, "shared_load_wavefronts": 102, "divergent_branches": 7},
        }
        same = self.counted([theirs]).compare(simulated)
        self.assertEqual(
            [(line.count, line.simulated, line.hardware) for line in same],
            [("global_load_sectors", 8, 8), ("shared_load_wavefronts", 100, 100)],
        )
        other = self.counted(
            [dict(theirs, counts={"global_load_sectors": 4, "shared_load_wavefronts": 104})],
            f={"*": "merged by the compiler"},
        )
        lines = other.compare(simulated)
        self.assertEqual([(line.simulated, line.hardware) for line in lines], [(8, 4), (100, 104)])
        self.assertEqual(other.reason(lines[0]), "merged by the compiler")
        page = outline(chapter_tables.agreement(other, simulated))
        self.assertIn("all but 2 are", page)
        self.assertIn("\n- `f`: merged by the compiler.\n\n{fold} Launch by launch\n", page)
        self.assertIn("\n| kernel | sectors | wavefronts |\n| `f` | 8 / **4** | 100 / **104** |\n", page)
        one = self.counted([dict(theirs, counts={"global_load_sectors": 4})], f={"global_load_sectors": "merged"})
        self.assertIn(
            "| `f` | `global_load_sectors` | 8 | 4 | merged |", outline(chapter_tables.agreement(one, simulated))
        )
        # Launches and counts that say the same are one row, and what is why for several rows is said once.
        mine = {"counts": dict.fromkeys(("global_load_requests", "shared_wavefronts", "shared_wavefronts_ideal"), 8)}
        many = results.parse(json.dumps(sample.results()), "r.json")
        many.trace = {"launches": [dict(launch, **mine)] * 3}
        merged = [dict(theirs, counts=dict.fromkeys(mine["counts"], count)) for count in (4, 4, 2)]
        page = outline(chapter_tables.agreement(self.counted(merged, f={"*": "merged by the compiler"}), many))
        self.assertIn("all but 9 are", page)
        four, two = ("8 / **4** | " * 2 + "8 / **4** |\n", "8 / **2** | " * 2 + "8 / **2** |\n")
        self.assertIn(f"| `f` 1, 2 | {four}| `f` 3 | {two}", page)
        self.assertEqual(page.count("merged by the compiler"), 1)
        merged[0], merged[2] = merged[2], merged[0]
        page = outline(chapter_tables.agreement(self.counted(merged, f={"*": "merged by the compiler"}), many))
        self.assertIn(f"| `f` 1 | {two}| `f` 2, 3 | {four}", page)
        self.assertIn(
            "all are those of the simulator", outline(chapter_tables.agreement(self.counted([theirs]), simulated))
        )
        self.assertEqual(chapter_tables.agreement(None, simulated), [])
        for change, message in (({"grid": [3, 1, 1]}, "another grid"), ({"block": [64, 1, 1]}, "another grid")):
            for why in ({}, {"*": "a larger array"}):
                with self.assertRaisesRegex(results.ResultsError, message):
                    self.counted([dict(theirs, **change)], f=why).compare(simulated)
        larger = dict(theirs, grid=[6, 2, 1])
        explained = self.counted([larger], f={"blocks": "a larger array"})
        lines = explained.compare(simulated)
        self.assertEqual([(line.count, line.simulated, line.hardware) for line in lines], [("blocks", 2, 12)])
        self.assertIn(
            "| `f` | `blocks` | 2 | 12 | a larger array |", outline(chapter_tables.agreement(explained, simulated))
        )
        with self.assertRaisesRegex(results.ResultsError, "another grid"):
            self.counted([dict(larger, grid=[1, 2, 1])], f={"blocks": "a larger array"}).compare(simulated)
        with self.assertRaisesRegex(results.ResultsError, "1 launches on the simulator, 2 on"):
            self.counted([theirs, theirs]).compare(simulated)
        twice = self.counted([theirs, theirs], f={"launches": "another choice"})
        self.assertIn(
            "| `f` | `launches` | 1 | 2 | another choice |", outline(chapter_tables.agreement(twice, simulated))
        )
        self.assertEqual(
            self.counted([theirs], f={"launches": "another choice"}).disagreements(simulated),
            ["differences.json: f: launches is compared nowhere: take it out"],
        )

    def test_what_nobody_has_explained_and_what_needs_no_explanation(self):
        simulated = results.parse(json.dumps(sample.results()), "r.json")
        shape = {"kernel": "f", "grid": [2, 1, 1], "block": [32, 1, 1]}
        simulated.trace = {"launches": [dict(shape, counts={"global_load_requests": 8})] * 2}

        def found(*theirs, **why):
            launches = [dict(shape, counts={"global_load_requests": count}) for count in theirs]
            return self.counted(launches, **why).disagreements(simulated)

        merged = {"global_load_requests": "merged"}
        self.assertEqual(found(8, 8), [])
        self.assertEqual(found(8, 4), ["f: global_load_requests is 8, NVIDIA H200 counts 4"])
        self.assertEqual(found(8, 4, f=merged), [])
        self.assertEqual(found(8, 8, f=merged), ["differences.json: f: global_load_requests agrees now: take it out"])
        nowhere = ["differences.json: g: global_load_requests is compared nowhere: take it out"]
        self.assertEqual(found(8, 8, g=merged), nowhere)
        # Who waits for another block loads more or as much, and never less.
        waits = {"global_load_requests": {"waiting": "asks until the word is there"}}
        self.assertEqual(found(8, 9, f=waits), [])
        self.assertEqual(found(8, 8, f=waits), [])
        self.assertEqual(found(8, 7, f=waits), ["f: global_load_requests is 8, NVIDIA H200 counts 7"])
        self.assertEqual(found(8, 8, g=waits), nowhere)
        simulated.trace = {"launches": []}
        self.assertEqual(found(8, 8), ["nothing was compared"])
        launch = dict(shape, counts={"global_load_requests": 9})
        simulated.trace = {"launches": [dict(shape, counts={"global_load_requests": 8})]}
        page = outline(chapter_tables.agreement(self.counted([launch], f=waits), simulated))
        self.assertIn("| `f` | `global_load_requests` | 8 | 9 | asks until the word is there |", page)

    def test_launches_of_demonstrations_are_the_simulators_alone(self):
        launches = [
            {"kernel": "f", "grid": [2, 1, 1], "block": [32, 1, 1], "counts": {"global_load_requests": count}}
            for count in (8, 5, 7)
        ]
        simulated = results.parse(json.dumps(sample.results()), "r.json")
        simulated.trace = {"launches": launches}
        theirs = self.counted([launches[0], launches[2]])
        with self.assertRaisesRegex(results.ResultsError, "3 launches on the simulator, 2 on"):
            theirs.compare(simulated)
        simulated.rows.append(Row("mistake", {}, "PASS", launches=Launches(1, 2)))
        self.assertEqual([line.simulated for line in theirs.compare(simulated)], [8, 7])

    def test_variants_beside_the_hardware(self):
        def row(variant, rate=None):
            return Row("f", {}, "PASS", variant, rate=rate, rate_unit="GB/s")

        def launch(wavefronts):
            return {
                "kernel": "f",
                "grid": [1, 1, 1],
                "block": [32, 1, 1],
                "counts": {"shared_load_requests": 8, "shared_load_wavefronts": wavefronts},
            }

        simulated = results.parse(json.dumps(sample.results()), "r.json")
        simulated.rows = [row("one"), row("two")]
        simulated.trace = {"launches": [launch(8), launch(16)]}
        measured = results.parse(json.dumps(sample.results("gpu")), "r.json")
        measured.rows = [row("one", 27463.4), row("two", 15097.2)]
        counted = self.counted([launch(8), launch(20)])
        drawn = outline([rung_tables.variants_beside("f", simulated, counted, measured)])
        self.assertIn("| `one` | 1 | 1 | 27,463 GB/s |", drawn)
        self.assertIn("| `two` | 2 | 2.5 | 15,097 GB/s |", drawn)
        self.assertIn("| `two` | 2 | 2.5 |\n", outline([rung_tables.variants_beside("f", simulated, counted, None)]))
        self.assertIsNone(rung_tables.variants_beside("f", simulated, None, measured))
        simulated.trace = {"launches": [launch(8), launch(8)]}
        self.assertIsNone(rung_tables.variants_beside("f", simulated, counted, measured))
        simulated.rows = [row("one")]  # not a row for each launch: nobody knows which is whose
        self.assertIsNone(rung_tables.variants_beside("f", simulated, counted, measured))

    def test_examples(self):
        source = self.root / "k.cu"
        source.write_text("a;\nb = words[i];\n")

        def launch(kernel, address):
            return {
                "kernel": kernel,
                "lines": [{"file": str(source), "line": 2, "examples": [{"addresses": [address]}]}],
            }

        simulated = results.parse(json.dumps(sample.results()), "r.json")
        simulated.trace = {"launches": [launch("f(int)", 1), launch("g(int)", 2), launch("f(int)", 3)]}
        for given, address in (({}, 3), ({"launch": 0}, 1), ({"launch": 1}, 3)):
            self.assertEqual(
                results.examples_of(simulated, "f", source, "words[i]", **given), [{"addresses": [address]}]
            )
        for kernel, line, which in (("f", "words[i]", 2), ("f", "words[j]", -1), ("h", "words[i]", -1)):
            with self.assertRaisesRegex(results.ResultsError, "the trace has no request of"):
                results.examples_of(simulated, kernel, source, line, which)

    def test_what_a_program_prints_before_its_table(self):
        self.assertEqual(results.before_table("01_sample on SIMT simulator, n = 1\n\nhello\n\nrung  loads\n"), "hello")
        # A rung that only raises its finding has a row and no figures: that table is no print of its own.
        self.assertEqual(results.before_table("rung\nf  PASS  raises a finding\n1 PASS, 0 FAIL, 0 SKIP, 0 ERROR\n"), "")
        self.assertEqual(results.before_table("rung by rung\nrung\nf  PASS\n"), "rung by rung")


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Contracts(Temporary):
    def extract(self, *paths):
        return doxygen.run(sample.ROOT / "docs" / "Doxyfile", self.root / "xml", list(paths))

    def test_cuda_sources_are_extracted(self):
        found = doxygen.entities(self.extract(self.chapter()))
        self.assertEqual(
            [(e.name, e.documented) for e in found if e.documented], [("copy_one", True), ("copy_far", True)]
        )
        far = next(e for e in found if e.name == "copy_far")
        self.assertEqual(far.args, "(float *out, const float *in, int n)")  # no __launch_bounds__, and n has its name
        self.assertEqual(doxygen.breathe_directive(far, "p", found), ":::{doxygenfunction} copy_far\n:project: p\n:::")

    def test_overloads_are_told_apart(self):
        path = self.root / "x.h"
        path.write_text(
            "/// \\file\n/// About.\n\n/// One.\nint f(int a);\n/// Two.\nint f(float a);\nnamespace n {\n/// Three.\nstruct S { int x; ///< four\n};\n}\n"
        )
        xml = self.extract(path)
        found = doxygen.entities(xml)
        self.assertEqual(
            [(e.kind, e.name, e.args) for e in found],
            [("function", "f", "(int a)"), ("function", "f", "(float a)"), ("struct", "n::S", "")],
        )
        self.assertIn("{doxygenfunction} f(float a)", doxygen.breathe_directive(found[1], "p", found))
        self.assertEqual(doxygen.members(xml, "n::S"), [("x", "four")])

    def test_a_contract_that_lies_is_refused(self):
        text = sample.CHAPTER.replace("@param n    number", "@param m    number")
        self.assertRaisesRegex(doxygen.BuildError, r"sample\.cu:\d+: .*argument 'm'", self.extract, self.chapter(text))

    def test_a_missing_file_is_refused(self):
        self.assertRaisesRegex(doxygen.BuildError, "nothing to document", self.extract, self.root / "gone.h")
