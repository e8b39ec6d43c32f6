"""Runs a chapter's program and reads what it printed and wrote."""

import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT / "tests"), str(ROOT / "tools")]
from suites import SIMULATOR as BINARY_DIR  # noqa: E402

from warp.chapter import header as course_header  # noqa: E402
from warp.chapter import results as site_results  # noqa: E402
from warp.chapter.counted import load_counted  # noqa: E402

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
CUOBJDUMP = shutil.which("cuobjdump") or shutil.which("/usr/local/cuda/bin/cuobjdump")
# Of simtcc, for a source that includes lab, and without what only a debugger needs.
LAB_OPTIONS = ["-std=c++20", "--extended-lambda", "-fno-var-tracking", f"-I{ROOT}/common/lab/include"]


def nvcc_is_the_one_of_the_text():
    if not NVCC:
        return False
    return "release 13.0" in subprocess.run([NVCC, "--version"], capture_output=True, text=True).stdout


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

    def header(self):
        """The consecutive comment lines at the start of the source."""
        lines = []
        for line in self.source.read_text().splitlines():
            if not line.startswith("//"):
                break
            lines.append(line)
        return lines

    def header_rungs(self):
        """Name and idea of every rung that the header lists, in order."""
        found = []
        for line in self.header():
            match = re.match(r"//\s+\./learn run \S+ --rung (\S+)\s+(.*)", line)
            if match:
                found.append((match.group(1), match.group(2).strip()))
        return found

    def run(self, *arguments, **options):
        return Run(self.program, *arguments, **options)

    def trace(self, *arguments):
        """The simulator's own JSON of a run: launches, lines, findings."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            done = subprocess.run(
                [str(self.program), *arguments],
                capture_output=True,
                text=True,
                timeout=600,
                env={**os.environ, "SIMT_JSON": str(file)},
            )
            if done.returncode != 0:
                raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
            return json.loads(file.read_text())

    def prose(self):
        """All comment lines of the source as one text."""
        return " ".join(line[2:].strip() for line in self.source.read_text().splitlines() if line.startswith("//"))

    def drawings(self):
        """What the chapter's figures.py draws, by name: (rung, drawing, caption)."""
        with tempfile.TemporaryDirectory() as folder:
            simulated = site_results.run_program(self.program, pathlib.Path(folder))
        draw = runpy.run_path(str(self.source.parent / "figures.py"))["draw"]
        return {name: (rung, drawing, caption) for rung, name, drawing, caption in draw(simulated, self.source)}

    def disagreements(self):
        """What differs between the simulator's counts and those recorded from the hardware without anybody
        having said why, and what is said to differ and does not; None where nothing is recorded."""
        counted = load_counted(self.source.parent / "results")
        if counted is None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            simulated = site_results.run_program(self.program, pathlib.Path(folder))
        return counted.disagreements(simulated)


def row_of(results, rung, variant, edge):
    """The one row of M = N = K = edge."""
    found = [
        row
        for row in results["rows"]
        if row["rung"] == rung and row.get("variant") == variant and row["size"] == {"M": edge, "N": edge, "K": edge}
    ]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} rows of {rung} {variant or ''} at {edge}")
    return found[0]


def measured(results, rung, variant, edge, key="time_ms"):
    """The median in ms of the one row of M = N = K = edge, or another of its figures."""
    row = row_of(results, rung, variant, edge)
    return row["time_ms"]["median"] if key == "time_ms" else row[key]


class Caches:
    """What Nsight Compute counted of a chapter's rungs (results/h200_caches.json), under short names."""

    STALL = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"
    NAMES = {
        "ns": "gpu__time_duration.sum",
        "found in L1": "l1tex__t_sector_hit_rate.pct",
        "found in L2": "lts__t_sector_hit_rate.pct",
        "sectors of L2": "lts__t_sectors_srcunit_tex_op_read.sum",  # that it sent to the SMs
        "bytes of memory": "dram__bytes_read.sum",
        "cycles": "smsp__average_warp_latency_per_inst_issued.ratio",  # of a warp, for each instruction; of these:
        "loads": STALL % "long_scoreboard",
        "barrier": STALL % "barrier",
        "shared": STALL % "mio_throttle",
        "shared words": STALL % "short_scoreboard",
        "L1 queue": STALL % "lg_throttle",
        "results": STALL % "wait",
        "issue": STALL % "selected",
    }

    def __init__(self, chapter):
        self.file = chapter.source.parent / "results" / "h200_caches.json"

    def metrics(self, rung, variant=None, edge=4096):
        """What was counted of the one launch of M = N = K = edge, under ncu's names."""
        report = json.loads(self.file.read_text())
        found = [
            launch["metrics"]
            for launch in report["launches"]
            if launch["rung"] == rung and launch["variant"] == variant and set(launch["size"].values()) == {edge}
        ]
        if "H200" not in report["device"] or len(found) != 1:
            raise AssertionError(f"{len(found)} launches of {rung} {variant or ''} at {edge} on {report['device']}")
        return found[0]

    def __call__(self, rung, variant=None, edge=4096):
        """The same under the short names."""
        counted = self.metrics(rung, variant, edge)
        return {short: counted[metric] for short, metric in self.NAMES.items()}


class Mutant:
    """A chapter with mistakes, compiled to a program: (rung, text, what it becomes), the text being looked for
    behind the rung's name. It is compiled fast: verification has to notice, not the simulator."""

    def __init__(self, chapter, mutants, traced=False):
        # Small, and no multiple of any tile.
        self.size = "40,36,20" if course_header.read(chapter.source).kind == "gemm" else None
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        source = folder / chapter.source.name
        text = chapter.source.read_text()
        for rung, old, new in mutants:
            at = text.index(old, re.search(rf"[ >]{rung}\(", text).start())
            text = text[:at] + new + text[at + len(old) :]
        source.write_text(text)
        self.program = folder / "mutant"
        subprocess.run(
            [
                BINARY_DIR / "bin" / "simtcc",
                *([] if traced else ["--fast", "-O0"]),
                *LAB_OPTIONS,
                f"-I{chapter.source.parent}",
                "-o",
                self.program,
                source,
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
