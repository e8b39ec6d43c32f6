"""A small course in a temporary folder: a chapter of two rungs, its program, its results."""

import json
import os
import shutil
import stat
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

HEADER = """\
// # Chapter 02: Small
//
// Question: Does the prose say what was measured?
// Builds on: nothing
// Minutes: 5
// Afterwards: read what was measured
// Size gpu: 64
// Size simulator: 9
// Sizes measured: 64 128 256
// Run: ./learn run 02
//   ./learn run 02 --rung plain   one element a thread
//   ./learn run 02 --rung wide    four elements a thread
//   ./learn run 02 --rung later   a rung that nobody has measured
//   ./learn run 02 --rung tma     the same with the TMA   [needs sm_90a]

"""

KERNELS = """
__global__ void plain(float* x) { x[0] = 1; }
__global__ void wide(float* x) { x[0] = 1; }
__global__ void later(float* x) { x[0] = 1; }
__global__ void tma(float* x) { x[0] = 1; }

int main() {}
"""


def row(rung, variant, size, **more):
    found = {"rung": rung, "size": {"n": size}, "status": "PASS", **more}
    return {**found, "variant": variant} if variant else found


def timed(rung, variant, size, ms, ratio):
    times = {
        "time_ms": {"median": ms, "p10": ms, "p90": ms, "runs": 9},
        "rate": 2 * ms,
        "rate_unit": "GB/s",
        "ratio_to_peer": ratio,
    }
    times["clock"] = {"sm_mhz": 1980.0 if ms > 50 else 1935.0, "sm_mhz_min": 1800.0}
    return row(rung, variant, size, max_error=ms / 1e6, **times)


def report(backend, rows, **more):
    facts = {"backend": backend, "device": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "commit": "abc"}
    return {"chapter": "02_small", **facts, "rows": rows, **more}


COUNTED = {"global_load_requests": 8, "global_load_sectors": 20}
SIMULATED = report(
    "simulator",
    [
        row("plain", None, 9, counts=COUNTED, launches={"first": 0, "end": 1}),
        row("wide", "w=2", 9, counts=dict(COUNTED, global_load_sectors=40), launches={"first": 1, "end": 2}),
        row("wide", "w=4", 9, counts=dict(COUNTED, global_load_sectors=80), launches={"first": 2, "end": 3}),
        row("wide", "w=8", 9, counts=dict(COUNTED, global_load_sectors=160), launches={"first": 3, "end": 4}),
        row("later", None, 9, counts=COUNTED, launches={"first": 4, "end": 5}),
        row("tma", None, 9) | {"status": "SKIP"},
    ],
)
H200 = report(
    "gpu",
    [
        timed("plain", None, 64, 51.978, 0.0981),
        timed("plain", None, 128, 103.2, 0.09),
        timed("wide", "w=2", 64, 16.7, 0.31),
        timed("wide", "w=4", 64, 4.2, 1.2),
    ],
    limits={"copy_gb_s": 4258.99, "fp32_gflop_s": 63043.5, "sm_clock_mhz": 1980},
)
TRACE = {
    "launches": [
        {"kernel": f"ns::{kernel}<2>(float*)", "counts": COUNTED, "lines": []}
        for kernel in ("plain", "wide", "wide", "wide", "later")
    ]
}


class Course(unittest.TestCase):
    """Each test gets a course of its own."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="warp-course-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.folder = self.root / "chapters" / "02_small"
        self.main = self.folder / "small.cu"
        self.build = self.root / "build" / "simulator"
        (self.folder / "results").mkdir(parents=True)
        self.source("")
        self.store("h200.json", H200)
        self.program(SIMULATED)

    def source(self, prose):
        """Writes the chapter with this prose; its lines get their `//`, those with `//` stay."""
        lines = [line if line.startswith("//") or not line else f"// {line}" for line in prose.split("\n")]
        self.main.write_text(HEADER + "\n".join(lines) + KERNELS)
        self.first = HEADER.count("\n") + 1  # the line that the prose begins in

    def store(self, name, data):
        (self.folder / "results" / name).write_text(json.dumps(data))

    def program(self, data):
        """The chapter's program on the simulator: it says what it is told to and notes that it ran."""
        path = self.build / "chapters" / "02_small" / "small"
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.build / "report.json").write_text(json.dumps(data))
        (self.build / "trace.json").write_text(json.dumps(TRACE))
        path.write_text(
            f"#!/bin/sh\n# {hash(json.dumps(data))}\necho ran >>{self.build}/ran\n"
            f'[ "$1" = --json ] && cp {self.build}/report.json "$2"\n'
            f'[ -z "$SIMT_JSON" ] || cp {self.build}/trace.json "$SIMT_JSON"\n'
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        os.utime(path)

    def runs(self):
        """How often the program was started."""
        try:
            return (self.build / "ran").read_text().count("ran")
        except FileNotFoundError:
            return 0
