"""Runs a chapter's program and reads what it printed and wrote."""

import json
import os
import pathlib
import re
import resource
import runpy
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
from suites import SIMULATOR as BINARY_DIR  # noqa: E402

from warp.base.machine import Machine  # noqa: E402
from warp.chapter import header as course_header  # noqa: E402
from warp.chapter.counted import load_counted  # noqa: E402
from warp.chapter.run import simulated_results  # noqa: E402
from warp.machinecode import tools  # noqa: E402

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
CUOBJDUMP = tools.find(Machine(), "cuobjdump")
# Of simtcc, for a source that includes lab, and without what only a debugger needs.
LAB_OPTIONS = ["-std=c++20", "--extended-lambda", "-fno-var-tracking", f"-I{ROOT}/common/lab/include"]


def run_source(text, *options, beside=None):
    """What a program of this source prints, compiled with the simulator; `beside`: {name: text} of files in its folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, content in {**(beside or {}), "program.cu": text}.items():
            (folder / file).write_text(content)
        program = folder / "program"
        command = [BINARY_DIR / "bin" / "simtcc", "-o", program, folder / "program.cu", *options]
        subprocess.run(command, check=True)
        return subprocess.run([program], capture_output=True, text=True, timeout=600)


class Run:
    """One run: exit code, both streams, and the results file, as text and read (None where there is none)."""

    def __init__(self, program, *arguments, results=True, environment=None):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.json"
            command = [str(program), *arguments]
            if results:
                command += ["--json", str(file)]
            environment = {**os.environ, "NO_COLOR": "1", **(environment or {})}
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
            self.text = file.read_text() if file.exists() else None
            self.results = json.loads(self.text) if self.text else None

    @property
    def rows(self):
        return self.results["rows"]

    def row(self, rung, variant=None):
        """The one row of a rung, or of one of its variants."""
        found = [row for row in self.rows if row["rung"] == rung and (variant is None or row.get("variant") == variant)]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} rows of {rung} {variant or ''}")
        return found[0]

    def explain(self):
        """For the message of a failed assertion."""
        return f"exit code {self.code}\n{self.out}\n{self.err}"


class Chapter:
    """A chapter: its source, its header and its two programs."""

    def __init__(self, name):
        self.name = name
        self.short = name.split("_", 1)[1]
        self.source = ROOT / "chapters" / name / f"{self.short}.cu"
        self.program = BINARY_DIR / "chapters" / name / self.short
        self.fast = BINARY_DIR / "chapters" / name / f"{self.short}_fast"

    def lab(self):
        """What a program of its kernels links: what the header says, its host code, and lab."""
        host = sorted(self.source.parent.glob("*.cpp"))
        return [self.program.parent / "header.cpp", *host, BINARY_DIR / "common" / "lab" / "liblab.a"]

    @property
    def rungs(self):
        """The names of the rungs that the header lists, in order."""
        return list(course_header.read(self.source).rungs)

    def run(self, *arguments, fast=False, **options):
        return Run(self.fast if fast else self.program, *arguments, **options)

    def right(self, *arguments, **options):
        """A run in which no rung fails."""
        run = self.run(*arguments, **options)
        if run.code != 0:
            raise AssertionError(run.explain())
        return run

    def refused(self, *arguments, says="", codes=(2,)):
        """The program says in one line what is wrong with these words."""
        run = self.run(*arguments, results=False)
        if run.code not in codes or run.err.count("\n") != 1 or says not in run.err:
            raise AssertionError(f"not refused with '{says}': {arguments}\n{run.explain()}")

    def trace(self, *arguments):
        """The simulator's own JSON of a run: launches, lines, findings."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            self.right(*arguments, results=False, environment={"SIMT_JSON": str(file)})
            return json.loads(file.read_text())

    def prose(self):
        """All comment lines of the source as one text."""
        return " ".join(line[2:].strip() for line in self.source.read_text().splitlines() if line.startswith("//"))

    def simulated(self):
        """The run at the default size that is kept for all who ask: its results file and its trace lie in `work`."""
        return simulated_results(self.source, self.program)

    def drawings(self):
        """What the chapter's figures.py draws, by name: (rung, drawing, caption)."""
        draw = runpy.run_path(str(self.source.parent / "figures.py"))["draw"]
        drawn = draw(self.simulated(), self.source)
        return {name: (rung, drawing, caption) for rung, name, drawing, caption in drawn}

    def disagreements(self):
        """What differs between the simulator's counts and those recorded from the hardware without anybody
        having said why, and what is said to differ and does not; None where nothing is recorded."""
        counted = load_counted(self.source.parent / "results")
        if counted is None:
            return None
        return counted.disagreements(self.simulated())


