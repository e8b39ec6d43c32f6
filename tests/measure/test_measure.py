"""What counts and names kernels on a GPU, as far as that needs none."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(action, *arguments):
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "warp"), "author", action, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
    )


class Scripts(unittest.TestCase):
    def test_self_tests(self):
        for action in ("count", "fp32"):
            done = run(action, "--self-test")
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
