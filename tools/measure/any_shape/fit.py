#!/usr/bin/env python3
"""Fits the costs of chapter 13's menu to times of candidates.cu, and says what the choice by them loses.

    python3 fit.py times.csv [more.csv ...] [--write ../../../chapters/13_any_shape/any_product.cuh] [--folds 2] [--jobs 16]

The costs of a kernel are fitted by themselves: least absolute differences of the logarithms of estimate and time, with a small
weight that keeps constants that the times say nothing of where they were. The regret of the choice is printed
twice: for the shapes that the costs were fitted to, and, with --folds, for shapes that they were not.
"""

import argparse
import collections
import concurrent.futures
import csv
import math
import pathlib
import re
import sys

NAMES = ("start", "alone", "each", "epilogue", "floats", "edge", "last", "last_part", "second", "second_mb", "stream")
TILE, STREAM, COLUMNS, ROWS, LITTLE, SPECIALIZED, SPECIALIZED_STREAM = range(7)
SMS = 132
Kernel = collections.namedtuple("Kernel", "name kind bm bn blocks")
Row = collections.namedtuple("Row", "shape kernel parts second us cublas features")


def up(a, b):
    return -(-a // b)


def features(kernel, m, n, k, floats, odd, parts):
    """What `estimate` of any_product.cuh derives from a product: (K-tiles, full waves, blocks on an SM in the last one, copies
    float by float, whether there are edges, MB of partial sums, the floor)."""
    streams = kernel.kind in (STREAM, SPECIALIZED_STREAM)
    slots = SMS * kernel.blocks
    edge = odd
    if streams or kernel.kind in (TILE, SPECIALIZED):
        tiles, k_tiles = up(m, kernel.bm) * up(n, kernel.bn), up(up(k, 16), parts)
        edge = m % kernel.bm != 0 or n % kernel.bn != 0 or k % 16 != 0
    elif kernel.kind == LITTLE:
        tiles, k_tiles, edge = up(m * n * kernel.bm, 128), up(k, kernel.bm) / 8 + 1, False
    else:
        tiles, k_tiles = up(max(m, n), kernel.bn), k / parts / 16
    blocks = tiles * parts
    if streams:
        k_tiles, blocks = max(1.0, tiles * up(k, 16) / slots), slots
    full, rest = divmod(blocks, slots)
    floor = 1.5 + 4e-6 * (m * k + k * n + m * n) / 3.6
    return (k_tiles, full, up(rest, SMS), floats, edge, parts * tiles * 4e-6 * kernel.bm * kernel.bn, floor)


def estimate(costs, kernel, row):
    start, alone, each, epilogue, by_floats, by_edge, last, last_part, second, second_mb, stream = costs
    k_tiles, full, rest, floats, edge, megabytes, floor = row.features
    slower = (1 + by_floats * floats) * (1 + by_edge if edge else 1)

    def wave(on_an_sm):
        return k_tiles * max(alone, on_an_sm * each * slower) + on_an_sm * epilogue

    time = start + full * wave(kernel.blocks) + (wave(rest) if rest else 0)
    if kernel.kind in (STREAM, SPECIALIZED_STREAM):
        time += stream
    if row.parts > 1:
        time += second + second_mb * megabytes if row.second else last + last_part * row.parts
    return max(time, floor)


def fitted(job):
    """Costs of one kernel: coordinate by coordinate on a logarithmic scale, with steps that become smaller."""
    kernel, rows, before = job
    used = [True] * len(NAMES)
    if len(rows) < 12:
        return kernel.name, before, len(rows)
    used[10] = kernel.kind in (STREAM, SPECIALIZED_STREAM)
    used[6] = used[7] = any(r.parts > 1 and not r.second for r in rows)
    used[8] = used[9] = any(r.second for r in rows)

    def loss(costs):
        wrong = sum(abs(math.log(estimate(costs, kernel, r) / r.us)) for r in rows)
        return wrong + 0.02 * sum(abs(math.log(c / b)) for c, b in zip(costs, before))

    best, least = list(before), loss(before)
    step = 1.6
    while step > 1.004:
        improved = False
        for i in range(len(NAMES)):
            for factor in (step, 1 / step):
                while used[i]:
                    other = list(best)
                    other[i] = min(max(other[i] * factor, 1e-4), 1e3)
                    value = loss(other)
                    if value >= least - 1e-9:
                        break
                    best, least, improved = other, value, True
        # `alone` and `each` together: a tile that is slower as a whole.
        for factor in (step, 1 / step):
            other = list(best)
            other[1], other[2] = other[1] * factor, other[2] * factor
            value = loss(other)
            if value < least - 1e-9:
                best, least, improved = other, value, True
        if not improved:
            step = math.sqrt(step)
    return kernel.name, best, len(rows)


def read(paths):
    kernels, rows = {}, []
    for path in paths:
        with open(path, newline="") as file:
            for line in csv.reader(file):
                if line[0] == "kernel":
                    kernels[line[1]] = Kernel(line[1], *map(int, line[2:6]))
                elif len(line) == 13:
                    m, n, k, ta, tb, wide_a, wide_b, odd = map(int, line[:8])
                    kernel, parts = kernels[line[8]], int(line[9])
                    what = features(kernel, m, n, k, 2 - wide_a - wide_b, bool(odd), parts)
                    rows.append(
                        Row((m, n, k, ta, tb), line[8], parts, line[10] == "1", float(line[11]), float(line[12]), what)
                    )
    return kernels, rows


COSTS = r'("%s",[^{}]*)\{([^{}]*)\}'


def costs_in(header, kernels):
    found = {}
    for name in kernels:
        match = re.search(COSTS % re.escape(name), header)
        if match is None:
            sys.exit(f"fit.py: the menu of the header has no kernel {name}")
        found[name] = [float(x.strip().rstrip("f")) for x in match.group(2).split(",")]
        if len(found[name]) != len(NAMES):
            sys.exit(f"fit.py: {name} has {len(found[name])} costs in the header, not {len(NAMES)}")
    return found


def literal(x):
    text = f"{x:.3g}"
    return text + "f" if "." in text or "e" in text else text


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * (len(values) - 1) + 0.5))]