class Mutant:
    """A chapter with mistakes, compiled to a program: (rung, text, what it becomes), the text being looked for
    behind the rung's name. It is compiled fast: verification has to notice, not the simulator.

    The mistakes are in the chapter's source, which is compiled alone. Or they are in `file`, a source beside it or a header, and
    `compiled` is the source that includes it; the chapter's other sources then are those that the build has compiled."""

    def __init__(self, chapter, mutants, traced=False, file=None, compiled=None):
        # Small, and no multiple of any tile.
        self.size = "40,36,20" if course_header.read(chapter.source).kind == "gemm" else None
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        home = chapter.source.parent
        file = home / (file or chapter.source.name)
        source = folder / (compiled or file.name)
        text = file.read_text()
        for rung, old, new in mutants:
            at = text.index(old, re.search(rf"[ >]{rung}\(", text).start())
            text = text[:at] + new + text[at + len(old) :]
        if source.name != file.name:  # it includes what lies beside it, and so may these headers
            for beside in (home / source.name, *home.glob("*.cuh"), *home.glob("*.h")):
                shutil.copy(beside, folder)
        (folder / file.name).write_text(text)
        built = BINARY_DIR / "chapters" / f"{(chapter.program if traced else chapter.fast).name}.dir"
        objects = [] if file == chapter.source else sorted(built.glob("*.cu.o"))
        self.program = folder / "mutant"
        subprocess.run(
            [
                BINARY_DIR / "bin" / "simtcc",
                *([] if traced else ["--fast", "-O0"]),
                *LAB_OPTIONS,
                f"-I{home}",
                "-o",
                self.program,
                source,
                *(each for each in objects if each.name != f"{source.name}.o"),
                *chapter.lab(),
            ],
            check=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, *arguments):
        if self.size and not {"--size", "--cases"} & set(arguments):
            arguments = ("--size", self.size, *arguments)
        return Run(self.program, *arguments)


