"""The renderer on a trace written by hand: every number below was worked out on paper."""

import json
import os
import re
import tempfile
import unittest

import fake

from warp.base.errors import LearnError
from warp.base.ui import Palette
from warp.chapter import chapters
from warp.chapter.written import Launches, Row
from warp.explain import changes, problems, report, running
from warp.trace import trace

SOURCE = """\
#include "helper.cuh"

/// Copies a column.
template <int N>
__global__ void copy(float* out, const float* in) {
  __shared__ float tile[32 * 32];
  int i = threadIdx.x;
  tile[i * 32] = in[i];
  if (i < 8) {
    out[i * 32] = scaled(tile[i * 32]);
  }
}

int main() { copy<32><<<1, 32>>>(0, 0); }

void other();
"""
HEADER = """\
#pragma once
__device__ float scaled(float x) {
  return x * factor[0];
}
"""


class Made(unittest.TestCase):
    """A source, its header, and a trace of them."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.cu = os.path.join(self.folder.name, "column.cu")
        self.cuh = os.path.join(self.folder.name, "helper.cuh")
        for path, text in ((self.cu, SOURCE), (self.cuh, HEADER)):
            fake.write(path, text)

    def launch(self, index=0, kernel="copy<32>", scale=1, findings=()):
        """One warp: a coalesced load into one bank, then 8 lanes that store 128 bytes apart."""
        store, back, factor = (
            {name: value * scale for name, value in counts.items()}
            for counts in (
                of_global("load", 1, 4, 32) | of_shared("store", 1, 32, 32),
                of_global("store", 1, 8, 8) | of_shared("load", 1, 8, 8),
                of_global("load", 1, 1, 8),
            )
        )
        lines = [
            fake.line(self.cu, 8, store),
            fake.line(self.cu, 9, {"divergent_branches": scale}),
            fake.line(self.cu, 10, back),
            fake.line(self.cuh, 3, factor),
        ]
        return fake.launch(kernel, lines, index=index, findings=list(findings))

    def finding(self, kind="out-of-bounds", number=10, **more):
        found = {
            "kind": kind,
            "message": "write of 4 bytes, 12 bytes past the end",
            "file": self.cu,
            "line": number,
            "block": [3, 0, 0],
            "thread": [17, 1, 0],
            "address": "0x1000",
            "allocation": "32 floats, allocated at column.cu:14",
        }
        found.update(more)
        return found


class Loading(Made):
    GOOD = {
        "access": "load",
        "space": "shared",
        "size": 4,
        "addresses": [0] * 31 + [None],
        "wavefronts": 1,
        "phase_lanes": 32,
    }

    def load(self, *examples):
        path = os.path.join(os.path.dirname(self.cu), "trace.json")
        with open(path, "w") as file:
            lines = [{"file": "a.cu", "line": 1, "counts": {}, "examples": list(examples)}]
            json.dump({"launches": [dict(self.launch(), lines=lines)]}, file)
        return trace.load(path)

    def test_examples_as_the_simulator_writes_them(self):
        self.load(self.GOOD, dict(self.GOOD, space="global"), {**self.GOOD, "access": "atomic"})

    def test_other_examples_get_one_line(self):
        for wrong in (
            {"addresses": [0] * 31},
            {"addresses": ["0"] * 32},
            {"addresses": None},
            {"size": 0},
            {"size": "4"},
            {"space": "texture"},
            {"access": "reduction"},
            {"phase_lanes": 7},
            {"wavefronts": None},
        ):
            with (
                self.subTest(wrong),
                self.assertRaisesRegex(LearnError, "is no trace of this simulator: l(aunches|ine)"),
            ):
                self.load(dict(self.GOOD, **wrong))
        for wrong in (None, 3, [], {}):
            with self.subTest(wrong), self.assertRaisesRegex(LearnError, r"launches\[0\].lines\[0\].examples\[0\]"):
                self.load(wrong)


class Rendering(Made):
    def render(self, launches, findings=(), colour=False, **options):
        recorded = trace.of_json(fake.trace_of(launches, findings))
        if "before" in options:
            options["before"] = trace.of_json(options["before"])
        return report.render(recorded, Palette(colour), main=self.cu, **options)

    def row(self, text, number):
        """The cells of a source line: the gutter's words and the source."""
        for shown in text.splitlines():
            match = re.match(rf"(.*?)\| +{number} \| ?(.*)$", shown)
            if match:
                return match.group(1).split(), match.group(2)
        raise AssertionError(f"line {number} is not shown in\n{text}")

    def test_gutter(self):
        text = self.render([self.launch()])
        self.assertEqual(self.row(text, 8), (["2", "4.0", "32.0x", "32.0"], "  tile[i * 32] = in[i];"))
        self.assertEqual(self.row(text, 9), (["1"], "  if (i < 8) {"))
        self.assertEqual(self.row(text, 10)[0], ["2", "8.0", "8.0x", "8.0"])
        self.assertEqual(self.row(text, 7)[0], [])  # a line without an access
        self.assertRegex(text, r"requests +sect/load +sect/store +wave/ideal +lanes +diverge")

    def test_the_whole_kernel_and_nothing_else_of_its_file(self):
        text = self.render([self.launch()])
        self.assertEqual(self.row(text, 4)[1], "template <int N>")
        self.assertEqual(self.row(text, 12)[1], "}")
        self.assertNotIn("int main", text)
        self.assertNotIn("void other", text)

    def test_lines_of_other_files_are_listed_too(self):
        text = self.render([self.launch()])
        self.assertIn("helper.cuh", text)
        self.assertEqual(self.row(text, 3), (["1", "1.0", "8.0"], "  return x * factor[0];"))

    def test_totals(self):
        text = self.render([self.launch()])
        self.assertIn("global loads: 2 requests, 5 sectors, 2.5 per request; 20.0 active lanes", text)
        self.assertIn("global stores: 1 request, 8 sectors, 8.0 per request; 8.0 active lanes", text)
        self.assertIn("shared memory: 2 requests, 40 wavefronts, 20.0 times the ideal 2", text)
        self.assertIn("divergent branches: 1", text)

    def test_hottest_lines_first(self):
        text = self.render([self.launch()])
        hot = text[text.index("Hottest") :].splitlines()[1:4]
        # 53 = 13 sectors + 40 wavefronts: line 8 has 4 + 32, line 10 has 8 + 8, the helper 1.
        self.assertRegex(hot[0], r" 68 %  \S*column.cu:8  4 sectors, 4.0 a load; 32 wavefronts, 32.0 times")
        self.assertRegex(hot[1], r" 30 %  \S*column.cu:10  8 sectors, 8.0 a store \(1.0 would do\); 8 wavefronts")
        self.assertRegex(hot[2], r"  2 %  \S*helper.cuh:3")

    def test_bytes_asked_for_and_moved(self):
        # Asked: 128 + 32 loaded, 32 stored. Moved: 5 and 8 sectors.
        self.assertIn("bytes of global memory: 192 asked for, 416 moved, 46.2 % used", self.render([self.launch()]))
        shared = trace.Totals(dict(global_load_requests=1, global_load_sectors=1, global_load_bytes=128))
        self.assertIn("128 asked for, 32 moved, each moved byte serves 4.0 lanes", report.bytes_in_words(shared, str))

    def test_advice(self):
        text = self.render([self.launch()], width=0)
        advice = text[text.index("What to do about it") :].splitlines()[1:3]
        self.assertIn("column.cu:8  Each shared store takes 32.0 wavefronts where 1.0 would do", advice[0])
        self.assertIn("; see chapter 05, bank conflicts", advice[0])
        # Line 10 has 8 sectors for 1 and 8 wavefronts for 1; one sentence, about the first it costs most.
        self.assertIn("column.cu:10  Each store request takes 8.0 sectors where 1.0 would do", advice[1])
        self.assertNotIn("helper.cuh:3", "".join(advice))

    def test_a_kernel_with_nothing_to_improve_says_so(self):
        self.assertNotIn("Nothing to improve", self.render([self.launch()]))
        launch = self.launch()
        launch["lines"] = [fake.line(self.cu, 8, COALESCED)]
        launch["counts"] = COALESCED
        self.assertIn("Nothing to improve", self.render([launch]))
        self.assertNotIn("Nothing to improve", self.render([dict(launch, findings=[self.finding("shared-race")])]))
        self.assertNotIn("Nothing to improve", self.render([dict(launch, lines=[], counts={})]))
        self.assertNotIn("Nothing to improve", self.render([launch], failed=True))
        self.assertIn("The program failed, and the counts are of what it did", self.render([launch], failed=True))
        self.assertNotIn("The program failed", self.render([launch]))
        # A call that failed may be the cause.
        unwritten = self.finding("uninitialized-global", severity="warning")
        both = self.render([dict(launch, findings=[unwritten])], [self.finding("api-error", severity="warning")])
        self.assertLess(both.index("\napi-error "), both.index("\nuninitialized-global "))
        # What is wrong in host code may have spoilt the kernel's data; a leak has not.
        of_host = self.finding("api-error", severity="warning")
        self.assertNotIn("Nothing to improve", self.render([launch], findings=[of_host]))
        self.assertIn("Nothing to improve", self.render([launch], findings=[dict(of_host, kind="leak")]))
        # Of 40 threads a block: that is said instead, unless the program failed.
        few = dict(launch, grid=[8, 1, 1], block=[40, 1, 1])
        self.assertIn("\n  Blocks of 40 threads leave 24 lanes of their second warp idle", self.render([few]))
        self.assertNotIn("Nothing to improve", self.render([few]))
        self.assertNotIn("Blocks of 40", self.render([few], failed=True))

    def test_a_legend_explains_the_columns_that_are_there_once(self):
        text = self.render([self.launch(0), self.launch(1, "copy<64>")])
        for heading in ("requests", "sect/load", "sect/store", "wave/ideal", "lanes", "diverge"):
            self.assertEqual(len(re.findall(rf"^ *{heading}  [a-z]", text, re.MULTILINE)), 1)
        self.assertNotIn("sect/atom", text)
        for meaning in re.findall(r"sect/\w+  (\w+ \w+)", text):
            self.assertEqual(meaning, "sectors of")
        self.assertNotIn("requests  memory", self.render([]))
        narrow = self.render([self.launch()], width=60).splitlines()
        begin = next(i for i, shown in enumerate(narrow) if shown.startswith("  requests  "))
        self.assertLessEqual(max(map(len, narrow[begin:])), 60)

    def test_what_changed_since_the_last_run(self):
        before = {"launches": [self.launch(), self.launch(1, "gone")]}
        self.assertIn("since the last run: counts as in the last run", self.render([self.launch()], before=before))
        text = self.render([self.launch(scale=3), self.launch(1, "new")], before=before)
        self.assertIn("since the last run: global load requests: 2 before, 6 now, 3.0 times as many", text)
        self.assertIn("\n" + " " * 22 + "global store sectors: 8 before, 24 now", text)
        self.assertEqual(text.count("since the last run"), 1)
        better = self.render([self.launch()], before={"launches": [self.launch(scale=4)]})
        self.assertIn("global load requests: 8 before, 2 now, 4.0 times fewer", better)
        self.assertIn(
            "launched as grid 7, block 32 before",
            self.render([self.launch()], before={"launches": [dict(self.launch(), grid=[7, 1, 1])]}),
        )
        self.assertEqual(changes.by_how_much(100, 110), ", 10.0 % more")
        self.assertEqual(changes.by_how_much(0, 110), "")
        # A kernel that a finding ended has counted less, for no merit of its own.
        ended = {"launches": [self.launch(findings=[self.finding()])]}
        self.assertNotIn("since the last run", self.render([self.launch()], before=ended))
        self.assertNotIn("since the last run", self.render(ended["launches"], before=before))
        # Nor does a sample compare with all.
        whole, sample = (dict(self.launch(), grid=[8, 1, 1], traced_blocks=blocks) for blocks in (8, 2))
        self.assertIn("since the last run", self.render([whole], before={"launches": [whole]}))
        for one, other in ((whole, sample), (sample, whole), (sample, sample)):
            self.assertNotIn("since the last run", self.render([one], before={"launches": [other]}))

    def test_reads_of_textures_are_not_judged(self):
        launch = dict(self.launch(), lines=[fake.line(self.cu, 8, COALESCED)], counts=COALESCED, reads_textures=True)
        text = self.render([launch])
        self.assertIn("textures: neither counted nor checked for races", text)
        self.assertNotIn("Nothing to improve", text)
        text = self.render([dict(launch, lines=[], counts={})])
        self.assertIn("textures: neither counted nor checked for races", text)
        self.assertIn("no other access to global or shared memory", text)
        self.assertNotIn("textures", self.render([dict(launch, reads_textures=False)]))

    def test_advice_on_a_terminal_is_wrapped(self):
        text = self.render([self.launch()], width=70)
        advice = text[text.index("What to do about it") :].splitlines()
        self.assertGreater(len(advice), 5)
        self.assertLessEqual(max(len(shown) for shown in advice if self.folder.name not in shown), 70)

    def test_launches_of_one_kernel_are_summed(self):
        text = self.render([self.launch(0), self.launch(1, "copy<64>"), self.launch(2, scale=3)])
        self.assertIn("Kernel copy<32>\n  grid 1, block 32; 2 launches, summed: 0, 2 (one alone: --launch 0)", text)
        self.assertIn("Kernel copy<64>\n  grid 1, block 32; launch 1", text)
        self.assertEqual(self.row(text, 8)[0][0], "8")
        self.assertLess(text.index("copy<32>"), text.index("copy<64>"))

    def test_instances_with_the_same_counts_are_told_once(self):
        names = [f"copy<{n}>" for n in (32, 64, 96)]
        launches = [self.launch(index, name) for index, name in enumerate(names)]
        text = self.render(launches)
        self.assertEqual(text.count("\nKernel ") + text.startswith("Kernel "), 1)
        self.assertIn("\n  copy<32>; 2 more with the same counts: copy<64>; copy<96>\n", text)
        # Other counts, another function, and what a finding is about are told by themselves.
        others = [self.launch(3, "copy<128>", 2), self.launch(4, "move<32>"), self.launch(5, "copy<8>")]
        others[2]["findings"] = [self.finding("shared-race")]
        text = self.render(launches + others)
        self.assertEqual(len(re.findall("^Kernel ", text, re.MULTILINE)), 4)
        # A chapter's program says which launches a variant has made.
        recorded = trace.of_json(fake.trace_of(launches))
        rows = [Row("copy", {}, "PASS", f"n={n}, wide", launches=Launches(n, n + 1)) for n in range(3)]
        running.name_variants(recorded, [Row("other", {}, "SKIP"), *rows])
        text = report.render(recorded, Palette(False), main=self.cu)
        self.assertIn("\n  n=0, wide; 2 more with the same counts: n=1, wide; n=2, wide\n", text)
        self.assertIn("\n  n=0, wide\n", report.render(recorded, Palette(False), main=self.cu, launch=0))
        # One variant of several launches, and a launch that no variant has made.
        recorded = trace.of_json(fake.trace_of([self.launch(index, "copy<32>") for index in range(3)]))
        running.name_variants(recorded, [Row("copy", {}, "PASS", "n=7", launches=Launches(0, 2))])
        self.assertIn("\n  n=7\n", report.render(recorded, Palette(False), main=self.cu, launch=1))
        self.assertNotIn("n=7", report.render(recorded, Palette(False), main=self.cu, launch=2))

    def test_one_launch(self):
        text = self.render([self.launch(0), self.launch(1, scale=3)], launch=1)
        self.assertEqual(self.row(text, 8)[0][0], "6")
        self.assertIn("launch 1", text)
        with self.assertRaises(LearnError) as caught:
            self.render([self.launch(0), self.launch(1)], launch=2)
        self.assertIn("legal is 0 ... 1", caught.exception.message)
        self.assertEqual(caught.exception.code, 2)
        with self.assertRaises(LearnError) as caught:
            self.render([self.launch(0)], launch=2)
        self.assertIn("legal is 0 alone", caught.exception.message)
        with self.assertRaises(LearnError) as caught:
            self.render([], launch=2)
        self.assertIn("launched no kernel", caught.exception.message)

    def test_colours_say_how_far_from_ideal(self):
        text = self.render([self.launch()], colour=True)
        eight = [shown for shown in text.splitlines() if "tile[i * 32] = in[i]" in shown][0]
        self.assertRegex(eight, "\x1b\\[32m +4.0\x1b\\[0m")  # 4 sectors for 128 bytes: ideal
        self.assertRegex(eight, "\x1b\\[31m +32.0x\x1b\\[0m")  # 32 wavefronts for 1
        self.assertNotIn("\x1b", self.render([self.launch()], colour=False))

    def test_grades(self):
        self.assertEqual([trace.grade(v, 4.0) for v in (1, 4, 5, 8, 9)], ["green", "green", "yellow", "yellow", "red"])
        self.assertEqual([trace.lanes_grade(v) for v in (32, 31, 16, 15)], ["green", "yellow", "yellow", "red"])

    def test_ideal_of_wide_accesses_and_broadcasts(self):
        wide = trace.Totals(dict(global_load_requests=1, global_load_sectors=16, global_load_bytes=512))
        self.assertEqual(wide.ideal_sectors, 16)
        one = trace.Totals(dict(global_load_requests=1, global_load_sectors=1, global_load_bytes=128))
        self.assertEqual(trace.grade(one.sectors, one.ideal_sectors), "green")
        lonely = trace.Totals(dict(global_store_requests=1, global_store_sectors=1, global_store_bytes=4))
        self.assertEqual(lonely.ideal_sectors, 1)
        atomics = trace.Totals(dict(global_atomic_requests=1, global_atomic_sectors=32, global_atomic_active_lanes=32))
        self.assertEqual(trace.grade(atomics.sectors, atomics.ideal_sectors), "red")

    def test_findings_in_full(self):
        text = self.render([self.launch(findings=[self.finding()])], [self.finding("host-access", 14, block=[0, 0, 0])])
        self.assertIn("2 findings", text)
        self.assertRegex(text, r"out-of-bounds in kernel copy<32> at \S*column.cu:10")
        self.assertIn(">    10 |     out[i * 32] = scaled(tile[i * 32]);", text)
        self.assertIn("block (3,0,0), thread (17,1,0), launch 0", text)
        self.assertIn("  write of 4 bytes, 12 bytes past the end", text)
        self.assertIn("  allocation: 32 floats, allocated at column.cu:14", text)
        self.assertRegex(text, r"host-access in host code at \S*column.cu:14")

    def test_the_same_finding_again_is_counted_not_repeated(self):
        again = [self.finding(thread=[18, 0, 0]), self.finding(thread=[19, 0, 0]), self.finding(number=8)]
        text = self.render([self.launch(findings=[self.finding()]), self.launch(1, findings=again)])
        self.assertIn("4 findings", text)
        self.assertEqual(text.count("out-of-bounds in kernel"), 2)
        self.assertIn("and 2 more of this kind at this line", text)

    def test_warnings_stand_under_a_heading_of_their_own(self):
        leak = self.finding("leak", 14, severity="warning", message="never freed")
        text = self.render([self.launch(findings=[self.finding(severity="error")])], [leak])
        self.assertRegex(
            text, r"(?s)1 finding\n.*out-of-bounds in kernel.*1 warning\n.*leak in host code at \S*:14.*never"
        )
        self.assertIn("\n\n1 warning\n", text)
        only = self.render([self.launch()], [leak, leak])
        self.assertIn("2 warnings\n", only)
        self.assertNotIn("finding", only)

    def test_a_kernel_that_a_finding_has_ended_says_so(self):
        words = "ended by a finding: the counts go so far"
        self.assertIn(words, self.render([self.launch(findings=[self.finding()])]))
        for kind in ("shared-race", "global-race", "uninitialized-shared", "uninitialized-global"):
            self.assertNotIn(words, self.render([self.launch(findings=[self.finding(kind)])]))
        warned = self.finding("barrier-divergence", severity="warning")
        self.assertNotIn(words, self.render([self.launch(findings=[warned])]))
        self.assertNotIn(words, self.render([self.launch()]))

    def test_a_terminal_wraps_what_findings_say(self):
        long = self.finding(message="a word " * 40)
        wide = [line for line in self.render([self.launch(findings=[long])]).splitlines() if "a word" in line]
        self.assertEqual(len(wide), 1)
        text = self.render([self.launch(findings=[long])], width=80)
        lines = [line for line in text.splitlines() if "a word" in line]
        self.assertGreater(len(lines), 3)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_of_one_launch_only_its_findings(self):
        text = self.render([self.launch(findings=[self.finding()]), self.launch(1)], launch=1)
        self.assertNotIn("finding", text)

    def test_a_note_says_what_the_counts_leave_out(self):
        recorded = trace.of_json(fake.trace_of([self.launch()], []))
        self.assertNotIn("not counted", report.render(recorded, Palette(False), main=self.cu))
        recorded.notes = ["Reads of textures are not counted."]
        text = report.render(recorded, Palette(False), main=self.cu)
        self.assertIn("\nReads of textures are not counted.\n", text)

    def test_what_surrounds_a_finding(self):
        text = self.render([self.launch(findings=[self.finding()])])
        order = [text.index(words) for words in ("block (3,0,0)", "write of 4 bytes", "allocation: 32 floats")]
        self.assertEqual(order, sorted(order))

    def test_a_source_that_is_gone(self):
        os.unlink(self.cuh)
        text = self.render([self.launch()])
        self.assertEqual(self.row(text, 3), (["1", "1.0", "8.0"], "(source not found)"))

    def test_no_launch_and_no_access(self):
        self.assertIn("launched no kernel", self.render([]))
        quiet = dict(self.launch(), counts={}, lines=[])
        self.assertIn("no access to global or shared memory", self.render([quiet]))

    def test_a_terminal_cuts_lines_and_a_file_does_not(self):
        text = self.render([self.launch()], width=85)
        self.assertTrue(any(shown.endswith("...") for shown in text.splitlines()))
        table = text[text.index(" requests sect") : text.index("Hottest")]
        paths_apart = [shown for shown in table.splitlines() if self.folder.name not in shown]
        self.assertLessEqual(max(len(shown) for shown in paths_apart), 85)

    def test_kernel_names(self):
        for name, function in (
            ("copy<32>", "copy"),
            ("void lab::reduce<float, (Kind)2>(float const*, float*)", "reduce"),
            ("(anonymous namespace)::scan<std::pair<int, int>>", "scan"),
            ("naive", "naive"),
            ("ns::operator_like(int)", "operator_like"),
        ):
            self.assertEqual(trace.Kernel(name).function, function, name)

    def test_files_that_are_no_trace(self):
        path = os.path.join(self.folder.name, "trace.json")
        for content in ("", "{", "[]", '{"launches": 3}'):
            fake.write(path, content)
            with self.assertRaises(LearnError):
                trace.load(path)
        with self.assertRaises(LearnError):
            trace.load(os.path.join(self.folder.name, "none.json"))


