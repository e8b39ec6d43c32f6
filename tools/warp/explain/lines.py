"""Memory instructions of the machine code, for each line of the source: what explain puts beside the simulator's counts."""

from __future__ import annotations

import collections
import os
import re

from warp.machinecode import kinds
from warp.machinecode.code import Compiled
from warp.machinecode.kinds import SECTOR
from warp.trace.trace import Kernel

COPY = "global to shared"  # it loads from one and stores to the other
SPACES = {"global": ("global", "generic", COPY), "shared": ("shared", "generic", COPY)}


def accesses(compiled: Compiled) -> dict[tuple[str, int], dict[tuple[str, str, int], int]]:
    """{(file, line): Counter of (memory, load or store, bits)} of a kernel; a line has those of functions inlined into it."""
    found: dict[tuple[str, int], dict[tuple[str, str, int], int]] = {}
    for one in compiled.instructions:
        access = kinds.memory(one)
        if access and not one.never:
            for file, line in dict.fromkeys(one.places):
                found.setdefault((os.path.realpath(file), line), collections.Counter())[access] += 1
    return found


def files(compiled: Compiled) -> set[str]:
    """The files that have instructions of a kernel."""
    return {os.path.realpath(file) for file in {file for one in compiled.instructions for file, _ in one.places}}


def what_nvcc_makes(kernel: Kernel) -> tuple[list[tuple[str, int, str]], str]:
    """([(file, line, sentence)], a sentence on why no counts of the machine code stand there or "") of a simulated kernel; neither
    where its machine code is not known, nor of one that a finding has ended: how far the two came tells nothing."""
    if kernel.cut_short():
        return [], ""
    rows = differences(kernel, kernel.compiled)
    if not kernel.compiled or kernel.as_compiled is not None or not kernel.not_carried_out:
        return rows, ""
    what = ", ".join(dict.fromkeys(_named(one, kernel.compiled) for one in kernel.not_carried_out))
    return rows, f"The counts of its machine code are not known: the simulator does not carry out {what}."


# What a kernel calls that lies outside of it, by the symbol.
CALLED = {"vprintf": "printf()", "__assertfail": "assert()", "malloc": "malloc()", "free": "free()"}


def _named(what: str, compiled: list[Compiled]) -> str:
    """An instruction by the source's name for it: LEPC prepares a call of a function that the driver brings."""
    symbols = {symbol.name for one in compiled for symbol in getattr(one.image, "symbols", ())}
    called = [name for symbol, name in CALLED.items() if symbol in symbols] if what == "LEPC" else []
    return " and ".join(called) or what


def differences(kernel: Kernel, compiled: list[Compiled]) -> list[tuple[str, int, str]]:
    """[(file, line, sentence)] for the lines of a simulated kernel whose accesses nvcc has changed: with the counts of both where
    the simulator has carried the machine code out, else what the widths of its instructions tell.

    `kernel` is trace.trace.Kernel; `compiled` are the instantiations with its name.
    """
    if not compiled:
        return []
    if kernel.as_compiled is None:
        return merged(kernel, compiled)
    return _counted(kernel, [accesses(one) for one in compiled])


def merged(kernel: Kernel, compiled: list[Compiled]) -> list[tuple[str, int, str]]:
    """[(file, line, sentence)] for the lines whose accesses nvcc has made wider or left out. A line is named only where all of
    its instantiations agree.
    """
    if not compiled:
        return []
    tables = [accesses(one) for one in compiled]
    known = set.intersection(*map(files, compiled))
    rows = []
    for file, counted in sorted(kernel.lines.items()):
        if os.path.realpath(file) not in known:  # a header that the simulator has in a form of its own
            continue
        for line in sorted(counted):
            for space in ("global", "shared"):
                for access in ("load", "store"):
                    requests = counted[line].get(f"{space}_{access}_requests", 0)
                    text = requests and _sentence(kernel, tables, file, line, space, access, requests)
                    if text:
                        rows.append((file, line, text))
    return rows


