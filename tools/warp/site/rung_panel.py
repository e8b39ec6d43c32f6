"""The card of a rung, which stands on the page right after its function, and what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from warp.chapter.counted import Counted
from warp.chapter.results import Results
from warp.chapter.source import Chapter
from warp.chapter.written import Row
from warp.site.blocks import Block, Box, Card, Contract, Fold, Output, Rubric, Tab, Text
from warp.site.figures import side_by_side
from warp.site.key_figures import in_margin, key_figures
from warp.site.markup import code, escape, number, size_text, typeset
from warp.site.rung_tables import counts_table, measured_table, sizes_of, variants_beside
from warp.site.rung_variants import variants_of


def provenance(results: Results) -> str:
    """Device, date and commit of a measurement."""
    parts = [results.device]
    if results.driver:
        parts.append(f"driver {results.driver}")
    if results.toolkit:
        parts.append(results.toolkit)
    parts.append(results.date[:10])
    parts.append(f"commit {results.commit[:10]}")
    return ", ".join(escape(p) for p in parts)


OPEN_ROWS = 4  # of times in a panel; where there are more, those of the first size stand in the open


def measured_on(name: str, measured: Results, demonstration: bool, fold: bool = False) -> list[Block]:
    """What was measured of a rung on one GPU, if `fold`, many rows of other sizes folded; empty where nothing was.
    A demonstration is for the simulator alone: that a GPU did not run it goes without saying."""
    rows, out = measured.of(name), list[Block]()
    sizes = sizes_of(rows)
    folded = [row for row in rows if row.size != sizes[0]] if fold and len(rows) > OPEN_ROWS else []
    shown = [row for row in rows if row not in folded]
    times = measured_table(shown)
    if times:
        peers = sorted({row.peer.name for row in rows if row.peer})
        beside = f" The peer, timed in the same rounds: {', '.join(f'`{p}`' for p in peers)}." if peers else ""
        size = f", {size_text(sizes[0])}" if len(sizes_of(shown)) == 1 else ""
        out += [Rubric(f"Measured on {escape(measured.device)}{size}", "measured"), times]
        more = measured_table(folded)
        out += [Fold("At other sizes", [more], "lines")] if more else []
        out.append(Box("provenance", [Text(f"{provenance(measured)}.{beside}")]))
    skipped = [] if demonstration else [row for row in rows if row.status == "SKIP"]
    for reason in dict.fromkeys(row.reason or "no reason given" for row in skipped):
        out.append(Text(f"Not run on {escape(measured.device)}: {escape(reason)}.".replace("..", ".")))
    return out


@dataclass(eq=False)
class Rungs:
    """What the cards of a chapter are made of, and which rungs have one so far."""

    chapter: Chapter
    project: str
    signatures: dict[str, str]  # how Breathe finds each rung's contract
    simulated: Results | None
    measured: Results | None
    elsewhere: Sequence[Results] = ()  # of further GPUs
    rung_figures: dict[str, list[Block]] = field(default_factory=dict)
    counted: Counted | None = None
    asked: dict[str, list[str]] = field(default_factory=dict)  # rung -> the predictions that ask for its times
    placed: list[str] = field(default_factory=list)  # rungs whose panel stands on a page
    base: dict[str, str] = field(default_factory=dict)  # rung -> the earlier one that it is like

    def panel(self, name: str) -> list[Block]:
        """The card of a rung, and its drawings."""
        self.placed.append(name)
        return [card(self, name), *self.rung_figures.get(name, [])]


def card(known: Rungs, name: str) -> Card:
    """A rung's key figures, compared with those of the rung that it is like, what the simulator found, and behind tabs all counts
    and times and the contract."""
    simulated, measured = known.simulated, known.measured
    out: list[Block] = []
    tabs: list[Block] = []
    rows = simulated.of(name) if simulated else []
    if simulated and rows:
        traced = [row for row in rows if row.counts and any(row.counts.values())]
        if traced:
            tabs.append(Tab("Counts", counts_of(name, traced, simulated, known.counted, measured)))
        if simulated.shown.get(name):
            tabs.append(Tab("Printed", [Output(simulated.shown[name])]))
        for row in rows:
            variant = f" ({code(row.variant)})" if row.variant else ""
            if row.status == "SKIP":
                reason = f"Not run on the simulator{variant}: {escape(row.reason)}."
                out.append(Text(reason.replace("..", ".")))
            elif row.reason:
                first, _, more = row.reason.partition("\n")
                out.append(Box("finding", [Text(f"{code(first)}{variant}")]))
                if more.strip():
                    tabs.append(Tab(f"What the simulator found{variant}", [Output(row.reason, "finding")]))
        silent = [
            row for row in rows
            if row.status != "SKIP" and not row.reason and not any(row.counts.values())
        ]  # fmt: skip
        if silent:
            variants = ", ".join(code(row.variant) for row in silent if row.variant)
            variant = f" ({variants})" if variants else ""
            said = ", ".join(sorted({row.status for row in silent}))
            out.append(Text(f"On the simulator{variant}: {said}; nothing to count."))
    demonstration = any(row.reason for row in rows if row.status != "SKIP")
    if measured:
        there = measured_on(name, measured, demonstration, fold=True)
        tabs += [Tab(f"Times on {escape(measured.device)}", there)] if there else []
    for other in known.elsewhere:
        there = measured_on(name, other, demonstration)
        tabs += [Tab(f"On {escape(other.device)}", there)] if there else []
    if known.signatures.get(name):
        tabs.append(Tab("Contract", [Contract(known.signatures[name], known.project)]))
    figures = key_figures(name, known.base.get(name, ""), simulated, measured)
    differing = variants_of(name, measured)
    chart = side_by_side(differing, name, list(known.asked.get(name, ()))) if differing else None
    idea = typeset(known.chapter.header.rungs[name].idea)
    return Card(name, idea, figures, in_margin(name, measured), [*out, *tabs], chart)


def counts_of(
    name: str, traced: list[Row], simulated: Results, counted: Counted | None, measured: Results | None
) -> list[Block]:
    """All counts of a rung, beside the hardware's where its variants differ in shared memory."""
    size = size_text(traced[0].size)
    out: list[Block] = [Rubric(f"Counted on the simulator, {size}", "counted"), *counts_table(traced)]
    beside = variants_beside(name, simulated, counted, measured)
    if beside and counted:
        out += [Rubric(f"Beside {escape(counted.device)}", "measured"), beside]
    divergent = [row.counts.get("divergent_branches", 0) for row in traced]
    if any(divergent):
        text = ", ".join(
            number(d) + (f" ({code(row.variant)})" if row.variant and len(traced) > 1 else "")
            for d, row in zip(divergent, traced)
        )
        if len(traced) > 1 and len(set(divergent)) == 1:
            text = f"{number(divergent[0])} in each variant"
        out.append(Text(f"Divergent branches: {text}."))
    return out
