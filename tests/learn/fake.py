"""A small checkout with made-up chapters and made-up tools, to run ./learn in.

The runner under test is the real one, started as a reader starts it. What it calls (cmake, nvcc,
apt-get, chapter programs, ...) are scripts that write down how they were called.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tools")]

HEADER = """\
// # Chapter {number}: {title}
//
// Question: What does {title} ask?
// Builds on: nothing
// Size gpu: {gpu}
// Size simulator: {simulator}
// Run: ./learn run {number}
//   ./learn run {number} --rung {rungs[0]}   the first idea
//   ./learn run {number} --rung {rungs[1]}   the second idea

#include <cuda_runtime.h>

__global__ void {rungs[0]}(float* out) {{ out[threadIdx.x] = 1; }}
"""

# The made-up tools are shell scripts: dozens of them start in every test.
# A chapter program: says how it was called, writes results, and does what FAKE_CHAPTER asks.
CHAPTER_PROGRAM = """\
#!/bin/sh
echo "CHAPTER ${0##*/} $* commit=$WARP_COMMIT"
[ -n "$LAB_RECORDED" ] && cat "$LAB_RECORDED"
json=
previous=
for word; do
  [ "$previous" = --json ] && json=$word
  previous=$word
done
status=PASS
[ "$FAKE_CHAPTER" = fail ] && status=FAIL
if [ -n "$json" ] && [ "$FAKE_CHAPTER" != silent ]; then
  echo '{"rows": [{"rung": "one", "status": "'$status'"}, {"rung": "two", "status": "SKIP"}]}' >"$json"
fi
if [ -n "$SIMT_JSON" ] && [ -n "$FAKE_TRACE" ]; then
  cp "$FAKE_TRACE" "$SIMT_JSON"
fi
case $FAKE_CHAPTER in
  sleep) echo $$ >"$FAKE_STARTED.new"; mv "$FAKE_STARTED.new" "$FAKE_STARTED"; exec sleep 60 ;;
  crash) kill -SEGV $$ ;;
  hang-up) kill -HUP $PPID ;;
  fail) exit 1 ;;
  usage) exit 2 ;;
  [0-9]*) exit "$FAKE_CHAPTER" ;;
esac
exit 0
"""

# cmake: `--preset` leaves a configured folder, `--build` the programs.
CMAKE = """\
#!/bin/sh
if [ "$1" = --version ]; then
  echo "cmake version ${FAKE_CMAKE_VERSION:-3.25.1}"
  exit 0
fi
echo "cmake $*" >>@CALLS@
preset= folder= testing= previous=
for word; do
  case $previous in
    --preset) preset=$word; folder=${folder:-build/$word} ;;
    --build | -B) folder=$word ;;
  esac
  case $word in
    -DBUILD_TESTING=*) testing=${word#*=} ;;
  esac
  previous=$word
done
if [ -n "$preset" ]; then
  if [ "$FAKE_CMAKE" = configure-fails ]; then
    echo "CMake Error: made up"
    exit 1
  fi
  mkdir -p "$folder"
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"$folder/CMakeCache.txt"
  echo "BUILD_TESTING:BOOL=$testing" >>"$folder/CMakeCache.txt"
  : >"$folder/build.ninja"
  exit 0
fi
echo "[1/2] Compiling something"
case $FAKE_CMAKE in
  build-fails)
    number=0
    while [ $number -lt 60 ]; do
      echo "line $number of the log"
      number=$((number + 1))
    done
    echo "made_up.cu:7: error: made up"
    exit 1
    ;;
  starts-make)
    sh -c 'echo $$ >"$FAKE_STARTED.new"; mv "$FAKE_STARTED.new" "$FAKE_STARTED"; sleep 60; :'
    ;;
  slow* | held)
    echo $$ >"$FAKE_STARTED.new"
    mv "$FAKE_STARTED.new" "$FAKE_STARTED"
    if [ "$FAKE_CMAKE" = held ]; then
      while [ -e "$FAKE_STARTED" ] && [ ! -e "$FAKE_STARTED.go" ]; do sleep 0.05; done  # or its test is gone
    else
      sleep "${FAKE_CMAKE#slow}"
    fi
    ;;