# What is compared, of an access: requests, and what they cost.
COUNTED = {
    ("global", "load"): ("requests", "sectors"),
    ("global", "store"): ("requests", "sectors"),
    ("global", "atomic"): ("requests", "sectors"),
    ("shared", "load"): ("requests", "wavefronts"),
    ("shared", "store"): ("requests", "wavefronts"),
    ("shared", "atomic"): ("requests", "wavefronts"),
}
NEARBY = 3  # lines between which the two compilers may place one access differently


def _counted(
    kernel: Kernel, tables: list[dict[tuple[str, int], dict[tuple[str, str, int], int]]]
) -> list[tuple[str, int, str]]:
    """What the simulator has counted of the machine code, where it is not what it counts of the source."""
    rows = []
    for (space, access), what in COUNTED.items():
        names = [f"{space}_{access}_{count}" for count in what]
        above = _places(kernel.lines, names)
        below = _places(kernel.as_compiled, names)
        if _total(above) == _total(below):
            continue
        apart = {place for place in {*above, *below} if above.get(place) != below.get(place)}
        changes = {place: tuple(counts.get(place, (0,) * len(what)) for counts in (above, below)) for place in apart}
        for place in sorted(apart - _moved(changes)):
            before, after = changes[place]
            of_all = [
                sorted(
                    (bits, number)
                    for (where, how, bits), number in table.get(place, {}).items()
                    if where in SPACES[space] and how in (access, "copy")
                )
                for table in tables
            ]
            # Of several instances of a template it is not known which one ran.
            instructions = of_all[0] if all(of_one == of_all[0] for of_one in of_all) else None
            cause = _cause(kernel, instructions, place, access, before, after)
            told = _both(space, access, what, before, after)
            rows.append((*place, f"{told}: {cause}" if cause else told))
    return sorted(rows)


def _places(
    lines: dict[str, dict[int, dict[str, int]]] | None, names: list[str]
) -> dict[tuple[str, int], tuple[int, ...]]:
    """{(file, line): counts} where there are any."""
    found = {}
    for file, counted in (lines or {}).items():
        for line, counts in counted.items():
            values = tuple(counts.get(name, 0) for name in names)
            if any(values):
                found[(os.path.realpath(file), line)] = values
    return found


def _total(places: dict[tuple[str, int], tuple[int, ...]]) -> list[int]:
    return [sum(values) for values in zip(*places.values())]


def _moved(changes: dict[tuple[str, int], tuple[tuple[int, ...], ...]]) -> set[tuple[str, int]]:
    """Places whose differences cancel: both compilers have the access, at neighbouring lines."""
    moved = set()
    for (file, line), (before, after) in sorted(changes.items()):
        for other in range(line + 1, line + NEARBY + 1):
            place = (file, other)
            if changes.get(place) and place not in moved and (file, line) not in moved:
                sums = (
                    [sum(pair) for pair in zip(one, two)]
                    for one, two in ((before, changes[place][0]), (after, changes[place][1]))
                )
                if len({tuple(sum_) for sum_ in sums}) == 1:
                    moved |= {(file, line), place}
    return moved


def _both(space: str, access: str, what: tuple[str, str], before: tuple[int, ...], after: tuple[int, ...]) -> str:
    """`shared loads: 16,384 requests and 16,384 wavefronts above, 10,240 and 12,288 as nvcc compiles them`"""
    names = [name[:-1] if number == 1 else name for number, name in zip(before if before[0] else after, what)]
    if not before[0]:
        second = " and ".join(f"{number:,} {name}" for number, name in zip(after, names))
        return f"{space} {access}s: none above, {second} as nvcc compiles them"
    first = " and ".join(f"{number:,} {name}" for number, name in zip(before, names))
    second = " and ".join(f"{number:,}" for number in after) if after[0] else "none"
    return f"{space} {access}s: {first} above, {second} as nvcc compiles them"


