"""Orders of chapter 12's FMAs: what is made of the source, what is computed of times, and what is said where nvcc is missing."""

import contextlib
import io
import pathlib
import re
import runpy
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from warp.base.errors import LearnError

SCRIPT = str(ROOT / "tools" / "measure" / "fma_orders" / "orders.py")
ORDERS = runpy.run_path(SCRIPT)
ALL = {(row, column) for row in range(16) for column in range(8)}


def run(*words, **other):
    """The exit code of the script and what it said, with other functions in place of some."""
    script, said = runpy.run_path(SCRIPT), io.StringIO()
    script["main"].__globals__.update(other)
    argv = mock.patch.object(sys, "argv", ["orders.py", *words])
    with argv, contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            code = script["main"]()
        except SystemExit as end:
            code = end.code
    return code, said.getvalue()


def times(ms, tflops):
    return {"ms": ms, "p10": ms, "p90": ms, "tflops": tflops}


class Orders(unittest.TestCase):
    def test_each_has_every_fma_once_and_is_the_same_each_time(self):
        for number in range(13):
            family, order = ORDERS["order"](number)
            self.assertEqual((len(order), set(order)), (128, ALL), family)
            self.assertEqual(ORDERS["order"](number), (family, order))
        made = [tuple(ORDERS["order"](number)[1]) for number in range(13)]
        self.assertEqual(len(set(made)), 13)

    def test_the_first_is_the_chapters(self):
        """As the loop of the chapter has it, written out."""
        rows = [0, 4, 12, 8]
        for x, place in enumerate(ORDERS["order"](0)[1]):
            down = x % 16 if x // 16 % 2 == 0 else 15 - x % 16
            self.assertEqual(place, (rows[down // 4] + down % 4, x // 16))

    def test_a_column_turns_at_its_end(self):
        family, order = ORDERS["order"](4)
        self.assertEqual(family, "columns")
        for at, (one, after) in enumerate(zip(order, order[1:]), start=1):
            self.assertEqual(one[1] == after[1], at % 16 != 0)  # the same column
            self.assertTrue(one[1] == after[1] or one[0] == after[0])  # at the turn, the same row

    def test_the_source_with_an_order(self):
        text = ORDERS["CHAPTER"].read_text(encoding="utf-8")
        made = ORDERS["source"](text, [(1, 2), (0, 7)])
        self.assertIn("constexpr unsigned char order[] = {10, 7};", made)
        self.assertIn("ld.volatile.shared", made)
        self.assertNotIn("four_rows(down / 4)", made)
        self.assertNotIn("int main", made)
        self.assertNotIn("ld.volatile.shared", ORDERS["source"](text, plain=True))
        with self.assertRaisesRegex(LearnError, "no longer finds"):
            ORDERS["source"](text.replace("down % 4", "down % 2"))

    def test_what_the_loop_reads(self):
        """Two reads in a row, and one behind an FMA; the second FMA need not read R4 again."""
        from warp.machinecode import disassembly

        loop = ["LDS.128 R4, [R0]", "LDS.128 R8, [R0]", "FFMA R1, R4.reuse, R8, R2", "FFMA R3, R4, R9, R2"]
        kernel = disassembly.Kernel("k")
        for at, text in enumerate([*loop, "LDS.128 R12, [R0]", "@P0 BRA 0x0", "EXIT"]):
            kernel.instructions.append(disassembly.instruction_of(16 * at, text))
        kernel.instructions[-2].target = 0
        found = ORDERS["counts"](kernel)
        self.assertEqual((found["close_reads"], found["ffmas"], found["registers"]), (1, 2, 5))
        self.assertEqual(
            (found["conflicts"], found["cycles"]), (2, 6)
        )  # R4, R8 and R2 are even, and others issue meanwhile


class Figures(unittest.TestCase):
    def rows(self):
        made = [(0, "chapter", 9.0, 50.0), (1, "columns", 1.0, 54.0), (2, "rows", 2.0, 52.0), (4, "columns", 3.0, 50.0)]
        counted = dict.fromkeys(ORDERS["COUNTED"], 0)
        rows = [
            {
                "order": n,
                "family": family,
                "reads": "volatile",
                **times(ms, tflops),
                **counted,
                "conflicts": 2 * ms,
            }
            for n, family, ms, tflops in made
        ]
        rows[2]["flags"] = 1
        return rows

    def test_of_the_random_orders(self):
        found = ORDERS["summary"](self.rows())
        of = {name.partition(": ")[2]: value for name, value in found.items() if name.startswith("volatile all")}
        self.assertEqual((of["orders"], of["slowest"], of["median"], of["best"]), (3, 50, 52, 54))
        self.assertAlmostEqual(of["conflicts"], 1)
        self.assertAlmostEqual(of["flags"], 0)  # the middle one alone
        self.assertEqual(of["three"], 0)  # does not vary
        self.assertEqual(found["volatile columns: orders"], 2)
        self.assertEqual(found["volatile all: most conflicts"], 6)
        self.assertEqual(found["volatile chapter: tflops"], 50)
        self.assertFalse([name for name in found if name.startswith(("plain", "volatile rows"))])

    def test_times_of_an_earlier_file(self):
        earlier = {
            "orders": self.rows(),
            "device": "NVIDIA H200",
            "driver": "580",
            "toolkit": "nvcc",
            "date": "",
            "sm_mhz": 1980,
        }
        rows = [{"order": 2, "reads": "volatile", "cycles": 7}]
        self.assertEqual(ORDERS["told"](earlier, rows)["sm_mhz"], 1980)
        self.assertEqual((rows[0]["ms"], rows[0]["cycles"]), (2.0, 7))
        with self.assertRaisesRegex(LearnError, "no time of order 2 with plain reads"):
            ORDERS["told"](earlier, [{"order": 2, "reads": "plain"}])

    def test_correlation(self):
        self.assertAlmostEqual(ORDERS["correlation"]([1, 2, 3], [6, 4, 2]), -1)
        self.assertAlmostEqual(ORDERS["correlation"]([1, 2, 3, 4], [1, 3, 2, 4]), 0.8)


class Command(unittest.TestCase):
    def test_without_nvcc_it_says_so_in_a_line(self):
        def missing(machine):
            raise LearnError("machine code needs nvcc, and none is here.")

        code, said = run(tools=mock.Mock(Toolchain=missing))
        self.assertEqual((code, said.strip()), (1, "orders.py: machine code needs nvcc, and none is here."))

    def test_without_a_gpu_nothing_is_written(self):
        machine = mock.Mock(gpus=lambda: [("NVIDIA A100", "8.0", "580", "40 GB")], cores=lambda: 1)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.json"
            code, said = run("--write", str(file), tools=mock.Mock(), Machine=lambda: machine)
            self.assertEqual((code, file.exists()), (1, False))
        self.assertRegex(said, r"\Aorders.py: to write times needs a GPU of compute capability 9.0.*\n\Z")

    def test_a_number_that_is_none_is_refused(self):
        code, said = run("--orders", "-1")
        self.assertEqual(code, 2)
        self.assertTrue(re.search(r"--orders: 0 or more", said))
