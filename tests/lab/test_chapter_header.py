"""cmake/chapter_header.py: what a chapter's header says, as the C++ that its program gets linked in."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GENERATOR = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "chapter_header.py"
HEADER = """\
// # Chapter 06: The form of a chapter
//
// Question: Does it reach the program?
// Builds on: nothing
// Kind: map
// Size gpu: 1024,1500
// Size simulator: 45,70
// Run: ./learn run 06
//   ./learn run 06 --rung naive  rows in, columns out
"""
PRODUCTS = HEADER.replace("Kind: map", "Kind: gemm").replace("1024,1500", "3,2,1").replace("45,70", "7,4,3")


class Generator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        chapter = pathlib.Path(folder.name) / "06_form"
        chapter.mkdir()
        self.source, self.output = chapter / "form.cu", chapter / "out" / "header.cpp"

    def run_with(self, text, *options):
        self.source.write_text(text)
        command = [sys.executable, GENERATOR, self.source, self.output, *options]
        return subprocess.run(command, capture_output=True, text=True)

    def test_prose_changes_nothing(self):
        self.assertEqual(self.run_with(HEADER).returncode, 0)
        made = self.output.stat().st_mtime_ns
        self.run_with(HEADER + "\n// More prose.\n")
        self.assertEqual(self.output.stat().st_mtime_ns, made)
        self.run_with(HEADER.replace("rows in, columns out", "another idea"))
        self.assertIn('"another idea"', self.output.read_text())

    def test_every_character_survives(self):
        self.run_with(HEADER.replace("rows in, columns out", r'"why\n"??/ \u00b5 µs 7'))
        found = re.search(r'\{"naive", "(.*?)", \{\}', self.output.read_text()).group(1)
        self.assertEqual(
            re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal.group(1), 8)), found).encode("latin-1").decode(),
            r'"why\n"??/ \u00b5 µs 7',
        )

    def test_a_wrong_header_is_one_line(self):
        done = self.run_with(HEADER.replace("// Size simulator: 45,70\n", ""))
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
        self.assertIn("form.cu:1: the header lacks the line '// Size simulator: ...'", done.stderr)
        self.assertFalse(self.output.exists())

    def test_products_get_their_peer_where_the_build_has_it(self):
        self.run_with(PRODUCTS)
        self.assertNotIn("cublas.h", self.output.read_text())
        self.assertEqual(self.run_with(PRODUCTS, "--cublas").returncode, 0)
        self.assertIn("lab::use_cublas", self.output.read_text())
        self.run_with(HEADER, "--cublas")  # a map
        self.assertNotIn("use_cublas", self.output.read_text())
