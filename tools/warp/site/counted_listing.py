"""A listing of a chapter: the counts beside its lines, what differs from an earlier kernel, and what of a long one is shown.

What its lines cost is from the trace of the chapter's program. The numbers are part of the page, in a column that a box above
the listing shows: from the start, or where a prediction of the section asks first, once that is answered
(docs/_static/predict.js). docs/_static/counted.js draws a line's banks and sectors when its number is pressed. Standard library only; live_nodes.py has the nodes.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from warp.chapter import maps, results
from warp.chapter.source import Code
from warp.site.blocks import Listing
from warp.site.rung_tables import ACCESSES

PICTURES = 4  # of a line: patterns of addresses that differ


@dataclass
class Cost:
    """What one kind of access costs on a line in one kernel: its unit for each request, in each launch."""

    kernel: str
    label: str
    unit: str
    requests: list[int] = field(default_factory=list)
    each: list[float] = field(default_factory=list)
    wasted: bool = False  # bytes that move for nothing, or bank conflicts
    patterns: list[list] = field(default_factory=list)

    def words(self) -> str:
        low, high = (short(limit(self.each)) for limit in (min, max))
        many = f"{low} to {high}" if low != high else low
        unit = self.unit[:-1] if many == "1" else self.unit
        if len(set(self.requests)) == 1 and len(self.requests) == 1:
            return f"{self.label} of {self.kernel}: {self.requests[0]:,} requests, {many} {unit} each"
        return f"{self.label} of {self.kernel}, {len(self.requests)} launches: {many} {unit} a request"


def short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def costs_of(trace: dict, name: str) -> dict[int, list[Cost]]:
    """What the lines of a file cost, by line."""
    found: dict[int, dict[tuple[str, str], Cost]] = {}
    for launch in trace.get("launches", []):
        kernel = results.kernel_base(launch["kernel"])
        for entry in launch["lines"]:
            if entry["file"].rpartition("/")[2] != name:
                continue
            for label, prefix, unit in ACCESSES:
                requests = entry["counts"].get(f"{prefix}_requests", 0)
                if not requests:
                    continue
                cost = found.setdefault(entry["line"], {}).setdefault((kernel, label), Cost(kernel, label, unit))
                amount = entry["counts"].get(f"{prefix}_{unit}", 0)
                cost.requests.append(requests)
                cost.each.append(amount / requests)
                asked = entry["counts"].get(f"{prefix}_bytes")
                cost.wasted |= bool(entry["counts"].get(f"{prefix}_bank_conflicts"))
                cost.wasted |= unit == "sectors" and asked is not None and 32 * amount >= 2 * asked
                space, access = prefix.split("_")
                for example in entry.get("examples", []):
                    if (example["space"], example["access"]) != (space, access) or len(cost.patterns) == PICTURES:
                        continue
                    one = maps.pattern(example)
                    if one and one not in cost.patterns:
                        cost.patterns.append(one)
    return {line: list(costs.values()) for line, costs in found.items()}


def label_of(costs: list[Cost]) -> str:
    """The number beside a line: 4s; 1–32w; 8–32/4s, of its loads and of its stores; 4s 1w."""
    parts = []
    for unit in ("sectors", "wavefronts"):
        of: dict[str, list[float]] = {}  # loads, stores, atomics
        for cost in costs:
            if cost.unit == unit:
                of.setdefault(cost.label, []).extend(cost.each)
        ranges = dict.fromkeys((short(min(each)), short(max(each))) for each in of.values())
        if ranges:
            parts.append("/".join(low if low == high else f"{low}–{high}" for low, high in ranges) + unit[0])
    return " ".join(parts)


LONG = 26  # lines of a rung's listing that a reader takes in at once
LONG_HELPER = 18  # of one that is no rung's
CONTEXT = 1  # lines around what a shortened listing shows
# What of a long listing is shown at first, for as long as there is room: its kernels, what touches memory, barriers, loops.
HEADS = re.compile(r"__global__|template <.*|.*__launch_bounds__")
BARRIERS = re.compile(r".*(__syncthreads|__syncwarp|asm )")
LOOPS = re.compile(r"\s*(for|while) \(")


@dataclass
class Marks:
    """What a kernel shares with an earlier one: the name of that one, and the lines that differ from it."""

    base: str
    changed: set[int]


def compared(name: str, function: list[str], first: int, earlier: dict[str, list[str]]) -> Marks | None:
    """The kernel most like an earlier one, if half of its lines are that one's. `first` is its first line's number."""

    def bare(lines: list[str], own: str) -> list[str]:
        return [re.sub(rf"\b{own}\b", "", line.split("//")[0]).strip() for line in lines]

    best, most = None, 0.5
    mine = bare(function, name)
    for other, lines in reversed(earlier.items()):
        matcher = difflib.SequenceMatcher(None, bare(lines, other), mine, autojunk=False)
        if matcher.quick_ratio() > most and matcher.ratio() > most + 0.02:
            best, most = (other, matcher), matcher.ratio()
    if best is None:
        return None
    changed = {
        first + line
        for kind, _, _, begin, end in best[1].get_opcodes()
        if kind in ("insert", "replace")
        for line in range(begin, end)
        if len(mine[line]) > 1  # a brace alone says nothing
    }
    return Marks(best[0], changed)


def shown_lines(code: Code, costs: dict[int, list[Cost]], marks: Marks | None, long: int = LONG) -> set[int]:
    """The lines of a listing that a reader sees at first: all of a short one, of a kernel what differs from an earlier one,
    of other long ones heads, loops, barriers and what touches memory."""
    every = range(code.line, code.line + len(code.lines))
    if marks and len(code.lines) > 16:
        wanted, around = set(marks.changed), CONTEXT
        wanted |= {line for line in every if re.match(r"__global__|template <", code.lines[line - code.line])}
    elif len(code.lines) > long:
        wanted, around = set(), 0
        text = {line: code.lines[line - code.line] for line in every}
        for of in (HEADS.match, None, BARRIERS.match, LOOPS.match):
            more = {line for line in every if (of(text[line]) if of else line in costs)}
            if len(wanted | more) <= long or not wanted:
                wanted |= more
        around = CONTEXT if 3 * len(wanted) <= long else 0
    else:
        return set(every)
    wanted |= {every[0], every[-1]}
    near = {line + by for line in wanted for by in range(-around, around + 1)}
    shown: set[int] = set()
    hidden: list[int] = []
    for line in every:
        if line in near:
            shown |= set(hidden) if len(hidden) < 4 else set()  # a gap of three lines saves nothing
            hidden = []
            shown.add(line)
        else:
            hidden.append(line)
    return shown | (set(hidden) if len(hidden) < 4 else set())


def listing(
    code: Code, costs: dict[int, list[Cost]], marks: Marks | None = None, prefix: str = "", long: int = LONG
) -> Listing:
    """A listing of the page: the costs of its lines where it has any, the lines that differ from an earlier kernel marked, and
    of a long one what matters at first. `prefix` begins the anchors of its lines."""
    lines = {}
    for line in range(code.line, code.line + len(code.lines)):
        if line in costs:
            left, said = PICTURES, []
            for cost in costs[line]:
                said.append({"says": cost.words(), "patterns": cost.patterns[:left]})
                left -= len(said[-1]["patterns"])
            lines[line] = {"label": label_of(costs[line]), "wasted": any(c.wasted for c in costs[line]), "costs": said}
    shown = shown_lines(code, costs, marks, long)
    data: dict = {"prefix": prefix, "costs": lines}
    if marks and marks.changed:
        data.update(base=marks.base, changed=sorted(marks.changed))
    if len(shown) < len(code.lines):
        data.update(hidden=sorted(set(range(code.line, code.line + len(code.lines))) - shown), lines=len(code.lines))
    return Listing(code, data)
