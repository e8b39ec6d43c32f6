"""What is an error and what is a warning, what each does to the exit code, and when leaks are looked for."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["endings"]

PROGRAM = SIMULATOR / "tests/simulator/findings/endings"
FOUND = 86  # the exit code of a program with errors

CHILD = (
    "the launch of keep_quiet does nothing: a child made by fork() cannot use the device, as its parent has used it "
    "before. Call fork() ahead of all calls of CUDA"
)
# How the program ends -> its exit code, what the trace holds, what is said at last.
ENDINGS = {
    "frees": (0, [], ""),
    "forgets_result": (0, ["unread-result warning"], "1 warning"),
    "forgets_result_and_fails": (3, ["unread-result warning"], "1 warning"),
    "copies_too_early": (0, ["unread-result warning"], "1 warning"),
    "copies_result": (0, [], ""),
    "copies_back_wrongly": (0, ["api-error warning"], "1 warning"),
    "reads_what_no_copy_brought": (0, ["uninitialized-global warning", "api-error warning"], "2 warnings"),
    "reads_what_no_launch_computed": (
        FOUND,
        ["api-error error", "uninitialized-global warning"],
        "1 finding, 1 warning",
    ),
    "copies_result_in_two_steps": (0, [], ""),
    "copies_result_by_library": (0, [], ""),
    "copies_under_another_direction": (0, ["api-error warning"], "1 warning"),
    "copies_within_the_device": (0, [], ""),
    "fails_once_it_has_waited": (FOUND, ["out-of-bounds error"], "1 finding"),
    "prints_result": (0, [], ""),
    "leaks": (0, ["leak warning"], "1 warning"),
    "leaks_three_times": (0, ["leak warning"], "1 warning"),
    "leaks_at_six_places": (0, ["leak warning"] * 5, "5 warnings"),
    "leaks_and_exits": (0, ["leak warning"], "1 warning"),
    "leaks_and_fails": (3, [], ""),
    "leaks_and_leaves": (0, None, ""),
    "leaks_until_reset": (0, [], ""),
    "frees_after_main": (0, [], ""),
    "leaks_after_error": (FOUND, ["out-of-bounds error"], "1 finding"),
    "reads_unwritten": (0, ["uninitialized-global warning"], "1 warning"),
    "reads_unwritten_thrice": (0, ["uninitialized-global warning"] * 3, "1 warning"),
    "ignores_copy": (0, ["api-error warning"], "1 warning"),
    "takes_copy": (0, [], ""),
    "takes_copy_and_names_it": (0, ["api-error warning"], "1 warning"),
    "names_copy_and_takes_it": (0, [], ""),
    "names_one_copy_of_two": (0, ["api-error warning"], "1 warning"),
    "ignores_copy_and_fails": (FOUND, ["api-error error"], "1 finding"),
    "ignores_launch": (FOUND, ["api-error error"], "1 finding"),
    "takes_launch": (0, [], ""),
    "takes_launch_and_names_it": (0, ["api-error warning"], "1 warning"),
    "names_launch_and_takes_it": (0, ["api-error warning"], "1 warning"),
    "peeks_at_launch": (0, ["api-error warning"], "1 warning"),
    "takes_one_launch_of_two": (FOUND, ["api-error error"], "1 finding"),
    "leaves_after_error": (FOUND, ["out-of-bounds error"], "1 finding"),
    "quits_after_error": (FOUND, ["out-of-bounds error"], "1 finding"),
    "aborts_after_error": (-6, ["out-of-bounds error"], "1 finding"),
    "terminates_after_error": (-15, ["out-of-bounds error"], "1 finding"),
    "launches_in_a_child": (0, [], CHILD),
    "throws_after_error": (-6, ["out-of-bounds error"], "1 finding"),
    "crashes_after_error": (FOUND, ["out-of-bounds error"], "1 finding"),
    "crashes_after_copy": (FOUND, ["api-error error"], "1 finding"),
    "prints": (0, ["api-error warning"], "1 warning"),
    "prints_and_waits": (0, [], ""),
    "prints_and_launches": (0, [], ""),
    "looks_up_a_name": (0, [], ""),
    "is_alarmed": (0, [], ""),
    "aborts": (-6, [], ""),
    "takes_launch_and_aborts": (-6, ["api-error error"], "1 finding"),
    "takes_launch_and_fails": (FOUND, ["api-error error"], "1 finding"),
}


def run(how, **settings):
    """Exit code, standard error, findings of the trace; None instead of these where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        env = {name: value for name, value in os.environ.items() if name != "SIMT_LEAKS"}
        env.update(SIMT_JSON=str(trace), **settings)
        done = subprocess.run([PROGRAM, how], capture_output=True, text=True, timeout=120, check=False, env=env)
        if not trace.exists():
            return done.returncode, done.stderr, None
        data = json.loads(trace.read_text(encoding="utf-8"))
    return (
        done.returncode,
        done.stderr,
        [f for launch in data["launches"] for f in launch["findings"]] + data["findings"],
    )


