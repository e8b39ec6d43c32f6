"""What the FFMAs of a loop read of the register file, and how long that takes.

The law is the one that chapter 10 measures (`register_banks`, on an H200): the even registers lie in one bank, the odd ones in
another, and each bank gives one register in a cycle. `.reuse` keeps a register for a later instruction that has it as the same
operand; there is a place for each operand and bank. An FFMA may read what its bank has while the one before it still waits for the other
bank, but not while the one before that does.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from warp.machinecode.disassembly import Instruction

REGISTER = re.compile(r"[-|]*R(\d+)\|?(\.reuse)?$")
BANKS = 2


@dataclass
class Reads:
    """What the FFMAs of a list of instructions read."""

    ffmas: int = 0
    flags: int = 0  # operands marked .reuse
    registers: int = 0  # that are read, those left out that were kept
    three: int = 0  # FFMAs that read three
    conflicts: int = 0  # what the banks of single FFMAs take, beyond a cycle for each FFMA


def operands(instruction: Instruction) -> list[tuple[int | None, bool]]:
    """(register, whether it is to be kept) of each source; None is a constant, or RZ."""
    return _sources(instruction.operands)


@functools.cache
def _sources(text: str) -> list[tuple[int | None, bool]]:
    sources = [REGISTER.match(source.strip()) for source in text.split(",")[1:]]
    return [(int(source.group(1)), bool(source.group(2))) if source else (None, False) for source in sources]


class Kept:
    """The reuse cache: a place for each operand and bank."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, int], int | None] = {}

    def fresh(self, instruction: Instruction) -> set[int]:
        """The registers that an instruction has to read; what it marks is kept from then on."""
        found = set()
        for place, (register, flag) in enumerate(operands(instruction)):
            if register is None:
                continue
            if self.places.get((place, register % BANKS)) != register:
                found.add(register)
            self.places[place, register % BANKS] = register if flag else None
        return found


def by_bank(some: Iterable[int]) -> list[int]:
    """How many of some registers lie in each bank."""
    return [sum(register % BANKS == bank for register in some) for bank in range(BANKS)]


def reads(instructions: list[Instruction]) -> Reads:
    """Counts over the FFMAs, from the first to the last."""
    found, kept = Reads(), Kept()
    for one in instructions:
        if one.opcode == "FFMA" and not one.never:
            fresh = kept.fresh(one)
            found.ffmas += 1
            found.flags += sum(flag for _, flag in operands(one))
            found.registers += len(fresh)
            found.three += len(fresh) == 3
            found.conflicts += max(1, *by_bank(fresh)) - 1
    return found


def cycles(loop: list[Instruction]) -> int:
    """What an iteration of a loop takes at least, once it runs: a cycle for each instruction, and what its FFMAs wait for banks.

    Other instructions read registers, too; that is left out."""
    kept, free = Kept(), [0] * BANKS
    issued, ends, laps = -1, [0, 0], []
    for _ in range(3):
        for one in loop:
            if one.never:
                continue
            issued += 1
            if one.opcode == "FFMA":
                issued = max(issued, ends[0])  # all registers of the one before the last are there
                end = max(issued + 1, ends[1])
                for bank, needed in enumerate(by_bank(kept.fresh(one))):
                    if needed:
                        free[bank] = max(free[bank], issued) + needed
                        end = max(end, free[bank])
                ends = [ends[1], end]
        laps.append(max(issued + 1, ends[1]))
    return laps[2] - laps[1]
