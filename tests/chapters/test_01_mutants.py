"""Chapter 01 with a mistake in every rung: each of them must be noticed."""

import pathlib
import subprocess
import tempfile
import unittest

from chapter import BINARY_DIR, LAB_OPTIONS, Chapter, Run

CHAPTER = Chapter("01_thread_indexing")

# (rung, text, what it becomes, what the row then says). Texts are looked for behind the rung's name.
MUTANTS = [
    ("copy_h2d", "n * sizeof(float)", "(n - 1) * sizeof(float)", "FAIL"),
    ("copy_d2h", "n * sizeof(float)", "(n - 1) * sizeof(float)", "FAIL"),
    ("copy_d2d", "(to, from,", "(to, from + 1,", "ERROR"),
    ("memset_bytes", "device, value,", "device, value + 1,", "FAIL"),
    ("who_am_i", "threadIdx.y) * blockDim.x + threadIdx.x", "threadIdx.y) * blockDim.x", "FAIL"),
    ("add_guarded", "a[i] + b[i]", "a[i] + a[i]", "FAIL"),
    ("add_truncated", "if (i < n)", "if (i + 1 < n)", None),
    ("read_mapped", "mapped[i]", "mapped[n - 1 - i]", "FAIL"),
    ("block_limits", "= 1;", "= 2;", "FAIL"),
    ("map_square", "if (i < n) ", "", "FAIL"),
    ("grid_stride", "i += stride", "i += stride + 1", "FAIL"),
    ("copy_x_fastest", "= in[row * cols + col]", "= in[col * rows + row]", "FAIL"),
    ("copy_y_fastest", "row < rows && col < cols", "row + 1 < rows && col < cols", "FAIL"),
    ("diverge_between_warps", "i / 32 % 2", "i / 16 % 2", "FAIL"),
    ("diverge_within_warps", "out[i] = mixed", "if (i % 32 != 5) out[i] = mixed", "FAIL"),
    ("async_launch", "in[i] + in[i]", "in[i] + 1.0f", "FAIL"),
    ("refused_launch", "= 1.0f", "= 1.5f", "FAIL"),
]


def mutate(source):
    for rung, text, replacement, _ in MUTANTS:
        start = source.index(f" {rung}(")
        at = source.index(text, start)
        source = source[:at] + replacement + source[at + len(text):]
    return source


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            source = folder / CHAPTER.source.name
            source.write_text(mutate(CHAPTER.source.read_text()))
            program = folder / "mutant"
            # Verification has to notice, not the simulator: so it is off, which compiles sooner, too.
            subprocess.run(
                [BINARY_DIR / "bin" / "simtcc", "--fast", "-O0", *LAB_OPTIONS, "-o", program, source,
                 *sorted(CHAPTER.source.parent.glob("*_stub.cu")), *CHAPTER.lab()], check=True)
            run = Run(program, "--size", "999")
            self.assertEqual(run.code, 1, run.explain())
            for rung, _, _, status in MUTANTS:
                if status is None:
                    continue
                found = {row["status"] for row in run.rows if row["rung"] == rung}
                with self.subTest(rung=rung):
                    self.assertTrue(found and found <= {"FAIL", "ERROR"}, run.explain())


if __name__ == "__main__":
    unittest.main()
