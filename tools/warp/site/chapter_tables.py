"""The end of a chapter: its ladder, and the simulator beside the hardware."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warp.base.counts import COUNTS
from warp.chapter.counted import Counted, CountedLine
from warp.chapter.results import Results
from warp.chapter.source import Chapter
from warp.chapter.written import Row
from warp.site.blocks import Block, Box, Fold, Table, Text
from warp.site.markup import code, escape, milliseconds, number, per, size_text, size_words
from warp.site.rung_panel import provenance
from warp.site.rung_tables import MEASURED_HEAD, measured_cells, sizes_of


def ladder(
    chapter: Chapter, simulated: Results | None, recorded: list[Results], drawings: Sequence[Block] = ()
) -> list[Block]:
    """Every rung in one table for each GPU that was recorded and for the simulator, all but the first folded. Where nothing was
    recorded, the counts stand in the open."""
    out: list[Block] = [Text("## The ladder"), *drawings]
    names = list(chapter.header.rungs)

    def label(row: Row) -> str:
        variant = f" {code(row.variant)}" if row.variant else ""
        return f"{{rung}}`{chapter.folder}/{row.rung}`{variant}"

    for measured in recorded:
        there: list[Block] = []
        sizes = sizes_of(measured.rows) or [{}]
        for size in sizes if measured is recorded[0] else sizes[:1]:  # the others have theirs in their results file
            body = []
            for row in (r for n in names for r in measured.of(n) if r.size == size):
                cells = measured_cells(row) or ["–"] * 5
                body.append([label(row), *cells, row.status])
            whole: Block = Table(["rung", *MEASURED_HEAD, "result"], body, "lrrrrrl")
            medians = by_variant([row for row in measured.rows if row.size == size], names, f"{chapter.folder}/")
            title = f"Measured on {escape(measured.device)}" + (f", {size_text(size)}" if size else "")
            there.append(Text(title + (", in milliseconds:" if medians else ":")))
            if medians:
                at = f", {size_text(size)}" if size else ""
                there += [medians, Fold(f"Rates and spread{at}", [whole], "lines")]
            else:
                there.append(whole)
        words = (
            f"{provenance(measured)}. Times are medians; each peer ran in the same "
            "rounds as its rung. *Of the peer* is the peer's time over the rung's: above 100 % the rung wins. "
            "*Of the limit* is the rate over the one that this machine reached in a plain copy or in a loop of "
            "FMAs."
        )
        there.append(Box("provenance", [Text(words)]))
        out.append(Fold(f"On {escape(measured.device)}", there, "lines", is_open=measured is recorded[0]))
    if simulated:
        body = []
        for row in (r for n in names for r in simulated.of(n)):

            def both(what: str, counts: dict[str, int] = row.counts) -> tuple[int, int]:
                """Of loads and of stores."""
                load, _, of = what.partition("_")
                first, second = (counts.get(f"{load}_{access}_{of}", 0) for access in ("load", "store"))
                return first, second

            loads, stores = both("global_requests")
            cells = [number(loads), per(both("global_sectors")[0], loads)]
            cells += [number(stores), per(both("global_sectors")[1], stores)]
            cells.append(per(sum(both("global_active_lanes")), loads + stores))
            cells.append(number(sum(both("shared_bank_conflicts"))) if any(both("shared_requests")) else "–")
            body.append([label(row), *(cells if row.counts else ["–"] * len(cells)), row.status])
        at = size_text(simulated.rows[0].size) if simulated.rows else ""
        head = ["rung", "loads", "sectors per load", "stores", "sectors per store", "lanes per request"]
        counts = Table([*head, "bank conflicts", "result"], body, "lrrrrrrl")
        title = f"Counted on the simulator, {at}"
        out += [Fold(title, [counts], "lines")] if recorded else [Text(f"{title}:"), counts]
    if not recorded:
        words = f"`./learn record {chapter.header.number}` measures it on a GPU of yours."
        out.append(Text(f"No measurement on hardware is recorded for this chapter yet: {words}"))
    return out


def variants_in_common(rows: list[Row], names: list[str]) -> tuple[list[str], dict[str, dict[str, float]]]:
    """The variants that most rungs have, such as the scenes of a renderer, and the median of each rung in each; no
    variants where most rungs do not have the same ones."""
    times: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.variant and row.time_ms:
            times.setdefault(row.rung, {})[row.variant] = row.time_ms.median
    times = {name: times[name] for name in names if name in times}
    in_order = sorted(times, key=lambda name: -len(times[name]))  # a rung that has all of them says in which order
    variants = list(dict.fromkeys(variant for name in in_order for variant in times[name]))
    common = [v for v in variants if 2 * sum(v in of for of in times.values()) > len({row.rung for row in rows})]
    return (variants if len(common) >= 4 and common == variants else []), times


def by_variant(rows: list[Row], names: list[str], folder: str = "") -> Table | None:
    """Medians, with a row for each rung and a column for each variant; none unless most rungs have the same ones."""
    variants, times = variants_in_common(rows, names)
    if not variants:
        return None
    body = [
        [f"{{rung}}`{folder}{name}`", *(milliseconds(of[variant]) if variant in of else "–" for variant in variants)]
        for name, of in times.items()
    ]
    head = ["rung", *map(code, variants)]
    return Table(head, body, "l" + "r" * len(variants))


# The counts beside the hardware's, and what they are called at the head of a column.
COLUMNS = {"blocks": "blocks", **{count.name: count.column for count in COUNTS}}


def agreement(counted: Counted | None, simulated: Results | None) -> list[Block]:
    """The simulator's counts beside the hardware's; empty where the hardware's were not recorded."""
    if not counted or not simulated:
        return []
    every = counted.compare(simulated)
    differing = [line for line in every if line.simulated != line.hardware]
    kernels = list(dict.fromkeys(line.kernel for line in every))
    several = {line.kernel for line in every if line.launch}
    head = ["kernel", "count", "simulator", counted.device]

    def body(lines: list) -> list[list[str]]:
        """A row for the launches, and for the counts, of which both sides say the same."""
        launches: dict[tuple, list[int]] = {}
        for line in lines:
            launches.setdefault((line.kernel, line.count, line.simulated, line.hardware), []).append(line.launch + 1)
        counts: dict[tuple, list[str]] = {}
        for (kernel, count, here, there), those in launches.items():
            counts.setdefault((kernel, tuple(those), here, there), []).append(f"`{count}`")
        rows = []
        for (kernel, those, here, there), names in counts.items():
            which = f", launch{'es' if len(those) > 1 else ''} {', '.join(map(str, those))}"
            title = f"`{kernel}`{which if kernel in several else ''}"
            rows.append([title, ", ".join(names), number(here), number(there)])
        return rows

    version = re.search(r"\d+(\.\d+)+", counted.tool)
    tool = f"Nsight Compute {version[0]}" if version else "Nsight Compute"
    out: list[Block] = [
        Text("## The simulator and the hardware"),
        Text(
            f"{tool} counted the same launches on {escape(counted.device)}, {size_words(counted.size)}, on "
            f"{counted.date}. Of {number(len(every))} counts of {len(kernels)} kernels "
            f"{'all are' if not differing else f'all but {len(differing)} are'} those of the simulator."
        ),
    ]
    # What is alone with its reason shares a table with a column for them; the others' reasons are a list above theirs.
    rows = {
        reason: body([line for line in differing if counted.reason(line) == reason])
        for reason in dict.fromkeys(map(counted.reason, differing))
    }
    alone = [[*those[0], escape(reason)] for reason, those in rows.items() if len(those) == 1]
    if alone:
        out.append(Table([*head, "why"], alone, "llrrl"))
    listed = []
    for reason, those in rows.items():
        if len(those) > 1:
            names = dict.fromkeys(f"`{line.kernel}`" for line in differing if counted.reason(line) == reason)
            listed.append(f"- {', '.join(names)}: {escape(reason)}".rstrip(".") + ".")
    out += [Text("\n".join(listed))] if listed else []
    in_use = {line.count for line in every if not is_zero(line)}
    used = [name for name in COLUMNS if name in in_use] + sorted(in_use - set(COLUMNS))
    launches = Table(
        ["kernel", *(COLUMNS.get(name, name) for name in used)], by_launch(every, used), "l" + "r" * len(used)
    )
    words = Text("Where two numbers stand, the first is the simulator's. An empty field is a zero.")
    return [*out, Fold("Launch by launch", [words, launches], "lines agreement")]


def is_zero(line: CountedLine) -> bool:
    return line.simulated == line.hardware == 0


def by_launch(lines: list[CountedLine], used: list[str]) -> list[list[str]]:
    """A row for each launch, or for those of a kernel that have the same counts, with a cell for each count in use."""
    launches: dict[tuple[str, int], dict[str, str]] = {}
    for line in lines:
        both = number(line.simulated)
        if line.simulated != line.hardware:
            both += f" / **{number(line.hardware)}**"
        launches.setdefault((line.kernel, line.launch), {})[line.count] = "" if is_zero(line) else both
    merged: dict[tuple, list[int]] = {}
    for (kernel, launch), counts in launches.items():
        merged.setdefault((kernel, *(counts.get(name, "–") for name in used)), []).append(launch + 1)
    several = {kernel for kernel, launch in launches if launch}
    return [
        [f"`{kernel}`" + (f" {', '.join(map(str, those))}" if kernel in several else ""), *cells]
        for (kernel, *cells), those in merged.items()
    ]
