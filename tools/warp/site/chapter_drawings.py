"""The drawings of a chapter: its ladder and its roofline from what was measured, and what its own figures.py draws."""

from __future__ import annotations

import json
import math
import re
import runpy
from pathlib import Path

from warp.base.text import there
from warp.chapter import results
from warp.chapter.results import Results
from warp.chapter.source import Chapter
from warp.chapter.written import Row
from warp.site import asked, chapter_tables, figures, landing, markup, rung_tables
from warp.site.blocks import Block, Figure, Page, Text, every
from warp.site.figures.limiters import HALF
from warp.site.stage import BuildError


def own(chapter: Chapter, simulated: Results) -> tuple[dict[str, list[Block]], dict[str, Figure]]:
    """What the chapter's figures.py draws: what stands behind each rung, and what the prose names, by name."""
    path = chapter.path.parent / "figures.py"
    if not path.exists():
        return {}, {}
    module = runpy.run_path(str(path))
    behind: dict[str, list[Block]] = {}
    named: dict[str, Figure] = {}
    for rung, name, drawing, caption in module["draw"](simulated, chapter.path):
        figure = Figure(f"{chapter.folder}-{name}", drawing, caption)
        if rung is None:
            named[name] = figure
        elif rung not in chapter.header.rungs:
            raise BuildError(f"{path}: draws for {rung}, which is no rung of the chapter")
        else:
            behind.setdefault(rung, []).append(figure)
    return behind, named


DRAWING = re.compile(r"^```\{drawing\} (.+)\n```$", re.MULTILINE)


def place(pages: dict[str, Page], named: dict[str, Figure], path: Path) -> None:
    """Gives each page the drawings of which its prose has an empty fence ```{drawing} NAME."""
    places: dict[str, list[Page]] = {}
    for page in pages.values():
        for block in every(page.blocks):
            for name in DRAWING.findall(block.text) if isinstance(block, Text) else ():
                places.setdefault(name, []).append(page)
    for name, figure in named.items():
        there = places.get(name, [])
        if len(there) != 1:
            raise BuildError(
                f"{path}: drawing '{name}' has {len(there)} places: write ```{{drawing}} {name} and ``` in the prose"
            )
        there[0].drawings[name] = figure


def ladder_steps(rungs: dict, rows: list[Row], asked: dict[str, list[str]]) -> list[figures.Step]:
    """A step for each rung that was timed, with its best variant in front, and the predictions that ask for it."""
    steps: list[figures.Step] = []
    before = None
    for name, rung in rungs.items():
        of = [row for row in rows if row.rung == name]
        if not of:
            continue
        best = max(of, key=lambda row: row.rate or 0)
        peer = best.peer.name if best.peer and best.ratio_to_peer else None
        # A copy is the peer of whatever moves bytes: rungs that share it may still do different work.
        same_work = peer and peer == before and not peer.startswith("cuda")
        rate = there(best.rate)
        gain = rate / steps[-1].rate if same_work and not steps[-1].is_peer else None
        steps.append(
            figures.Step(
                name,
                rate,
                rung.idea.replace("`", ""),
                [row.rate or 0 for row in of if row is not best],
                best.peer_rate if peer else None,
                gain if gain and gain >= 1.05 else None,
                is_peer=name == (peer or "").lower(),
                variant=best.variant,
                asked=tuple(asked.get(name, ())),
            )
        )
        before = peer
    return steps


def ladders(chapter: Chapter, measured: Results, questions: list) -> tuple[list[Block], list[Block]]:
    """What the chapter is about, for its top: bars of rates, or a table of colour where its rungs run on many inputs. What its
    predictions, `questions`, ask for is covered there; the second one, where there is need of it, shows all."""
    whole, caption = ladder_of(chapter, measured, {})
    if not whole:
        return [], []
    in_common = chapter_tables.variants_in_common(rows_shown(chapter, measured), list(chapter.header.rungs))[0]
    drawn, _ = ladder_of(chapter, measured, asked.asked(chapter.path, questions, keeps_first=not in_common))
    name = f"{chapter.folder}-ladder"
    if not drawn or not drawn.covered:
        return [Figure(name, whole, caption)], []
    waits = f"Steps that questions ask about are left out; [see all](/more/{chapter.folder}/measurements.cu)."
    return [Figure(name, drawn, f"{caption} {waits}")], [Figure(f"{name}-whole", whole, caption)]


def rows_shown(chapter: Chapter, measured: Results) -> list[Row]:
    """The results at the chapter's own size."""
    sizes = rung_tables.sizes_of(measured.rows)
    shown = next((s for s in sizes if ",".join(map(str, s.values())) == chapter.header.sizes["gpu"]), None)
    return [row for row in measured.rows if len(sizes) < 2 or row.size == shown]


