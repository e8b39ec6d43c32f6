"""The drawings: ladders (matplotlib), maps of blocks, sectors, banks and tiles and the graph of chapters (plain SVG).

Every drawing is an SVG that goes into the page itself. Its colours are the page's (CSS variables), so
it is right in light and in dark; each function also returns the words for who cannot see it.
"""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass

# The colours that drawings use, and the CSS variable that each stands for.
FOREGROUND, MUTED, LINE, ACCENT, SOFT, SECOND = ("#010101", "#020202", "#030303", "#040404", "#050505", "#060606")
VARIABLES = {
    FOREGROUND: "var(--draw-foreground)",
    MUTED: "var(--draw-muted)",
    LINE: "var(--draw-line)",
    ACCENT: "var(--draw-accent)",
    SOFT: "var(--draw-soft)",
    SECOND: "var(--draw-second)",
}


@dataclass
class Drawing:
    svg: str
    alt: str
    narrow: str = ""


def _page_colours(svg: str) -> str:
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    return svg


def _matplotlib_svg(figure, prefix: str) -> str:
    """The figure as an SVG element that can stand in a page beside others."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'(xlink:href|href)="#([^"]+)"', rf'\1="#{prefix}-\2"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    width = re.search(r'<svg[^>]*?width="([\d.]+)pt"', svg).group(1)
    svg = re.sub(r'(<svg[^>]*?) width="[\d.]+pt"', r"\1", svg)
    svg = re.sub(r'(<svg[^>]*?) height="[\d.]+pt"', r"\1", svg)
    svg = svg.replace("<svg ", f'<svg style="max-width: {float(width) * 4 / 3:.0f}px" ', 1)
    return _page_colours(svg)


def rate(value: float) -> str:
    """4,100 and 12.5: three digits or whole numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ladder(bars: list[dict], unit: str, limit: float | None, prefix: str, title: str) -> Drawing:
    """Rates as bars; each bar: label, value, and the peer's value or None.

    The label stands above its bar, so the drawing needs no margin and works on a narrow screen.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    most = max([b["value"] for b in bars] + [b["peer"] or 0 for b in bars] + [limit or 0])

    def draw(width: float, size: float) -> str:
        height = 0.42 * len(bars) + 0.75
        with pyplot.rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": prefix, "font.size": size, "font.family": "DejaVu Sans"}
        ):
            figure, axes = pyplot.subplots(figsize=(width, height), dpi=72)
            figure.subplots_adjust(left=0.005, right=0.995, top=1 - 0.3 / height, bottom=0.42 / height)
            for i, bar in enumerate(bars):
                axes.barh(i + 0.16, bar["value"], height=0.34, color=ACCENT, linewidth=0)
                axes.text(0, i - 0.1, bar["label"], ha="left", va="bottom", color=FOREGROUND)
                # A little to the left of the limit's line.
                axes.annotate(
                    rate(bar["value"]),
                    (most, i - 0.1),
                    xytext=(-5, 0),
                    textcoords="offset points",
                    ha="right",
                    va="bottom",
                    color=MUTED,
                )
                if bar["peer"]:
                    axes.plot(
                        [bar["peer"]] * 2, [i - 0.07, i + 0.39], color=SECOND, linewidth=2.2, solid_capstyle="butt"
                    )
            if limit:
                axes.axvline(limit, color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
            axes.set_ylim(len(bars) - 0.4, -0.75)
            axes.set_xlim(0, most * 1.003)
            axes.set_yticks([])
            axes.locator_params(axis="x", nbins=4 if width < 6 else 8)
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            axes.tick_params(axis="x", colors=MUTED, length=0, labelsize=size - 1)
            for tick in axes.get_xticklabels()[:1]:
                tick.set_ha("left")
            axes.grid(axis="x", color=LINE, linewidth=0.8)
            axes.set_axisbelow(True)
            for side in axes.spines.values():
                side.set_visible(False)
            axes.spines["left"].set_visible(True)
            axes.spines["left"].set_color(LINE)
            svg = _matplotlib_svg(figure, f"{prefix}-{int(width)}")
            pyplot.close(figure)
        return svg

    words = "; ".join(
        f"{b['label']} {rate(b['value'])} {unit}" + (f" (peer {rate(b['peer'])})" if b["peer"] else "") for b in bars
    )
    alt = f"{title}, in {unit}: {words}" + (f"; the machine's limit is {rate(limit)} {unit}" if limit else "") + "."
    return Drawing(draw(9.6, 12), alt, draw(4.7, 12))


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


def roofline(points: list[Point], peak: float, roofs: list[tuple[str, float]], prefix: str, title: str) -> Drawing:
    """Rate over intensity, both logarithmic. `roofs` are bandwidths in GB/s, `peak` is a rate in GFLOP/s."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    # The steepest roof needs room for its name below its upper end.
    left = min([p.intensity / 2 for p in points] + [peak / bandwidth / 10 for _, bandwidth in roofs])
    right = 4 * max([p.intensity for p in points] + [peak / bandwidth for _, bandwidth in roofs])
    bottom = min(p.rate for p in points) / 3e3

    def draw(width: float, size: float) -> str:
        # A narrow drawing has the figures of a point below its name.
        between = ":\n" if width < 6 else ": "
        rows = len(points) * (2 if width < 6 else 1)
        plot, legend = 0.62 * min(width, 7.0), 0.26 * rows + 0.1
        height = plot + legend + 0.75
        with pyplot.rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": prefix, "font.size": size, "font.family": "DejaVu Sans"}
        ):
            figure, axes = pyplot.subplots(figsize=(width, height), dpi=72)
            figure.subplots_adjust(
                left=0.62 / width, right=1 - 0.08 / width, top=1 - 0.25 / height, bottom=(legend + 0.55) / height
            )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(left, right)
            axes.set_ylim(bottom, peak * 2 / 1e3)
            for name, bandwidth in roofs:
                ridge = peak / bandwidth
                axes.plot([left, ridge], [left * bandwidth / 1e3, peak / 1e3], color=MUTED, linewidth=1.2)
                x = ridge / 1.6  # written along the slope, below its upper end
                (x1, y1), (x2, y2) = axes.transData.transform([(x, x * bandwidth), (2 * x, 2 * x * bandwidth)])
                axes.annotate(
                    f"{name} {bandwidth / 1e3:.3g} TB/s",
                    (x, x * bandwidth / 1e3),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="right",
                    va="bottom",
                    color=MUTED,
                    fontsize=size - 2,
                    rotation=math.degrees(math.atan2(y2 - y1, x2 - x1)),
                    rotation_mode="anchor",
                )
            start = min(peak / bandwidth for _, bandwidth in roofs)
            axes.plot([start, right], [peak / 1e3] * 2, color=MUTED, linewidth=1.2)
            axes.annotate(
                f"FP32 FMA {peak / 1e3:.1f} TFLOP/s",
                (right, peak / 1e3),
                xytext=(-4, 4),
                textcoords="offset points",
                ha="right",
                va="bottom",
                color=MUTED,
                fontsize=size - 2,
            )
            dots = [tuple(axes.transData.transform((point.intensity, point.rate / 1e3))) for point in points]
            labels: list[list[int]] = []  # those that lie on one another, as drawn, share a label
            for number, point in enumerate(points, start=1):
                x, y = dots[number - 1]
                near = next(
                    (
                        numbers
                        for numbers in labels
                        if any(abs(dots[n - 1][0] - x) < 5 and abs(dots[n - 1][1] - y) < 11 for n in numbers)
                    ),
                    None,
                )
                if near is None:
                    labels.append(near := [])
                near.append(number)
                axes.plot(point.intensity, point.rate / 1e3, marker="o", markersize=7, color=ACCENT, linewidth=0)
                figure.text(
                    0.02 / width,
                    (legend - 0.26 * (number - 0.5) * rows / len(points)) / height,
                    f"{number}  {point.label}{between}{point.intensity:.3g} FLOP/byte, {point.rate / 1e3:.3g} TFLOP/s",
                    color=FOREGROUND,
                    fontsize=size - 1,
                    ha="left",
                    va="center",
                )
            # A label stands in the first of four places where it covers no point, no other label and no slope, which is
            # higher by its name where that begins, and from there on.
            slopes = []
            for name, bandwidth in roofs:
                (ax, ay), (bx, by) = (
                    axes.transData.transform((x, x * bandwidth / 1e3)) for x in (left, peak / bandwidth / 1.6)
                )
                long = 0.55 * (size - 2) * len(f"{name} {bandwidth / 1e3:.3g} TB/s")
                slopes.append((ax, ay, (by - ay) / (bx - ax), bx - long * (bx - ax) / math.hypot(bx - ax, by - ay)))
            edge, roof = axes.transData.transform((right, peak / 1e3))
            used: list[tuple[float, float, float, float]] = []
            for numbers in labels:
                parts = number_runs(numbers)
                halves = [(", ".join(parts[:i]) + ",", ", ".join(parts[i:])) for i in range(1, len(parts))]
                texts = [", ".join(parts)]  # in one line, else in two
                if halves:
                    texts.append("\n".join(min(halves, key=lambda lines: max(map(len, lines)))))
                x0s, y = [dots[n - 1][0] for n in numbers], dots[numbers[0] - 1][1]

                def box(text: str, dx: int, dy: int) -> tuple[float, float, float, float]:
                    lines = text.split("\n")
                    long = 0.62 * (size - 1) * max(map(len, lines))
                    x0 = max(x0s) + dx if dx > 0 else min(x0s) + dx - long
                    return x0, y + dy, x0 + long, y + dy + size - 3 + 1.2 * (size - 1) * (len(lines) - 1)

                def free(place: tuple[str, int, int]) -> bool:
                    x0, y0, x1, y1 = box(*place)
                    # Right above another point it would seem to be that one's.
                    others = used + [
                        (a - 3.5, b - 3.5, a + 3.5, b + (3.5 if n in numbers else 14))
                        for n, (a, b) in enumerate(dots, start=1)
                    ]
                    if (
                        x1 > edge
                        or y0 < roof < y1
                        or any(x0 < c and a < x1 and y0 < d and b < y1 for a, b, c, d in others)
                    ):
                        return False
                    for ax, ay, rise, named in slopes:
                        low, high = (ay + (at - ax) * rise for at in (x0, x1))
                        if low < y1 and high + (size if x1 > named else 0) > y0:
                            return False
                    return True

                places = [(text, *at) for text in texts for at in ((-6, 4), (6, 4), (6, -13), (-6, -13))]
                text, dx, dy = next(filter(free, places), places[0])
                used.append(box(text, dx, dy))
                at = (max if dx > 0 else min)(numbers, key=lambda n: dots[n - 1][0])
                axes.annotate(
                    text,
                    (points[at - 1].intensity, points[numbers[0] - 1].rate / 1e3),
                    xytext=(dx, dy),
                    ha="left" if dx > 0 else "right",
                    textcoords="offset points",
                    color=FOREGROUND,
                    fontsize=size - 1,
                    linespacing=1.2,
                )
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.xaxis.set_minor_formatter("")
            axes.yaxis.set_minor_formatter("")
            axes.set_xlabel("FLOP per byte", color=MUTED, fontsize=size - 1, loc="right")
            axes.set_title("TFLOP/s", color=MUTED, fontsize=size - 1, loc="left")
            axes.tick_params(which="both", colors=MUTED, length=0, labelsize=size - 1)
            axes.grid(color=LINE, linewidth=0.8)
            axes.set_axisbelow(True)
            for side in axes.spines.values():
                side.set_visible(False)
            svg = _matplotlib_svg(figure, f"{prefix}-{int(width)}")
            pyplot.close(figure)
        return svg

    words = "; ".join(f"{p.label} {p.intensity:.3g} FLOP per byte, {p.rate / 1e3:.3g} TFLOP/s" for p in points)
    slopes = ", ".join(f"{name} {rate(bandwidth)} GB/s" for name, bandwidth in roofs)
    alt = f"{title}: {words}. Limits: FP32 FMA {peak / 1e3:.1f} TFLOP/s, {slopes}."
    return Drawing(draw(9.6, 12), alt, draw(4.7, 12))


