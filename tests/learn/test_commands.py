"""Each command, on a made-up checkout: what it calls, what it prints, how it ends."""

import io
import json
import lzma
import os
import resource
import socket
import stat
import subprocess
import tarfile
import time
import urllib.request
from pathlib import Path

import fake

from warp.chapter import freshness, run


class Alone(fake.Checkout):
    def test_where_you_are_and_what_comes_next(self):
        before = self.learn(code=0).stdout
        self.assertIn("no NVIDIA GPU here", before)
        self.assertIn("Chapter 01, First steps: not run yet.", before)
        self.assertIn("Next: ./learn run 01", before)
        self.assertIn("as a site; about 3 minutes on two cores", self.learn("run", "01", code=0).stdout)
        after = self.learn(code=0).stdout
        self.assertIn("Chapter 01, First steps: 1 PASS, 1 SKIP on the simulator.", after)
        self.assertIn("Next: ./learn run 02", after)

    def test_help(self):
        said = self.learn("--version", code=0).stdout
        self.assertEqual(said, "Warp by Warp 1.2.3, a copy without its history\n")
        self.assertIn("takes no argument", self.refused("--version", "now"))
        for words in (("--help",), ("-h",), ("help",)):
            self.assertIn("explain", self.learn(*words, code=0).stdout)
        for words in (("run", "--help"), ("help", "run")):
            self.assertIn("--backend gpu|simulator", self.learn(*words, code=0).stdout)

    def test_unknown_command(self):
        self.assertEqual(self.refused("rnu"), "learn: unknown command 'rnu'; did you mean run?")
        self.assertIn("--help lists", self.refused("qqqqq"))
        self.assertIn("did you mean explain?", self.refused("help", "explian"))
        self.assertIn("did you mean --backend?", self.refused("run", "--backnd", "gpu"))


