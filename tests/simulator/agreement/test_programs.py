"""The simulator's counts of common kernels against the hardware's, launch by launch.

The programs are written as people write them; nothing keeps nvcc from changing what the source says. h200.json
holds what Nsight Compute counted. open.json names the kernels and counts in which the two differ, and why: each must
differ, in one launch at least, so that the list shrinks and never hides what agrees; but where the order of the blocks
decides (`may_agree`), the two may agree by chance. An entry with `launches` speaks of these launches of the program only,
and each of them must differ.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "microkernels"))

from test_hardware import NOT_COMPARED, agree  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["agreement"]


def load(name):
    with open(HERE / name, encoding="utf-8") as file:
        return json.load(file)


def plain(kernel):
    """`tiled` of `void tiled<0>(const float *, ...)`."""
    return kernel.split("(")[0].split("<")[0].split()[-1]


def simulated(program):
    """The launches of one program: (kernel, grid, block, counts)."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        run = subprocess.run(
            [program],
            env={**os.environ, "SIMT_JSON": str(trace)},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        if run.returncode != 0:
            raise AssertionError(
                f"{program} failed, exit {run.returncode}:\n" + run.stdout[-2000:] + run.stderr[-2000:]
            )
        launches = json.loads(trace.read_text(encoding="utf-8"))["launches"]
    return [(launch["kernel"], launch["grid"], launch["block"], launch["counts"]) for launch in launches]


def differences(program, launches, recorded, names):
    """(program, kernel, launch, count, simulated, hardware) of all that differ."""
    if len(launches) != len(recorded):
        raise AssertionError(f"{program}: {len(launches)} launches, the H200 had {len(recorded)}")
    found = []
    for index, ((kernel, grid, block, counts), (name, *shape, values)) in enumerate(zip(launches, recorded)):
        if plain(kernel) != plain(name) or [grid, block] != shape:
            raise AssertionError(f"{program}: launch {index} is {kernel} {grid} {block}, on the H200 {name} {shape}")
        found += [
            (program, plain(kernel), index, count, counts[count], value)
            for count, value in zip(names, values)
            if value is not None and count not in NOT_COMPARED and not agree(count, counts, value)
        ]
    return found


def judged(found, entries):
    """Of the differences found, those that no entry of open.json names; and of the entries, what agrees and must not."""
    unsettled = {
        (entry["program"], kernel, launch, count): entry.get("may_agree", False)
        for entry in entries
        for kernel in entry["names"]
        for launch in entry.get("launches", [None])
        for count in entry["counts"]
    }
    wrong = []
    settled = {place for place, may_agree in unsettled.items() if not may_agree}
    for program, kernel, launch, count, got, want in found:
        places = {(program, kernel, launch, count), (program, kernel, None, count)}
        if not places & unsettled.keys():
            wrong.append(f"{program}: {kernel}, launch {launch}: {count} is {got}, the H200 counts {want}")
        settled -= places
    return wrong, settled


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.launches = {
            file.stem: simulated(SIMULATOR / "tests/simulator/agreement" / f"agreement_{file.stem}")
            for file in HERE.glob("*.cu")
        }
        cls.data = load("h200.json")
        cls.found = [
            difference
            for program, recorded in cls.data["programs"].items()
            for difference in differences(program, cls.launches[program], recorded, cls.data["counts"])
        ]

    def test_every_program_was_run(self):
        self.assertEqual(set(self.launches), set(self.data["programs"]))
        self.assertEqual(set(self.launches), {file.stem for file in HERE.glob("*.cu")})

    def test_equal_to_the_hardware(self):
        wrong, settled = judged(self.found, load("open.json")["kernels"])
        self.assertEqual(wrong, [], "\n".join(wrong))
        self.assertEqual(settled, set(), "these agree now: take them out of open.json")

    def test_an_entry_speaks_of_its_launches_only(self):
        entry = {"program": "p", "names": ["k"], "counts": ["c"]}
        found = [("p", "k", 3, "c", 1, 2)]
        self.assertEqual(judged(found, [entry]), ([], set()))
        self.assertEqual(judged(found, [dict(entry, launches=[3])]), ([], set()))
        wrong, settled = judged(found, [dict(entry, launches=[3, 4])])
        self.assertEqual((wrong, settled), ([], {("p", "k", 4, "c")}))
        wrong, settled = judged(found, [dict(entry, launches=[4])])
        self.assertEqual((len(wrong), settled), (1, {("p", "k", 4, "c")}))

    def test_an_altered_value_is_noticed(self):
        recorded = copy.deepcopy(self.data["programs"]["copies"])
        recorded[0][3][0] += 1
        self.assertEqual(len(differences("copies", self.launches["copies"], recorded, self.data["counts"])), 1)

    def test_a_missing_launch_is_noticed(self):
        with self.assertRaisesRegex(AssertionError, "launches"):
            differences("copies", self.launches["copies"][1:], self.data["programs"]["copies"], self.data["counts"])

    def test_another_kernel_is_noticed(self):
        launches = list(reversed(self.launches["copies"]))
        with self.assertRaisesRegex(AssertionError, "on the H200"):
            differences("copies", launches, self.data["programs"]["copies"], self.data["counts"])
