"""./learn test: what can be tested on this machine, the slow tests with --all alone, and one closing line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warp.base import build, install, needs, paths, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.machine import Machine
from warp.chapter import chapters
from warp.chapter.last_run import in_words, statuses
from warp.cli import suites
from warp.cli.commands.run import check_gpu, results_files
from warp.cli.options import Arguments

SLOWEST = 5
SLOW = "^slow$"  # the label of what --all runs alone
CTEST_VERDICT = re.compile(r"Test +#\d+: (\S+) \.*\*\*\*(.*?) +[\d.]+ sec")
CTEST_PROGRESS = re.compile(r"\s*(\d+)/(\d+) Test\s+#")
UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
PYTEST_END = re.compile(r"^(?:=+ )?((?:\d+ [a-z ]+(?:, )?)+|no tests ran) in [\d.]+s", re.MULTILINE)
UNITTEST_END = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)


@dataclass(eq=False)
class Result:
    """One test, or one Python suite that ran several."""

    name: str
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    output: str = ""
    reason: str = ""


def main(arguments: Arguments) -> int:
    machine = Machine()
    for pattern in arguments.words:
        suites.check_regex(pattern)
    if arguments.all and (arguments.words or arguments.label):
        raise UsageError("--all takes no pattern and no label: what is named runs, slow or not")
    if arguments.list:
        return list_tests(machine, arguments)
    results, left_out = [], 0
    try:
        if arguments.words or arguments.label:
            results += named_tests(machine, arguments)
        else:
            install.ensure(machine, "test", "docs")
            results += site_packages(machine)
            build.build("simulator", machine, "everything for the simulator", testing=True)
            left_out = 0 if arguments.all else count_slow(machine)
            # To compile for a GPU that is not there is slow.
            leaves_gpu = not arguments.all and machine.nvcc() and not machine.gpus()
            left_out += 1 if leaves_gpu else 0
            # First, as a suite reads the machine code of what it builds.
            results += [] if leaves_gpu else gpu_tests(machine)
            results += simulator_tests(machine, without_slow=left_out > 0)
    except steps.StepFailed as failure:
        ui.note(failure.detail)
        ui.note("learn: " + failure.message)
        results.append(Result(failure.message.split(" failed (")[0], failed=1))
    return report(results, left_out)


def list_tests(machine: Machine, arguments: Arguments) -> int:
    """Their names and labels."""
    install.ensure(machine, "test")
    found = suites.chosen_of_all(machine, arguments.words, arguments.label)
    width = max(len(test.name) for test in found)
    for test in sorted(found, key=lambda test: test.name):
        ui.say(f"{test.name:<{width}}  {', '.join(test.labels)}".rstrip())
    return 0


def named_tests(machine: Machine, arguments: Arguments) -> list[Result]:
    """Runs what is named, however long it takes, and builds what that needs alone."""
    known, words = suites.python_suites(), arguments.words
    configured = build.is_configured(paths.build_folder("simulator"))
    # Where patterns mean Python suites that need nothing built, CMake is not asked.
    only_suites = all(
        any(re.search(word, test.name) for test in known) and (word.lstrip("^").startswith("py") or not configured)
        for word in words
    )
    found = suites.chosen(known, words, arguments.label) if only_suites and words else []
    if not found or any(test.needs for test in found):
        install.ensure(machine, "test")
        found = suites.chosen_of_all(machine, words, arguments.label)
    results: list[Result] = []
    if any("site" in test.labels for test in found):
        install.ensure(machine, "docs")
        results += site_packages(machine)
    targets = sorted({target for test in found for target in test.needs})
    if not targets and all(test.is_suite for test in found):
        return results + suite_results(machine, found)
    if targets:
        what = f"what {found[0].name} needs" if len(found) == 1 else f"what {len(found)} tests need"
        build.build("simulator", machine, what, [] if "all" in targets else targets, testing=True, patience=1.0)
        extra = [target for target in targets if target != "all"]
        if "all" in targets and extra:
            build.build("simulator", machine, what, extra, testing=True, patience=1.0)
    return results + simulator_tests(machine, words, arguments.label)


def suite_results(machine: Machine, found: list[suites.Test]) -> list[Result]:
    """Runs Python suites that need nothing built, without ctest."""
    import concurrent.futures
    import time

    def one(test: suites.Test) -> Result:
        began = time.monotonic()
        code, output = suites.run_suite(test)
        fine = code == 0
        reason = "" if fine else steps.ended(code)
        result = Result(test.name, time.monotonic() - began, int(fine), int(not fine), 0, output, reason)
        count_suite(result)
        return result

    with (
        ui.Progress("Testing", patience=1.0) as progress,
        concurrent.futures.ThreadPoolExecutor(max(2, machine.cores())) as pool,
    ):
        done = []
        for result in pool.map(one, found):
            done.append(result)
            progress.update(f"{len(done)} of {len(found)}")
    return done


def site_packages(machine: Machine) -> list[Result]:
    """Brings the packages that the site's tests need; with a Python too old for them those tests are skipped."""
    if sys.version_info < needs.OLDEST_SITE_PYTHON and not install.venv_is_ready():
        (major, minor), here = needs.OLDEST_SITE_PYTHON, sys.version_info
        reason = f"the site's packages need Python {major}.{minor} or later and this is {here.major}.{here.minor}"
        return [Result("the site", skipped=1, reason=reason)]
    install.ensure_venv(machine)
    return []


