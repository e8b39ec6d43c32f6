"""Runs the chapters of chapters/ here: what their headers say is what their programs do."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["form", "products"]

PROGRAMS = SIMULATOR / "tests/lab/chapters"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

from warp.base import records
from warp.chapter.written import Report

GENERATOR = HERE.parents[1] / "cmake" / "chapter_header.py"
MAP, PRODUCTS = "06_form/form", "07_products/products"


class Run:
    def __init__(self, program, *arguments, **environment):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.json"
            done = subprocess.run(
                [PROGRAMS / program, *arguments, "--json", file],
                capture_output=True,
                text=True,
                timeout=280,
                env={**os.environ, "NO_COLOR": "1", **environment},
            )
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
            self.results = json.loads(file.read_text()) if file.exists() else None
        if self.results is not None:  # FormError where lab writes what nobody reads
            records.read(Report, self.results, strict=True)
        self.all = f"exit code {self.code}\n{self.out}\n{self.err}"

    def labels(self):
        return [" ".join(filter(None, (row["rung"], row.get("variant")))) for row in self.results["rows"]]

    def row(self, rung):
        (row,) = (row for row in self.results["rows"] if row["rung"] == rung)
        return row


class Maps(unittest.TestCase):
    LADDER = [
        "naive",
        "tiled pad=0",
        "tiled pad=1",
        "sum_of_both",
        "as_halves block=64",
        "as_halves block=256",
        "no_barrier",
        "other_file",
        "nowhere",
    ]

    def test_the_ladder_is_that_of_the_header(self):
        run = Run(MAP)
        self.assertEqual(run.code, 0, run.all)
        self.assertEqual(run.results["chapter"], "06_form")
        self.assertEqual(run.labels(), self.LADDER)
        self.assertEqual({row["status"] for row in run.results["rows"][:6]}, {"PASS"}, run.all)
        self.assertEqual(run.row("naive")["size"], {"rows": 45, "cols": 70})
        self.assertRegex(run.row("no_barrier")["reason"], "^raises shared-race, as it should")

    def test_what_is_not_here_is_skipped_for_the_reason_of_the_header(self):
        run = Run(MAP, "--rung", "other_file", "--rung", "nowhere")
        self.assertEqual(run.code, 0, run.all)
        for rung, reason in (
            ("other_file", "needs a GPU"),
            ("nowhere", "needs a GPU of compute capability 9.0 and CUDA 99.9 or later"),
        ):
            self.assertEqual((run.row(rung)["status"], run.row(rung)["reason"]), ("SKIP", reason))

    def test_the_list_is_the_header(self):
        listed = subprocess.run([PROGRAMS / MAP, "--list"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(listed, r"^naive        rows in, columns out\ntiled  .*\nsum_of_both  a map of two arrays\n")
        self.assertEqual(len(listed.splitlines()), 7)

    def test_cases_are_one_report(self):
        run = Run(MAP, "--cases", "all")
        self.assertEqual(run.code, 0, run.all)
        self.assertEqual(run.row("naive")["reason"], "33 cases")
        self.assertNotIn("no_barrier", run.labels())
        self.assertIn("cases 0 to 32 of 33", run.out)
        one = Run(MAP, "--cases", "7-8", "--rung", "naive")
        self.assertEqual(one.row("naive")["reason"], "2 cases")

    def test_several_sizes_are_one_report(self):
        run = Run(MAP, "--size", "33,40", "--size", "5,7")
        self.assertEqual(run.code, 0, run.all)
        self.assertEqual(run.labels(), 2 * self.LADDER)
        half = len(self.LADDER)
        sizes = [tuple(row["size"].values()) for row in run.results["rows"]]
        self.assertEqual(sizes, half * [(33, 40)] + half * [(5, 7)])
        self.assertEqual(run.results["rows"][half]["counts"]["global_load_requests"], 5)
        self.assertEqual(run.out.count("\nrung "), 2)

    def test_a_trace_has_the_launches_of_all_sizes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            run = Run(MAP, "--size", "33,40", "--size", "5,7", SIMT_JSON=str(file))
            launches = json.loads(file.read_text())["launches"]
        self.assertEqual(run.code, 0, run.all)
        ran = [row for row in run.results["rows"] if row["status"] == "PASS"]
        self.assertEqual(len(ran), 2 * 7)
        for row in ran:
            (launch,) = launches[row["launches"]["first"] : row["launches"]["end"]]
            kernel = "tiled" if row["rung"] == "no_barrier" else row["rung"]
            self.assertTrue(launch["kernel"].startswith(kernel), row)
        self.assertEqual(sum(row["launches"]["end"] - row["launches"]["first"] for row in ran), len(launches))
        of_naive = [launches[row["launches"]["first"]]["grid"][0] for row in ran if row["rung"] == "naive"]
        self.assertEqual(of_naive, [2, 1])  # 40 columns, then 7, in tiles of 32

    def test_bad_input_ends_with_2_and_one_line(self):
        for words in (
            ["--cases", "33"],
            ["--cases", "1", "--rung", "nieve"],
            ["--size", "3,4", "--size", "3"],
            ["--size", "3,4", "--size", "5,6", "--rung", "nieve"],
        ):
            run = Run(MAP, *words)
            self.assertEqual((run.code, len(run.err.splitlines())), (2, 1), run.all)
        free = subprocess.run([PROGRAMS / MAP, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn("--cases WHICH", free)


class Products(unittest.TestCase):
    def test_the_ladder_is_that_of_the_header(self):
        run = Run(PRODUCTS)
        self.assertEqual(run.code, 0, run.all)
        self.assertEqual(
            run.labels(),
            [
                "cublas",
                "one_each",
                "strips depth=16",
                "strips depth=15360",
                "flat",
                "unwritten",
                "registered",
                "elsewhere",
            ],
        )
        self.assertEqual(run.row("cublas")["reason"], "needs a GPU and cuBLAS")
        self.assertRegex(run.row("unwritten")["reason"], "^raises uninitialized-shared, as it should")
        self.assertEqual(run.row("registered")["status"], "PASS")
        self.assertEqual(run.row("elsewhere")["reason"], "needs a GPU of compute capability 9.0 and CUDA 12.9 or later")
        self.assertIn("peer cuBLAS: needs a GPU and cuBLAS", run.out)

    def test_the_launcher_solves_every_case(self):
        run = Run(PRODUCTS, "--cases", "0-23")
        self.assertEqual(run.code, 0, run.all)
        for row in run.results["rows"]:
            if row["rung"] in ("one_each", "strips", "flat"):
                self.assertEqual((row["status"], row["reason"]), ("PASS", "24 cases"), row)
        self.assertNotIn("unwritten", run.labels())
        self.assertNotIn("registered", run.labels())

    def test_a_second_size_has_the_products_alone(self):
        run = Run(PRODUCTS, "--size", "33,44,55", "--size", "1,2,3")
        self.assertEqual(run.code, 0, run.all)
        self.assertEqual(run.labels().count("one_each"), 2)
        self.assertEqual(run.labels().count("registered"), 1)

    def test_more_rows_than_a_grid_has_go_in_slices(self):
        run = Run(PRODUCTS, "--rung", "strips", "--size", "65537,1,1")
        self.assertEqual(run.code, 0, run.all)
        self.assertEqual([row["status"] for row in run.results["rows"]], ["PASS", "PASS"])


class Generator(unittest.TestCase):
    """cmake/chapter_header.py."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        chapter = pathlib.Path(self.folder.name) / "06_form"
        chapter.mkdir()
        self.source, self.output = chapter / "form.cu", chapter / "out" / "header.cpp"
        self.text = (HERE / "chapters" / "06_form" / "form.cu").read_text()

    def run_with(self, text, *options):
        self.source.write_text(text)
        return subprocess.run(
            [sys.executable, GENERATOR, self.source, self.output, *options], capture_output=True, text=True
        )

    def test_prose_changes_nothing(self):
        self.assertEqual(self.run_with(self.text).returncode, 0)
        made = self.output.stat().st_mtime_ns
        self.run_with(self.text + "// More prose.\n")
        self.assertEqual(self.output.stat().st_mtime_ns, made)
        self.run_with(self.text.replace("rows in, columns out", "another idea"))
        self.assertIn('"another idea"', self.output.read_text())

    def test_every_character_survives(self):
        self.run_with(self.text.replace("rows in, columns out", r'"why\n"??/ \u00b5 µs 7'))
        found = re.search(r'\{"naive", "(.*?)", \{\}', self.output.read_text()).group(1)
        self.assertEqual(
            re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal.group(1), 8)), found).encode("latin-1").decode(),
            r'"why\n"??/ \u00b5 µs 7',
        )

    def test_a_wrong_header_is_one_line(self):
        done = self.run_with(self.text.replace("// Size simulator: 45,70\n", ""))
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
        self.assertIn("form.cu:1: the header lacks the line '// Size simulator: ...'", done.stderr)
        self.assertFalse(self.output.exists())

    def test_products_get_their_peer_where_the_build_has_it(self):
        products = (HERE / "chapters" / "07_products" / "products.cu").read_text().replace("Chapter 07", "Chapter 06")
        products = products.replace("./learn run 07", "./learn run 06")
        self.run_with(products)
        self.assertNotIn("cublas.h", self.output.read_text())
        self.assertEqual(self.run_with(products, "--cublas").returncode, 0)
        self.assertIn("lab::use_cublas", self.output.read_text())
        self.run_with(self.text, "--cublas")  # a map
        self.assertNotIn("use_cublas", self.output.read_text())


if __name__ == "__main__":
    unittest.main()