def _cause(
    kernel: Kernel,
    instructions: list[tuple[int, int]] | None,
    place: tuple[str, int],
    access: str,
    before: tuple[int, ...],
    after: tuple[int, ...],
) -> str:
    """What the machine code shows of it, "" where that is nothing. `instructions` are [(bits, number)] of the line, if
    known."""
    if instructions is None:
        return ""
    file, line = place
    seen = {8 * one.size for one in kernel.examples_at(file, line) if one.access == access}
    wide = sorted(bits for bits, _ in instructions if seen and bits > max(seen))
    number = sum(number for _, number in instructions)
    if not instructions and not after[0]:
        return f"the machine code has no {access} at this line"
    if wide and after[0] < before[0]:
        return f"neighbours are one access of {' or '.join(map(str, wide))} bits"
    if number > 1 and after[0] > before[0]:
        return f"{number} {access}s in the machine code have this line"
    return ""


def made_wide(kernel: Kernel, compiled: list[Compiled], tolerance: float) -> set[tuple[str, int, str]]:
    """{(file, line, load or store)} of global accesses that leave parts of sectors unused in the source's width and not in nvcc's.

    Unused is what a request takes above `tolerance` times the sectors that its bytes fill. Where nvcc has no instruction at a line,
    another one's has its bytes.
    """
    found = set()
    for file, line, _ in merged(kernel, compiled):
        for access in ("load", "store"):
            requests = kernel.lines[file][line].get(f"global_{access}_requests", 0)
            if not requests or not _sentence(
                kernel, list(map(accesses, compiled)), file, line, "global", access, requests
            ):
                continue
            widths = _widths(accesses(compiled[0]).get((os.path.realpath(file), line), {}), "global", access)
            examples = [one for one in kernel.examples_at(file, line) if (one.space, one.access) == ("global", access)]
            if not widths or all(_fills_sectors(one.addresses, min(widths) // 8, tolerance) for one in examples):
                found.add((file, line, access))
    return found


def _fills_sectors(addresses: list[int | None], size: int, tolerance: float) -> bool:
    """Whether lanes that access the aligned `size` bytes around these addresses take about as many sectors as their bytes fill."""
    pieces = {address // size for address in addresses if address is not None}
    sectors = {piece * size // SECTOR for piece in pieces}
    return len(sectors) <= tolerance * max(1, len(pieces) * size / SECTOR)


def _sentence(
    kernel: Kernel,
    tables: list[dict[tuple[str, int], dict[tuple[str, str, int], int]]],
    file: str,
    line: int,
    space: str,
    access: str,
    requests: int,
) -> str:
    """What to say of one kind of access of a line; "" where the compiled one is as wide as the source's."""
    examples = kernel.examples_at(file, line)
    seen = {8 * one.size for one in examples if (one.space, one.access) == (space, access)}
    compiled = {_widths(table.get((os.path.realpath(file), line), {}), space, access) for table in tables}
    if len(compiled) != 1 or not seen:
        return ""
    (widths,) = compiled
    if not widths:
        if _is_inline_ptx(file, line):  # nvcc gives it the line of the call
            return ""
        elsewhere = "in registers, or in the load of another line" if access == "load" else "in that of another line"
        are = f"{requests:,} {space} {access} request{'' if requests == 1 else 's'}"
        return f"{are} above, no {access} instruction in the machine code: {elsewhere}"
    if min(widths) > max(seen):
        return f"{space} {access}s of {max(seen)} bits above, merged to {min(widths)} bits in the machine code"
    return ""


def _is_inline_ptx(file: str, line: int) -> bool:
    """Whether the statement of this line, which is that of an instruction, is `asm`."""
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            lines = source.read().split("\n")
    except OSError:
        return False
    for above, text in enumerate(reversed(lines[:line])):
        if re.search(r"\basm\b|__asm__", text):
            return True
        if above and re.search(r"[;{}]\s*$", text):
            break
    return False


def _widths(counted: dict[tuple[str, str, int], int], space: str, access: str) -> tuple[int, ...]:
    return tuple(sorted({bits for (where, how, bits) in counted if where in SPACES[space] and how in (access, "copy")}))
