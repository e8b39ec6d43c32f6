"""Chapter 12: the ring that the simulator runs, and what was recorded of the kernels for Hopper."""

import json
import unittest

from chapter import Chapter, notice

CHAPTER = Chapter("12_past_cublas")
H200 = CHAPTER.source.parent / "results" / "h200.json"
LEAST = {1024: 1.15, 2048: 1.05, 4096: 1.06, 8192: 1.07}  # times as fast as cuBLAS, M = N = K

# Mistakes in the ring: (function that has it, text, what it becomes, rung that has to fail, what the simulator reports).
MUTANTS = [
    ("sum_columns", "      static_cast<void>(empty[s].arrive());\n", "", "producer_ring", "hang"),
    ("sum_columns", "init(&full[s], 32)", "init(&full[s], 1)", "producer_ring"),
    ("sum_columns", "stages[s][127 - t]", "stages[s][t]", "producer_ring"),
]


class Ring(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, MUTANTS, traced=True)


class Recorded(unittest.TestCase):
    def test_the_last_rung_is_past_cublas(self):
        results = json.loads(H200.read_text())
        self.assertIn("H200", results["device"])
        for size, least in LEAST.items():
            (row,) = (
                row for row in results["rows"] if row["rung"] == "tile_by_shape" and set(row["size"].values()) == {size}
            )
            self.assertEqual(row["status"], "PASS")
            self.assertGreaterEqual(row["ratio_to_peer"], least, size)