@dataclass
class Request:
    """What one request of a rung moves, on average over its requests."""

    rung: str
    access: str  # "load" or "store"
    sectors: float
    bytes: float

    @property
    def used(self) -> float:
        return self.bytes / (32 * self.sectors)


def sector_map(requests: list[Request]) -> Drawing:
    """Each sector of a request as a row of eight words, those that the lanes asked for filled."""
    cell, gap, between = 9, 1, 9
    sector = 8 * (cell + gap) - gap

    def draw(columns: int) -> str:
        shapes, y = [], 0
        for request in requests:
            y += 16
            shapes.append(
                f'<text x="0" y="{y}" fill="{FOREGROUND}" font-size="14">'
                f'<tspan class="mono">{request.rung}</tspan></text>'
            )
            y += 17
            shapes.append(f'<text x="0" y="{y}" fill="{MUTED}" font-size="12.5">{_words(request)}</text>')
            y += 9
            count, words = round(request.sectors), round(request.bytes / request.sectors / 4)
            for i in range(count):
                x0 = (i % columns) * (sector + between)
                y0 = y + (i // columns) * (cell + between)
                for word in range(8):
                    x = x0 + word * (cell + gap)
                    used = word < words
                    shapes.append(
                        f'<rect x="{x}" y="{y0}" width="{cell}" height="{cell}" rx="1.5" '
                        f'fill="{ACCENT if used else SOFT}"/>'
                    )
            y += -(-count // columns) * (cell + between) + 10
        width = columns * (sector + between) - between
        return _page_colours(
            f'<svg viewBox="0 0 {width} {y - 12}" style="max-width: {width}px" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
        )

    alt = "Sectors that one request moves. " + " ".join(f"{r.rung}: {_words(r)}." for r in requests)
    return Drawing(draw(8), alt, draw(4))


def _words(request: Request) -> str:
    return (
        f"one {request.access}: {request.sectors:g} sectors, {request.bytes:g} of "
        f"{request.sectors * 32:,.0f} bytes used"
    )


def tile_walk(m: int, n: int, k: int, tile: int, block: tuple[int, int]) -> Drawing:
    """The matrices of C = A B with their tiles, B above C and A to the left of it; the tile of C that `block`
    (row, column) computes, and the tiles of A and B that it takes for it, numbered K-tile by K-tile."""
    scale = 336 / (k + n)
    gap, top, left = 26, 22, 4
    block_row, block_col = block
    shapes = []

    def matrix(
        name: str, words: str, x: float, y: float, rows: int, cols: int, marked: dict[tuple[int, int], str], fill: str
    ) -> None:
        for (row, col), text in marked.items():
            width, height = min(tile, cols - col * tile) * scale, min(tile, rows - row * tile) * scale
            x1, y1 = x + col * tile * scale, y + row * tile * scale
            shapes.append(f'<rect x="{x1:.1f}" y="{y1:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>')
            if text:
                shapes.append(
                    f'<text x="{x1 + width / 2:.1f}" y="{y1 + height / 2 + 4:.1f}" font-size="12.5" '
                    f'text-anchor="middle" fill="{FOREGROUND}">{text}</text>'
                )
        lines = "".join(f"M{x + at * scale:.1f} {y:.1f}v{rows * scale:.1f}" for at in range(tile, cols, tile))
        lines += "".join(f"M{x:.1f} {y + at * scale:.1f}h{cols * scale:.1f}" for at in range(tile, rows, tile))
        shapes.append(f'<path d="{lines}" stroke="{LINE}" stroke-width="1" fill="none"/>')
        shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{cols * scale:.1f}" height="{rows * scale:.1f}" '
            f'fill="none" stroke="{MUTED}" stroke-width="1.4"/>'
        )
        shapes.append(
            f'<text x="{x:.1f}" y="{y - 7:.1f}" font-size="13" fill="{MUTED}"><tspan font-weight="600" '
            f'fill="{FOREGROUND}">{name}</tspan> {words}</text>'
        )

    slices = -(-k // tile)
    right, below = left + k * scale + gap, top + k * scale + gap
    matrix("A", f"{m} × {k}", left, below, m, k, {(block_row, i): str(i + 1) for i in range(slices)}, SOFT)
    matrix("B", f"{k} × {n}", right, top, k, n, {(i, block_col): str(i + 1) for i in range(slices)}, SOFT)
    matrix("C", f"{m} × {n}", right, below, m, n, {(block_row, block_col): ""}, ACCENT)
    width, height = right + n * scale + 4, below + m * scale + 4
    alt = (
        f"C of {m} x {n}, A of {m} x {k} to its left and B of {k} x {n} above it, cut into tiles of {tile} x {tile}. "
        f"One tile of C is marked, in row {block_row + 1} and column {block_col + 1} of its tiles. The {slices} tiles "
        f"of A in that row are numbered 1 to {slices} from left to right, the {slices} tiles of B in that column 1 to "
        f"{slices} from top to bottom: at K-tile i the block takes the two tiles with the number i."
    )
    svg = (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" style="max-width: {width:.0f}px" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
    )
    return Drawing(_page_colours(svg), alt)


def block_grid(rows: int, cols: int, block: tuple[int, int], working: list[list[int]]) -> Drawing:
    """The blocks that cover a matrix, `block` threads each (rows, columns), to scale: the matrix is filled, and each
    block has its kind and the number of its threads that have an element, which is what `working` says."""
    high, wide = block
    scale, left, top = 100 / wide, 2, 22
    if [len(row) for row in working] != [-(-cols // wide)] * -(-rows // high):
        raise ValueError(f"{rows} x {cols} in blocks of {high} x {wide}: not {working}")

    def kind(i: int, j: int) -> str:
        right, bottom = (j + 1) * wide > cols, (i + 1) * high > rows
        return "corner" if right and bottom else "right edge" if right else "bottom edge" if bottom else "inside"

    shapes = [
        f'<text x="{left}" y="{top - 8}" font-size="13" fill="{MUTED}">{rows} × {cols} elements, blocks of '
        f"{high} × {wide} threads</text>",
        f'<rect x="{left}" y="{top}" width="{cols * scale:g}" height="{rows * scale:g}" fill="{SOFT}"/>',
    ]
    for i, line in enumerate(working):
        for j, count in enumerate(line):
            x, y = left + j * wide * scale, top + i * high * scale
            shapes.append(
                f'<rect x="{x:g}" y="{y:g}" width="{wide * scale:g}" height="{high * scale:g}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1"/>'
            )
            for text, size, below, colour in ((f"{count:,}", 15, 0, FOREGROUND), (kind(i, j), 12, 17, MUTED)):
                shapes.append(
                    f'<text x="{x + wide * scale / 2:g}" y="{y + high * scale / 2 + below:g}" '
                    f'font-size="{size}" text-anchor="middle" fill="{colour}">{text}</text>'
                )
    shapes.append(
        f'<rect x="{left}" y="{top}" width="{cols * scale:g}" height="{rows * scale:g}" fill="none" '
        f'stroke="{ACCENT}" stroke-width="2.5"/>'
    )
    width, height = left + len(working[0]) * wide * scale + 2, top + len(working) * high * scale + 2
    alt = (
        f"A matrix of {rows} x {cols} elements, covered by {len(working)} x {len(working[0])} blocks of {high} x {wide} "
        "threads. The threads that have an element, block by block: "
        + "; ".join(
            ", ".join(f"{count} ({kind(i, j)})" for j, count in enumerate(line)) for i, line in enumerate(working)
        )
        + "."
    )
    svg = (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width: {width:g}px" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
    )
    return Drawing(_page_colours(svg), alt)


Places = list[tuple[int, int]]  # row and column of an element, for each lane


def warp_reads(kernels: list[tuple[str, Places, Places, Places]]) -> Drawing:
    """What a warp reads in one turn of a loop along K, and what it computes. Each kernel: its name, and the place of
    each lane's element in a piece of A of 32 x 8, in one of B of 8 x 32 above it, and in a tile of C of 32 x 32. What
    comes along in the same sectors, eight neighbours of a row, is marked as well."""
    cell, gap, top = 8, 22, 56
    tile, piece = 32 * cell, 8 * cell
    wide, high = piece + gap + tile, top + piece + gap + tile

    def sectors(places: Places) -> set[tuple[int, int]]:
        return {(row, col // 8 * 8) for row, col in places}

    def one(at: int, below: int, name: str, a: Places, b: Places, c: Places) -> list[str]:
        shapes = [
            f'<text x="{at}" y="{below + 14}" font-size="14" fill="{FOREGROUND}"><tspan class="mono">'
            f"{_escape(name)}</tspan></text>",
            f'<text x="{at}" y="{below + 31}" font-size="12.5" fill="{MUTED}">{words(a, b)}</text>',
        ]
        for label, places, x, y, rows, cols in (
            ("A", a, at, below + top + piece + gap, 32, 8),
            ("B", b, at + piece + gap, below + top, 8, 32),
            ("C", c, at + piece + gap, below + top + piece + gap, 32, 32),
        ):
            shapes.append(
                f'<text x="{x}" y="{y - 6}" font-size="13" font-weight="600" fill="{FOREGROUND}">{label}</text>'
            )
            if label != "C":
                shapes += [
                    f'<rect x="{x + col * cell}" y="{y + row * cell}" width="{8 * cell}" height="{cell}" '
                    f'fill="{SOFT}"/>'
                    for row, col in sorted(sectors(places))
                ]
            shapes += [
                f'<rect x="{x + col * cell + 0.5:g}" y="{y + row * cell + 0.5:g}" width="{cell - 1}" '
                f'height="{cell - 1}" fill="{ACCENT}"/>'
                for row, col in sorted(set(places))
            ]
            shapes.append(
                f'<rect x="{x}" y="{y}" width="{cols * cell}" height="{rows * cell}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1.2"/>'
            )
        return shapes

    def words(a: Places, b: Places) -> str:
        return "; ".join(
            f"of {name} {len(set(places))} float{'' if len(set(places)) == 1 else 's'} in "
            f"{len(sectors(places))} sector{'' if len(sectors(places)) == 1 else 's'}"
            for name, places in (("A", a), ("B", b))
        )

    def draw(side_by_side: bool) -> str:
        shapes, x, y = [], 1, 0
        for kernel in kernels:
            shapes += one(x, y, *kernel)
            x, y = (x + wide + 44, y) if side_by_side else (x, y + high + 24)
        width, height = (x - 44 + 1, high + 2) if side_by_side else (wide + 2, y - 24 + 2)
        return _page_colours(
            f'<svg viewBox="0 0 {width} {height}" style="max-width: {width}px" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
        )

    alt = "What the 32 lanes of a warp read in one turn. " + " ".join(
        f"{name}: {words(a, b)}; they compute {len({row for row, _ in c})} x {len({col for _, col in c})} elements of C."
        for name, a, b, c in kernels
    )
    return Drawing(draw(True), alt, draw(False))


def lane_map(warps: list[tuple[str, list[tuple[int, int]], set[int]]]) -> Drawing:
    """How the lanes of a warp stand. Each warp: words above it, row and column of each lane from 0 on, and the lanes
    that are marked."""
    cell, shapes, y, widest, sentences = 30, [], 0.0, 0, []
    for text, places, marked in warps:
        y += 15
        shapes.append(f'<text x="0" y="{y:g}" font-size="13.5" fill="{FOREGROUND}">{_escape(text)}</text>')
        y += 8
        for lane, (row, col) in enumerate(places):
            x1, y1 = 1 + col * cell, y + row * cell
            shapes.append(
                f'<rect x="{x1}" y="{y1:g}" width="{cell - 3}" height="{cell - 3}" rx="3" stroke="{LINE}" '
                f'fill="{SOFT if lane in marked else "none"}"/>'
                f'<text x="{x1 + (cell - 3) / 2:g}" y="{y1 + 18:g}" font-size="12" text-anchor="middle" '
                f'fill="{FOREGROUND if lane in marked else MUTED}">{lane}</text>'
            )
        rows = [
            [lane for _, lane in sorted((col, lane) for lane, (r, col) in enumerate(places) if r == row)]
            for row in sorted({row for row, _ in places})
        ]
        y += len(rows) * cell + 10
        widest = max(widest, *(col + 1 for _, col in places))
        sentences.append(f"{text}: row by row, lanes " + "; ".join(" ".join(map(str, row)) for row in rows) + ".")
    width = widest * cell + 1
    svg = (
        f'<svg viewBox="0 0 {width} {y - 8:g}" style="max-width: {width}px" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
    )
    return Drawing(_page_colours(svg), "How the lanes of a warp stand. " + " ".join(sentences))


def warp_map(
    orders: list[tuple[str, list[tuple[int, int]]]], loads_a: list[tuple[int, int]], loads_b: list[tuple[int, int]]
) -> Drawing:
    """What warp 0 of a block loads, reads and computes, to scale: B's slice above the tile of C and A's to the left of
    it. Each order: its name, and row and column of each lane among the tile's 16 x 16 places of 8 x 8 elements.
    `loads_a`, `loads_b`: row and column of each lane's quad in the slices of 128 x 8 and 8 x 128 elements."""
    pitch, gap, title = 18, 7, 22
    unit, side = pitch / 8, 16 * pitch
    across = pitch + gap + side  # of one of the drawings

    def one(name: str, places: list[tuple[int, int]], x: float, y: float) -> str:
        shapes = [
            f'<text x="{x:g}" y="{y + 14:g}" font-size="13.5" fill="{FOREGROUND}"><tspan class="mono">'
            f"{_escape(name)}</tspan></text>"
        ]
        right, top = x + pitch + gap, y + title
        below = top + pitch + gap

        def box(at_x: float, at_y: float, width: float, height: float, fill: str) -> None:
            shapes.append(f'<rect x="{at_x:g}" y="{at_y:g}" width="{width:g}" height="{height:g}" fill="{fill}"/>')

        for row in sorted({row for row, _ in places}):  # what it reads in each step along K
            box(x, below + row * pitch, pitch, pitch, SOFT)
        for col in sorted({col for _, col in places}):
            box(right + col * pitch, top, pitch, pitch, SOFT)
        for row, quad in loads_a:
            box(x + 4 * quad * unit, below + row * unit, 4 * unit, unit, SECOND)
        for row, quad in loads_b:
            box(right + 4 * quad * unit, top + row * unit, 4 * unit, unit, SECOND)
        lines = "".join(
            f"M{right + i * pitch:g} {below:g}v{side}M{right:g} {below + i * pitch:g}h{side}" for i in range(1, 16)
        )
        shapes.append(f'<path d="{lines}" stroke="{LINE}" stroke-width="1" fill="none"/>')
        for lane, (row, col) in enumerate(places):
            box(right + col * pitch + 1, below + row * pitch + 1, pitch - 2, pitch - 2, SOFT)
            shapes.append(
                f'<text x="{right + (col + 0.5) * pitch:g}" y="{below + row * pitch + 13:g}" font-size="10.5" '
                f'text-anchor="middle" fill="{FOREGROUND}">{lane}</text>'
            )
        for at_x, at_y, width, height in (
            (x, below, pitch, side),
            (right, top, side, pitch),
            (right, below, side, side),
        ):
            shapes.append(
                f'<rect x="{at_x:g}" y="{at_y:g}" width="{width:g}" height="{height:g}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1.2"/>'
            )
        return "".join(shapes)

    def draw(columns: int) -> str:
        step_x, step_y = across + 26, title + across + 14
        shapes = [
            one(name, places, 1 + i % columns * step_x, i // columns * step_y)
            for i, (name, places) in enumerate(orders)
        ]
        width, height = columns * step_x - 24, -(-len(orders) // columns) * step_y - 12
        return _page_colours(
            f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width: {width:g}px" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
        )

    def rows_of(places: list[tuple[int, int]]) -> str:
        rows = sorted({row for row, _ in places})
        return "; ".join(
            " ".join(str(lane) for _, lane in sorted((col, lane) for lane, (r, col) in enumerate(places) if r == row))
            for row in rows
        )

    def span(numbers: list[int]) -> str:
        low, high = min(numbers), max(numbers)
        return f"row {low}" if low == high else f"rows {low} to {high}"

    alt = (
        f"What warp 0 loads, reads and computes. It loads {span([row for row, _ in loads_a])} of A's slice and "
        f"{span([row for row, _ in loads_b])} of B's. "
        + " ".join(
            f"{name}: {len({row for row, _ in places})} x {len({col for _, col in places})} places, row by row lanes "
            f"{rows_of(places)}."
            for name, places in orders
        )
    )
    return Drawing(draw(2), alt, draw(1))


def stride_bars(reads: list[tuple[str, list[int], list[int]]], device: str) -> Drawing:
    """Wavefronts of a read at every stride. Each read: words above it, the wavefronts by stride from 0 on, and as many
    that the hardware has counted. Heights are logarithmic: twice the wavefronts, one step more."""

    def draw(pitch: float) -> str:
        shapes, y, step = [], 0.0, 11
        left = 2
        for text, waves, counted in reads:
            y += 15
            shapes.append(f'<text x="0" y="{y:g}" font-size="13.5" fill="{FOREGROUND}">{_escape(text)}</text>')
            floor = y + 20 + 6 * step
            for stride, (wavefronts, measured) in enumerate(zip(waves, counted, strict=True)):
                x, high = left + stride * pitch, (1 + math.log2(wavefronts)) * step
                shapes.append(
                    f'<rect x="{x:g}" y="{floor - high:g}" width="{pitch - 2.5:g}" height="{high:g}" rx="1.5" '
                    f'fill="{ACCENT}"/>'
                )
                middle = x + (pitch - 2.5) / 2
                at = floor - (1 + math.log2(measured)) * step
                shapes.append(f'<circle cx="{middle:g}" cy="{at:g}" r="3.2" fill="{SECOND}"/>')
                if pitch > 15 or wavefronts > 2:
                    shapes.append(
                        f'<text x="{middle:g}" y="{floor - high - 5:g}" font-size="9.5" text-anchor="middle" '
                        f'fill="{MUTED}">{wavefronts}</text>'
                    )
                if pitch > 15 or stride % 4 == 0:
                    shapes.append(
                        f'<text x="{middle:g}" y="{floor + 12:g}" font-size="9.5" text-anchor="middle" '
                        f'fill="{FOREGROUND}">{stride}</text>'
                    )
            y = floor + 24
        width = left + max(len(waves) for _, waves, _ in reads) * pitch + 2
        return _page_colours(
            f'<svg viewBox="0 0 {width:g} {y - 8:g}" style="max-width: {width:g}px" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
        )

    alt = "Wavefronts of one read, by stride. " + " ".join(
        f"{text}: from stride 0 on {' '.join(map(str, waves))}; {device} counted "
        + ("the same." if counted == waves else f"{' '.join(map(str, counted))}.")
        for text, waves, counted in reads
    )
    return Drawing(draw(22), alt, draw(10.2))


def bank_map(requests: list[tuple[str, dict]]) -> Drawing:
    """Which lanes want which bank of shared memory. Each request: its words in the source, and the map of it that
    `course.maps.of_example` makes of an example in a trace."""

    def draw(pitch: float, named: bool) -> str:
        cell, shapes, y = pitch - 1.5, [], 0.0
        for text, drawn in requests:
            y += 15
            shapes.append(
                f'<text x="0" y="{y:g}" font-size="13.5" fill="{FOREGROUND}">'
                f'<tspan class="mono">{_escape(text)}</tspan></text>'
            )
            y += 17
            shapes.append(f'<text x="0" y="{y:g}" font-size="12.5" fill="{MUTED}">{drawn["caption"]}</text>')
            y += 8
            for group in drawn["groups"]:
                if group["label"]:
                    y += 12
                    shapes.append(f'<text x="0" y="{y:g}" font-size="11" fill="{MUTED}">{group["label"]}</text>')
                    y += 4
                for level in range(max(len(stack) for stack in group["stacks"])):
                    for bank, stack in enumerate(group["stacks"]):
                        word = stack[level] if level < len(stack) else None
                        if not word and level:
                            continue
                        shapes.append(
                            f'<rect x="{2 + bank * pitch:g}" y="{y:g}" width="{cell:g}" height="{cell:g}" rx="2" '
                            f'fill="{ACCENT if word else SOFT}"/>'
                        )
                        if word and named and not (group["label"] and len(word["lanes"]) > 2):
                            shapes.append(
                                f'<text x="{2 + bank * pitch + cell / 2:g}" y="{y + cell + 10:g}" font-size="9" '
                                f'text-anchor="middle" fill="{MUTED}">{word["lanes"]}</text>'
                            )
                    y += pitch + (11 if named else 0)
            y += 12
        width = 32 * pitch + 4
        return _page_colours(
            f'<svg viewBox="0 0 {width:g} {y - 8:g}" style="max-width: {width:g}px" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
        )

    alt = "The 32 banks of shared memory, and the lanes that each serves. "
    alt += " ".join(f"{text}: {drawn['caption']}, in {_banks(drawn)}." for text, drawn in requests)
    return Drawing(draw(21, True), alt, draw(10.5, False))


def _banks(drawn: dict) -> str:
    count = len({bank for group in drawn["groups"] for bank, stack in enumerate(group["stacks"]) if stack})
    return f"{count} bank{'' if count == 1 else 's'}"


def chapter_graph(chapters: list[tuple[str, str, str, list[str]]]) -> Drawing:
    """Which chapter builds on which. Each chapter: folder, number, title, folders it builds on."""
    depth: dict[str, int] = {}
    for folder, _, _, builds_on in chapters:  # by number: what a chapter builds on stands before it
        depth[folder] = 1 + max((depth[b] for b in builds_on), default=-1)
    rows: dict[int, list[str]] = {}
    for folder, _, _, _ in chapters:
        rows.setdefault(depth[folder], []).append(folder)
    names = {folder: (number, title) for folder, number, title, _ in chapters}
    height, row_gap, column_gap = 38, 30, 20

    def node(folder: str, x: float, y: float, width: float) -> str:
        number, title = names[folder]
        return (
            f'<a href="{folder}.html"><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{SOFT}" '
            f'stroke="{LINE}"/><text x="{x + 13}" y="{y + 24}" font-size="14" fill="{FOREGROUND}">'
            f'<tspan fill="{ACCENT}" font-weight="600">{number}</tspan>'
            f'<tspan dx="8">{_escape(title)}</tspan></text></a>'
        )

    def wide_enough(folder: str) -> float:
        return 58 + 8.2 * len(names[folder][1])

    # Wide: one row a depth.
    place: dict[str, tuple[float, float, float]] = {}
    total = 0.0
    for level, folders in sorted(rows.items()):
        x = 1.0
        for folder in folders:
            width = wide_enough(folder)
            place[folder] = (x, 1 + level * (height + row_gap), width)
            x += width + column_gap
        total = max(total, x - column_gap + 1)
    shapes = []
    for folder, _, _, builds_on in chapters:
        x, y, width = place[folder]
        for other in builds_on:
            ox, oy, other_width = place[other]
            x1, y1, x2, y2 = ox + min(40, other_width / 2), oy + height, x + min(40, width / 2), y
            middle = (y1 + y2) / 2
            shapes.append(
                f'<path d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1.4"/>'
            )
    shapes += [node(folder, *place[folder]) for folder in names]
    bottom = max(y for _, y, _ in place.values()) + height + 1
    wide = (
        f'<svg viewBox="0 0 {total:.0f} {bottom}" style="max-width: {total:.0f}px" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
    )

    # Narrow: one column, the edges as arcs at its left.
    left, step = 46, height + 12
    line = {folder: 1 + i * step for i, folder in enumerate(names)}
    shapes = []
    for folder, _, _, builds_on in chapters:
        for other in builds_on:
            y1, y2 = line[other] + height / 2, line[folder] + height / 2
            bow = min(left - 4, 12 + 5 * (y2 - y1) / step)
            shapes.append(
                f'<path d="M{left} {y1}C{left - bow} {y1} {left - bow} {y2} {left} {y2}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1.4"/>'
            )
    widest = max(wide_enough(folder) for folder in names)
    shapes += [node(folder, left, y, widest) for folder, y in line.items()]
    narrow = (
        f'<svg viewBox="0 0 {left + widest + 1:.0f} {max(line.values()) + height + 1}" '
        f'style="max-width: {left + widest + 1:.0f}px" xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'
    )

    sentences = []
    for _, number, title, builds_on in chapters:
        on = " and ".join(" ".join(names[b]) for b in builds_on) or "nothing"
        sentences.append(f"{number} {title} builds on {on}.")
    return Drawing(
        _page_colours(wide),
        "The chapters and what each builds on. " + " ".join(sentences),
        _page_colours(narrow) if len(chapters) > 1 else "",
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
