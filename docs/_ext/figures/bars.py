"""Bars: the ladder of a chapter, and wavefronts by stride."""

from __future__ import annotations

import math

from figures.drawing import ACCENT, FOREGROUND, LINE, MUTED, SECOND, Drawing, escape, halo, path, rate, rect, svg, text


def ticks(most: float, count: int) -> list[float]:
    """Round numbers from 0 to `most`, at most `count` steps of one, two or five times a power of ten."""
    power = 10 ** math.floor(math.log10(most / count))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if most / step <= count)
    return [i * step for i in range(int(most / step) + 1)]


def ladder(bars: list[dict], unit: str, limit: float | None, title: str) -> Drawing:
    """Rates as bars; each bar: label, value, and the peer's value or None.

    The label stands above its bar, so the drawing needs no margin and works on a narrow screen.
    """
    most = max([b["value"] for b in bars] + [b["peer"] or 0 for b in bars] + [limit or 0])

    def draw(width: float, steps: int) -> str:
        pitch, left, top = 30, 1, 6
        scale = (width - 2 * left) / most
        bottom = top + len(bars) * pitch + 4
        marks = ticks(most, steps)
        shapes = [path("".join(f"M{left + at * scale:.1f} {top}V{bottom}" for at in marks), LINE)]
        if limit:
            shapes.append(path(f"M{left + limit * scale:.1f} {top}V{bottom}", MUTED, 1, ' stroke-dasharray="3 3"'))
        for i, bar in enumerate(bars):
            base = top + i * pitch + 13
            shapes += [
                text(left, base, escape(bar["label"])),
                text(width - left - 5, base, rate(bar["value"]), 13, MUTED, "end", halo()),
                rect(left, base + 4, bar["value"] * scale, 9, ACCENT, ' rx="1.5"'),
            ]
            if bar["peer"]:
                shapes.append(path(f"M{left + bar['peer'] * scale:.1f} {base + 2}v13", SECOND, 2.4))
        for at in marks:
            x = left + at * scale
            anchor = "start" if at == 0 else "end" if x > width - 24 else "middle"
            words = f"{at:,.10g}" + (f" {unit}" if at == 0 else "")
            shapes.append(text(x, bottom + 15, words, 12, MUTED, anchor))
        return svg(shapes, width, bottom + 20)

    words = "; ".join(
        f"{b['label']} {rate(b['value'])} {unit}" + (f" (peer {rate(b['peer'])})" if b["peer"] else "") for b in bars
    )
    alt = f"{title}, in {unit}: {words}" + (f"; the machine's limit is {rate(limit)} {unit}" if limit else "") + "."
    return Drawing(draw(690, 7), alt, draw(340, 4))


def stride_bars(reads: list[tuple[str, list[int], list[int]]], device: str) -> Drawing:
    """Wavefronts of a read at every stride. Each read: words above it, the wavefronts by stride from 0 on, and as many
    that the hardware has counted. Heights are logarithmic: twice the wavefronts, one step more."""

    def draw(pitch: float) -> str:
        shapes, y, step = [], 0.0, 11
        left = 2
        for words, waves, counted in reads:
            y += 15
            shapes.append(f'<text x="0" y="{y:g}" font-size="13.5" fill="{FOREGROUND}">{escape(words)}</text>')
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
        return svg(shapes, width, y - 8)

    alt = "Wavefronts of one read, by stride. " + " ".join(
        f"{text}: from stride 0 on {' '.join(map(str, waves))}; {device} counted "
        + ("the same." if counted == waves else f"{' '.join(map(str, counted))}.")
        for text, waves, counted in reads
    )
    return Drawing(draw(22), alt, draw(10.2))
