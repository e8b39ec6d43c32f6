"""The scripts of tools/warp/record, as far as they need no GPU."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools" / "warp" / "record"


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, str(TOOLS / script), *map(str, arguments)], capture_output=True, text=True, timeout=100
    )


class Scripts(unittest.TestCase):
    def test_self_tests(self):
        for script in ("counters.py", "fp32_kernels.py"):
            done = run(script, "--self-test")
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
