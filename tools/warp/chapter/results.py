"""Runs chapter programs on the simulator and reads the results of every GPU. Standard library only."""

from __future__ import annotations

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warp.base import records
from warp.chapter.errors import ResultsError
from warp.chapter.written import Row


@dataclass
class Results:
    """One results file: common/lab/include/lab/json.h says what is in it."""

    backend: str
    device: str
    driver: str
    toolkit: str
    date: str
    commit: str
    limits: dict[str, float]
    rows: list[Row]
    output: str = ""  # what the program printed, where it was run here
    trace: dict = field(default_factory=dict)  # the simulator's own JSON: launches, lines, findings
    lines: dict[str, dict] = field(default_factory=dict)  # kernel -> (file, line) -> counts
    shown: dict[str, str] = field(default_factory=dict)  # rung -> what it printed, beyond the table
    program: Path | None = None  # which was run here, and where its runs are kept
    work: Path | None = None
    moves: dict[str, dict[int, int]] = field(
        default_factory=dict
    )  # file -> lines of the program -> where they stand now

    def of(self, rung: str) -> list[Row]:
        return [row for row in self.rows if row.rung == rung]


STATUS = ("PASS", "FAIL", "SKIP", "ERROR")


def parse(text: str, origin: str) -> Results:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ResultsError(f"{origin}: not JSON (line {error.lineno}: {error.msg})") from None
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise ResultsError(f"{origin}: not a results file: it has no list 'rows'")
    for key in ("backend", "device", "date", "commit"):
        if not isinstance(data.get(key), str):
            raise ResultsError(f"{origin}: the key '{key}' is missing")
    return Results(
        data["backend"],
        data["device"],
        data.get("driver", ""),
        data.get("toolkit", ""),
        data["date"],
        data["commit"],
        data.get("limits", {}),
        rows_of(data["rows"], origin),
    )


def rows_of(rows: list[Any], origin: str) -> list[Row]:
    """The rows of a file, or ResultsError."""
    for index, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("rung"), str):
            raise ResultsError(f"{origin}: row {index} names no rung")
        if row.get("status") not in STATUS:
            raise ResultsError(
                f"{origin}: rung {row['rung']}: status {row.get('status')!r} is none of {', '.join(STATUS)}"
            )
    try:
        return [records.read(Row, row) for row in rows]
    except records.FormError as error:
        raise ResultsError(f"{origin}: {error}") from None


def load(path: Path) -> Results | None:
    """A results file, or nothing where there is none."""
    if not path.exists():
        return None
    return parse(path.read_text(encoding="utf-8"), str(path))


def as_text(data: dict) -> str:
    """What is recorded, as JSON with a line for each fact and for each row, so that a difference can be read.

    common/lab/src/json.cpp writes the results of a chapter's program in the same form.
    """
    return _lines(data, "") + "\n"


def _lines(value: Any, indent: str) -> str:
    inner = indent + " "
    if isinstance(value, dict) and value:
        entries, ends = [f"{_line(key)}: {_lines(entry, inner)}" for key, entry in value.items()], "{}"
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        entries, ends = [_line(entry) for entry in value], "[]"
    else:
        return _line(value)
    return ends[0] + ",".join(f"\n{inner}{entry}" for entry in entries) + f"\n{indent}{ends[1]}"


def _line(value: dict[str, Any] | float | str) -> str:
    return json.dumps(value, ensure_ascii=False)


FIRST_GPU = "h200"  # the numbers of the prose are its own unless they say otherwise


def recorded_gpus(folder: Path) -> list[str]:
    """The GPUs whose results are in a chapter's results folder, as the files are named: h200 first."""
    names = [path.stem for path in folder.glob("*.json") if path.name != "differences.json"]
    others = ("_counts", "_caches", "_cccl", "_bounds", "_shapes", "_pytorch", "_pairs", "_timeline", "_orders")
    gpus = [name for name in names if not name.endswith((*others, "_sustained", "_zeros"))]
    return sorted(gpus, key=lambda gpu: (gpu != FIRST_GPU, gpu))


def load_recorded(folder: Path) -> dict[str, Results]:
    """The results of every GPU that was recorded, by the names of their files."""
    return {gpu: results for gpu in recorded_gpus(folder) if (results := load(folder / f"{gpu}.json"))}


def kernel_base(kernel: str) -> str:
    """`ns::reduce<float, 256>(float*)` -> `reduce`."""
    return kernel.split("<")[0].split("(")[0].split()[-1].split("::")[-1] if kernel.strip() else ""


