"""Every exercise is sound: its blank fails, its solution passes, every mistake is noticed. And the proofs can fail."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import learner  # noqa: F401, for tools/ on the path

from warp.cli.commands import new_exercise
from warp.exercise import checking, mutations, proofs
from warp.exercise import exercises as course

LABELS = ["exercises", "slow"]
SECONDS = 3600
COST = 350


class Proofs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        checking.prepare("simulator")
        # A learner waits for 20 s and no longer; beside other tests a hang may take longer to be told.
        patience = mock.patch.object(checking, "SECONDS", 120)
        patience.start()
        cls.addClassCleanup(patience.stop)

    def test_every_exercise(self):
        exercises = course.all_exercises(proofs.ROOT)
        self.assertTrue(exercises, "no exercise was found")
        for proof in proofs.prove_all(exercises):
            with self.subTest(proof.exercise.key):
                self.assertEqual(proof.complaints, [])

    def test_the_kinds_and_chapters(self):
        exercises = course.all_exercises(proofs.ROOT)
        self.assertEqual({exercise.kind for exercise in exercises}, set(course.KINDS))
        names = [exercise.name for exercise in exercises]
        self.assertEqual(len(names), len(set(names)), "two exercises have one name")

    def test_the_task_fits_into_100_columns(self):
        for exercise in course.all_exercises(proofs.ROOT):
            with self.subTest(exercise.key):
                wide = [line for line in exercise.header.split("\n") if len(line) > 100]
                self.assertEqual(wide, [])

    def test_a_proof_can_fail(self):
        exercise = course.read(proofs.ROOT, "01_thread_indexing", "first_index")
        # the blank passes, the solution fails, a mutant fails for another reason, an equivalent is none
        exercise.mutants[0].reason = "shared-race"
        (bare,) = exercise.mutants[0].hunks
        exercise.equivalents.append(course.Mutant("it is not there at all", course.EQUIVALENT, "", [bare], 1))
        proof = proofs.prove(exercise)
        said = "\n".join(proof.complaints)
        self.assertIn("must fail for shared-race at n = 255, not: wrong-result at n = 255", said)
        self.assertIn("there is no such mutation: it is not there at all", said)
        # what only some orders of the threads show may fail, an equivalent may not
        failing = next(m.text for m, variant in proof.automatic if variant.compiles and not variant.outcome.passed)
        for reason in (course.ORDER_DEPENDENT, course.EQUIVALENT):
            proof.complaints.clear()
            entry = course.as_entry(exercise, f"an argument that may hold: {reason}", failing)
            (exercise.equivalents[-1],) = course.parse("", entry)
            self.assertEqual(course.apply(exercise, exercise.equivalents[-1]), failing)
            proofs.judge(proof)
            said = "listed as equivalent, but it fails" in "\n".join(proof.complaints)
            self.assertEqual(said, reason == course.EQUIVALENT)
        # nobody notices, and the line to paste is printed
        proof.complaints.clear()
        survivor = next(variant for m, variant in proof.automatic if m.text == failing)
        survivor.outcome.passed = True
        exercise.equivalents.pop()
        proofs.judge(proof)
        self.assertIn("# WHY IT CHANGES NOTHING: equivalent\n@@ -", "\n".join(proof.complaints))
        survivor.outcome.passed = False
        proof.complaints.clear()
        proof.blank, proof.solution = proof.solution, proof.blank
        proofs.judge(proof)
        said = "\n".join(proof.complaints)
        self.assertIn("the blank passes", said)
        self.assertIn("the solution fails: wrong-result at n = 2", said)
        self.assertIn("the solution still has a TODO", said)

    def test_a_new_exercise_lacks_nothing_but_words(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(proofs, "ROOT", Path(folder)):
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(new_exercise.main(["one_more", "--chapter", "03"]), 0)
            (exercise,) = course.all_exercises(proofs.ROOT)
            self.assertEqual(len(course.to_fill_in(exercise)), 6)
            self.assertEqual(proofs.prove(exercise).complaints, course.to_fill_in(exercise))


class Form(unittest.TestCase):
    """What is wrong with an exercise's files is said in one line, and no exercise is silently left out."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        original = course.read(proofs.ROOT, "01_thread_indexing", "first_index")
        self.exercise = course.Exercise(self.root, original.chapter, original.name)
        for mine, theirs in zip(self.files(self.exercise), self.files(original)):
            mine.parent.mkdir(parents=True, exist_ok=True)
            mine.write_bytes(theirs.read_bytes())

    @staticmethod
    def files(exercise):
        return [exercise.source, exercise.notes, exercise.checker, exercise.mutants_file]

    def test_it_is_found(self):
        self.assertEqual([e.key for e in course.all_exercises(self.root)], ["01_thread_indexing/first_index"])

    def test_each_file_is_needed(self):
        for file in self.files(self.exercise)[1:]:
            with self.subTest(file.name):
                kept = file.read_bytes()
                file.unlink()
                with self.assertRaises(course.ExerciseError):
                    course.all_exercises(self.root)
                file.write_bytes(kept)

    def test_what_is_wrong_is_said(self):
        source, notes, _, mutants = self.files(self.exercise)
        cases = [
            (source, "Kind: fill in", "Kind: riddle", "'Kind: riddle': legal is fill in, repair, predict, optimise"),
            (source, "Level: 1", "Level: easy", "'Level: easy': legal is a number from 1 to 99"),
            (source, "// Minutes: 2\n", "", "lacks the line '// Minutes: ...'"),
            (source, "// # Which", "// Which", "starts with the line '// # Title'"),
            (source, "TODO", "todo", "no TODO"),
            (notes, "3. A block", "A block", "at least 3 hints"),
            (notes, "## Alternatives", "## Others", "must consist of"),
            (
                mutants,
                "# the thread's number in its block only: wrong-result at n = 255",
                "# something",
                "legal are '# NAME",
            ),
            (mutants, "+  const int i = threadIdx.x;", "  const int i = threadIdx.x;", "another number of lines"),
            (mutants, "@@ -19 +19 @@", "@@ -19,3 +19,3 @@", "another number of lines"),
            (mutants, "# blocks and threads swapped: wrong-result at n = 2", "# swapped: equivalent", "has to say why"),
            (
                mutants,
                "# right, but",
                "# one more: no-kernel\n\n# right, but",
                "no hunk of a unified diff follows 'one more'",
            ),
        ]
        for file, old, new, said in cases:
            with self.subTest(said):
                kept = file.read_text(encoding="utf-8")
                self.assertIn(old, kept)
                file.write_text(kept.replace(old, new, 1), encoding="utf-8")
                with self.assertRaisesRegex(course.ExerciseError, said):
                    course.all_exercises(self.root)
                file.write_text(kept, encoding="utf-8")

    def test_a_mutant_must_fit_the_solution(self):
        (exercise,) = course.all_exercises(self.root)
        exercise.solution = exercise.blank
        with self.assertRaisesRegex(course.ExerciseError, "0 times; it must have it once"):
            course.apply(exercise, exercise.mutants[0])


