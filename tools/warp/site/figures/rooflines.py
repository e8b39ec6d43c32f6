"""Rate over arithmetic intensity, under what the machine can do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warp.site.figures.drawing import ACCENT, LINE, MUTED, PHONE, Drawing, circle, escape, mono, path, rate, svg, text


@dataclass
class Point:
    """A rung on a roofline."""

    label: str
    intensity: float  # operations per byte
    rate: float  # GFLOP/s


def ticks(low: float, high: float) -> list[float]:
    """The powers of ten from `low` to `high`; where there are fewer than two, also twice and five times them."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)]
    inside = [at for at in powers if at >= low]
    if len(inside) >= 2:
        return inside
    return [at for power in powers for at in (power, 2 * power, 5 * power) if low <= at <= high]


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
    in their order. Their names stand beside the plot, each with a line to its point; on a narrow screen numbers stand for them, and
    their names below."""
    # The steepest roof needs room for its name below its upper end.
    left = min([p.intensity / 2 for p in points] + [peak / bandwidth / 10 for _, bandwidth in roofs])
    right = 4 * max([p.intensity for p in points] + [peak / bandwidth for _, bandwidth in roofs])
    bottom, top = min(p.rate for p in points) / 3, 2 * peak

    def draw(width: float, labels: list[str]) -> str:
        x0, x1, y0 = 40, width - 14 - 7.6 * max(map(len, labels)), 24
        y1 = y0 + max(0.62 * min(width, 500), 16 * len(points))

        def across(intensity: float) -> float:
            return x0 + (x1 - x0) * math.log(intensity / left) / math.log(right / left)

        def up(gflops: float) -> float:
            return y1 - (y1 - y0) * math.log(gflops / bottom) / math.log(top / bottom)

        shapes = [text(0, 12, "TFLOP/s", 12, MUTED)]
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
        start, name = min(peak / bandwidth for _, bandwidth in roofs), f"FP32 FMA {peak / 1e3:.1f} TFLOP/s"
        shapes += [
            path(f"M{across(start):.1f} {up(peak):.1f}H{x1}", MUTED, 1.4),
            text(x1 - 4, up(peak) - 5, name, 11.5, MUTED, "end"),
        ]
        dots = [(across(point.intensity), up(point.rate)) for point in points]
        way = "L".join(f"{x:.1f} {y:.1f}" for x, y in dots)
        shapes.append(path(f"M{way}", ACCENT, 1.6, ' stroke-opacity="0.45" stroke-linejoin="round"'))
        heights = names_at(dots, y0, y1)
        shapes += [path(f"M{x:.1f} {y:.1f}L{x1 + 8:.1f} {at:.1f}", LINE) for (x, y), at in zip(dots, heights)]
        shapes += [circle(x, y, 4.4, ACCENT) for x, y in dots]
        shapes += [text(x1 + 12, at + 4, mono(label), 12.5) for label, at in zip(labels, heights)]
        if width > PHONE:
            return svg(shapes, width, y1 + 38)
        y = y1 + 56
        for number, point in enumerate(points, start=1):
            figures_of = f"{point.intensity:.3g} FLOP/byte, {point.rate / 1e3:.3g} TFLOP/s"
            shapes += [text(0, y, f"{number}  {escape(point.label)}:"), text(16, y + 17, figures_of, 12.5, MUTED)]
            y += 38
        return svg(shapes, width, y - 10)

    words = "; ".join(f"{p.label} {p.intensity:.3g} FLOP per byte, {p.rate / 1e3:.3g} TFLOP/s" for p in points)
    slopes = ", ".join(f"{name} {rate(bandwidth)} GB/s" for name, bandwidth in roofs)
    alt = f"{title}: {words}. Limits: FP32 FMA {peak / 1e3:.1f} TFLOP/s, {slopes}."
    numbers = [str(number) for number in range(1, len(points) + 1)]
    return Drawing(draw(690, [point.label for point in points]), alt, draw(PHONE, numbers))