esac
echo "[2/2] Linking"
put() {  # at once, as a linker does: another learn may be running what was there
  cp "$1" "$2.$$"
  mv "$2.$$" "$2"
}
for chapter in chapters/*; do
  key=${chapter##*/}
  mkdir -p "$folder/chapters/$key"
  put @CHAPTER@ "$folder/chapters/$key/${key#*_}"
  put @CHAPTER@ "$folder/chapters/$key/${key#*_}_fast"
done
mkdir -p "$folder/bin"
put @SIMTCC@ "$folder/bin/simtcc"
"""

# simtcc: "compiles" by copying the chapter program; a source that says so does not compile.
SIMTCC = """\
#!/bin/sh
previous=
for word; do
  [ "$previous" = -o ] && output=$word
  previous=$word
done
if grep -q "does not compile" "$word"; then
  echo "$word:3:5: error: 'nonsense' was not declared"
  exit 1
fi
if grep -q "warns" "$word"; then
  echo "$word:4:1: warning: made up"
fi
cp @CHAPTER@ "$output"
"""

APT = """\
#!/bin/sh
echo "apt-get $*" >>@CALLS@
if [ "$FAKE_APT" = offline ]; then
  echo "E: Failed to fetch: Temporary failure resolving"
  exit 100
fi
for package; do
  case $package in
    ninja-build) program=ninja ;;
    *) program=$package ;;
  esac
  if [ -e "@BIN@/.not-installed-$program" ]; then
    mv "@BIN@/.not-installed-$program" "@BIN@/$program"
  fi
