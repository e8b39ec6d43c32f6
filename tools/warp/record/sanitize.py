"""Runs the programs with planted faults under compute-sanitizer: sanitize.py OUTPUT_FOLDER [SECONDS]

Builds tests/simulator/findings with nvcc, runs each faulty program under each of the four tools, and the corrected
twins, several in one process where they are clean. SECONDS (default 190) bounds the whole; what does not fit
any more is recorded as not run. Needs a GPU. Written to OUTPUT_FOLDER:

  planted.json     the tools' versions, and for each program, variant and tool the errors it reported
  planted.log.gz   all that the tools printed
"""

from __future__ import annotations

import concurrent.futures
import datetime
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[3] / "tests" / "simulator" / "findings"
TOOLS = {
    "memcheck": ["--leak-check", "full"],
    "racecheck": [],
    "synccheck": [],
    "initcheck": [],
}
AT_ONCE = 8
SECONDS_PER_RUN = 25
TOGETHER = 10  # corrected programs in one process

# What stands in the first line of an error, and is no error by itself.
NO_ERROR = re.compile(
    r"COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY|Target application returned"
    r"|Error: process didn't terminate|No attachable process|were not printed|Saved host backtrace"
    r"|Host Frame|Device Frame|^and |^at |^by |^in |^Access |^Address |^Thread|^Value|^Barrier (?!error)|^$"
)
SOURCE_LINE = re.compile(r"\bin (?:[^\s:]*/)?([\w.]+\.cuh?):(\d+)")


def parse(text: str) -> tuple[int | None, list[dict[str, Any]]]:
    """What one run of a tool printed -> (errors or None, [{"kind", "lines", "count"}])."""
    errors = None
    for pattern in (r"ERROR SUMMARY: (\d+) error", r"RACECHECK SUMMARY: (\d+) hazard"):
        if found := re.search(pattern, text):
            errors = int(found.group(1))
    reports: list[dict[str, Any]] = []
    current: dict[str, Any] | None = None
    for line in text.splitlines():
        if not line.startswith("========="):
            current = None
            continue
        body = line[len("=========") :].strip()
        indented = line.startswith("=========     ")
        if body and not indented and not NO_ERROR.search(body):
            current = {
                "kind": re.sub(r"0x[0-9a-f]+|\b\d+ hazards?\b", "*", SOURCE_LINE.sub("in *", body)),
                "lines": [],
                "count": 1,
            }
            reports.append(current)
        if current is not None:
            for file, number in SOURCE_LINE.findall(body):
                if [file, int(number)] not in current["lines"]:
                    current["lines"].append([file, int(number)])
    merged: list[dict[str, Any]] = []
    for report in reports:
        same = [r for r in merged if r["kind"] == report["kind"] and r["lines"] == report["lines"]]
        if same:
            same[0]["count"] += 1
        else:
            merged.append(report)
    return errors, merged


def first_line(*command: str) -> str:
    try:
        lines = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.splitlines()
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return next((line.strip() for line in lines if re.search(r"\d\.\d", line)), "unknown")


def build(folder: Path) -> tuple[Path, str]:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    # Frames and lines of the host for its faults, lines of the device for the kernels'.
    flags = ["-std=c++20", "-gencode=arch=compute_90a,code=sm_90a", "-rdc=true", "-lineinfo", "-Xcompiler=-g,-rdynamic"]
    main, *others = sorted(SOURCES.glob("*.cu"), key=lambda source: source.name != "main.cu")
    sources = [main, *(other for other in others if "int main(" not in other.read_text(encoding="utf-8"))]
    with concurrent.futures.ThreadPoolExecutor(len(sources)) as pool:
        objects = [folder / f"{source.stem}.o" for source in sources]
        list(
            pool.map(
                lambda pair: subprocess.run([nvcc, *flags, "-c", str(pair[0]), "-o", str(pair[1])], check=True),
                zip(sources, objects),
            )
        )
    program = folder / "planted"
    subprocess.run([nvcc, *flags, "-o", str(program), *map(str, objects), "-lcublas", "-lcurand"], check=True)
    return program, nvcc


