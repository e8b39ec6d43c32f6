#!/usr/bin/env python3
"""Fits the costs of chapter 13's menu to the times of table.cu, and says what the choice by them loses. It needs NumPy.

    python3 fit.py times.csv [more.csv ...] [--write ../../../chapters/13_any_shape/any_product.cuh] [--folds 3]

All costs are fitted together, by gradient descent (Adam) on their logarithms. What becomes small is the sum of two means over the shapes:
the regret of a soft choice, which takes each candidate with a probability that falls with its estimate, more steeply from step to step;
and the errors of the estimates, in logarithms, where candidates count less the slower they are beside the best of their shape. The regret of
the choice is printed for the shapes that the costs were fitted to, and, with --folds, for shapes that they were not.
"""

import argparse
import collections
import csv
import math
import pathlib
import re
import sys

import numpy as np

# Costs of any_product.cuh, in its order.
NAMES = [
    "start",
    "alone",
    "each",
    "epilogue",
    "along",
    "floats",
    "edge",
    "ragged",
    "last",
    "last_part",
    "second",
    "second_mb",
    "stream",
    "stream_part",
    "bytes",
]
TILE, STREAM, COLUMNS, ROWS, LITTLE, SPECIALIZED, SPECIALIZED_STREAM, SLICED, STAGED = range(9)
SMS = 132
Kernel = collections.namedtuple("Kernel", "name kind bm bn blocks k_step")
Row = collections.namedtuple("Row", "shape kernel parts second us cublas features")


