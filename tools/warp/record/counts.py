"""Turns what Nsight Compute printed into results/GPU_counts.json and results/GPU_caches.json."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from warp.base.errors import LearnError
from warp.chapter import header, predictions, source
from warp.chapter.results import as_text, kernel_base
from warp.record.counters import counts_of, parse_raw_page

KEPT = ("what", "device", "driver", "toolkit", "ncu", "date", "commit")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
REASONS = (
    "long_scoreboard short_scoreboard barrier mio_throttle lg_throttle math_pipe_throttle dispatch_stall wait "
    "membar branch_resolving no_instruction imc_miss drain sleeping not_selected selected"
)
# Of caches and of what warps wait for: what the simulator cannot know.
METRICS = [
    "gpu__time_duration.sum",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__warps_active.avg.per_cycle_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    # Cycles of a warp for each instruction that it issues: all, and those that it waited and for what.
    "smsp__average_warp_latency_per_inst_issued.ratio",
    *(STALL.format(reason) for reason in REASONS.split()),
]
UNITS = {"gpu__time_duration.sum": "ns", "dram__bytes_read.sum": "byte", "dram__bytes_write.sum": "byte"}
NCU_CALL = re.compile(r"""\bncu\(\s*["'](?:(\d+):)?([^"']+)["']\s*,\s*["'][^"']+["']\s*(?:,\s*(\d+|["'][\d,]+["']))?""")


class CountsError(LearnError):
    """What is wrong with what was counted, in one line."""


def kernels_of(folder: Path | str) -> set[str]:
    """The names of the __global__ functions in a chapter's sources."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.cu*")))
    text = re.sub(r"//[^\n]*", "", text)
    return set(re.findall(r"__global__[^;{}]*?\b(\w+)\s*\((?!\s*\d)[^()]*\)\s*\{", text))


def counts_file(measured: dict[str, Any], folder: Path | str) -> str:
    """The text of GPU_counts.json, from what tools/warp/record/counters.py wrote of a chapter's program."""
    if measured["program_exit_code"] != 0:
        raise CountsError(f"the program failed, exit code {measured['program_exit_code']}")
    own = kernels_of(folder)
    launches = [
        {
            "kernel": kernel_base(launch["kernel"]),
            "grid": launch["grid"],
            "block": launch["block"],
            "counts": counts_of(launch["metrics"]),
        }
        for launch in measured["launches"]
        if kernel_base(launch["kernel"]) in own
    ]
    if not launches:
        raise CountsError(f"no launch of a kernel of {Path(folder).name}")
    arguments = measured["arguments"]
    size = arguments[arguments.index("--size") + 1] if "--size" in arguments else ""
    return as_text({**{key: measured[key] for key in KEPT}, "size": size, "launches": launches})


def caches_wanted(main: Path, results_folder: Path | str) -> list[tuple[str, str]]:
    """[(rung, size)] of which the chapter quotes what Nsight Compute says, and those recorded before."""
    read = header.read(main)
    default = read.sizes["gpu"]
    blocks = [block for _, blocks in source.all_blocks(main) for block in source.every_block(blocks)]
    texts = [one.expression for block in blocks if isinstance(block, source.Prose) for one in block.bindings]
    texts += [one.prediction.answer for one in predictions.collect(main)]
    wanted = []
    for text in texts:
        for number, ref, size in NCU_CALL.findall(text):
            size = size.strip("\"'") or default
            size = size if "," in size else ",".join([size] * (default.count(",") + 1))
            if number in ("", read.number):
                wanted.append((ref.partition("/")[0], size))
    for path in sorted(Path(results_folder).glob("*_caches.json")):
        for launch in json.loads(path.read_text(encoding="utf-8"))["launches"]:
            wanted.append((launch["rung"], ",".join(map(str, launch["size"].values()))))
    return [pair for pair in dict.fromkeys(wanted) if pair[0] in read.rungs]


def caches_of(text: str, own: set[str]) -> tuple[str, list[dict[str, Any]]]:
    """The device's name and the launches of the kernels `own` in what ncu printed of a program's run."""
    heads = re.findall(r"^\S+ on (.+?), (\w+ = \d+(?:, \w+ = \d+)*), seed \d+$", text, re.MULTILINE)
    if len(heads) != 1:
        raise CountsError(f"the program names {len(heads)} sizes; one is needed")
    device, size = heads[0][0], {name: int(extent) for name, extent in re.findall(r"(\w+) = (\d+)", heads[0][1])}
    # A long name has a line of its own.
    rungs = re.findall(r"^(\S+)(?: (\S.*?))?(?: +|\n +)PASS\s*$", text, re.MULTILINE)
    table = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    units = dict(zip(*table[:2])) if len(table) > 1 else {}
    for metric, unit in UNITS.items():
        if units.get(metric) != unit:
            raise CountsError(f"{metric} is in {units.get(metric)}, not in {unit}: run ncu with --print-units base")
    launches = [launch for launch in parse_raw_page(text, METRICS) if kernel_base(launch["kernel"]) in own]
    if len(launches) != len(rungs) or not launches:
        raise CountsError(f"{len(rungs)} rungs passed and {len(launches)} launches were counted: each has to have one")
    rows = []
    for (rung, variant), launch in zip(rungs, launches):
        missing = [metric for metric in METRICS if metric not in launch["metrics"]]
        if missing:
            raise CountsError(f"{rung} {variant}".strip() + f" has no {missing[0]}")
        shape = {key: launch[key] for key in ("grid", "block", "metrics")}
        kernel = kernel_base(launch["kernel"])
        rows.append({"rung": rung, "variant": variant or None, "size": size, "kernel": kernel, **shape})
    return device, rows


def caches_file(facts: dict[str, str], parts: list[tuple[str, list[dict[str, Any]]]]) -> str:
    """The text of GPU_caches.json, from (device, rows) of each run; all are of one device."""
    devices = {device for device, _ in parts}
    if len(devices) != 1:
        raise CountsError(f"the counts are of several devices: {', '.join(sorted(devices))}")
    what = {"what": "Nsight Compute's counts of caches and waits, rung by rung", "device": devices.pop(), **facts}
    return as_text({**what, "launches": [row for _, rows in parts for row in rows]})
