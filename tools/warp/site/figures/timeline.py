"""What happens when: bars along a common axis of time."""

from __future__ import annotations

from dataclasses import dataclass

from warp.site.figures.drawing import FOREGROUND, LINE, MUTED, Drawing, halo, mono, path, rect, svg, text
from warp.site.figures.roles import fill


@dataclass
class Span:
    """From `start`, for `length`, of a kind: "load", "full", "compute", "wrong" or "idle"."""

    start: float
    length: float
    kind: str
    words: str = ""


WORDS = {"load": "loads", "full": "is full", "compute": "computes", "wrong": "goes wrong", "idle": "idles"}
ROLE = {"load": "loaded", "full": "shared", "compute": "computing", "wrong": "wasted", "idle": "idle"}


def timeline(
    groups: list[tuple[str, list[tuple[str, list[Span]]]]], intro: str, legend: dict[str, str], width: float = 620
) -> Drawing:
    """Rows of spans, time to the right. Each group: its name, and its rows, each with a name. `intro` begins the words
    for who cannot see it; `legend` says what the kinds of spans are."""
    end = max(span.start + span.length for _, rows in groups for _, spans in rows for span in spans)
    bar, pitch, left = 22, 28, 74

    def draw(wide: float) -> str:
        unit, shapes, y = (wide - left - 2) / end, [], 0.0
        for name, rows in groups:
            y += 15
            shapes.append(text(0, y, mono(name), 13.5))
            y += 9
            for label, spans in rows:
                shapes.append(text(0, y + 15, label, 12.5, MUTED))
                for span in spans:
                    x, long = left + span.start * unit, span.length * unit
                    more = f' rx="3" stroke="{MUTED}" stroke-dasharray="3 3"' if span.kind == "idle" else ' rx="3"'
                    shapes.append(rect(x + 0.75, y, long - 1.5, bar, fill(ROLE[span.kind]), more))
                    if span.words:
                        shapes.append(text(x + long / 2, y + 15, span.words, 12, FOREGROUND, "middle", halo(4)))
                y += pitch
            y += 12
        shapes.append(path(f"M{left} {y - 4:g}H{wide - 3:g}m-6 -4l6 4l-6 4", LINE, 1.4))
        shapes.append(text(wide - 2, y + 12, "time", 12, MUTED, "end"))
        x, y = left + 1.0, y + 20
        for kind, words in legend.items():
            more = f' stroke="{MUTED}" stroke-dasharray="3 3"' if kind == "idle" else ""
            shapes.append(rect(x, y, 12, 12, fill(ROLE[kind]), f' rx="2"{more}'))
            shapes.append(text(x + 18, y + 10.5, words, 12, MUTED))
            x += 36 + 6.4 * len(words)
        return svg(shapes, wide, y + 16)

    def said(spans: list[Span]) -> str:
        return ", ".join(
            f"{WORDS[span.kind]}{' ' + span.words if span.words and span.kind != 'idle' else ''} from "
            f"{span.start:g} to {span.start + span.length:g}"
            for span in spans
        )

    alt = " ".join(
        f"{name}: " + "; ".join(f"{label} {said(spans)}" for label, spans in rows) + "." for name, rows in groups
    )
    return Drawing(draw(width), f"{intro} {alt}", draw(360))
