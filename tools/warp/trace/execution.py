"""Machine code for the simulator to carry out, what it has counted of it, the counts as compiled, and what bounds take of both."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from warp.machinecode import image
from warp.machinecode.bounds import Shape, unit_of, volume
from warp.machinecode.code import Compiled as Kernel
from warp.machinecode.disassembly import Instruction
from warp.trace.model import Compiled, Counts, Launch, Line, Trace

ARCHITECTURES = ("sm_90", "sm_90a")  # whose machine code it can carry out
SAMPLE = "launches of which a sample of blocks is counted"
RETURNS_TO = re.compile(r"\b32@(lo|hi)\(\(.*?\+ 0x([0-9a-f]+)@srel\)\)")


def write(path: str, compiled: list[Kernel], program: str) -> None:
    """Writes the kernels to `path` for SIMT_COMPILED; `program` is the simulated program's file."""
    known = image.variables(program)
    with open(path, "w", encoding="utf-8") as file:
        for one in compiled:
            file.write(f"kernel {one.name}\nlocal {max(one.resources.stack, 0) + 1024}\n")
            for offset, size in image.parameters(one.image, one.symbol):
                file.write(f"parameter {offset} {size}\n")
            for row in image.pieces(one.image, one.symbol, known):
                file.write(row + "\n")
            for instruction in one.kernel.instructions:
                file.write(row_of(instruction) + "\n")


def row_of(instruction: Instruction) -> str:
    """`i 10 @P0 LDG.E R2 desc[UR4][R2.64]`: operands without blanks."""
    text = instruction.operands.replace(".reuse", "").replace("`", "")
    operands = [re.sub(r"\s+", "", part) for part in text.split(",")] if text else []
    return " ".join(["i", f"{instruction.address:x}", instruction.predicate or "-", instruction.name, *operands])


def read(path: str) -> tuple[dict[int, tuple[int, dict[int, Counts]]], dict[int, str]]:
    """({launch: (kernel's number in the file, {address: {count: value}})}, {launch: why it was not carried out}) of what the
    simulator has written."""
    failed: dict[int, str] = {}
    counted: dict[int, tuple[int, dict[int, Counts]]] = {}
    try:
        with open(path, encoding="utf-8") as file:
            rows = file.read().splitlines()
    except OSError:
        return counted, failed
    for row in rows:
        index, _, rest = row.partition(" ")
        if rest.startswith("not: "):
            failed[int(index)] = rest[5:]
            continue
        kernel, *words = rest.split()
        found: dict[Any, Counts] = {}
        for word in words:
            address, name, value = word.split(":")
            found.setdefault(int(address, 16), {})[name] = int(value)
        counted[int(index)] = (int(kernel), found)
    return counted, failed


def add_to(recorded: Trace, compiled: list[Kernel], path: str) -> bool:
    """Notes at each launch of a trace, as `compiled`, what its machine code has counted: `counts`, and `lines` as the trace has
    them; as `not_carried_out` why it has not. Returns whether there is any."""
    counted, failed = read(path)
    known = {launch.index: launch for launch in recorded.launches}
    for index, (number, found) in counted.items():
        launch = known.get(index)
        if launch is None or number >= len(compiled):
            continue
        if launch.traced_blocks != volume(launch.grid):
            launch.not_carried_out = SAMPLE
            continue
        whole = of_launch(compiled[number], found)
        lines = [Line(file, line, counts) for (file, line), counts in sorted(by_line(compiled[number], found).items())]
        launch.compiled = Compiled(_sum(found.values()), lines, whole)
    for index, why in failed.items():
        if index in known:
            known[index].not_carried_out = why
    return bool(counted or failed)


APART = ("issued", "lanes", "l1_wavefronts", "atomics_on_one_word")  # what is counted of instructions of any kind


def of_launch(compiled: Kernel, counts: dict[int, Counts]) -> Counts:
    """What instructions have been carried out, by the names of course.bounds; takes it out of `counts`, {address: counts}."""
    whole, units = dict.fromkeys(APART, 0), {one.address: unit_of(one) for one in compiled.instructions}
    for address, found in counts.items():
        for name in APART:
            value = found.pop(name, 0)
            whole[name] += value
            unit = units.get(address)
            if name == "issued" and unit:
                whole[unit] = whole.get(unit, 0) + value
    for address in [address for address, found in counts.items() if not found]:
        del counts[address]
    return {name: value for name, value in whole.items() if value}


def by_line(compiled: Kernel, counts: dict[int, Counts]) -> dict[tuple[str, int], Counts]:
    """{(file, line): counts} of a kernel's {address: counts}. An instruction of a library's function counts at the line that
    calls it, as in the simulator."""
    found: dict[Any, Counts] = {}
    for one in compiled.instructions:
        if one.address in counts and one.places:
            own = [place for place in one.places if _is_own(place[0])] or one.places
            place = (os.path.realpath(own[0][0]), own[0][1])
            found[place] = _sum([found.get(place, {}), counts[one.address]])
    return found


def _is_own(file: str) -> bool:
    return not file.startswith(("/usr/", "/opt/")) and "/cuda" not in file and "site-packages" not in file


def _sum(all_counts: Iterable[Counts]) -> Counts:
    total: Counts = {}
    for counts in all_counts:
        for name, value in counts.items():
            total[name] = total.get(name, 0) + value
    return total


# ---- what machinecode/bounds.py takes ----------------------------------------------------------------

SIMULATED_SMS = 8  # of the simulated device: kMultiprocessors in common/simt/base/device_limits.h
WAVEFRONTS = tuple(f"shared_{access}_wavefronts" for access in ("load", "store", "atomic"))


def counts_of(launch: Launch) -> dict[str, int]:
    """What bounds.of_launch() takes, of a launch that was counted in full."""
    counts = {}
    if launch.global_sectors_read_distinct is not None:
        counts["global_sectors_read_distinct"] = launch.global_sectors_read_distinct
        counts["global_sectors_written_distinct"] = launch.global_sectors_written_distinct or 0
    if launch.global_atomics_on_one_word:
        counts["global_atomics_on_one_word"] = launch.global_atomics_on_one_word
    executed = executed_of(launch)
    if executed and launch.compiled:
        counts.update(executed)
        # Those of asynchronous copies are left out: copies of 16 bytes do not queue for the banks.
        counts["shared_wavefronts"] = sum(launch.compiled.counts.get(name, 0) for name in WAVEFRONTS)
        counts["global_atomics_on_one_word"] = counts.pop("atomics_on_one_word", 0)
    return counts


def executed_of(launch: Launch) -> dict[str, int]:
    """The instructions of its machine code, {} where they are not known, or depend on when another thread writes what some wait for."""
    waits = any(line.polls for line in launch.lines)
    return launch.compiled.executed if launch.compiled and not waits else {}


def shape_of(launch: Launch) -> Shape:
    """The Shape of a launch. A grid of the program's that knows the number of SMs may have so many blocks for each."""
    follows = launch.is_sized_by_device and volume(launch.grid) % SIMULATED_SMS == 0
    return Shape(launch.grid, launch.block, follows)
