#!/usr/bin/env python3
"""Times chapter 12's `even_shares` with other orders of a thread's FMAs, and counts what its machine code reads.

usage: orders.py [--orders N] [--build FOLDER] [--write FILE] [--times FILE]

`--write chapters/12_past_cublas/results/h200_orders.json` makes what the prose binds with `orders()`. `--times` takes the times of such a
file and counts anew, from the machine code that `--build` has kept.

Order 0 is the chapter's own. The others are random, from a seed: `columns` go down one column of the thread's tile and up the next, with
the columns, and the groups of four rows, exchanged; `rows` go along the rows, all in one direction or in turn; `shuffled` have no
order at all. Each is compiled twice, with the chapter's volatile reads of fragments and with plain ones, from a copy of the chapter's
source. Then each product is compared with that of order 0, bit by bit, and all are timed in turn. Printed are, of each, the TFLOP/s and
what the loop reads (`tools/warp/machinecode/registers.py`), and how the time goes with each count. Needs nvcc of CUDA 12.9 or newer; without
a GPU of compute capability 9.0 it counts, and times nothing.
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import datetime
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from warp.base import build  # noqa: E402
from warp.base.errors import LearnError  # noqa: E402
from warp.base.machine import Machine  # noqa: E402
from warp.chapter import recorded, results  # noqa: E402
from warp.machinecode import code, disassembly, flow, registers, tools  # noqa: E402

CHAPTER = ROOT / "chapters" / "12_past_cublas" / "past_cublas_sm90.cu"
LAB = ROOT / "common" / "lab"
SOURCES = [
    "backend_gpu.cpp",
    "buffer.cpp",
    "check.cpp",
    "conditions.cpp",
    "device.cpp",
    "stats.cpp",
    "text.cpp",
    "timing.cu",
]
TM, TN = 16, 8
END = "//? small_tile:"  # of what is compiled
ORDER = """\
          const int down = x / TM % 2 == 0 ? x % TM : TM - 1 - x % TM;
          const bool turns = Tile::has(Idea::fma_order);  // else row by row
          const int i = turns ? Tile::four_rows(down / 4) + down % 4 : x / TN;
          const int j = turns ? x / TM : x % TN;
"""
READ = """\
  asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
"""
PLAIN = """\
  const float4 four = *in_shared<const float4>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
"""
KERNEL = """
template __global__ void even_shares<true, Large>(const lab::Gemm, const __grid_constant__ CUtensorMap,
                                                  const __grid_constant__ Plan, float*, int*);