def up(a, b):
    return -(-a // b)


def features(kernel, m, n, k, lies, c_wide, odd, parts, second):
    """What `estimate` of any_product.cuh derives from a product."""
    streams = kernel.kind in (STREAM, SPECIALIZED_STREAM)
    slots = SMS * kernel.blocks
    epilogues, edge, floats = 1.0, 0.0, lies.count(2)
    if kernel.kind == LITTLE:
        tiles = m * n if kernel.bm > 128 else up(m * n * kernel.bm, 128)
        k_tiles, floats = up(k, kernel.bm) / 8 + 1, lies.count(1) + lies.count(2)
    elif kernel.kind in (COLUMNS, ROWS):
        tiles, k_tiles, edge = up(max(m, n), kernel.bn), k / parts / 16, odd
    else:
        tiles, k_tiles = up(m, kernel.bm) * up(n, kernel.bn), up(up(k, kernel.k_step), parts)
        edge = 1 - m * n / (tiles * kernel.bm * kernel.bn)
    blocks, share = tiles * parts, 0.0
    if streams:
        k_tiles, epilogues, blocks = max(1.0, tiles * up(k, 16) / slots), max(1.0, tiles / slots), slots
        share = max(1.0, slots / tiles)
    full, rest = divmod(blocks, slots)
    moved = m * k + k * n + m * n
    if kernel.kind == LITTLE and kernel.bm > 128:  # of what lies across K, a sector for each float
        moved = m * n * k * sum(1 if lie == 0 else 8 for lie in lies)
    read = parts * tiles * 4e-6 * kernel.bm * kernel.bn if second else 0.0
    last = parts if parts > 1 and not second else 0
    return (
        *(k_tiles, full, up(rest, SMS), kernel.blocks, lies.count(0), floats, edge, epilogues),
        *(not c_wide, share, last, parts if second else 0, read, 4e-6 * moved),
    )


def read(paths):
    """The kernels of the menu, and a row for each time."""
    kernels, rows = {}, []
    for path in paths:
        with open(path, newline="") as file:
            for line in csv.reader(file):
                if line[0] == "kernel":
                    kernels[line[1]] = Kernel(line[1], *map(int, line[2:7]))
                elif len(line) == 14:
                    m, n, k, ta, tb, lie_a, lie_b, c_wide, odd = map(int, line[:9])
                    parts, second = int(line[10]), line[11] == "1"
                    what = features(kernels[line[9]], m, n, k, (lie_a, lie_b), c_wide, odd, parts, second)
                    rows.append(Row((m, n, k, ta, tb), line[9], parts, second, float(line[12]), float(line[13]), what))
    return kernels, rows


class Table:
    """Times as arrays, the rows of a shape one after the other."""

    def __init__(self, kernels, rows):
        number = {name: i for i, name in enumerate(kernels)}
        shapes = {shape: i for i, shape in enumerate(dict.fromkeys(r.shape for r in rows))}
        self.rows = rows = sorted(rows, key=lambda r: shapes[r.shape])
        self.kernel = np.array([number[r.kernel] for r in rows])
        self.shape = np.array([shapes[r.shape] for r in rows])
        self.first = np.searchsorted(self.shape, np.arange(len(shapes)))
        self.us = np.array([r.us for r in rows])
        self.cublas = np.array([r.cublas for r in rows])
        self.features = np.array([r.features for r in rows], float).T
        self.regret = np.log(self.us / np.minimum.reduceat(self.us, self.first)[self.shape])

    def only(self, kernels, which):
        """The rows of some shapes."""
        return Table(kernels, [r for r, s in zip(self.rows, self.shape, strict=True) if which[s]])

    def estimates(self, logs):
        """`estimate` of any_product.cuh, in logarithms. logs: of the costs, (costs, kernels)."""
        costs = dict(zip(NAMES, np.exp(logs)[:, self.kernel], strict=True))
        k_tiles, full, rest, blocks, along, floats, edge, epilogues, *rest_of_them = self.features
        ragged, share, parts, second, read_mb, mb = rest_of_them
        each = costs["each"] * (1 + costs["along"] * along + costs["floats"] * floats) * (1 + costs["edge"] * edge)
        epilogue = costs["epilogue"] * epilogues * (1 + costs["ragged"] * ragged)

        def both(a, b):
            a, b = a * a, b * b
            return np.sqrt(np.sqrt(a * a + b * b))

        def wave(on_an_sm):
            return k_tiles * both(costs["alone"], on_an_sm * each) + on_an_sm * epilogue

        total = costs["start"] + both(full * wave(blocks) + (rest > 0) * wave(rest), mb / costs["bytes"])
        total += (share > 0) * (costs["stream"] + costs["stream_part"] * share)
        total += (parts > 0) * (costs["last"] + costs["last_part"] * parts)
        total += (second > 0) * (costs["second"] + 0.04 * second + costs["second_mb"] * read_mb)
        return np.log(total)

    def chosen(self, logs):
        """For each shape the row that has the least estimate."""
        estimates = self.estimates(logs)
        order = np.lexsort((estimates, self.shape))
        return order[self.first]


def fitted(table, start, steps):
    """Costs for the shapes of a table, in logarithms, from those that the fit begins with."""
    shapes, kernels = len(table.first), start.shape[1]
    errs = np.maximum(0.03, np.exp(-4 * table.regret)) / shapes
    loses = table.regret + table.regret**2
    us = np.log(table.us)
    logs, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(steps):
        done = step / (steps - 1)
        soft = 0.12 * 0.25**done  # estimates that differ by this much are e times as likely
        now = table.estimates(logs)
        odds = -now / soft
        odds = np.exp(odds - np.maximum.reduceat(odds, table.first)[table.shape])
        odds /= np.add.reduceat(odds, table.first)[table.shape]
        expected = np.add.reduceat(odds * loses, table.first)[table.shape]
        error = now - us
        by_estimate = -odds * (loses - expected) / (soft * shapes) + 0.5 * errs * error / np.sqrt(error**2 + 0.03**2)
        slope = 2e-3 * (logs - start) / kernels  # what the times say nothing of stays where it was
        for cost in range(len(NAMES)):
            other = logs.copy()
            other[cost] += 1e-4
            change = (table.estimates(other) - now) / 1e-4
            slope[cost] += np.bincount(table.kernel, by_estimate * change, kernels)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        rate = 0.05 * (1 - done) + 0.003 * done
        step_size = mean / (1 - 0.9 ** (step + 1)) / (np.sqrt(square / (1 - 0.99 ** (step + 1))) + 1e-7)
        logs = np.clip(logs - rate * step_size, math.log(1e-4), math.log(1e3))
    return logs


def report(label, table, rows):
    regret, ratio = np.expm1(table.regret[rows]), table.cublas[rows] / table.us[rows]
    print(
        f"{label}: {len(rows)} shapes, regret mean {np.mean(regret):.4f}, median {np.median(regret):.4f}, "
        f"p90 {np.quantile(regret, 0.9):.3f}, p99 {np.quantile(regret, 0.99):.3f}, most {np.max(regret):.3f}; to cuBLAS: "
        f"mean {math.exp(np.mean(np.log(ratio))):.3f}, at least 1: {np.mean(ratio >= 1):.3f}, "
        f"0.9: {np.mean(ratio >= 0.9):.3f}, least {np.min(ratio):.3f}"
    )


COSTS = r'("%s",[^{}]*)\{([^{}]*)\}'


def costs_in(header, kernels):
    """The logarithms of the costs that a header has, (costs, kernels)."""
    found = []
    for name in kernels:
        match = re.search(COSTS % re.escape(name), header)
        values = [float(x.strip().rstrip("f")) for x in match.group(2).split(",")] if match else []
        if len(values) != len(NAMES):
            sys.exit(f"fit.py: the header has {len(values)} costs of {name}, not {len(NAMES)}")
        found.append(values)
    return np.log(np.maximum(np.array(found).T, 1e-4))


def literal(x):
    text = f"{x:.3g}"
    return text + "f" if "." in text or "e" in text else text


def about_kernels(kernels, table, logs):
    """Of each kernel: how well it is known, and what the menu would lose without it."""
    best = np.lexsort((table.us, table.shape))[table.first]
    error = np.abs(table.estimates(logs) - np.log(table.us))
    for number, name in enumerate(kernels):
        mine = table.kernel == number
        near = mine & (table.regret < 0.25)
        rest = np.minimum.reduceat(np.where(mine, np.inf, table.us), table.first)
        lost = np.where(np.isfinite(rest), np.log(rest / table.us[best]), 0)
        print(
            f"{name:22} {mine.sum():5} times, {near.sum():4} near the best: error "
            f"{np.median(error[near]) if near.any() else 0:.3f}; best of {mine[best].sum():3}; "
            f"without it {100 * np.mean(lost):.3f} % slower, {(lost > 0.05).sum():3} shapes by more than 5 %"
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
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    kernels, rows = read(options.times)
    if not rows:
        sys.exit(f"fit.py: no times in {', '.join(options.times)}; table.cu writes them")
    table = Table(kernels, rows)
    before = costs_in(options.header.read_text(), kernels)
    best = np.lexsort((table.us, table.shape))[table.first]
    report("the best", table, best)
    report("as the header has it", table, table.chosen(before))
    shapes = len(table.first)
    part = np.random.default_rng(39).permutation(shapes) % max(1, options.folds)
    held = np.zeros(shapes, int)
    for fold in range(options.folds):
        costs = fitted(table.only(kernels, part != fold), before, options.steps)
        held[part == fold] = table.chosen(costs)[part == fold]
    if options.folds:
        report("not fitted to", table, held)
    costs = fitted(table, before, options.steps)
    chosen = table.chosen(costs)
    report("fitted", table, chosen)
    about_kernels(kernels, table, costs)

    def name(row):
        return f"{row.kernel}/{row.parts}{' and a second kernel' if row.second else ''}"

    for s in np.argsort(-table.regret[chosen])[:12]:
        one, other = table.rows[chosen[s]], table.rows[best[s]]
        print(f"regret {math.expm1(table.regret[chosen[s]]):.3f} {one.shape} {name(one)} instead of {name(other)}")
    if options.write:
        text = options.write.read_text()
        for kernel, values in zip(kernels, np.exp(costs).T, strict=True):
            new = "{" + ", ".join(map(literal, values)) + "}"
            text = re.sub(COSTS % re.escape(kernel), lambda m, new=new: m.group(1) + new, text, count=1)
        options.write.write_text(text)


if __name__ == "__main__":
    main()
