"""Warps over time, from a recording of the simulator: lanes from top to bottom, a warp's own steps from left to right."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from warp.chapter.recording import Recording, Step
from warp.site.figures.drawing import FOREGROUND, LINE, MUTED, Drawing, halo, mono, path, rect, svg, text
from warp.site.figures.roles import ROLES, colour, fill, legend

LANES = 32
WORDS = {
    "enter": ("runs", "run"),
    "load": ("loads from {} memory", "load from {} memory"),
    "store": ("stores to {} memory", "store to {} memory"),
    "atomic": ("is at an atomic operation on {} memory", "are at an atomic operation on {} memory"),
    "wait": ("waits at the barrier", "wait at the barrier"),
}


@dataclass
class Panel:
    """What one kernel did: its recording (warp.chapter.recording), the file that it stands in, and the warps that are shown."""

    recording: Recording
    source: Path
    warps: list[int]
    title: str = ""
    columns: list[list] = field(default_factory=list)  # of steps, at most one for each warp

    @property
    def name(self) -> str:
        return self.title or self.recording.kernel

    def __post_init__(self) -> None:
        """Puts the steps into columns. Barriers put the warps in step; between two of them each has its own pace."""
        text = self.source.read_text(encoding="utf-8").split("\n")
        steps = [step for step in self.recording.steps if step.warp in self.warps]
        self.lines = {step.line: text[step.line - 1].strip() for step in steps}
        self.alive = dict.fromkeys(self.warps, 0)
        self.meets = []  # the columns behind which the block meets
        for step in steps:
            self.alive[step.warp] |= step.lanes
        for interval in range(len(self.recording.barriers) + 1):
            of = {w: [s for s in steps if s.interval == interval and s.warp == w] for w in self.warps}
            for column in range(max(map(len, of.values()), default=0)):
                self.columns.append([of[w][column] for w in self.warps if column < len(of[w])])
            self.meets.append(len(self.columns))

    def places(self) -> list[float]:
        """Where each column begins, in cells, and where the last one ends: what happens many times is wider."""
        at = [0.0]
        for column in self.columns:
            at.append(at[-1] + 1 + 0.6 * math.log2(max(step.times for step in column)))
        return at

    def frames(self) -> list[list]:
        """For each column its line and what happens there, and so far: steps of warps, lanes used in them, wavefronts."""
        issued = used = waves = 0
        made = []
        for column in self.columns:
            worked = [step for step in column if step.what != "wait"]
            issued += sum(step.times for step in worked)
            used += sum(step.times * bin(step.lanes).count("1") for step in worked)
            waves += sum(step.times * step.cost for step in worked if step.space == "shared")
            made.append([column[0].line, said(column), issued, used, waves])
        return made


def said(column: list) -> str:
    """A column in a sentence."""
    parts = []
    for step in column:
        lanes = bin(step.lanes).count("1")
        words = ("all lanes " if lanes == LANES else f"{lanes} lanes ") if lanes > 1 else "1 lane "
        words += WORDS[step.what][lanes > 1].format(step.space)
        if step.cost:
            words += (
                f", {step.cost} {'sector' if step.space == 'global' else 'wavefront'}{'s' if step.cost > 1 else ''}"
            )
        if step.times > 1:
            words += f", {step.times} times"
        parts.append(words + (": a race" if step.races else ""))
    if len(parts) == 1:
        return parts[0]
    return "; ".join(
        f"{parts.count(words)} warp{'s' if parts.count(words) > 1 else ''}: {words}" for words in dict.fromkeys(parts)
    )


def role_of(step: Step) -> str:
    if step.what == "wait":
        return "idle"
    return {"global": "loaded", "shared": "shared"}.get(step.space, "computing")


def runs_of(mask: int) -> list[tuple[int, int]]:
    """The neighbouring lanes of a mask, as first and count."""
    found, lane = [], 0
    while lane < LANES:
        if mask >> lane & 1:
            first = lane
            while lane < LANES and mask >> lane & 1:
                lane += 1
            found.append((first, lane - first))
        lane += 1
    return found


class Column:
    """What is drawn in a column: whatever looks alike is one path, or a drawing of many warps is too large."""

    def __init__(self, x: float, wide: float):
        self.x, self.wide = x, wide
        self.paths: dict[str, str] = {}

    def box(self, y: float, tall: float, paint: str) -> None:
        self._add(f'fill="{paint}"', f"M{self.x:.4g} {y:.4g}h{self.wide:.4g}v{tall:.4g}h{-self.wide:.4g}z")

    def lanes(self, mask: int, y: float, high: float, paint: str) -> None:
        """The lanes of a mask below each other; those at equal distances are a dashed line."""
        runs = runs_of(mask)
        steps = {b[0] - a[0] for a, b in zip(runs, runs[1:])}
        if len(runs) > 1 and len(steps) == 1 and len({n for _, n in runs}) == 1:
            (first, count), (last, _) = runs[0], runs[-1]
            dashes = f"{count * high:g} {(steps.pop() - count) * high:g}"
            how = f'stroke="{paint}" stroke-width="{self.wide:.4g}" stroke-dasharray="{dashes}"'
            line = f"M{self.x + self.wide / 2:.4g} {y + first * high:.4g}v{(last + count - first) * high:.4g}"
            self._add(how, line)
            return
        for lane, count in runs:
            self.box(y + lane * high, count * high, paint)

    def _add(self, how: str, commands: str) -> None:
        self.paths[how] = self.paths.get(how, "") + commands

    def shapes(self) -> list[str]:
        return [f'<path d="{commands}" {how}/>' for how, commands in self.paths.items()]


def band(panel: Panel, x: float, y: float, cell: float, high: float, gap: float) -> tuple[list[str], float]:
    """The warps of a panel below each other, a group for each column, and the barriers."""
    tall = LANES * high
    at = [x + place * cell for place in panel.places()]
    shapes = [
        rect(x, y + i * (tall + gap), at[-1] - x, tall, "none", f' stroke="{LINE}"') for i in range(len(panel.warps))
    ]
    for i, warp in enumerate(panel.warps):  # what is not drawn over is spent waiting
        waits = [c for c, column in enumerate(panel.columns) for s in column if (s.warp, s.what) == (warp, "wait")]
        if waits:
            end = next(place for place in panel.meets if place > waits[-1])
            shapes.append(rect(at[waits[0]], y + i * (tall + gap), at[end] - at[waits[0]], tall, fill("idle")))
    for c, column in enumerate(panel.columns):
        more, wide = [], at[c + 1] - at[c]
        drawn = Column(at[c] + 0.5, wide - 1)
        for step in column:
            top = y + panel.warps.index(step.warp) * (tall + gap)
            if step.what != "wait" and panel.alive[step.warp] & ~step.lanes:
                drawn.box(top, tall, fill("wasted"))
        for step in column:
            top = y + panel.warps.index(step.warp) * (tall + gap)
            if step.what == "wait":
                continue
            drawn.lanes(step.lanes, top, high, fill(role_of(step)))
            if step.races:
                framed = f' stroke="{colour("wasted")}" stroke-width="2.5"'
                more.append(rect(at[c] + 1.5, top + 1.5, wide - 3, tall - 3, "none", framed))
            if step.times > 1 and wide > 30:
                middle = at[c] + wide / 2
                more.append(text(middle, top + tall / 2 + 4, f"× {step.times}", 12, FOREGROUND, "middle", halo(4)))
        shapes.append(f'<g data-column="{c}">{"".join([*drawn.shapes(), *more])}</g>')  # empty ones count, too
    bottom = y + len(panel.warps) * (tall + gap) - gap
    for meet in panel.meets[:-1]:
        shapes.append(path(f"M{at[meet]:.4g} {y - 3:.4g}V{bottom + 3:.4g}", FOREGROUND, 1.6))
    return shapes, bottom


def warp_time(panels: list[Panel], intro: str, wasted: str = "switched off") -> Drawing:
    """The panels beside each other, on a narrow screen below, with a legend."""
    most = max(panel.places()[-1] for panel in panels)
    high = 8 if len(panels[0].warps) == 1 else 3.5 if len(panels[0].warps) == 2 else 2
    known = {role_of(step) for panel in panels for column in panel.columns for step in column}
    partly = any(
        panel.alive[s.warp] & ~s.lanes for panel in panels for c in panel.columns for s in c if s.what != "wait"
    )
    words = {**ROLES, "idle": "waits at the barrier"}
    roles = {role: words[role] for role in words if role in known}
    if partly:
        roles["wasted"] = wasted

    def draw(width: float, across: int) -> str:
        space, left, gap = 24, 20, 5
        room = (width - (across - 1) * space) / across - left - 1
        cell = min(room / most, 46)
        shapes, x, y, bottom = [], 0.0, 0.0, 0.0
        for i, panel in enumerate(panels):
            if i and i % across == 0:
                x, y = 0.0, bottom + 20
            top = y + 40
            shapes.append(text(x, y + 13, mono(panel.name), 13.5))
            total, share = totals(panel)
            shapes.append(text(x, y + 30, f"{total:,} steps, {share:.0%} of their lanes used", 12, MUTED))
            inside, bottom = band(panel, x + left, top, cell, high, gap)
            tall = LANES * high
            for row, warp in enumerate(panel.warps):
                at = top + row * (tall + gap)
                if len(panel.warps) == 1:
                    shapes += [
                        text(x + left - 4, at + (lane + 0.9) * high, str(lane), 11, MUTED, "end")
                        for lane in (0, 8, 16, 24, 31)
                    ]
                else:
                    shapes.append(text(x + left - 5, at + tall / 2 + 4, str(warp), 12, MUTED, "end"))
            shapes.append(f'<g data-panel="{i}">{"".join(inside)}</g>')
            x += room + left + space
        below, tall = legend(0, bottom + 14, width, roles)
        return svg([*shapes, *below], width, bottom + 14 + tall)

    alt = f"{intro} " + " ".join(
        f"{panel.name}: {totals(panel)[0]:,} steps, {totals(panel)[1]:.0%} of their lanes used: "
        + "; ".join(f"line {line}, {words}" for line, words, *_ in panel.frames()[:12])
        + ("; and so on." if len(panel.columns) > 12 else ".")
        for panel in panels
    )
    told = []
    for panel in panels:
        lines = {str(line): panel.lines[line] for line in sorted(panel.lines)}
        told.append({"name": panel.name, "frames": panel.frames(), "lines": lines})
    return Drawing(draw(720, min(len(panels), 3)), alt, draw(340, 1), scene="warp", data={"panels": told})


def totals(panel: Panel) -> tuple[int, float]:
    """Steps of all warps shown, and which share of their lanes was used."""
    *_, (_, _, issued, used, _) = panel.frames()
    return issued, used / (issued * LANES)