def main(words: list[str]) -> int:
    if len(words) not in (1, 2):
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    end = time.monotonic() + (float(words[1]) if len(words) == 2 else 190)
    out = Path(words[0])
    out.mkdir(parents=True, exist_ok=True)
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    log: list[str] = []
    results: list[dict[str, Any]] = []

    with tempfile.TemporaryDirectory() as temporary:
        program, nvcc = build(Path(temporary))
        listed = subprocess.run([str(program), "--list"], capture_output=True, text=True, check=True).stdout
        names = [line.split()[0] for line in listed.splitlines() if line.split()[2] == "everywhere"]

        def run(tool: str, variant: str, some: list[str]) -> tuple[int | None, list[dict[str, Any]], int | str]:
            """One process under one tool -> (errors, reports, exit code)."""
            left = end - time.monotonic()
            if left < 3:
                return None, [], "not run"
            command = [sanitizer, "--tool", tool, *TOOLS[tool], str(program), variant, *some]
            try:
                done = subprocess.run(
                    command,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    timeout=min(left, SECONDS_PER_RUN),
                    check=False,
                )
                text = done.stdout
                code: int | str = done.returncode
            except subprocess.TimeoutExpired as late:
                said = late.stdout or ""
                text = said if isinstance(said, str) else said.decode(errors="replace")
                code = "timeout"
            log.append(f"### {tool} {variant} {' '.join(some)}: exit {code}\n{text}\n")
            return (*parse(text), code)

        def record(tool: str, variant: str, name: str) -> None:
            errors, reports, code = run(tool, variant, [name])
            results.append(
                {"program": name, "variant": variant, "tool": tool, "errors": errors, "exit": code, "reports": reports}
            )

        def correct(tool: str, some: list[str]) -> None:
            errors, reports, code = run(tool, "correct", some)
            if errors == 0 and code == 0 and not reports:
                results.extend(
                    {"program": name, "variant": "correct", "tool": tool, "errors": 0, "exit": 0, "reports": []}
                    for name in some
                )
            else:
                for name in some:
                    record(tool, "correct", name)

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = [
                pool.submit(correct, tool, names[i : i + TOGETHER])
                for tool in TOOLS
                for i in range(0, len(names), TOGETHER)
            ]
            jobs += [pool.submit(record, tool, "faulty", name) for name in names for tool in TOOLS]
            for job in jobs:
                job.result()

    order = {name: i for i, name in enumerate(names)}
    tools = list(TOOLS)
    results.sort(key=lambda r: (order[r["program"]], r["variant"] != "faulty", tools.index(r["tool"])))
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").split(", ")
    data = {
        "what": "what compute-sanitizer reports of the programs with planted faults",
        "device": gpu[0],
        "driver": gpu[-1],
        "toolkit": first_line(nvcc, "--version"),
        "compute-sanitizer": first_line(sanitizer, "--version"),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": os.environ.get("WARP_COMMIT", "unknown"),
        "results": results,
    }
    (out / "planted.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    with gzip.open(out / "planted.log.gz", "wt", encoding="utf-8") as file:
        file.write("".join(log))
    not_run = sum(1 for r in results if r["errors"] is None)
    print(f"{len(names)} programs, {len(results)} results, {not_run} of them without a summary")
    for r in results:
        if r["variant"] == "faulty" and r["errors"]:
            print(f"{r['program']:24} {r['tool']:10} {r['errors']:4} {r['reports'][0]['kind'] if r['reports'] else ''}")
        elif r["variant"] == "correct" and r["errors"] != 0:
            print(f"{r['program']:24} {r['tool']:10} CORRECT variant: {r['errors']} exit {r['exit']}")
    return 1 if not_run else 0