def run_program(program: Path, work: Path, commit: str = "unknown", timeout: float = 300) -> Results:
    """Runs a chapter's simulator program and returns its results and what it printed.

    One block runs after the other. So none waits for another, and what they load while they wait is not in the counts,
    which are the same each time.
    """
    if not program.exists():
        raise ResultsError(f"{program} is not built; run './learn run --backend simulator' first")
    work.mkdir(parents=True, exist_ok=True)
    report, trace = work / "results.json", work / "trace.json"
    report.unlink(missing_ok=True)
    trace.unlink(missing_ok=True)
    environment = dict(os.environ, NO_COLOR="1", SIMT_THREADS="1", SIMT_JSON=str(trace), WARP_COMMIT=commit)
    try:
        done = subprocess.run(
            [str(program), "--json", str(report)], capture_output=True, text=True, env=environment, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        raise ResultsError(f"{program} did not end within {timeout:.0f} seconds") from None
    except OSError as error:
        raise ResultsError(f"{program} does not start: {error.strerror}") from None
    if done.returncode != 0:
        lines = [line for line in (done.stderr or done.stdout).strip().split("\n") if line.strip()]
        raise ResultsError(f"{program} exited with {done.returncode}: {lines[-1] if lines else 'no message'}")
    if not report.exists():
        raise ResultsError(f"{program} wrote no results file")
    results = parse(report.read_text(encoding="utf-8"), str(report))
    if results.backend != "simulator":
        raise ResultsError(f"{program} was built for the {results.backend}; the site's counts come from the simulator")
    results.output = done.stdout
    if trace.exists():
        results.trace = json.loads(trace.read_text(encoding="utf-8"))
        results.lines = lines_by_kernel(results.trace)
    return results


def product_bytes(row: Row, size: dict[str, int]) -> float:
    """What a matrix product moves between the SMs and the memory system at a larger size than it was counted at, in
    bytes; 0 where a row is no product or moves nothing. Both sizes are whole tiles, so each multiply-add has its
    share of the sectors that are read, and each element of C its share of those that are written. The small size has
    a short K, and would have far too many of the latter."""
    counts, small = row.counts, row.size
    if set(small) != {"M", "N", "K"}:
        return 0
    elements = size["M"] * size["N"] / (small["M"] * small["N"])
    return (
        32
        * elements
        * (counts.get("global_load_sectors", 0) * size["K"] / small["K"] + counts.get("global_store_sectors", 0))
    )


def show_rungs(program: Path, results: Results, timeout: float = 300) -> None:
    """Fills `shown`: runs each rung by itself, if the program printed anything beyond its table."""
    if not before_table(results.output):
        return
    environment = dict(os.environ, NO_COLOR="1")
    environment.pop("SIMT_JSON", None)

    def one(rung: str) -> tuple[str, str]:
        done = subprocess.run(
            [str(program), "--rung", rung], capture_output=True, text=True, env=environment, timeout=timeout
        )
        return rung, before_table(done.stdout)

    with ThreadPoolExecutor(max_workers=2) as pool:
        results.shown = {
            rung: text for rung, text in pool.map(one, dict.fromkeys(r.rung for r in results.rows)) if text
        }


def without_root(results: Results, root: Path) -> None:
    """Makes the paths in what a program said relative to the course: a finding names its source in full."""
    prefix = f"{root}/"
    results.output = results.output.replace(prefix, "")
    results.shown = {rung: text.replace(prefix, "") for rung, text in results.shown.items()}
    for row in results.rows:
        if row.reason:
            row.reason = row.reason.replace(prefix, "")


def examples_of(results: Results, kernel: str, source: Path, line: str, launch: int = -1) -> list[dict]:
    """What the trace keeps of the requests of one line, given by its text: an example of each access. Of several
    launches of a kernel that have any, `launch` says which; the last if it does not."""
    numbers = [i for i, text in enumerate(source.read_text(encoding="utf-8").split("\n"), start=1) if line in text]
    found = []
    for run in results.trace.get("launches", []):
        if kernel_base(run["kernel"]) == kernel:
            examples = [
                example
                for entry in run["lines"]
                if entry["line"] in numbers and Path(entry["file"]).name == source.name
                for example in entry["examples"]
            ]
            if examples:
                found.append(examples)
    if not -len(found) <= launch < len(found):
        raise ResultsError(f"{source}: the trace has no request of {kernel} on a line with '{line}'")
    return found[launch]


def is_heading(line: str) -> bool:
    """The first line of the table; lab/table.h prints it. Where no rung has figures, it is that word alone."""
    return re.match(r"rung(\s+(loads|median ms)\b|\s*$)", line) is not None


def before_table(output: str) -> str:
    """What a program printed before its table, less the line that says which chapter runs where."""
    lines = output.split("\n")
    if re.match(r"\d\d_\w+ on ", lines[0]):
        lines = lines[1:]
    end = next((i for i, line in enumerate(lines) if is_heading(line)), len(lines))
    return "\n".join(line.rstrip() for line in lines[:end]).strip("\n")


def lines_by_kernel(trace: dict) -> dict[str, dict]:
    """For each kernel, the counts of its source lines in its first launch."""
    found: dict[str, dict] = {}
    for launch in trace.get("launches", []):
        base = kernel_base(launch.get("kernel", ""))
        if base and base not in found:
            found[base] = {(entry["file"], entry["line"]): entry["counts"] for entry in launch["lines"]}
    return found
