"""Chapter 13, run as a reader runs it: any size, what its text says of counts, and the header that a reader takes home, whole
and with mistakes."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from chapter import BINARY_DIR, ROOT, Chapter, only, right_for, run_source

CHAPTER = Chapter("13_any_shape")
HEADER = CHAPTER.source.with_name("any_product.cuh")
PROGRAM = ROOT / "tests" / "course" / "chapters" / "any_product_checked.cu"


def compiled(folder, header_text, *options):
    """The program around a header, in a folder of its own."""
    folder = pathlib.Path(folder)
    (folder / HEADER.name).write_text(header_text)
    program = folder / "checked"
    command = [BINARY_DIR / "bin" / "simtcc", "-std=c++20", *options, f"-I{folder}", "-o", program, PROGRAM]
    subprocess.run(command, check=True)
    return program


class Sizes(unittest.TestCase):
    def test_sizes_around_the_tiles(self):
        right_for(self, CHAPTER, ("1,1,1", "257,1,40", "129,127,17", "3,300,70", "64,64,64", "16,500,33", "1,1,2000"))


class Counts(unittest.TestCase):
    def test_warps_outside_of_c_do_not_read(self):
        """128 x 128 tiles of 4 x 2 warps: the warps that have elements of C, by hand."""
        for m, n, some, all_warps in ((140, 13, 5, 16), (128, 128, 8, 8), (32, 65, 2, 8), (300, 64, 10, 24)):
            run = CHAPTER.run("--size", f"{m},{n},48", *only("one_tile", "skip_outside"))
            counts = [run.row(name)["counts"]["shared_load_requests"] for name in ("skip_outside", "one_tile")]
            self.assertEqual(counts[0] * all_warps, counts[1] * some, (m, n))

    def test_an_atomic_for_each_part_and_element(self):
        run = CHAPTER.run("--size", "70,50,96", *only("split_k_atomic"))
        lanes = run.row("split_k_atomic")["counts"]["global_atomic_active_lanes"]
        self.assertEqual(lanes % (70 * 50), 0)
        self.assertEqual(lanes // (70 * 50), 3)  # at least two K-tiles of 16 each


class TakenHome(unittest.TestCase):
    """any_product.cuh in a program that has nothing else of the course."""

    def test_it_includes_nothing_of_the_course(self):
        includes = [line for line in HEADER.read_text().split("\n") if line.startswith("#include")]
        includes.remove('#include "specialized_sm90.cuh"')  # only where a program asks for it
        self.assertTrue(all("<" in line for line in includes), includes)

    def test_every_kernel_and_the_function(self):
        done = run_source(PROGRAM.read_text(), "-std=c++20", "-O1", beside={HEADER.name: HEADER.read_text()})
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stdout + done.stderr)


# (text, what it becomes): all stand in one header, where M(number, wrong, right) takes the one that MISTAKE names.
SWITCH = """#include <cstdlib>
static __managed__ int mistake = -1;
inline int take_mistake() {
  int* const at = &mistake;
  if (const char* number = std::getenv("MISTAKE")) *at = std::atoi(number);
  return 0;
}
static const int taken = take_mistake();
#define M(number, wrong, right) (mistake == number ? (wrong) : (right))
"""
MUTANTS = [
    ("i * STEP) < steps", "i * STEP) < steps + M(0, 1, 0)"),
    ("id % in_group / height", "M(1, id % in_group % height, id % in_group / height)"),
    ("static_cast<unsigned>(parts) - 1", "static_cast<unsigned>(parts) - M(2, 2, 1)"),
    ("p < split.parts; ++p) {  // always", "p < split.parts - M(3, 1, 0); ++p) {  // always"),
    ("sum_of(all, split.parts,", "sum_of(all, split.parts - M(4, 1, 0),"),
    ("sum_of(all + e, split.parts,", "sum_of(all + e, split.parts - M(5, 1, 0),"),
    ("i < g.m && l0 + l < end", "i < g.m && l0 + l < end - M(6, 1, 0)"),
    ("l < end ? y[j][l]", "l < end - M(7, 1, 0) ? y[j][l]"),
    ("l + u * lanes < g.k", "l + u * lanes < g.k - M(8, 1, 0)"),
    ("max(0LL, s.begin(other)", "max(0LL, s.begin(other - M(9, 1, 0))"),
    ("k == 0 || alpha == 0", "k == 0 || M(10, false, alpha == 0)"),
    ("g.beta == 0 ? 0 : g.beta * c", "M(11, false, g.beta == 0) ? 0 : g.beta * c"),
    ("ldc < std::max(1LL, n)", "M(12, false, ldc < std::max(1LL, n))"),
    ("col0 + col + 32 * q", "col0 + col + M(13, 16, 32) * q"),
    ("sgemm(Order::ROW_MAJOR, transpose_b,", "sgemm(Order::ROW_MAJOR, M(14, transpose_a, transpose_b),"),
    ("e % 2 * 16 + e / 2 * 8", "e % 2 * M(15, 8, 16) + e / 2 * M(15, 16, 8)"),
    (
        "s < SLICES; ++s)\n      if (s == 0 || whole) sum",
        "s < SLICES - M(16, 1, 0); ++s)\n      if (s == 0 || whole) sum",
    ),
    ("k + l * K_STEP < steps", "k + l * K_STEP < steps + M(17, 1, 0)"),
    ("min(unit, longer), count", "min(unit, longer) + M(18, 1, 0), count"),
    ("k_of() + k_to(i) < steps", "k_of() + k_to(i) < steps + M(19, 1, 0)"),
    ("sum_of(partials + e, split.parts,", "sum_of(partials + e, split.parts - M(20, 1, 0),"),
    ("p = tid % 32; p < split.parts", "p = tid % 32; p < split.parts - M(21, 1, 0)"),
    ("l + u * THREADS < g.k", "l + u * THREADS < g.k - M(22, 1, 0)"),
]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        text = HEADER.read_text()
        for old, new in MUTANTS:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        text = text.replace("#pragma once\n", "#pragma once\n" + SWITCH, 1)
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(folder, text, "--fast", "-O1")
            for number in range(-1, len(MUTANTS)):
                with self.subTest(mistake=MUTANTS[number][0] if number >= 0 else "none"):
                    environment = {**os.environ, "MISTAKE": str(number)}
                    done = subprocess.run([program], capture_output=True, text=True, timeout=600, env=environment)
                    (self.assertNotEqual if number >= 0 else self.assertEqual)(done.returncode, 0, done.stdout)
