"""The drawings of a chapter: those from what was measured that its figures.py asks for, and what that draws itself."""

from __future__ import annotations

import json
import math
import re
import runpy
from pathlib import Path
from typing import Any

from warp.base.text import there
from warp.chapter import results
from warp.chapter.results import Results
from warp.chapter.source import Chapter
from warp.chapter.written import Row
from warp.site import asked, chapter_tables, figures, landing, markup, rung_tables
from warp.site.blocks import Block, Figure, Page, Text, every
from warp.site.figures.limiters import HALF
from warp.site.stage import BuildError


def asked_by(chapter: Chapter) -> dict[str, Any]:
    """What the chapter's figures.py has: LADDER, the unit of its rates, or "times" of a table of its variants; ROOFLINE; LIMITERS,
    "beside" where what bounds each rung is drawn with the measurements; STAIR, its words in the landing page's staircase; and draw()."""
    path = chapter.path.parent / "figures.py"
    return runpy.run_path(str(path)) if path.exists() else {}


def cannot(chapter: Chapter, what: str) -> BuildError:
    return BuildError(f"{chapter.path.parent / 'figures.py'}: {what}")


def own(chapter: Chapter, simulated: Results) -> tuple[dict[str, list[Block]], dict[str, Figure]]:
    """What the chapter's figures.py draws: what stands behind each rung, and what the prose names, by name."""
    draw = asked_by(chapter).get("draw")
    behind: dict[str, list[Block]] = {}
    named: dict[str, Figure] = {}
    for rung, name, drawing, caption in draw(simulated, chapter.path) if draw else ():
        figure = Figure(f"{chapter.folder}-{name}", drawing, caption)
        if rung is None:
            named[name] = figure
        elif rung not in chapter.header.rungs:
            raise cannot(chapter, f"draws for {rung}, which is no rung of the chapter")
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
    ladder = asked_by(chapter).get("LADDER")
    if not ladder:
        return [], []
    whole, caption = ladder_of(chapter, measured, ladder, {})
    waiting = asked.asked(chapter.path, questions, keeps_first=ladder != "times")
    drawn, _ = ladder_of(chapter, measured, ladder, waiting)
    name = f"{chapter.folder}-ladder"
    if not drawn.covered:
        return [Figure(name, whole, caption)], []
    waits = f"Steps that questions ask about are left out; [see all](/more/{chapter.folder}/measurements.cu)."
    return [Figure(name, drawn, f"{caption} {waits}")], [Figure(f"{name}-whole", whole, caption)]


def rows_shown(chapter: Chapter, measured: Results) -> list[Row]:
    """The results at the chapter's own size."""
    sizes = rung_tables.sizes_of(measured.rows)
    shown = next((s for s in sizes if ",".join(map(str, s.values())) == chapter.header.sizes["gpu"]), None)
    return [row for row in measured.rows if len(sizes) < 2 or row.size == shown]


LIMITS = {"GFLOP/s": "fp32_gflop_s", "GB/s": "copy_gb_s"}


def ladder_of(
    chapter: Chapter, measured: Results, ladder: str, asked_of: dict[str, list[str]]
) -> tuple[figures.Drawing, str]:
    """The ladder and its caption: rates in a unit, or "times"; `asked_of` has what waits, by rung."""
    sizes, rows = rung_tables.sizes_of(measured.rows), rows_shown(chapter, measured)
    title = f"The ladder of chapter {chapter.header.number} on {measured.device}"
    at = f", {markup.size_words(chapter.header.sizes['gpu'])}" if len(sizes) > 1 else ""
    if ladder == "times":
        variants, times = chapter_tables.variants_in_common(rows, list(chapter.header.rungs))
        if not variants:
            raise cannot(chapter, "asks for a ladder of times, and its rungs have no variants in common")
        table = [[of.get(variant) for variant in variants] for of in times.values()]
        caption = f"{title}{at}: how many times as long as the fastest rung of its column each takes. Filled: less than twice."
        return figures.heat(list(times), variants, table, title, asked_of), caption
    timed = [row for row in rows if row.rate_unit == ladder and row.rate]
    steps = ladder_steps(chapter.header.rungs, timed, asked_of)
    if len(steps) < 2:
        raise cannot(chapter, f"asks for a ladder in {ladder}, and {len(steps)} of its rungs have a rate in that")
    limit = measured.limits.get(LIMITS[ladder])
    for step in steps:  # several steps in one pass beside a peer that passes once: its rate is not this one
        if step.peer and step.peer > 1.5 * (limit or math.inf):
            step.peer = None
    peers = {row.peer.name for row in timed if row.peer}
    peer = next(iter(peers)) if len(peers) == 1 else "its peer"
    caption = f"{title}{at}, in {ladder}; longer is faster."
    if any(step.others for step in steps):
        caption += " A bar is a rung's best variant, a light mark in it another."
    if any(step.gain for step in steps):
        caption += " ×: the gain over the rung above."
    if len(peers) > 1:
        caption += " The upright marks are the peers, timed in the same rounds."
    return figures.ladder(steps, ladder, limit, title, peer), caption


def roofline(
    chapter: Chapter, simulated: Results, measured: Results, caches: dict[tuple[str, str], float]
) -> list[Block]:
    """Where the chapter asks for it, rate over intensity of every rung that is bound by arithmetic: the rate as measured, the bytes as
    counted.

    `caches` has the bandwidths that an earlier chapter has measured: (device, "L2 cache") -> GB/s.
    """
    peak, copy = measured.limits.get("fp32_gflop_s"), measured.limits.get("copy_gb_s")
    if not asked_by(chapter).get("ROOFLINE") or not peak or not copy:
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
    if len(points) < 2:
        raise cannot(chapter, f"asks for a roofline, and has {len(points)} points")
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
    "tensor cores": "tensor cores",
    "FP32 instructions": "FP32",
    "special functions": "special",
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