class Mutations(unittest.TestCase):
    HEADER = "// # Title < here"
    TEXT = (
        HEADER
        + """

template <int N>
__global__ void f(float* a, int n) {
  __shared__ float s[32][33];
  if (threadIdx.x >= n) return;  // a + b
  for (int i = 0; i < n; i += blockDim.x) s[i][threadIdx.y] += a[i * n + 1];
  __syncthreads();
}
void g(float* a, int n) { f<32><<<n / 32, 32>>>(a, n); }
"""
    )

    def test_all_kinds(self):
        found = mutations.of_solution(self.TEXT, self.HEADER, "fill in")
        kinds = {mutation.kind for mutation in found}
        for kind in (
            "barrier dropped",
            "guard dropped",
            "bound moved",
            "last element skipped",
            "indices swapped",
            "stride changed",
            "sum not kept",
            "initial value",
            "constant changed",
            "term dropped",
        ):
            self.assertIn(kind, kinds)
        for mutation in found:
            self.assertTrue(mutation.text.startswith(self.HEADER + "\n"))
            self.assertIn("// a + b", mutation.text)
            self.assertIn("f<3", mutation.text.replace("f<32><<<", "f<3"))
            self.assertNotEqual(mutation.text, self.TEXT)
        self.assertEqual(len({mutation.change for mutation in found}), len(found))

    def test_predictions(self):
        text = self.HEADER + "\nconstexpr int kOne = 4;\n"
        found = mutations.of_solution(text, self.HEADER, "predict")
        self.assertEqual([m.text.split("= ")[1].strip() for m in found], ["5;", "3;", "8;"])