def count_slow(machine: Machine) -> int:
    """How many of ctest's tests are slow."""
    command = [machine.ctest(), "--test-dir", paths.build_folder("simulator"), "-N", "--label-regex", SLOW]
    _, output = steps.run("Looking for slow tests", command, "ctest-slow", cwd=paths.ROOT, check=False)
    found = re.search(r"^Total Tests: (\d+)$", output, re.MULTILINE)
    return int(found[1]) if found else 0


def simulator_tests(
    machine: Machine, words: Sequence[str] = (), label: str | None = None, without_slow: bool = False
) -> list[Result]:
    """Runs ctest on the simulator's build."""
    folder = paths.build_folder("simulator")
    report_file = os.path.join(paths.LOGS, "ctest.xml")
    if os.path.exists(report_file):
        os.unlink(report_file)
    command = [machine.ctest(), "--test-dir", folder, "--output-on-failure", "--no-tests=error"]
    command += ["--parallel", str(max(2, machine.cores())), "--output-junit", report_file]
    command += ["--test-output-size-passed", "1000000", "--test-output-size-failed", "10000000"]
    if words:
        command += ["--tests-regex", "|".join(f"({word})" for word in words)]
    if label:
        command += ["--label-regex", f"^{label}$"]
    if words or label:
        # What they need is built; programs that are not built have no test that was named.
        command += ["--fixture-exclude-any", ".*", "--exclude-regex", suites.NOT_BUILT + "$"]
    if without_slow:
        command += ["--label-exclude", SLOW]
    # Tests run programs of this very build and must not wait for a lock.
    env = dict(os.environ, WARP_COMMIT=build.commit(), WARP_BUILD_DIR=paths.BUILD)
    code, output = steps.run("Testing", command, "ctest", env=env, cwd=paths.ROOT, note_of=ctest_note, check=False)
    if "No tests were found" in output:
        raise LearnError("no test was found" + (" that matches" if words or label else ""))
    try:
        results = read_junit(report_file)
    except (OSError, ValueError) as error:
        ui.note(steps.tail(output))
        raise LearnError(f"ctest ended with {steps.ended(code)} and left no report: {error}")
    if not results:
        raise LearnError("no test was found")
    verdicts = dict(CTEST_VERDICT.findall(output))  # Timeout, Not Run: the report does not tell
    for result in results:
        if result.failed and not result.reason:
            result.reason = verdicts.get(result.name, "")
    if code != 0 and not any(result.failed for result in results):
        results.append(Result("ctest itself", failed=1, output=steps.tail(output), reason=steps.ended(code)))
    return results


def ctest_note(line: str) -> str | None:
    match = CTEST_PROGRESS.match(line)
    return "{} of {}".format(*match.groups()) if match else None


def read_junit(file: str) -> list[Result]:
    """The results in a report of ctest --output-junit."""
    import xml.etree.ElementTree as xml

    try:
        root = xml.parse(file).getroot()
    except xml.ParseError as error:
        raise ValueError(error)
    return [read_case(case) for case in root.iter("testcase")]


def read_case(case: Any) -> Result:
    result = Result(case.get("name", "?"), float(case.get("time") or 0))
    result.output = case.findtext("system-out") or ""
    failure = case.find("failure")
    skipped = case.find("skipped")
    status = case.get("status")
    if failure is not None or status == "fail":
        result.failed = 1
        result.reason = failure.get("message", "") if failure is not None else ""
    elif skipped is not None or status in ("notrun", "disabled"):
        result.skipped = 1
        result.reason = skipped.get("message", "") if skipped is not None else ""
        # ctest also says "notrun" when it cannot start a program: that is no skip.
        if re.search(r"unable to find|could not find|missing", result.reason + result.output, re.IGNORECASE):
            result.failed, result.skipped = 1, 0
    else:
        result.passed = 1
    count_suite(result)
    return result