def kernel_of(*lines, grid=(1, 1, 1), block=(256, 1, 1)):
    """A kernel whose lines 1, 2, ... have these counts; a line is a dict, or (dict, examples)."""
    rows = []
    for number, entry in enumerate(lines, 1):
        counts, examples = entry if isinstance(entry, tuple) else (entry, [])
        counts = {name: round(value) for name, value in counts.items()}
        rows.append({**fake.line("k.cu", number, counts), "examples": examples})
    return trace.kernels_of(trace.of_json(fake.trace_of([fake.launch("k", rows, grid, block)])))[0]


def of_global(kind, requests, sectors, lanes, size=4):
    """Counts of `requests` loads, stores or atomics with so many sectors and active lanes each."""
    counts = {"requests": requests, "sectors": requests * sectors, "active_lanes": requests * lanes}
    if kind != "atomic":
        counts["bytes"] = requests * lanes * size
    return {f"global_{kind}_{name}": value for name, value in counts.items()}


def of_shared(kind, requests, wavefronts, lanes, ideal=1):
    names = {"requests": requests, "wavefronts": requests * wavefronts, "active_lanes": requests * lanes}
    if kind != "atomic":
        names["bank_conflicts"] = requests * (wavefronts - ideal)
    counts = {f"shared_{kind}_{name}": value for name, value in names.items()}
    return dict(counts, shared_wavefronts=requests * wavefronts, shared_wavefronts_ideal=requests * ideal)


