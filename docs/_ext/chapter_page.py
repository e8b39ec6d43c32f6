"""Turns a chapter's source, its counts and its results into a page (MyST). Standard library only.

Nothing is written here that a source says: prose, code, contracts, ideas, sizes and numbers all
come from the chapter's files and from its program.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from course.counted import Counted
from course.functions import find_function
from course.header import SourceError, read_text
from course.predictions import Answer
from course.results import Results
from course.source import SECOND_READING, Chapter, Code, Fold, Prediction, Prose, RungHere, parse_blocks

# (label, prefix of the counts, what a request costs)
ACCESSES = [
    ("global loads", "global_load", "sectors"),
    ("global stores", "global_store", "sectors"),
    ("global atomics", "global_atomic", "sectors"),
    ("shared loads", "shared_load", "wavefronts"),
    ("shared stores", "shared_store", "wavefronts"),
    ("shared atomics", "shared_atomic", "wavefronts"),
]


def number(value: float) -> str:
    """1234567 -> 1,234,567; 4.0 -> 4; 4.25 -> 4.25."""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def per(a: float, b: float) -> str:
    return number(a / b) if b else "–"


def milliseconds(ms: float) -> str:
    """Four significant digits, whatever the size."""
    for limit, decimals in ((1000, 0), (100, 1), (10, 2), (1, 3)):
        if ms >= limit:
            return f"{ms:,.{decimals}f}"
    return f"{ms:.4f}"


def rate(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.{1 if value >= 10 else 2}f} {unit}"


def escape(text: str) -> str:
    """Plain text as Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|$#])", r"\\\1", text)


