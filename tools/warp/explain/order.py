"""The order that a program has made between its streams, as a chart: what comes behind what, and what may run at once.

The simulator knows the order and no time. A column is a step: work stands in the first one that its order allows.
"""

from __future__ import annotations

from dataclasses import dataclass

from warp.base import paths, ui
from warp.base.ui import Paint
from warp.trace.model import Round, Scheduled

MOST_CHARTS = 12
MOST_CELL = 14  # characters of a name
NARROW = 80  # columns of a chart where the terminal says nothing
HEADING = "Order of the work in streams"
MEANING = (
    "A row is a stream, a column a step. Work stands in the first step that its stream, its events and the host's waits allow. "
    "Nothing orders what shares a step: a GPU may run it at once, as far as it has an engine for each. The simulator knows "
    "the order, not how long anything takes."
)


@dataclass
class Chart:
    """Rounds that have the same order."""

    steps: list[int]  # of each piece of work, from 1
    work: list[Scheduled]
    times: int = 1
    is_cut: bool = False

    def rows(self) -> list[tuple[int, int]]:
        """(device, stream) of each row."""
        return sorted({(one.device, one.stream) for one in self.work})

    def at_once(self) -> int:
        """The most pieces of work in one step."""
        return max(self.steps.count(step) for step in set(self.steps))


def steps_of(work: list[Scheduled]) -> list[int]:
    """The step of each piece of work: the one behind the last that it waits for."""
    steps: list[int] = []
    for one in work:
        steps.append(1 + max((steps[before] for before in one.after), default=0))
    return steps


def charts(rounds: list[Round]) -> list[Chart]:
    """Those of all rounds with a stream of the program's own, equal ones as one, in the order of their first rounds."""
    found: dict[tuple[tuple[str, int, int, tuple[int, ...]], ...], Chart] = {}
    for one in rounds:
        key = tuple((w.what, w.stream, w.device, tuple(w.after)) for w in one.work)
        if key in found:
            found[key].times += 1
        else:
            found[key] = Chart(steps_of(one.work), one.work, is_cut=one.is_cut)
    return list(found.values())


def short(name: str) -> str:
    """A kernel's name without namespaces and arguments, as far as there is room."""
    name = name.partition("<")[0].partition("(")[0].rpartition("::")[2]
    return name if len(name) <= MOST_CELL else name[: MOST_CELL - 1] + "~"


def lines(chart: Chart, width: int) -> list[str]:
    """A chart as text: a row for each stream, as many steps as fit."""
    many_devices = len({one.device for one in chart.work}) > 1
    names = {
        (device, stream): (f"GPU {device}, " if many_devices else "")
        + (f"stream {stream}" if stream else "default stream")
        for device, stream in chart.rows()
    }
    left = max(map(len, names.values())) + 2
    cells: dict[tuple[int, int, int], str] = {}
    for step, one in zip(chart.steps, chart.work):
        place = (one.device, one.stream, step)
        cells[place] = short(one.what)
    last = max(chart.steps)
    column = max(map(len, [*cells.values(), str(last)])) + 2
    shown = min(last, max(1, (width - left) // column))
    text = [" " * left + "".join(str(step).ljust(column) for step in range(1, shown + 1))]
    for device, stream in chart.rows():
        row = "".join(cells.get((device, stream, step), "").ljust(column) for step in range(1, shown + 1))
        text.append(names[device, stream].ljust(left) + row)
    if shown < last:
        text.append(f"and {last - shown} more step{'s' * (last - shown > 1)}")
    if chart.is_cut:
        text.append("and more work, which the trace does not keep")
    return [line.rstrip() for line in text]


def heading(chart: Chart) -> str:
    """Where a chart's round begins, and what it has in all."""
    first = chart.work[0]
    place = f"{paths.shown(first.file)}:{first.line}" if first.file else ""
    pieces, last = len(chart.work), max(chart.steps)
    said = f"{pieces} piece{'s' * (pieces != 1)} of work in {last} step{'s' * (last != 1)}, at most {chart.at_once()} at once"
    return said + (f"; {chart.times} times" if chart.times > 1 else "") + (f"; from {place}" if place else "")


def text(rounds: list[Round], paint: Paint, width: int) -> list[str]:
    """The charts for a terminal of this width, 0 for one that says nothing; none where no stream was made."""
    found = charts(rounds)
    if not found:
        return []

    def wrapped(line: str) -> str:
        return "  " + (ui.wrap(line, 2, width - 2) if width else line)

    out = [paint("bold", HEADING), wrapped(MEANING)]
    for chart in found[:MOST_CHARTS]:
        out += ["", wrapped(heading(chart)), *("    " + line for line in lines(chart, (width or NARROW) - 4))]
    if len(found) > MOST_CHARTS:
        out += ["", f"  and {len(found) - MOST_CHARTS} more; --json FILE has all of them"]
    return [*out, ""]
