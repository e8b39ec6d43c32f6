"""What the warps of a kernel's first block did, step by step, as the simulator recorded it. Standard library only."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from warp.base.files import write_atomically
from warp.base.text import there
from warp.chapter import results, run

MOST = 20_000  # steps


@dataclass
class Step:
    """A warp instruction, or several alike in a row: of warp `warp`, between the barriers `interval` and the next one."""

    warp: int
    interval: int
    what: str  # enter, load, store, atomic or wait
    space: str  # global, shared or ""
    line: int
    lanes: int  # a bit for each
    times: int = 1
    cost: int = 0  # sectors or wavefronts
    words: set[int] = field(default_factory=set)  # of shared memory
    races: bool = False  # with another warp, which no barrier keeps apart


@dataclass
class Recording:
    kernel: str
    steps: list[Step]
    barriers: list[int]  # the lines of those at which the whole block met


def recorded(of: results.Results, rung: str, *arguments: str, launch: int = 0, blocks: bool = True) -> Recording:
    """The first block of the rung's kernel, in that of its launches, with the blocks of code that its warps entered or without.
    `of` is the run of its chapter; `arguments`, as `--size`, may make the launch smaller. It is recorded once for each program."""
    program, work = there(of.program), there(of.work)
    kept = work / f"recorded-{rung}.json"
    key = [run.digest_of(program), *arguments]
    try:
        known = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if known.get("key") != key:
        if not program.exists():
            raise results.ResultsError(
                f"{program} is not built, and no recording of {rung} is kept: ./learn author simulated"
            )
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.json"
            environment = dict(os.environ, NO_COLOR="1", SIMT_THREADS="1", SIMT_JSON=str(trace), SIMT_RECORD=str(MOST))
            command = [str(program), "--rung", rung, *arguments]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
            if done.returncode != 0 or not trace.exists():
                raise results.ResultsError(f"{' '.join(command)} exited with {done.returncode} and left no recording")
            launches = json.loads(trace.read_text(encoding="utf-8"))["launches"]
        launches = [one for one in launches if results.kernel_base(one["kernel"]) == rung and one.get("recording")]
        known = {"key": key, "launches": [one["recording"] for one in launches]}
        write_atomically(kept, json.dumps(known))
    if len(known["launches"]) <= launch:
        raise results.ResultsError(f"{program}: no recording of launch {launch} of {rung}")
    steps = known["launches"][launch]
    for step in steps:
        step["line"] = of.moves.get(Path(step["file"]).name, {}).get(step["line"], step["line"])
    return parse(rung, steps, blocks)


def parse(kernel: str, steps: list[dict], blocks: bool = True) -> Recording:
    """The steps as the trace has them, those alike in a row as one. A block of the code begins at the line of its first
    access, which then says more."""
    made: list[Step] = []
    last: dict[int, Step] = {}
    barriers: list[int] = []
    for one in steps:
        if one["what"] == "meet":
            barriers.append(one["line"])
            last.clear()
            continue
        if one["what"] == "enter" and not blocks:
            continue
        step = Step(
            one["warp"],
            len(barriers),
            one["what"],
            one.get("space", ""),
            one["line"],
            one["lanes"],
            cost=one.get("sectors", 0) or one.get("wavefronts", 0),
        )
        if step.space == "shared":
            step.words = {address // 4 for address in one["addresses"]}
        before = last.get(step.warp)
        if before and (before.line, before.lanes) == (step.line, step.lanes):
            if (before.what, before.space, before.cost) == (step.what, step.space, step.cost):
                before.times += 1
                before.words |= step.words
                continue
            if before.what == "enter" and before.times == 1:
                made.remove(before)
        last[step.warp] = step
        made.append(step)
    find_races(made)
    return Recording(kernel, made, barriers)


def find_races(steps: list[Step]) -> None:
    """Marks a store to shared memory, and what another warp does with the same words between the same two barriers."""
    by_interval: dict[int, list[Step]] = {}
    for step in steps:
        if step.words:
            by_interval.setdefault(step.interval, []).append(step)
    for together in by_interval.values():
        for store in together:
            if store.what != "store":
                continue
            for other in together:
                if other.warp != store.warp and other.words & store.words:
                    store.races = other.races = True
