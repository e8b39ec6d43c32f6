"""Chapter 12: the ring that the simulator runs, what nvcc makes of the kernels for Hopper, and what was recorded of them."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import NVCC, ROOT, Chapter, Mutant, nvcc_is_the_one_of_the_text, row_of

CHAPTER = Chapter("12_past_cublas")
SM90 = CHAPTER.source.with_name("past_cublas_sm90.cu")
H200 = CHAPTER.source.parent / "results" / "h200.json"
LEAST = {1024: 1.15, 2048: 1.05, 4096: 1.06, 8192: 1.07}  # times as fast as cuBLAS, M = N = K

# Programs with a mistake in the ring: (function that has it, text, what it becomes, what the simulator reports).
MUTANTS = [
    ("sum_columns", "      static_cast<void>(empty[s].arrive());\n", "", "hang"),
    ("sum_columns", "init(&full[s], 32)", "init(&full[s], 1)", ""),
    ("sum_columns", "stages[s][127 - t]", "stages[s][t]", ""),
]


class Ring(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        for mutant in MUTANTS:
            with self.subTest(mutant=mutant), Mutant(CHAPTER, [mutant[:3]], traced=True) as program:
                run = program.run("--rung", "producer_ring")
                self.assertEqual(run.code, 1, run.explain())
                self.assertIn(mutant[3], run.out + run.err)

    def test_the_ring_turns(self):
        """Ten rows in four stages: every parity is asked for."""
        text = CHAPTER.source.read_text()
        self.assertIn("constexpr int RING = 4;", text)
        self.assertIn("constexpr size_t rows = 10, columns = 128;", text)


@unittest.skipUnless(nvcc_is_the_one_of_the_text(), "the text quotes nvcc 13.0, which is not here")
class Compiled(unittest.TestCase):
    """The last rungs are fast for one allocation of registers only: a change of their source that gives another one has to
    be measured again."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cubin = pathlib.Path(cls.folder.name) / "a.cubin"
        done = subprocess.run(
            [
                NVCC,
                "-std=c++20",
                "--extended-lambda",
                "-O3",
                "-lineinfo",
                "-arch=sm_90a",
                "-cubin",
                "-Xptxas",
                "-v",
                f"-I{ROOT}/common/lab/include",
                "-o",
                cls.cubin,
                SM90,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        cls.warnings = done.stderr
        cls.made = {}  # kernel -> registers, bytes of spilled stores, of spilled loads
        for entry in done.stderr.split("Compiling entry function '")[1:]:
            cls.made[cls.readable(entry.split("'")[0])] = tuple(
                int(re.search(pattern, entry).group(1))
                for pattern in (r"Used (\d+) registers", r"(\d+) bytes spill stores", r"(\d+) bytes spill loads")
            )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def readable(mangled):
        """_Z14producer_warpsILb1EEv... -> producer_warps true, _Z11even_sharesILb1EN..5LargeEEv... -> even_shares true Large"""
        match = re.match(r"_Z(\d+)", mangled)
        name = mangled[match.end() : match.end() + int(match.group(1))] if match else mangled
        flag = re.match(r"ILb([01])E", mangled[match.end() + len(name) :]) if match else None
        if not flag:
            return name
        tile = re.search(r"5(Large|Small)EEv", mangled)
        return " ".join([name, "true" if flag.group(1) == "1" else "false"] + ([tile.group(1)] if tile else []))

    def test_registers(self):
        for kernel, made in self.made.items():
            self.assertEqual(made[1:], (0, 0), kernel)
        for kernel in ("register_budget", "producer_warps true", "even_shares true Large", "even_shares true Small"):
            self.assertEqual(self.made[kernel][0], 168)
        self.assertNotIn("setmaxnreg", self.warnings)  # ptxas says where it ignores it


class Recorded(unittest.TestCase):
    def test_the_last_rung_is_past_cublas(self):
        results = json.loads(H200.read_text())
        self.assertIn("H200", results["device"])
        for size, least in LEAST.items():
            row = row_of(results, "tile_by_shape", None, size)
            self.assertEqual(row["status"], "PASS")
            self.assertGreaterEqual(row["ratio_to_peer"], least, size)


if __name__ == "__main__":
    unittest.main()
