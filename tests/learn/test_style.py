"""The Python of the course is as ruff and mypy have it: rules, format, types (pyproject.toml)."""

import os
import shutil
import subprocess
import tempfile
import unittest

import fake

BUILD = os.path.dirname(os.environ.get("WARP_BINARY_DIR") or os.path.join(fake.ROOT, "build", "simulator"))
RUFF, MYPY = (shutil.which(os.path.join(BUILD, "venv", "bin", name)) or shutil.which(name) for name in ("ruff", "mypy"))


@unittest.skipUnless(RUFF, "ruff is not here: ./learn setup --docs brings it")
class Style(unittest.TestCase):
    def ruff(self, *words, folder=fake.ROOT):
        return subprocess.run([RUFF, *words, "--no-cache"], cwd=folder, capture_output=True, text=True)

    def test_rules(self):
        done = self.ruff("check", "--output-format", "concise", ".")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_format(self):
        done = self.ruff("format", "--check", ".")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_both_can_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(fake.ROOT, "pyproject.toml"), folder)
            with open(os.path.join(folder, "bad.py"), "w", encoding="utf-8") as file:
                file.write("import os\nprint('%s' % 1 )\n")
            done = self.ruff("check", "--output-format", "concise", ".", folder=folder)
            self.assertEqual((done.returncode, "F401" in done.stdout, "UP031" in done.stdout), (1, True, True))
            self.assertEqual(self.ruff("format", "--check", ".", folder=folder).returncode, 1)


@unittest.skipUnless(MYPY, "mypy is not here: ./learn setup --docs brings it")
class Types(unittest.TestCase):
    def mypy(self, *words):
        with tempfile.TemporaryDirectory() as cache:
            return subprocess.run(
                [MYPY, "--cache-dir", cache, *words], cwd=fake.ROOT, capture_output=True, text=True, timeout=500
            )

    def test_types(self):
        done = self.mypy()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_wrong_key_is_seen(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("from warp.trace.model import Launch\n\n\ndef f(one: Launch) -> int:\n    return one.index_\n")
            file.flush()
            self.assertIn('"Launch" has no attribute "index_"', self.mypy(file.name).stdout)


if __name__ == "__main__":
    unittest.main()
