"""The Python suites: where they lie, what they are labelled, what has to be built for them. CMake, ./learn test and pytest ask here.

A suite is a file test_NAME.py; its name is py.FOLDER.NAME. What is so for a folder stands in FOLDERS. A suite that differs
says so in constants at its top:

    LABELS = ["chapter"]              in place of its folder's
    NEEDS = ["planted"]               CMake targets, in place of its folder's; none needs none
    SECONDS = 1500                    after which it has failed; 900 where nothing is said
    COST = 300                        seconds on two cores, for those that should begin early

    python3 tests/suites.py              all of them, with labels and targets
    python3 tests/suites.py --run NAME   one of them, with pytest where it is installed, else with unittest
"""

import ast
import dataclasses
import os
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
BUILD = Path(os.environ.get("WARP_BUILD_DIR") or ROOT / "build").resolve()  # of all backends
SIMULATOR = BUILD / "simulator"
CHAPTER = re.compile(r"(\d\d_)?(\w+)")

# Folder -> labels and targets of its suites. NAME in a target is the chapter's.
FOLDERS = {
    "tests/learn": (["unit", "learn"], []),
    "tests/course": (["unit", "course"], []),
    "tests/course/chapters": (["chapter", "slow"], ["NAME", "NAME_fast", "simtcc", "lab"]),
    "chapters/*": (["chapter", "slow"], ["NAME", "NAME_fast", "simtcc", "lab"]),
    "tests/course/exercises": (["exercises"], ["simtcc", "simt"]),
    "tests/course/bounds": (["course", "slow"], ["chapters"]),
    "tests/lab": (["unit"], []),
    "tests/measure": (["unit"], []),
    "tests/site": (["site"], []),
    "tests/simulator/*": (["simt"], []),
    "tests/simulator/agreement/*": (["simt"], []),
}


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    file: Path
    labels: list
    needs: list
    seconds: int
    cost: int


def constants(file):
    """What a suite says of itself: the constants of this module's head."""
    said = {}
    for node in ast.parse(file.read_text(encoding="utf-8"), str(file)).body:
        name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
        if name in ("LABELS", "NEEDS", "SECONDS", "COST"):
            said[name] = ast.literal_eval(node.value)
    return said


def suites():
    """All of them, by name."""
    found = []
    for folder, (labels, needs) in FOLDERS.items():
        for file in sorted(ROOT.glob(folder + "/test_*.py")):
            said = constants(file)
            of_chapter = file.parent.parent == ROOT / "chapters"
            name = file.parent.name if of_chapter else file.stem[len("test_") :]
            chapter = CHAPTER.fullmatch(name)[2]
            found.append(
                Suite(
                    f"py.{'chapters' if of_chapter else file.parent.name}.{name}",
                    file,
                    said.get("LABELS", labels),
                    said.get("NEEDS", [need.replace("NAME", chapter) for need in needs]),
                    said.get("SECONDS", 900),
                    said.get("COST", 0),
                )
            )
    return sorted(found, key=lambda suite: suite.name)


def site_python():
    """The Python of the environment that has the site's packages and pytest; None where there is none."""
    folders = (BUILD, ROOT / "build")
    return next((str(found) for folder in folders if (found := folder / "venv/bin/python3").exists()), None)


def command_of(suite):
    """How it is run, in its own folder."""
    python = site_python()
    if python and (Path(python).parent / "pytest").exists():
        return [python, "-m", "pytest", "-q", suite.file.name]
    return [(suite.file.parent == TESTS / "site" and python) or sys.executable, "-m", "unittest", suite.file.stem]


def environment_of(suite):
    paths = [str(TESTS), str(TESTS / "course" / "chapters"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "WARP_BUILD_DIR": str(BUILD),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def main(words):
    if words[:1] == ["--run"] and len(words) == 2:
        for suite in suites():
            if suite.name == words[1]:
                os.chdir(suite.file.parent)
                command = command_of(suite)
                os.execve(command[0], command, environment_of(suite))
        sys.exit(f"suites.py: no suite is named {words[1]}; without --run it lists them")
    if words:
        sys.exit("usage: suites.py [--run NAME]")
    for suite in suites():
        labels, needs = ",".join(suite.labels), ",".join(suite.needs)
        print("|".join((suite.name, labels, needs, str(suite.seconds), str(suite.cost))))


if __name__ == "__main__":
    main(sys.argv[1:])
