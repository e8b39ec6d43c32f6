"""./learn new: a program of one's own that is right as it stands, and a chapter that is its folder."""

import os
import shutil
import subprocess
import tempfile
import unittest

import fake

BINARIES = os.environ.get("WARP_BINARY_DIR") or os.path.join(fake.ROOT, "build", "simulator")
SIMTCC = os.path.join(BINARIES, "bin", "simtcc")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


class Files(fake.Checkout):
    def text(self, *path):
        with open(os.path.join(self.root, *path), encoding="utf-8") as file:
            return file.read()

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
        self.write(".gitignore", "/build/\n__pycache__/\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")
        done = self.learn("new", "chapter", "13_stencils", code=0)
        self.assertIn("Nothing outside of it was touched", done.stdout)
        touched = [line[3:] for line in self.git("status", "--porcelain", "-uall").splitlines()]
        self.assertEqual(touched, ["chapters/13_stencils/stencils.cu", "chapters/13_stencils/test_stencils.py"])
        text = self.text("chapters", "13_stencils", "stencils.cu")
        self.assertTrue(text.startswith("// # Chapter 13: Stencils\n"))
        self.assertIn("// Builds on: 02_matrix\n", text)
        self.assertNotIn("@", text + self.text("chapters", "13_stencils", "test_stencils.py"))
        self.assertIn("13  Stencils", self.learn("list", code=0).stdout)
        self.learn("run", "13", "--backend", "simulator", code=0)
        self.assertEqual(len(self.git("status", "--porcelain", "-uall").splitlines()), 2)

    def test_what_is_refused(self):
        for words in ((), ("my.cpp",), ("my.cu", "your.cu"), ("chapter",), ("chapter", "13_a", "14_b")):
            self.assertIn("legal is ./learn new my.cu, or ./learn new chapter 13_stencils", self.refused("new", *words))
        for name in ("stencils", "3_stencils", "13_Stencils", "13_", "13-stencils", "../13_stencils"):
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
        with open(self.source, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(self.source, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new) if old else text)
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


if __name__ == "__main__":
    unittest.main()
