"""The sources are as .ci/lint has them (format, Python's rules, spelling), and the types as mypy has them (pyproject.toml)."""

import os
import shutil
import subprocess
import tempfile
import unittest

import fake

import suites

LINT = os.path.join(fake.ROOT, ".ci", "lint")
READS = (".clang-format", ".codespellrc", "pyproject.toml", "docs/requirements.txt", ".ci/lint")
REFUSALS = "tests/simulator/simtcc/refusals"  # whose lines and columns its tests name
MYPY = shutil.which(str(suites.BUILD / "venv" / "bin" / "mypy")) or shutil.which("mypy")


def tools():
    """The folder of the environment that has the three tools; None where neither has them."""
    for folder in ("venv", "lint"):
        found = os.path.join(fake.ROOT, "build", folder)
        if all(os.path.exists(os.path.join(found, "bin", name)) for name in ("ruff", "codespell", "clang-format")):
            return found
    return None


@unittest.skipUnless(tools(), "ruff, codespell and clang-format are not here: .ci/lint brings them")
class Style(unittest.TestCase):
    def test_the_course_is_clean(self):
        done = subprocess.run([LINT], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def copy(self):
        """A checkout with what .ci/lint reads and nothing else."""
        folder = tempfile.mkdtemp(prefix="learn-test-")
        self.addCleanup(shutil.rmtree, folder)
        for name in (*READS, f"{REFUSALS}/.clang-format", f"{REFUSALS}/snippets.cu"):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            shutil.copy(os.path.join(fake.ROOT, name), os.path.join(folder, name))
        os.mkdir(os.path.join(folder, "build"))
        os.symlink(tools(), os.path.join(folder, "build", "venv"))
        return folder

    def lint(self, folder, *words):
        return subprocess.run([os.path.join(folder, ".ci/lint"), *words], cwd=folder, capture_output=True, text=True)

    def test_each_check_can_fail(self):
        folder = self.copy()
        for name, text, said in (
            ("bad.cu", "int  x ;\n", "lint: C++ is not formatted"),
            ("bad.py", "import os\n", "lint: Python breaks a rule"),
            ("ugly.py", "print( 1 )\n", "lint: Python is not formatted"),
            ("bad.md", "It is rec" + "ieved.\n", "lint: a word is misspelt"),
        ):
            fake.write(os.path.join(folder, name), text)
            done = self.lint(folder, name)
            told = [line for line in done.stdout.splitlines() if line.startswith("lint: ")]
            self.assertEqual((done.returncode, len(told), told[0][: len(said)]), (1, 1, said), done.stderr)
        self.assertEqual(self.lint(folder, "--fix", "bad.cu", "ugly.py").returncode, 0)
        self.assertEqual(self.lint(folder, "bad.cu", "ugly.py").returncode, 0)

    def test_what_has_to_keep_its_lines_keeps_them(self):
        folder = self.copy()
        self.assertEqual(self.lint(folder, "--fix", f"{REFUSALS}/snippets.cu").returncode, 0)
        kept = fake.read(os.path.join(folder, REFUSALS, "snippets.cu"))
        self.assertEqual(kept, fake.read(os.path.join(fake.ROOT, REFUSALS, "snippets.cu")))


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
