"""What the simulator counts of machine code, held to what Nsight Compute counted of it on an H200.

causes.txt has the kernels of causes.cu as nvcc compiled them, in the form that `./learn explain` hands over, so that the test
needs no nvcc. `python3 test_compiled.py --record` writes it; causes.json is the H200's.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "tools"))

from warp.base.machine import Machine  # noqa: E402
from warp.machinecode import code  # noqa: E402
from warp.machinecode.tools import Toolchain  # noqa: E402
from warp.trace import execution  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["agreement_causes"]
CAUSES = str(SIMULATOR / "tests/simulator/agreement/agreement_causes")

CODE = HERE / "causes.txt"
SOURCE = HERE / "causes.cu"
# What moves with time or is a guide only.
NOT_COMPARED = {"divergent_branches"}


def run(text):
    """([launch of the trace], {launch: {count: value}} of the machine code, {launch: why it was not carried out})."""
    with tempfile.TemporaryDirectory() as folder:
        path, trace = os.path.join(folder, "code.txt"), os.path.join(folder, "trace.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        environment = dict(os.environ, SIMT_COMPILED=path, SIMT_JSON=trace)
        subprocess.run([CAUSES], env=environment, check=True, timeout=200)
        counted, failed = execution.read(path + ".counts")
        with open(trace, encoding="utf-8") as file:
            launches = json.load(file)["launches"]
    totals = {}
    for launch, (_, found) in counted.items():
        total = totals[launch] = {}
        for counts in found.values():
            for name, value in counts.items():
                total[name] = total.get(name, 0) + value
    return launches, totals, failed


def differences(recorded, counts):
    """{count: (here, on the H200)} of a launch."""
    return {
        name: (counts.get(name, 0), value)
        for name, value in recorded["counts"].items()
        if name not in NOT_COMPARED and counts.get(name, 0) != value
    }


class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = CODE.read_text(encoding="utf-8")
        cls.recorded = json.loads((HERE / "causes.json").read_text(encoding="utf-8"))["launches"]
        cls.launches, cls.totals, cls.failed = run(cls.text)

    def test_as_the_hardware_counts(self):
        self.assertEqual(self.failed, {})
        self.assertEqual(len(self.launches), len(self.recorded))
        for index, recorded in enumerate(self.recorded):
            with self.subTest(kernel=recorded["kernel"]):
                self.assertEqual(differences(recorded, self.totals[index]), {})

    def test_the_source_counts_otherwise(self):
        """Else a kernel shows nothing. Of one nvcc makes the store once, though it has a branch for it."""
        same = [
            recorded["kernel"].split("(")[0]
            for launch, recorded in zip(self.launches, self.recorded)
            if not differences(recorded, launch["counts"])
        ]
        self.assertEqual(same, ["next_state"])

    def test_an_altered_width_is_noticed(self):
        _, totals, _ = run(self.text.replace("LDS.128", "LDS.64"))
        self.assertNotEqual(differences(self.recorded[0], totals.get(0, {})), {})

    def test_what_is_not_known_is_said_and_counts_nothing(self):
        _, totals, failed = run(self.text.replace("LDS.128", "LDSM.128"))
        self.assertEqual(failed[0], "LDSM.128.")
        self.assertNotIn(0, totals)
        self.assertEqual(set(totals) | set(failed), set(range(len(self.recorded))))


def record():
    toolchain = Toolchain(Machine())
    execution.write(CODE, code.compile_source(toolchain, str(SOURCE), "sm_90a"), CAUSES)


if __name__ == "__main__":
    record() if "--record" in sys.argv else unittest.main()
