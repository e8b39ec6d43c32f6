"""What each resource of the machine would take alone, as a share of the time that a rung took."""

from __future__ import annotations

from warp.site.figures.drawing import ACCENT, FOREGROUND, GROUND, MUTED, SOFT, Drawing, escape, rect, svg, text

HALF = 0.5
ROOM = 30  # to the right, for the last heading, which leans over


def limiters(names: list[str], resources: list[str], shares: list[list[float | None]], title: str) -> Drawing:
    """A row for each rung, a column for each resource: how much of the rung's time the resource needs at least. The largest
    of a row has an edge, and is filled from a half on: what the kernel is bound by, where it is near 1. None: not known."""

    def draw(width: float, beside: bool) -> str:
        left = 12 + 7.6 * max(map(len, names)) if beside else 0
        cell, high, label = (width - left - ROOM) / len(resources), 24, 0 if beside else 18
        top = 62
        shapes = []
        for c, resource in enumerate(resources):
            x = left + (c + 0.5) * cell
            turned = f' transform="rotate(-35 {x:.4g} 54)"'
            shapes.append(text(x, 54, escape(resource), 12, MUTED, "start", turned))
        for r, (name, row) in enumerate(zip(names, shares, strict=True)):
            y = top + r * (high + label) + label
            shapes.append(text(0, y + 16 if beside else y - 5, f'<tspan class="mono">{escape(name)}</tspan>', 12.5))
            most = max(filter(None, row), default=0)
            for c, share in enumerate(row):
                x = left + c * cell
                if share is None:
                    shapes.append(text(x + cell / 2, y + 16, "–", 12, MUTED, "middle"))
                    continue
                filled = share == most >= HALF
                edge = f' stroke="{ACCENT}" stroke-width="1.5"' if share == most else ""
                shapes.append(rect(x + 1, y + 1, cell - 2, high - 2, ACCENT if filled else SOFT, f' rx="2"{edge}'))
                words = f"{100 * share:.0f}" if share >= 0.005 else "<1"
                shapes.append(text(x + cell / 2, y + 16, escape(words), 12, GROUND if filled else FOREGROUND, "middle"))
        return svg(shapes, width, top + len(names) * (high + label) + 2)

    rows = "; ".join(
        f"{name} " + ", ".join(f"{what} {100 * share:.0f}" for what, share in zip(resources, row) if share is not None)
        for name, row in zip(names, shares)
    )
    return Drawing(draw(690, True), f"{title}, in per cent of the time: {rows}.", draw(340, False))
