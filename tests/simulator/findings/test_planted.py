"""Every planted fault is found, as what it is and where it is; the corrected twins are silent.

The programs name what must be found (`planted --list`), their sources where (`// fault: NAME`). h200.json holds
what compute-sanitizer reports of the same programs on hardware: whatever it finds must be found here as well.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["planted"]

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = SIMULATOR / "tests/simulator/findings/planted"
FOUND = 86  # the exit code of a program with errors
WARNINGS = {
    "uninitialized-global",
    "uninitialized-constant",
    "api-error",
    "division-by-zero",
    "same-random",
    "short-grid",
    "unread-result",
}  # with SIMT_LEAKS a leak is an error
# What nobody looks at fails the run, and what would end the program.
LAUNCHES = {
    "too_many_threads",
    "no_blocks",
    "too_much_shared",
    "freed_by_free",
    "freed_by_delete",
    "cluster_of_nine",
    "cluster_no_divisor",
}
# A warning, of a kind that may be an error.
MILD = {
    "mapped_read_early",
    "managed_read_early",
    "managed_read_between_atomics",
    "copy_read_early",
    "leader_not_in_mask",
    "lanes_without_element",
    "leave_before_barrier",
    "barrier_passed_by",
    "source_refilled_early",
    "source_cleared_early",
    "registered_source",
    "other_stream_waited_for",
    "managed_variable_early",
    "managed_argument_changed",
    "allocate_to_stand_in",
}
ASKED = {"assert_fails"}  # asks for the error of its failed assertion, so that its exit code is its own

# A report of compute-sanitizer -> the kinds that say the same here.
SAME = {
    r"Invalid __(global|shared|local)__ ": {"out-of-bounds", "misaligned-access", "use-after-free", "device-access"},
    r"Warp assert": {"trap"},
    r"(Error|Warning): Race reported ": {"shared-race"},
    r"Barrier error detected": {"barrier-divergence", "invalid-mask"},
    r"Uninitialized __global__ memory read|Host API memory access error": {"uninitialized-global"},
    r"Program hit cudaError": {"api-error"},
    r"Leaked": {"leak"},
}


def programs():
    """(name, the kind to be found or "none", "everywhere" or "simulator") of each program."""
    listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in listed.splitlines()]


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
        done = subprocess.run(
            [PROGRAM, variant, name],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "SIMT_JSON": str(trace), "SIMT_LEAKS": "1", "SIMT_STEPS": "200000", **settings},
        )
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
        cls.expected = {name: kind for name, kind, _ in programs()}
        cls.on_hardware = {name for name, _, where in programs() if where == "everywhere"}
        cls.marks = marks()
        cls.hardware = json.loads((HERE / "h200.json").read_text(encoding="utf-8"))["programs"]
        cls.faulty = all_of(cls.expected, "faulty")

    def test_each_fault_stands_on_a_line(self):
        wanted = {name for name, kind in self.expected.items() if kind != "none"}
        self.assertEqual(wanted - set(self.marks), set(), "no line is marked")
        self.assertEqual(set(self.marks) - set(self.expected), set(), "no such program")

    def test_corrected_twins_are_silent(self):
        for name, (code, errors, findings) in all_of(self.expected, "correct").items():
            with self.subTest(name):
                self.assertEqual((code, errors, findings), (0, "", []))

    def wrong_with(self, name, found):
        """What is wrong with what is found in the faulty variant of a program; empty if it is right."""
        code, errors, findings = found
        if self.expected[name] == "none":
            return errors if code or findings else ""
        kinds = {finding["kind"] for finding in findings}
        places = {(pathlib.Path(finding["file"]).name, finding["line"]) for finding in findings}
        warns = name in MILD or (self.expected[name] in WARNINGS and name not in LAUNCHES)
        severity = "warning" if warns else "error"
        wanted = 0 if name in ASKED or severity == "warning" else FOUND
        severities = {finding["severity"] for finding in findings}
        if (code, kinds, severities) != (wanted, {self.expected[name]}, {severity}) or places - self.marks[name]:
            return f"{self.expected[name]} wanted, found {sorted(kinds)} at {sorted(places)}, exit {code}\n{errors}"
        return ""

    def test_faults_are_found(self):
        for name, found in self.faulty.items():
            with self.subTest(name):
                self.assertEqual(self.wrong_with(name, found), "")

    def test_messages_have_no_name_of_the_simulators_own(self):
        for name, (_, errors, findings) in self.faulty.items():
            with self.subTest(name):
                for text in [errors, *(finding["message"] for finding in findings)]:
                    self.assertNotRegex(text, r"\bsimt::|\bsimt_\w|\bdetail::|include/simt/|__tsan|common/simt/")

    def test_a_hang_that_is_certain_needs_no_budget_of_steps(self):
        hangs = [name for name, kind in self.expected.items() if kind == "hang" and name != "endless_loop"]
        self.assertGreaterEqual(len(hangs), 4)
        for name in [*hangs, "waits_before_barrier"]:
            with self.subTest(name):
                found = run(name, "faulty", SIMT_STEPS="1000000000000")
                self.assertEqual(self.wrong_with(name, found), "")
                self.assertIn("nobody will change" if name not in hangs else "will never end", found[1])

    def test_nothing_that_compute_sanitizer_finds_is_missed(self):
        self.assertEqual(set(self.hardware), self.on_hardware, "run ./learn author sanitize on a GPU again")
        compared = 0
        for name, measured in self.hardware.items():
            with self.subTest(name):
                self.assertEqual(measured["correct"], {}, "the corrected twin is faulty on hardware")
                kinds = {finding["kind"] for finding in self.faulty[name][2]}
                for tool, reports in measured["faulty"].items():
                    # A program that never ends there says nothing but that it has a fault.
                    for report in reports if isinstance(reports, dict) else []:
                        same = [found for pattern, found in SAME.items() if re.match(pattern, report)]
                        self.assertEqual(len(same), 1, f"{tool}: what is '{report}'?")
                        self.assertTrue(kinds & same[0], f"{tool} reports '{report}', here only {sorted(kinds)}")
                        compared += 1
        self.assertGreaterEqual(compared, 50)