def count_suite(result: Result) -> None:
    """A Python suite is one test of ctest's: counts the tests that it ran, none of which is a failure."""
    if result.skipped:
        return
    said = PYTEST_END.findall(result.output)
    if said:
        numbers: dict[str, int] = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", said[-1])}
        bad = numbers.get("failed", 0) + numbers.get("error", 0) + numbers.get("errors", 0)
        skipped = numbers.get("skipped", 0)
        total = bad + skipped + numbers.get("passed", 0) + numbers.get("xfailed", 0)
    elif ran := UNITTEST.findall(result.output):
        total = sum(int(number) for number in ran)
        numbers = {}
        for details in UNITTEST_END.findall(result.output):
            for word, number in re.findall(r"([a-z ]+)=(\d+)", details):
                numbers[word.strip()] = numbers.get(word.strip(), 0) + int(number)
        bad = numbers.get("failures", 0) + numbers.get("errors", 0) + numbers.get("unexpected successes", 0)
        skipped = numbers.get("skipped", 0)
    else:
        return
    if total == 0:
        result.passed, result.failed, result.reason = 0, 1, "the suite ran no test"
        return
    result.failed = max(bad, 1) if result.failed else bad
    result.passed = max(0, total - result.failed - skipped)
    result.skipped = skipped


def gpu_tests(machine: Machine) -> list[Result]:
    """With nvcc the gpu preset must compile; with a GPU every chapter must pass on it."""
    import time

    if not machine.nvcc():
        return [Result("gpu preset", skipped=1, reason="no nvcc here")]
    results = []
    began = time.monotonic()
    try:
        build.build("gpu", machine, "everything for the GPU")
    except steps.StepFailed as failure:
        return [Result("gpu preset", time.monotonic() - began, failed=1, output=failure.detail, reason=failure.message)]
    results.append(Result("gpu preset", time.monotonic() - began, passed=1))
    known = chapters.all_chapters()
    if not machine.gpus():
        return results + [Result("chapters on the GPU", skipped=len(known), reason="no GPU here")]
    check_gpu(machine)
    files = results_files(None, known, "gpu")
    env = dict(os.environ, WARP_COMMIT=build.commit())
    for chapter in known:
        began = time.monotonic()
        code, output = steps.run(
            f"Chapter {chapter.number} on the GPU",
            [chapter.program("gpu"), "--json", files[chapter.key]],
            f"chapter-{chapter.number}-gpu",
            env=env,
            check=False,
        )
        counts = statuses(files[chapter.key])
        fine = code == 0 and counts and counts.get("PASS")
        results.append(
            Result(
                f"chapter {chapter.number} on the GPU",
                time.monotonic() - began,
                passed=1 if fine else 0,
                failed=0 if fine else 1,
                output=output,
                reason="" if fine else f"{steps.ended(code)}; {in_words(counts or {})}",
            )
        )
    return results


def report(results: list[Result], left_out: int = 0) -> int:
    """The slowest, the skipped, the failures with their last lines, what was left out, and the closing line."""
    paint = ui.palette()
    timed = sorted((r for r in results if r.seconds >= 1), key=lambda r: -r.seconds)[:SLOWEST]
    if timed:
        ui.say("Slowest:")
        for result in timed:
            ui.say(f"  {ui.duration(result.seconds):>9}  {result.name}")
    skipped = [result for result in results if result.skipped]
    if skipped:
        ui.say("Skipped:")
        for result in skipped:
            ui.say(f"  {result.skipped:>4}  {result.name}{': ' + result.reason if result.reason else ''}")
    for result in results:
        if result.failed:
            ui.say()
            ui.say(paint("red+bold", "FAILED: " + result.name) + (f" ({result.reason})" if result.reason else ""))
            if result.output.strip():
                ui.say(steps.tail(result.output))
    passed = sum(result.passed for result in results)
    failed = sum(result.failed for result in results)
    ui.say()
    if left_out:
        were = "test was" if left_out == 1 else "tests were"
        ui.say(f"{left_out} slow {were} left out: ./learn test --all runs everything")
    ui.say(f"{passed} passed, {failed} failed, {sum(result.skipped for result in results)} skipped")
    return 1 if failed or not passed else 0