class Run(fake.Checkout):
    def test_all_chapters_on_the_simulator(self):
        done = self.learn("run", code=0)
        self.assertIn("CHAPTER first_steps --json", done.stdout)
        self.assertIn("CHAPTER matrix --json", done.stdout)
        self.assertIn("commit=unknown", done.stdout)
        self.assertIn("chapter 01, First steps, on the simulator: ok  1 PASS, 1 SKIP", done.stdout)
        self.assertIn("./learn explain 02", done.stdout)
        build = self.calls("--build")
        self.assertEqual(len(build), 1)
        self.assertTrue(build[0].endswith("--target first_steps matrix"), build)

    def test_one_chapter_with_its_options(self):
        done = self.learn("run", "first", "--rung", "two", "--rung", "one", "--size", "77", code=0)
        self.assertRegex(done.stdout, r"CHAPTER first_steps --json \S+ --rung two --rung one --size 77 commit=")
        self.assertNotIn("CHAPTER matrix", done.stdout)
        self.assertIn("./learn explain 01 --rung one", done.stdout)  # two is not in the chapter's source
        self.assertIn("./learn run 02", done.stdout)

    def test_several_sizes_and_cases(self):
        done = self.learn("run", "02", "--size", "5,6,7", "--size", "8,9,10", code=0)
        self.assertIn("--size 5,6,7 --size 8,9,10 commit=", done.stdout)
        done = self.learn("run", "--cases", "0-11", code=0)
        self.assertIn("--cases 0-11 commit=", done.stdout)
        self.assertNotIn("CHAPTER first_steps", done.stdout)
        self.add_chapter("03_map", "Map", ("one", "two"), "1000", "100", kind="map")
        done = self.learn("run", "03", "--cases", "all", code=0)
        self.assertRegex(done.stdout, "CHAPTER map .*--cases all")

    def test_fast(self):
        done = self.learn("run", "01", "--fast", code=0)
        self.assertIn("CHAPTER first_steps_fast ", done.stdout)
        self.assertTrue(self.calls("--build")[0].endswith("--target first_steps_fast"))
        self.assertIn("simulator", self.refused_after_build("run", "--fast", "--backend", "gpu"))

    def refused_after_build(self, *words):
        return self.learn(*words, code=2).stderr

    def test_configures_once(self):
        self.learn("run", "01", code=0)
        self.learn("run", "01", code=0)
        self.assertEqual(len(self.calls("--preset simulator")), 1)
        self.assertIn("-G Ninja", self.calls("--preset")[0])
        self.assertIn("-DBUILD_TESTING=OFF", self.calls("--preset")[0])

    def test_a_moved_checkout_is_configured_afresh(self):
        self.learn("run", "01", code=0)
        cache = os.path.join(self.root, "build", "simulator", "CMakeCache.txt")
        fake.write(cache, "CMAKE_HOME_DIRECTORY:INTERNAL=/somewhere/else\nBUILD_TESTING:BOOL=OFF\n")
        self.learn("run", "01", code=0)
        self.assertIn("--fresh", self.calls("--preset")[1])

    def test_the_gpu_when_there_is_one(self):
        self.add_gpu()
        done = self.learn("run", "01", code=0)
        self.assertIn("on the GPU: ok", done.stdout)
        self.assertEqual(len(self.calls("--preset gpu")), 1)
        self.assertEqual(self.calls("apt-get"), [])
        self.assertIn("on the simulator: ok", self.learn("run", "01", "--backend", "simulator", code=0).stdout)

    def test_a_gpu_without_nvcc(self):
        self.tool("nvidia-smi", fake.NVIDIA_SMI)
        done = self.learn("run", "01", code=0)
        self.assertIn("there is a GPU but no nvcc", done.stderr)
        self.assertIn("on the simulator: ok", done.stdout)

    def test_the_gpu_when_there_is_none(self):
        self.tool("nvcc", fake.NVCC)
        done = self.learn("run", "--backend", "gpu", code=1)
        self.assertIn("no usable NVIDIA GPU", done.stderr)
        self.assertEqual(self.calls(), [])

    def test_json(self):
        file = os.path.join(self.home, "results.json")
        self.learn("run", "01", "--json", file, code=0)
        self.assertEqual(len(fake.load(file)["rows"]), 2)
        folder = os.path.join(self.home, "all")
        os.makedirs(folder)
        self.learn("run", "--json", folder, code=0)
        self.assertEqual(sorted(os.listdir(folder)), ["01_first_steps.json", "02_matrix.json"])

    def test_the_commit_of_a_repository(self):
        os.symlink("/usr/bin/git", os.path.join(self.bin, "git"))
        if not os.path.exists("/usr/bin/git"):
            self.skipTest("no git here")
        self.write(".gitignore", "/build/\n__pycache__/\n")
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        for words in (["init", "-q"], ["add", "."], identity + ["commit", "-q", "-m", "x"]):
            subprocess.run(["git", "-C", self.root, *words], check=True)
        clean = self.learn("run", "01", code=0).stdout
        self.assertRegex(clean, r"commit=[0-9a-f]{7,}\n")
        self.write("docs/requirements.txt", "changed")
        self.assertRegex(self.learn("run", "01", code=0).stdout, r"commit=[0-9a-f]{7,}-dirty\n")

    def test_bad_input_is_told_before_anything_is_built(self):
        self.assertIn("did you mean 01_first_steps?", self.refused("run", "frist_steps"))
        self.assertIn("unknown chapter '99'", self.refused("run", "99"))
        self.assertIn("did you mean one?", self.refused("run", "01", "--rung", "onne"))
        self.assertIn("naive or tiled", self.refused("run", "02", "--rung", "qqq"))
        self.assertIn("'-5' is no size", self.refused("run", "01", "--size", "-5"))
        self.assertIn("'-5' is no size", self.refused("run", "01", "--size=-5"))
        self.assertIn("M,N,K", self.refused("run", "02", "--size", "5"))
        self.assertIn("'x' is no size", self.refused("run", "02", "--size", "5,6,7", "--size", "x"))
        self.assertIn("Kind map or gemm; chapter 01 has none", self.refused("run", "01", "--cases", "all"))
        self.assertIn("gpu or simulator", self.refused("run", "--backend", "cpu"))
        self.assertIn("there is no folder", self.refused("run", "01", "--json", "/no/such/folder/f.json"))
        self.assertIn("name a folder", self.refused("run", "--json", os.path.join(self.home, "one.json")))

    def test_a_chapter_without_a_proper_header(self):
        self.write("chapters/03_bad/bad.cu", "int main() {}\n")
        done = self.learn("run", "03", code=1)
        self.assertIn("bad.cu", done.stderr)
        self.assertEqual(self.calls("--build"), [])
        self.assertIn("bad.cu", self.learn("list", code=1).stdout)

    def test_no_chapter_at_all(self):
        import shutil

        shutil.rmtree(os.path.join(self.root, "chapters"))
        self.assertIn("there is no chapter", self.learn("run", code=1).stderr)
        self.assertIn("there is no chapter", self.learn("list", code=1).stderr)

    def test_from_another_folder_and_through_a_link(self):
        link = os.path.join(self.home, "shortcut")
        os.symlink(os.path.join(self.root, "learn"), link)
        done = subprocess.run([link, "list"], env=self.environment(), cwd=self.home, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("First steps", done.stdout)

    def test_outputs_elsewhere(self):
        elsewhere = os.path.join(self.home, "elsewhere")
        self.learn("run", "01", env={"WARP_BUILD_DIR": elsewhere}, code=0)
        self.assertIn("-B " + os.path.join(elsewhere, "simulator"), self.calls("--preset")[0])
        self.assertFalse(os.path.exists(os.path.join(self.root, "build")))


class OwnFile(fake.Checkout):
    """A checkout, and a CUDA file of the reader's own with its trace."""

    def setUp(self):
        super().setUp()
        self.cu = os.path.join(self.home, "mine.cu")
        fake.write(self.cu, "__global__ void mine(int* a) {\n  a[0] = 1;\n}\nint main() {}\n")
        self.finding = {
            "kind": "out-of-bounds",
            "message": "past the end",
            "file": self.cu,
            "line": 2,
            "block": [0, 0, 0],
            "thread": [1, 0, 0],
        }

    def trace(self, findings=()):
        launch = fake.launch("mine", [fake.line(self.cu, 2, fake.STORED)], findings=list(findings))
        path = os.path.join(self.home, "recorded.json")
        return {"FAKE_TRACE": fake.write_json(path, fake.trace_of([launch]))}


class Explain(OwnFile):
    def test_a_file_of_the_readers_own(self):
        copy = os.path.join(self.home, "copy.json")
        done = self.learn("explain", self.cu, "--json", copy, "--", "--size", "3", "x", env=self.trace(), code=0)
        self.assertIn("CHAPTER mine --size 3 x commit=", done.stdout)  # the program's own output, its arguments
        self.assertIn("Kernel mine", done.stdout)
        self.assertRegex(done.stdout, r"1 +1\.0 +32\.0 \| +2 \|   a\[0\] = 1;")
        self.assertTrue(self.calls("--build")[0].endswith("--target simtcc simt"))
        self.assertEqual(fake.load(copy)["launches"][0]["kernel"], "mine")

    def test_the_build_that_happens_once_says_so(self):
        first = "Building the simulator (only the first time, about a minute on two cores) ..."
        self.assertIn(first, self.learn("explain", self.cu, env=self.trace(), code=0).stderr)
        self.write("build/simulator/common/simt/libsimt.a", "")
        self.assertNotIn("Building the simulator", self.learn("explain", self.cu, env=self.trace(), code=0).stderr)

    def test_a_relative_file_from_its_folder(self):
        done = self.learn("explain", "mine.cu", cwd=self.home, env=self.trace(), code=0)
        self.assertIn(" mine.cu\n", done.stdout)

    def test_findings_mean_exit_code_1(self):
        done = self.learn("explain", self.cu, env=dict(self.trace([self.finding]), FAKE_CHAPTER="86"), code=1)
        self.assertIn("1 finding\n", done.stdout)
        self.assertIn("past the end", done.stdout)
        copy = os.path.join(self.home, "copy.json")
        self.learn("explain", self.cu, "--json", copy, env=self.trace([self.finding]), code=1)
        self.assertTrue(os.path.exists(copy))

    def test_warnings_leave_the_exit_code_alone(self):
        warning = dict(self.finding, kind="uninitialized-global", severity="warning")
        done = self.learn("explain", self.cu, env=self.trace([warning]), code=0)
        self.assertIn("1 warning\n", done.stdout)
        done = self.learn("explain", self.cu, env=dict(self.trace([warning]), FAKE_CHAPTER="7"), code=7)
        self.assertIn("The program ended with exit code 7.", done.stdout)
        both = [warning, dict(self.finding, severity="error")]
        self.learn("explain", self.cu, env=dict(self.trace(both), FAKE_CHAPTER="86"), code=1)

    def test_otherwise_the_programs_own_exit_code(self):
        done = self.learn("explain", self.cu, env=dict(self.trace(), FAKE_CHAPTER="7"), code=7)
        self.assertIn("The program ended with exit code 7.", done.stdout)

    def test_a_program_that_leaves_no_trace(self):
        done = self.learn("explain", self.cu, env={"FAKE_CHAPTER": "crash"}, code=1)
        self.assertIn("ended with SIGSEGV before it wrote a trace", done.stderr)

    def test_an_old_trace_is_not_taken_for_a_new_one(self):
        self.learn("explain", self.cu, env=self.trace(), code=0)
        self.learn("explain", self.cu, env={"FAKE_CHAPTER": "crash"}, code=1)

    def test_a_chapter_and_its_rung(self):
        done = self.learn("explain", "01", "--rung", "one", env=self.trace(), code=0)
        self.assertRegex(done.stdout, r"CHAPTER first_steps --rung one --json \S+rows\.json commit=")
        self.assertIn("Kernel mine", done.stdout)
        path = os.path.join("chapters", "01_first_steps", "first_steps.cu")
        self.assertIn("CHAPTER first_steps ", self.learn("explain", path, env=self.trace(), code=0).stdout)

    def test_one_launch(self):
        self.assertIn("launch 0", self.learn("explain", self.cu, "--launch", "0", env=self.trace(), code=0).stdout)
        wrong = self.learn("explain", self.cu, "--launch", "4", env=self.trace(), code=2)
        self.assertIn("--launch 4: there is no such launch; legal is 0 alone", wrong.stderr)
        self.assertIn("legal is the index", self.refused_line("explain", self.cu, "--launch", "x"))

    def test_a_sample_of_blocks(self):
        for wrong in ("0", "-3", "x"):
            self.assertIn("from 1 up", self.refused_line("explain", self.cu, "--blocks", wrong))

    def refused_line(self, *words):
        return self.learn(*words, code=2).stderr

    def test_a_file_that_does_not_compile(self):
        fake.write(self.cu, "does not compile\n")
        done = self.learn("explain", self.cu, code=1)
        self.assertIn("mine.cu:3:5: error: 'nonsense' was not declared", done.stderr)
        self.assertTrue(done.stderr.endswith("mine.cu does not compile\n"), done.stderr)
        self.assertRegex(done.stderr, r"Compiling \S+mine\.cu \.\.\.\n  failed \(")

    def test_warnings_are_shown(self):
        with open(self.cu, "a") as file:
            file.write("// warns\n")
        self.assertIn("warning: made up", self.learn("explain", self.cu, env=self.trace(), code=0).stderr)

    def test_bad_input(self):
        self.assertIn("did you mean mine.cu?", self.refused("explain", os.path.join(self.home, "mien.cu")))
        self.assertIn("there is no file", self.refused("explain", "/no/such/folder/x.cu"))
        none = self.refused("explain", "saxpy.cu")
        self.assertIn("there is no file saxpy.cu; ./learn new saxpy.cu begins one", none)
        self.assertIn("does not end in .cu", self.refused("explain", "docs/requirements.txt"))
        self.assertIn("is a folder", self.refused("explain", "./docs"))
        self.assertIn("did you mean 01_first_steps?", self.refused("explain", "frist_steps"))
        self.assertIn("one chapter or one file", self.refused("explain"))
        self.assertIn("one chapter or one file", self.refused("explain", "01", "02"))
        self.assertIn("--rung goes with a chapter", self.refused("explain", self.cu, "--rung", "one"))
        self.assertIn("did you mean two?", self.refused("explain", "01", "--rung", "tow"))
        self.assertIn("there is no folder", self.refused("explain", self.cu, "--json", "/no/such/f.json"))
        nowhere = "/no/such/f.html"
        self.assertIn(f"--html {nowhere}: there is no folder", self.refused("explain", self.cu, "--html", nowhere))
        self.assertIn("that is a folder", self.refused("explain", self.cu, "--html", self.home))
        self.assertIn("that is the source", self.refused("explain", self.cu, "--html", self.cu))
        both = os.path.join(self.home, "both")
        words = ("explain", self.cu, "--json", both, "--html", both)
        self.assertIn("that is the file of --json", self.refused(*words))
        self.assertIn("--watch takes no value", self.refused("explain", self.cu, "--watch=1"))
        self.assertIn("did you mean mine.cu?", self.refused("explain", os.path.join(self.home, "mien.cu"), "--watch"))

    def test_a_page(self):
        path = os.path.join(self.home, "report.html")
        done = self.learn("explain", self.cu, "--html", path, env=self.trace([self.finding]), code=1)
        self.assertIn("The same as a page: " + path, done.stdout)
        text = fake.read(path)
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        for words in ("<h1>mine.cu, explained</h1>", "a[0] = 1;", "past the end"):
            self.assertIn(words, text)
        # No page of a launch that is not there.
        other = os.path.join(self.home, "other.html")
        self.learn("explain", self.cu, "--html", other, "--launch", "4", env=self.trace(), code=2)
        self.assertFalse(os.path.exists(other))

    def test_a_page_that_cannot_be_written_after_all(self):
        path = os.path.join(self.home, "full.html")
        os.symlink("/dev/full", path)
        done = self.learn("explain", self.cu, "--html", path, env=self.trace(), code=1)
        self.assertIn(f"--html {path}: cannot be written: ", done.stderr)


class Watch(OwnFile):
    """./learn explain --watch: started, made to explain again by a save, interrupted."""

    def setUp(self):
        super().setUp()
        self.text = os.path.join(self.home, "stdout")
        self.errors = os.path.join(self.home, "stderr")

    def start(self, *words, **env):
        with open(self.text, "wb") as text, open(self.errors, "wb") as errors:
            process = subprocess.Popen(
                self.command("explain", *words, "--watch"),
                env=self.environment(**dict(self.trace(), **env)),
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=text,
                stderr=errors,
            )
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()

    def written(self, path):
        return fake.read(path)

    def wait_for_rounds(self, process, rounds):
        """Until the report was given so many times and the watching goes on."""
        until = time.monotonic() + 120
        while self.written(self.text).count("Watching ") < rounds:
            self.assertIsNone(process.poll(), self.written(self.errors))
            self.assertLess(time.monotonic(), until, self.written(self.text) + self.written(self.errors))
            time.sleep(0.05)
        self.assertEqual(self.written(self.text).count("Watching "), rounds)

    def save(self, text, path=None):
        """As an editor saves: a new file in the place of the old one."""
        path = path or self.cu
        fake.write(path + ".new", text)
        os.replace(path + ".new", path)

    def interrupt(self, process):
        import signal

        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertTrue(self.written(self.errors).endswith("learn: interrupted\n"))
        self.assertNotIn("Traceback", self.written(self.errors))

    def test_explains_again_after_each_save(self):
        page = os.path.join(self.home, "report.html")
        copy = os.path.join(self.home, "copy.json")
        process = self.start(self.cu, "--html", page, "--json", copy)
        self.wait_for_rounds(process, 1)
        self.assertIn("a[0] = 1;", self.written(self.text))
        os.unlink(copy)
        self.save("__global__ void mine(int* a) {\n  a[0] = 22;\n}\nint main() {}\n")
        self.wait_for_rounds(process, 2)
        self.assertIn("a[0] = 22;", self.written(self.text))
        self.assertIn("a[0] = 22;", self.written(page))
        self.assertTrue(os.path.exists(copy))
        time.sleep(1)
        self.wait_for_rounds(process, 2)  # without a save nothing happens
        self.assertNotIn("\x1b", self.written(self.text))
        self.interrupt(process)

    def test_goes_on_after_what_does_not_compile_and_after_findings(self):
        self.save("does not compile\n")
        process = self.start(self.cu, FAKE_CHAPTER="86")
        self.wait_for_rounds(process, 1)
        self.assertIn(f"learn: {self.cu} does not compile\n", self.written(self.errors))
        self.trace([self.finding])
        self.save("__global__ void mine(int* a) {\n  a[0] = 3;\n}\n")
        self.wait_for_rounds(process, 2)
        self.assertIn("1 finding\n", self.written(self.text))
        os.unlink(self.cu)  # gone for a while: no reason to complain
        time.sleep(1)
        self.wait_for_rounds(process, 2)
        self.save("__global__ void mine(int* a) {\n  a[0] = 4;\n}\n")
        self.wait_for_rounds(process, 3)
        self.interrupt(process)

    def test_a_chapters_other_files_count_too(self):
        process = self.start("01")
        self.wait_for_rounds(process, 1)
        self.assertIn("Watching chapters/01_first_steps; Ctrl-C ends.", self.written(self.text))
        self.write("chapters/01_first_steps/notes.txt", "no source")
        time.sleep(1)
        self.wait_for_rounds(process, 1)
        self.write("chapters/01_first_steps/helper.cuh", "// new\n")
        self.wait_for_rounds(process, 2)
        self.interrupt(process)

    def test_ctrl_c_while_the_program_runs(self):
        started = os.path.join(self.home, "started")
        process = self.start(self.cu, FAKE_CHAPTER="sleep", FAKE_STARTED=started)
        until = time.monotonic() + 60
        while not os.path.exists(started):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.interrupt(process)


class List(fake.Checkout):
    def test_chapters_from_their_headers(self):
        text = self.learn("list", code=0).stdout
        self.assertIn("01  First steps", text)
        self.assertIn("What does Matrix ask?", text)
        self.assertIn("2 rungs; size 64,64,64 on a GPU, 32,32,32 on the simulator", text)
        self.assertIn("GPU: no (no NVIDIA GPU here)", text)
        self.assertNotIn("last run", text)
        self.assertEqual(self.calls(), [])

    def test_what_was_run(self):
        self.learn("run", "02", code=0)
        self.assertIn("last run on the simulator: 1 PASS, 1 SKIP", self.learn("list", code=0).stdout)

    def test_a_run_of_some_rungs_does_not_hide_that_of_all(self):
        fail = {"FAKE_CHAPTER": "fail"}
        part = ("run", "02", "--rung", "naive")
        self.learn(*part, code=1, env=fail)
        self.assertIn("last run on the simulator: 1 FAIL, 1 SKIP", self.learn("list", code=0).stdout)
        self.learn("run", "02", code=0)
        self.learn(*part, code=1, env=fail)
        self.learn("run", "02", "--", "--help", code=1, env=fail)
        self.assertIn("last run on the simulator: 1 PASS, 1 SKIP", self.learn("list", code=0).stdout)
        self.assertIn("1 PASS, 1 SKIP on the simulator", self.learn(code=0).stdout)
        self.learn("run", "02", code=1, env=fail)
        self.assertIn("last run on the simulator: 1 FAIL, 1 SKIP", self.learn("list", code=0).stdout)

    def test_a_machine_that_lacks_something(self):
        self.not_installed("cmake")
        self.assertIn("after ./learn setup (missing: CMake 3.25 or newer)", self.learn("list", code=0).stdout)


class Doctor(fake.Checkout):
    def test_everything_named(self):
        self.add_gpu()
        text = self.learn("doctor", code=0).stdout
        for word in ("system", "CPU", "free disk", "Python", "g++", "CMake", "Ninja", "libdw"):
            self.assertIn(word, text)
        for word in ("GoogleTest", "Doxygen", "venv", "driver", "ncu", "compute-sanitizer", "gdb", "Chromium"):
            self.assertIn(word, text)
        self.assertIn("NVIDIA H200, compute capability 9.0", text)
        self.assertRegex(text, r"nvcc +13\.0")
        self.assertIn("yes run chapters on the GPU", text)

    def test_missing_and_too_old(self):
        self.not_installed("g++")
        done = self.learn("doctor", env={"FAKE_CMAKE_VERSION": "3.22.1"}, code=1)
        self.assertRegex(done.stdout, r"g\+\+ 12 or newer +missing")
        self.assertIn("3.22.1 (too old)", done.stdout)
        self.assertIn("apt-get install -y g++\n", done.stdout)
        self.assertRegex(done.stdout, r"3\.22\.1 \(too old\)\n.*\n +get it: \./learn setup\n")
        self.assertRegex(done.stdout, r"no +run chapters on the simulator: missing: g\+\+ 12 or newer, CMake")
        self.assertEqual(self.calls("apt-get"), [])

    def test_json(self):
        state = json.loads(self.learn("doctor", "--json", code=0).stdout)
        self.assertIsNone(state["can"]["run chapters on the simulator"])
        self.assertEqual(state["can"]["run chapters on the GPU"], "no GPU")
        rows = {row["name"]: row for row in state["rows"]}
        self.assertEqual(rows["g++ 12 or newer"]["found"], "12.2.0")
        self.assertEqual(rows["GPU"]["state"], "optional")
        self.assertTrue(rows["GPU"]["cost"])
        self.not_installed("ninja")
        self.assertIn("Ninja", self.learn("doctor", "--json", code=1).stdout)


class Docs(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.ready_venv()
        self.tool("doxygen", "#!/bin/sh\necho 1.9.4\n")
        self.write(
            "tools/warp/site/build.py",
            fake.text(
                """
                import os, sys
                print("building")
                if os.environ.get("FAKE_DOCS") == "fails":
                    print("WARNING: made up")
                    sys.exit(1)
                page = os.path.join("build", "docs", "html", "index.html")
                if "--only" in sys.argv:
                    page = os.path.join("build", "docs", "alone", "html", "chapters", sys.argv[2] + ".html")
                os.makedirs(os.path.dirname(page), exist_ok=True)
                with open(page, "w") as file:
                    file.write("the site")
                """
            ),
        )

    def test_built(self):
        done = self.learn("docs", code=0)
        self.assertIn("The site takes about 3 minutes on two cores the first time", done.stderr)
        self.assertIn("build/docs/html/index.html", done.stdout)
        self.assertNotIn("The site takes", self.learn("docs", code=0).stderr)
        self.assertTrue(
            self.calls("--build")[0].endswith("--target first_steps matrix microkernels agreement simtcc simt")
        )

    def test_one_chapter_alone(self):
        self.assertIn("unknown chapter", self.refused("docs", "99"))
        for words in (("1", "2"), ("2", "--pdf")):
            self.assertIn("docs takes one chapter", self.refused("docs", *words))
        done = self.learn("docs", "2", code=0)
        self.assertIn("build/docs/alone/html/chapters/02_matrix.html", done.stdout)
        self.assertIn("./learn docs 02 --serve", done.stdout)
        self.assertNotIn("The site takes", done.stderr)
        self.assertTrue(self.calls("--build")[0].endswith("--target matrix"))

    def test_a_build_that_fails(self):
        done = self.learn("docs", env={"FAKE_DOCS": "fails"}, code=1)
        self.assertIn("WARNING: made up", done.stderr)
        self.assertIn("build/logs/docs.log", done.stderr)

    def test_what_is_kept_is_not_built(self):
        for main in sorted(Path(self.root, "chapters").glob("*/*.cu")):
            stamp = json.dumps({"code": freshness.code_of(main)}).encode()
            (main.parent / "results").mkdir(exist_ok=True)
            with tarfile.open(main.parent / "results" / run.KEPT, "w:xz") as archive:
                member = tarfile.TarInfo("stamp.json")
                member.size = len(stamp)
                archive.addfile(member, io.BytesIO(stamp))
        tests = Path(self.root, "tests", "simulator")
        tests.mkdir(parents=True)
        kept = {"code": run.code_of_launches(tests), "launches": {}}
        (tests / "simulated.json.xz").write_bytes(lzma.compress(json.dumps(kept).encode()))
        self.learn("docs", code=0)
        self.assertEqual(self.calls("--build"), [])
        main.write_text(main.read_text() + "int more;\n")
        self.learn("docs", code=0)
        self.assertTrue(self.calls("--build")[0].endswith("--target matrix simtcc simt"))

    def test_bad_ports(self):
        self.assertIn("goes with --serve", self.refused("docs", "--port", "8000"))
        for port in ("0", "65536", "x", "-1"):
            self.assertIn("1 ... 65535", self.refused("docs", "--serve", "--port", port))

    def test_served_until_interrupted(self):
        import signal

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(
            self.command("docs", "--serve", "--port", str(port)),
            env=self.environment(),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            for line in server.stdout:
                if "Serving" in line:
                    break
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as page:
                self.assertEqual(page.read(), b"the site")
            busy = self.learn("docs", "--serve", "--port", str(port), code=1)
            self.assertIn("--port 8001", busy.stderr)
        finally:
            server.send_signal(signal.SIGINT)
            _, error = server.communicate(timeout=60)
        self.assertEqual(server.returncode, 0)
        self.assertNotIn("Traceback", error)


class Launcher(fake.Checkout):
    def test_it_is_executable(self):
        self.assertTrue(os.stat(os.path.join(fake.ROOT, "learn")).st_mode & stat.S_IXUSR)

    def test_starts_in_under_a_tenth_of_a_second(self):
        def computed():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        # Time on a core, and the best of many: a busy machine delays a start, nothing makes one too fast.
        for words in (
            (),
            ("--help",),
            ("path",),
            ("completion", "bash"),
            ("__complete", "2", "--", "learn", "run", "0"),
        ):
            times = []
            while len(times) < 60 and min(times, default=1) >= 0.1:
                before = computed()
                self.learn(*words, code=0)
                times.append(computed() - before)
            self.assertLess(min(times), 0.1, words)

    def test_an_old_python_is_told_or_replaced(self):
        old = os.path.join(self.home, "old.py")
        with open(os.path.join(self.root, "tools", "warp", "__main__.py")) as file:
            source = file.read()
        fake.write(old, source.replace("sys.version_info < OLDEST", "True").replace("os.execv", "print"))
        env = self.environment(PATH="/nowhere")
        done = subprocess.run([fake.sys.executable, old, "list"], env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs Python 3.9 or later", done.stderr)
        newer = os.path.join(self.bin, "python3")
        os.symlink(fake.sys.executable, newer)
        done = subprocess.run(
            [fake.sys.executable, old, "list"], env=self.environment(), capture_output=True, text=True
        )
        self.assertIn(newer, done.stdout)
