"""Installing: what is missing comes through apt-get, or one line says what to type."""

import os
import pty
import shutil
import subprocess
import sys
import unittest

import fake

NOBODY = 65534


class Setup(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.ready_venv()
        self.tool("doxygen", "#!/bin/sh\necho 1.9.4\n")

    def test_nothing_to_do(self):
        done = self.learn("setup", code=0)
        self.assertIn("nothing to install", done.stdout)
        self.assertEqual(self.calls("apt-get"), [])
        self.assertIn("Next: ./learn run", done.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "installing without sudo needs root")
    def test_missing_tools_are_installed_once(self):
        self.not_installed("g++")
        self.not_installed("ninja")
        done = self.learn("setup", code=0)
        self.assertIn("missing: g++ 12 or newer, Ninja or Make", done.stdout)
        install = self.calls(" install ")
        self.assertEqual(len(install), 1)
        self.assertIn("g++ ninja-build", install[0])
        self.learn("setup", code=0)
        self.assertEqual(len(self.calls(" install ")), 1)

    @unittest.skipUnless(os.geteuid() == 0, "installing without sudo needs root")
    def test_a_package_that_does_not_bring_what_only_some_tests_need(self):
        for program in ("gdb", "clang-format", "zsh"):
            self.tool(program, "#!/bin/sh\n")
        self.tool("chromium-browser", "#!/bin/sh\necho 'requires the chromium snap to be installed'\nexit 1\n")
        done = self.learn("setup", "--all", code=0)
        self.assertTrue(self.calls(" install ")[0].endswith(" chromium"))
        self.assertIn(" did not bring Chromium: the site's tests in a browser are skipped\n", done.stderr)
        self.assertIn("Next: ./learn run", done.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "installing without sudo needs root")
    def test_every_command_installs_what_it_needs(self):
        self.not_installed("cmake")
        self.assertIn("CHAPTER", self.learn("run", "01", code=0).stdout)
        self.assertEqual(len(self.calls(" install ")), 1)

    @unittest.skipUnless(os.geteuid() == 0, "installing without sudo needs root")
    def test_no_network(self):
        self.not_installed("g++")
        done = self.learn("run", "01", env={"FAKE_APT": "offline"}, code=1)
        last = done.stderr.splitlines()[-1]
        self.assertIn("missing: g++ 12 or newer", last)
        self.assertIn("To install: apt-get update && apt-get install -y g++", last)
        self.assertIn("Temporary failure resolving", done.stderr)
        self.assertEqual(self.calls("--build"), [])

    @unittest.skipUnless(os.geteuid() == 0, "installing without sudo needs root")
    def test_a_cmake_that_is_too_old(self):
        old = {"FAKE_CMAKE_VERSION": "3.22.1"}
        python = os.path.join(self.root, "build", "venv", "bin", "python3")
        os.unlink(python)
        self.tool(
            "python3", "#!/bin/sh\necho 'Temporary failure in name resolution'\nexit 1\n", os.path.dirname(python)
        )
        done = self.learn("run", "01", env=old, code=1)
        self.assertIn("missing: CMake 3.25 or newer; this system's is older, and pip could not", done.stderr)
        self.assertIn("Temporary failure", done.stderr)
        # one from PyPI, in build/venv, and nothing else changes
        newer = '#!/bin/sh\nFAKE_CMAKE_VERSION= exec @BIN@/cmake "$@" -DFROM_PYPI\n'
        self.tool("newer", newer, self.home)
        os.unlink(python)
        bring = f'#!/bin/sh\necho "pip $*" >>@CALLS@\ncp {self.home}/newer {os.path.dirname(python)}/cmake\n'
        self.tool("python3", bring, os.path.dirname(python))
        self.assertIn("CHAPTER", self.learn("run", "01", env=old, code=0).stdout)
        self.assertIn("CHAPTER", self.learn("run", "01", env=old, code=0).stdout)
        self.assertEqual([call.split()[-1] for call in self.calls("pip -m pip install")], ["cmake==3.31.10"])
        self.assertTrue(all("-DFROM_PYPI" in call for call in self.calls("cmake --")), self.calls("cmake --"))

    def test_machine_code_without_a_toolkit(self):
        """setup --sass brings nvcc and the disassembler, each only where it is missing."""
        python = os.path.join(self.root, "build", "venv", "bin", "python3")
        folder = os.path.join(self.root, "build", "venv", "lib", "python3.9", "site-packages", "nvidia", "cu13", "bin")
        os.makedirs(folder)
        os.unlink(python)
        self.tool(
            "python3", "#!/bin/sh\necho 'Temporary failure in name resolution'\nexit 1\n", os.path.dirname(python)
        )
        done = self.learn("setup", "--sass", code=1)
        self.assertIn(
            "missing: nvcc; pip could not install it (no network?). To install: pip install nvidia-", done.stderr
        )
        self.tool("made", "#!/bin/sh\n", self.home)
        os.unlink(python)
        bring = f"""#!/bin/sh
echo "$*" >>@CALLS@
case "$*" in *nvdisasm*) made="nvdisasm cuobjdump" ;; *) made=nvcc ;; esac
for name in $made; do cp {self.home}/made {folder}/$name; done
"""
        self.tool("python3", bring, os.path.dirname(python))
        for calls in (2, 2):  # the second time nothing is missing
            done = self.learn("setup", "--sass", code=0)
            self.assertIn(f"nvcc: {folder}/nvcc\nnvdisasm: {folder}/nvdisasm\n", done.stdout)
            self.assertEqual(len(self.calls("pip install")), calls, self.calls())
        # one of the toolkit goes first
        self.add_gpu()
        self.assertIn(f"nvcc: {self.bin}/nvcc\n", self.learn("setup", "--sass", code=0).stdout)

        def has_disassembler_after(option):
            for name in ("nvdisasm", "cuobjdump"):
                os.unlink(os.path.join(folder, name))
            self.learn("setup", *option, code=0)
            return os.path.exists(os.path.join(folder, "nvdisasm"))

        for program in ("gdb", "clang-format", "zsh", "chromium"):
            self.tool(program, "#!/bin/sh\n")
        self.assertTrue(has_disassembler_after(["--all"]))  # for the tests of what this nvcc makes
        self.assertFalse(has_disassembler_after([]))

    @unittest.skipUnless(os.geteuid() == 0, "installing without sudo needs root")
    def test_a_gxx_that_is_too_old(self):
        self.tool("g++", "#!/bin/sh\necho 11.4.0\n")
        self.tool("g++-12", "#!/bin/sh\necho 12.3.0\n")
        self.tool("cmake", fake.CMAKE.replace('"cmake $*"', '"cmake $* CXX=$CXX"'))
        self.not_installed("g++-12")
        self.assertIn("CHAPTER", self.learn("run", "01", code=0).stdout)
        self.assertTrue(self.calls(" install ")[0].endswith(" g++-12"))
        self.assertIn("CXX=g++-12", self.calls("--preset")[0])

    def test_other_distributions(self):
        self.not_installed("g++")
        self.not_installed("ninja")
        os.unlink(os.path.join(self.bin, "apt-get"))
        sudo = "" if os.geteuid() == 0 else "sudo "
        for manager, command in (
            ("zypper", "zypper install -y gcc-c++ ninja"),
            ("pacman", "pacman -Syu --needed gcc ninja"),
            ("dnf", "dnf install -y gcc-c++ ninja-build"),
        ):
            self.tool(manager, "#!/bin/sh\nexit 1\n")
            done = self.learn("run", "01", code=1)
            self.assertEqual(
                done.stderr.splitlines()[-1],
                f"learn: missing: g++ 12 or newer, Ninja or Make. To install: {sudo}{command}",
            )
            self.assertIn(sudo + command.replace(" ninja-build", "").replace(" ninja", ""), self.learn("doctor").stdout)

    def test_no_apt(self):
        self.not_installed("g++")
        os.unlink(os.path.join(self.bin, "apt-get"))
        done = self.learn("run", "01", code=1)
        self.assertIn("has no apt-get", done.stderr)
        self.assertIn("g++", done.stderr)


class Compilers(fake.Checkout):
    """What CXX may name."""

    def setUp(self):
        super().setUp()
        self.tool("g++-13", "#!/bin/sh\necho 13.2.0\n")
        self.tool("ccache", '#!/bin/sh\nexec "$@"\n')
        self.tool("clang++", "#!/bin/sh\necho 'clang: error: no input files'\nexit 1\n")
        self.tool("cmake", fake.CMAKE.replace('"cmake $*"', '"cmake $* CXX=$CXX with=$CMAKE_CXX_COMPILER_LAUNCHER"'))

    def configured(self, compiler):
        """How CMake was called, and what the reader was told."""
        shutil.rmtree(os.path.join(self.root, "build"), ignore_errors=True)
        open(self.calls_file, "w", encoding="utf-8").close()
        done = self.learn("run", "01", env={"CXX": compiler}, code=0)
        self.assertEqual(self.calls("apt-get"), [])
        return self.calls("--preset")[0], done.stderr

    def test_a_gxx_with_its_options(self):
        for named in ("g++", "g++-13", "g++ -m64", os.path.join(self.bin, "g++-13") + " -pipe"):
            call, said = self.configured(named)
            self.assertIn(f"CXX={named} with=", call)
            self.assertNotIn("CXX", said)

    def test_a_launcher_goes_where_cmake_wants_it(self):
        call, said = self.configured("ccache g++-13 -m64")
        self.assertTrue(call.endswith("CXX=g++-13 -m64 with=ccache"), call)
        self.assertNotIn("CXX", said)

    def test_no_gxx(self):
        for named in ("clang++", "ccache clang++", "no-such-compiler", "g++ 'unbalanced"):
            call, said = self.configured(named)
            self.assertTrue(call.endswith("CXX=g++ with="), call)
            if "g++ " not in named:
                self.assertIn(f"learn: CXX is '{named}', which is no g++; taking g++", said)


# A Python that takes this machine for another one.
ELSEWHERE = """\
#!/bin/sh
exec {python} -c 'import platform, runpy, sys
platform.system, platform.machine = lambda: "{system}", lambda: "{processor}"
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
"""


class Machines(fake.Checkout):
    """Machines that the simulator does not run on: one clear line, and nothing is installed or built."""

    MACHINES = (
        ("Linux", "aarch64", "this machine has a processor aarch64. With an NVIDIA GPU, nvcc and g++: --backend gpu"),
        ("Darwin", "arm64", "this machine is macOS on arm64. Use a machine with Linux on x86-64"),
        ("Darwin", "x86_64", "this machine is macOS on x86_64. Use a machine with Linux on x86-64"),
        ("Windows", "AMD64", "this machine is Windows on AMD64. In Windows, run ./learn in WSL 2"),
    )

    def on(self, system, processor):
        """The environment of a ./learn there."""
        script = ELSEWHERE.format(python=sys.executable, system=system, processor=processor)
        self.tool("elsewhere", script, self.home)
        return {"WARP_PYTHON": os.path.join(self.home, "elsewhere")}

    def test_one_line(self):
        self.not_installed("g++")
        self.write("own.cu", "int main() {}\n")
        for system, processor, end in self.MACHINES:
            there = self.on(system, processor)
            for words in (("run", "01"), ("run",), ("explain", "own.cu"), ("test",), ("setup",)):
                with self.subTest(machine=f"{system} {processor}", command=words):
                    done = self.learn(*words, env=there, code=1)
                    self.assertEqual(
                        done.stderr.splitlines(), ["learn: the simulator runs on Linux on x86-64 alone; " + end]
                    )
        self.assertEqual(self.calls("apt-get") + self.calls("cmake"), [])

    def test_the_doctor_says_so(self):
        done = self.learn("doctor", env=self.on("Linux", "aarch64"))
        self.assertIn("the simulator runs on Linux on x86-64 alone; this machine has a processor aarch64", done.stdout)
        self.assertNotIn("x86-64", self.learn("doctor", env=self.on("Linux", "x86_64")).stdout)

    def test_what_needs_no_simulator_runs(self):
        done = self.learn("list", env=self.on("Darwin", "arm64"), code=0)
        self.assertIn("01", done.stdout)

    def test_a_gpu_on_arm(self):
        self.add_gpu()
        done = self.learn("run", "01", env=self.on("Linux", "aarch64"), code=0)
        self.assertIn("CHAPTER", done.stdout)


class WithoutRights(fake.Checkout):
    """As an ordinary user: root becomes nobody for these."""

    def setUp(self):
        super().setUp()
        self.not_installed("g++")
        self.user = {}
        if os.geteuid() == 0:
            for folder, folders, files in os.walk(self.home):
                for name in [folder] + [os.path.join(folder, f) for f in folders + files]:
                    os.lchown(name, NOBODY, NOBODY)
            self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            try:
                readable = subprocess.run([sys.executable, "-c", ""], capture_output=True, **self.user).returncode == 0
            except PermissionError:
                readable = False
            if not readable:
                self.skipTest("this Python lies where an ordinary user cannot read it")

    def test_one_line_with_the_command(self):
        done = self.learn("run", "01", code=1, **self.user)
        self.assertEqual(
            done.stderr.splitlines(),
            [
                "learn: missing: g++ 12 or newer; no right to install here. "
                "To install: sudo apt-get update && sudo apt-get install -y g++"
            ],
        )
        self.assertEqual(self.calls("apt-get"), [])

    def test_with_sudo(self):
        self.tool("sudo", '#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n')
        done = self.learn("run", "01", code=0, **self.user)
        self.assertIn("CHAPTER first_steps", done.stdout)
        self.assertEqual(len(self.calls(" install ")), 1)

    def test_sudo_that_wants_a_password_without_a_terminal(self):
        self.tool("sudo", "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
        done = self.learn("run", "01", code=1, **self.user)
        self.assertIn("no right to install here", done.stderr)


@unittest.skipUnless(os.geteuid() == 0, "installing without sudo needs root")
class Asked(fake.Checkout):
    """At a terminal a reader is asked before their system is changed."""

    def setUp(self):
        super().setUp()
        self.ready_venv()
        self.not_installed("g++")

    def answer(self, text, *words):
        """(exit code, what stands on the terminal) of a command whose question is answered so."""
        main, side = pty.openpty()
        process = subprocess.Popen(
            self.command(*words), env=self.environment(), cwd=self.root, stdin=side, stdout=side, stderr=side
        )
        os.close(side)
        os.write(main, text.encode())
        written = b""
        try:
            while chunk := os.read(main, 65536):
                written += chunk
        except OSError:
            pass
        os.close(main)
        return process.wait(timeout=60), written.decode()

    def test_yes_is_the_default(self):
        code, text = self.answer("\n", "run", "01")
        self.assertEqual(code, 0, text)
        self.assertIn("learn: missing: g++ 12 or newer", text)
        self.assertEqual(text.count("[Y/n]"), 1)
        self.assertIn("Run apt-get update && apt-get install -y g++? [Y/n]", text)
        self.assertTrue(self.calls(" install "))

    def test_no_changes_nothing(self):
        code, text = self.answer("n\n", "run", "01")
        self.assertEqual(code, 1)
        self.assertIn("nothing was installed. To install: apt-get update", text)
        self.assertEqual(self.calls("apt-get"), [])

    def test_setup_does_not_ask(self):
        self.tool("doxygen", "#!/bin/sh\necho 1.9.4\n")
        code, text = self.answer("", "setup")
        self.assertEqual(code, 0, text)
        self.assertNotIn("[Y/n]", text)
        self.assertTrue(self.calls(" install "))


# What make_venv() does where Python has no ensurepip, as in Debian and Ubuntu without python3-venv.
BARE = """\
import os, sys
sys.path.insert(0, {tools!r})
sys.modules["ensurepip"] = None
from warp.base import install
install.install = lambda machine, lacking: print("install", *(need.package for need in lacking))
install.steps.run = lambda title, *_rest: os.makedirs(install.paths.VENV) or print(title)
install.make_venv()
"""


class Venv(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.tool("doxygen", "#!/bin/sh\necho 1.9.4\n")

    def test_where_venv_is_a_package_of_its_own(self):
        script = BARE.format(tools=os.path.join(self.root, "tools"))
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        self.assertEqual(done.stdout, "install python3-venv\nCreating the site's Python environment\n", done.stderr)

    def test_made_once_and_filled_again_when_the_requirements_change(self):
        first = self.learn("setup", "--docs", code=0)
        self.assertIn("Creating the site's Python environment", first.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.root, "build", "venv", "bin", "python3")))
        self.assertIn("nothing to install", self.learn("setup", "--docs", code=0).stdout)
        # A requirement that no index can have: pip fails, and the environment is not taken for ready.
        self.write("docs/requirements.txt", "./no-such-folder-here\n")
        done = self.learn("setup", "--docs", code=1)
        self.assertIn("To install: ./learn setup --docs", done.stderr)
        self.write("docs/requirements.txt", "# nothing\n")
        done = self.learn("setup", "--docs", code=0)
        self.assertIn("Installing the site's Python packages", done.stderr)
        self.assertNotIn("Creating", done.stderr)
        self.assertIn("nothing to install", self.learn("setup", "--docs", code=0).stdout)
