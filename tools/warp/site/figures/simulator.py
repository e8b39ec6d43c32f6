"""The simulator's inside: the way of one memory access through its folders."""

from __future__ import annotations

from dataclasses import dataclass

from warp.site.figures.drawing import ACCENT, LINE, MUTED, SOFT, Drawing, escape, mono, path, rect, svg, text


@dataclass
class Station:
    """A folder that the access passes, what happens to it there, and the functions that do it."""

    folder: str
    happens: str
    functions: list[str]


WAY = [  # those of a row get the same request
    [Station("hooks", "the lane notes why it stops", ["__tsan_read4()", "Hooks::access_of_lane()", "note_stop()"])],
    [
        Station(
            "exec", "others run until all lanes of the warp stand", ["Worker::stop_and_return()", "Worker::schedule()"]
        )
    ],
    [Station("exec", "lanes at one place become one Request", ["Worker::form_group()", "Worker::observe()"])],
    [Station("monitor", "to the checkers and to the counter", ["Monitor::observe()"])],
    [
        Station("check", "Request in, Fault out", ["SharedChecker::check()", "GlobalChecker::check_place()"]),
        Station("count", "sectors and wavefronts", ["Counter::count_shared()", "Counter::count_global()"]),
    ],
    [Station("launch", "the workers' counts and faults are merged", ["run()", "drop_needless()"])],
    [Station("report", "faults in words, the trace as JSON", ["finish_launch()", "describe()", "write_trace()"])],
]


def way_of_an_access() -> Drawing:
    """One box a station, from top to bottom, with an arrow from each to the next."""
    step, height, gap = 34, 15.5, 26

    def box(station: Station, x: float, y: float, width: float) -> tuple[list[str], float]:
        tall = 54 + height * len(station.functions)
        shapes = [
            rect(x, y, width, tall, SOFT, f' rx="6" stroke="{LINE}"'),
            text(x + 14, y + 21, escape(station.folder), 14, ACCENT, more=' font-weight="600"'),
            text(x + 14, y + 39, escape(station.happens), 12.5, MUTED),
        ]
        for i, function in enumerate(station.functions):
            shapes.append(text(x + 14, y + 57 + i * height, mono(function), 12.5))
        return shapes, tall

    def arrow(x: float, y: float) -> str:
        tip = f"M{x - 4:g} {y + gap - 7:g}L{x:g} {y + gap - 1:g}L{x + 4:g} {y + gap - 7:g}"
        return path(f"M{x:g} {y + 1:g}L{x:g} {y + gap - 2:g}{tip}", MUTED, 1.4)

    def draw(width: float, rows: list[list[Station]]) -> str:
        shapes, y = [], 1.0
        for row in rows:
            each = (width - 2 - (len(row) - 1) * step / 2) / len(row)
            tallest = 0.0
            for column, station in enumerate(row):
                x = 1 + column * (each + step / 2)
                if y > 1:
                    shapes.append(arrow(x + each / 2, y - gap))
                more, tall = box(station, x, y, each)
                shapes += more
                tallest = max(tallest, tall)
            y += tallest + gap
        return svg(shapes, width, y - gap + 1)

    stations = [station for row in WAY for station in row]
    words = " ".join(f"{s.folder}: {s.happens}, by {', '.join(s.functions)}." for s in stations)
    alt = f"The way of one memory access through the simulator. {words}"
    return Drawing(draw(680, WAY), alt, draw(330, [[station] for station in stations]))
