"""Counts what a CUDA program's kernels do on the GPU, with Nsight Compute, under the names the course uses.

Runs PROGRAM once under ncu with the clocks left alone and writes one JSON file: the tools' versions, the
device, the driver, the date and, for every launch in order, the process (programs that PROGRAM starts are
measured too), the kernel's name, its grid and block, the raw metrics and the counts made of them. A metric that this ncu or this GPU does not know is left out and
named under "missing_metrics"; the run is not lost for it.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import glob
import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from warp.base.counts import COUNTS as TABLE

# What is counted, and the hardware metrics whose sum it is.
COUNTS = {count.name: count.counters for count in TABLE if count.counters}

# Metrics kept beside the counts: twins that must agree with them, active lanes, guards against accesses
# that nobody meant (local memory), and what explains a difference.
BESIDE = [
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_red.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "smsp__inst_executed_op_global_red.sum",
    "smsp__inst_executed_op_global_atom.sum",
    "smsp__inst_executed_op_shared_atom_dot_alu.sum",
    "smsp__inst_executed_op_shared_atom_dot_cas.sum",
    "smsp__sass_inst_executed_op_global_ld.sum",
    "smsp__sass_inst_executed_op_global_st.sum",
    "smsp__sass_inst_executed_op_global_red.sum",
    "smsp__sass_inst_executed_op_global_atom.sum",
    "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "smsp__inst_executed_op_shared_st_pred_on_any.sum",
    "smsp__sass_inst_executed_op_shared_atom.sum",
    "smsp__sass_thread_inst_executed_op_memory_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_memory_op_global_ld_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_global_ld_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_global_st_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_shared_ld_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_shared_st_pred_on.sum",
    "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum",
    "smsp__sass_data_bytes_mem_global_op_red.sum",
    "smsp__sass_data_bytes_mem_global_op_atom.sum",
    "smsp__sass_data_bytes_mem_shared_op_ld.sum",
    "smsp__sass_data_bytes_mem_shared_op_st.sum",
    "smsp__sass_data_bytes_mem_shared_op_atom.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "smsp__branch_targets_threads_divergent.sum",
    "smsp__thread_inst_executed.sum",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "inst_executed",
    "thread_inst_executed_true",
    "gpu__time_duration.sum",
]

# Counted per instruction by the profiler itself; `ncu --query-metrics` does not list them.
NOT_QUERIED = ("memory_", "inst_executed", "thread_inst_executed")

WANTED = [metric for metrics in COUNTS.values() for metric in metrics] + BESIDE


def find_ncu() -> str | None:
    """The profiler's path, or None. Where NCU is set, no other than that."""
    candidates = [os.environ.get("NCU")]
    if not candidates[0]:
        candidates = [shutil.which("ncu"), "/usr/local/cuda/bin/ncu"]
        candidates += sorted(glob.glob("/opt/nvidia/nsight-compute/*/ncu"), reverse=True)
    return next((c for c in candidates if c and os.access(c, os.X_OK)), None)


def run(command: list[str], timeout: int) -> tuple[int, str]:
    """Exit code and output of a command, both streams together; 124 where it took too long.

    What takes too long is interrupted first: ncu then still writes what it has measured.
    """
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except OSError as error:
        return 127, str(error)
    for signal_sent, patience in ((None, timeout), (signal.SIGINT, 30), (signal.SIGKILL, None)):
        if signal_sent:
            process.send_signal(signal_sent)
        try:
            output, _ = process.communicate(timeout=patience)
            return (124 if signal_sent else process.returncode), output
        except subprocess.TimeoutExpired:
            pass
    raise AssertionError("a killed process has ended")


def first_line(command: list[str], pattern: str | None = None) -> str:
    """The first line of a command's output that holds `pattern`; "unknown" where there is none."""
    code, output = run(command, 60)
    if code == 0:
        for line in output.splitlines():
            if line.strip() and (pattern is None or re.search(pattern, line)):
                return line.strip()
    return "unknown"


def known_metrics(listing: str, wanted: list[str]) -> list[str]:
    """Of `wanted`, what the counts need, what `ncu --query-metrics` lists or by its nature does not."""
    known = set(re.findall(r"^\s*([a-z][a-z0-9_]+__[a-z0-9_]+)", listing, re.MULTILINE))
    if not known:  # no listing: ask for all, the probe will tell
        return list(wanted)
    counted = {m for metrics in COUNTS.values() for m in metrics}  # asked for in any case
    return [m for m in wanted if m in counted or m.startswith(NOT_QUERIED) or m.split(".")[0] in known]


