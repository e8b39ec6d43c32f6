#!/usr/bin/env python3
"""Records what Nsight Compute counted of the caches and of the waits of a chapter's rungs.

usage: record_caches.py --commit HASH --toolkit TEXT --ncu TEXT chapters/NN_name FILE.csv[.gz]...
       record_caches.py --metrics

Writes chapters/NN_name/results/h200_caches.json: for each launch of the chapter's own kernels its rung, variant, size,
kernel, grid, block and METRICS, as they were printed. The chapter's test holds the figures of the text against it.
The files are what this prints on a machine with the GPU, one for each size (--metrics prints METRICS, comma-separated):

    LAB_TIMING=off ncu --csv --page raw --print-units base --metrics "$(tools/measure/record_caches.py --metrics)" \\
        build/gpu/chapters/02_naive_gemm/naive_gemm --rung naive_flat --size 4096,4096,4096 >02.naive_flat.4096.csv

Without timing a rung launches its kernel once, so the rungs that the program names and the launches that ncu lists
belong together in their order. ncu is left as it is: it empties the caches before each pass and holds the clock low.
"""

import argparse
import csv
import gzip
import json
import re
import sys
from pathlib import Path

from counters import parse_raw_page
from record_counts import kernel_base, kernels_of

STALL = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"
METRICS = [
    "gpu__time_duration.sum",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "dram__bytes_read.sum",
    "sm__warps_active.avg.per_cycle_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    # Cycles of a warp for each instruction that it issues: all, and those that it waited and for what.
    "smsp__average_warp_latency_per_inst_issued.ratio",
    *(STALL % reason for reason in ("long_scoreboard", "short_scoreboard", "barrier", "mio_throttle", "lg_throttle",
                                    "math_pipe_throttle", "dispatch_stall", "wait", "not_selected", "selected")),
]
UNITS = {"gpu__time_duration.sum": "ns", "dram__bytes_read.sum": "byte"}


def read(path: Path, own: set) -> tuple:
    """The device's name and the launches of the kernels `own` in one file."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        text = file.read()
    sizes = re.findall(r"^\S+ on (.+), M = (\d+), N = (\d+), K = (\d+), seed \d+$", text, re.MULTILINE)
    if len(sizes) != 1:
        raise ValueError(f"the program names {len(sizes)} sizes; one is needed")
    size = dict(zip("MNK", map(int, sizes[0][1:])))
    rungs = re.findall(r"^(\S+)(?: (\S.*?))? +PASS\s*$", text, re.MULTILINE)
    table = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    units = dict(zip(*table[:2])) if len(table) > 1 else {}
    for metric, unit in UNITS.items():
        if units.get(metric) != unit:
            raise ValueError(f"{metric} is in {units.get(metric)}, not in {unit}: run ncu with --print-units base")
    launches = [launch for launch in parse_raw_page(text, METRICS) if kernel_base(launch["kernel"]) in own]
    if len(launches) != len(rungs) or not launches:
        raise ValueError(f"{len(rungs)} rungs passed and {len(launches)} launches were counted: each has to have one")
    rows = []
    for (rung, variant), launch in zip(rungs, launches):
        missing = [metric for metric in METRICS if metric not in launch["metrics"]]
        if missing:
            raise ValueError(f"{rung} {variant}".strip() + f" has no {missing[0]}")
        rows.append({"rung": rung, "variant": variant or None, "size": size, "kernel": kernel_base(launch["kernel"]),
                     **{key: launch[key] for key in ("grid", "block", "metrics")}})
    return sizes[0][0], rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metrics", action="store_true", help="print the metrics to ask ncu for")
    parser.add_argument("--commit", help="what was measured")
    parser.add_argument("--toolkit", help="the CUDA toolkit that built it")
    parser.add_argument("--ncu", help="the version of Nsight Compute")
    parser.add_argument("chapter", nargs="?", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    if arguments.metrics:
        print(",".join(METRICS))
        return 0
    if not (arguments.commit and arguments.toolkit and arguments.ncu and arguments.files):
        parser.error("--commit, --toolkit, --ncu, the chapter's folder and at least one file are needed")
    own = kernels_of(arguments.chapter)
    devices, launches = set(), []
    for path in arguments.files:
        try:
            device, rows = read(path, own)
        except (OSError, ValueError) as error:
            print(f"record_caches: {path}: {error}", file=sys.stderr)
            return 1
        devices.add(device)
        launches += rows
    if len(devices) != 1:
        print(f"record_caches: the files are of several devices: {', '.join(sorted(devices))}", file=sys.stderr)
        return 1
    facts = {"what": "Nsight Compute's counts of caches and waits, rung by rung", "device": devices.pop(),
             "toolkit": arguments.toolkit, "ncu": arguments.ncu, "commit": arguments.commit}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in facts.items()]
    lines += [' "launches": [', ",\n".join(f"  {json.dumps(launch)}" for launch in launches), " ]"]
    target = arguments.chapter / "results" / "h200_caches.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(["{", *lines, "}"]) + "\n", encoding="utf-8")
    print(f"{len(launches)} launches of {len({launch['rung'] for launch in launches})} rungs -> {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
