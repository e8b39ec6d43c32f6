"""Rate over arithmetic intensity, under what the machine can do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warp.site.figures.drawing import ACCENT, LINE, MUTED, Drawing, circle, escape, halo, mono, path, rate, svg, text


@dataclass
class Point:
    """A rung on a roofline."""

    label: str
    intensity: float  # operations per byte
    rate: float  # GFLOP/s


def number_runs(numbers: list[int]) -> list[str]:
    """1, 2, 4, 5, 6 -> "1", "2", "4–6"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if not runs or number != runs[-1][-1] + 1:
            runs.append([])
        runs[-1].append(number)
    return [part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run))]


@dataclass
class Box:
    """A rectangle on the plot, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def ticks(low: float, high: float) -> list[float]:
    """The powers of ten from `low` to `high`; where there are fewer than two, also twice and five times them."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)]
    inside = [at for at in powers if at >= low]
    if len(inside) >= 2:
        return inside
    return [at for power in powers for at in (power, 2 * power, 5 * power) if low <= at <= high]


def near_ones(dots: list[tuple[float, float]]) -> list[list[int]]:
    """The dots by number from 1 on; those that lie on one another, as drawn, are together and share a label."""
    groups: list[list[int]] = []
    for number, (x, y) in enumerate(dots, start=1):
        group = next(
            (g for g in groups if any(abs(dots[n - 1][0] - x) < 6 and abs(dots[n - 1][1] - y) < 12 for n in g)), None
        )
        if group is None:
            groups.append(group := [])
        group.append(number)
    return groups


def place_numbers(
    dots: list[tuple[float, float]], edge: float, written: list[Box]
) -> list[tuple[list[str], float, float]]:
    """The lines of each label, and where they begin: the left end of the first one's base line. A label stands in the first
    of its places where it covers no point, no other label and nothing that is `written`; lines below it shine through."""
    placed: list[tuple[list[str], float, float]] = []
    used: list[Box] = []
    for group in near_ones(dots):
        parts = number_runs(group)
        halves = [[", ".join(parts[:i]) + ",", ", ".join(parts[i:])] for i in range(1, len(parts))]
        ways = [[", ".join(parts)]] + ([min(halves, key=lambda lines: max(map(len, lines)))] if halves else [])
        xs, ys = zip(*(dots[n - 1] for n in group))
        others = (
            used
            + written
            + [
                (Box(x - 5, y - 5, x + 5, y + 5) if n in group else Box(x - 9, y - 15, x + 9, y + 10))
                for n, (x, y) in enumerate(dots, start=1)
            ]
        )
        best = None
        for lines in ways:
            wide, high = 6.4 * max(map(len, lines)), 13 * len(lines) - 2
            for x, y in (
                (min(xs) - 6 - wide, min(ys) - 4 - high),
                (max(xs) + 6, min(ys) - 4 - high),
                (max(xs) + 6, max(ys) + 5),
                (min(xs) - 6 - wide, max(ys) + 5),
                (max(xs) + 8, sum(ys) / len(ys) - high / 2),
                (min(xs) - 8 - wide, sum(ys) / len(ys) - high / 2),
            ):
                box = Box(x, y, x + wide, y + high)
                covered = sum(map(box.touches, others)) + 10 * (box.right > edge or box.left < 0)
                if best is None or covered < best[0]:
                    best = covered, lines, box
        assert best is not None  # six places were tried
        used.append(best[2])
        placed.append((best[1], best[2].left, best[2].top + 10))
    return placed


def names_at(dots: list[tuple[float, float]], top: float, bottom: float, pitch: float = 16) -> list[float]:
    """How high the name of each dot stands, in the order of the dots from top to bottom: as high as the dot, or as near as the
    others let it."""
    order = sorted(range(len(dots)), key=lambda i: (dots[i][1], -dots[i][0]))
    high = [dots[i][1] for i in order]
    for i in range(1, len(high)):
        high[i] = max(high[i], high[i - 1] + pitch)
    over = bottom
    for i in reversed(range(len(high))):
        high[i] = min(high[i], over)
        over = high[i] - pitch
    low = max(0.0, top - high[0])
    return [high[order.index(i)] + low for i in range(len(dots))]


