"""Where nvcc is: every solution compiles with its checker for a GPU. What runs there, a machine with a GPU has to show."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import prove

from course import exercises as course
from learn.exercises import checking
from learn.machine import Machine

NVCC = Machine().nvcc()


def together(exercises):
    """One source of all checkers with their solutions, and of the grader: the headers are read once."""
    texts = [file.read_text(encoding="utf-8") for e in exercises for file in (e.checker, e.solution)]
    lines = list(dict.fromkeys(re.findall(r"^#include [<\"].+$", "\n".join(texts), re.M)))
    for exercise in exercises:
        lines += [f"namespace {exercise.name} {{", f'#define EXERCISE "{exercise.solution}"']
        lines += [f'#include "{exercise.checker}"', "#undef EXERCISE", "#undef main", "}"]
        lines.append(f'static const grader::Variant {exercise.name}_("{exercise.name}", {exercise.name}::grade);')
    return lines + [f'#include "{prove.ROOT}/common/grader/src/{name}.cpp"' for name in ("grader", "main")]


def compiled(lines):
    """(exit code, what nvcc says). It optimises nothing: that is what takes its time."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "all.cu"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [NVCC, "-std=c++20", "-arch=sm_90", "-O0", "-Xcicc", "-O0", "-Xptxas", "-O0", "-c", str(source)]
        command += ["-I" + include for include in checking.INCLUDES] + ["-o", os.path.join(folder, "all.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr + done.stdout


@unittest.skipUnless(NVCC, "nvcc is not here")
class Nvcc(unittest.TestCase):
    def test_every_solution_compiles_without_a_warning(self):
        exercises = course.all_exercises(prove.ROOT)
        self.assertTrue(exercises)
        self.assertEqual(compiled(together(exercises)), (0, ""))

    def test_this_can_fail(self):
        code, said = compiled(["__global__ void kernel(float* a) { a[threadIdx.x] = std_of(a); }"])
        self.assertNotEqual(code, 0)
        self.assertIn("std_of", said)


if __name__ == "__main__":
    unittest.main()