def fit_all(kernels, rows, before, jobs):
    by = collections.defaultdict(list)
    for row in rows:
        by[row.kernel].append(row)
    work = [(kernel, by[name], before[name]) for name, kernel in kernels.items()]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        return {name: costs for name, costs, _ in pool.map(fitted, work)}


def choices(kernels, costs, shapes):
    """For each shape: (regret, ratio of the choice to cuBLAS, of the best, the choice, the best)."""
    found = []
    for rows in shapes.values():
        chosen = min(rows, key=lambda r: estimate(costs[r.kernel], kernels[r.kernel], r))
        best = min(rows, key=lambda r: r.us)
        found.append((chosen.us / best.us - 1, chosen.cublas / chosen.us, best.cublas / best.us, chosen, best))
    return found


def report(label, found):
    regrets, ratios = [f[0] for f in found], [f[1] for f in found]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    wins = sum(r >= 1 for r in ratios) / len(ratios)
    print(
        f"{label}: {len(found)} shapes, regret median {quantile(regrets, 0.5):.4f}, p90 {quantile(regrets, 0.9):.3f}, "
        f"p99 {quantile(regrets, 0.99):.3f}, most {max(regrets):.3f}; to cuBLAS: mean {mean:.3f}, least {min(ratios):.3f}, "
        f"at least 1: {wins:.3f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", nargs="+")
    home = pathlib.Path(__file__).resolve().parents[3] / "chapters/13_any_shape/any_product.cuh"
    parser.add_argument("--header", type=pathlib.Path, default=home, help="whose costs the fit begins with")
    parser.add_argument("--write", type=pathlib.Path, help="a header whose costs are replaced")
    parser.add_argument("--folds", type=int, default=0, help="parts of the shapes, each chosen for by costs of the others")
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    kernels, rows = read(options.times)
    shapes = collections.defaultdict(list)
    for row in rows:
        shapes[row.shape].append(row)
    if not shapes:
        sys.exit(f"fit.py: no times in {', '.join(options.times)}; candidates.cu writes them")
    before = costs_in(options.header.read_text(), kernels)
    report("as the header has it", choices(kernels, before, shapes))
    costs = fit_all(kernels, rows, before, options.jobs)
    found = choices(kernels, costs, shapes)
    report("fitted", found)
    others = []
    for fold in range(options.folds):
        keys = list(shapes)
        held = set(keys[fold :: options.folds])
        of_others = fit_all(kernels, [r for r in rows if r.shape not in held], before, options.jobs)
        others += choices(kernels, of_others, {s: shapes[s] for s in held})
    if others:
        report("not fitted to", others)
    best = [(0.0, f[2], f[2], f[4], f[4]) for f in found]
    report("the best", best)
    for name in kernels:
        mine = [r for r in rows if r.kernel == name]
        errors = [abs(math.log(estimate(costs[name], kernels[name], r) / r.us)) for r in mine]
        wins = sum(f[4].kernel == name for f in found)
        without = []
        for f in found:
            rest = [r.us for r in shapes[f[4].shape] if r.kernel != name]
            without.append(min(rest) / f[4].us if rest else 1)
        lost = math.exp(sum(map(math.log, without)) / len(without)) - 1
        middle = quantile(errors, 0.5) if errors else 0
        print(f"{name:24} {len(mine):5} times, error {middle:.3f}; best of {wins:3}; without it {100 * lost:.2f} % slower")
    for regret, _, _, chosen, other in sorted(found, key=lambda f: -f[0])[:12]:
        print(f"regret {regret:.3f} {chosen.shape} {chosen.kernel}/{chosen.parts} instead of {other.kernel}/{other.parts}")
    for _, _, possible, _, other in sorted(found, key=lambda f: f[2])[:20]:
        print(f"best {possible:.3f} {other.shape} {other.kernel}/{other.parts} {other.us} us")
    if options.write:
        text = options.write.read_text()
        for name, values in costs.items():
            new = "{" + ", ".join(map(literal, values)) + "}"
            text = re.sub(COSTS % re.escape(name), lambda m, new=new: m.group(1) + new, text, count=1)
        options.write.write_text(text)


if __name__ == "__main__":
    main()
