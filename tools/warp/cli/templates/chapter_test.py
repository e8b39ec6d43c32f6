"""Chapter @NUMBER@ on the simulator: what its text says of the counts. What every chapter has to do is tested for all."""

import unittest

from chapter import Chapter

CHAPTER = Chapter("@FOLDER@")


class Counts(unittest.TestCase):
    def test_a_stride_of_one_moves_nothing_twice(self):
        run = CHAPTER.run()
        for rung in ("one_each", "grid_stride"):
            counts = run.row(rung)["counts"]
            n = run.row(rung)["size"]["n"]
            self.assertEqual(counts["global_load_requests"], -(-n // 32), rung)
            self.assertEqual(counts["global_load_bytes"], 4 * n, rung)


if __name__ == "__main__":
    unittest.main()
