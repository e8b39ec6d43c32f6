"""Five colours with fixed meanings, each with a pattern beside it, and the legend that names them."""

from __future__ import annotations

from warp.site.figures.drawing import MUTED, rect, text

ROLES = {
    "loaded": "global memory",
    "shared": "shared memory",
    "computing": "computes",
    "wasted": "wasted",
    "idle": "idle",
}


def fill(role: str) -> str:
    """The paint of a role. The page has the patterns once (docs/_templates/page.html)."""
    if role not in ROLES:
        raise ValueError(f"'{role}' is no role: {', '.join(ROLES)}")
    return f"url(#role-{role})"


def colour(role: str) -> str:
    """Its colour without the pattern: for lines and letters."""
    return f"var(--draw-{role})"


def legend(x: float, y: float, width: float, roles: dict[str, str]) -> tuple[list[str], float]:
    """The roles of a drawing with their words here, from `x`, `y` on in as many rows as `width` takes, and the height of it."""
    shapes, at, row = [], x, y
    for role, words in roles.items():
        wide = 26 + 6.7 * len(words)
        if at > x and at + wide > x + width:
            at, row = x, row + 20
        shapes.append(rect(at, row, 13, 13, fill(role), f' stroke="{colour(role)}" rx="2"'))
        shapes.append(text(at + 19, row + 11, words, 12, MUTED))
        at += wide + 12
    return shapes, row + 20 - y
