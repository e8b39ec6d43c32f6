"""Counts beside the lines of a listing: what the requests of a line cost, from the trace of the chapter's program.

`{counted}` holds a listing; `:lines:` has what its lines cost. The numbers are part of the page, in a column that a box above
the listing shows: from the start, or where a prediction of the section asks first, once that is answered
(docs/_static/predict.js). docs/_static/counted.js draws a line's banks and sectors when its number is pressed. Standard library only; live_nodes.py has the directive.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import markup
from rung_tables import ACCESSES

from warp.chapter import results

PICTURES = 4  # of a line: patterns of addresses that differ
LINE_BYTES = 128  # patterns this far apart are alike: the same banks, and the same places in their sectors


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


def pattern(example: dict) -> list | None:
    """A request for counted.js: g or s for its memory, whether it stores, its bytes, and the lanes' addresses, as a first one
    and a step where that says them all."""
    known = [address for address in example["addresses"] if address is not None]
    if not known or example["access"] == "atomic":
        return None
    base = min(known) // LINE_BYTES * LINE_BYTES
    at = [None if address is None else address - base for address in example["addresses"]]
    if None not in at and len({b - a for a, b in zip(at, at[1:])}) == 1:
        at = [at[0], at[1] - at[0]]
    return [example["space"][0], int(example["access"] == "store"), example["size"], at]


def costs_of(trace: dict, name: str) -> dict[int, list[Cost]]:
    """What the lines of a file cost, by line."""
    found: dict[int, dict[tuple[str, str], Cost]] = {}
    for launch in trace.get("launches", []):
        kernel = results.kernel_base(launch["kernel"])
        for entry in launch["lines"]:
            if Path(entry["file"]).name != name:
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
                    one = pattern(example)
                    if one and (example["space"], example["access"]) == (space, access) and one not in cost.patterns:
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


def listing(code, costs: dict[int, list[Cost]]) -> str:
    """A listing of the page, with the costs of its lines where it has any."""
    lines = {}
    for line in range(code.line, code.line + len(code.lines)):
        if line in costs:
            left, said = PICTURES, []
            for cost in costs[line]:
                said.append({"says": cost.words(), "patterns": cost.patterns[:left]})
                left -= len(said[-1]["patterns"])
            lines[line] = {"label": label_of(costs[line]), "wasted": any(c.wasted for c in costs[line]), "costs": said}
    shown = markup.listing(code)
    if not lines:
        return shown
    return markup.fence(shown, "{counted}", [f":lines: {json.dumps(json.dumps(lines))}", ""])
