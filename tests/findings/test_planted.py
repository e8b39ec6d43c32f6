"""Every planted fault is found, as what it is and where it is; the corrected twins are silent.

The programs name what must be found (`planted --list`), their sources where (`// fault: NAME`). open.json names
the programs whose fault is not found yet: each must go unfound, so that the list shrinks.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ["WARP_PLANTED"]
FOUND = 86  # the exit code of a program with findings


def expected():
    """Program -> the kind to be found, "none" where there is nothing to be found."""
    listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout
    return {name: kind for name, kind, _ in (line.split() for line in listed.splitlines())}


def marks():
    """Program -> {(file, line)} of its fault."""
    lines = {}
    for source in HERE.glob("*.cu"):
        for number, text in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r"// fault: (\w+)", text):
                lines.setdefault(name, set()).add((source.name, number))
    return lines


def run(name, variant, **settings):
    """Exit code, standard error, findings."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        done = subprocess.run([PROGRAM, variant, name], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "SIMT_JSON": str(trace), "SIMT_LEAKS": "1", **settings})
        if not trace.exists():
            raise AssertionError(f"{variant} {name} left no trace, exit {done.returncode}:\n{done.stderr}")
        data = json.loads(trace.read_text(encoding="utf-8"))
    findings = data["findings"] + [f for launch in data["launches"] for f in launch["findings"]]
    return done.returncode, done.stderr, findings


def all_of(names, variant):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lambda name: run(name, variant), names)))


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.expected = expected()
        cls.marks = marks()
        cls.open = json.loads((HERE / "open.json").read_text(encoding="utf-8"))

    def test_each_fault_stands_on_a_line(self):
        wanted = {name for name, kind in self.expected.items() if kind != "none"}
        self.assertEqual(wanted - set(self.marks), set(), "no line is marked")
        self.assertEqual(set(self.marks) - set(self.expected), set(), "no such program")

    def test_corrected_twins_are_silent(self):
        for name, (code, errors, findings) in all_of(self.expected, "correct").items():
            with self.subTest(name):
                self.assertEqual((code, errors, findings), (0, "", []))

    def wrong_with(self, name):
        """What is wrong with what is found in the faulty variant of a program; empty if it is right."""
        try:
            code, errors, findings = run(name, "faulty")
        except AssertionError as error:
            return str(error)
        if self.expected[name] == "none":
            return errors if code or findings else ""
        kinds = {finding["kind"] for finding in findings}
        places = {(pathlib.Path(finding["file"]).name, finding["line"]) for finding in findings}
        if code != FOUND or kinds != {self.expected[name]} or places - self.marks[name]:
            return f"{self.expected[name]} wanted, found {sorted(kinds)} at {sorted(places)}, exit {code}\n{errors}"
        return ""

    def test_faults_are_found(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = dict(zip(self.expected, pool.map(self.wrong_with, self.expected)))
        for name, problem in wrong.items():
            with self.subTest(name):
                if name in self.open:
                    self.assertNotEqual(problem, "", "found by now: take it out of open.json")
                else:
                    self.assertEqual(problem, "")


if __name__ == "__main__":
    unittest.main()