def complaints(output: str) -> str:
    """The lines of ncu's output that say what is wrong; the program's own output may follow them."""
    return "\n".join(line for line in output.splitlines() if re.match(r"==(ERROR|WARNING)==", line))


def last_words(output: str) -> str:
    """What a failed run is reported with: ncu's complaints, else the end of what was printed."""
    return complaints(output) or "\n".join(output.splitlines()[-8:])


def refused_metrics(output: str, asked: list[str]) -> list[str]:
    """The metrics that an error message of ncu names."""
    complaints = [
        line for line in output.splitlines() if re.search(r"==(ERROR|WARNING)==", line) or "metric" in line.lower()
    ]
    text = "\n".join(complaints)
    return [m for m in asked if re.search(rf"(?<![\w.]){re.escape(m)}(?![\w.])", text)]


def number(text: str) -> float | None:
    """A CSV field as int or float; None for what is no number ("n/a", "")."""
    text = text.replace(",", "").strip()
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value == int(value) else value


def dimensions(text: str) -> list[int]:
    """ "(32, 1, 1)" as [32, 1, 1]."""
    return [int(n) for n in re.findall(r"\d+", text)]


def counts_of(metrics: dict[str, float]) -> dict[str, float]:
    """The course's counts of one launch, as far as its metrics allow."""
    return {name: sum(metrics[m] for m in parts) for name, parts in COUNTS.items() if all(m in metrics for m in parts)}