def where_it_moves(rungs: list[tuple[str, float, dict[str, float]]]) -> str:
    """Of (rung, ms, what each resource alone would take): at which rungs the largest of a row, where it is filled, is another
    resource than in the rows above it: a sentence, or nothing."""
    found, last = [], None
    for name, time, of in rungs:
        most = max(of, key=lambda what: of[what])
        if of[most] < HALF * time:
            continue
        if last not in (None, most):
            found.append(f"at `{name}` to {most}")
        last = most
    return f" The filled column moves {', '.join(found)}." if found else ""


def what_went(rungs: list[tuple[str, float, dict[str, float]]]) -> str:
    """The same of one problem: what each rung did about the largest of the rung above."""
    less, faster = [], []
    for (_, before, had), (name, now, of) in zip(rungs, rungs[1:]):
        most = max(had, key=lambda what: had[what])
        if of.get(most, 0) < 0.8 * had[most]:
            less.append(f"`{name}` takes {most} from {had[most]:.3g} to {of.get(most, 0):.3g} ms")
        elif now < 0.95 * before:
            faster.append(f"`{name}`")
    needs = f"{', '.join(faster)} need{'s' * (len(faster) == 1)} as much of the largest in less time" if faster else ""
    return f" From rung to rung: {'; '.join(filter(None, [*less, needs]))}." if less or faster else ""


def limiters(chapter: Chapter, measured: Results) -> list[Block]:
    """What each resource alone would take of the time of each rung, in the variant that its ladder shows."""
    path = chapter.path.parent / "results" / "h200_bounds.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    if not found["drawn"]:  # then only the problem's own demands are known, and each rung has the same
        return []
    rungs: list[tuple[str, float, dict[str, float]]] = []
    peers: dict[str, str] = {}
    for name in chapter.header.rungs:
        rows = []
        for bound in (one for one in found["rows"] if one["rung"] == name):
            for row in measured.of(name):
                same = row.variant or None, list(row.size.values())
                if same == (bound["variant"], bound["size"]) and row.time_ms:
                    rows.append((row.rate or 0, row.time_ms.median, bound["alone_ms"]))
                    peers.setdefault(name, row.peer.name if row.peer else "")
        _, time, best = max(rows, key=lambda row: row[0], default=(0, 1.0, {}))
        if any(ms >= LEAST_SHARE * time for ms in best.values()):  # others measure latencies, or the host
            rungs.append((name, time, best))
    shown = [what for what in RESOURCES if any(of.get(what, 0) >= LEAST_SHARE * time for _, time, of in rungs)]
    if len(rungs) < 2:
        return []
    title = f"What each resource alone would take of chapter {chapter.header.number}'s rungs on {measured.device}"
    shares = [[of[what] / time if what in of else None for what in shown] for _, time, of in rungs]
    drawing = figures.limiters([name for name, _, _ in rungs], [RESOURCES[what] for what in shown], shares, title)
    own = [rung for rung in rungs if rung[0] != "cublas"]
    alike = [rung for rung in own if peers[rung[0]] == peers[own[0][0]]]  # others multiply elements of another type
    size = ",".join(map(str, found["rows"][0]["size"]))
    caption = (
        f"{title}, {markup.size_words(size)}, at its best rate, in per cent of the measured time. The largest of a row has an edge, and is "
        "filled from 50 on: near 100 it bounds the kernel. Where all are low, the kernel waits, and no count says for what."
        f"{' DRAM leaves out what may stay in L2; a share of a copy’s rate counts it.' * ('DRAM' in shown)}"
        f"{what_went(alike) if chapter.header.kind == 'gemm' else where_it_moves(own)}"
    )
    return [Figure(f"{chapter.folder}-limiters", drawing, caption)]


def story(measured: list) -> list[tuple]:
    """The chapters that ask for a stair, each with its results and its fastest rung; [] where fewer than two do. `measured` has
    chapters and their results, if there are any."""
    told, work = [], set()
    for chapter, result in measured:
        if not result or "STAIR" not in asked_by(chapter):
            continue
        size = [int(part) for part in chapter.header.sizes["gpu"].split(",")]
        products = [row for row in result.rows if row.rate_unit == "GFLOP/s" and row.peer]
        rows = [row for row in products if list(row.size.values()) == size and row.rung != row.peer.name.lower()]
        best = max(rows, key=lambda row: row.rate or 0)
        told.append((chapter, result, best))
        work.add((result.device, tuple(size), best.peer.name))
    if len(work) > 1:
        raise BuildError(f"chapters ask for stairs, and do other work: {', '.join(sorted(map(str, work)))}")
    return told if len(told) > 1 else []


def stairs(told: list[tuple]) -> list[Block]:
    """The story as a staircase of ideas, for the landing page."""
    if not told:
        return []
    steps = [
        figures.Stair(
            f"chapter {chapter.header.number}",
            asked_by(chapter)["STAIR"],
            row.rate,
            f"chapters/{chapter.folder}.html",
        )
        for chapter, _, row in told
    ]
    last, result, row = told[-1]
    title = f"One product of {markup.size_words(last.header.sizes['gpu'])} matrices on {result.device}"
    drawing = figures.stairs(steps, row.peer.name, row.peer_rate, "GFLOP/s", title)
    return [Figure("stairs", drawing, landing.evidence(told))]
