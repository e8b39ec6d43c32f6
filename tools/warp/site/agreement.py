"""The page that shows the simulator's counts beside the hardware's, for every kernel that was measured."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warp.chapter.counted import agree
from warp.chapter.run import kept_launches
from warp.site import markup

# The columns: what they are called, and the count that they show.
COLUMNS = [
    ("global loads: requests", "global_load_requests"),
    ("sectors", "global_load_sectors"),
    ("stores: requests", "global_store_requests"),
    ("sectors", "global_store_sectors"),
    ("atomics: sectors", "global_atomic_sectors"),
    ("shared loads: wavefronts", "shared_load_wavefronts"),
    ("stores: wavefronts", "shared_store_wavefronts"),
    ("shared wavefronts", "shared_wavefronts"),
    ("ideal", "shared_wavefronts_ideal"),
]
# Programs of hundreds of launches, each a pattern of addresses: not a row each, but how many agree.
PATTERNS = {
    "async_copies": "patterns of asynchronous copies by one warp",
    "atomic_patterns": "patterns of atomics by one warp",
}


def launches_of(program: Path, trace: Path) -> list[dict]:
    """The launches of a run by one thread, so that blocks that wait for others look as often each time; it writes `trace`."""
    trace.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [program], env={**os.environ, "SIMT_THREADS": "1", "SIMT_JSON": str(trace)}, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise ValueError(f"{program} ended with exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return json.loads(trace.read_text(encoding="utf-8"))["launches"]


def cell(name: str, counts: dict, hardware: int | None) -> str:
    """One number where both agree, else both."""
    if hardware is None:
        return "–"
    ours = counts[name]
    if agree(name, counts, hardware):
        return f"{ours:,}" if ours else ""
    return f"**{ours:,}**, H200 {hardware:,}"


def row(name: str, ours: dict, hardware: dict) -> list[str]:
    return [f"`{name}`", *(cell(count, ours, hardware.get(count)) for _, count in COLUMNS)]


def table(rows: list[list[str]]) -> str:
    head = ["kernel", *(title for title, _ in COLUMNS)]
    drawn = markup.table(head, rows, "l" + "r" * len(COLUMNS))
    return f":::{{div}} agreement\n\n{drawn}\n\n:::"


def geometry(launch: dict) -> str:
    sizes = ("x".join(map(str, launch[name])) for name in ("grid", "block"))
    return ", ".join(size.removesuffix("x1").removesuffix("x1") for size in sizes)


def page(root: Path, programs: Path, work: Path) -> str:
    """The whole page. `programs` holds the built tests of the simulator."""

    def load(*names: str) -> dict[str, Any]:
        return json.loads(root.joinpath("tests", "simulator", *names).read_text(encoding="utf-8"))

    kept = kept_launches(root) or {}

    def launches(folder: str, name: str) -> list[dict]:
        return kept.get(name) or launches_of(programs / folder / name, work / f"{name}.json")

    micro, common = load("microkernels", "h200.json"), load("agreement", "h200.json")
    simulated = {launch["kernel"]: launch["counts"] for launch in launches("microkernels", "microkernels")}
    rows = [row(name, simulated[name], case["counts"]) for name, case in micro["cases"].items()]
    parts = [
        "# The simulator and the hardware",
        "Every number here was counted twice: by the simulator, and by Nsight Compute on an "
        f"{micro['device']}, when the kernels were measured ({micro['date']}, driver {micro['driver']}, {micro['toolkit']}, "
        f"ncu {micro['ncu'].split(' (')[0]}). One number stands where both agree; where they differ, both stand, the simulator's "
        "in bold. An empty field is a zero. The counters of shared wavefronts by kind read up to 3 % too high on a busy chip; "
        "within that they agree. [How the simulator works](simulator.md) has the rules.",
        "## Microkernels",
        f"{len(rows)} kernels that each do one thing in one way; the compiler is kept from changing what they say.",
        table(rows),
        *reasons(load("microkernels", "open.json")["cases"].items()),
        "## Common kernels",
        "Kernels as people write them, launch by launch, with nothing to keep `nvcc` from changing what the source says. Behind "
        "the name: blocks, threads of a block.",
    ]
    unseen = []
    for program, recorded in common["programs"].items():
        rows = [
            row(f"{launch['kernel']} {geometry(launch)}", launch["counts"], dict(zip(common["counts"], values)))
            for launch, (_, _, _, values) in zip(launches("agreement", f"agreement_{program}"), recorded)
        ]
        if program in PATTERNS:
            equal = sum(not any("H200" in text for text in cells) for _, *cells in rows)
            unseen.append(f"Not shown: {len(rows)} {PATTERNS[program]}, of which {equal} agree.")
            continue
        parts += [f"### {program}", table(rows)]
    parts += unseen
    parts += reasons((", ".join(entry["names"]), entry) for entry in load("agreement", "open.json")["kernels"])
    return "\n\n".join(parts) + "\n"


def reasons(entries: Iterable[tuple[str, dict]]) -> list[str]:
    listed = [f"- `{name}`: {markup.escape(entry['why'])}." for name, entry in entries]
    return ["Where they differ, and why:\n\n" + "\n".join(listed)] if listed else []
