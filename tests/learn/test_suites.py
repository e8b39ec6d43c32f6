"""./learn test with the real CMake and ctest on a small project: what it counts and when it fails."""

import os
import shutil
import unittest
from unittest import mock

import fake

from warp.base import install, needs
from warp.cli.commands import test_

PRESETS = """\
{"version": 6, "configurePresets": [
  {"name": "simulator", "binaryDir": "${sourceDir}/build/simulator"},
  {"name": "gpu", "binaryDir": "${sourceDir}/build/gpu"}]}
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(fake LANGUAGES NONE)
include(CTest)
if(NOT CMAKE_BINARY_DIR MATCHES "gpu$")
"""


@unittest.skipUnless(shutil.which("ctest") and shutil.which("ninja"), "needs CMake and Ninja")
class Suites(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.ready_venv()
        self.tool("doxygen", "#!/bin/sh\necho 1.9.4\n")
        for name in ("cmake", "ctest", "ninja"):
            path = os.path.join(self.bin, name)
            if os.path.exists(path):
                os.unlink(path)
            os.symlink(shutil.which(name), path)
        os.symlink("/usr/bin/false", os.path.join(self.bin, "false"))
        self.write("CMakePresets.json", PRESETS)

    def project(self, *tests):
        self.write("CMakeLists.txt", PROJECT + "\n".join(tests) + "\nendif()\n")

    def python_suite(self, name, body):
        source = "import unittest\nclass T(unittest.TestCase):\n" + body
        self.write(f"tests/{name}.py", source)
        return 'add_test(NAME py.{} COMMAND "{}" -m unittest {} WORKING_DIRECTORY "{}")'.format(
            name, fake.sys.executable, name, os.path.join(self.root, "tests")
        )

    def run_tests(self, *words, code):
        done = self.learn("test", *words, code=code)
        return done, done.stdout.splitlines()[-1] if done.stdout else ""

    def test_all_pass(self):
        self.project(
            "add_test(NAME a COMMAND true)",
            "add_test(NAME b COMMAND true)",
            'add_test(NAME c COMMAND sh -c "exit 77")',
            "set_tests_properties(c PROPERTIES SKIP_RETURN_CODE 77)",
            self.python_suite(
                "suite",
                "    def test_1(self): pass\n    def test_2(self): pass\n"
                "    def test_3(self): self.skipTest('not today')\n",
            ),
        )
        done, closing = self.run_tests(code=0)
        self.assertEqual(closing, "4 passed, 0 failed, 3 skipped")  # c, test_3, and the gpu preset: no nvcc
        self.assertIn("gpu preset: no nvcc here", done.stdout)

    def test_a_failing_test(self):
        self.project(
            "add_test(NAME good COMMAND true)",
            'add_test(NAME bad COMMAND sh -c "echo what went wrong; exit 3")',
        )
        done, closing = self.run_tests(code=1)
        self.assertEqual(closing, "1 passed, 1 failed, 1 skipped")
        self.assertIn("FAILED: bad", done.stdout)
        self.assertIn("what went wrong", done.stdout)

    def test_a_failing_python_suite(self):
        self.project(
            self.python_suite("suite", "    def test_1(self): pass\n    def test_2(self): self.fail('made up')\n")
        )
        done, closing = self.run_tests(code=1)
        self.assertEqual(closing, "1 passed, 1 failed, 1 skipped")
        self.assertIn("AssertionError: made up", done.stdout)

    def test_a_program_that_is_not_there(self):
        self.project("add_test(NAME good COMMAND true)", "add_test(NAME gone COMMAND /no/such/program)")
        done, closing = self.run_tests(code=1)
        self.assertEqual(closing, "1 passed, 1 failed, 1 skipped")
        self.assertIn("FAILED: gone", done.stdout)

    def test_a_timeout(self):
        self.project(
            "add_test(NAME slow COMMAND sleep 60)",
            "set_tests_properties(slow PROPERTIES TIMEOUT 1)",
        )
        done, closing = self.run_tests(code=1)
        self.assertEqual(closing, "0 passed, 1 failed, 1 skipped")
        self.assertIn("FAILED: slow (Timeout)", done.stdout)

    def test_no_test_is_an_error(self):
        self.project("")
        done, _ = self.run_tests(code=1)
        self.assertIn("no test was found", done.stderr)

    def test_a_suite_without_a_test_is_a_failure(self):
        self.project("add_test(NAME good COMMAND true)", self.python_suite("suite", "    pass\n"))
        done, closing = self.run_tests(code=1)
        self.assertEqual(closing, "1 passed, 1 failed, 1 skipped")
        self.assertIn("FAILED: py.suite", done.stdout)

    def test_filters(self):
        self.project(
            "add_test(NAME one COMMAND true)",
            "add_test(NAME two COMMAND false)",
            "set_tests_properties(one PROPERTIES LABELS unit)",
            "add_test(NAME alpha COMMAND true)",
        )
        for words in (("^one$",), ("--label", "unit"), ("on", "--label", "unit"), ("one", "one")):
            self.assertEqual(self.run_tests(*words, code=0)[1], "1 passed, 0 failed, 0 skipped")
        self.assertEqual(self.run_tests("one", "alpha", code=0)[1], "2 passed, 0 failed, 0 skipped")
        for words, said in (
            (["nothing"], "no test matches nothing; ./learn test --list names them\n"),
            (["one", "alhpa"], "no test matches alhpa; did you mean alpha?"),
            (["("], "( is no regular expression"),
            (["--label", "unti"], "no test has the label unti; did you mean unit?"),
            (["--label", "zzz"], "no test has the label zzz; unit"),
            (["two", "--label", "unit"], "no test that matches two has the label unit"),
            (["one", "--all"], "--all takes no pattern and no label"),
        ):
            done, _ = self.run_tests(*words, code=2)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Building", done.stderr)

    def test_list(self):
        self.project("add_test(NAME one COMMAND true)", "set_tests_properties(one PROPERTIES LABELS unit)")
        self.suites("py.a|unit,learn||900|0")
        self.assertEqual(self.learn("test", "--list", code=0).stdout, "one   unit\npy.a  unit, learn\n")
        self.assertEqual(self.learn("test", "--list", "--label", "learn", code=0).stdout, "py.a  unit, learn\n")

    def suites(self, *lines):
        """tests/suites.py in small: its suites pass, but for those named `bad`; each says that it ran."""
        self.write(
            "tests/suites.py",
            f"""\
import sys, types
LINES = {lines!r}
def suites():
    for name, labels, needs, *_ in (line.split("|") for line in LINES):
        yield types.SimpleNamespace(name=name, labels=labels.split(","), needs=list(filter(None, needs.split(","))))
if __name__ == "__main__":
    print("Ran 2 tests in 0.1s\\n\\n" + ("FAILED (failures=1)" if "bad" in sys.argv[2] else "OK"))
    sys.exit("bad" in sys.argv[2])
""",
        )

    def test_a_suite_that_needs_nothing_built_needs_no_cmake(self):
        self.suites("py.good|unit||900|0", "py.bad|unit||900|0", "py.built|unit|made|900|0")
        self.write("CMakeLists.txt", "message(FATAL_ERROR asked)\n")
        self.assertEqual(self.run_tests("py.good", code=0)[1], "2 passed, 0 failed, 0 skipped")
        done, closing = self.run_tests("good", "bad", code=1)
        self.assertEqual(closing, "3 passed, 1 failed, 0 skipped")
        self.assertIn("FAILED: py.bad (exit code 1)", done.stdout)
        self.assertIn("Configuring", self.run_tests("built", code=1)[0].stderr)

    def test_what_is_named_is_all_that_is_built(self):
        self.suites("py.suite|unit|wanted|900|0")
        suite = f'"{fake.sys.executable}" "{self.root}/tests/suites.py" --run py.suite'
        self.project(
            "add_custom_target(wanted ALL COMMAND ${CMAKE_COMMAND} -E touch wanted)",
            "add_custom_target(other ALL COMMAND ${CMAKE_COMMAND} -E touch other)",
            f"add_test(NAME py.suite COMMAND {suite})",
            "add_test(NAME fixture COMMAND false)",
            "set_tests_properties(fixture PROPERTIES FIXTURES_SETUP all_of_it)",
            "set_tests_properties(py.suite PROPERTIES FIXTURES_REQUIRED all_of_it)",
        )
        self.assertEqual(self.run_tests("suite", code=0)[1], "2 passed, 0 failed, 0 skipped")
        made = os.listdir(os.path.join(self.root, "build", "simulator"))
        self.assertEqual(("wanted" in made, "other" in made), (True, False))

    def test_tests_of_programs_that_are_still_to_be_built_have_names_and_labels(self):
        source = self.write("tests/unit.cpp", "TEST(Sectors, OfARow) {}\n")
        self.project(
            "add_test(NAME unit_NOT_BUILT COMMAND true)",
            "add_custom_target(unit)",
            f'file(WRITE ${{CMAKE_BINARY_DIR}}/tests/programs.txt "unit|simt.|simt|{source}\\n")',
        )
        for words in (["^simt[.]Sectors[.]Of"], ["--label", "simt"]):
            found = self.learn("test", "--list", *words, code=0).stdout
            self.assertEqual(found, "simt.Sectors.OfARow  simt\n")
            # Here it is not there after the build either.
            self.assertIn("no test was found", self.run_tests(*words, code=1)[0].stderr)
        for words in (["^lab[.]Sectors"], ["--label", "lab"]):
            self.run_tests(*words, code=2)
        self.project("add_test(NAME newer COMMAND true)")
        self.assertEqual(self.learn("test", "--list", "newer", code=0).stdout, "newer\n")
        os.unlink(source)
        self.run_tests("simt", code=2)

    def test_slow_tests_run_where_they_are_asked_for(self):
        self.project(
            "add_test(NAME one COMMAND true)",
            "add_test(NAME two COMMAND true)",
            "add_test(NAME long COMMAND false)",
            'set_tests_properties(long PROPERTIES LABELS "unit;slow")',
            "set_tests_properties(two PROPERTIES LABELS slower)",
        )
        done, closing = self.run_tests(code=0)
        self.assertEqual(closing, "2 passed, 0 failed, 1 skipped")  # the gpu preset
        self.assertIn("\n1 slow test was left out: ./learn test --all runs everything\n", done.stdout)
        for words, end in (
            (("--all",), "2 passed, 1 failed, 1 skipped"),
            (("long",), "0 passed, 1 failed, 0 skipped"),
            (("--label", "unit"), "0 passed, 1 failed, 0 skipped"),
        ):
            done, closing = self.run_tests(*words, code=1)
            self.assertEqual(closing, end)
            self.assertIn("FAILED: long", done.stdout)
            self.assertNotIn("left out", done.stdout)

    def test_a_build_that_fails(self):
        self.write("CMakeLists.txt", PROJECT + "endif()\nmessage(FATAL_ERROR made-up)\n")
        done, closing = self.run_tests(code=1)
        self.assertEqual(closing, "0 passed, 1 failed, 0 skipped")
        self.assertIn("made-up", done.stderr)

    def test_with_nvcc_the_gpu_preset_must_compile(self):
        self.tool("nvcc", fake.NVCC)
        self.project("add_test(NAME good COMMAND true)")
        done, closing = self.run_tests(code=0)
        self.assertEqual(closing, "1 passed, 0 failed, 0 skipped")  # no GPU: that is slow
        self.assertIn("1 slow test was left out", done.stdout)
        done, closing = self.run_tests("--all", code=0)
        self.assertEqual(closing, "2 passed, 0 failed, 2 skipped")
        self.assertIn("chapters on the GPU: no GPU here", done.stdout)
        text = PROJECT.replace(
            "if(NOT", "if(CMAKE_BINARY_DIR MATCHES gpu)\nmessage(FATAL_ERROR made-up)\nendif()\nif(NOT"
        )
        self.write("CMakeLists.txt", text + "add_test(NAME good COMMAND true)\nendif()\n")
        shutil.rmtree(os.path.join(self.root, "build", "gpu"))
        done, closing = self.run_tests("--all", code=1)
        self.assertEqual(closing, "1 passed, 1 failed, 0 skipped")
        self.assertIn("FAILED: gpu preset", done.stdout)


class Counting(unittest.TestCase):
    """The numbers inside a Python suite."""

    def counted(self, output, failed=0):
        result = test_.Result("py.x", passed=0 if failed else 1, failed=failed, output=output)
        test_.count_suite(result)
        return result.passed, result.failed, result.skipped

    def test_endings(self):
        self.assertEqual(self.counted("Ran 5 tests in 1s\n\nOK\n"), (5, 0, 0))
        self.assertEqual(self.counted("Ran 5 tests in 1s\n\nOK (skipped=2)\n"), (3, 0, 2))
        self.assertEqual(self.counted("Ran 5 tests in 1s\n\nFAILED (failures=1, errors=1)\n", 1), (3, 2, 0))
        self.assertEqual(self.counted("Ran 1 test in 1s\n\nOK (expected failures=1)\n"), (1, 0, 0))
        self.assertEqual(self.counted("Ran 0 tests in 0s\n\nOK\n"), (0, 1, 0))
        self.assertEqual(self.counted("5 passed in 0.10s\n"), (5, 0, 0))
        self.assertEqual(self.counted("2 failed, 2 passed, 1 skipped, 3 subtests passed in 1.2s\n", 1), (2, 2, 1))
        self.assertEqual(self.counted("1 passed, 1 error in 61.00s (0:01:01)\n", 1), (1, 1, 0))
        self.assertEqual(self.counted("no tests ran in 0.01s\n"), (0, 1, 0))
        self.assertEqual(self.counted("no suite at all"), (1, 0, 0))

    def test_a_python_too_old_for_the_site_skips_its_tests_alone(self):
        with (
            mock.patch.object(needs, "OLDEST_SITE_PYTHON", (99, 1)),
            mock.patch.object(install, "venv_is_ready", lambda: False),
        ):
            found = test_.site_packages(machine=None)
        self.assertEqual([(result.name, result.skipped, result.failed) for result in found], [("the site", 1, 0)])
        self.assertIn("need Python 99.1 or later and this is 3.", found[0].reason)

    def test_a_suite_that_dies_after_its_tests_still_fails(self):
        self.assertEqual(self.counted("Ran 5 tests in 1s\n\nOK\n", failed=1), (4, 1, 0))
