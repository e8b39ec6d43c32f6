"""Reads a trace of the simulator: launches, the counts of their lines, findings.

A trace is the JSON that a simulated program writes to SIMT_JSON. Nothing is counted here; sums and ratios of
counts are all that this file computes.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from warp.base import records
from warp.base.errors import LearnError, UsageError
from warp.base.text import thousands
from warp.machinecode.code import Compiled
from warp.machinecode.kinds import SECTOR
from warp.trace.model import Counts, Example, Finding, Launch, Trace

KINDS = ("load", "store", "atomic")
REQUESTS = [f"{space}_{kind}_requests" for space in ("global", "shared") for kind in KINDS]
HOTTEST = 5  # lines of the summary

FEW = 8  # launches whose numbers are shown


def load(path: str) -> Trace:
    """The trace in a file, or LearnError: a program that died early may have left half of one."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise LearnError(f"cannot read the trace {path}: {error.strerror}")
    except ValueError as error:
        raise LearnError(f"{path} is no trace: {error}")
    try:
        return of_json(data)
    except LearnError as error:
        raise LearnError(f"{path} is no trace of this simulator: {error}")


def of_json(data: dict[str, list[dict[str, Any]]]) -> Trace:
    """The Trace of what the simulator writes; FormError where it has another form."""
    trace = records.read(Trace, data)
    for launch in trace.launches:
        for line in launch.lines:
            for example in line.examples:
                if not is_request(example):
                    raise records.FormError(f"line {line.line} has an example that is no request: {example}")
    return trace


def is_request(example: Example) -> bool:
    """Whether it is one request of a warp, as the simulator writes it."""
    lanes = example.addresses
    good = example.space in ("global", "shared") and example.access in KINDS and len(lanes) == 32 and example.size > 0
    good = good and all(lane is None or lane >= 0 for lane in lanes)
    if good and example.space == "shared" and example.access != "atomic":
        good = example.phase_lanes in (8, 16, 32) and example.wavefronts is not None
    return good


def all_findings(trace: Trace) -> list[Finding]:
    """The launches' findings in their order, then the host's; each knows its kernel and its launch."""
    found = []
    for launch in trace.launches:
        for finding in launch.findings:
            found.append(dataclasses.replace(finding, kernel=launch.kernel, launch=launch.index))
    return found + trace.findings


def errors_of(findings: list[Finding]) -> list[Finding]:
    """Those that fail the program."""
    return [finding for finding in findings if finding.severity != "warning"]


def may_spoil_results(findings: list[Finding]) -> bool:
    """Is one of them in host code, other than memory that was never freed?"""
    return any(not finding.kernel and finding.kind != "leak" for finding in findings)


def by_severity(findings: list[Finding]) -> list[tuple[str, str, list[Finding]]]:
    """[(heading, colour, findings)]: those that fail the program, then the warnings; neither if there are none."""
    errors = errors_of(findings)
    warnings = [finding for finding in findings if finding not in errors]
    warnings.sort(key=lambda finding: finding.kind != "api-error")  # may have brought about the others
    sections = (("finding", "red", errors), ("warning", "yellow", warnings))
    return [
        ("{} {}{}".format(len(found), name, "" if len(found) == 1 else "s"), colour, found)
        for name, colour, found in sections
        if found
    ]


# ---- counts ---------------------------------------------------------------------------------------


def add(total: dict[str, int], counts: dict[str, int]) -> None:
    for name, value in counts.items():
        total[name] = total.get(name, 0) + value


