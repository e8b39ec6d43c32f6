"""./learn new: a program of one's own that is right as it stands, and a chapter that is its folder."""

import os
import shutil
import subprocess
import tempfile
import unittest

import fake

import suites

SIMTCC = str(suites.SIMULATOR / "bin" / "simtcc")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


class Files(fake.Checkout):
    def text(self, *path):
        return fake.read(os.path.join(self.root, *path))

    def git(self, *words):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": self.home}
        done = subprocess.run(
            ["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *words],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        return done.stdout

    def commit_all(self):
        self.write(".gitignore", "/build/\n__pycache__/\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")

    def touched(self):
        return [line[3:] for line in self.git("status", "--porcelain", "-uall").splitlines()]

    def test_a_program(self):
        done = self.learn("new", "my.cu", code=0)
        self.assertIn("./learn explain my/my.cu", done.stdout)
        text = self.text("my", "my.cu")
        self.assertNotIn("@", text)
        for call in (
            "cudaMalloc(",
            "cudaMemcpyHostToDevice",
            "saxpy<<<blocks, threads>>>(",
            "cudaGetLastError()",
            "cudaDeviceSynchronize()",
            "cudaMemcpyDeviceToHost",
            "cudaFree(",
        ):
            self.assertIn(call, text)
        self.assertIn("my/my.cu exists already", self.refused("new", "my.cu"))
        self.assertEqual(self.text("my", "my.cu"), text)
        self.learn("new", "programs-of-mine.cu", cwd=self.home, code=0)
        self.assertTrue(os.path.exists(os.path.join(self.home, "programs-of-mine.cu")))
        # In a folder of the course into my/, too; within my/ and where a folder is named, there.
        self.learn("new", "second.cu", cwd=os.path.join(self.root, "chapters"), code=0)
        os.makedirs(os.path.join(self.root, "my", "own"))
        self.learn("new", "third.cu", cwd=os.path.join(self.root, "my", "own"), code=0)
        self.learn("new", "./fourth.cu", code=0)
        for path in ("my/second.cu", "my/own/third.cu", "fourth.cu"):
            self.assertTrue(os.path.exists(os.path.join(self.root, path)), path)

    def test_without_a_name_it_is_run_and_counted(self):
        launch = fake.launch("saxpy", [fake.line(os.path.join(self.root, "my", "first.cu"), 22, fake.STORED)])
        trace = {"FAKE_TRACE": fake.write_json(os.path.join(self.home, "t.json"), fake.trace_of([launch]))}
        chapter = os.path.join("chapters", "01_first_steps", "first_steps.cu")
        told = self.text(chapter).replace("#include", "// A GPU has many threads.\n//\n// ## 1. More\n\n#include", 1)
        self.write(chapter, told)
        done = self.learn("new", env=trace, code=0)
        for words in (
            "my/first.cu is a whole CUDA program, and yours",
            "Meanwhile, read my/first.cu from the top",
            "  A GPU has many threads.\n",
            "It goes on in chapters/01_first_steps/first_steps.cu",
            "Kernel saxpy",
            "./learn explain my/first.cu",
        ):
            self.assertIn(words, done.stdout)
        self.assertLess(done.stdout.index("Meanwhile"), done.stdout.index("Kernel saxpy"))
        with open(os.path.join(self.root, "my", "first.cu"), "a", encoding="utf-8") as file:
            file.write("// mine\n")
        self.write("build/simulator/common/simt/libsimt.a", "")
        again = self.learn("new", env=trace, code=0)
        self.assertNotIn("Meanwhile", again.stdout)
        self.assertIn("// mine\n", self.text("my", "first.cu"))

    def test_without_the_simulator_nvcc_runs_it(self):
        self.add_gpu()
        self.tool("nvcc", '#!/bin/sh\nprintf "#!/bin/sh\\necho ran\\n" >"$4" && /bin/chmod +x "$4"\n')
        text = (
            "import sys; sys.path.insert(0, {!r})\n"
            "from warp.cli import main as cli\n"
            "from warp.base import install, needs\n"
            "needs.LIBDW.seen = lambda machine: ''\n"
            "install.may_install = lambda: False\n"
            "sys.exit(cli.main(['new']))\n"
        ).format(os.path.join(self.root, "tools"))

        def run(**env):
            command = [fake.sys.executable, "-c", text]
            return subprocess.run(command, cwd=self.root, env=self.environment(**env), capture_output=True, text=True)

        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nran\n", done.stdout)
        self.assertIn("with nvcc, as the simulator lacks libdw", done.stderr)
        self.assertEqual(self.calls("--build"), [])
        os.unlink(os.path.join(self.bin, "nvcc"))
        done = run()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the simulator lacks libdw, and there is no GPU with nvcc here", done.stderr)

    def test_a_program_in_my_is_found_by_its_name(self):
        self.learn("new", "first.cu", code=0)
        self.assertIn("there is no file first.cu here; did you mean my/first.cu?", self.refused("explain", "first.cu"))

    def test_its_command_for_nvcc_works_beside_the_folder_of_the_exercises(self):
        self.learn("new", "my.cu", code=0)
        # What counts is where nvcc shall write to.
        self.tool("nvcc", '#!/bin/sh\nprintf "#!/bin/sh\\necho ran $4\\n" >"$3" && /bin/chmod +x "$3"\n')
        command = next(line for line in self.text("my", "my.cu").split("\n") if "nvcc" in line).partition("nvcc")[2]
        done = subprocess.run("nvcc" + command, shell=True, cwd=self.root, env=self.environment(), capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, b"ran my/my.cu\n"), done.stderr)

    def test_a_chapter_is_its_folder(self):
        self.commit_all()
        done = self.learn("new", "chapter", "21_histograms", code=0)
        self.assertIn("Nothing outside of it was touched", done.stdout)
        self.assertEqual(
            self.touched(), ["chapters/21_histograms/histograms.cu", "chapters/21_histograms/test_histograms.py"]
        )
        text = self.text("chapters", "21_histograms", "histograms.cu")
        self.assertTrue(text.startswith("// # Chapter 21: Histograms\n"))
        self.assertIn("// Builds on: 02_matrix\n", text)
        self.assertNotIn("@", text + self.text("chapters", "21_histograms", "test_histograms.py"))
        self.assertIn("21  Histograms", self.learn("list", code=0).stdout)
        self.learn("run", "21", "--backend", "simulator", code=0)
        self.assertEqual(len(self.touched()), 2)

    def test_an_exercise_is_four_files(self):
        self.commit_all()
        said = self.learn("author", "new-exercise", "one_more", "--chapter", "02", code=0).stdout
        folder = "exercises/02_matrix"
        names = ("check/one_more.cu", "check/one_more.diff", "one_more.cu", "one_more.md")
        self.assertEqual(self.touched(), [f"{folder}/{name}" for name in names])
        for name in self.touched():
            self.assertIn(name + "\n", said)
            self.assertNotIn("@T", self.text(name))
        self.assertTrue(
            self.text(folder, "one_more.cu").startswith("// # One more\n//\n// Kind: fill in\n// Level: 1\n")
        )
        self.learn("author", "new-exercise", "another", "--chapter", "matrix", code=0)
        self.assertIn("// Level: 2\n", self.text(folder, "another.cu"))
        self.assertIn("one_more", self.learn("list", code=0).stdout)
        for words, said in (
            (("one_more", "--chapter", "01"), "there is an exercise 02_matrix/one_more already"),
            (("One-more", "--chapter", "02"), "'One-more' is no name of an exercise"),
            (("third", "--chapter", "09"), "unknown chapter '09'"),
        ):
            self.assertIn(said, self.refused("author", "new-exercise", *words))

    def test_what_is_refused(self):
        for words in (("my.cpp",), ("my.cu", "your.cu"), ("chapter",), ("chapter", "13_a", "14_b")):
            self.assertIn(
                "legal is ./learn new, ./learn new my.cu, or ./learn new chapter 21_histograms",
                self.refused("new", *words),
            )
        for name in ("histograms", "3_histograms", "21_Histograms", "21_", "21-histograms", "../21_histograms"):
            self.assertIn("is no name of a chapter", self.refused("new", "chapter", name))
        for name in ("01_other", "13_matrix"):
            self.assertIn("already", self.refused("new", "chapter", name))
        self.assertIn("there is no folder nowhere", self.refused("new", "nowhere/my.cu"))
        self.assertIn("is no name for a program", self.refused("new", "my program.cu"))
        self.write("my/my.cu", "mine")
        self.assertIn("exists already", self.refused("new", "my.cu"))
        self.assertEqual(self.text("my", "my.cu"), "mine")


class Compiled(unittest.TestCase):
    """The program as it is written compiles, runs, and notices what is wrong with it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="learn-new-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.source = os.path.join(self.folder, "my.cu")
        subprocess.run([os.path.join(fake.ROOT, "learn"), "new", self.source], check=True, stdout=subprocess.DEVNULL)

    def run_simulated(self, old="", new=""):
        text = fake.read(self.source)
        self.assertIn(old, text)
        fake.write(self.source, text.replace(old, new) if old else text)
        program = os.path.join(self.folder, "my")
        built = subprocess.run([SIMTCC, self.source, "-o", program], capture_output=True, text=True)
        self.assertEqual((built.returncode, built.stdout + built.stderr), (0, ""))
        return subprocess.run([program], capture_output=True, text=True)

    @unittest.skipUnless(os.path.exists(SIMTCC), "simtcc is not built")
    def test_on_the_simulator(self):
        done = self.run_simulated()
        self.assertEqual(
            (done.returncode, done.stdout, done.stderr), (0, "PASS: 10007 of 10007 elements are right\n", "")
        )

    @unittest.skipUnless(os.path.exists(SIMTCC), "simtcc is not built")
    def test_a_missing_guard_is_found(self):
        self.assertIn("out-of-bounds", self.run_simulated("if (i < n) ").stderr)

    @unittest.skipUnless(os.path.exists(SIMTCC), "simtcc is not built")
    def test_a_wrong_result_is_found(self):
        done = self.run_simulated("a * x[i] + y[i];  // the last", "a * x[i];  // the last")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAIL: ", done.stdout)

    @unittest.skipUnless(NVCC, "nvcc is not here")
    def test_with_nvcc(self):
        command = [NVCC, "-std=c++17", "-Xcompiler=-Wall,-Wextra", "-o", os.path.join(self.folder, "my"), self.source]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
