"""Runs the program of chapters/08_faults as a reader runs a chapter: exit codes, streams, table, results file.

WARP_FAULTS names the program.
"""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["faults"]

# On a GPU the environment names the program of that build.
PROGRAM = os.environ.get("WARP_FAULTS") or SIMULATOR / "tests/lab/chapters/08_faults/faults"
KEYS = ["chapter", "backend", "device", "driver", "toolkit", "date", "commit", "limits", "rows"]
ROW_KEYS = [
    "rung",
    "variant",
    "size",
    "status",
    "reason",
    "max_error",
    "tolerance",
    "time_ms",
    "clock",
    "first_ms",
    "rate",
    "rate_unit",
    "peer",
    "ratio_to_peer",
    "fraction_of_limit",
    "counts",
    "launches",
]
TIMES = ["median", "p10", "p90", "runs"]


def run(*arguments, **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "WARP_COMMIT", "LAB_TIMING")}
    env.update(environment)
    return subprocess.run(
        [PROGRAM, *arguments], env=env, stdin=subprocess.DEVNULL, timeout=280, capture_output=True, text=True
    )


def setUpModule():
    done = run("--rung", "right")
    if re.search("cudaErrorNoDevice|cudaErrorInsufficientDriver", done.stderr):
        raise unittest.SkipTest("no GPU: " + done.stderr.strip())


