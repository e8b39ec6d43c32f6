"""Where nvcc is: every solution compiles with its checker for a GPU. What runs there, a machine with a GPU has to show."""

import os
import re
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import learner  # noqa: F401, for tools/ on the path

from warp.base.machine import Machine
from warp.exercise import checking, on_gpu, proofs
from warp.exercise import exercises as course

NVCC = Machine().nvcc()
SOURCES = ("grader", "handover", "confine", "performing", "main")  # of the grader


def together(exercises):
    """One source of all checkers with their solutions, and of the grader: the headers are read once."""
    texts = [file.read_text(encoding="utf-8") for e in exercises for file in (e.checker, e.source)]
    lines = list(dict.fromkeys(re.findall(r"^#include [<\"].+$", "\n".join(texts), re.M)))
    lines.append("#define SOLUTION")
    for exercise in exercises:
        lines += [f"namespace {exercise.name} {{", f'#define EXERCISE "{exercise.source}"']
        lines += [f'#include "{exercise.checker}"', "#undef EXERCISE", "#undef main", "}"]
        lines.append(f'static const grader::Variant {exercise.name}_("{exercise.name}", {exercise.name}::grade);')
    return lines + [f'#include "{proofs.ROOT}/common/grader/src/{name}.cpp"' for name in SOURCES]


def compiled(lines):
    """(exit code, what nvcc says). It optimises nothing: that is what takes its time."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "all.cu"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [NVCC, "-std=c++20", "-arch=sm_90", "-O0", "-Xcicc", "-O0", "-Xptxas", "-O0", "-c", str(source)]
        includes = [
            *checking.compiling.INCLUDES,
            os.path.join(proofs.ROOT, "common", "third_party"),
        ]  # the grader writes JSON
        command += ["-I" + include for include in includes] + ["-o", os.path.join(folder, "all.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr + done.stdout


@unittest.skipUnless(NVCC, "nvcc is not here")
class Nvcc(unittest.TestCase):
    def test_every_solution_compiles_without_a_warning(self):
        exercises = course.all_exercises(proofs.ROOT)
        self.assertTrue(exercises)
        self.assertEqual(compiled(together(exercises)), (0, ""))

    def test_this_can_fail(self):
        code, said = compiled(["__global__ void kernel(float* a) { a[threadIdx.x] = std_of(a); }"])
        self.assertNotEqual(code, 0)
        self.assertIn("std_of", said)


class OnGpu(unittest.TestCase):
    """What proofs.py --backend gpu makes of outcomes; here they are made up."""

    @staticmethod
    def variant(*kinds, compiles=True):
        variant = proofs.Variant("name", "text", checking.Outcome("gpu"), compiles)
        for kind in kinds:
            variant.outcome.fail(kind, "said")
        variant.outcome.passed = not kinds
        return variant

    def judged(self, reason, *kinds):
        mutant = course.Mutant("the mutant", reason, "", [], 1)
        return on_gpu.judge(self.variant(), [(mutant, self.variant(*kinds))])

    def test_a_solution_must_pass(self):
        self.assertEqual(on_gpu.judge(self.variant(), []), [])
        self.assertEqual(on_gpu.judge(self.variant("cuda-error"), []), ["the solution fails: cuda-error"])
        self.assertEqual(on_gpu.judge(self.variant(compiles=False), []), ["the solution fails: does not compile"])

    def test_a_wrong_mutant_must_be_wrong(self):
        self.assertEqual(self.judged("wrong-result", "wrong-result"), [])
        self.assertEqual(self.judged("misaligned-access", "cuda-error"), [])
        for kinds in ([], ["timeout"]):
            self.assertIn("must fail as wrong-result", self.judged("wrong-result", *kinds)[0])

    def test_a_slow_mutant_must_be_right(self):
        self.assertEqual(self.judged("bank conflicts"), [])
        self.assertIn("is only slow", self.judged("bank conflicts", "wrong-result")[0])

    def test_a_race_may_end_either_way(self):
        self.assertEqual(self.judged("shared-race"), [])
        self.assertEqual(self.judged("shared-race", "wrong-result"), [])

    def test_the_reason_of_every_mutant_is_known(self):
        for exercise in course.all_exercises(proofs.ROOT):
            for mutant in exercise.mutants if exercise.kind != "predict" else []:
                self.assertIn(on_gpu.must(mutant.reason), ("fails", "passes", "either"), exercise.key)
        with self.assertRaisesRegex(course.ExerciseError, "does not know what the reason 'magic'"):
            on_gpu.must("magic")

    def test_checks_run_there_one_at_a_time(self):
        inside, most = [], []

        def run_check(*_):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

        exercise = course.read(proofs.ROOT, "01_thread_indexing", "first_index")
        source = str(exercise.source)
        with (
            mock.patch.object(checking.compiling, "make", return_value=checking.compiling.Programs("", "")),
            mock.patch.object(checking, "run_check", run_check),
            mock.patch.object(checking.build, "lock", mock.MagicMock()),
        ):
            threads = [threading.Thread(target=checking.check, args=(exercise, source, "gpu")) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(most, [1] * 4)
