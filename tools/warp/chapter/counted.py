"""The hardware's counts of a chapter beside the simulator's: results/GPU_counts.json. Standard library only."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from warp.chapter.errors import ResultsError
from warp.chapter.results import FIRST_GPU, Results, kernel_base
from warp.chapter.written import Row

# A guide only: the compiler turns short branches into predicates, which do not diverge.
NOT_COMPARED = {"divergent_branches"}

# On a busy chip the counters of wavefronts by kind read up to this much too high (3.3 % was seen, never too low), and so
# do the conflicts, which are computed from them. Their sum, shared_wavefronts, is found by instruction and has no noise.
NOISE = 0.035
NOISY = {
    f"shared_{kind}_{what}": f"shared_{kind}_wavefronts"
    for kind in ("load", "store")
    for what in ("wavefronts", "bank_conflicts")
} | {"shared_atomic_wavefronts": "shared_atomic_wavefronts"}


def agree(name: str, counts: dict, value: int) -> bool:
    """Whether the simulator's count is the hardware's `value`, its noise allowed for."""
    noise = NOISE * counts.get(NOISY.get(name), 0)
    return counts[name] <= value <= counts[name] + noise


@dataclass
class CountedLine:
    """One count of one launch on both sides."""

    kernel: str
    launch: int  # 0 for the kernel's first
    count: str
    simulated: int
    hardware: int


@dataclass
class Counted:
    """What the hardware counted, launch by launch (results/GPU_counts.json), and why some of it differs
    (results/differences.json, written by hand: kernel -> count -> reason).

    A reason is a text, or {"waiting": text} for a count that grows while a block waits for others. On the simulator
    no block waits here (results.run_program), so such a count may be higher on the hardware or the same, never lower.
    """

    device: str
    tool: str
    date: str
    size: str
    launches: list[dict]
    differences: dict[str, dict[str, str | dict[str, str]]]
    compared: tuple[list[Row], dict, list[CountedLine]] | None = None  # the last: each rung of a page asks for it

    def compare(self, simulated: Results) -> list[CountedLine]:
        """Every count of every launch that both sides have made. A launch that the simulator made and the
        hardware did not, or with another grid, is an error: the two would not have run the same. Where a reason
        is given for another number of `blocks` of a launch, or of `launches` of a kernel, that number is all that is
        compared. Demonstrations are left out: no GPU runs them."""
        rows, trace = simulated.rows, simulated.trace
        if not self.compared or self.compared[0] is not rows or self.compared[1] is not trace:
            self.compared = rows, trace, self._compare(simulated)
        return self.compared[2]

    def _compare(self, simulated: Results) -> list[CountedLine]:
        mine: dict[str, list[dict]] = {}
        shown = [
            range(row.launches.first, row.launches.end) for row in simulated.rows if row.launches and not row.counts
        ]
        for index, launch in enumerate(simulated.trace.get("launches", [])):
            if any(index in launches for launches in shown):
                continue
            mine.setdefault(kernel_base(launch["kernel"]), []).append(launch)
        theirs: dict[str, list[dict]] = {}
        for launch in self.launches:
            theirs.setdefault(launch["kernel"], []).append(launch)
        lines = []
        for kernel, launches in mine.items():
            if kernel not in theirs:
                continue
            number = [len(launches), len(theirs[kernel])]
            if number[0] != number[1] and "launches" in self.differences.get(kernel, {}):
                lines.append(CountedLine(kernel, 0, "launches", *number))
                continue
            if number[0] != number[1]:
                raise ResultsError(
                    f"{kernel}: {len(launches)} launches on the simulator, {len(theirs[kernel])} on "
                    f"{self.device}: count them again"
                )
            for index, (a, b) in enumerate(zip(launches, theirs[kernel])):
                blocks = [math.prod(launch["grid"]) for launch in (a, b)]
                if blocks[0] != blocks[1] and "blocks" in self.differences.get(kernel, {}):
                    lines.append(CountedLine(kernel, index, "blocks", *blocks))
                    continue
                if a["grid"] != b["grid"] or a["block"] != b["block"]:
                    raise ResultsError(f"{kernel}, launch {index + 1}: another grid on {self.device}: count it again")
                for name, value in b["counts"].items():
                    if name in NOT_COMPARED or name not in a["counts"]:
                        continue
                    here = a["counts"][name]
                    if agree(name, a["counts"], value):
                        value = here
                    lines.append(CountedLine(kernel, index, name, here, value))
        return lines

    def reason(self, line: CountedLine) -> str:
        """Why a count differs; empty where nobody has said so."""
        reasons = self.differences.get(line.kernel, {})
        why = reasons.get(line.count, reasons.get("*", ""))
        if isinstance(why, dict):
            return why["waiting"] if line.hardware > line.simulated else ""
        return why

    def disagreements(self, simulated: Results) -> list[str]:
        """What differs without anybody having said why, and what is said to differ and does not."""
        lines = self.compare(simulated)
        if not lines:
            return ["nothing was compared"]
        found = [
            f"{line.kernel}: {line.count} is {line.simulated}, {self.device} counts {line.hardware}"
            for line in lines
            if line.simulated != line.hardware and not self.reason(line)
        ]
        for kernel, reasons in self.differences.items():
            for count, why in reasons.items():
                those = [line for line in lines if line.kernel == kernel and count in ("*", line.count)]
                if not those:
                    found.append(f"differences.json: {kernel}: {count} is compared nowhere: take it out")
                elif isinstance(why, str) and all(line.simulated == line.hardware for line in those):
                    found.append(f"differences.json: {kernel}: {count} agrees now: take it out")
        return found


def load_counted(folder: Path, gpu: str = FIRST_GPU) -> Counted | None:
    """The hardware's counts of a chapter, from its results folder; nothing where there are none."""
    path, why = folder / f"{gpu}_counts.json", folder / "differences.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    differences = json.loads(why.read_text(encoding="utf-8")) if why.exists() else {}
    return Counted(data["device"], data["ncu"], data["date"], data["size"], data["launches"], differences)