class Whole(unittest.TestCase):
    """All rungs in one run."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.json")
            cls.done = run("--json", path, "--seed", "3", WARP_COMMIT="0123abc")
            with open(path, encoding="utf-8") as file:
                cls.results = json.load(file)
        cls.rows = {row["rung"]: row for row in cls.results["rows"]}
        cls.gpu = cls.results["backend"] == "gpu"

    def expect(self, rung, status, reason="^$"):
        row = self.rows[rung]
        self.assertEqual(row["status"], status, row)
        self.assertRegex(row.get("reason", ""), reason)
        line = next(line for line in self.done.stdout.splitlines() if line.startswith(rung + " "))
        self.assertRegex(line, rf"^{rung} +{status}\b")

    def test_one_fault_one_verdict(self):
        n = self.rows["right"]["size"]["n"]
        self.expect("right", "PASS")
        self.expect("chain", "PASS")
        self.expect("not_a_number", "FAIL", rf"1 of {n} elements are wrong, .* nan where")
        self.expect("one_wrong", "FAIL", rf"first at index {n - 1}: 9 where")
        self.expect("unwritten", "FAIL", rf"1 of {n} .* index {n - 1}: nan where")
        self.expect("past_the_end", "FAIL", rf"^c: a write past its end hit byte {4 * n} ")
        self.expect("blind", "ERROR", "passes before the rung has run")
        self.expect("friendless", "ERROR", "its peer 'nobody' has no launch, and does not say why")
        self.expect("big_block", "ERROR", "cudaErrorInvalid(Value|Configuration).* 1024 threads")
        self.expect("future", "SKIP", "^needs a GPU of compute capability 99.0 or more")
        self.expect("absent", "SKIP", "^needs CUB$" if self.gpu else "^needs a GPU and CUB$")
        if self.gpu:
            self.expect("right_once", "FAIL", rf"^after timing: 1 of {n} ")
            self.expect("demonstration", "SKIP", "the simulator shows it")
            self.expect("far_outside", "ERROR", "cudaErrorIllegalAddress.*context is lost")
            self.expect("after", "ERROR", "^not run: the CUDA context was lost in rung far_outside$")
        else:
            self.expect("right_once", "PASS")
            self.expect("demonstration", "PASS", "raises out-of-bounds, as it should: ")
            self.expect("far_outside", "FAIL", "^(out-of-bounds|device-access): write of 4 bytes at ")
            self.expect("after", "PASS")
        self.assertEqual(self.done.returncode, 1, self.done.stderr)

    def test_rows_keep_their_order(self):
        listed = [line.split()[0] for line in run("--list").stdout.splitlines()]
        self.assertEqual([row["rung"] for row in self.results["rows"]], listed)
        self.assertGreater(len(listed), 12)

    def test_results_file(self):
        self.assertEqual(list(self.results), KEYS)
        self.assertEqual(self.results["commit"], "0123abc")
        self.assertRegex(self.results["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertTrue(self.results["device"] and self.results["driver"] and self.results["toolkit"])
        for row in self.results["rows"]:
            known = [key for key in ROW_KEYS if key in row]
            self.assertEqual(list(row), known)
            self.assertLessEqual({"rung", "size", "status"}, set(row))
            self.assertIn(row["status"], ("PASS", "FAIL", "SKIP", "ERROR"))
            self.assertEqual(list(row["size"]), ["n"])
        self.assertIsNone(self.rows["not_a_number"]["max_error"])

    def test_numbers(self):
        right, chain = self.rows["right"], self.rows["chain"]
        if not self.gpu:
            self.assertEqual(self.results["limits"], {})
            self.assertNotIn("time_ms", right)
            self.assertNotRegex(self.done.stdout, r"\bms\b")
            n = right["size"]["n"]
            self.assertEqual(right["counts"]["global_load_requests"], 2 * -(-n // 32))
            self.assertEqual(right["counts"]["global_store_sectors"], -(-n // 8))
            return
        self.assertEqual(set(self.results["limits"]), {"copy_gb_s", "fp32_gflop_s", "sm_clock_mhz", "memory_clock_mhz"})
        self.assertTrue(all(value > 0 for value in self.results["limits"].values()))
        for row, unit, work in ((right, "GB/s", 12), (chain, "GFLOP/s", 16)):
            self.assertEqual(list(row["time_ms"]), TIMES)
            times = row["time_ms"]
            self.assertTrue(0 < times["p10"] <= times["median"] <= times["p90"])
            self.assertGreaterEqual(times["runs"], 10)
            self.assertEqual(row["rate_unit"], unit)
            self.assertAlmostEqual(row["rate"] * times["median"] * 1e6, work * row["size"]["n"], delta=1)
            self.assertTrue(0 < row["fraction_of_limit"] < 1.1, row)
        self.assertEqual(right["peer"]["name"], "cudaMemcpy")
        self.assertAlmostEqual(right["ratio_to_peer"], right["peer"]["time_ms"]["median"] / right["time_ms"]["median"])
        self.assertNotIn("counts", right)

    def test_table(self):
        out = self.done.stdout
        self.assertNotIn("\033", out)
        for line in out.splitlines():
            self.assertLessEqual(len(line), 100, line)
        statuses = [row["status"] for row in self.results["rows"]]
        self.assertEqual(
            out.splitlines()[-1], ", ".join(f"{statuses.count(s)} {s}" for s in ("PASS", "FAIL", "SKIP", "ERROR"))
        )
        self.assertIn("right: a sum\nshown\n", out)
        # What the simulator finds goes to stderr at once; lab itself says nothing there.
        self.assertNotIn("faults:", self.done.stderr)


class One(unittest.TestCase):
    """One run for each question."""

    def test_all_right_is_exit_code_0(self):
        done = run("--rung", "right", "--rung", "absent", "--rung", "demonstration")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_any_size(self):
        for size in ("1", "2", "31", "33", "255", "257", "1023"):
            done = run("--rung", "right", "--rung", "chain", "--size", size)
            self.assertEqual(done.returncode, 0, size + done.stdout + done.stderr)
            self.assertIn(f"n = {size}, seed 1\n", done.stdout)

    def test_bad_input_is_one_line_and_exit_code_2(self):
        for arguments, said in (
            (["--size", "-5"], "--size '-5': '-5' is not a whole number; legal is n, a whole number"),
            (["--size", "0"], "--size '0': 0 is too small"),
            (["--size", "10,10"], "--size '10,10': 2 numbers where 1 is wanted"),
            (["--size", "99999999999999999999"], "is too large; legal is n"),
            (["--size", "268435457"], "--size with n = 268435457: n is at most 268435456 here"),
            (["--size", ""], "--size '': '' is not a whole number"),
            (["--size"], "--size lacks its value"),
            (["--seed", "x"], "--seed 'x': legal is a whole number"),
            (["--frob"], "unknown option '--frob'; legal are"),
            (["right"], "unexpected argument 'right'"),
            (["--rung", "rihgt"], "unknown rung 'rihgt'; did you mean 'right'?"),
            (["--rung", "zzzzzzzz"], "unknown rung 'zzzzzzzz'; --list names them all"),
            (["--json", "/no/such/folder/r.json"], "cannot be written: No such file or directory"),
            (["--json", "/"], "--json '/' cannot be written: Is a directory"),
        ):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertRegex(done.stderr, r"\A[^\n]+: [^\n]+\n\Z", arguments)
            self.assertIn(said, done.stderr, arguments)

    def test_help(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--rung", "--size n", "--seed", "--json", "--list", "NO_COLOR", "Exit code"):
            self.assertIn(word, done.stdout)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 100)

    def test_color_only_on_a_terminal_and_without_no_color(self):
        def on_terminal(**environment):
            env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
            env.update(TERM="xterm", **environment)
            master, slave = pty.openpty()
            child = subprocess.Popen(
                [PROGRAM, "--rung", "right"], env=env, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL
            )
            os.close(slave)
            text = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:  # the terminal's other end is closed
                    break
                if not part:
                    break
                text += part
            os.close(master)
            self.assertEqual(child.wait(), 0)
            return text.decode()

        self.assertIn("\033[32mPASS", on_terminal())
        self.assertNotIn("\033", on_terminal(NO_COLOR="1"))