done
"""

NVIDIA_SMI = "#!/bin/sh\necho 'NVIDIA H200, 9.0, 580.1, 143771 MiB'\n"
NVCC = "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n"


class Checkout(unittest.TestCase):
    """Each test gets a checkout of its own in self.root, with chapters 01 and 02."""

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="learn-test-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        os.chmod(self.home, 0o755)
        self.root = os.path.join(self.home, "checkout")
        self.bin = os.path.join(self.home, "bin")
        self.calls_file = os.path.join(self.home, "calls")
        os.makedirs(self.root)
        os.makedirs(self.bin)
        shutil.copy(os.path.join(ROOT, "learn"), self.root)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(os.path.join(ROOT, "tools", "warp"), os.path.join(self.root, "tools", "warp"), ignore=ignore)
        for name in ("rules.js", "access.js", "counted.js", "counted.css"):  # of the page that explain writes
            os.makedirs(os.path.join(self.root, "docs", "_static"), exist_ok=True)
            shutil.copy(os.path.join(ROOT, "docs", "_static", name), os.path.join(self.root, "docs", "_static"))
        self.write("docs/requirements.txt", "")
        self.write("VERSION", "1.2.3\n")
        self.add_chapter("01_first_steps", "First steps", ("one", "two"), "1000", "100")
        self.add_chapter("02_matrix", "Matrix", ("naive", "tiled"), "64,64,64", "32,32,32")
        self.add_tools()

    def write(self, path, text, executable=False):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        if executable:
            os.chmod(full, 0o755)
        return full

    def add_chapter(self, key, title, rungs, gpu, simulator, kind=None):
        text = HEADER.format(number=key[:2], title=title, rungs=rungs, gpu=gpu, simulator=simulator)
        if kind:
            text = text.replace("// Size gpu", f"// Kind: {kind}\n// Size gpu")
        self.write(f"chapters/{key}/{key[3:]}.cu", text)

    def tool(self, name, text, folder=None):
        """An executable script in the made-up PATH."""
        path = os.path.join(folder or self.bin, name)
        places = {"CALLS": self.calls_file, "BIN": self.bin}
        places.update(CHAPTER=os.path.join(self.home, "chapter"), SIMTCC=os.path.join(self.home, "simtcc"))
        for place, value in places.items():
            text = text.replace(f"@{place}@", value)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def add_tools(self):
        self.tool("chapter", CHAPTER_PROGRAM, self.home)
        self.tool("simtcc", SIMTCC, self.home)
        self.tool("cmake", CMAKE)
        self.tool("apt-get", APT)
        self.tool("g++", "#!/bin/sh\necho 12.2.0\n")
        self.tool("ninja", "#!/bin/sh\necho 1.11.1\n")
        for name in ("sh", "cat", "cp", "env", "grep", "id", "mkdir", "mv", "readlink", "rm", "sleep", "true"):
            os.symlink(shutil.which(name), os.path.join(self.bin, name))

    def add_gpu(self):
        self.tool("nvidia-smi", NVIDIA_SMI)
        self.tool("nvcc", NVCC)

    def ready_venv(self):
        """build/venv as ./learn setup leaves it, without its packages."""
        import hashlib

        digest = hashlib.sha256(b"").hexdigest()
        self.write("build/venv/.python", "{}.{}\n".format(*sys.version_info[:2]))
        self.write("build/venv/.requirements", digest + "\n")
        os.makedirs(os.path.join(self.root, "build", "venv", "bin"))
        os.symlink(sys.executable, os.path.join(self.root, "build", "venv", "bin", "python3"))

    def not_installed(self, program):
        """Takes a tool away; the made-up apt-get brings it back."""
        os.rename(os.path.join(self.bin, program), os.path.join(self.bin, ".not-installed-" + program))

    def environment(self, **extra):
        env = {"PATH": self.bin, "HOME": self.home, "LC_ALL": "C.UTF-8", "WARP_PYTHON": sys.executable}
        env["CUDACXX"] = os.path.join(self.bin, "nvcc")  # there only after add_gpu
        env["NCU"] = os.path.join(self.bin, "ncu")  # and this where a test makes one: the machine's own is not asked
        env.update(extra)
        return env

    def command(self, *words):
        return [os.path.join(self.root, "learn"), *words]

    def learn(self, *words, env=None, cwd=None, code=None, **options):
        """Runs ./learn with these words; checks the exit code when one is given."""
        done = subprocess.run(
            self.command(*words),
            env=self.environment(**(env or {})),
            cwd=cwd or self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=300,
            **options,
        )
        self.assertNotIn("Traceback", done.stderr)
        if code is not None:
            self.assertEqual(done.returncode, code, f"stdout:\n{done.stdout}\nstderr:\n{done.stderr}")
        return done

    def refused(self, *words, **options):
        """The one line with which ./learn refuses bad input: exit code 2, nothing built, nothing on stdout."""
        done = self.learn(*words, code=2, **options)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("learn: "), lines[0])
        self.assertEqual(self.calls("--build"), [])
        return lines[0]

    def calls(self, containing=""):
        """How the made-up tools were called."""
        try:
            with open(self.calls_file, encoding="utf-8") as file:
                return [line.rstrip("\n") for line in file if containing in line]
        except FileNotFoundError:
            return []


def real(folder, *words, env=None):
    """What the runner of this checkout says in a folder."""
    command = [sys.executable, os.path.join(ROOT, "tools", "warp"), *words]
    done = subprocess.run(
        command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def load(path):
    return json.loads(read(path))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


STORED = {"global_store_requests": 1, "global_store_sectors": 1, "global_store_active_lanes": 32}


def launch(kernel="k", lines=(), grid=(1, 1, 1), block=(32, 1, 1), **more):
    """A launch as the simulator writes it; its counts are the sums of those of its lines."""
    counts = {}
    for line in lines:
        for name, value in line["counts"].items():
            counts[name] = counts.get(name, 0) + value
    made = {"index": 0, "kernel": kernel, "grid": list(grid), "block": list(block), "counts": counts}
    return {**made, "lines": list(lines), **more}


def line(file, number, counts, *addresses, access="load"):
    """A line of a launch: what it counts, and requests of 4 bytes a lane to global memory that the trace keeps of it."""
    examples = [{"space": "global", "access": access, "size": 4, "addresses": one} for one in addresses]
    return {"file": file, "line": number, "counts": counts, "examples": examples}


def trace_of(launches, findings=()):
    return {"launches": launches, "findings": list(findings)}


def write_json(path, value):
    write(path, json.dumps(value))
    return path


def text(block):
    return textwrap.dedent(block).lstrip("\n")