def parse_raw_page(text: str, metrics: list[str]) -> list[dict[str, Any]]:
    """Launches of `ncu --page raw --csv`, each with its kernel, shape, metrics and counts."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(('"ID"', "ID,"))), None)
    if start is None:
        return []
    launches: list[dict[str, Any]] = []
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        if not (row.get("ID") or "").strip().isdigit():
            continue  # the row of units
        read = {m: number(row.get(m) or "") for m in metrics}
        values = {m: v for m, v in read.items() if v is not None}
        launches.append(
            {
                "index": len(launches),
                "process": row.get("Process Name", ""),
                "kernel": row.get("Kernel Name", ""),
                "grid": dimensions(row.get("Grid Size", "")),
                "block": dimensions(row.get("Block Size", "")),
                "counts": counts_of(values),
                "metrics": values,
            }
        )
    return launches


def ncu_command(ncu: str, metrics: list[str], options: list[str], report: str, program: list[str]) -> list[str]:
    return (
        [
            ncu,
            "--force-overwrite",
            "--export",
            report,
            "--clock-control",
            "none",
            "--target-processes",
            "all",
            "--cache-control",
            "none",
            "--kernel-name-base",
            "function",
            "--metrics",
            ",".join(metrics),
        ]
        + options
        + program
    )


def only_kernels(names: list[str]) -> str:
    """ncu's filter for functions of these names: what else a program launches (a library's kernels) runs unmeasured."""
    return "regex:^(" + "|".join(map(re.escape, names)) + ")$"


def usable_metrics(
    ncu: str, metrics: list[str], program: list[str], timeout: int, log: Callable[..., Any]
) -> list[str]:
    """Leaves out, by profiling one launch, every metric that makes ncu refuse to run."""

    def probe(asked: list[str]) -> tuple[bool, str]:
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "probe")
            command = ncu_command(ncu, asked, ["--launch-count", "1", "--kill", "yes"], report, program)
            _, output = run(command, timeout)
            return os.path.exists(report + ".ncu-rep"), output

    asked = list(metrics)
    for _ in range(len(metrics)):
        works, output = probe(asked)
        if works:
            return asked
        refused = refused_metrics(output, asked)
        if not refused:
            break
        asked = [m for m in asked if m not in refused]
        if not asked:
            return []
    log("ncu refuses and names no metric; its last words:\n" + last_words(output))

    # Halve: the metrics that work together stay.
    def working(group: Any) -> Any:
        if not group or probe(group)[0]:
            return group
        if len(group) == 1:
            return []
        middle = len(group) // 2
        return working(group[:middle]) + working(group[middle:])

    if not probe(asked[:1])[0] and not probe(asked[-1:])[0]:
        return []  # nothing works: it is not the metrics
    return working(asked)


def measure(arguments: Any, log: Callable[..., Any]) -> int:
    ncu = find_ncu()
    if ncu is None:
        log("counters.py: no ncu here; install Nsight Compute or set NCU to its path")
        return 1
    program = [os.path.abspath(arguments.program)] + arguments.arguments
    if not os.access(arguments.program, os.X_OK):
        log(f"counters.py: '{arguments.program}' is no program that can be run")
        return 2

    wanted = arguments.only.split(",") if arguments.only else list(dict.fromkeys(WANTED + arguments.extra))
    _, listing = run([ncu, "--query-metrics"], 120)
    listed = known_metrics(listing, wanted)
    usable = usable_metrics(ncu, listed, program, arguments.timeout, log)
    if not usable:
        log("counters.py: ncu measures nothing here; is this user allowed to read the counters?")
        return 1

    options = []
    if arguments.kernels:
        options += ["--kernel-name", only_kernels(arguments.kernels.split(","))]
    if arguments.first_of_each:
        options += ["--kernel-id", "::regex:.*:1"]
    if arguments.launches:
        options += ["--launch-count", str(arguments.launches)]
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        code, output = run(ncu_command(ncu, usable, options, report, program), arguments.timeout)
        if code != 0:
            log(f"counters.py: ncu ended with exit code {code}; its last words:\n{last_words(output)}")
        report += ".ncu-rep"
        if not os.path.exists(report):
            return 1
        _, raw = run(
            [
                ncu,
                "--import",
                report,
                "--csv",
                "--page",
                "raw",
                "--print-units",
                "base",
                "--kernel-name-base",
                "function",
            ],
            arguments.timeout,
        )
        if arguments.source:
            _, source = run(
                [ncu, "--import", report, "--csv", "--page", "source", "--print-source", "sass"], arguments.timeout
            )
            with gzip.open(arguments.source, "wt") as file:
                file.write(source)
    launches = parse_raw_page(raw, usable)
    measured = {m for launch in launches for m in launch["metrics"]}
    missing = [m for m in wanted if m not in measured]
    result = {
        "what": "Nsight Compute's counts, launch by launch",
        "program": os.path.basename(arguments.program),
        "arguments": arguments.arguments,
        "device": first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]),
        "driver": first_line(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
        "toolkit": first_line(["nvcc", "--version"], "release"),
        "ncu": first_line([ncu, "--version"], "[Vv]ersion"),
        "date": datetime.date.today().isoformat(),
        "commit": os.environ.get("WARP_COMMIT") or first_line(["git", "rev-parse", "HEAD"]),
        "program_exit_code": code,
        "missing_metrics": missing,
        "launches": launches,
    }
    text = json.dumps(result, indent=None, separators=(",", ":"))
    text = text.replace('{"index"', '\n{"index"') + "\n"
    if arguments.out:
        with open(arguments.out, "w") as file:
            file.write(text)
        log(
            "counters.py: {} launches, {} metrics, {} missing{} -> {}".format(
                len(launches),
                len(measured),
                len(missing),
                " (" + ", ".join(missing) + ")" if missing else "",
                arguments.out,
            )
        )
    else:
        sys.stdout.write(text)
    return 0 if launches and code == 0 else 1


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./learn author count",
        description="Counts what a CUDA program's kernels do on the GPU, with Nsight Compute.",
    )
    parser.add_argument("--out", help="the JSON file to write (default: standard output)")
    parser.add_argument("--source", help="also write ncu's counts per machine instruction, gzipped CSV")
    parser.add_argument("--first-of-each", action="store_true", help="profile only the first launch of each kernel")
    parser.add_argument("--kernels", default="", help="profile only kernels of these names, separated by commas")
    parser.add_argument("--launches", type=int, default=0, help="profile at most so many launches")
    parser.add_argument("--extra", action="append", default=[], help="one more metric")
    parser.add_argument("--only", default="", help="these metrics, separated by commas, and no others")
    parser.add_argument("--timeout", type=int, default=240, help="seconds for one run of ncu")
    parser.add_argument("program", help="the program to measure")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    arguments = parser.parse_args(words)
    return measure(arguments, lambda text: print(text, file=sys.stderr, flush=True))
