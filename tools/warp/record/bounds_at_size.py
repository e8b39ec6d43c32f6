"""The bound of every recorded rung beside its time: counts of small sizes, extended to the recorded size where that is exact.

Counts of a kernel that works in tiles are polynomials of the extents as long as these are multiples of the tiles: of M, N and K the
terms 1, MN, MNK, MK and NK, of rows and columns 1 and their product, of n elements 1 and n. Each count is fitted on as many sizes as
there are terms, and holds only if it then says exactly what is counted at one size more. A recorded extent that is no multiple
is rounded down to one: less is done there.

    ./learn author bounds [--write] [NN...]

prints them; with --write, results/h200_bounds.json of each chapter has what each resource alone would take of each rung, at the
default size of a GPU, in milliseconds. The programs are those of build/simulator.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from warp.base.errors import UsageError
from warp.base.machine import Machine
from warp.chapter import chapters
from warp.chapter.chapters import Chapter
from warp.chapter.results import as_text
from warp.explain import running
from warp.machinecode import bounds
from warp.trace import execution
from warp.trace.trace import load as read_trace

# The terms of a kind of size, the sizes to fit on, the one to check, what extents are multiples of.
Plan = tuple[Callable[..., list[int]], list[tuple[int, ...]], tuple[int, ...], tuple[int, ...]]


# (rung, variant) -> the counts and the shape of each launch.
Counted = dict[tuple[str, str], list[tuple[dict[str, int], bounds.Shape]]]


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
# 15's kernels in 1D work on rows * cols / 4 elements in tiles of 15360, those in 2D on tiles that (320, 768) is a multiple of.
GRIDS: Plan = (
    lambda rows, cols: [1, rows, cols, rows * cols],
    [(320, 768), (640, 768), (320, 1536), (640, 1536)],
    (960, 1536),
    (320, 768),
)
SCENES: Plan = (lambda rows, cols: [1], [(777, 1000)], (777, 1000), (1, 1))  # only the size itself

PLANS = {
    "02": gemm(64, 256), "03": gemm(64, 256), "04": gemm(128, 64), "05": gemm(256, 64), "11": gemm(256, 64), "12": gemm(256, 64),
    "06": MAP, "09": SCENES, "01": line(1 << 16), "07": line(1 << 19), "08": line(1 << 16), "10": line(1 << 16),
    "14": line(1 << 16), "15": GRIDS,
}  # fmt: skip

# What a row's time is not that of a launch, and why.
OTHER_TIMES = {
    ("02", "memory_latency"): "the time of one load",
    ("02", "triple_loop"): "a loop on the host, and smaller matrices",
    ("05", "strided_reads"): "a GPU runs another launch",
    ("08", "look_ahead"): "as many blocks as fit on the GPU, and the simulator has 8 SMs",
    ("01", "async_launch"): "also the time of the call, and of the host that waits",
}


def counted(chapter: Chapter, size: tuple[int, ...], machine: Machine) -> Counted:
    """{(rung, variant): [(counts, shape) of each launch]} of a chapter's program at a size."""
    compiled, is_known = running.machine_code(machine, chapter.source)
    found = {}
    for rung in chapter.rungs:
        with tempfile.TemporaryDirectory() as folder:
            trace, rows, code = (os.path.join(folder, name) for name in ("trace", "rows", "code"))
            program = chapter.program("simulator")
            env = dict(os.environ, SIMT_JSON=trace, LAB_TIMING="off")
            if is_known:
                running.hand_over(code, compiled, program)
                env["SIMT_COMPILED"] = code
            command = [program, "--rung", rung, "--size", ",".join(map(str, size)), "--json", rows]
            subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if not os.path.exists(trace) or not os.path.exists(rows):
                continue
            recorded = read_trace(trace)
            if is_known:
                running.execution_counts(recorded, compiled, code)
            for row in running.rows_of(rows):
                made = row.launches
                if not made or row.status != "PASS":
                    continue
                launches = [one for one in recorded.launches if made.first <= one.index < made.end]
                found[row.rung, row.variant] = [
                    (dict(execution.counts_of(one), blocks=bounds.volume(one.grid)), execution.shape_of(one))
                    for one in launches
                    if one.traced_blocks == bounds.volume(one.grid)
                ]
    return found


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
    size: tuple[int, int, int],
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
    return found, others


def shape_at(shapes: list[bounds.Shape], counts: dict[str, int]) -> bounds.Shape:
    """A grid that grows with the extents is as large as these say, one of the program's own number of blocks stays. Another one follows
    the device, or is not known, and fills it."""
    known = max(bounds.volume(shape.grid) for shape in shapes)
    blocks = counts.get("blocks", 0)
    if blocks > known:
        return shapes[0]._replace(grid=(blocks, 1, 1), fills=False)
    return shapes[0] if blocks == known else shapes[0]._replace(fills=True)


FULL = bounds.Shape((1, 1, 1), (1024, 1, 1), True)


