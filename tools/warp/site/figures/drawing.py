"""What all drawings are made of: the page's colours, text, and the SVG element around them."""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass, field

# The page's own colours, so that a drawing is right in light and in dark.
FOREGROUND, MUTED, LINE, ACCENT, SOFT, SECOND, GROUND = (
    f"var(--draw-{name})" for name in ("foreground", "muted", "line", "accent", "soft", "second", "ground")
)


@dataclass
class Drawing:
    """An SVG for the page, the words for who cannot see it, and where it needs one an SVG for narrow screens."""

    svg: str
    alt: str
    narrow: str = ""
    scene: str = ""  # what docs/_static/player.js plays it as
    data: dict = field(default_factory=dict)  # and what that needs
    covered: dict = field(default_factory=dict)  # what waits for a prediction: docs/_static/predict.js uncovers it

    def elements(self) -> str:
        """For a page: the drawing, and the one that narrow screens have in its place."""
        both = ((self.svg, "only-wide" if self.narrow else ""), (self.narrow, "only-narrow"))
        return "".join(
            f'<div class="drawing {only}" role="{"group" if "<a " in svg else "img"}" '  # a picture has nothing to follow
            f'aria-label="{quoted(self.alt)}">{svg}</div>'
            for svg, only in both
            if svg
        )


LETTERS = 11  # pixels at least
PHONE = 340  # what a phone has for a drawing


def svg(shapes: list[str], width: float, height: float) -> str:
    """The shapes as an element that can stand in a page: as wide as its place, at most `width` pixels, and no narrower than its
    letters can be read at: a phone then scrolls it."""
    drawn = "".join(shapes)
    smallest = min(map(float, re.findall(r'font-size="([\d.]+)"', drawn)), default=LETTERS)
    least = min(width, math.ceil(width * LETTERS / smallest))
    narrow = f"; min-width: {least:g}px" if width > PHONE * smallest / LETTERS else ""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width: {width:g}px{narrow}" '
        f'xmlns="http://www.w3.org/2000/svg">{drawn}</svg>'
    )


def text(
    x: float, y: float, words: str, size: float = 13, colour: str = FOREGROUND, anchor: str = "start", more: str = ""
) -> str:
    """A line of text at its base line; `words` may have tspan elements, so they are escaped by whoever makes them."""
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.4g}" y="{y:.4g}" font-size="{size:g}"{at} fill="{colour}"{more}>{words}</text>'


def rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" fill="{fill}"{more}/>'


def path(commands: str, stroke: str, width: float = 1, more: str = "") -> str:
    """A line that encloses nothing."""
    return f'<path d="{commands}" stroke="{stroke}" stroke-width="{width:g}" fill="none"{more}/>'


def circle(x: float, y: float, radius: float, fill: str, more: str = "") -> str:
    return f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{radius:g}" fill="{fill}"{more}/>'


def mono(words: str, more: str = "") -> str:
    """In code type, within a text."""
    return f'<tspan class="mono"{more}>{escape(words)}</tspan>'


def halo(size: float = 3) -> str:
    """For text over lines: the page's ground around its letters."""
    return f' stroke="{GROUND}" stroke-width="{size:g}" style="paint-order: stroke"'


def rate(value: float) -> str:
    """4,100 and 12.5: three digits or whole numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def escape(words: str) -> str:
    return html.escape(words, quote=False)


def quoted(words: str) -> str:
    """For an attribute between double quotes."""
    return escape(words).replace('"', "&quot;")
