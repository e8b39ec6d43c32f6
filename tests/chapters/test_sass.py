"""The chapters' sass.txt: what nvcc makes of the kernels on each architecture is what the chapters state."""

import tempfile
import unittest
from pathlib import Path

from chapter import ROOT

from course import source
from course.functions import find_function
from learn.errors import LearnError
from learn.machine import Machine
from sass import expectations, tools


def toolchain():
    """(tools.Toolchain, None), or (None, why there is none)."""
    try:
        return tools.Toolchain(Machine()), None
    except LearnError as error:
        return None, error.message


TOOLCHAIN, LACK = toolchain()
NEWEST = 120  # sm_121 is of the same family
STATED = sorted((ROOT / "chapters").glob(f"*/{expectations.FILE}"))


class Stated(unittest.TestCase):
    def test_each_names_kernels_of_its_chapter(self):
        self.assertTrue(STATED)
        for file in STATED:
            text = (file.parent / f"{file.parent.name[3:]}.cu").read_text(encoding="utf-8")
            found = expectations.parse(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))
            self.assertTrue(found, file)
            for expected in found:
                self.assertIsNotNone(find_function(text, expected.kernel.split("<")[0]), f"{file}: {expected.kernel}")

    def test_what_cannot_be_read_is_named(self):
        for text, part in (
            ("one: LDG.12", "sass.txt:1: cannot read 'LDG.12'"),
            ("\none LDG.128", "sass.txt:2: cannot read 'one LDG.128'"),
            ("one: no spills; fast", "cannot read 'fast'"),
            ("one: FFMA >= many % in loop", "cannot read 'FFMA >= many % in loop'"),
        ):
            with self.assertRaises(LearnError) as raised:
                expectations.parse(text)
            self.assertIn(part, raised.exception.message)


@unittest.skipUnless(TOOLCHAIN, LACK)
class Compiled(unittest.TestCase):
    def test_every_architecture(self):
        known = {main.parent: main for main in source.find_chapters(ROOT / "chapters")}
        for file in STATED:
            expected = expectations.parse(file.read_text(encoding="utf-8"))
            assembled = expectations.Assembled(TOOLCHAIN, known[file.parent], expected)
            self.addCleanup(assembled.close)
            for architecture in TOOLCHAIN.architectures():
                if int(architecture[3:]) > NEWEST:
                    continue
                with self.subTest(f"{file.parent.name} on {architecture}"):
                    self.assertEqual(expectations.check(expected, assembled.kernels(architecture)), [])

    def test_each_claim_can_fail(self):
        text = """\
__global__ void scalar(float* b, const float* a, int n) {
  for (int i = threadIdx.x; i < n; i += 256) b[i] = a[i] * 2;
}
__global__ void __launch_bounds__(1024) spilling(float* b, const float* a, int n) {
  float kept[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) kept[i] = a[i * n + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) b[(i + 1) * n + threadIdx.x] = kept[i] * kept[95 - i];
}
"""
        with tempfile.TemporaryDirectory() as folder:
            main = Path(folder) / "sample.cu"
            main.write_text(text)
            stated = expectations.parse(
                "scalar: LDG.32; LDG.128; no LDG.32 in loop; FFMA >= 10 % in loop; no spills\n"
                "spilling: LDG.32 in loop; no spills\nmissing: no spills\n"
            )
            assembled = expectations.Assembled(TOOLCHAIN, main, stated)
            self.addCleanup(assembled.close)
            problems = "\n".join(expectations.check(stated, assembled.kernels("sm_90")))
            for part in (
                "scalar: LDG.128: none of them",
                "scalar: no LDG.32 in loop:",
                "scalar: FFMA >= 10 % in loop: FFMA 0.0 %",
                "spilling: LDG.32 in loop: has no loop",
                "spilling: no spills: spills",
                "missing: no such kernel",
            ):
                self.assertIn(part, problems)
            self.assertEqual(len(problems.splitlines()), 6, problems)


if __name__ == "__main__":
    unittest.main()
