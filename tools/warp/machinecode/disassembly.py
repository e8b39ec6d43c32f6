"""Reads what nvdisasm (-c, -g or -gi, -hex) and cuobjdump (-sass) print: kernels and their instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warp.base.text import there

LABEL = re.compile(r"^\s*(\.L_\w+|\$\w[\w$.]*):")
SECTION = re.compile(r"^\.text\.(\S+):")
FUNCTION = re.compile(r"^\s*Function : (\S+)")
PLACE = re.compile(r'"([^"]+)", line (\d+)')
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*(?:/\* 0x([0-9a-f]{16}) \*/)?\s*$")
ENCODING = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
PREDICATED = re.compile(r"(@!?U?P\w+)\s+(.*)$", re.DOTALL)
BRANCHES = {"BRA", "JMP", "BRX", "BRXU", "JMX"}
REMARK = re.compile(r'\s*\(\*".*?"\*\)')  # (*"SpillRefill"*): what newer disassemblers note behind an operand
TARGET = re.compile(r"`\((\.L_\w+|\$\w[\w$.]*)\)|\b0x([0-9a-f]+)\s*$")


@dataclass
class Control:
    """What the scheduler of the hardware reads from an instruction of compute capability 7.0 and later.

    The encoding is not documented by NVIDIA; the fields are those that independent measurements agree on.
    """

    stall: int  # cycles until the next instruction of the warp may issue
    yields: bool
    write_barrier: int | None  # 0 to 5: cleared when the result is written; None without one
    read_barrier: int | None  # 0 to 5: cleared when the operands are read; None without one
    waits: int  # bit i: waits until barrier i is clear
    reuse: int  # bit i: operand i stays in the reuse cache


@dataclass
class Instruction:
    address: int
    predicate: str  # @P0, @!UP1 or ""
    opcode: str  # LDG
    modifiers: list  # E, 128, CONSTANT
    operands: str  # R4, desc[UR6][R2.64]
    file: str = ""  # the kernel's own line, where a called function was inlined
    line: int = 0
    inlined: tuple = ()  # (file, line) of the inlined functions, the innermost first
    control: Control | None = None
    target: int | None = None  # address that a branch goes to

    @property
    def name(self) -> str:
        return ".".join([self.opcode, *self.modifiers])

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.predicate, self.name, self.operands) if part)

    @property
    def never(self) -> bool:
        """Under @!PT it is never carried out: ptxas puts such loads before the first LDGSTS of a kernel."""
        return self.predicate in ("@!PT", "@!UPT")

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """All (file, line) that the instruction belongs to, the innermost first."""
        return (*self.inlined, (self.file, self.line)) if self.line else self.inlined


@dataclass
class Kernel:
    """A function of the machine code: a kernel, or a device function that was not inlined."""

    symbol: str
    instructions: list = field(default_factory=list)

    @property
    def live(self) -> list[Instruction]:
        """The instructions that can be carried out: no padding behind the last branch."""
        last = len(self.instructions)
        while last and self.instructions[last - 1].opcode == "NOP":
            last -= 1
        if last and _is_trap(self.instructions[last - 1]):
            last -= 1
        return self.instructions[:last]


def _is_trap(instruction: Instruction) -> bool:
    """The branch to itself that ends each function."""
    return instruction.opcode == "BRA" and instruction.target == instruction.address


def control_of(word: int) -> Control:
    """The control codes of the upper 64 bits of an instruction."""
    bits = word >> 41

    def barrier(value: int) -> int | None:
        return None if value == 7 else value

    return Control(
        stall=bits & 15,
        yields=not bits >> 4 & 1,
        write_barrier=barrier(bits >> 5 & 7),
        read_barrier=barrier(bits >> 8 & 7),
        waits=bits >> 11 & 63,
        reuse=bits >> 17 & 15,
    )


def instruction_of(address: int, text: str) -> Instruction:
    """An Instruction of its address and what stands between it and the semicolon."""
    text = REMARK.sub("", text)
    predicate, found = "", PREDICATED.match(text)
    if found:
        predicate, text = found.groups()
    name, _, operands = text.partition(" ")
    opcode, *modifiers = name.split(".")
    return Instruction(address, predicate, opcode, modifiers, " ".join(operands.split()))


def parse(text: str) -> list[Kernel]:
    """[Kernel] in the order of the text."""
    kernels, kernel = [], None
    open_labels: list[str] = []
    labels: dict[str, int] = {}
    places: tuple[tuple[str, int], ...] = ()
    jumps: list[tuple[Instruction, re.Match[str]]] = []
    chained = False
    for row in text.split("\n"):
        if "//##" in row:
            # A row for each link of a chain of inlined calls, the innermost first; each names the next link, too.
            file, line = there(PLACE.search(row)).groups()
            places = (*(places if chained else ()), (file, int(line)))
            chained = "inlined at" in row
            continue
        chained = False
        found = INSTRUCTION.match(row)
        if found and kernel is not None:
            address = int(found.group(1), 16)
            made = instruction_of(address, found.group(2))
            if places:
                (made.file, made.line), made.inlined = places[-1], places[:-1]
            for label in open_labels:
                labels[label] = address
            open_labels = []
            if target := TARGET.search(made.operands):
                jumps.append((made, target))
            kernel.instructions.append(made)
            continue
        found = ENCODING.match(row)
        if found and kernel is not None and kernel.instructions:
            kernel.instructions[-1].control = control_of(int(found.group(1), 16))
            continue
        found = SECTION.match(row) or FUNCTION.match(row)
        if found:
            _connect(jumps, labels)
            kernel, places, labels, open_labels, jumps = Kernel(found.group(1)), (), {}, [], []
            kernels.append(kernel)
            continue
        found = LABEL.match(row)
        if found:
            open_labels.append(found.group(1))
    _connect(jumps, labels)
    return kernels


def _connect(jumps: list[tuple[Instruction, re.Match[str]]], labels: dict[str, int]) -> None:
    for instruction, target in jumps:
        label, address = target.groups()
        # A number is a target for branches alone: for others it is an immediate operand.
        if label:
            instruction.target = labels.get(label)
            if instruction.target is not None:
                instruction.operands = instruction.operands.replace(f"`({label})", f"0x{instruction.target:x}")
        elif instruction.opcode in BRANCHES or instruction.opcode in ("BSSY", "CALL"):
            instruction.target = int(address, 16)
