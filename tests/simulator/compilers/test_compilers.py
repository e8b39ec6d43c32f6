"""Every g++ that the course supports makes programs that count, find and print the same.

What this build's own g++ made is held against what each other g++-NN on the PATH makes of the same sources, through
simtcc: without a warning, and then the same counts of each launch, the same findings, output and exit codes. Divergent
branches are left out, since a compiler is free to make a branch a predicate, and so are lines: where both sides of a
branch load the same, g++ 16 names the one, and those before it the other. Where there is one g++ alone,
that is skipped. `./learn test --label compilers` runs this alone; WARP_COMPILERS="g++-13 g++-15" says which.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "simt"), str(TESTS.parent), str(TESTS.parents[1] / "tools")]

from golden import FIXED_ADDRESSES, first_difference  # noqa: E402
from suites import SIMULATOR  # noqa: E402

from warp.chapter.counted import NOT_COMPARED  # noqa: E402

LABELS = ["simt", "compilers", "slow"]
NEEDS = ["all", "fast_programs"]
SECONDS = 3600
COST = 200

# How often these look at what they wait for, time decides.
TIMED = {"flag_never_set", "lock_never_released", "more_blocks_than_fit"}
SIMTCC = str(SIMULATOR / "bin" / "simtcc")
BUILD = SIMULATOR / "tests" / "simulator"
GTEST = ["-lgtest_main", "-lgtest"]
OLDEST, NEWEST = 12, 30
OPTIONS = ["-std=c++20", "-Wall", "-Wextra", "-fno-var-tracking"]  # as the build's own, in cmake/WarpSimt.cmake
AGREEMENT = ["-std=c++17", "-w"]


class Program:
    """One program of the build: what it is made of, and how it is run."""

    def __init__(self, made, sources, options=(), libraries=(), runs=((),)):
        self.made = BUILD / made
        self.name = self.made.name
        self.sources = [str(path) for path in sorted(TESTS.glob(sources)) if path.name != "endings.cu"]
        self.options = [*OPTIONS, *options]
        self.libraries = list(libraries)
        self.runs = runs

    def compile(self, compiler, folder):
        """What is said while this compiler makes it; the program lies in the folder then.

        The newer of the two compilers links: its standard library has what the older one's has, and not the reverse."""
        newer = max((compiler, own_compiler()), key=lambda name: numbers(version(name)))
        objects = [str(folder / f"{number}.o") for number in range(len(self.sources))]
        for source, made in zip(self.sources, objects):
            said = run([SIMTCC, "-ccbin", compiler, *self.options, "-c", source, "-o", made])
            if said:
                return said
        return run([SIMTCC, "-ccbin", newer, *objects, *self.libraries, "-o", str(folder / self.name)])

    def left_by(self, program, folder):
        """What its runs leave: {name: bytes}."""
        left = {}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SIMT_")}
        for words in self.runs:
            trace = folder / f"{self.name}.json"
            environment.update(SIMT_JSON=str(trace), SIMT_THREADS="1", SIMT_STEPS="200000")
            command = [*FIXED_ADDRESSES, program, *words]
            done = subprocess.run(command, capture_output=True, check=False, env=environment, timeout=900, cwd=folder)
            # A launch says that it is still at work when a machine is slow enough.
            errors = re.sub(rb"^simt: (?:still at|after \d+ s) .*\n", b"", done.stderr, flags=re.MULTILINE)
            output = re.sub(rb"\(\d+ ms total\)|, \d+\.\d+ s$", b"", done.stdout, flags=re.MULTILINE)
            parts = {"exit": b"%d\n" % done.returncode, "stdout": output, "stderr": errors}
            if trace.exists():
                parts["trace"] = comparable(json.loads(trace.read_text(encoding="utf-8")))
                trace.unlink()
            left.update({" ".join([self.name, *words, kind]): text for kind, text in parts.items()})
        return left


