"""./learn test: what can be tested on this machine, the slow tests with --all alone, and one closing line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from warp.base import build, install, needs, paths, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.machine import Machine
from warp.base.names import advice, one_of
from warp.chapter import chapters
from warp.chapter.last_run import in_words, statuses
from warp.cli.commands.run import check_gpu, results_files
from warp.cli.options import Arguments

SLOWEST = 5
SLOW = "^slow$"  # the label of what --all runs alone
CTEST_VERDICT = re.compile(r"Test +#\d+: (\S+) \.*\*\*\*(.*?) +[\d.]+ sec")
CTEST_PROGRESS = re.compile(r"\s*(\d+)/(\d+) Test\s+#")
UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
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
    filtered = bool(arguments.only or arguments.label)
    if arguments.only:
        check_regex(arguments.only)
    results, left_out = [], 0
    try:
        install.ensure(machine, "test", "docs")
        if filtered:
            check_names(machine, arguments)
        results += site_packages(machine)
        # Who names tests wants them, however long they take.
        build.build("simulator", machine, "everything for the simulator", testing=True)
        left_out = 0 if filtered or arguments.all else count_slow(machine)
        results += simulator_tests(machine, arguments, without_slow=left_out > 0)
        if not filtered:
            # To compile for a GPU that is not there is slow.
            leaves_gpu = not arguments.all and machine.nvcc() and not machine.gpus()
            left_out += 1 if leaves_gpu else 0
            results += [] if leaves_gpu else gpu_tests(machine)
    except steps.StepFailed as failure:
        ui.note(failure.detail)
        ui.note("learn: " + failure.message)
        results.append(Result(failure.message.split(" failed (")[0], failed=1))
    return report(results, left_out)


def site_packages(machine: Machine) -> list[Result]:
    """Brings the packages that the site's tests need; with a Python too old for them those tests are skipped."""
    if sys.version_info < needs.OLDEST_SITE_PYTHON and not install.venv_is_ready():
        (major, minor), here = needs.OLDEST_SITE_PYTHON, sys.version_info
        reason = f"the site's packages need Python {major}.{minor} or later and this is {here.major}.{here.minor}"
        return [Result("the site", skipped=1, reason=reason)]
    install.ensure_venv(machine)
    return []


def check_regex(text: str) -> None:
    try:
        re.compile(text)
    except re.error as error:
        raise UsageError(f"--only {text} is no regular expression: {error}")


GTEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
GTEST_PREFIX = re.compile(r"TEST_PREFIX (\S+)")
LABELS = re.compile(r'LABELS "?([\w;]+)')
NOT_BUILT = "_NOT_BUILT"  # what CMake lists for the tests of a program that is still to be built


def check_names(machine: Machine, arguments: Arguments) -> None:
    """UsageError where no test has such a name or label, before anything is built: ctest's tests, and those in the
    sources of programs that are still to come."""
    with build.lock("simulator"):
        build.configure("simulator", machine, testing=True)
    command = [machine.ctest(), "--test-dir", paths.build_folder("simulator"), "-N"]
    _, listed = steps.run("Looking for the tests", command, "ctest-names", cwd=paths.ROOT, check=False, patience=1.0)
    names = re.findall(r"^ +Test +#\d+: (\S+)", listed, re.MULTILINE)
    _, listed = steps.run(
        "Looking for the labels",
        [*command, "--print-labels"],
        "ctest-labels",
        cwd=paths.ROOT,
        check=False,
        patience=1.0,
    )
    labels = re.findall(r"^  (\S+)$", listed, re.MULTILINE)
    if any(name.endswith(NOT_BUILT) for name in names):
        names, labels = names + names_in_sources(), labels + labels_in_sources()
    for option, wanted, known in (("--only", arguments.only, names), ("--label", arguments.label, labels)):
        if wanted and not any(re.search(wanted, name) for name in known):
            known = sorted({name for name in known if not name.endswith(NOT_BUILT)})
            legal = one_of(known) if option == "--label" else ""
            raise UsageError(f"no test matches {option} {wanted}{advice(wanted, known, legal)}")


def names_in_sources() -> list[str]:
    """The tests that GoogleTest's programs will have."""
    found = []
    for text in test_files((".cpp", ".cu")):
        found += [".".join(names) for names in GTEST.findall(text)]
    prefixes = {prefix for text in test_files(("CMakeLists.txt",)) for prefix in GTEST_PREFIX.findall(text)}
    return [prefix + name for prefix in prefixes for name in found]


def labels_in_sources() -> list[str]:
    return [
        label
        for text in test_files(("CMakeLists.txt",))
        for found in LABELS.findall(text)
        for label in found.split(";")
    ]


def test_files(endings: tuple[str, ...]) -> Iterator[str]:
    """The texts of the files of tests/ whose names end so."""
    for folder, _, files in os.walk(os.path.join(paths.ROOT, "tests")):
        for name in files:
            if name.endswith(endings):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    yield file.read()


def count_slow(machine: Machine) -> int:
    """How many of ctest's tests are slow."""
    command = [machine.ctest(), "--test-dir", paths.build_folder("simulator"), "-N", "--label-regex", SLOW]
    _, output = steps.run("Looking for slow tests", command, "ctest-slow", cwd=paths.ROOT, check=False)
    found = re.search(r"^Total Tests: (\d+)$", output, re.MULTILINE)
    return int(found[1]) if found else 0


def simulator_tests(machine: Machine, arguments: Arguments, without_slow: bool) -> list[Result]:
    """Runs ctest on the simulator's build."""
    folder = paths.build_folder("simulator")
    report_file = os.path.join(paths.LOGS, "ctest.xml")
    if os.path.exists(report_file):
        os.unlink(report_file)
    command = [machine.ctest(), "--test-dir", folder, "--output-on-failure", "--no-tests=error"]
    command += ["--parallel", str(max(2, machine.cores())), "--output-junit", report_file]
    command += ["--test-output-size-passed", "1000000", "--test-output-size-failed", "10000000"]
    if arguments.only:
        command += ["--tests-regex", arguments.only]
    if arguments.label:
        command += ["--label-regex", arguments.label]
    if without_slow:
        command += ["--label-exclude", SLOW]
    # Tests run programs of this very build and must not wait for a lock.
    env = dict(os.environ, WARP_COMMIT=build.commit(), WARP_BUILD_DIR=paths.BUILD)
    code, output = steps.run("Testing", command, "ctest", env=env, cwd=paths.ROOT, note_of=ctest_note, check=False)
    if "No tests were found" in output:
        raise LearnError("no test was found" + (" that matches" if arguments.only or arguments.label else ""))
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
    ran = UNITTEST.findall(result.output)
    if not ran or result.skipped:
        return
    total = sum(int(number) for number in ran)
    numbers: dict[Any, Any] = {}
    for details in UNITTEST_END.findall(result.output):
        for word, number in re.findall(r"([a-z ]+)=(\d+)", details):
            numbers[word.strip()] = numbers.get(word.strip(), 0) + int(number)
    bad = numbers.get("failures", 0) + numbers.get("errors", 0) + numbers.get("unexpected successes", 0)
    skipped = numbers.get("skipped", 0)
    if total == 0:
        result.passed, result.failed, result.reason = 0, 1, "the suite ran no test"
        return
    failed = max(bad, 1) if result.failed else bad
    result.passed = max(0, total - failed - skipped)
    result.failed = failed
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