def roofline(points: list[Point], peak: float, roofs: list[tuple[str, float]], title: str) -> Drawing:
    """Rate over intensity, both logarithmic. `roofs` are bandwidths in GB/s, `peak` is a rate in GFLOP/s. A line joins the points
    in their order. Their names stand beside the plot, each with a line to its point; on a narrow screen numbers stand for them."""
    # The steepest roof needs room for its name below its upper end.
    left = min([p.intensity / 2 for p in points] + [peak / bandwidth / 10 for _, bandwidth in roofs])
    right = 4 * max([p.intensity for p in points] + [peak / bandwidth for _, bandwidth in roofs])
    bottom, top = min(p.rate for p in points) / 3, 2 * peak

    def draw(width: float) -> str:
        beside = width > 500  # room for the names
        x0, x1, y0 = 40, width - (14 + 7.6 * max(len(p.label) for p in points) if beside else 6), 24
        y1 = y0 + max(0.62 * min(width, 500), 16 * len(points) if beside else 0)

        def across(intensity: float) -> float:
            return x0 + (x1 - x0) * math.log(intensity / left) / math.log(right / left)

        def up(gflops: float) -> float:
            return y1 - (y1 - y0) * math.log(gflops / bottom) / math.log(top / bottom)

        shapes, written = [text(0, 12, "TFLOP/s", 12, MUTED)], []
        for at in ticks(left, right):
            shapes += [
                path(f"M{across(at):.1f} {y0}V{y1:.1f}", LINE),
                text(min(across(at), x1 + 6 - 3.8 * len(f"{at:g}")), y1 + 16, f"{at:g}", 12, MUTED, "middle"),
            ]
        for at in ticks(bottom / 1e3, top / 1e3):
            shapes += [
                path(f"M{x0} {up(1e3 * at):.1f}H{x1}", LINE),
                text(x0 - 6, up(1e3 * at) + 4, f"{at:g}", 12, MUTED, "end"),
            ]
        shapes.append(text(x1, y1 + 32, "FLOP per byte", 12, MUTED, "end"))
        for name, bandwidth in roofs:
            ridge, begin = peak / bandwidth, max(left, bottom / bandwidth)  # from the left edge or from the lower one
            shapes.append(
                path(f"M{across(begin):.1f} {up(begin * bandwidth):.1f}L{across(ridge):.1f} {up(peak):.1f}", MUTED, 1.4)
            )
            x = ridge / 1.6  # written along the slope, below its upper end
            ax, ay = across(x), up(x * bandwidth)
            turn = math.degrees(math.atan2(up(2 * x * bandwidth) - ay, across(2 * x) - ax))
            shapes.append(
                text(
                    ax,
                    ay - 4,
                    f"{escape(name)} {bandwidth / 1e3:.3g} TB/s",
                    11.5,
                    MUTED,
                    "end",
                    f' transform="rotate({turn:.1f} {ax:.1f} {ay:.1f})"',
                )  # fmt: skip
            )
            length, angle = 5.8 * len(f"{name} {bandwidth / 1e3:.3g} TB/s"), math.radians(turn)
            for part in range(6):  # small boxes along the name
                px, py = (ax - length * part / 5 * math.cos(angle), ay - length * part / 5 * math.sin(angle))
                written.append(Box(px - 4, py - 14, px + 4, py - 2))
        start, name = min(peak / bandwidth for _, bandwidth in roofs), f"FP32 FMA {peak / 1e3:.1f} TFLOP/s"
        shapes += [
            path(f"M{across(start):.1f} {up(peak):.1f}H{x1}", MUTED, 1.4),
            text(x1 - 4, up(peak) - 5, name, 11.5, MUTED, "end"),
        ]
        written.append(Box(x1 - 4 - 6.4 * len(name), up(peak) - 15, x1, up(peak) - 2))
        dots = [(across(point.intensity), up(point.rate)) for point in points]
        way = "L".join(f"{x:.1f} {y:.1f}" for x, y in dots)
        shapes.append(path(f"M{way}", ACCENT, 1.6, ' stroke-opacity="0.45" stroke-linejoin="round"'))
        if beside:
            shapes += [
                path(f"M{x:.1f} {y:.1f}L{x1 + 8:.1f} {at:.1f}", LINE)
                for (x, y), at in zip(dots, names_at(dots, y0, y1))
            ]
        shapes += [circle(x, y, 4.4, ACCENT) for x, y in dots]
        if beside:
            shapes += [
                text(x1 + 12, at + 4, mono(point.label), 12.5) for point, at in zip(points, names_at(dots, y0, y1))
            ]
            return svg(shapes, width, y1 + 38)
        for lines, x, y in place_numbers(dots, x1, written):
            shapes += [text(x, y + 13 * i, line, 12, more=halo()) for i, line in enumerate(lines)]
        y = y1 + 56
        for number, point in enumerate(points, start=1):
            figures_of = f"{point.intensity:.3g} FLOP/byte, {point.rate / 1e3:.3g} TFLOP/s"
            shapes += [text(0, y, f"{number}  {escape(point.label)}:"), text(16, y + 17, figures_of, 12.5, MUTED)]
            y += 38
        return svg(shapes, width, y - 10)

    words = "; ".join(f"{p.label} {p.intensity:.3g} FLOP per byte, {p.rate / 1e3:.3g} TFLOP/s" for p in points)
    slopes = ", ".join(f"{name} {rate(bandwidth)} GB/s" for name, bandwidth in roofs)
    alt = f"{title}: {words}. Limits: FP32 FMA {peak / 1e3:.1f} TFLOP/s, {slopes}."
    return Drawing(draw(690), alt, draw(340))