def seconds_of_children():
    """Of a CPU, that the programs took which have ended: the wall's clock would tell what the machine does besides."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def only(*rungs):
    """The words that ask for these rungs."""
    return [word for rung in rungs for word in ("--rung", rung)]


def right_for(test, chapter, sizes, *rungs):
    """These rungs, or all, are right for each size."""
    for size in sizes:
        with test.subTest(size=size):
            chapter.right("--size", size, *only(*rungs), fast=True)


def conflicts(row):
    """The bank conflicts of a row, of loads and stores."""
    return row["counts"]["shared_load_bank_conflicts"] + row["counts"]["shared_store_bank_conflicts"]


class DefaultRun:
    """For suites that look at the run that a reader sees first."""

    chapter = None

    @classmethod
    def setUpClass(cls):
        cls.run_ = cls.chapter.run()

    def expect(self, rung, variant=None, **counts):
        found = self.run_.row(rung, variant)["counts"]
        self.assertEqual({name: found[name] for name in counts}, counts, f"{rung} {variant or ''}")


def notice(test, chapter, mutants, *arguments, traced=False, at_once=False):
    """Each mistake fails its rung: (function that has it, text, what it becomes, rung, what the run says, if anything). Those of
    different rungs are compiled together, and `at_once` all."""
    programs = [list(mutants)] if at_once else []
    for mutant in () if at_once else mutants:
        free = next((program for program in programs if all(other[3] != mutant[3] for other in program)), None)
        if free is None:
            programs.append([mutant])
        else:
            free.append(mutant)
    for together in programs:
        with Mutant(chapter, [mutant[:3] for mutant in together], traced=traced) as program:
            for _, _, becomes, rung, *said in together:
                with test.subTest(rung=rung, mistake=becomes):
                    run = program.run("--rung", rung, *arguments)
                    test.assertIn(run.code, (1, 86), run.explain())  # 86: a finding has ended the program
                    for pattern in said:
                        test.assertRegex(" ".join((run.out + run.err).split()), pattern)


class Products:
    """For the suites of matrix products: every rung is right for every pair of extents."""

    chapter = None
    rungs = ()  # of the rows that pass
    tall = ()  # (rows of a block, rung)

    def passes(self, run, count, rungs=None):
        self.assertEqual(run.code, 0, run.explain())
        self.assertEqual({row["rung"] for row in run.rows if row["status"] == "PASS"}, set(rungs or self.rungs))
        for row in run.rows:
            if row["status"] == "PASS":
                self.assertEqual(row["reason"], f"{count} cases")
            else:
                self.assertEqual(row["status"], "SKIP", row)

    def test_all_untraced(self):
        self.passes(self.chapter.run("--cases", "all", fast=True), 153)

    def test_a_dozen_traced(self):
        self.passes(self.chapter.run("--cases", "0-11"), 12)

    def test_more_rows_than_a_grid_has_blocks(self):
        for rows, rung in self.tall:
            self.chapter.right("--size", f"{65535 * rows + 1},1,2", "--rung", rung, fast=True)


# What programs of extreme sizes and inputs have in common: made() inputs, expect() what they come to.
EXTREMES = r"""
#define main chapter_main
#include "@SOURCE@"
#undef main

#include <cstdio>
#include <numeric>

namespace {

std::vector<unsigned> made(size_t n, int kind) {
  std::vector<unsigned> in(n);
  for (size_t i = 0; i < n; ++i) {
    in[i] = kind == 0 ? 2 : kind == 1 ? i % 2 : kind == 2 ? (i > n / 3 && i < n / 2 ? 8 : i) : kind == 3 ? i / 5 : ~0u;
  }
  return in;
}

int wrong = 0;

void expect(const lab::DeviceBuffer<unsigned>& out, const std::vector<unsigned>& want, size_t n, int kind,
            const char* what) {
  std::vector<unsigned> got = out.download();
  got.resize(want.size());
  if (got == want && !lab::check_all_canaries()) return;
  std::printf("%s is wrong for n = %zu, input %d\n", what, n, kind);
  wrong = 1;
}

void check_one(size_t n, int kind, const std::vector<unsigned>& host) {
@BODY@
}

}  // namespace

int main() {
  for (const size_t n : {0, 1, 2, 31, 32, 33, 255, 1023, 1024, 1025, 4096, 4097, 20011}) {
    for (int kind = 0; kind < 5; ++kind) check_one(n, kind, made(n, kind));
  }
  return wrong;
}
"""


class Tiled:
    """For the suites of chapters 08 and 14: sizes at which tiles, warps and quads end, and many of them."""

    chapter = None
    extremes = ""  # C++ that checks the chapter's functions: n, kind and the input host are there
    many_tiles = ""  # a rung

    def test_all_cases(self):
        self.chapter.right("--cases", "all")

    def test_a_million_elements_and_a_ragged_end(self):
        self.chapter.right("--size", str(2**20 + 7), fast=True)

    def test_so_many_tiles_that_blocks_pause(self):
        self.chapter.right("--size", str(513 * 8192 + 1), "--rung", self.many_tiles, fast=True)

    def test_no_index_of_more_than_32_bits(self):
        self.chapter.refused("--size", str(2**32))

    def test_extreme_sizes_and_inputs(self):
        text = EXTREMES.replace("@SOURCE@", self.chapter.source.name).replace("@BODY@", self.extremes)
        done = run_source(text, *LAB_OPTIONS, f"-I{self.chapter.source.parent}", *self.chapter.lab())
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stdout + done.stderr)
