"""The bound of every recorded rung beside its time: counts of small sizes, extended to the recorded size where that is exact.

Counts of a kernel that works in tiles are polynomials of the extents as long as these are multiples of the tiles: of M, N and K the
terms 1, MN, MNK, MK and NK, of rows and columns 1 and their product, of n elements 1 and n. Each count is fitted on as many sizes as
there are terms, and holds only if it then says exactly what is counted at one size more. A recorded extent that is no multiple
is rounded down to one: less is done there.

    ./learn author bounds [--write] [NN...]
    ./learn author bounds --list

prints them; with --write, results/GPU_bounds.json of each chapter has what each resource alone would take of each rung, at the
default size of a GPU, in milliseconds. The programs are those of build/simulator. What a problem demands of any kernel is a bound,
too, where there are no counts (record.least_work). --list shows the last rungs of all ladders beside their bounds, as these files
have them (record.last_rungs).
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from warp.base.errors import UsageError
from warp.base.machine import Machine
from warp.chapter import chapters, results
from warp.chapter.chapters import Chapter
from warp.chapter.written import Row
from warp.explain import running
from warp.machinecode import bounds
from warp.record import last_rungs, least_work
from warp.trace import execution
from warp.trace.model import Launch, Trace
from warp.trace.trace import load as read_trace

# The terms of a kind of size, the sizes to fit on, the one to check, what extents are multiples of.
Plan = tuple[Callable[..., list[int]], list[tuple[int, ...]], tuple[int, ...], tuple[int, ...]]


# (rung, variant) -> the counts and the shape of each launch.
Counted = dict[tuple[str, str], list[tuple[dict[str, int], bounds.Shape]]]
Runs = tuple[Plan, list[Counted]]


def gemm(tile: int, depth: int) -> Plan:
    fit = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (2, 1, 2)]
    step = (tile, tile, depth)
    return (
        lambda m, n, k: [1, m * n, m * n * k, m * k, n * k],
        [tuple(of * extent for of, extent in zip(times, step)) for times in fit],
        (2 * tile, 2 * tile, 2 * depth),
        step,
    )


def line(step: int) -> Plan:
    return lambda n: [1, n], [(step,), (2 * step,)], (3 * step,), (step,)


MAP: Plan = (lambda rows, cols: [1, rows * cols], [(128, 256), (256, 256)], (256, 512), (128, 128))
# 15's kernels in 1D work on rows * cols / 4 elements in tiles of 15360, those in 2D on tiles that (128, 768) is a multiple of.
ROWS: Plan = (lambda rows, cols: [1, rows * cols], [(320, 768), (640, 768)], (960, 768), (320, 768))
GRIDS: Plan = (
    lambda rows, cols: [1, rows, cols, rows * cols],
    [(128, 768), (256, 768), (128, 1536), (256, 1536)],
    (384, 1536),
    (128, 768),
)
SCENES: Plan = (lambda rows, cols: [1], [(777, 1000)], (777, 1000), (1, 1))  # only the size itself

# Chapter -> the plans of its rungs: those named, or all.
PLANS: dict[str, list[tuple[Plan, tuple[str, ...]]]] = {
    number: [(plan, ())]
    for number, plan in {
        "02": gemm(64, 256), "03": gemm(64, 256), "04": gemm(128, 64), "05": gemm(256, 64), "11": gemm(256, 64),
        "12": gemm(256, 64), "06": MAP, "09": SCENES, "01": line(1 << 16), "07": line(1 << 19), "08": line(1 << 16),
        "10": line(1 << 16), "14": line(1 << 16),
    }.items()
}  # fmt: skip
FILTERS = ("filter_naive", "filter_columns", "filter_tiled", "filter_separable")
PLANS["15"] = [  # the others have sizes of their own
    (ROWS, ("gradient", "taps_global", "taps_constant", "taps_window", "taps_shuffled", "taps_staged")),
    (GRIDS, ("five_naive", "five_tiled", "five_columns", "five_beside", "five_edges")),
    (GRIDS, ("five_overlapped", "five_strips", *FILTERS)),
]
PLANS["19"] = [(line(1 << 16), ("generated",))]  # the others' time is that of copies
NOT_COUNTED = ("13", "16", "18", "20")  # what their problems demand is all that is known
NOT_DRAWN = ("13", "16", "19", "20")  # each rung has the same demands, or its time is that of copies

# Rungs whose accesses to shared memory the hardware counts as the source has them, as chapter 17's results/differences.json shows. The
# simulator carries out no machine code with tensor cores.
AS_WRITTEN = {"17": ("wmma", "mma_sync", "ldmatrix", "swizzled", "copy_ring", "tf32", "int8")}
PLANS["17"] = [(gemm(128, 128), AS_WRITTEN["17"])]

# What a row's time is not that of a launch, and why.
OTHER_TIMES = {
    ("02", "memory_latency"): "the time of one load",
    ("02", "triple_loop"): "a loop on the host, and smaller matrices",
    ("05", "strided_reads"): "a GPU runs another launch",
    ("08", "look_ahead"): "as many blocks as fit on the GPU, and the simulator has 8 SMs",
    ("06", "pieces"): "more launches at the recorded size",
    ("01", "async_launch"): "also the time of the call, and of the host that waits",
}


class Code:
    """The machine code of a chapter's kernels, read once and handed to each run of its program; a context."""

    def __init__(self, chapter: Chapter, machine: Machine) -> None:
        self.compiled, self.is_known = running.machine_code(machine, chapter.source)
        self.program = chapter.program("simulator")

    def __enter__(self) -> Code:
        self._folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self._folder.name, "code")
        if self.is_known:
            running.hand_over(self.file, self.compiled, self.program)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def run(self, rung: str, size: tuple[int, ...]) -> tuple[Trace | None, list[Row]]:
        """The trace of a rung at a size, with what its machine code has counted, and the program's rows; None where it made none."""
        trace, rows, counts = (os.path.join(self._folder.name, name) for name in ("trace", "rows", "code.counts"))
        for before in (trace, rows, counts):
            if os.path.exists(before):
                os.remove(before)
        # One block after the other: what a block waits for is there, so that a count is the same each time.
        env = dict(os.environ, SIMT_JSON=trace, SIMT_THREADS="1", LAB_TIMING="off")
        if self.is_known:
            env["SIMT_COMPILED"] = self.file
        command = [self.program, "--rung", rung, "--size", ",".join(map(str, size)), "--json", rows]
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not os.path.exists(trace) or not os.path.exists(rows):
            return None, []
        recorded = read_trace(trace)
        if self.is_known:
            running.execution_counts(recorded, self.compiled, self.file)
        return recorded, running.rows_of(rows)


