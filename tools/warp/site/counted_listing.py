"""What a listing of a chapter says of its lines: their counts, what differs from an earlier kernel, what of a long one is shown.

The counts are from the trace of the chapter's program. They show from the start, or where a prediction of the section asks first,
once that is answered (docs/_static/predict.js). warp.explain.listing writes the listing. Standard library only; live_nodes.py has
the node.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from warp.chapter import maps, results
from warp.chapter.source import Code
from warp.explain.listing import Cost, Line, Told, add_costs, cost_of, requests_of
from warp.site.blocks import Listing

PICTURES = 4  # of a line: patterns of addresses that differ


def costs_of(trace: dict, name: str) -> dict[int, list[Cost]]:
    """What the lines of a file cost, by line."""
    found: dict[int, dict[tuple[str, str], Cost]] = {}
    for launch in trace.get("launches", []):
        kernel = results.kernel_base(launch["kernel"])
        for entry in launch["lines"]:
            if entry["file"].rpartition("/")[2] != name:
                continue
            costs = found.setdefault(entry["line"], {})
            add_costs(costs, kernel, entry["counts"])
            for example in entry.get("examples", []):
                cost = costs.get((kernel, f"{example['space']} {example['access']}s"))
                one = maps.pattern(example)
                if cost and one and one not in cost.patterns:
                    cost.patterns.append(one)
    return {line: list(costs.values()) for line, costs in found.items() if costs}


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
    lines: dict[int, Line] = {}
    shown = shown_lines(code, costs, marks, long)
    for number in range(code.line, code.line + len(code.lines)):
        line = Line(is_hidden=number not in shown)
        if number in costs:
            of, left = costs[number], PICTURES
            for cost in of:
                line.parts.append((cost.words(), cost.patterns[:left]))
                left -= len(line.parts[-1][1])
            line.requests, line.cost, line.wasted = requests_of(of), cost_of(of), any(cost.wasted for cost in of)
        if marks and number in marks.changed:
            line.mark = "changed"
        if line != Line():
            lines[number] = line
    return Listing(code, Told(lines, prefix, marks.base if marks and marks.changed else ""))
