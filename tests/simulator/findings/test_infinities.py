"""The first infinity of a program is told, with the thread and the line that have made it of finite numbers."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["infinities"]

PROGRAM = SIMULATOR / "tests/simulator/findings/infinities"
SOURCE = pathlib.Path(__file__).with_name("infinities.cu")


def line_of(mark):
    texts = SOURCE.read_text(encoding="utf-8").splitlines()
    (line,) = [number for number, text in enumerate(texts, 1) if text.endswith("// " + mark)]
    return line


def notes(way):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        env = {**os.environ, "SIMT_JSON": str(trace)}
        done = subprocess.run([PROGRAM, way], capture_output=True, text=True, timeout=120, check=False, env=env)
        if (done.returncode, done.stderr) != (0, ""):
            raise AssertionError(f"{way}: exit {done.returncode}\n{done.stderr}")
        return json.loads(trace.read_text(encoding="utf-8")).get("notes", [])


class Infinities(unittest.TestCase):
    def test_the_first_is_told(self):
        for way, kernel, mark, at in (
            ("float", "divide<float>", "divides", "element 700 of "),
            ("sum", "divide<double>", "divides", "element 700 of "),
            ("in_place", "shift_and_divide<float>", "in place", "element 500 of "),
        ):
            with self.subTest(way):
                (note,) = notes(way)
                self.assertRegex(note, rf"the inf that {kernel} at (\S*/)?infinities\.cu:{line_of(mark)}, block \(")
                block, thread = {"700": ("(5,0,0)", "(60,0,0)"), "500": ("(3,0,0)", "(116,0,0)")}[at.split()[1]]
                self.assertIn(f"block {block}, thread {thread}, has stored as {at}", note)

    def test_what_the_host_has_given_or_never_sees_is_not(self):
        for way in ("finite", "given", "kept", "integers"):
            with self.subTest(way):
                self.assertEqual(notes(way), [])
