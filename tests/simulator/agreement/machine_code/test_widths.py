"""The simulator's requests of structs against the machine code that nvcc makes of them.

No GPU counted these: widths.json has the memory instructions of each kernel of members.cu, which is straight code, so that each
is one request of the one warp that the simulator runs. Where nvcc and nvdisasm are, the file is held to them;
`python3 test_widths.py --record` writes it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "members.cu"
WIDTHS = HERE / "widths.json"
ARCHITECTURE = "sm_90"
sys.path.insert(0, str(HERE.parents[3] / "tools"))

from warp.base.errors import LearnError  # noqa: E402
from warp.base.machine import Machine  # noqa: E402
from warp.machinecode import code, kinds  # noqa: E402
from warp.machinecode.tools import Toolchain  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["agreement_members"]


def compiled():
    """{kernel: {"global load": [bits of each]}} as nvcc makes it, and nvcc's release; LearnError without nvcc or nvdisasm."""
    toolchain = Toolchain(Machine())
    found = {}
    for kernel in code.compile_source(toolchain, str(SOURCE), ARCHITECTURE):
        accesses = kinds.accesses(kernel.instructions)
        found[kernel.base] = {}
        for (memory, how, bits), number in sorted(accesses.items()):
            found[kernel.base].setdefault(f"{memory} {how}", []).extend([bits] * number)
    return found, toolchain.release


def recorded():
    return json.loads(WIDTHS.read_text(encoding="utf-8"))


def simulated():
    """{kernel: counts} of the program; each is launched once, with one warp."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        environment = {**os.environ, "SIMT_JSON": str(trace)}
        subprocess.run(
            [SIMULATOR / "tests/simulator/agreement/agreement_members"], env=environment, check=True, timeout=200
        )
        launches = json.loads(trace.read_text(encoding="utf-8"))["launches"]
    return {launch["kernel"].split("(")[0].split()[-1]: launch["counts"] for launch in launches}


class Widths(unittest.TestCase):
    def test_the_simulator_counts_as_many_and_as_wide(self):
        kernels, counted = recorded()["kernels"], simulated()
        self.assertEqual(set(kernels), set(counted))
        differs = {entry["kernel"] for entry in recorded()["differs"]}
        wrong = set()
        for kernel, accesses in kernels.items():
            for how in ("load", "store"):
                widths = accesses.get(f"global {how}", [])
                requests, size = counted[kernel][f"global_{how}_requests"], counted[kernel][f"global_{how}_bytes"]
                if (requests, size) != (len(widths), 32 * sum(widths) // 8):
                    wrong.add(kernel)
        self.assertEqual(wrong, differs)

    def test_the_record_is_what_nvcc_makes(self):
        try:
            found, release = compiled()
        except LearnError as error:
            self.skipTest(str(error))
        if release != recorded()["nvcc"]:
            self.skipTest(f"recorded with nvcc {recorded()['nvcc']}, here is {release}")
        self.assertEqual(found, recorded()["kernels"])


if __name__ == "__main__":
    if "--record" in sys.argv:
        kernels, release = compiled()
        data = {
            "what": "memory instructions of the kernels of members.cu, in bits: read in nvcc's machine code, not counted by a GPU",
            "nvcc": release,
            "architecture": ARCHITECTURE,
            "differs": recorded()["differs"] if WIDTHS.exists() else [],
            "kernels": dict(sorted(kernels.items())),
        }
        WIDTHS.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    else:
        unittest.main()