def of_a_product(size: tuple[int, ...]) -> dict[str, int]:
    """What each product of matrices has to do at least, by whatever kernel of FP32: M N K FMAs."""
    m, n, k = size
    return {"fp32": m * n * k // bounds.WARP}


def counted_at_sizes(chapter: Chapter, machine: Machine) -> list[Counted]:
    """What counted() says at each size of the chapter's plan."""
    plan = PLANS[chapter.number]
    return [counted(chapter, size, machine) for size in ([plan[2]] if plan is SCENES else [*plan[1], plan[2]])]


def table(
    chapter: Chapter, runs: list[Counted], gpus: dict[str, bounds.Gpu] | None = None
) -> tuple[list[Any], dict[Any, str]]:
    """([(gpu, rung, variant, size, seconds recorded, [Bound], names left out)], {(rung, variant): why there is no bound}) of what
    counted_at_sizes() has found. `gpus`: {name of a results file: Gpu}."""
    plan = PLANS[chapter.number]
    rows, without = [], {}
    for name, of in (gpus or {name: bounds.gpu(name) for name in ("h200", "h100")}).items():
        results = os.path.join(chapter.folder, "results", name + ".json")
        if not os.path.exists(results):
            continue
        with open(results, encoding="utf-8") as file:
            recorded = json.load(file)["rows"]
        for row in recorded:
            key = (row["rung"], row.get("variant", ""))
            if not row.get("time_ms"):
                continue
            samples = [run.get(key, []) for run in runs]
            is_product = chapter.kind == "gemm" and row.get("rate_unit") == "GFLOP/s"
            if (chapter.number, row["rung"]) in OTHER_TIMES:
                without[key] = OTHER_TIMES[chapter.number, row["rung"]]
            elif not all(samples) and is_product:
                size = tuple(row["size"].values())
                found = bounds.of_launch(of_a_product(size), FULL, of)
                rows.append((name, *key, size, row["time_ms"]["median"] / 1e3, found, ["not simulated"]))
            elif not all(samples):
                without[key] = "not simulated, or no kernel of its own"
            elif len({len(sample) for sample in samples}) > 1:
                without[key] = "other numbers of launches at other sizes"
            elif plan is SCENES and tuple(row["size"].values()) != plan[2]:
                continue
            else:
                size = tuple(row["size"].values())
                left_out, of_launches = set(), []
                for launch in zip(*samples):
                    counts, others = extended([counts for counts, _ in launch], plan, size)
                    left_out.update(others)
                    if is_product:
                        counts = {**of_a_product(size), **counts}
                    of_launches.append(bounds.of_launch(counts, shape_at([shape for _, shape in launch], counts), of))
                found = together(of_launches)
                rows.append((name, *key, size, row["time_ms"]["median"] / 1e3, found, sorted(left_out)))
    return rows, without


def together(of_launches: list[list[bounds.Bound]]) -> list[bounds.Bound]:
    """The bounds of launches one after the other. What one has read or written the next may find in L2, and a graph starts many in
    the time of few: DRAM, L2 and the launch itself count for the launch alone that takes them longest."""
    found: dict[str, bounds.Bound] = {}
    for one in itertools.chain(*of_launches):
        before = found.get(one.resource)
        if before is None or one.resource not in (bounds.DRAM, bounds.L2, bounds.LAUNCH):
            seconds = one.seconds + (before.seconds if before else 0)
        else:
            seconds = max(one.seconds, before.seconds)
        found[one.resource] = bounds.Bound(one.resource, seconds, one.what)
    return sorted(found.values(), key=lambda bound: -bound.seconds)


def of_the_page(chapter: Chapter, rows: list[Any]) -> dict[str, Any]:
    """What results/h200_bounds.json holds: what each resource alone would take of each rung at the default size, or at the only one
    that is known."""
    default = tuple(map(int, chapter.sizes["gpu"].split(",")))
    of_gpu = [row for row in rows if row[0] == "h200"]
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
    return {"chapter": os.path.basename(chapter.folder), "gpu": "H200", "rows": lines}


def file_of_the_page(chapter: Chapter) -> str:
    return os.path.join(chapter.folder, "results", "h200_bounds.json")


def main(arguments: list[str]) -> int:
    machine = Machine()
    writes = "--write" in arguments
    arguments = [one for one in arguments if one != "--write"] or list(PLANS)
    for unknown in (one for one in arguments if one not in PLANS):
        raise UsageError(
            f"bounds knows no sizes for '{unknown}' to count it at; it does for {', '.join(sorted(PLANS))}"
        )
    for chapter in chapters.all_chapters():
        if chapter.number not in arguments:
            continue
        rows, without = table(chapter, counted_at_sizes(chapter, machine))
        if writes:
            with open(file_of_the_page(chapter), "w", encoding="utf-8") as file:
                file.write(as_text(of_the_page(chapter, rows)))
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