MANY = 3  # times as many rungs


def ladder_of(
    chapter: Chapter, measured: Results, asked_of: dict[str, list[str]]
) -> tuple[figures.Drawing | None, str]:
    """The ladder and its caption, if enough rungs were measured; `asked_of` has what waits, by rung."""
    sizes, rows = rung_tables.sizes_of(measured.rows), rows_shown(chapter, measured)
    title = f"The ladder of chapter {chapter.header.number} on {measured.device}"
    at = f", {markup.size_words(chapter.header.sizes['gpu'])}" if len(sizes) > 1 else ""
    variants, times = chapter_tables.variants_in_common(rows, list(chapter.header.rungs))
    if variants:
        table = [[of.get(variant) for variant in variants] for of in times.values()]
        caption = f"{title}{at}: how many times as long as the fastest rung of its column each takes. Filled: less than twice."
        return figures.heat(list(times), variants, table, title, asked_of), caption
    # Where a chapter is about arithmetic, its bandwidths are beside the point: they have their tables. A few products at the end
    # of a chapter about bytes are not what it is about.
    units = [("GFLOP/s", "fp32_gflop_s"), ("GB/s", "copy_gb_s")]
    rungs = {unit: {row.rung for row in rows if row.rate_unit == unit and row.rate} for unit, _ in units}
    if len(rungs["GB/s"]) > MANY * len(rungs["GFLOP/s"]):
        units.reverse()
    for unit, limit in units:
        timed = [row for row in rows if row.rate_unit == unit and row.rate]
        steps = ladder_steps(chapter.header.rungs, timed, asked_of)
        if len(steps) < 2:
            continue
        for step in steps:  # several steps in one pass beside a peer that passes once: its rate is not this one
            if step.peer and step.peer > 1.5 * measured.limits.get(limit, math.inf):
                step.peer = None
        peers = {row.peer.name for row in timed if row.peer}
        peer = next(iter(peers)) if len(peers) == 1 else "its peer"
        drawing = figures.ladder(steps, unit, measured.limits.get(limit), title, peer)
        caption = f"{title}{at}, in {unit}; longer is faster."
        if any(step.others for step in steps):
            caption += " A bar is a rung's best variant, a light mark in it another."
        if any(step.gain for step in steps):
            caption += " ×: the gain over the rung above."
        if len(peers) > 1:
            caption += " The upright marks are the peers, timed in the same rounds."
        return drawing, caption
    return None, ""


SPREAD = 1.3  # of intensities: where all points stand above each other, the ladder has said all


def roofline(
    chapter: Chapter, simulated: Results, measured: Results, caches: dict[tuple[str, str], float]
) -> list[Block]:
    """Rate over intensity of every rung that is bound by arithmetic: the rate as measured, the bytes as counted.

    `caches` has the bandwidths that an earlier chapter has measured: (device, "L2 cache") -> GB/s.
    """
    peak, copy = measured.limits.get("fp32_gflop_s"), measured.limits.get("copy_gb_s")
    if not peak or not copy:
        return []
    size = [int(part) for part in chapter.header.sizes["gpu"].split(",")]
    points = []
    for name in chapter.header.rungs:
        for row in measured.of(name):
            if row.rate_unit != "GFLOP/s" or not row.rate or list(row.size.values()) != size:
                continue
            counted = next((r for r in simulated.of(name) if r.variant == row.variant and r.counts), None)
            moved = results.product_bytes(counted, row.size) if counted else 0
            if not moved:
                continue
            flops = 2 * math.prod(size)
            variant = f" {row.variant}" if row.variant else ""
            points.append(figures.Point(name + variant, flops / moved, row.rate))
    intensities = [point.intensity for point in points]
    if len(points) < 2 or max(intensities) < SPREAD * min(intensities):
        return []
    roofs = [("memory", copy)]
    roofs += [
        (name, caches[measured.device, name]) for name in ("L2 cache", "L1 cache") if (measured.device, name) in caches
    ]
    title = f"The roofline of chapter {chapter.header.number} on {measured.device}"
    drawing = figures.roofline(points, peak, roofs, title)
    caption = (
        f"{title}, {markup.size_words(chapter.header.sizes['gpu'])}. Along: operations for each byte that "
        "moves between an SM and the memory system, in whole sectors, from the simulator's counts. Up: the "
        "measured rate. The lines are measured, too: a level of memory bounds the slope, the FMA loop the top. "
        "A point above a slope has its bytes from a level nearer by."
    )
    return [Figure(f"{chapter.folder}-roofline", drawing, caption)]


RESOURCES = {
    "FP32 instructions": "FP32",
    "integer instructions": "integers",
    "issue slots": "issue slots",
    "shared memory": "shared",
    "L1": "L1",
    "L2": "L2",
    "DRAM": "DRAM",
    "atomics on one word": "one word",
    "starts of blocks": "blocks",
    "launches in turn": "in turn",
    "the launch itself": "launch",
}  # as tools/warp/machinecode/bounds.py calls them, and as a column does
LEAST_SHARE = 0.05


