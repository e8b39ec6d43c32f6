"""The course as a staircase: one product, made faster step by step, until a step is above what the vendor's library takes."""

from __future__ import annotations

from dataclasses import dataclass

from warp.site.figures.bars import ratio
from warp.site.figures.drawing import (
    ACCENT,
    FOREGROUND,
    GROUND,
    LINE,
    MUTED,
    SECOND,
    SOFT,
    Drawing,
    escape,
    halo,
    path,
    rate,
    rect,
    svg,
    text,
)


@dataclass
class Stair:
    """A step: what it is called, the idea that it brings, how fast it is, and the page that it leads to."""

    name: str
    ideas: tuple[str, ...]  # lines of at most 16 letters
    rate: float
    page: str


def stairs(steps: list[Stair], peer: str, peer_rate: float, unit: str, title: str) -> Drawing:
    """Upright bars, each with its idea above it and its gain over the one before in it, and the peer as a line with its
    name. On a narrow screen the staircase lies: bars from the left, the ideas above them."""
    most = max(peer_rate, *(step.rate for step in steps))

    def gain(i: int) -> str:
        more = steps[i].rate / steps[i - 1].rate if i else 0
        return f"× {more:.2f}" if 0 < more < 1.2 else f"× {ratio(more)}" if i else ""

    def link(step: Stair, shapes: list[str]) -> str:
        return f'<a href="{step.page}">{"".join(shapes)}</a>'

    def wide() -> str:
        width, top, high = 860, 30, 236
        pitch = width / len(steps)
        bottom = top + high
        y_peer = bottom - high * peer_rate / most
        shapes = []
        for i, step in enumerate(steps):
            x, tall = i * pitch, max(high * step.rate / most, 2)
            y, middle = bottom - tall, i * pitch + pitch / 2
            own = [rect(x + 4, y, pitch - 8, tall, ACCENT if step.rate > peer_rate else SOFT, ' rx="2"')]
            lines = [rate(step.rate), *step.ideas]
            inside = GROUND if step.rate > peer_rate else FOREGROUND
            # A high step has its words in it, and not on the peer's line: above it is that line.
            first, ink = (max(y, y_peer) + 22, inside) if tall > 90 else (y - 8 - 17 * (len(lines) - 1), FOREGROUND)
            own += [text(middle, first + 17 * k, escape(line), 14 if k else 15, ink, "middle",
                         "" if k else ' font-weight="600"') for k, line in enumerate(lines)]  # fmt: skip
            if gain(i) and tall > 20:
                own.append(text(middle, bottom - 9, gain(i), 14, inside, "middle", ' font-weight="600"'))
            own.append(text(middle, bottom + 19, escape(step.name), 13, MUTED, "middle"))
            shapes.append(link(step, own))
        shapes.append(path(f"M0 {bottom}H{width}", LINE))
        shapes.append(path(f"M0 {y_peer:.1f}H{width}", SECOND, 2))
        shapes.append(text(4, y_peer - 8, f"{escape(peer)}: {rate(peer_rate)} {unit}", 15, SECOND, "start",
                           ' font-weight="600"' + halo()))  # fmt: skip
        return svg(shapes, width, bottom + 26)

    def narrow() -> str:
        width, pitch, top = 340, 50, 26
        scale = (width - 2) / most
        bottom, x_peer = top + pitch * len(steps), 1 + peer_rate * scale
        shapes = []
        for i, step in enumerate(steps):
            y = top + i * pitch
            own = [
                text(
                    1, y + 18, f'{escape(step.name)} <tspan fill="{MUTED}">{escape(" ".join(step.ideas))}</tspan>', 13.5
                ),
                rect(1, y + 25, max(step.rate * scale, 2), 16, ACCENT if step.rate > peer_rate else SOFT, ' rx="2"'),
            ]
            words = f"{rate(step.rate)}{'  ' + gain(i) if gain(i) else ''}"
            far = step.rate * scale > 150
            ground = GROUND if step.rate > peer_rate else FOREGROUND
            own.append(text(8 if far else step.rate * scale + 8, y + 38, words, 13, ground if far else FOREGROUND, "start",
                            ' font-weight="600"'))  # fmt: skip
            shapes.append(link(step, own))
        shapes.append(path(f"M{x_peer:.1f} {top - 6}V{bottom}", SECOND, 2))
        shapes.append(text(x_peer, 14, f"{escape(peer)}: {rate(peer_rate)} {unit}", 13.5, SECOND, "end",
                           ' font-weight="600"'))  # fmt: skip
        return svg(shapes, width, bottom + 4)

    said = "; ".join(f"{step.name}, {' '.join(step.ideas)}: {rate(step.rate)} {unit}" for step in steps)
    return Drawing(wide(), f"{title}, as a staircase: {said}. {peer} takes {rate(peer_rate)} {unit}.", narrow())
