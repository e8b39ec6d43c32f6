"""The chapters, and which builds on which."""

from __future__ import annotations

from figures.drawing import ACCENT, FOREGROUND, LINE, MUTED, SOFT, Drawing, escape, svg


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
        return (
            f'<a href="{folder}.html"><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{SOFT}" '
            f'stroke="{LINE}"/><text x="{x + 13}" y="{y + 24}" font-size="14" fill="{FOREGROUND}">'
            f'<tspan fill="{ACCENT}" font-weight="600">{number}</tspan>'
            f'<tspan dx="8">{escape(title)}</tspan></text></a>'
        )

    def wide_enough(folder: str) -> float:
        return 58 + 8.2 * len(names[folder][1])

    # Wide: one row a depth.
    place: dict[str, tuple[float, float, float]] = {}
    total = 0.0
    for level, folders in sorted(rows.items()):
        x = 1.0
        for folder in folders:
            width = wide_enough(folder)
            place[folder] = (x, 1 + level * (height + row_gap), width)
            x += width + column_gap
        total = max(total, x - column_gap + 1)
    shapes = []
    for folder, _, _, builds_on in chapters:
        x, y, width = place[folder]
        for other in builds_on:
            ox, oy, other_width = place[other]
            x1, y1, x2, y2 = ox + min(40, other_width / 2), oy + height, x + min(40, width / 2), y
            middle = (y1 + y2) / 2
            shapes.append(
                f'<path d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1.4"/>'
            )
    shapes += [node(folder, *place[folder]) for folder in names]
    bottom = max(y for _, y, _ in place.values()) + height + 1
    wide = svg(shapes, total, bottom)

    # Narrow: one column, the edges as arcs at its left.
    left, step = 46, height + 12
    line = {folder: 1 + i * step for i, folder in enumerate(names)}
    shapes = []
    for folder, _, _, builds_on in chapters:
        for other in builds_on:
            y1, y2 = line[other] + height / 2, line[folder] + height / 2
            bow = min(left - 4, 12 + 5 * (y2 - y1) / step)
            shapes.append(
                f'<path d="M{left} {y1}C{left - bow} {y1} {left - bow} {y2} {left} {y2}" fill="none" '
                f'stroke="{MUTED}" stroke-width="1.4"/>'
            )
    widest = max(wide_enough(folder) for folder in names)
    shapes += [node(folder, left, y, widest) for folder, y in line.items()]
    narrow = svg(shapes, left + widest + 1, max(line.values()) + height + 1)

    sentences = []
    for _, number, title, builds_on in chapters:
        on = " and ".join(" ".join(names[b]) for b in builds_on) or "nothing"
        sentences.append(f"{number} {title} builds on {on}.")
    return Drawing(
        wide,
        "The chapters and what each builds on. " + " ".join(sentences),
        narrow if len(chapters) > 1 else "",
    )
