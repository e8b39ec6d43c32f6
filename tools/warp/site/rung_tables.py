"""The tables of a rung: what the simulator counted, by access, and what was measured."""

from __future__ import annotations

import re

from warp.chapter.counted import Counted
from warp.chapter.results import Results
from warp.chapter.written import Row
from warp.explain.listing import ACCESSES
from warp.site.blocks import Block, Table, Text
from warp.site.markup import code, milliseconds, number, per, rate, short_size

CHART_ROWS = 4  # of variants that are compared by their lengths, not by reading


def charted(body: list[list[str]], column: int) -> list[list[str]]:
    """A table whose cells of one column, from CHART_ROWS on, are bars as long as their numbers are large."""
    values = [re.match(r"[\d,.]+", cells[column]) for cells in body]
    known = [float(found[0].replace(",", "")) for found in values if found]
    if len(body) < CHART_ROWS or len(set(known)) < 2:
        return body
    out = []
    for cells, found in zip(body, values):
        part = round(20 * float(found[0].replace(",", "")) / max(known)) if found else 0
        cell = f"[{cells[column]}]{{.bar .p{part}}}" if found else cells[column]
        out.append([*cells[:column], cell, *cells[column + 1 :]])
    return out


def counts_table(rows: list[Row]) -> list[Block]:
    """The counts of a rung's rows: one line for each variant and kind of access."""
    variants = len(rows) > 1
    parts: list[Block] = []
    for unit in ("sectors", "wavefronts"):
        body: list[list[str]] = []
        shared = False
        for row in rows:
            counts = row.counts
            for label, prefix, cost in ACCESSES:
                requests = counts.get(f"{prefix}_requests", 0)
                if cost != unit or not requests:
                    continue
                costs = counts.get(f"{prefix}_{cost}", 0)
                cells = [code(row.variant)] if variants else []
                cells += [label, number(requests), number(costs), per(costs, requests)]
                if unit == "sectors":
                    asked, moved = counts.get(f"{prefix}_bytes"), 32 * costs
                    cells.append(f"{number(round(100 * asked / moved, 1))} %" if asked is not None and moved else "–")
                    shared |= asked is not None and asked > moved
                else:
                    conflicts = counts.get(f"{prefix}_bank_conflicts")
                    cells.append("–" if conflicts is None else number(conflicts))
                cells.append(per(counts.get(f"{prefix}_active_lanes", 0), requests))
                body.append(cells)
        if not body:
            continue
        last = ["bytes used" if unit == "sectors" else "bank conflicts", "lanes per request"]
        each = f"{unit} per request"
        head = [*(["variant"] if variants else []), "access", "requests", unit, each, *last]
        words = 2 if variants else 1  # columns that say what a row is
        if variants:
            body = merge_variants(body, len(rows))
        head, body, constant = without_constants(head, body, words + 3)
        if variants and each in head:
            body = charted(body, head.index(each))
        parts.append(Table(head, body, "l" * words + "r" * (len(head) - words)))
        if constant:
            parts.append(Text(f"In every row: {', '.join(constant)}."))
        if shared:
            parts.append(Text("More than 100 % of the bytes are used where several lanes ask for the same ones."))
    return parts


def merge_variants(body: list[list[str]], variants: int) -> list[list[str]]:
    """Rows that are the same for every variant become one, behind the others."""
    same: dict[tuple, int] = {}
    for _, *cells in body:
        same[tuple(cells)] = same.get(tuple(cells), 0) + 1
    apart = [[variant, *cells] for variant, *cells in body if same[tuple(cells)] < variants]
    return apart + [["each", *cells] for cells, count in same.items() if count == variants]


def without_constants(
    head: list[str], body: list[list[str]], first: int
) -> tuple[list[str], list[list[str]], list[str]]:
    """The table without those of its columns, from the `first` on, that never vary, and these as phrases: `32 lanes per
    request`, `100 % of the bytes used`."""
    if len(body) < 2:
        return head, body, []
    constant = [i for i in range(first, len(head)) if len({row[i] for row in body}) == 1 and body[0][i] != "–"]
    kept = [i for i in range(len(head)) if i not in constant]
    return (
        [head[i] for i in kept],
        [[row[i] for i in kept] for row in body],
        [f"{body[0][i]}{' of the' if body[0][i].endswith('%') else ''} {head[i]}" for i in constant],
    )


MEASURED_HEAD = ["median", "rate", "of the peer", "of the limit", "p10 to p90"]  # a phone shows the first of them


def measured_cells(row: Row) -> list[str] | None:
    time = row.time_ms
    if not time:
        return None
    ratio, limit = row.ratio_to_peer, row.fraction_of_limit
    return [
        f"{milliseconds(time.median)} ms",
        rate(row.rate, row.rate_unit) if row.rate is not None else "–",
        f"{100 * ratio:.1f} %" if ratio is not None else "–",
        f"{100 * limit:.1f} %" if limit is not None else "–",
        f"{milliseconds(time.p10)} to {milliseconds(time.p90)}",
    ]


def sizes_of(rows: list[Row]) -> list[dict]:
    """The sizes of some rows, each once, in their order."""
    sizes = []
    for row in rows:
        if row.size and row.size not in sizes:
            sizes.append(row.size)
    return sizes


def measured_table(rows: list[Row]) -> Table | None:
    """The times of a rung, if there are any; a column for what tells its rows apart."""
    variants = any(row.variant for row in rows) and len(rows) > 1
    sizes = len(sizes_of(rows)) > 1
    body = []
    for row in rows:
        cells = measured_cells(row)
        if cells:
            if variants:
                cells.insert(0, code(row.variant))
            if sizes:
                cells.insert(0, short_size(row.size))
            body.append(cells)
    if not body:
        return None
    apart = (["size"] if sizes else []) + (["variant"] if variants else [])
    head = apart + MEASURED_HEAD
    told = [i for i in range(len(head)) if any(cells[i] != "–" for cells in body)]  # a rung may have no peer
    if variants:
        body = charted(body, head.index("rate") if head.index("rate") in told else head.index("median"))
    return Table(
        [head[i] for i in told],
        [[cells[i] for i in told] for cells in body],
        "".join("l" if i < len(apart) else "r" for i in told),
    )


def variants_beside(name: str, simulated: Results, counted: Counted | None, measured: Results | None) -> Table | None:
    """The variants of a rung that reads shared memory: wavefronts on the simulator and on the hardware, and the
    measured rate; none where the hardware's counts are not recorded, or not launch by launch, and where the simulator
    counts the same for all variants."""
    rows = [row for row in simulated.of(name) if row.variant]
    if len(rows) < 2 or not counted:
        return None
    lines = [line for line in counted.compare(simulated) if line.kernel == name]
    waves, requests = (
        [line for line in lines if line.count == f"shared_load_{what}"] for what in ("wavefronts", "requests")
    )
    if not len(waves) == len(requests) == len(rows):
        return None
    rates = {
        row.variant: rate(row.rate, row.rate_unit)
        for row in reversed(measured.of(name) if measured else [])
        if row.rate is not None
    }
    body = []
    for row, wave, request in zip(rows, waves, requests):
        if not request.simulated or not request.hardware:
            return None
        both = [per(wave.simulated, request.simulated), per(wave.hardware, request.hardware)]
        body.append([code(row.variant), *both, *([rates.get(row.variant, "–")] if rates else [])])
    if len({simulated_per_load for _, simulated_per_load, *_ in body}) < 2:
        return None
    head = ["variant", "wavefronts per load, simulator", f"on {counted.device}"] + (["measured"] if rates else [])
    return Table(head, body, "l" + "r" * (len(head) - 1))
