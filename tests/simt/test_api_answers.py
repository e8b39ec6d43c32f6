"""What the runtime answers to wrong calls, beside what an H200 answered (driver and toolkit 13.0).

api_answers_h200.txt is what api_answers.cu prints there, compiled with `nvcc -arch=sm_90a -std=c++17`.
"""

import os
import pathlib
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# Answers that differ, and why. Each has to differ.
OURS = {
    "cudaMemcpy(d, d + 64, 64, cudaMemcpyHostToHost)": "a wrong direction is told, though unified addressing serves it",
    "cudaFuncGetAttributes(&fa, (const void*)h)": "what is a kernel is known at its launch",
    "cudaLaunchKernel((const void*)h, 1, 1, nullptr, 0, nullptr)": "another error: the documentation's",
}


class ApiAnswers(unittest.TestCase):
    def test_the_answers_are_those_of_an_h200(self):
        run = subprocess.run(
            [os.environ["WARP_API_ANSWERS"]],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "SIMT_JSON": os.devnull},
        )
        ours = run.stdout.splitlines()
        theirs = (HERE / "api_answers_h200.txt").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(ours), len(theirs), run.stdout[-500:] + run.stderr[-500:])
        differing = [(one, other) for one, other in zip(ours, theirs) if one != other]
        wrong = [pair for pair in differing if not pair[1].startswith(tuple(OURS))]
        self.assertEqual(wrong, [], "here, and on the H200")
        self.assertEqual(len(differing), len(OURS), differing)


if __name__ == "__main__":
    unittest.main()
