#!/usr/bin/env python3
"""Fits the costs of chapter 13's menu to times of candidates.cu, and says what the choice by them loses.

    python3 fit.py times.csv [more.csv ...] [--write ../../../chapters/13_any_shape/any_product.cuh] [--folds 2] [--jobs 16]

The costs of a kernel are fitted by themselves: least absolute differences of the logarithms of estimate and time. Times near the best
of their shape weigh most, and an estimate far below its time, which would have the kernel chosen, weighs more than one above it. A small
weight keeps constants that the times say nothing of where they were. The regret of the choice is printed
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
import time

Costs = collections.namedtuple(  # of any_product.cuh, in its order
    "Costs",
    "start alone each epilogue along floats edge ragged last last_part second second_mb stream stream_part bytes",
)
NAMES = Costs._fields
TILE, STREAM, COLUMNS, ROWS, LITTLE, SPECIALIZED, SPECIALIZED_STREAM, SLICED = range(8)
SMS = 132
Kernel = collections.namedtuple("Kernel", "name kind bm bn blocks k_step")
Row = collections.namedtuple("Row", "shape kernel parts second us cublas features")


def up(a, b):
    return -(-a // b)


def features(kernel, m, n, k, lies, c_wide, odd, parts, second):
    """What `estimate` of any_product.cuh derives from a product."""
    streams = kernel.kind in (STREAM, SPECIALIZED_STREAM)
    slots = SMS * kernel.blocks
    epilogues, edge = 1.0, False
    if kernel.kind == LITTLE:
        tiles = m * n if kernel.bm > 128 else up(m * n * kernel.bm, 128)
        k_tiles = up(k, kernel.bm) / 8 + 1
    elif kernel.kind in (COLUMNS, ROWS):
        tiles, k_tiles, edge = up(max(m, n), kernel.bn), k / parts / 16, odd
    else:
        tiles, k_tiles = up(m, kernel.bm) * up(n, kernel.bn), up(up(k, kernel.k_step), parts)
        edge = m % kernel.bm != 0 or n % kernel.bn != 0
    blocks, share = tiles * parts, 0.0
    if streams:
        k_tiles, epilogues, blocks = max(1.0, tiles * up(k, 16) / slots), max(1.0, tiles / slots), slots
        share = max(1.0, slots / tiles)
    full, rest = divmod(blocks, slots)
    moved = m * k + k * n + m * n
    if kernel.kind == LITTLE and kernel.bm > 128:  # of what lies across K, a sector for each float
        moved = m * n * k * sum(1 if lie == 0 else 8 for lie in lies)
    read = parts * tiles * 4e-6 * kernel.bm * kernel.bn if second else 0.0
    return (
        k_tiles,
        full,
        up(rest, SMS),
        kernel.blocks,
        lies.count(0),
        lies.count(2),
        1 if edge else 0,
        epilogues,
        0 if c_wide else 1,
        share,
        parts if parts > 1 and not second else 0,
        read,
        4e-6 * moved,
    )


def estimate(costs, what):
    (start, alone, each, epilogue, by_along, by_floats, by_edge, by_ragged) = costs[:8]
    (last, last_part, second, second_mb, stream, stream_part, rate) = costs[8:]
    (k_tiles, full, rest, blocks, along, floats, edge, epilogues, ragged, share, parts, read, megabytes) = what
    each *= (1 + by_along * along + by_floats * floats) * (1 + by_edge * edge)
    epilogue *= epilogues * (1 + by_ragged * ragged)
    alone *= alone
    alone *= alone
    waves = 0.0
    if full:
        x = blocks * each
        x *= x
        waves = full * (k_tiles * math.sqrt(math.sqrt(alone + x * x)) + blocks * epilogue)
    if rest:
        x = rest * each
        x *= x
        waves += k_tiles * math.sqrt(math.sqrt(alone + x * x)) + rest * epilogue
    moved = megabytes / rate
    moved *= moved
    waves *= waves
    total = start + math.sqrt(math.sqrt(waves * waves + moved * moved))
    if share:
        total += stream + stream_part * share
    if parts:
        total += last + last_part * parts
    if read:
        total += second + second_mb * read
    return total


def fitted(job):
    """Costs of one kernel: coordinate by coordinate on a logarithmic scale, with steps that become smaller."""
    kernel, rows, before, seconds = job
    if len(rows) < 12:
        return kernel.name, before
    until = time.monotonic() + seconds
    used = [True] * len(NAMES)
    used[12] = used[13] = kernel.kind in (STREAM, SPECIALIZED_STREAM)
    used[8] = used[9] = any(r.features[10] for r, _ in rows)
    used[10] = used[11] = any(r.second for r, _ in rows)
    used[6] = any(r.features[6] for r, _ in rows)
    work = []
    for row, best in rows:
        weight = max(0.15, min(1.0, best / row.us) ** 2)
        work.append((row.features, math.log(row.us), weight, math.log(min(row.us, 1.3 * best)), row.us > 1.1 * best))

    def loss(costs):
        wrong = 0.0
        for what, us, weight, least, worse in work:
            e = math.log(estimate(costs, what))
            wrong += weight * abs(e - us)
            if worse and e < least:
                wrong += 2 * (least - e)
        return wrong + 0.01 * sum(abs(math.log(c / b)) for c, b in zip(costs, before))

    best, least = list(before), loss(before)
    for begin in (2.0, 1.5):
        step = begin
        while step > 1.008 and time.monotonic() < until:
            improved = False
            # One cost; or `alone` and `each` together: a tile that is slower as a whole.
            for which in [(i,) for i in range(len(NAMES)) if used[i]] + [(1, 2), (0, 3)]:
                for factor in (step, 1 / step):
                    while True:
                        other = list(best)
                        for i in which:
                            other[i] = min(max(other[i] * factor, 1e-4), 1e3)
                        value = loss(other)
                        if value >= least - 1e-7:
                            break
                        best, least, improved = other, value, True
            if not improved:
                step = math.sqrt(step)
    return kernel.name, best


def read(paths):
    kernels, rows = {}, []
    for path in paths:
        with open(path, newline="") as file:
            for line in csv.reader(file):
                if line[0] == "kernel":
                    kernels[line[1]] = Kernel(line[1], *map(int, line[2:7]), *([16] if len(line) < 7 else []))
                elif len(line) == 14:
                    m, n, k, ta, tb, lie_a, lie_b, c_wide, odd = map(int, line[:9])
                    parts, second = int(line[10]), line[11] == "1"
                    what = features(kernels[line[9]], m, n, k, (lie_a, lie_b), c_wide, odd, parts, second)
                    rows.append(Row((m, n, k, ta, tb), line[9], parts, second, float(line[12]), float(line[13]), what))
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


def fit_all(kernels, rows, before, jobs, seconds):
    best = {}
    for row in rows:
        best[row.shape] = min(row.us, best.get(row.shape, math.inf))
    by = collections.defaultdict(list)
    for row in rows:
        by[row.kernel].append((row, best[row.shape]))
    work = [(kernel, by[name], before[name], seconds) for name, kernel in kernels.items()]
    work.sort(key=lambda job: -len(job[1]))
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        found = dict(pool.map(fitted, work))
    return {name: found[name] for name in kernels}


def tuned(kernels, shapes, costs, seconds):
    """Costs whose choices lose less: one cost of one kernel at a time, if the choices by it are faster in the geometric mean."""
    until = time.monotonic() + seconds
    costs = {name: list(values) for name, values in costs.items()}
    least = [min(r.us for r in rows) for rows in shapes.values()]
    now, of = [], collections.defaultdict(list)  # estimates of the rows of a shape; rows of a kernel, by shape
    for s, rows in enumerate(shapes.values()):
        now.append([estimate(costs[r.kernel], r.features) for r in rows])
        by = collections.defaultdict(list)
        for i, row in enumerate(rows):
            by[row.kernel].append(i)
        for name, which in by.items():
            of[name].append((s, which))
    all_rows = list(shapes.values())
    loss = [math.log(rows[now[s].index(min(now[s]))].us / least[s]) for s, rows in enumerate(all_rows)]

    def gain(name, values):
        changes, won = [], 0.0
        for s, which in of[name]:
            rows, estimates = all_rows[s], list(now[s])
            for i in which:
                estimates[i] = estimate(values, rows[i].features)
            other = math.log(rows[estimates.index(min(estimates))].us / least[s])
            changes.append((s, estimates, other))
            won += loss[s] - other
        return won, changes

    for step in (1.25, 1.1, 1.04):
        improved = True
        while improved and time.monotonic() < until:
            improved = False
            for name in kernels:
                for which in [(i,) for i in range(len(NAMES))] + [(1, 2), (0, 3), (0, 1, 2, 3)]:
                    for factor in (step, 1 / step):
                        if time.monotonic() > until:
                            return costs
                        values = list(costs[name])
                        for i in which:
                            values[i] *= factor
                        won, changes = gain(name, values)
                        if won < 0.01:  # of all shapes together; less would be noise
                            continue
                        costs[name], improved = values, True
                        for s, estimates, other in changes:
                            now[s], loss[s] = estimates, other
    return costs


def choices(costs, shapes):
    """For each shape: (regret, ratio of the choice to cuBLAS, of the best, the choice, the best)."""
    found = []
    for rows in shapes.values():
        chosen = min(rows, key=lambda r: estimate(costs[r.kernel], r.features))
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
        f"at least 1: {wins:.3f}, 0.9: {sum(r >= 0.9 for r in ratios) / len(ratios):.3f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", nargs="+")
    home = pathlib.Path(__file__).resolve().parents[3] / "chapters/13_any_shape/any_product.cuh"
    parser.add_argument("--header", type=pathlib.Path, default=home, help="whose costs the fit begins with")
    parser.add_argument("--write", type=pathlib.Path, help="a header whose costs are replaced")
    parser.add_argument(
        "--folds", type=int, default=0, help="parts of the shapes, each chosen for by costs of the others"
    )
    parser.add_argument("--seconds", type=float, default=60, help="after which the fit of a kernel stops")
    parser.add_argument("--tune", type=float, default=60, help="seconds after which the choices are tuned no more")
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    kernels, rows = read(options.times)
    shapes = collections.defaultdict(list)
    for row in rows:
        shapes[row.shape].append(row)
    if not shapes:
        sys.exit(f"fit.py: no times in {', '.join(options.times)}; candidates.cu writes them")
    before = costs_in(options.header.read_text(), kernels)
    report("as the header has it", choices(before, shapes))
    costs = fit_all(kernels, rows, before, options.jobs, options.seconds)
    report("fitted", choices(costs, shapes))
    costs = tuned(kernels, shapes, costs, options.tune)
    found = choices(costs, shapes)
    report("tuned", found)
    others, plain = [], []
    for fold in range(options.folds):
        keys = list(shapes)
        held = set(keys[fold :: options.folds])
        of_others = fit_all(kernels, [r for r in rows if r.shape not in held], before, options.jobs, options.seconds)
        plain += choices(of_others, {s: shapes[s] for s in held})
        of_others = tuned(kernels, {s: r for s, r in shapes.items() if s not in held}, of_others, options.tune)
        others += choices(of_others, {s: shapes[s] for s in held})
    if others:
        report("not fitted to", plain)
        report("not tuned to", others)
    report("the best", [(0.0, f[2], f[2], f[4], f[4]) for f in found])
    for name in kernels:
        mine = [r for r in rows if r.kernel == name]
        near = [r for r in mine if r.us < 1.3 * min(o.us for o in shapes[r.shape])]
        errors = [abs(math.log(estimate(costs[name], r.features) / r.us)) for r in near]
        wins = sum(f[4].kernel == name for f in found)
        without = []
        for f in found:
            rest = [r.us for r in shapes[f[4].shape] if r.kernel != name]
            without.append(min(rest) / f[4].us if rest else 1)
        lost = math.exp(sum(map(math.log, without)) / len(without)) - 1
        middle = quantile(errors, 0.5) if errors else 0
        print(
            f"{name:22} {len(mine):5} times, {len(near):4} near the best: error {middle:.3f}; best of {wins:3}; "
            f"without it {100 * lost:.2f} % slower"
        )
    for regret, _, _, chosen, other in sorted(found, key=lambda f: -f[0])[:12]:
        print(
            f"regret {regret:.3f} {chosen.shape} {chosen.kernel}/{chosen.parts} instead of {other.kernel}/{other.parts}"
        )
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