@dataclass(eq=False)
class Totals:
    """The counts of a kernel or a line, as the columns need them."""

    counts: dict[str, int]

    def get(self, *names: str) -> int:
        return sum(self.counts.get(name, 0) for name in names)

    @property
    def global_requests(self) -> int:
        return self.get("global_load_requests", "global_store_requests", "global_atomic_requests")

    @property
    def shared_requests(self) -> int:
        return self.get("shared_load_requests", "shared_store_requests", "shared_atomic_requests")

    @property
    def requests(self) -> int:
        return self.global_requests + self.shared_requests

    @property
    def accesses(self) -> int:
        """How many kinds of access there are: loads, stores and atomics of either memory."""
        return sum(1 for name in REQUESTS if self.counts.get(name))

    def requests_of_full_warps(self, blocks: int) -> float:
        """Requests that the same lanes would make if they filled their warps; one a block at least."""
        needed = 0.0
        for name in REQUESTS:
            requests = self.counts.get(name, 0)
            lanes = self.counts.get(name.replace("_requests", "_active_lanes"), 0)
            needed += max(min(requests, blocks), lanes / 32)
        return needed

    @property
    def asked(self) -> int:
        """Bytes that the lanes asked for, in global loads and stores."""
        return self.get("global_load_bytes", "global_store_bytes")

    @property
    def moved(self) -> int:
        """Bytes that these loads and stores moved, in whole sectors."""
        return SECTOR * self.get("global_load_sectors", "global_store_sectors")

    @property
    def sectors(self) -> int:
        return self.get("global_load_sectors", "global_store_sectors", "global_atomic_sectors")

    @property
    def ideal_sectors(self) -> float:
        """Sectors that the same bytes fill when neighbouring lanes lie side by side; at least one a request."""
        ideal = 0.0
        for kind in ("load", "store"):
            requests = self.get(f"global_{kind}_requests")
            ideal += max(requests, self.get(f"global_{kind}_bytes") / SECTOR)
        # Atomics are counted without bytes; theirs are taken as 4 a lane.
        atomics = self.get("global_atomic_requests")
        return ideal + max(atomics, 4 * self.get("global_atomic_active_lanes") / SECTOR)

    def part(self, kind: str) -> Totals:
        """The counts of global loads, stores or atomics alone."""
        return Totals({name: value for name, value in self.counts.items() if name.startswith("global_" + kind)})

    @property
    def wavefronts(self) -> int:
        return self.get("shared_wavefronts")

    @property
    def ideal_wavefronts(self) -> int:
        return self.get("shared_wavefronts_ideal")

    @property
    def lanes(self) -> float:
        """Average of active lanes over all requests."""
        names = [f"{space}_{kind}_active_lanes" for space in ("global", "shared") for kind in KINDS]
        return self.get(*names) / self.requests if self.requests else 0.0

    @property
    def divergent(self) -> int:
        return self.get("divergent_branches")

    @property
    def cost(self) -> int:
        """What orders the hottest lines: sectors of global memory plus wavefronts of shared memory."""
        return self.sectors + self.wavefronts


def ratio(value: int, ideal: float) -> float:
    return value / ideal if ideal else 1.0


def grade(value: int, ideal: float) -> str:
    """Colour of a count by how far it is from its ideal."""
    excess = ratio(value, ideal)
    if excess <= 1.02:
        return "green"
    if excess <= 2.0:
        return "yellow"
    return "red"


def lanes_grade(lanes: float) -> str:
    return "green" if lanes > 31.5 else "yellow" if lanes >= 16 else "red"


