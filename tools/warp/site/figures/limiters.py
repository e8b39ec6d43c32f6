"""What each resource of the machine would take alone, as a share of the time that a rung took."""

from __future__ import annotations

from warp.site.figures.bars import Filled, colour_table
from warp.site.figures.drawing import ACCENT, MUTED, Drawing, escape, text

HALF = 0.5
ROOM = 30  # to the right, for the last heading, which leans over


def limiters(names: list[str], resources: list[str], shares: list[list[float | None]], title: str) -> Drawing:
    """A row for each rung, a column for each resource: how much of the rung's time the resource needs at least. The largest
    of a row has an edge, and is filled from a half on: what the kernel is bound by, where it is near 1. None: not known."""

    def cell(share: float | None, most: float) -> Filled | None:
        if share is None:
            return None
        edge = f' stroke="{ACCENT}" stroke-width="1.5"' if share == most else ""
        return f"{100 * share:.0f}" if share >= 0.005 else "<1", share == most >= HALF, edge

    def heads(left: float, wide: float, _beside: bool) -> list[str]:
        at = [(left + (c + 0.5) * wide, resource) for c, resource in enumerate(resources)]
        return [text(x, 54, escape(of), 12, MUTED, more=f' transform="rotate(-35 {x:.4g} 54)"') for x, of in at]

    cells = [[cell(share, max(filter(None, row), default=0)) for share in row] for row in shares]
    wide, narrow = (colour_table(width, names, cells, 62, heads, ROOM) for width in (690, 340))
    rows = "; ".join(
        f"{name} " + ", ".join(f"{what} {100 * share:.0f}" for what, share in zip(resources, row) if share is not None)
        for name, row in zip(names, shares)
    )
    return Drawing(wide, f"{title}, in per cent of the time: {rows}.", narrow)
