"""A listing with counts, the same on a chapter's page and on the one of ./learn explain.

A gutter says of each line that touches memory how many requests it issued and what one costs, and its button draws their lanes,
banks and sectors. Every line has an anchor. docs/_static/counted.css is the look, counted.js the drawing; without scripts the
gutter and the words remain.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

# (label, prefix of the counts, what a request costs)
ACCESSES = [
    ("global loads", "global_load", "sectors"),
    ("global stores", "global_store", "sectors"),
    ("global atomics", "global_atomic", "sectors"),
    ("shared loads", "shared_load", "wavefronts"),
    ("shared stores", "shared_store", "wavefronts"),
    ("shared atomics", "shared_atomic", "wavefronts"),
]
LEGEND = 'Counts: <span class="of-requests">requests × </span>sectors (s) or wavefronts (w) each'
DIVERGENT = "d"  # in the gutter, of a line whose branch the lanes of a warp take both ways


def short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def in_brief(count: int) -> str:
    """950, 16k, 1.5k, 2M."""
    for power, sign in ((10**6, "M"), (10**3, "k")):
        if count >= power:
            return (short if count < 9.95 * power else "{:.0f}".format)(count / power) + sign
    return str(count)


@dataclass
class Cost:
    """What one kind of access costs on a line in one kernel: its unit for each request, in each launch."""

    kernel: str  # "" where there is one alone
    label: str
    unit: str
    requests: list[int] = field(default_factory=list)
    each: list[float] = field(default_factory=list)
    wasted: bool = False  # bytes that move for nothing, or bank conflicts
    lanes: float = 0.0  # that take part, in all requests
    patterns: list[list] = field(default_factory=list)

    def words(self) -> str:
        low, high = (short(limit(self.each)) for limit in (min, max))
        many = f"{low} to {high}" if low != high else low
        unit = self.unit[:-1] if many == "1" else self.unit
        who = f"{self.label} of {self.kernel}" if self.kernel else self.label
        if len(self.requests) == 1:
            requests = f"{self.requests[0]:,} request{'s' if self.requests[0] > 1 else ''}"
            said = f"{who}: {requests}, {many} {unit} each"
        else:
            said = f"{who}, {len(self.requests)} launches: {many} {unit} a request"
        lanes = self.lanes / sum(self.requests)
        return said + (f", {short(lanes)} of 32 lanes" if 0 < lanes <= 31.5 else "")


def add_costs(costs: dict[tuple[str, str], Cost], kernel: str, counts: dict[str, int]) -> None:
    """What a launch of a kernel counted on a line, by kernel and kind of access."""
    for label, prefix, unit in ACCESSES:
        requests = counts.get(f"{prefix}_requests", 0)
        if not requests:
            continue
        cost = costs.setdefault((kernel, label), Cost(kernel, label, unit))
        amount, asked = counts.get(f"{prefix}_{unit}", 0), counts.get(f"{prefix}_bytes")
        cost.requests.append(requests)
        cost.each.append(amount / requests)
        cost.lanes += counts.get(f"{prefix}_active_lanes", 0)
        cost.wasted |= bool(counts.get(f"{prefix}_bank_conflicts"))
        cost.wasted |= unit == "sectors" and asked is not None and 32 * amount >= 2 * asked


def cost_of(costs: Iterable[Cost]) -> str:
    """What a request costs, for the gutter: 4s; 1–32w; 8–32/4s, of its loads and of its stores; 4s 1w."""
    known, parts = list(costs), []
    for unit in ("sectors", "wavefronts"):
        of: dict[str, list[float]] = {}  # loads, stores, atomics
        for cost in known:
            if cost.unit == unit:
                of.setdefault(cost.label, []).extend(cost.each)
        ranges = dict.fromkeys((short(min(each)), short(max(each))) for each in of.values())
        if ranges:
            parts.append("/".join(low if low == high else f"{low}–{high}" for low, high in ranges) + unit[0])
    return " ".join(parts)


def requests_of(costs: Iterable[Cost]) -> str:
    """How many requests, for the gutter: 16k; 16–64k where launches differ."""
    counts = [count for cost in costs for count in cost.requests]
    low, high = in_brief(min(counts)), in_brief(max(counts))
    return high if low == high else f"{low.rstrip('kM') if low[-1] == high[-1] else low}–{high}"


@dataclass
class Line:
    """What a listing says of one of its lines: in its gutter, when its button is pressed, and by its ground."""

    requests: str = ""
    cost: str = ""
    wasted: bool = False
    parts: list[tuple[str, list[list]]] = field(
        default_factory=list
    )  # words, and the patterns that are drawn below them
    mark: str = ""  # a class: changed, advised
    is_hidden: bool = False  # until the reader asks for all lines

    def button(self, number: int) -> str:
        if not self.parts:
            return ""
        words = html.escape(f"Line {number}: " + "; ".join(said.replace("; ", ", ") for said, _ in self.parts))
        return (
            f'<button type="button" class="cost{" wasted" if self.wasted else ""}" data-line="{number}" '
            f'data-requests="{self.requests}" data-cost="{self.cost}" title="{words}"></button>'
        )


@dataclass
class Told:
    """What a listing says of its lines."""

    lines: dict[int, Line] = field(default_factory=dict)
    prefix: str = ""  # of the lines' anchors
    base: str = ""  # the kernel from which the lines differ that are marked as changed

    def has_counts(self) -> bool:
        return any(line.parts for line in self.lines.values())


def markup(
    rows: Sequence[tuple[int, str]],
    told: Told,
    head: str = '<div class="highlight"><pre>',
    tail: str = "</pre></div>",
    waits_for: str = "",
) -> str:
    """The listing. `rows` are the numbers of its lines with their HTML, line ends included; a number that leaves some out makes a
    gap. `head` and `tail` stand around them. The counts wait for the predictions `waits_for`."""
    last = max((number for number, _ in rows), default=0)
    body, gap = [], list[str]()
    before = rows[0][0] - 1 if rows else 0
    nothing = Line()

    def close_gap(number: int) -> None:
        left_out = number - before - 1
        if gap:
            body.append(f'<span class="gap" data-lines="{len(gap)}"></span><span class="further">{"".join(gap)}</span>')
        elif left_out > 0:
            body.append(f'<span class="gap left-out" data-lines="{left_out}"></span>')
        gap.clear()

    for number, text in rows:
        line = told.lines.get(number, nothing)
        row = (
            f'<span class="linenos" id="{told.prefix}L{number}">{number:>{len(str(last))}}</span>'
            f"{line.button(number)}{text}"
        )
        if line.is_hidden:
            gap.append(row)
        else:
            close_gap(number)
            body.append(f'<span class="{line.mark}">{row}</span>' if line.mark else row)
        before = number
    close_gap(before + 1)
    attributes = ""
    bar = [f'<span class="differs">Marked: what differs from <code>{html.escape(told.base)}</code></span>'] * bool(
        told.base
    )
    if any(line.is_hidden for line in told.lines.values()):
        bar.append(f'<label class="all-lines"><input type="checkbox"> All {len(rows)} lines</label>')
    if told.has_counts():
        counted = {number: line for number, line in told.lines.items() if line.parts}
        widths = [max(len(getattr(line, name)) for line in counted.values()) for name in ("cost", "requests")]
        drawn: dict[int, Any] = {number: [patterns for _, patterns in line.parts] for number, line in counted.items()}
        attributes = (
            f" style='--cost: {widths[0]}ch; --requests: {widths[1] + 1}ch' "
            f"data-costs='{json.dumps(drawn, separators=(',', ':'))}'"
        ) + (f' data-for="{waits_for}"' if waits_for else "")
        checked = "" if waits_for else " checked"
        diverges = any(line.cost.endswith(DIVERGENT) for line in counted.values())
        legend = LEGEND + ("; d: branches that diverge" if diverges else "")
        bar.append(f'<label class="counts-switch"><input type="checkbox"{checked}> <span>{legend}</span></label>')
    bars = f'<div class="listing-bar">{"".join(bar)}</div>' if bar else ""
    return f"<div class='counted-listing'{attributes}>{bars}\n{head}{''.join(body)}{tail}</div>\n"