def run(command):
    """What a command says; how it ended, where it failed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    return done.stdout + done.stderr + (f"exit {done.returncode}" if done.returncode else "")


def comparable(trace):
    """What every compiler has to leave in a trace, an entry a line: the counts of launches, and findings."""

    def compared_counts(counts):
        return {name: value for name, value in counts.items() if value and name not in NOT_COMPARED}

    entries = [trace["findings"]]
    for launch in trace["launches"]:
        entries.append([launch["kernel"], launch["grid"], launch["block"], compared_counts(launch["counts"])])
        entries.append(launch["findings"])
    text = "\n".join(json.dumps(entry) for entry in entries)
    # Where the program's own variables and the threads' stacks lie changes with all that is linked to it.
    text = re.sub(
        r"\{lambda\((.*?)\)#\d+\}", r"{lambda(\1)}", text
    )  # which one of a function g++ counts from another end
    return re.sub(r"0x(?:5{6}|7f{4}[7f]|78f{3}[0-9a-f])[0-9a-f]{6}", "a variable", text).encode()


def planted():
    """The runs of the program with the planted faults."""
    listed = subprocess.run([BUILD / "findings/planted", "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    return [(variant, name) for name in names if name not in TIMED for variant in ("faulty", "correct")]


def programs():
    quiet = (("--gtest_brief=1", "--gtest_print_time=0"),)
    agreement = ("copies", "divergence", "gemm", "reductions", "sorts", "structs")
    return [
        Program("microkernels/microkernels", "microkernels/microkernels.cu"),
        Program("findings/planted", "findings/*.cu", ["-rdc=true"], runs=planted()),
        *(Program(f"agreement/agreement_{name}", f"agreement/{name}.cu", AGREEMENT) for name in agreement),
        Program("simtcc/ptx_values", "simtcc/ptx_values.cu"),
        Program("simtcc/simtcc_forms_test", "simtcc/forms_test.cu", ["--extended-lambda"], GTEST, quiet),
        Program("simtcc/simtcc_conversions_test", "simtcc/conversions_test.cu", libraries=GTEST, runs=quiet),
        Program("simtcc/simtcc_fast_conversions_test", "simtcc/conversions_test.cu", ["--fast"], GTEST, quiet),
    ]


def version(compiler):
    return subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()


def numbers(version_text):
    return [int(number) for number in version_text.split(".")]


def own_compiler():
    said = subprocess.run([SIMTCC, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"calling (\S+)", said)[1]


def other_compilers():
    """The g++-NN to compare with: those that the environment names, else all others on the PATH."""
    if "WARP_COMPILERS" in os.environ:
        return os.environ["WARP_COMPILERS"].split()
    own = version(own_compiler())
    names = [f"g++-{number}" for number in range(OLDEST, NEWEST)]
    return [name for name in names if shutil.which(name) and version(name) != own]


def differences(own, other):
    """What differs between what two programs left, a line for each."""
    said = []
    for name in sorted(own.keys() | other.keys()):
        if own.get(name) != other.get(name):
            number, before, after = first_difference(own.get(name, b""), other.get(name, b""))
            said.append(f"{name}:{number}: {before.decode(errors='replace')} | {after.decode(errors='replace')}")
    return said


def compared(compiler, program, own):
    """What is wrong with what this compiler makes of a program."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        said = program.compile(compiler, folder)
        if said:
            return [f"{program.name}: {line}" for line in said.splitlines()[:20]]
        return differences(own, program.left_by(folder / program.name, folder))


class Compilers(unittest.TestCase):
    def test_what_differs_is_told(self):
        program = next(program for program in programs() if program.name == "agreement_copies")
        with tempfile.TemporaryDirectory() as name:
            own = program.left_by(program.made, pathlib.Path(name))
        self.assertEqual(differences(own, own), [])
        count = b'"global_load_requests": '
        for kind, old, new in (("trace", count + b"1", count + b"2"), ("exit", b"0", b"86")):
            other = dict(own)
            other[f"agreement_copies {kind}"] = own[f"agreement_copies {kind}"].replace(old, new, 1)
            self.assertEqual(len(differences(own, other)), 1, kind)
        self.assertEqual(len(differences(own, {})), len(own))

    def test_all_make_the_same(self):
        compilers = other_compilers()
        if not compilers:
            self.skipTest(f"{own_compiler()} {version(own_compiler())} is the only g++ here, from {OLDEST} on")
        every = programs()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            own = dict(zip(every, pool.map(lambda program: program.left_by(program.made, folder), every)))
            for compiler in compilers:
                wrong = pool.map(lambda program, name=compiler: compared(name, program, own[program]), every)
                with self.subTest(f"{compiler} {version(compiler)}"):
                    lines = [line for lines in wrong for line in lines]
                    self.assertEqual(lines, [], "\n".join(lines))
