"""Memory instructions of the machine code, for each line of the source: what explain puts beside the simulator's counts."""

import collections
import os
import re

from learn.explain.trace import SECTOR
from sass import kinds

COPY = "global to shared"  # it loads from one and stores to the other
SPACES = {"global": ("global", "generic", COPY), "shared": ("shared", "generic", COPY)}


def accesses(compiled):
    """{(file, line): Counter of (memory, load or store, bits)} of a kernel; a line has those of functions inlined into it."""
    found = {}
    for one in compiled.instructions:
        access = kinds.memory(one)
        if access and not one.never:
            for file, line in dict.fromkeys(one.places):
                found.setdefault((os.path.realpath(file), line), collections.Counter())[access] += 1
    return found


def files(compiled):
    """The files that have instructions of a kernel."""
    return {os.path.realpath(file) for file in {file for one in compiled.instructions for file, _ in one.places}}


def merged(kernel, compiled):
    """[(file, line, sentence)] for the lines of a simulated kernel whose accesses nvcc has made wider or left out.

    `kernel` is learn.explain.trace.Kernel; `compiled` are the instantiations with its name. A line is named only where
    all of them agree.
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


def made_wide(kernel, compiled, tolerance):
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
            examples = [
                one for one in kernel.examples_at(file, line) if (one["space"], one["access"]) == ("global", access)
            ]
            if not widths or all(_fills_sectors(one["addresses"], min(widths) // 8, tolerance) for one in examples):
                found.add((file, line, access))
    return found


def _fills_sectors(addresses, size, tolerance):
    """Whether lanes that access the aligned `size` bytes around these addresses take about as many sectors as their bytes fill."""
    pieces = {address // size for address in addresses if address is not None}
    sectors = {piece * size // SECTOR for piece in pieces}
    return len(sectors) <= tolerance * max(1, len(pieces) * size / SECTOR)


def _sentence(kernel, tables, file, line, space, access, requests):
    """What to say of one kind of access of a line; "" where the compiled one is as wide as the source's."""
    examples = kernel.examples_at(file, line)
    seen = {8 * one["size"] for one in examples if (one["space"], one["access"]) == (space, access)}
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


def _is_inline_ptx(file, line):
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


def _widths(counted, space, access):
    return tuple(sorted({bits for (where, how, bits) in counted if where in SPACES[space] and how in (access, "copy")}))
