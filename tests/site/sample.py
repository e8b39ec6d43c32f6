"""A small course for tests: one chapter of two rungs, its program, and headers to document."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

CHAPTER = """\
// # Chapter 01: Sample
//
// Question: Does the page say what the source says?
// Builds on: nothing
// Size gpu: 4096
// Size simulator: 256
// Run: ./learn run 01
//   ./learn run 01 --rung copy_one   one element a thread
//   ./learn run 01 --rung copy_far   a | b, and < c

#include <cuda_runtime.h>

#include "lab/lab.h"

// The first paragraph, with `copy_far` named in it.
//
// ## A heading
//
// - a list

/// Copies n floats.
///
/// @param out  n floats; written
/// @param in   n floats
/// @param n    number of elements
///
/// Launch: one dimension.
__global__ void copy_one(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // one element
  if (i < n) out[i] = in[i];
}

// Between the two.

/// Copies n floats, far apart.
template <int Stride>
__global__ void __launch_bounds__(256) copy_far(float* out, const float* in, int /*n*/) {
  const char* text = "} // no comment";
  out[threadIdx.x * Stride] = in[threadIdx.x * Stride];
}

// [hide] Setting up
void helper() {}
// [/hide]

int main() { return 0; }
"""

COUNTS = {
    "global_load_requests": 8,
    "global_load_sectors": 32,
    "global_load_bytes": 1024,
    "global_load_active_lanes": 256,
    "global_store_requests": 8,
    "global_store_sectors": 32,
    "global_store_bytes": 1024,
    "global_store_active_lanes": 256,
    "divergent_branches": 0,
}
FAR = dict(COUNTS, global_load_sectors=256, global_store_sectors=256)


def results(backend: str = "simulator") -> dict:
    rows = [
        {"rung": "copy_one", "size": {"n": 256}, "status": "PASS", "counts": COUNTS},
        {"rung": "copy_far", "variant": "stride=8", "size": {"n": 256}, "status": "PASS", "counts": FAR},
    ]
    report = {
        "chapter": "01_sample",
        "backend": backend,
        "device": "CPU simulator",
        "driver": "",
        "toolkit": "g++",
        "date": "2026-01-02T03:04:05Z",
        "commit": "0123456789abcdef",
        "limits": {},
        "rows": rows,
    }
    if backend == "gpu":
        report.update(device="NVIDIA H200", driver="580.1", toolkit="CUDA 13.0", limits={"copy_gb_s": 4200.0})
        for row, median in zip(rows, (0.125, 1.0)):
            del row["counts"]
            row.update(
                time_ms={"median": median, "p10": median * 0.9, "p90": median * 1.1, "runs": 20},
                rate=500 / median,
                rate_unit="GB/s",
                fraction_of_limit=500 / median / 4200,
                ratio_to_peer=0.1 / median,
                peer={"name": "cudaMemcpy", "time_ms": {"median": 0.1, "p10": 0.1, "p90": 0.1, "runs": 20}},
            )
    return report


PROGRAM = """\
#!{python}
import json, os, sys
if "--json" in sys.argv:
    open(sys.argv[sys.argv.index("--json") + 1], "w").write({report!r})
    open(os.environ["SIMT_JSON"], "w").write({trace!r})
print("copy_one drew this")
print()
print("rung      loads  sectors")
print("copy_one  PASS  8  4.0")
print("copy_far  PASS  8  32.0")
print("2 PASS, 0 FAIL, 0 SKIP, 0 ERROR")
"""

SIMT_H = """\
/// \\file
/// {what}
#pragma once
namespace simt {{
/// One thing. \\ingroup simt
struct {name} {{
  int global_load_requests = 0;  ///< warp instructions
}};
}}
"""

LAB_H = """\
/// \\file
/// All of it.
#pragma once
namespace lab {
/// Adds.
/// \\param a one
/// \\param b the other
int add(int a, int b);
}
"""

INDEX = """\
# Sample course

```{toctree}
chapters/index
```

```{explained} 01_sample copy_one
```

```{header} lab lab.h
```
"""


def make(root: Path, chapter: str = CHAPTER, report: dict | None = None, index: str = INDEX) -> Path:
    """Writes the course to `root`; returns its build folder, with the program in it."""
    folder = root / "chapters" / "01_sample"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sample.cu").write_text(chapter)
    lab = root / "common" / "lab" / "include" / "lab"
    lab.mkdir(parents=True, exist_ok=True)
    (lab / "lab.h").write_text(LAB_H)
    simt = root / "common" / "simt" / "include" / "simt"
    simt.mkdir(parents=True, exist_ok=True)
    for stem, name in (("simt", "Launch"), ("counts", "Counts"), ("counting", "Cost")):
        (simt / f"{stem}.h").write_text(SIMT_H.format(what=f"The file {stem}.", name=name))
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / "index.md").write_text(index)
    (root / "docs" / "profiling.md").write_text("---\norphan: true\n---\n# Profiling\n")  # the last chapter leads there
    program = root / "build" / "simulator" / "chapters" / "01_sample" / "sample"
    program.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"file": str(folder / "sample.cu"), "line": line, "counts": counts}
        for line, counts in (
            (30, {"global_load_requests": 8, "global_load_sectors": 32}),
            (31, {"global_store_requests": 8, "global_store_sectors": 32}),
        )
    ]
    trace = {
        "launches": [
            {
                "index": 0,
                "kernel": "copy_one(float*, float const*, int)",
                "grid": [1, 1, 1],
                "block": [256, 1, 1],
                "counts": COUNTS,
                "global_sectors_read_distinct": 32,
                "lines": lines,
                "findings": [],
            }
        ],
        "findings": [],
    }
    program.write_text(
        PROGRAM.format(python=sys.executable, report=json.dumps(report or results()), trace=json.dumps(trace))
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return root / "build"