"""
FAMILIES = ("columns", "columns", "rows", "shuffled")


def serpentine(columns, groups):
    """Down the first column, up the second, and so on: [(row, column)] of the FMAs."""
    down = [4 * group + row for group in groups for row in range(4)]
    return [(row, column) for turn, column in enumerate(columns) for row in (down[::-1] if turn % 2 else down)]


def order(number):
    """(family, [(row, column)]) of an order: the chapter's own, or a random one, the same each time."""
    if number == 0:
        return "chapter", serpentine(range(TN), (0, 1, 3, 2))
    family, chance = FAMILIES[number % len(FAMILIES)], random.Random(number)
    if family == "columns":
        return family, serpentine(chance.sample(range(TN), TN), chance.sample(range(TM // 4), TM // 4))
    if family == "rows":
        rows, columns, turn = chance.sample(range(TM), TM), chance.sample(range(TN), TN), chance.random() < 0.5
        in_turn = [(row, columns[::-1] if turn and at % 2 else columns) for at, row in enumerate(rows)]
        return family, [(row, column) for row, of_row in in_turn for column in of_row]
    return family, chance.sample([(row, column) for row in range(TM) for column in range(TN)], TM * TN)


def source(text, fmas=None, plain=False):
    """The chapter's source up to its launches, with that order of the FMAs; LearnError where it is not what this expects."""
    if any(text.count(part) != 1 for part in (END, ORDER, READ)):
        raise LearnError(f"{CHAPTER.name} has changed: orders.py no longer finds the order of the FMAs in it")
    text = text[: text.index(END)]
    if fmas:
        numbers = ", ".join(str(TN * row + column) for row, column in fmas)
        table = f"          constexpr unsigned char order[] = {{{numbers}}};\n"
        text = text.replace(ORDER, table + "          const int i = order[x] / TN, j = order[x] % TN;\n")
    return text.replace(READ, PLAIN) if plain else text


def counts(kernel):
    """What the loop of a kernel reads: registers, what these take by chapter 10's law, and fragments right behind one another."""
    loop = flow.iteration(kernel, flow.loops_of(kernel), "FFMA", recorded.bits)
    close = sum(one.opcode == after.opcode == "LDS" for one, after in zip(loop, loop[1:]))
    return {**dataclasses.asdict(registers.reads(loop)), "cycles": registers.cycles(loop), "close_reads": close}


def compiled(chain, folder, number, plain):
    """(file, symbol, row) of an order."""
    family, fmas = order(number)
    stem = folder / f"order{number}{'_plain' if plain else ''}"
    text = source(CHAPTER.read_text(encoding="utf-8"), fmas, plain) + KERNEL
    if not (stem.with_suffix(".cubin").exists() and stem.with_suffix(".cu").read_text() == text):
        stem.with_suffix(".cu").write_text(text)
        options = [one for one in code.options("sm_90a", str(stem)) if one != "-lineinfo"]
        command = [chain.nvcc, *options, "-w", "-cubin", "-o", f"{stem}.new", f"{stem}.cu"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise LearnError(f"order {number} does not compile", done.stderr[-2000:])
        os.replace(f"{stem}.new", f"{stem}.cubin")
    command = [chain.nvdisasm, "-c", "-hex", f"{stem}.cubin"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kernel = next(one for one in disassembly.parse(text) if "even_shares" in one.symbol)
    row = {"order": number, "family": family, "reads": "plain" if plain else "volatile", **counts(kernel)}
    return stem.with_suffix(".cubin"), kernel.symbol, row


def program(chain, folder):
    """Compiles what verifies and times."""
    (folder / "chapter.inc").write_text(source(CHAPTER.read_text(encoding="utf-8")))
    files = [Path(__file__).with_name("timed.cu"), *(LAB / "src" / one for one in SOURCES)]
    options = "-std=c++20 -O3 -w --extended-lambda -gencode=arch=compute_90a,code=sm_90a -DLAB_GPU -lcuda -ldl"
    command = [chain.nvcc, *options.split(), f"-I{LAB / 'include'}", f"-I{folder}", *files, "-o", folder / "timed"]
    subprocess.run(command, check=True)
    return folder / "timed"


def timed(file, made):
    """Puts the times into the rows, and returns the clock; LearnError where a product is wrong."""
    words = [str(word) for cubin, symbol, _ in made for word in (cubin, symbol)]
    done = subprocess.run([file, *words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise LearnError("the orders were not timed")
    clock, *rows = csv.reader(done.stdout.splitlines())
    for (_, _, row), (median, low, high, tflops) in zip(made, rows):
        row.update(ms=float(median), p10=float(low), p90=float(high), tflops=float(tflops))
    return float(clock[0])


def told(earlier, rows):
    """Puts the times of an earlier file into the rows, and returns where they are of; LearnError where it lacks one."""
    times = {(row["order"], row["reads"]): row for row in earlier["orders"]}
    for row in rows:
        of = times.get((row["order"], row["reads"]))
        if not of:
            raise LearnError(f"it has no time of order {row['order']} with {row['reads']} reads")
        row.update({key: of[key] for key in ("ms", "p10", "p90", "tflops")})
    return {key: earlier[key] for key in ("device", "driver", "toolkit", "date", "sm_mhz")}


def correlation(xs, ys):
    """Pearson's, or 0 where one of them does not vary."""
    dx, dy = ([each - statistics.fmean(some) for each in some] for some in (xs, ys))
    both = (sum(x * x for x in dx) * sum(y * y for y in dy)) ** 0.5
    return sum(x * y for x, y in zip(dx, dy)) / both if both else 0.0


COUNTED = ("flags", "registers", "three", "conflicts", "cycles", "close_reads")


def summary(rows):
    """Figures of the random orders, by the kind of reads and by family, and of the chapter's own. What is named as a count is the
    correlation of the time with it."""
    found = {}
    for kind in ("volatile", "plain"):
        own = [row for row in rows if row["reads"] == kind and not row["order"]]
        found.update({f"{kind} chapter: {what}": own[0][what] for what in ("tflops", *COUNTED) if own})
        for family in ("all", *dict.fromkeys(FAMILIES)):
            mine = [row for row in rows if row["order"] and row["reads"] == kind and family in ("all", row["family"])]
            if len(mine) < 2:
                continue
            rates, name = [row["tflops"] for row in mine], f"{kind} {family}"
            found[f"{name}: orders"] = len(mine)
            found[f"{name}: with close_reads"] = sum(row["close_reads"] > 0 for row in mine)
            for word, of in (("slowest", min), ("median", statistics.median), ("best", max)):
                found[f"{name}: {word}"] = of(rates)
            for count in COUNTED:
                counted = [row[count] for row in mine]
                found[f"{name}: {count}"] = correlation([row["ms"] for row in mine], counted)
                found.update({f"{name}: least {count}": min(counted), f"{name}: most {count}": max(counted)})
    return found


def main():
    parser = argparse.ArgumentParser(prog="orders.py", description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=60, metavar="N", help="random ones (default: 60)")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="where what is compiled stays (default: nowhere)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="a results file (default: lines alone)")
    parser.add_argument("--times", type=Path, metavar="FILE", help="the times of FILE, counted anew (default: times)")
    options = parser.parse_args()
    if options.orders < 0:
        parser.error("--orders: 0 or more")
    machine = Machine()
    try:
        chain = tools.Toolchain(machine)
        here = [gpu for gpu in machine.gpus() if gpu[1] == "9.0"]
        earlier = json.loads(options.times.read_text(encoding="utf-8")) if options.times else None
        if earlier and earlier["toolkit"] != f"nvcc {chain.release}":
            raise LearnError(f"{options.times} is of {earlier['toolkit']}, and here is nvcc {chain.release}")
        if not (here or earlier) and options.write:
            raise LearnError("to write times needs a GPU of compute capability 9.0, and none is here")
        with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(machine.cores()) as pool:
            folder = options.build or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            asked = [(number, plain) for number in range(options.orders + 1) for plain in (False, True)]
            made = list(pool.map(lambda one: compiled(chain, folder, *one), asked))
            rows = [row for _, _, row in made]
            if earlier:
                head = told(earlier, rows)
            elif here:
                clock = timed(program(chain, folder), made)
                head = {"device": here[0][0], "driver": here[0][2], "toolkit": f"nvcc {chain.release}"}
                head.update(date=datetime.date.today().isoformat(), sm_mhz=clock)
            else:
                head = None
    except (OSError, LearnError, subprocess.CalledProcessError) as error:
        print(f"orders.py: {str(error).strip().splitlines()[0]}", getattr(error, "detail", ""), file=sys.stderr)
        return 1
    for row in rows:
        print(", ".join(f"{key} {value}" for key, value in row.items()))
    if not head:
        print("No GPU of compute capability 9.0 timed them: these are counts alone.")
        return 0
    figures = summary(rows)
    print("\n".join(f"{name:36} {value:8.3f}" for name, value in figures.items()))
    if options.write:
        report = {"chapter": "12_past_cublas", **head, "commit": os.environ.get("WARP_COMMIT") or build.commit()}
        report.update(summary=figures, orders=rows)
        options.write.write_text(results.as_text(report), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