def counted(chapter: Chapter, rungs: tuple[str, ...], size: tuple[int, ...], code: Code) -> Counted:
    """{(rung, variant): [(counts, shape) of each launch]} of a chapter's program at a size, of some rungs or of all."""
    found = {}
    for rung in rungs or chapter.rungs:
        header = chapter.rungs[rung]
        if (chapter.number, rung) in OTHER_TIMES or header.raises or "gpu" in header.needs:
            continue  # nothing to compare, or nothing that runs here
        recorded, rows = code.run(rung, size)
        for row in rows:
            made = row.launches
            if not recorded or not made or row.status != "PASS":
                continue
            as_written = rung in AS_WRITTEN.get(chapter.number, ())
            launches = [one for one in recorded.launches if made.first <= one.index < made.end]
            found[row.rung, row.variant] = [
                (dict(counts_of(one, as_written), blocks=bounds.volume(one.grid)), execution.shape_of(one))
                for one in launches
                if one.traced_blocks == bounds.volume(one.grid)
            ]
    return found


def counts_of(launch: Launch, as_written: bool) -> dict[str, int]:
    """Those of the machine code, or of shared memory those of the source."""
    counts = execution.counts_of(launch)
    if as_written:
        counts["shared_wavefronts"] = sum(launch.counts.get(name, 0) for name in execution.WAVEFRONTS)
    return counts