# ---- kernels --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Kernel:
    """All launches of one kernel, summed."""

    name: str
    launches: list[Launch] = field(default_factory=list)
    counts: Counts = field(default_factory=dict)
    lines: dict[str, dict[int, Counts]] = field(default_factory=dict)  # by file and line
    examples: dict[tuple[str, int], list[Example]] = field(
        default_factory=dict
    )  # of a line, one request of each kind of access
    polls: dict[tuple[str, int], int] = field(
        default_factory=dict
    )  # loads of what the one before has loaded, to wait for a change
    twins: list[Kernel] = field(default_factory=list)  # kernels that are told with this one: see told_once()
    as_compiled: dict[str, dict[int, Counts]] | None = field(default_factory=dict)
    not_carried_out: dict[str, bool] = field(default_factory=dict)
    compiled: list[Compiled] = field(
        default_factory=list
    )  # its instantiations as nvcc makes them; none where nvcc is not here

    def add(self, launch: Launch) -> None:
        self.launches.append(launch)
        add(self.counts, launch.counts)
        if launch.compiled is None and launch.traced_blocks != 0:
            self.as_compiled = None
        if launch.not_carried_out:
            self.not_carried_out[launch.not_carried_out] = True
        if self.as_compiled is not None and launch.compiled:
            for row in launch.compiled.lines:
                add(self.as_compiled.setdefault(row.file, {}).setdefault(row.line, {}), row.counts)
        for row in launch.lines:
            place = (row.file, row.line)
            add(self.lines.setdefault(row.file, {}).setdefault(row.line, {}), row.counts)
            if row.polls:
                self.polls[place] = self.polls.get(place, 0) + row.polls
            for example in row.examples:
                self._add_example(place, example)

    def _add_example(self, place: tuple[str, int], example: Example) -> None:
        known = self.examples.setdefault(place, [])
        if all((one.space, one.access, one.size) != (example.space, example.access, example.size) for one in known):
            known.append(example)

    def examples_at(self, file: str, line: int) -> list[Example]:
        """Requests of one warp, one for each kind of access of the line; [] where the trace has none."""
        return self.examples.get((file, line), [])

    @staticmethod
    def of_counts(counts: dict[str, int]) -> Totals:
        return Totals(counts)

    def totals(self, file: str = "", line: int = 0) -> Totals:
        """The totals of the kernel, or of one of its lines."""
        return Totals(self.lines[file][line] if file else self.counts)

    def reads_textures(self) -> bool:
        return any(launch.reads_textures for launch in self.launches)

    def geometry(self) -> tuple[int, int, int]:
        """Of all launches: how many blocks, how many warps; and the threads of the first one's block."""
        blocks = warps = 0
        for launch in self.launches:
            count = counted_blocks(launch)
            blocks += count
            warps += count * ((volume(launch.block) + 31) // 32)
        return blocks, warps, volume(self.launches[0].block)

    def files(self, main: str = "") -> list[str]:
        """The files that have counts; `main` first."""
        return sorted(self.lines, key=lambda file: (os.path.realpath(file) != main, file))

    def which(self) -> str:
        blocks = sum(volume(launch.grid) for launch in self.launches)
        counted = sum(counted_blocks(launch) for launch in self.launches)
        sample = f"; a sample: {thousands(counted)} of {thousands(blocks)} blocks" if counted < blocks else ""
        if len(self.launches) == 1:
            return f"launch {self.launches[0].index}" + sample
        numbers = [launch.index for launch in self.launches]
        shown = ", ".join(map(str, numbers[:FEW])) + (", ..." if len(numbers) > FEW else "")
        return f"{len(numbers)} launches, summed: {shown} (one alone: --launch {numbers[0]}){sample}"

    def alike(self, other: Kernel) -> bool:
        """Whether another instance of the same template is told the same: shapes, lines and counts, and no finding."""
        mine, its = ((one.function, one.shapes(), one.counts, one.lines, one.cut_short()) for one in (self, other))
        return mine == its and not self.findings() and not other.findings()

    def known_as(self) -> str:
        """The variants of the rung that launched it, `along=in`; else its own name."""
        variants = dict.fromkeys(launch.variant for launch in self.launches)
        return " and ".join(variants) if all(variants) else self.name

    def variants_in_words(self) -> str:
        """`along=in; 3 more with the same counts: ...`; "" where there is none and no variant is known."""
        if not self.twins:
            return self.known_as().replace(self.name, "")
        names = "; ".join(twin.known_as() for twin in self.twins)
        return f"{self.known_as()}; {len(self.twins)} more with the same counts: {names}"

    def is_sample(self) -> bool:
        """Whether some of a launch's blocks alone were counted."""
        return any(0 < counted_blocks(launch) < volume(launch.grid) for launch in self.launches)

    def cut_short(self) -> str:
        """What to say of a kernel that a finding has ended; "" if it came to its end."""
        ended = any(ends_the_kernel(finding) for finding in self.findings())
        return "ended by a finding: the counts go so far" if ended else ""

    def findings(self) -> list[Finding]:
        """Those of all its launches."""
        return [finding for launch in self.launches for finding in launch.findings]

    @property
    def function(self) -> str:
        """The bare name: `reduce` of `void lab::reduce<float, 256>(float*)`."""
        name = re.sub(r"\(anonymous namespace\)|\{lambda.*?\}", "", self.name)
        depth, kept = 0, []
        for character in name:
            if character in "<(":
                depth += 1
            elif character in ">)":
                depth -= 1
            elif depth == 0:
                kept.append(character)
        words = re.findall(r"\w+", "".join(kept))
        return words[-1] if words else ""

    def shapes(self) -> str:
        """The launch configurations: `grid 256 x block 256`; a few when the launches differ."""
        seen = []
        for launch in self.launches:
            shape = f"grid {extent(launch.grid)}, block {extent(launch.block)}"
            if shape not in seen:
                seen.append(shape)
        more = f"; and {len(seen) - 3} more" if len(seen) > 3 else ""
        return "; ".join(seen[:3]) + more


def ends_the_kernel(finding: Finding) -> bool:
    """False for warnings, races, and reads before anyone wrote: after these the kernel goes on."""
    kind = finding.kind
    return finding.severity != "warning" and not kind.endswith("-race") and not kind.startswith("uninitialized-")


def counted_blocks(launch: Launch) -> int:
    """How many blocks were counted: all, a sample, or none of a launch that repeats another."""
    return volume(launch.grid) if launch.traced_blocks is None else launch.traced_blocks


def volume(three: list[int]) -> int:
    product = 1
    for number in three:
        product *= number
    return product


def extent(three: list[int]) -> str:
    """256, or 32 x 8, or 4 x 4 x 2: trailing ones are dropped."""
    numbers = list(three)
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return " x ".join(str(number) for number in numbers)


def kernels_of(trace: Trace, only: int | None = None) -> list[Kernel]:
    """The kernels in the order of their first launch; `only` keeps the launch with that index."""
    kernels: dict[str, Kernel] = {}
    for launch in trace.launches:
        if only is None or launch.index == only:
            kernels.setdefault(launch.kernel, Kernel(launch.kernel)).add(launch)
    return list(kernels.values())


def told_once(kernels: list[Kernel]) -> list[Kernel]:
    """The kernels without those that are alike to one before, which keeps them as its twins."""
    kept: list[Kernel] = []
    for kernel in kernels:
        first = next((one for one in kept if one.alike(kernel)), None)
        if first:
            first.twins.append(kernel)
        else:
            kept.append(kernel)
    return kept


# ---- what is told ---------------------------------------------------------------------------------


def group(findings: list[Finding]) -> list[tuple[int, Finding]]:
    """[(how many, the first)]: findings of one kind at one place of one kernel, in order."""
    groups: dict[tuple[str, str, str, int], list[Finding]] = {}
    for finding in findings:
        key = (finding.kind, finding.kernel, finding.file, finding.line)
        groups.setdefault(key, []).append(finding)
    return [(len(members), members[0]) for members in groups.values()]


def selected(
    trace: Trace, launch: int | None = None, compiled: Sequence[Compiled] = ()
) -> tuple[list[Kernel], list[Finding]]:
    """The kernels and findings to report, with their machine code; LearnError when there is no launch with that index."""
    findings = all_findings(trace)
    if launch is not None:
        indices = [entry.index for entry in trace.launches]
        if launch not in indices:
            if not indices:
                raise UsageError(f"--launch {launch}: the program launched no kernel")
            legal = f"0 ... {max(indices)}" if len(indices) > 1 else "0 alone"
            raise UsageError(f"--launch {launch}: there is no such launch; legal is {legal}")
        findings = [finding for finding in findings if finding.launch == launch]
    kernels = told_once(kernels_of(trace, launch))
    for kernel in kernels:
        kernel.compiled = [one for one in compiled if one.base == kernel.function]
    return kernels, findings
