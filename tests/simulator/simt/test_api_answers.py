"""What the runtime answers to wrong calls, beside what GPUs answered (driver and toolkit 13.0).

NAME_h200.txt or NAME_h100.txt is what NAME.cu prints there, compiled with `nvcc -arch=sm_90a -std=c++17`.
"""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["simt_api_answers", "simt_capture_answers"]

HERE = pathlib.Path(__file__).resolve().parent
# Answers that differ, and why. Each has to differ.
OURS = {
    "cudaFuncGetAttributes(&fa, (const void*)h)": "what is a kernel is known at its launch",
    "cudaLaunchKernel((const void*)h, 1, 1, nullptr, 0, nullptr)": "another error: the documentation's",
}


class Answers(unittest.TestCase):
    def beside(self, program, file):
        """The lines that differ, here and there, of this program."""
        run = subprocess.run(
            [SIMULATOR / "tests/simulator/simt" / program],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "SIMT_JSON": os.devnull},
        )
        ours = run.stdout.splitlines()
        theirs = (HERE / file).read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(ours), len(theirs), run.stdout[-500:] + run.stderr[-500:])
        return [(one, other) for one, other in zip(ours, theirs) if one != other]

    def test_to_wrong_calls(self):
        differing = self.beside("simt_api_answers", "api_answers_h200.txt")
        wrong = [pair for pair in differing if not pair[1].startswith(tuple(OURS))]
        self.assertEqual(wrong, [], "here, and on the H200")
        self.assertEqual(len(differing), len(OURS), differing)

    def test_to_calls_during_a_capture(self):
        self.assertEqual(self.beside("simt_capture_answers", "capture_answers_h100.txt"), [], "here, and on the H100")
