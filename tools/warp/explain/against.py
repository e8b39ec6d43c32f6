"""./learn explain NEW --against OLD, from the old to the new: kernel by kernel, what was counted, the bounds, and the lines that are not the same."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from warp.base import paths
from warp.base.text import read_source, thousands
from warp.base.ui import Paint
from warp.chapter.functions import find_function
from warp.explain import changes, report, speed
from warp.machinecode import bounds
from warp.machinecode.bounds import Bound, Gpu
from warp.machinecode.code import Compiled
from warp.trace.model import Trace
from warp.trace.trace import Kernel, Totals, selected

Row = tuple[str, int, str]  # file, line, text
SAME_LINES = "The lines of both kernels are the same, and what was counted at them."


def render(first: Side, second: Side, paint: Paint, gpu: Gpu, launch: int | None = None) -> str:
    """The comparison of two `Side`s as text: `second` against `first`, which is what was before."""
    out = [paint("bold", f"{second.label} against {first.label}, on {speed.with_article(gpu.name)}"), ""]
    pairs, alone = paired(first.kernels(launch), second.kernels(launch))
    for one, other in pairs:
        out += [*compared(first, one, second, other, paint, gpu), ""]
    for side, kernel in [(first, one) for one in alone[0]] + [(second, one) for one in alone[1]]:
        out += [f"Kernel {kernel.name} is in {side.label} alone.", ""]
    if not pairs:
        out += ["No kernel of the one goes with one of the other: give them the same name.", ""]
    return "\n".join(out)


@dataclass(eq=False)
class Side:
    """One of the two programs, and what it left in its trace."""

    label: str
    recorded: Trace
    compiled: list[Compiled]
    failed: bool = False

    def kernels(self, launch: int | None) -> list[Kernel]:
        return selected(self.recorded, launch, self.compiled)[0]


def paired(
    mine: list[Kernel], its: list[Kernel]
) -> tuple[list[tuple[Kernel, Kernel]], tuple[list[Kernel], list[Kernel]]]:
    """([(kernel, kernel)], ([those left of the first], [of the second])): by name, and two that are left. Where no
    name fits, the only kernel of one side goes with each of the other, as with the variants of a rung."""
    pairs, left = [], list(its)
    others = []
    for kernel in mine:
        same = next((one for one in left if one.function == kernel.function), None)
        if same:
            left.remove(same)
            pairs.append((kernel, same))
        else:
            others.append(kernel)
    if len(others) == len(left) == 1:
        return [*pairs, (others[0], left[0])], ([], [])
    if not pairs and 1 in (len(others), len(left)):
        return [(one, other) for one in others for other in left], ([], [])
    return pairs, (others, left)


def compared(first: Side, one: Kernel, second: Side, other: Kernel, paint: Paint, gpu: Gpu) -> list[str]:
    """The lines of text on two kernels."""
    names = one.name if one.name == other.name else f"{one.name} and {other.name}"
    out = [paint("bold", "Kernel " + names), f"  {one.shapes()}; {other.shapes()}"]
    rows = [*counts(one, other), *times(first, one, second, other, gpu)]
    width = max((len(row[0]) for row in rows), default=0)
    columns = [max([len(side.label), *(len(row[place]) for row in rows)]) for place, side in ((1, first), (2, second))]
    out.append(f"  {'':<{width}}  {first.label:>{columns[0]}}  {second.label:>{columns[1]}}")
    for words, old, new, how, colour in rows:
        out.append(f"  {words:<{width}}  {old:>{columns[0]}}  {new:>{columns[1]}}{paint(colour or 'dim', how)}")
    return [*out, "", *lines_apart(one, other, paint)]


def counts(one: Kernel, other: Kernel) -> Iterator[tuple[str, ...]]:
    """[(words, old, new, how it changes, colour)] of what either counts."""
    for count in changes.COUNTS:
        old, new = one.counts.get(count.name, 0), other.counts.get(count.name, 0)
        if old or new:
            how = changes.by_how_much(old, new) if old != new else ""
            yield count.words, thousands(old), thousands(new), how, changes.colour(old, new) if how else ""


def times(first: Side, one: Kernel, second: Side, other: Kernel, gpu: Gpu) -> Iterator[tuple[str, ...]]:
    """The same of the bounds, each resource alone."""
    sides = ((first, one), (second, other))
    found = [bound for side, kernel in sides if not side.failed and (bound := speed.of_kernel(kernel, gpu))]
    if len(found) < 2:
        return
    known = [{bound.resource: bound.seconds for bound in of.bounds} for of in found]
    for resource in sorted(set(known[0]) | set(known[1]), key=lambda name: -max(of.get(name, 0) for of in known)):
        yield (resource, *(bounds.in_time(of[resource]) if resource in of else "-" for of in known), "", "")
    yield bound_row("at least", *(of.limit for of in found))
    if any(of.work for of in found):
        yield bound_row("without the launch", *(of.work or of.limit for of in found))


def bound_row(words: str, old: Bound, new: Bound) -> tuple[str, ...]:
    faster = f", {old.seconds / new.seconds:.1f} times lower" if old.seconds > 1.05 * new.seconds else ""
    slower = f", {new.seconds / old.seconds:.1f} times higher" if new.seconds > 1.05 * old.seconds else ""
    texts = (bounds.in_time(bound.seconds) for bound in (old, new))
    return (words, *texts, faster or slower, "green" if faster else "yellow")


def lines_apart(one: Kernel, other: Kernel, paint: Paint) -> list[str]:
    """The lines of the two kernels that are not the same, with what was counted at them."""
    sides = [source_of(kernel) for kernel in (one, other)]
    if not all(sides):
        return []
    texts = [[text.rstrip() for _, _, text in side] for side in sides]
    out = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_opcodes():
        if kind == "equal":
            for row, its in zip(sides[0][a:b], sides[1][c:d]):
                if words_at(one, row, paint) != words_at(other, its, paint):
                    out += [shown(one, row, "-", "red", paint), shown(other, its, "+", "green", paint)]
            continue
        out += [shown(one, row, "-", "red", paint) for row in sides[0][a:b] if row[2].strip()]
        out += [shown(other, row, "+", "green", paint) for row in sides[1][c:d] if row[2].strip()]
    return ["  Lines that differ:", *out] if out else ["  " + SAME_LINES]


def shown(kernel: Kernel, row: Row, sign: str, colour: str, paint: Paint) -> str:
    file, number, text = row
    words = words_at(kernel, row, paint)
    note = f"    ({words})" if words else ""
    return f"    {paint(colour, sign)} {paths.shown(file)}:{number}  {text.strip()}{note}"


def words_at(kernel: Kernel, row: Row, paint: Paint) -> str:
    """What was counted at a line; "" where nothing was."""
    found = kernel.lines.get(row[0], {}).get(row[1])
    return report.line_in_words(Totals(found), paint) if found else ""


def source_of(kernel: Kernel) -> list[Row]:
    """[(file, line, text)] of a kernel's function, [] where it is not found."""
    for file in kernel.lines:
        source = read_source(file) or []
        found = find_function("\n".join(source), kernel.function)
        if found:
            return [(file, number, source[number - 1]) for number in range(found.first, found.last + 1)]
    return []