class Endings(unittest.TestCase):
    def test_exit_codes_and_severities(self):
        for how, (code, found, last) in ENDINGS.items():
            with self.subTest(how):
                ended, errors, findings = run(how)
                names = None if findings is None else ["{} {}".format(f["kind"], f["severity"]) for f in findings]
                self.assertEqual((ended, names), (code, found), errors)
                self.assertEqual(errors.splitlines()[-1:], ["simt: " + last] if last else [])

    def test_a_warning_says_that_it_is_one(self):
        _, errors, _ = run("reads_unwritten_thrice")
        first, last = errors.splitlines()  # told once
        self.assertRegex(first, r"^simt: warning: uninitialized-global: read of 4 bytes at \S*endings\.cu:\d+ in copy")
        self.assertEqual(last, "simt: 1 warning")

    def test_what_failed_comes_before_what_comes_of_it(self):
        for how in ("reads_what_no_copy_brought", "reads_what_no_launch_computed"):
            _, errors, _ = run(how)
            cause, consequence, _ = errors.splitlines()
            self.assertRegex(cause, r"^simt: (warning: )?api-error: .* failed and did nothing")
            self.assertRegex(consequence, r"^simt: warning: uninitialized-global: .* The cause: ")

    def test_a_launch_that_takes_long_says_how_long(self):
        for settings, offer in (({}, r" With SIMT_BLOCKS=100 .*--blocks 100.*"), ({"SIMT_BLOCKS": "100"}, "")):
            env = {**os.environ, **settings}
            with subprocess.Popen(
                [PROGRAM, "launches_all_blocks"], env=env, stderr=subprocess.PIPE, text=True
            ) as process:
                line = process.stderr.readline()
                process.kill()
            self.assertRegex(
                line,
                r"^simt: after \d s \S+ % of the 2147483647 blocks of keep_busy have run; "
                r"all will take about \d+ (minutes|hours)\." + offer + "$",
            )

    def test_allocations_of_one_call_are_one_leak(self):
        _, _, (leak,) = run("leaks_three_times")
        self.assertRegex(
            leak["message"],
            r"^3 allocations, 768 bytes in all, made by cudaMalloc at endings\.cu:\d+ were never freed\. "
            r"Every cudaMalloc needs its cudaFree\.$",
        )

    def test_no_more_than_a_handful_of_leaks(self):
        leaks = run("leaks_at_six_places")[2]
        self.assertRegex(leaks[0]["message"], r"^the 1-byte allocation made by cudaMalloc at endings\.cu:\d+ was never")
        self.assertRegex(leaks[-1]["message"], r"^2 more allocations made elsewhere were never freed\.")
        code, errors, leaks = run("leaks_at_six_places", SIMT_LEAKS="1")
        self.assertEqual((code, [leak["severity"] for leak in leaks]), (FOUND, ["error"] * 6), errors)
        self.assertEqual(len({leak["line"] for leak in leaks}), 6)

    def test_leaks_are_errors_where_they_are_asked_for(self):
        for how in ("leaks", "leaks_and_exits", "leaks_until_reset", "leaks_and_fails"):
            code, errors, findings = run(how, SIMT_LEAKS="1")
            self.assertEqual((code, [f["kind"] for f in findings]), (FOUND, ["leak"]), errors)
        self.assertEqual(run("frees_after_main", SIMT_LEAKS="1")[0], 0)
        self.assertEqual(run("leaks", SIMT_LEAKS="0")[0], 0)

    def test_a_launch_that_nobody_looked_at_says_so(self):
        (launch,) = run("ignores_launch")[2]
        self.assertIn("the launch of fill at ", launch["message"])
        self.assertIn("the program never asked for it", launch["message"])
        (launch,) = run("peeks_at_launch")[2]
        self.assertNotIn("never asked", launch["message"])