def solve(matrix: list[list[int]], values: list[int]) -> list[Fraction]:
    """x of matrix x = values, in fractions."""
    rows = [[Fraction(cell) for cell in row] + [Fraction(value)] for row, value in zip(matrix, values)]
    for column in range(len(rows)):
        pivot = next(i for i in range(column, len(rows)) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [cell / rows[column][column] for cell in rows[column]]
        for i, row in enumerate(rows):
            if i != column and row[column]:
                rows[i] = [a - row[column] * b for a, b in zip(row, rows[column])]
    return [row[-1] for row in rows]


def extended(
    samples: list[dict[str, int]],
    plan: Plan,
    size: tuple[int, ...],
) -> tuple[dict[str, int], list[str]]:
    """(counts at `size`, names that are no polynomial) of one launch; `samples` are its counts at the plan's sizes."""
    terms, fit, check, multiple = plan
    if plan is SCENES:
        return dict(samples[0]), []
    whole = [extent // step * step for extent, step in zip(size, multiple)]
    found, others = {}, []
    for name in samples[0]:
        values = [one.get(name, 0) for one in samples]
        factors = solve([terms(*at) for at in fit], values[:-1])
        at_check = sum(f * t for f, t in zip(factors, terms(*check)))
        if at_check != values[-1]:
            others += [name] if name != "lanes" else []
            continue
        found[name] = int(sum(f * t for f, t in zip(factors, terms(*whole))))
    if "issued" in found and found["issued"] < sum(found.get(unit, 0) for unit in bounds.UNITS):
        others.append("issued")  # a polynomial by chance: those of the units are issued, too
        del found["issued"]
    return found, others


def shape_at(shapes: list[bounds.Shape], counts: dict[str, int], of: bounds.Gpu, grows: bool) -> bounds.Shape:
    """A grid that grows with the extents is as large as these say. One that stays is the program's own, unless it has few blocks whose
    work `grows`: with more work there may be more. Another one follows the device, or is not known, and fills it."""
    known = max(bounds.volume(shape.grid) for shape in shapes)
    blocks = counts.get("blocks", 0)
    if blocks > known:
        return shapes[0]._replace(grid=(blocks, 1, 1), fills=False)
    stays = blocks == known and (blocks >= of.sms or not grows)
    return shapes[0] if stays else shapes[0]._replace(fills=True)


GPUS = ("h200", "h100")
NOT_SIMULATED = "not simulated"
FULL = bounds.Shape((1, 1, 1), (1024, 1, 1), True)  # a grid that keeps all SMs busy


def counted_at_sizes(chapter: Chapter, machine: Machine, only: Sequence[str] = ()) -> list[Runs]:
    """What counted() says at each size of the chapter's plans, of `only` these rungs or of all."""
    plans = PLANS.get(chapter.number, [])
    if only:
        chosen = [(plan, tuple(rung for rung in only if not rungs or rung in rungs)) for plan, rungs in plans]
        plans = [(plan, rungs) for plan, rungs in chosen if rungs]
    if not plans:
        return []
    with Code(chapter, machine) as code:
        return [(plan, [counted(chapter, rungs, size, code) for size in sizes_of(plan)]) for plan, rungs in plans]


def sizes_of(plan: Plan) -> list[tuple[int, ...]]:
    return [plan[2]] if plan is SCENES else [*plan[1], plan[2]]


def table(
    chapter: Chapter, runs: list[Runs], gpus: dict[str, bounds.Gpu] | None = None
) -> tuple[list[Any], dict[Any, str]]:
    """([(gpu, rung, variant, size, seconds recorded, [Bound], names left out)], {(rung, variant): why there is no bound}) of what
    counted_at_sizes() has found. `gpus`: {name of a results file: Gpu}."""
    rows, without = [], {}
    for name, full in (gpus or {name: bounds.gpu(name) for name in GPUS}).items():
        recorded = results.load(Path(chapter.folder, "results", name + ".json"))
        for row in recorded.rows if recorded else ():
            key = (row.rung, row.variant)
            if not row.time_ms:
                continue
            size, of = tuple(row.size.values()), at_its_clock(row, full)
            if any(plan is SCENES and size != plan[2] for plan, _ in runs):
                continue
            least = least_work.of_row(chapter, row)
            plan, at_sizes = next((one for one in runs if key in one[1][0]), (None, []))
            samples, why = comparable(chapter, row, [run.get(key, []) for run in at_sizes])
            if why and not least:
                without[key] = why
                continue
            of_launches, left_out = of_samples(samples, plan, size, of) if plan and samples else ([], [NOT_SIMULATED])
            demanded = [bounds.of_launch(counts, FULL, of, i > 0) for i, counts in enumerate(least)]
            found = slowest([*together(of_launches), *together(demanded)])
            rows.append((name, *key, size, row.median / 1e3, found, left_out))
    return rows, without


def comparable(chapter: Chapter, row: Row, samples: list[Any]) -> tuple[list[Any], str]:
    """(the samples, "") where they say something of the row, else ([], why not)."""
    if (chapter.number, row.rung) in OTHER_TIMES:
        return [], OTHER_TIMES[chapter.number, row.rung]
    if not samples or not all(samples):
        return [], "not simulated, or no kernel of its own"
    if len({len(sample) for sample in samples}) > 1:
        return [], "other numbers of launches at other sizes"
    return samples, ""


def at_its_clock(row: Row, of: bounds.Gpu) -> bounds.Gpu:
    """The GPU at the clock at which it was seen while a row was timed: under its power cap that is lower."""
    if not row.clock or not row.clock.throttled:
        return of
    return dataclasses.replace(of, clock_mhz=min(of.clock_mhz, row.clock.sm_mhz))


def of_samples(
    samples: list[Any], plan: Plan, size: tuple[int, ...], of: bounds.Gpu
) -> tuple[list[list[bounds.Bound]], list[str]]:
    """([[Bound] of each launch], names of counts that are no polynomial) of a row's launches at the plan's sizes."""
    left_out, of_launches = set(), []
    for i, launch in enumerate(zip(*samples)):
        counts, others = extended([counts for counts, _ in launch], plan, size)
        left_out.update(others)
        issued = {counts.get("issued") for counts, _ in launch}
        shape = shape_at([shape for _, shape in launch], counts, of, grows=len(issued) > 1)
        of_launches.append(bounds.of_launch(counts, shape, of, follows=i > 0))
    return of_launches, sorted(left_out)


def together(of_launches: list[list[bounds.Bound]]) -> list[bounds.Bound]:
    """The bounds of launches one after the other, resource by resource, and of each launch's slowest resource."""
    found: dict[str, bounds.Bound] = {}
    for one in itertools.chain(*of_launches):
        seconds = one.seconds + (found[one.resource].seconds if one.resource in found else 0)
        found[one.resource] = bounds.Bound(one.resource, seconds, one.what)
    if len(of_launches) > 1:
        seconds = sum(max((bound.seconds for bound in one), default=0) for one in of_launches)
        found[bounds.IN_TURN] = bounds.Bound(bounds.IN_TURN, seconds, "the slowest resource of each")
    return list(found.values())


def slowest(found: list[bounds.Bound]) -> list[bounds.Bound]:
    """The larger bound of each resource, the slowest resource first."""
    largest = {bound.resource: bound for bound in sorted(found, key=lambda bound: bound.seconds)}
    return sorted(largest.values(), key=lambda bound: -bound.seconds)


def of_the_page(chapter: Chapter, rows: list[Any], gpu: str = "h200") -> dict[str, Any]:
    """What results/GPU_bounds.json holds: what each resource alone would take of each rung at the default size, or at the only one
    that is known."""
    default = tuple(map(int, chapter.sizes["gpu"].split(",")))
    of_gpu = [row for row in rows if row[0] == gpu]
    at_size = [row for row in of_gpu if row[3] == default] or of_gpu
    lines = [
        {
            "rung": rung,
            "variant": variant or None,
            "size": list(size),
            # A line through the counts of two smaller sizes may end below zero: then nothing is known.
            "alone_ms": {bound.resource: float(f"{1e3 * bound.seconds:.3g}") for bound in found if bound.seconds > 0},
        }
        for _, rung, variant, size, _, found, _ in at_size
        if found
    ]
    drawn = chapter.number not in NOT_DRAWN
    return {"chapter": os.path.basename(chapter.folder), "gpu": gpu.upper(), "drawn": drawn, "rows": lines}


def file_of_the_page(chapter: Chapter, gpu: str = "h200") -> str:
    return os.path.join(chapter.folder, "results", gpu + "_bounds.json")


def main(arguments: list[str]) -> int:
    if arguments == ["--list"]:
        print(last_rungs.as_table())
        return 0
    machine = Machine()
    writes = "--write" in arguments
    arguments = [one for one in arguments if one != "--write"] or [*PLANS, *NOT_COUNTED]
    for unknown in (one for one in arguments if one not in (*PLANS, *NOT_COUNTED)):
        known = ", ".join(sorted((*PLANS, *NOT_COUNTED)))
        raise UsageError(f"bounds knows nothing of a chapter '{unknown}'; it does of {known}")
    for chapter in chapters.all_chapters():
        if chapter.number not in arguments:
            continue
        rows, without = table(chapter, counted_at_sizes(chapter, machine))
        if writes:
            for gpu in {row[0] for row in rows}:
                with open(file_of_the_page(chapter, gpu), "w", encoding="utf-8") as file:
                    file.write(results.as_text(of_the_page(chapter, rows, gpu)))
            continue
        for gpu, rung, variant, size, seconds, found, left_out in rows:
            share = found[0].seconds / seconds
            mark = "ABOVE" if share > 1 else ""
            print(
                f"{chapter.number} {gpu} {rung} {variant} {'x'.join(map(str, size))}: {bounds.in_time(seconds)}, at least "
                f"{bounds.in_time(found[0].seconds)} ({share:.2f}) {found[0].resource} {mark} {' '.join(left_out)}",
                flush=True,
            )
        for (rung, variant), why in without.items():
            print(f"{chapter.number} -- {rung} {variant}: {why}")
    return 0
