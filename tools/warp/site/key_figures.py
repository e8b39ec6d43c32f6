"""The two large numbers on the card of a rung: how fast it is, and the count that tells it from the rung before it."""

from __future__ import annotations

import math

from warp.chapter.results import Results
from warp.chapter.written import Row
from warp.site.markup import milliseconds
from warp.site.rung_tables import ACCESSES

# What a request of each kind costs: (prefix of the counts, unit, its words), the most telling one first.
COSTS = [
    (prefix, unit, f"{unit} a {label.removesuffix('s')}")
    for label, prefix, unit in (*ACCESSES[3:5], *ACCESSES[:3], ACCESSES[5])
]
SAME = 0.03  # counts this close are alike


def short(value: float) -> str:
    """31.8, 4 and 1,204."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}".removesuffix(".0")


def timed(name: str, measured: Results | None) -> list[Row]:
    """The rows of a rung's variants at the first size that was measured."""
    rows = [row for row in measured.of(name) if row.time_ms] if measured else []
    return [row for row in rows if row.size == rows[0].size]


def fastest(name: str, measured: Results | None) -> Row | None:
    """The row of the best of them."""
    rows = timed(name, measured)
    return max(rows, key=lambda row: row.rate or 1 / row.median, default=None)


def speed(name: str, before: str, measured: Results | None) -> list[list[str]]:
    """The rate of a rung, else its time, with what it was where that is another kernel for the same work; of several variants
    it says which has it."""
    row, earlier = fastest(name, measured), fastest(before, measured) if before else None
    if not row or not measured:
        return []
    peer = row.peer and row.peer.name
    of_peer = row.ratio_to_peer
    beside = f", {100 * of_peer:.0f} % of {peer}" if peer and of_peer and name != peer.lower() else ""
    which = f" ({row.variant})" if row.variant and len(timed(name, measured)) > 1 else ""
    if not row.rate:
        return [["", milliseconds(row.median), f"ms on {measured.device}{which}"]]
    was = ""
    if earlier and earlier.rate and earlier.peer and (earlier.rate_unit, earlier.peer.name) == (row.rate_unit, peer):
        was = short(earlier.rate) if abs(earlier.rate / row.rate - 1) > SAME else ""
    return [[was, short(row.rate), f"{row.rate_unit}{beside}{which}"]]


def in_margin(name: str, measured: Results | None) -> list[list[str]]:
    """[what it is, of what] for beside the prose behind the card: the time, and the share of the machine's limit; [] of a rung
    whose card has the time."""
    row = fastest(name, measured)
    if not row or not row.rate or not row.fraction_of_limit:
        return []
    share = row.fraction_of_limit
    variant = f", {row.variant}" if row.variant else ""
    time = [f"{milliseconds(row.median)} ms", f"{name}{variant}"]
    return [time, [f"{100 * share:.0f} %" if share >= 0.01 else "< 1 %", "of the machine's limit"]]


def costs(row: Row | None) -> dict[str, float]:
    """What a request of each kind costs in a row."""
    counts = row.counts if row else {}
    return {
        prefix: counts.get(f"{prefix}_{unit}", 0) / counts[f"{prefix}_requests"]
        for prefix, unit, _ in COSTS
        if counts.get(f"{prefix}_requests")
    }


def count(name: str, before: str, simulated: Results | None, variant: str | None) -> list[list[str]]:
    """The cost that changed most from the rung before; where none did, the first that is more than the least possible, else
    the first of all."""

    def row_of(rung: str) -> Row | None:
        rows = [row for row in simulated.of(rung) if row.counts] if simulated else []
        return next((row for row in rows if row.variant == variant), rows[0] if rows else None)

    here, there = costs(row_of(name)), costs(row_of(before)) if before else {}
    if not here:
        return []
    words = {prefix: words for prefix, _, words in COSTS}
    change = {
        prefix: abs(math.log(here[prefix] / there[prefix])) for prefix in here if there.get(prefix) and here[prefix]
    }
    most = max(change, key=lambda prefix: change[prefix], default="")
    if most and change[most] > SAME:
        return [[short(there[most]), short(here[most]), words[most]]]
    high = [prefix for prefix in here if here[prefix] > (1.05 if prefix.startswith("shared") else 4.2)]
    shown = (high or list(here))[0]
    return [["", short(here[shown]), words[shown]]]


def key_figures(name: str, before: str, simulated: Results | None, measured: Results | None) -> list[list[str]]:
    """[what it was, what it is, of what] for the speed and for the count."""
    best = fastest(name, measured)
    variant = best.variant if best else None
    return speed(name, before, measured) + count(name, before, simulated, variant)