COALESCED = of_global("load", 64, 4, 32)


class Advice(unittest.TestCase):
    """Which lines get which advice: launches of 8 blocks of 256 threads, 64 warps."""

    def found(self, *lines, **geometry):
        return problems.of_kernel(kernel_of(*lines, grid=(8, 1, 1), **geometry))

    def the_one(self, *lines, **geometry):
        found = self.found(*lines, **geometry)
        self.assertEqual(len(found), 1, [problem.sentence for problem in found])
        return found[0]

    def test_fine_lines_get_none(self):
        for name, counts in {
            "coalesced": COALESCED,
            "a broadcast": of_global("load", 64, 1, 32),
            "float4": of_global("load", 64, 16, 32, 16),
            "a row that starts between sectors": of_global("load", 64, 5, 32),
            "a guard": of_global("store", 64, 3.9, 31),
            "one lane of each block": of_global("store", 8, 1, 1),
            "one lane of each warp": of_shared("store", 64, 1, 1),
            "four lanes of each block": of_shared("store", 8, 1, 4),
            "load and store by eight lanes of each block": dict(
                of_global("store", 8, 1, 8), **of_shared("load", 8, 1, 8)
            ),
            "a tree that keeps its warps full": of_shared("load", 96, 1, 21),
            "no bank conflict": of_shared("load", 64, 1, 32),
            "float4 of shared memory": of_shared("load", 64, 4, 32, 4),
            "atomics side by side": of_global("atomic", 64, 4, 32),
            "compare-and-exchange": of_shared("atomic", 64, 2, 32, 2),
            "no access at all": {"divergent_branches": 5},
        }.items():
            self.assertEqual([p.sentence for p in self.found(counts, COALESCED)], [], name)

    def test_the_wrong_index(self):
        problem = self.the_one(of_global("load", 64, 32, 32))
        self.assertEqual(problem.chapter, "01")
        self.assertIn("Each load request takes 32.0 sectors where 4.0 would do: let threadIdx.x", problem.sentence)

    def test_threads_that_walk_along_rows(self):
        # 64 warps that load eight times each: a loop along the row of each thread.
        problem = self.the_one(of_global("load", 512, 32, 32), block=(256, 1, 1))
        self.assertEqual(problem.chapter, "02")
        self.assertIn("let a warp walk along each row and add up its lanes", problem.sentence)

    def test_the_wrong_index_where_another_access_has_the_right_one(self):
        problem = self.the_one(COALESCED, of_global("store", 64, 32, 32))
        self.assertEqual((problem.chapter, problem.lines), ("06", [("k.cu", 2)]))
        self.assertIn("tile in shared memory", problem.sentence)
        # A broadcast has no direction that could be spoilt.
        self.assertEqual(self.the_one(of_global("load", 64, 1, 32), of_global("store", 64, 32, 32)).chapter, "01")

    def test_gaps(self):
        problem = self.the_one(of_global("load", 64, 12, 32))
        self.assertEqual(problem.chapter, "02")
        self.assertIn("12.0 sectors where 4.0 would do", problem.sentence)

    def test_rows_that_begin_inside_a_sector(self):
        def load(addresses):
            return [{"space": "global", "access": "load", "size": 1, "addresses": addresses}]

        two = of_global("load", 64, 2, 32, 1)
        problem = self.the_one((two, load([1030 + lane for lane in range(32)])))
        self.assertEqual(problem.chapter, "06")
        self.assertIn("as it begins inside a sector: let it begin at a multiple of 32 bytes", problem.sentence)
        # Every second byte from a sector on has gaps.
        self.assertIn("without gaps", self.the_one((two, load([1024 + 2 * lane for lane in range(32)]))).sentence)

    def test_addresses_from_data(self):
        scattered = [4 * (37 * lane * lane % 64) for lane in range(32)]
        example = [{"space": "global", "access": "load", "size": 4, "addresses": scattered}]
        problem = self.the_one((of_global("load", 64, 8, 32), example))
        self.assertIn("at addresses that follow no pattern from lane to lane: where an expression", problem.sentence)

    def test_bank_conflicts(self):
        problem = self.the_one(of_shared("load", 64, 8, 32))
        self.assertEqual((problem.chapter, problem.excess), ("05", 64 * 7))
        self.assertIn("Each shared load takes 8.0 wavefronts where 1.0 would do", problem.sentence)

    def test_asynchronous_copies(self):
        def copy(size, wavefronts):
            load = of_global("load", 64, size, 32)
            return dict(
                load,
                global_load_bytes=64 * 32 * size,
                shared_wavefronts=64 * wavefronts,
                shared_wavefronts_ideal=64 * size // 4,
            )

        problem = self.the_one(copy(4, 32))
        self.assertEqual((problem.chapter, problem.excess), ("05", 64 * 31))
        self.assertIn("Each asynchronous copy takes 32.0 wavefronts where 1.0 would do", problem.sentence)
        self.assertEqual(len(self.found(copy(8, 4))), 1)
        # In order; and 16 bytes, of which the hardware makes no queue.
        for fine in (copy(4, 1), copy(8, 2), copy(16, 4), copy(16, 32)):
            self.assertEqual(self.found(fine), [])

    def test_few_active_lanes(self):
        problem = self.the_one(of_shared("store", 512, 1, 5), COALESCED)
        self.assertEqual(problem.chapter, "01")
        self.assertIn("Only 5.0 of 32 lanes take part", problem.sentence)
        # Every fourth lane stores: as many sectors as of a full warp, and it is not their fault.
        self.assertIn("Only 8.0 of 32", self.the_one(of_global("store", 64, 4, 8), COALESCED).sentence)
        # Rare beside the rest of the kernel: not worth a word.
        self.assertEqual(self.found(of_shared("store", 512, 1, 5), of_global("load", 20000, 4, 32)), [])

    def test_a_lane_that_stores_what_its_warp_has_made(self):
        # In a loop: for each sum of a warp there is the load of a whole one.
        self.assertEqual(self.found(of_shared("store", 512, 1, 1), of_global("load", 512, 4, 32)), [])
        self.assertIn("Only 1.0 of", self.the_one(of_shared("store", 512, 1, 1), COALESCED).sentence)
        self.assertIn("Only 1.0 of", self.the_one(of_shared("load", 512, 1, 1), of_global("load", 512, 4, 32)).sentence)

    def test_what_would_win_next_to_nothing(self):
        conflict = of_shared("load", 8, 8, 32)
        self.assertEqual(len(self.found(conflict, COALESCED)), 1)
        self.assertEqual(self.found(conflict, of_global("load", 512, 4, 32)), [])
        # Many such lines are no trifle together.
        self.assertEqual(self.found(*[conflict] * 4, of_global("load", 512, 4, 32))[0].excess, 4 * 56)

    def test_an_array_of_structures(self):
        def example(step):
            lanes = [step * lane for lane in range(32)]
            return [{"space": "global", "access": "load", "size": 4, "addresses": lanes}]

        problem = self.the_one((of_global("load", 64, 28, 32), example(28)))
        self.assertIn("as the lanes are 28 bytes apart, as in an array of structures", problem.sentence)
        self.assertIn("give each member an array of its own", problem.sentence)
        # Every second element, and a column.
        self.assertIn("without gaps", self.the_one((of_global("load", 64, 8, 32), example(8))).sentence)
        self.assertIn("let threadIdx.x", self.the_one((of_global("load", 64, 32, 32), example(4096))).sentence)

    def test_atomics_that_take_turns_now_and_then(self):
        words = "Each shared atomic at k.cu:1 takes 1.9 wavefronts: lanes that meet in a bank take turns"
        self.assertIn(words, self.in_passing(of_shared("atomic", 640, 1.9, 32))[0])
        self.assertEqual(self.in_passing(of_shared("atomic", 64, 1, 32)), [])

    def test_lines_that_wait(self):
        kernel = kernel_of(of_global("load", 5000, 1, 1), COALESCED, grid=(8, 1, 1))
        self.assertIn("Only 1.0 of 32", problems.of_kernel(kernel)[0].sentence)
        self.assertEqual(problems.waits(kernel), "")
        kernel.polls["k.cu", 1] = 4900
        self.assertEqual(problems.of_kernel(kernel), [])
        self.assertIn("k.cu:1  Waits: these loads ask for the same place until", problems.waits(kernel))
        renderer = report.Renderer(Palette(False))
        renderer.kernel(kernel)
        self.assertIn(problems.waits(kernel), "\n".join(renderer.out))
        kernel.polls["k.cu", 1] = 2000
        self.assertEqual(problems.waits(kernel), "")

    def test_blocks_of_few_threads(self):
        problem = self.the_one(of_global("load", 8, 1, 8), block=(8, 1, 1))
        self.assertIn("Blocks of 8 threads leave 24 of each warp's 32 lanes idle", problem.sentence)

    def in_passing(self, *lines, **geometry):
        kernel = kernel_of(*lines, grid=geometry.pop("grid", (8, 1, 1)), **geometry)
        self.assertEqual(problems.of_kernel(kernel), [])
        return problems.in_passing(kernel)

    def test_blocks_that_are_no_multiple_of_a_warp(self):
        for threads, words in {
            (40, 1, 1): "Blocks of 40 threads leave 24 lanes of their second warp idle: take a multiple of 32.",
            (20, 1, 1): "Blocks of 20 threads leave 12 lanes of their only warp idle: take a multiple of 32.",
            (33, 9, 1): "Blocks of 297 threads leave 23 lanes of their last warp idle: take a multiple of 32.",
            (31, 1, 1): "Blocks of 31 threads leave 1 lane of their only warp idle: take a multiple of 32.",
        }.items():
            self.assertEqual(self.in_passing(of_global("load", 16, 2.5, 20), block=threads), [words])
        self.assertEqual(self.in_passing(COALESCED, block=(32, 8, 1)), [])
        # As many threads as there are elements: no other block would do better.
        self.assertEqual(self.in_passing(of_global("load", 2, 2.5, 20), block=(40, 1, 1), grid=(1, 1, 1)), [])

    def test_moved_bytes_that_nobody_uses(self):
        def request(start, step=4):
            lanes = [1024 + start + step * lane for lane in range(32)]
            return [{"space": "global", "access": "load", "size": 4, "addresses": lanes}]

        five = of_global("load", 64, 5, 32)
        words = "80 % of the moved bytes are used: each load request at k.cu:1 takes 5.0 sectors where 4.0 would do"
        inside = words + ", as it begins inside a sector; let it begin at a multiple of 32 bytes where the algorithm "
        self.assertEqual(self.in_passing((five, request(4))), [inside + "allows it."])
        self.assertEqual(self.in_passing((five, request(8 + 31 * 4, -4))), [inside + "allows it."])  # y[n - 1 - i]
        self.assertEqual(self.in_passing((five, request(0))), [words + "."])
        self.assertEqual(self.in_passing(five), [words + "."])
        # Some lanes of some warps have nothing to do, at an edge: nothing is said of it.
        self.assertEqual(self.in_passing(of_global("load", 64, 3, 20)), [""])
        self.assertEqual(self.in_passing(of_global("load", 64, 3.95, 31)), [])

    def test_atomics(self):
        colliding = of_global("atomic", 64, 32, 32)
        example = {"space": "global", "access": "atomic", "size": 4}
        same = dict(example, addresses=[0] * 32)
        apart = dict(example, addresses=[128 * lane for lane in range(32)])
        for entry, chapter, words in (
            (colliding, "07", "take turns"),
            ((colliding, [same]), "07", "take turns"),
            ((colliding, [apart]), "02", "lie apart"),
        ):
            problem = self.the_one(entry)
            self.assertEqual(problem.chapter, chapter)
            self.assertIn(words, problem.sentence)
        problem = self.the_one(of_shared("atomic", 64, 16, 32))
        self.assertIn("takes 16.0 wavefronts for its 32.0 lanes", problem.sentence)
        # Lanes of one warp: counters for each warp would not part them.
        shared = {"space": "shared", "access": "atomic", "size": 4}
        for addresses, cure in (
            (
                [4 * (lane % 7) for lane in range(32)],
                "give each lane a copy of the counters in the bank of its own number",
            ),
            ([0] * 32, "add within the warp first, and let one lane add the sum"),
        ):
            problem = self.the_one((of_shared("atomic", 64, 16, 32), [dict(shared, addresses=addresses)]))
            self.assertEqual(problem.chapter, "07")
            self.assertIn(cure, problem.sentence)
            self.assertNotIn("each warp", problem.sentence)

    def test_shared_additions_of_floats(self):
        rounds = dict(of_shared("atomic", 64, 2, 18), **of_shared("load", 64, 1, 18))
        atomic = {"space": "shared", "access": "atomic", "size": 4, "addresses": [4 * (i % 4) for i in range(32)]}
        problem = self.the_one((rounds, [atomic]))
        self.assertEqual(problem.chapter, "07")
        self.assertIn("up to 8 lanes of a warp meet in a bank and one of them succeeds", problem.sentence)
        # Lanes that do not meet; a line that loads and adds integers.
        self.assertEqual(self.found((rounds, [dict(atomic, addresses=[4 * i for i in range(32)])])), [])
        load = dict(atomic, access="load", wavefronts=1, phase_lanes=32)
        self.assertEqual(self.found((rounds, [atomic, load])), [])

    def test_one_sentence_a_line_and_the_costliest_first(self):
        both = dict(of_global("load", 64, 8, 32), **of_shared("store", 64, 32, 32))
        found = self.found(of_global("load", 64, 12, 32), both)
        self.assertEqual([problem.lines[0][1] for problem in found], [2, 1])
        self.assertEqual([problem.chapter for problem in found], ["05", "02"])
        for problem in found:
            self.assertEqual(len(re.findall(r"[a-z)]\.(?= |$)", problem.sentence)), 1, problem.sentence)

    def test_lines_that_are_told_the_same_stand_together(self):
        problem = self.the_one(of_shared("load", 64, 8, 32), of_shared("load", 64, 8, 32))
        self.assertEqual(problem.places(), "k.cu:1, 2")

    def test_the_chapters_that_have_the_cures_are_there(self):
        there = {chapter.number for chapter in chapters.all_chapters()}
        self.assertEqual(set(problems.TOPICS) - there, set())
        (seventh,) = (chapter for chapter in chapters.all_chapters() if chapter.number == "07")
        number, name = re.fullmatch(r"section (\d+), (.*)", problems.OWN_COPIES).groups()
        self.assertRegex(fake.read(seventh.source), rf"// ## {number}\. .*{name}")
