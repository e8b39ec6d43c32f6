"""./learn explain A --against B: kernel by kernel, what was counted, the bounds, and the lines that are not the same."""

import difflib

from warp.base import paths
from warp.base.text import read_source, thousands
from warp.chapter.functions import find_function
from warp.explain import changes, report, speed
from warp.machinecode import bounds
from warp.trace.trace import Totals, selected

SAME_LINES = "The lines of both kernels are the same, and what was counted at them."


def render(first, second, paint, gpu, launch=None):
    """The comparison of two `Side`s as text."""
    out = [paint("bold", f"{first.label} against {second.label}, on {speed.with_article(gpu.name)}"), ""]
    pairs, alone = paired(first.kernels(launch), second.kernels(launch))
    for one, other in pairs:
        out += [*compared(first, one, second, other, paint, gpu), ""]
    for side, kernel in [(first, one) for one in alone[0]] + [(second, one) for one in alone[1]]:
        out += [f"Kernel {kernel.name} is in {side.label} alone.", ""]
    if not pairs:
        out += ["No kernel of the one goes with one of the other: give them the same name.", ""]
    return "\n".join(out)


class Side:
    """One of the two programs, and what it left in its trace."""

    def __init__(self, label, recorded, compiled, failed=False):
        self.label = label
        self.recorded = recorded
        self.compiled = compiled
        self.failed = failed

    def kernels(self, launch):
        return selected(self.recorded, launch, self.compiled)[0]


def paired(mine, its):
    """([(kernel, kernel)], ([those left of the first], [of the second])): by name, and two that are left by their order."""
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
    return pairs, (others, left)


def compared(first, one, second, other, paint, gpu):
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


def counts(one, other):
    """[(words, old, new, how it changes, colour)] of what either counts."""
    for words, name in changes.COUNTS:
        old, new = one.counts.get(name, 0), other.counts.get(name, 0)
        if old or new:
            how = changes.by_how_much(old, new) if old != new else ""
            yield words, thousands(old), thousands(new), how, changes.colour(old, new) if how else ""


def times(first, one, second, other, gpu):
    """The same of the bounds, each resource alone."""
    found = [None if side.failed else speed.of_kernel(kernel, gpu) for side, kernel in ((first, one), (second, other))]
    if not all(found):
        return
    known = [{bound.resource: bound.seconds for bound in of.bounds} for of in found]
    for resource in sorted(set(known[0]) | set(known[1]), key=lambda name: -max(of.get(name, 0) for of in known)):
        yield (resource, *(bounds.in_time(of[resource]) if resource in of else "-" for of in known), "", "")
    yield bound_row("at least", *(of.limit for of in found))
    if any(of.work for of in found):
        yield bound_row("without the launch", *(of.work or of.limit for of in found))


def bound_row(words, old, new):
    faster = f", {old.seconds / new.seconds:.1f} times lower" if old.seconds > 1.05 * new.seconds else ""
    slower = f", {new.seconds / old.seconds:.1f} times higher" if new.seconds > 1.05 * old.seconds else ""
    texts = (bounds.in_time(bound.seconds) for bound in (old, new))
    return (words, *texts, faster or slower, "green" if faster else "yellow")


def lines_apart(one, other, paint):
    """The lines of the two kernels that are not the same, with what was counted at them."""
    sides = [source_of(kernel) for kernel in (one, other)]
    if not all(sides):
        return []
    texts = [[text.rstrip() for _, _, text in side] for side in sides]
    out = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if kind == "equal":
            for row, its in zip(sides[0][a:b], sides[1][c:d]):
                if words_at(one, row, paint) != words_at(other, its, paint):
                    out += [shown(one, row, "-", "red", paint), shown(other, its, "+", "green", paint)]
            continue
        out += [shown(one, row, "-", "red", paint) for row in sides[0][a:b] if row[2].strip()]
        out += [shown(other, row, "+", "green", paint) for row in sides[1][c:d] if row[2].strip()]
    return ["  Lines that differ:", *out] if out else ["  " + SAME_LINES]


def shown(kernel, row, sign, colour, paint):
    file, number, text = row
    words = words_at(kernel, row, paint)
    note = f"    ({words})" if words else ""
    return f"    {paint(colour, sign)} {paths.shown(file)}:{number}  {text.strip()}{note}"


def words_at(kernel, row, paint):
    """What was counted at a line; "" where nothing was."""
    found = kernel.lines.get(row[0], {}).get(row[1])
    return report.line_in_words(Totals(found), paint) if found else ""


def source_of(kernel):
    """[(file, line, text)] of a kernel's function, [] where it is not found."""
    for file in kernel.lines:
        source = read_source(file)
        found = source and find_function("\n".join(source), kernel.function)
        if found:
            return [(file, number, source[number - 1]) for number in range(found.first, found.last + 1)]
    return []