def typeset(text: str) -> str:
    """Prose with a multiplication sign where a source has an x between extents, 128 x 96 or M x K, and with powers and
    transposes set high: n^2, 2^32, B^T. Code stays as it is."""
    pieces = re.split(
        r"(^(?:```|~~~).*?^(?:```|~~~)|^ {4}[^\n]*$|``.*?``|`[^`]*`)", text, flags=re.DOTALL | re.MULTILINE
    )
    sign = re.compile(r"(?<![\w.])(\d[\d,]*|[A-Z]{1,2}) x(?=\s(?:\d|[A-Z]{1,2}\b|NaN\b|anything|infinity))")
    power = re.compile(r"(?<![\w^])(\d+|[A-Za-z])\^(\d+|T)(?!\w)")
    high = str.maketrans("0123456789T", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ")
    return "".join(
        piece if i % 2 else power.sub(lambda found: found[1] + found[2].translate(high), sign.sub(r"\1 ×", piece))
        for i, piece in enumerate(pieces)
    )


def size_text(size: dict) -> str:
    return ", ".join(f"{name} = {number(value)}" for name, value in size.items())


def short_size(size: dict) -> str:
    """4,096 where all extents are that, else 300 × 200 × 100."""
    extents = list(size.values())
    return number(extents[0]) if len(set(extents)) == 1 else " × ".join(number(extent) for extent in extents)


def fence(body: str, info: str, options: list[str] = ()) -> str:
    """A fenced block that nothing in `body` can close."""
    longest = max((len(m) for m in re.findall(r"`{3,}", body)), default=2)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([ticks + info, *options, body, ticks])


def table(head: list[str], rows: list[list[str]], align: str) -> str:
    """A Markdown table; `align` has a letter (l, r, c) for each column."""
    marks = {"l": ":--", "r": "--:", "c": ":-:"}
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(marks[a] for a in align) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def listing(code: Code, language: str = "cuda") -> str:
    return fence("\n".join(code.lines), f"{{code-block}} {language}", [":linenos:", f":lineno-start: {code.line}", ""])


def only_includes(code: Code) -> bool:
    return all(not line.strip() or re.match(r"#\s*(include|pragma once)\b", line) for line in code.lines)


def counts_table(rows: list[dict]) -> str:
    """The counts of a rung's rows: one line for each variant and kind of access."""
    variants = len(rows) > 1
    parts = []
    for unit in ("sectors", "wavefronts"):
        body = []
        for row in rows:
            counts = row.get("counts", {})
            for label, prefix, cost in ACCESSES:
                requests = counts.get(f"{prefix}_requests", 0)
                if cost != unit or not requests:
                    continue
                cells = [f"`{escape_code(row.get('variant', ''))}`" if row.get("variant") else ""] if variants else []
                cells += [
                    label,
                    number(requests),
                    number(counts.get(f"{prefix}_{cost}", 0)),
                    per(counts.get(f"{prefix}_{cost}", 0), requests),
                ]
                if unit == "sectors":
                    asked, moved = counts.get(f"{prefix}_bytes"), 32 * counts.get(f"{prefix}_sectors", 0)
                    cells.append(f"{number(round(100 * asked / moved, 1))} %" if asked is not None and moved else "–")
                else:
                    cells.append(
                        number(counts[f"{prefix}_bank_conflicts"]) if f"{prefix}_bank_conflicts" in counts else "–"
                    )
                cells.append(per(counts.get(f"{prefix}_active_lanes", 0), requests))
                body.append(cells)
        if not body:
            continue
        head = ["variant"] if variants else []
        head += [
            "access",
            "requests",
            unit,
            f"{unit} per request",
            "bytes used" if unit == "sectors" else "bank conflicts",
            "lanes per request",
        ]
        words = 2 if variants else 1  # columns that say what a row is
        if variants:
            body = merge_variants(body, len(rows))
        head, body, constant = without_constants(head, body, words + 3)
        parts.append(table(head, body, "l" * words + "r" * (len(head) - words)))
        if constant:
            parts.append(f"In every row: {', '.join(constant)}.")
    return "\n\n".join(parts)


def merge_variants(body: list[list[str]], variants: int) -> list[list[str]]:
    """Rows that are the same for every variant become one."""
    same: dict[tuple, int] = {}
    for _, *cells in body:
        same[tuple(cells)] = same.get(tuple(cells), 0) + 1
    merged, seen = [], set()
    for variant, *cells in body:
        key = tuple(cells)
        if same[key] < variants:
            merged.append([variant, *cells])
        elif key not in seen:
            seen.add(key)
            merged.append(["each", *cells])
    return merged


def without_constants(
    head: list[str], body: list[list[str]], first: int
) -> tuple[list[str], list[list[str]], list[str]]:
    """The table without those of its columns, from the `first` on, that never vary, and these as phrases: `32 lanes per
    request`."""
    if len(body) < 2:
        return head, body, []
    constant = [i for i in range(first, len(head)) if len({row[i] for row in body}) == 1 and body[0][i] != "–"]
    kept = [i for i in range(len(head)) if i not in constant]
    return (
        [head[i] for i in kept],
        [[row[i] for i in kept] for row in body],
        [f"{body[0][i]} {head[i]}" for i in constant],
    )


def escape_code(text: str) -> str:
    return text.replace("`", "'").replace("|", "\\|")


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


MEASURED_HEAD = ["median", "rate", "of the peer", "of the limit", "p10 to p90"]  # a phone shows the first of them


def measured_cells(row: dict) -> list[str] | None:
    time = row.get("time_ms")
    if not time:
        return None
    ratio, limit = row.get("ratio_to_peer"), row.get("fraction_of_limit")
    return [
        f"{milliseconds(time['median'])} ms",
        rate(row["rate"], row.get("rate_unit", "")) if row.get("rate") is not None else "–",
        f"{100 * ratio:.1f} %" if ratio is not None else "–",
        f"{100 * limit:.1f} %" if limit is not None else "–",
        f"{milliseconds(time['p10'])} to {milliseconds(time['p90'])}",
    ]


def sizes_of(rows: list[dict]) -> list[dict]:
    """The sizes of some rows, each once, in their order."""
    sizes = []
    for row in rows:
        if row.get("size") and row["size"] not in sizes:
            sizes.append(row["size"])
    return sizes


def measured_table(rows: list[dict]) -> str:
    """The times of a rung; a column for what tells its rows apart."""
    variants = any(row.get("variant") for row in rows) and len(rows) > 1
    sizes = len(sizes_of(rows)) > 1
    body = []
    for row in rows:
        cells = measured_cells(row)
        if cells:
            if variants:
                cells.insert(0, f"`{escape_code(row['variant'])}`" if row.get("variant") else "")
            if sizes:
                cells.insert(0, short_size(row["size"]))
            body.append(cells)
    if not body:
        return ""
    apart = (["size"] if sizes else []) + (["variant"] if variants else [])
    return table(apart + MEASURED_HEAD, body, "l" * len(apart) + "rrrrr")


def variants_beside(name: str, simulated: Results, counted: Counted | None, measured: Results | None) -> str:
    """The variants of a rung that reads shared memory: wavefronts on the simulator and on the hardware, and the
    measured rate; empty where the hardware's counts are not recorded, or not launch by launch."""
    rows = [row for row in simulated.of(name) if row.get("variant")]
    lines = [line for line in counted.compare(simulated) if line.kernel == name] if counted else []
    waves, requests = (
        [line for line in lines if line.count == f"shared_load_{what}"] for what in ("wavefronts", "requests")
    )
    if len(rows) < 2 or not len(waves) == len(requests) == len(rows):
        return ""
    rates = {
        row.get("variant"): rate(row["rate"], row.get("rate_unit", ""))
        for row in reversed(measured.of(name) if measured else [])
        if row.get("rate") is not None
    }
    body = []
    for row, wave, request in zip(rows, waves, requests):
        if not request.simulated or not request.hardware:
            return ""
        body.append(
            [
                f"`{escape_code(row['variant'])}`",
                per(wave.simulated, request.simulated),
                per(wave.hardware, request.hardware),
            ]
            + ([rates.get(row["variant"], "–")] if rates else [])
        )
    head = ["variant", "wavefronts per load, simulator", f"on {counted.device}"] + (["measured"] if rates else [])
    return table(head, body, "l" + "r" * (len(head) - 1))


def lines_table(name: str, source: Path, simulated: Results) -> str:
    """Where a kernel's requests come from, line by line; empty where one line makes them all."""
    lines = simulated.lines.get(name, {})
    here = {line: counts for (file, line), counts in lines.items() if Path(file).name == source.name}
    texts = read_text(source).split("\n")
    body = []
    for line in sorted(here):
        if not 1 <= line <= len(texts):
            continue
        counts = here[line]
        for label, prefix, cost in ACCESSES:
            requests = counts.get(f"{prefix}_requests", 0)
            if requests:
                body.append(
                    [
                        str(line),
                        f"`` {escape_code(texts[line - 1].strip())} ``",
                        label,
                        number(requests),
                        per(counts.get(f"{prefix}_{cost}", 0), requests) + f" {cost}",
                    ]
                )
    if len(body) < 2:
        return ""
    return table(["line", "source", "access", "requests", "per request"], body, "rllrr")


def measured_on(name: str, measured: Results) -> list[str]:
    """What was measured of a rung on one GPU; empty where nothing was."""
    rows, out = measured.of(name), []
    times = measured_table(rows)
    if times:
        peers = sorted({row["peer"]["name"] for row in rows if row.get("peer")})
        beside = f" The peer, timed in the same rounds: {', '.join(f'`{p}`' for p in peers)}." if peers else ""
        sizes = sizes_of(rows)
        size = f", {size_text(sizes[0])}" if len(sizes) == 1 else ""
        out += [
            f":::{{rubric}} Measured on {escape(measured.device)}{size}",
            ":class: measured",
            ":::",
            "",
            times,
            "",
            f":::{{container}} provenance\n{provenance(measured)}.{beside}\n:::",
            "",
        ]
    for reason in dict.fromkeys(row.get("reason", "no reason given") for row in rows if row["status"] == "SKIP"):
        out += [f"Not run on {escape(measured.device)}: {escape(reason)}.".replace("..", "."), ""]
    return out


def rung_panel(
    name: str,
    idea: str,
    project: str,
    signature: str,
    source: Path,
    simulated: Results | None,
    measured: Results | None,
    counted: Counted | None = None,
    elsewhere: list[Results] = (),
) -> str:
    """What the page says right after a rung's function; `elsewhere` are the results of further GPUs."""
    out = [f"::::::{{rung}} {name}", f":idea: {json.dumps(idea, ensure_ascii=False)}", ""]
    if signature:
        out += [f":::{{doxygenfunction}} {signature}", f":project: {project}", ":no-link:", ":::", ""]
    rows = simulated.of(name) if simulated else []
    if rows:
        traced = [row for row in rows if row.get("counts") and any(row["counts"].values())]
        size = size_text(rows[0].get("size", {}))
        if traced:
            out += [
                f":::{{rubric}} Counted on the simulator, {size}",
                ":class: counted",
                ":::",
                "",
                counts_table(traced),
                "",
            ]
            beside = variants_beside(name, simulated, counted, measured)
            if beside:
                out += [f":::{{rubric}} Beside {escape(counted.device)}", ":class: measured", ":::", "", beside, ""]
            divergent = [row["counts"].get("divergent_branches", 0) for row in traced]
            if any(divergent):
                text = ", ".join(
                    number(d)
                    + (f" (`{escape_code(row['variant'])}`)" if row.get("variant") and len(traced) > 1 else "")
                    for d, row in zip(divergent, traced)
                )
                if len(traced) > 1 and len(set(divergent)) == 1:
                    text = f"{number(divergent[0])} in each variant"
                out += [f"Divergent branches: {text}.", ""]
            by_line = lines_table(name, source, simulated)
            if by_line:
                out += [":::{dropdown} Line by line", ":class-container: lines", "", by_line, ":::", ""]
        if simulated.shown.get(name):
            out += [
                ":::{rubric} Printed",
                ":class: printed",
                ":::",
                "",
                fence(simulated.shown[name], "{code-block} text", [":class: output", ""]),
                "",
            ]
        for row in rows:
            variant = f" (`{escape_code(row['variant'])}`)" if row.get("variant") else ""
            if row["status"] == "SKIP":
                out += [
                    f"Not run on the simulator{variant}: {escape(row.get('reason', 'no reason given'))}.".replace(
                        "..", "."
                    ),
                    "",
                ]
            elif row.get("reason"):
                out += [
                    f":::{{rubric}} Found by the simulator{variant}",
                    ":class: found",
                    ":::",
                    "",
                    fence(row["reason"], "{code-block} text", [":class: finding", ""]),
                    "",
                ]
            elif not row.get("counts") or not any(row["counts"].values()):
                out += [
                    f"On the simulator{variant}: {row['status']}. It launches no kernel that touches memory, "
                    "so there is nothing to count.",
                    "",
                ]
    if measured:
        out += measured_on(name, measured)
    for other in elsewhere:
        there = measured_on(name, other)
        if there:
            out += [f"::::{{dropdown}} On {escape(other.device)}", ":class-container: lines", "", *there, "::::", ""]
    out.append("::::::")
    return "\n".join(out)


def agreement(counted: Counted | None, simulated: Results | None) -> str:
    """The simulator's counts beside the hardware's; empty where the hardware's were not recorded."""
    if not counted or not simulated:
        return ""
    differing = [line for line in counted.compare(simulated) if line.simulated != line.hardware]
    every = counted.compare(simulated)
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
        return [
            [
                f"`{kernel}`"
                + (
                    f", launch{'es' if len(those) > 1 else ''} {', '.join(map(str, those))}"
                    if kernel in several
                    else ""
                ),
                ", ".join(names),
                number(here),
                number(there),
            ]
            for (kernel, those, here, there), names in counts.items()
        ]

    out = [
        "## The simulator and the hardware",
        "",
        f"Nsight Compute counted the same launches on {escape(counted.device)}, {size_words(counted.size)} "
        f"({escape(counted.tool)}, {counted.date}). Of {number(len(every))} counts of {len(kernels)} kernels "
        f"{'all are' if not differing else f'all but {len(differing)} are'} those of the simulator.",
        "",
    ]
    # A reason for several rows stands above a table of theirs, the others share a table with a column for them.
    rows = {
        reason: body([line for line in differing if counted.reason(line) == reason])
        for reason in dict.fromkeys(map(counted.reason, differing))
    }
    alone = [[*those[0], escape(reason)] for reason, those in rows.items() if len(those) == 1]
    if alone:
        out += [table([*head, "why"], alone, "llrrl"), ""]
    for reason, those in rows.items():
        if len(those) > 1:
            out += [f"Why these differ: {escape(reason)}".rstrip(".") + ".", "", table(head, those, "llrr"), ""]
    out += [":::{dropdown} All of them", ":class-container: lines", "", table(head, body(every), "llrr"), ":::", ""]
    return "\n".join(out)


def ladder(chapter: Chapter, simulated: Results | None, recorded: list[Results], figures: list[str]) -> str:
    """The chapter's end: every rung in one table for each backend and each GPU that was recorded."""
    out = ["## The ladder", ""]
    names = list(chapter.header.rungs)

    def label(row: dict) -> str:
        variant = f" `{escape_code(row['variant'])}`" if row.get("variant") else ""
        return f"{{rung}}`{row['rung']}`{variant}"

    for measured in recorded:
        for size in sizes_of(measured.rows) or [{}]:
            body = []
            for row in (r for n in names for r in measured.of(n) if r.get("size", {}) == size):
                cells = measured_cells(row) or ["–"] * 5
                body.append([label(row), *cells, row["status"]])
            out += [
                f"Measured on {escape(measured.device)}" + (f", {size_text(size)}" if size else "") + ":",
                "",
                table(["rung", *MEASURED_HEAD, ""], body, "lrrrrrl"),
                "",
            ]
        out += [
            f":::{{container}} provenance\n{provenance(measured)}. Times are medians; each peer ran in the same "
            "rounds as its rung. *Of the peer* is the peer's time over the rung's: above 100 % the rung wins. "
            "*Of the limit* is the rate over the one that this machine reached in a plain copy or in a loop of "
            "FMAs.\n:::",
            "",
        ]
    if simulated:
        body = []
        for row in (r for n in names for r in simulated.of(n)):
            c = row.get("counts", {})
            loads, stores = c.get("global_load_requests", 0), c.get("global_store_requests", 0)
            shared = c.get("shared_load_requests", 0) + c.get("shared_store_requests", 0)
            body.append(
                [
                    label(row),
                    number(loads) if c else "–",
                    per(c.get("global_load_sectors", 0), loads),
                    number(stores) if c else "–",
                    per(c.get("global_store_sectors", 0), stores),
                    per(c.get("global_load_active_lanes", 0) + c.get("global_store_active_lanes", 0), loads + stores),
                    number(c.get("shared_load_bank_conflicts", 0) + c.get("shared_store_bank_conflicts", 0))
                    if shared
                    else "–",
                    row["status"],
                ]
            )
        size = size_text(simulated.rows[0].get("size", {})) if simulated.rows else ""
        out += [
            f"Counted on the simulator, {size}:",
            "",
            table(
                [
                    "rung",
                    "loads",
                    "sectors per load",
                    "stores",
                    "sectors per store",
                    "lanes per request",
                    "bank conflicts",
                    "",
                ],
                body,
                "lrrrrrrl",
            ),
            "",
        ]
    out += figures
    if not recorded:
        out += [
            "No measurement on hardware is recorded for this chapter yet: "
            f"`./learn record {chapter.header.number}` measures it on a GPU of yours.",
            "",
        ]
    return "\n".join(out)


def check_rungs(chapter: Chapter, results: Results, origin: str) -> None:
    """The header and the program must name the same rungs."""
    listed, ran = set(chapter.header.rungs), {row["rung"] for row in results.rows}
    for name in sorted(ran - listed):
        raise SourceError(f"{chapter.path}:1: {origin} has a rung {name} that the header does not list")
    for name in sorted(listed - ran):
        raise SourceError(f"{chapter.path}:1: the header lists rung {name}, which {origin} does not have")


def prose(block: Prose) -> str:
    """A block of prose as the page has it; the rest of a section for second reading is folded."""
    text = typeset(block.text)
    if not block.second_reading:
        return text
    head, _, body = text.partition("\n")
    return "\n".join([head.rstrip().removesuffix(SECOND_READING), "", "```{second-reading}", "```", body])


def prediction(block: Prediction, answers: dict[str, Answer]) -> str:
    """A question, and what the run answers where there is a run."""
    answer = answers.get(block.name)
    known = {"near": block.near, "unit": block.unit.replace("`", ""), "choices": block.choices}
    said = ""
    if answer:
        known.update(answer=answer.value, shown=answer.text)
        said = f"{answer.text.replace('`', '')} {block.unit.replace('`', '')}".strip() + f", {answer.source}"
    choices = ["", *(f"- {choice}" for choice in block.choices)] if block.choices else []
    return fence(
        "\n".join([typeset(block.question), *choices]),
        f"{{prediction}} {block.name}",
        [
            f":data: {json.dumps(json.dumps(known, ensure_ascii=False), ensure_ascii=False)}",
            f":said: {json.dumps(said, ensure_ascii=False)}",
            "",
        ],
    )


def links_to_map(header, titles: dict[str, str]) -> str:
    if not header.builds_on:
        return "nothing"
    return ", ".join(f"[{escape(titles[name])}](/chapters/{name}.md)" for name in header.builds_on)


def chapter_page(
    chapter: Chapter,
    *,
    project: str,
    signatures: dict[str, str],
    titles: dict[str, str],
    simulated: Results | None,
    measured: Results | None,
    elsewhere: list[Results] = (),
    others: list[Path] = (),
    figures: list[str] = (),
    rung_figures: dict[str, str] | None = None,
    counted: Counted | None = None,
    notes: str = "",
    answers: dict[str, Answer] | None = None,
) -> str:
    """The page of a chapter. `signatures` says how Breathe finds each rung's contract."""
    header = chapter.header
    rung_figures, answers = rung_figures or {}, answers or {}
    if simulated:  # what was measured may be older than a rung's name
        check_rungs(chapter, simulated, "the simulator's run")
    out = [f"# Chapter {header.number}: {header.title}", "", f":::{{container}} question\n{header.question}\n:::", ""]
    # Chapters may have functions of one name: each has its own namespace, which no signature shows.
    out += [f"```{{cpp:namespace}} {project}\n```", ""]
    facts = [f"Builds on {links_to_map(header, titles)}."]
    facts.append(f"Source: `chapters/{chapter.folder}/{chapter.path.name}`.")
    facts.append(
        f"Default size: {size_words(header.sizes['gpu'])} on a GPU, "
        f"{size_words(header.sizes['simulator'])} on the simulator."
    )
    out += [":::{container} facts", " ".join(facts), ":::", ""]
    if header.intro:
        out += [header.intro, ""]
    out += [fence(f"./learn run {header.number}", "{code-block} console", [""]), ""]
    if figures:  # results: whoever wants to predict them first leaves it shut
        out += [":::::{dropdown} The ladder in one picture", ":class-container: rungs", "", figures[0], ":::::", ""]
    out += [
        ":::{dropdown} The rungs of this chapter",
        ":class-container: rungs",
        "",
        table(
            ["rung", "idea"],
            [[f"{{rung}}`{name}`", rung.idea.replace("|", "\\|")] for name, rung in header.rungs.items()],
            "ll",
        ),
        "",
        f"One rung alone: `./learn run {header.number} --rung {next(iter(header.rungs))}`",
        ":::",
        "",
    ]

    placed: set[str] = set()

    def panel(name: str, source: Path) -> str:
        placed.add(name)
        text = rung_panel(
            name,
            header.rungs[name].idea,
            project,
            signatures.get(name, ""),
            source,
            simulated,
            measured,
            counted,
            elsewhere,
        )
        return text + ("\n\n" + rung_figures[name] if name in rung_figures else "")

    def render(blocks: list, source: Path) -> None:
        for block in blocks:
            if isinstance(block, Prose):
                out.extend([prose(block), ""])
            elif isinstance(block, Prediction):
                out.extend([prediction(block, answers), ""])
            elif isinstance(block, Code) and only_includes(block):
                out.extend([":::{dropdown} Headers", ":class-container: fold", "", listing(block), ":::", ""])
            elif isinstance(block, Code):
                out.extend([listing(block), ""])
            elif isinstance(block, RungHere):
                if block.name not in header.rungs:
                    raise SourceError(f"{source}:1: '[rung {block.name}]': the header lists no such rung")
                out.extend([panel(block.name, source), ""])
            elif isinstance(block, Fold):
                title = block.title or f"Lines {block.line + 1} on"
                out.extend([f"::::::::{{dropdown}} {title}", ":class-container: fold", ""])
                render(block.blocks, source)
                out.extend(["::::::::", ""])

    render(chapter.blocks, chapter.path)
    for other in others:
        lines = read_text(other).split("\n")
        functions = [
            f for name in header.rungs if name not in chapter.functions and (f := find_function("\n".join(lines), name))
        ]
        out += [f"## {other.name}", ""]
        render(parse_blocks(other, lines, 1, functions), other)
    rest = [name for name in header.rungs if name not in placed]
    if rest:
        out += ["## Beside the kernels", ""]
        for name in rest:
            out += [panel(name, chapter.path), ""]
    out += [ladder(chapter, simulated, [*filter(None, [measured]), *elsewhere], list(figures[1:])), ""]
    out += [agreement(counted, simulated), ""]
    if notes:
        out += [f"How the figures were measured, and what else was tried: [laboratory notes](/{notes}).", ""]
    return "\n".join(out)


def notes_page(text: str) -> str:
    """The page of a chapter's notes, which the chapter links and no table of contents lists."""
    return f"---\norphan: true\n---\n\n{typeset(text.strip())}\n"


def size_words(text: str) -> str:
    return " × ".join(number(int(part)) if part.strip().isdigit() else escape(part) for part in text.split(","))


def map_page(chapters: list[Chapter], drawings: str) -> str:
    """The map: what there is, which question each chapter answers, what it builds on."""
    titles = {c.folder: f"{c.header.number} {c.header.title}" for c in chapters}
    out = [
        "# The chapters",
        "",
        "Each chapter is one program: the page and the program are the same file. It climbs a ladder of "
        "kernels, from the obvious one up; each rung is verified, counted and timed.",
        "",
        drawings,
        "",
    ]
    for chapter in chapters:
        header = chapter.header
        rungs = ", ".join(f"{{rung}}`{chapter.folder}/{name}`" for name in header.rungs)
        out += [
            f"## [{header.number} {escape(header.title)}](/chapters/{chapter.folder}.md)",
            "",
            header.question,
            "",
            f"Builds on: {links_to_map(header, titles)}",
            "",
            f"Rungs: {rungs}",
            "",
        ]
    out += ["```{toctree}", ":hidden:", ":maxdepth: 1", ""]
    out += [f"{chapter.folder}" for chapter in chapters]
    out += ["```", ""]
    return "\n".join(out)
