"""The chapters, and which builds on which."""

from __future__ import annotations

from typing import Any

from warp.site.figures.drawing import ACCENT, LINE, MUTED, SOFT, Drawing, escape, path, rect, svg, text


def chapter_graph(chapters: list[tuple[str, str, str, list[str]]]) -> Drawing:
    """Which chapter builds on which. Each chapter: folder, number, title, folders it builds on."""
    depth: dict[str, int] = {}
    for folder, _, _, builds_on in chapters:  # by number: what a chapter builds on stands before it
        depth[folder] = 1 + max((depth[b] for b in builds_on), default=-1)
    rows: dict[int, list[str]] = {}
    for folder, _, _, _ in chapters:
        rows.setdefault(depth[folder], []).append(folder)
    names = {folder: (number, title) for folder, number, title, _ in chapters}
    height, row_gap, column_gap = 38, 30, 20

    def node(folder: str, x: float, y: float, width: float) -> str:
        number, title = names[folder]
        words = f'<tspan fill="{ACCENT}" font-weight="600">{number}</tspan><tspan dx="8">{escape(title)}</tspan>'
        box = rect(x, y, width, height, SOFT, f' rx="6" stroke="{LINE}"')
        return f'<a href="{folder}.html">{box}{text(x + 13, y + 24, words, 14)}</a>'

    def wide_enough(folder: str) -> float:
        return 58 + 8.2 * len(names[folder][1])

    # Wide: one row a depth. An edge that passes rows by has a narrow place of its own in each, so none runs behind a box.
    edges = [(other, folder) for folder, _, _, builds_on in chapters for other in builds_on]
    ways: dict[tuple[str, str], list[Any]] = {
        (other, folder): [other, *((level, other, folder) for level in range(depth[other] + 1, depth[folder])), folder]
        for other, folder in edges
    }
    above: dict[object, list] = {}
    for way in ways.values():
        for upper, lower in zip(way, way[1:]):
            above.setdefault(lower, []).append(upper)
        for passing in way[1:-1]:
            rows[passing[0]].append(passing)
    middle: dict[object, float] = {}

    def wide(item: object) -> float:
        return wide_enough(item) if isinstance(item, str) else 10

    for _, items in sorted(rows.items()):
        wanted = {
            item: sum(middle[up] for up in above[item]) / len(above[item]) if item in above else 0.0 for item in items
        }
        x = 1.0
        for item in sorted(items, key=lambda item: (wanted[item], str(item))):
            x = max(x, min(wanted[item] - wide(item) / 2, x + 2 * column_gap))
            middle[item] = x + wide(item) / 2
            x += wide(item) + column_gap
    total = max(middle[item] + wide(item) / 2 for items in rows.values() for item in items) + 1
    pitch = height + row_gap
    shapes = []
    for way in ways.values():
        x, y = middle[way[0]], 1 + depth[way[0]] * pitch + height
        commands = f"M{x:.4g} {y}"
        for step, item in enumerate(way[1:], start=1):
            top = 1 + (depth[way[0]] + step) * pitch
            commands += (
                f"C{x:.4g} {top - row_gap / 2:g} {middle[item]:.4g} {top - row_gap / 2:g} {middle[item]:.4g} {top}"
            )
            if item != way[-1]:
                commands += f"V{top + height}"
            x = middle[item]
        shapes.append(path(commands, MUTED, 1.4))
    shapes += [
        node(folder, round(middle[folder] - wide_enough(folder) / 2, 1), 1 + depth[folder] * pitch, wide_enough(folder))
        for folder in names
    ]
    drawn = svg(shapes, total, 1 + (max(depth.values()) + 1) * pitch - row_gap + 1)

    # Narrow: one column, the edges as arcs at its left.
    left, step = 46, height + 12
    line = {folder: 1 + i * step for i, folder in enumerate(names)}
    shapes = []
    for folder, _, _, builds_on in chapters:
        for other in builds_on:
            y1, y2 = line[other] + height / 2, line[folder] + height / 2
            bow = min(left - 4, 12 + 5 * (y2 - y1) / step)
            shapes.append(path(f"M{left} {y1}C{left - bow} {y1} {left - bow} {y2} {left} {y2}", MUTED, 1.4))
    widest = max(wide_enough(folder) for folder in names)
    shapes += [node(folder, left, y, widest) for folder, y in line.items()]
    narrow = svg(shapes, left + widest + 1, max(line.values()) + height + 1)

    sentences = []
    for _, number, title, builds_on in chapters:
        on = " and ".join(" ".join(names[b]) for b in builds_on) or "nothing"
        sentences.append(f"{number} {title} builds on {on}.")
    return Drawing(
        drawn,
        "The chapters and what each builds on. " + " ".join(sentences),
        narrow if len(chapters) > 1 else "",
    )
