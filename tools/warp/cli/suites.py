"""Which tests there are, what each needs, and how Python suites are run that need nothing built."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from warp.base import build, paths, steps
from warp.base.errors import UsageError
from warp.base.machine import Machine
from warp.base.names import advice, one_of

TESTS = os.path.join(paths.ROOT, "tests")
GTEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
NOT_BUILT = "_NOT_BUILT"  # what CMake lists for the tests of a program that is still to be built


@dataclass
class Test:
    """One test of ctest's: a program's, or a Python suite."""

    name: str
    labels: list[str]
    needs: list[str]  # targets
    is_suite: bool = False


def python_suites() -> list[Test]:
    """Those of tests/suites.py, which says what a suite is."""
    module = _suites()
    found = module.suites() if module else []
    return [Test(suite.name, suite.labels, suite.needs, is_suite=True) for suite in found]


def _suites() -> ModuleType | None:
    import importlib.util

    file = os.path.join(TESTS, "suites.py")
    if not os.path.exists(file):
        return None
    spec = importlib.util.spec_from_file_location("suites", file)
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs(machine: Machine, anew: bool = False) -> list[Test]:
    """The tests of programs, from the build's own list; of a program that is not built, those in its sources. `anew` lets CMake
    look first whether there are others now."""
    folder = paths.build_folder("simulator")
    with build.lock("simulator"):
        build.configure("simulator", machine, testing=True)
        if anew:
            env = build.environment("simulator", machine)
            title = "Configuring the simulator build anew"
            steps.run(title, [machine.cmake(), folder], "configure-simulator", env=env, cwd=paths.ROOT, patience=1.0)
    command = [machine.ctest(), "--test-dir", folder, "--show-only=json-v1"]
    _, text = steps.run("Looking for the tests", command, "ctest-names", cwd=paths.ROOT, check=False, patience=1.0)
    found = []
    for test in json.loads(text[text.index("{") :])["tests"]:
        name = test["name"]
        labels: list[str] = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        if name.endswith(NOT_BUILT):
            found += in_sources(folder, name[: -len(NOT_BUILT)])
        elif not is_run_by_suites(test):
            target = os.path.basename(test["command"][0]) if folder in test.get("command", [""])[0] else ""
            found.append(Test(name, labels, [target] if target else ["all"]))
    return found


def is_run_by_suites(test: dict[str, Any]) -> bool:
    return any(os.path.basename(word) == "suites.py" for word in test.get("command", []))


def in_sources(folder: str, program: str) -> list[Test]:
    """The tests that a GoogleTest program will have, of which CMake says in programs.txt what they are made of."""
    try:
        with open(os.path.join(folder, "tests", "programs.txt"), encoding="utf-8") as file:
            lines = [line.rstrip("\n").split("|") for line in file]
    except OSError:
        return []
    found = []
    for target, prefix, label, sources in lines:
        for source in sources.split(",") if target == program else []:
            try:
                with open(source, encoding="utf-8", errors="replace") as file:
                    names = GTEST.findall(file.read())
            except OSError:  # gone since CMake has looked
                continue
            found += [Test(prefix + ".".join(name), [label], [target]) for name in names]
    return found


def chosen_of_all(machine: Machine, patterns: Sequence[str], label: str | None) -> list[Test]:
    """Those of all tests; where nothing matches, CMake looks again."""
    was_configured = build.is_configured(paths.build_folder("simulator"))
    try:
        return chosen(python_suites() + programs(machine), patterns, label)
    except UsageError:
        if not was_configured:
            raise
        return chosen(python_suites() + programs(machine, anew=True), patterns, label)


def chosen(tests: list[Test], patterns: Sequence[str], label: str | None) -> list[Test]:
    """The tests that one of the patterns matches, of this label. UsageError where there is none."""
    for pattern in patterns:
        if not any(re.search(pattern, test.name) for test in tests):
            raise UsageError(
                f"no test matches {pattern}{advice(pattern, short_names(tests), './learn test --list names them')}"
            )
    labels = {name for test in tests for name in test.labels}
    if label and label not in labels:
        raise UsageError(f"no test has the label {label}{advice(label, sorted(labels), one_of(sorted(labels)))}")
    found = [
        test
        for test in tests
        if (not patterns or any(re.search(pattern, test.name) for pattern in patterns))
        and (not label or label in test.labels)
    ]
    if not found:
        raise UsageError(f"no test that matches {one_of(patterns)} has the label {label}")
    return found


def short_names(tests: Iterable[Test]) -> list[str]:
    return sorted({test.name for test in tests} | {test.name.rsplit(".", 1)[-1] for test in tests if test.is_suite})


def check_regex(text: str) -> None:
    try:
        re.compile(text)
    except re.error as error:
        raise UsageError(f"{text} is no regular expression: {error}")


def run_suite(test: Test) -> tuple[int, str]:
    """Runs it as ctest would; returns its exit code and what it printed."""
    command = [sys.executable, os.path.join(TESTS, "suites.py"), "--run", test.name]
    done = subprocess.run(
        command,
        env=dict(os.environ, WARP_BUILD_DIR=paths.BUILD),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    return done.returncode, done.stdout