def where_it_moves(names: list[str], alone: list[dict[str, float]]) -> str:
    """At which rungs the largest of a row, where it is filled, is another resource than in the rows above it: a sentence, or nothing."""
    found, last = [], None
    for name, of in zip(names, alone):
        most = max(of, key=lambda what: of[what])
        if name == "cublas" or of[most] < HALF:
            continue
        if last not in (None, most):
            found.append(f"at `{name}` to {most}")
        last = most
    return f" The filled column moves {', '.join(found)}." if found else ""


def limiters(chapter: Chapter, measured: Results) -> list[Block]:
    """What each resource alone would take of the time of each rung, in the variant that its ladder shows."""
    path = chapter.path.parent / "results" / "h200_bounds.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    if not found["drawn"]:  # then only the problem's own demands are known, and each rung has the same
        return []
    known = found["rows"]
    names, alone = [], []
    for name in chapter.header.rungs:
        rows = []
        for bound in (one for one in known if one["rung"] == name):
            for row in measured.of(name):
                same = row.variant or None, list(row.size.values())
                if same == (bound["variant"], bound["size"]) and row.time_ms:
                    time = row.time_ms.median
                    rows.append((row.rate or 0, {what: ms / time for what, ms in bound["alone_ms"].items()}))
        best = max(rows, key=lambda row: row[0], default=(0, {}))[1]
        if any(share >= LEAST_SHARE for share in best.values()):  # others measure latencies, or the host
            names.append(name)
            alone.append(best)
    shown = [what for what in RESOURCES if any(of.get(what, 0) >= LEAST_SHARE for of in alone)]
    if len(names) < 2:
        return []
    title = f"What each resource alone would take of chapter {chapter.header.number}'s rungs on {measured.device}"
    drawing = figures.limiters(
        names, [RESOURCES[what] for what in shown], [[of.get(what) for what in shown] for of in alone], title
    )
    size = ",".join(map(str, known[0]["size"]))
    caption = (
        f"{title}, {markup.size_words(size)}, at its best rate, in per cent of the measured time. The largest of a row has an edge, and is "
        "filled from 50 on: near 100 it bounds the kernel. Where all are low, the kernel waits, and no count says for what."
        f"{where_it_moves(names, alone)}"
    )
    return [Figure(f"{chapter.folder}-limiters", drawing, caption)]


SAME_PEER = 1.1  # a peer that is faster than this beside another chapter does other work


def story(measured: list) -> list[tuple]:
    """The chapters whose rungs do the same work as one peer, at one size on one device, each with its results and its fastest
    rung; [] where fewer than two do. `measured` has chapters and their results, if there are any."""
    stories: dict[tuple, list] = {}
    for chapter, result in measured:
        size = [int(part) for part in chapter.header.sizes["gpu"].split(",")]
        products = [row for row in (result.rows if result else ()) if row.rate_unit == "GFLOP/s" and row.peer]
        rows = [row for row in products if list(row.size.values()) == size and row.rung != row.peer.name.lower()]
        if rows:
            best = max(rows, key=lambda row: row.rate or 0)
            stories.setdefault((result.device, tuple(size), best.peer.name), []).append((chapter, result, best))
    for chapters in stories.values():
        same = [one for one in chapters if one[2].peer_rate < SAME_PEER * chapters[0][2].peer_rate]
        if len(same) > 1:
            return same
    return []


# What each chapter of the story adds, in lines of at most 16 letters.
IDEAS = {
    "02_naive_gemm": ("naive",),
    "03_shared_tiling": ("tiles in", "shared memory"),
    "04_register_tiling": ("register tiles,", "float4 loads"),
    "05_bank_conflicts": ("new layout,", "cheaper reads"),
    "11_pipelines": ("loads behind", "the arithmetic"),
    "12_past_cublas": ("one warp loads,", "equal shares"),
}


def stairs(told: list[tuple]) -> list[Block]:
    """The story as a staircase of ideas, for the landing page."""
    if not told:
        return []
    steps = [
        figures.Stair(
            f"chapter {chapter.header.number}",
            IDEAS.get(chapter.folder, (chapter.header.title,)),
            row.rate,
            f"chapters/{chapter.folder}.html",
        )
        for chapter, _, row in told
    ]
    last, result, row = told[-1]
    title = f"One product of {markup.size_words(last.header.sizes['gpu'])} matrices on {result.device}"
    drawing = figures.stairs(steps, row.peer.name, row.peer_rate, "GFLOP/s", title)
    return [Figure("stairs", drawing, landing.evidence(told))]
