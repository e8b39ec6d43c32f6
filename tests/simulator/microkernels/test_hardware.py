"""The simulator's counts against the hardware's, microkernel by microkernel.

h200.json holds what Nsight Compute counted on an H200; design.json the figures that the design states, a
second source. open.json names the cases and counts that still differ, and why: each must differ, so that the
list shrinks and never hides a case that agrees.
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
sys.path.insert(0, str(HERE.parents[2] / "tools"))

from warp.chapter.counted import NOT_COMPARED, agree  # noqa: E402  the site compares with the same code

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["microkernels"]
SECONDS = 1800


def load(name):
    with open(HERE / name, encoding="utf-8") as file:
        return json.load(file)


def simulated():
    """Case -> counts, from one run of all microkernels."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        run = subprocess.run(
            [SIMULATOR / "tests/simulator/microkernels/microkernels"],
            env={**os.environ, "SIMT_JSON": str(trace)},
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )
        if run.returncode != 0:
            raise AssertionError(
                f"the microkernels failed, exit {run.returncode}:\n" + run.stdout[-3000:] + run.stderr[-3000:]
            )
        launches = json.loads(trace.read_text(encoding="utf-8"))["launches"]
    return {launch["kernel"]: launch["counts"] for launch in launches}


def differences(counts, recorded):
    """(case, count, simulated, hardware) for all that differ; a missing case is an error."""
    missing = sorted(set(counts) ^ set(recorded))
    if missing:
        raise AssertionError(f"not on both sides: {', '.join(missing)}")
    return [
        (case, name, counts[case][name], value)
        for case, entry in recorded.items()
        for name, value in entry["counts"].items()
        if name not in NOT_COMPARED and not agree(name, counts[case], value)
    ]


class Agreement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.counts = simulated()
        cls.recorded = load("h200.json")["cases"]

    def test_equal_to_the_hardware(self):
        unsettled = {(case, name) for case, entry in load("open.json")["cases"].items() for name in entry["counts"]}
        found = differences(self.counts, self.recorded)
        wrong = [
            f"{case}: {name} is {got}, the H200 counts {want}"
            for case, name, got, want in found
            if (case, name) not in unsettled
        ]
        self.assertEqual(wrong, [], "\n".join(wrong))
        settled = unsettled - {(case, name) for case, name, _, _ in found}
        self.assertEqual(settled, set(), "these agree now: take them out of open.json")

    def test_figures_of_the_design(self):
        for case, figures in load("design.json")["cases"].items():
            launches = self.recorded[case]["grid"]
            blocks = launches[0] * launches[1] * launches[2] if figures.get("per_block") else 1
            for name, value in figures["counts"].items():
                with self.subTest(case=case, count=name):
                    self.assertEqual(self.counts[case][name], value * blocks)

    def test_noise_is_allowed_upwards_and_for_noisy_counters_only(self):
        counts = {"shared_load_wavefronts": 1000, "shared_load_bank_conflicts": 0, "shared_wavefronts": 1000}
        self.assertTrue(agree("shared_load_bank_conflicts", counts, 35))
        self.assertFalse(agree("shared_load_bank_conflicts", counts, 36))
        self.assertFalse(agree("shared_load_wavefronts", counts, 999))
        self.assertFalse(agree("shared_wavefronts", counts, 1001))

    def test_an_altered_vector_is_noticed(self):
        altered = copy.deepcopy(self.recorded)
        altered["lds32_stride33"]["counts"]["shared_load_wavefronts"] += 1
        self.assertEqual(len(differences(self.counts, altered)), len(differences(self.counts, self.recorded)) + 1)

    def test_a_missing_case_is_noticed(self):
        fewer = dict(self.recorded)
        del fewer["lds32_stride1"]
        with self.assertRaisesRegex(AssertionError, "lds32_stride1"):
            differences(self.counts, fewer)
