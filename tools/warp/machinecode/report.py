"""What ./learn sass prints: each kernel's resources, its kinds of instructions, its loops, source and machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warp.base import paths
from warp.base.text import read_source, thousands
from warp.base.ui import Palette
from warp.machinecode import kinds, occupancy
from warp.machinecode.code import Compiled, Resources
from warp.machinecode.disassembly import Instruction
from warp.machinecode.flow import Loop

THREADS = (128, 256, 512, 1024)  # sizes of a block that occupancy is printed for
OPCODES = 12  # of a histogram's line


def amount(number: int, thing: str) -> str:
    return "{} {}{}".format(thousands(number), thing, "" if number == 1 else "s")


def resources_in_words(resources: Resources) -> str:
    spills = "no spills"
    if resources.spill_stores or resources.spill_loads:
        spills = f"{thousands(resources.spill_stores)} bytes of spill stores, {thousands(resources.spill_loads)} of spill loads"
    stack = f"{thousands(resources.stack)} bytes of stack" if resources.stack else "no stack"
    shared = f"{thousands(resources.shared)} bytes of shared memory" if resources.shared else "no static shared memory"
    return f"{amount(resources.registers, 'register')}, {spills}, {stack}, {shared}"


def occupancy_in_words(architecture: str, resources: Resources, sizes: Sequence[int] = THREADS) -> str:
    """`128 threads: 16 blocks, 64 of 64 warps (threads)`, for each size of a block."""
    if occupancy.limits(architecture) is None:
        return f"no figures for {architecture}"
    parts = []
    for threads in sizes:
        found = occupancy.occupancy(architecture, threads, resources.registers, resources.shared)
        if not found:
            continue
        parts.append(
            f"blocks of {threads}: {found.blocks}, {100 * found.share:.0f} % (by {found.by})"
            if found.blocks
            else f"blocks of {threads}: none fits (by {found.by})"
        )
    return "; ".join(parts)


def histogram_in_words(instructions: list[Instruction], most: int = OPCODES) -> str:
    counted = kinds.histogram(instructions).most_common()
    rest = sum(number for _, number in counted[most:])
    return ", ".join(f"{opcode} {number}" for opcode, number in counted[:most]) + (f", others {rest}" if rest else "")


def kinds_in_words(instructions: list[Instruction]) -> str:
    counted = kinds.kinds(instructions)
    whole = sum(counted.values())
    return ", ".join(f"{kind} {number} ({100 * number / whole:.0f} %)" for kind, number in counted.most_common())


def accesses_in_words(instructions: list[Instruction]) -> str:
    """`global loads 2 x 128 bits, 1 x 32; shared stores 4 x 32 bits`."""
    grouped: dict[Any, Any] = {}
    for (space, how, bits), number in sorted(kinds.accesses(instructions).items(), key=lambda item: -item[0][2]):
        grouped.setdefault((space, how), []).append(f"{number} x {bits} bits" if bits else str(number))
    words = {
        "load": "loads",
        "store": "stores",
        "atomic": "atomics",
        "copy": "asynchronous copies",
        kinds.BULK: "bulk copies",
    }
    return "; ".join(f"{space} {words[how]} {', '.join(parts)}" for (space, how), parts in sorted(grouped.items()))


def loop_lines(loop: Loop, file: str) -> str:
    """`lines 12-20` of a file that a loop's instructions belong to, "" without any."""
    lines = sorted({one.line for one in loop.instructions if one.file == file and one.line})
    if not lines:
        return ""
    return f"line {lines[0]}" if lines[0] == lines[-1] else f"lines {lines[0]}-{lines[-1]}"


def loop_in_words(loop: Loop, file: str) -> str:
    counted = kinds.histogram(loop.instructions)
    where = loop_lines(loop, file)
    fma = f"; FFMA {100 * kinds.share(loop.instructions, 'FFMA'):.1f} %" if counted["FFMA"] else ""
    return "0x{:04x} to 0x{:04x}, {}{}{}".format(
        loop.header, loop.last, amount(sum(counted.values()), "instruction"), f", {where}" if where else "", fma
    )


class Renderer:
    """Writes kernels as a list of lines; `paint` colours, `threads` is one size of a block or None for several."""

    def __init__(self, paint: Palette, architecture: str, release: str, threads: int | None = None) -> None:
        self.paint = paint
        self.architecture = architecture
        self.release = release
        self.sizes = (threads,) if threads else THREADS
        self.out: list[str] = []

    def line(self, text: str = "") -> None:
        self.out.append(text.rstrip())

    def kernel(self, compiled: Compiled) -> None:
        self.head(compiled)
        self.line()
        self.listing(compiled)
        self.line()

    def head(self, compiled: Compiled) -> None:
        instructions = compiled.instructions
        self.line(self.paint("bold", f"Kernel {compiled.name}") + f"  ({self.architecture}, nvcc {self.release})")
        spills = compiled.resources.spill_stores or compiled.resources.spill_loads
        self.line("  " + self.paint("red" if spills else "", resources_in_words(compiled.resources)))
        self.line("  occupancy: " + occupancy_in_words(self.architecture, compiled.resources, self.sizes))
        self.line(f"  {amount(len(instructions), 'instruction')}: {histogram_in_words(instructions)}")
        self.line("  kinds: " + kinds_in_words(instructions))
        self.line("  memory: " + (accesses_in_words(instructions) or "no access"))
        inner = compiled.inner
        for loop in compiled.loops:
            mark = "inner loop" if loop is inner else "loop"
            self.line(
                "  {}{}: {}".format(
                    "  " * (loop.depth - 1),
                    self.paint("cyan" if loop is inner else "", mark),
                    loop_in_words(loop, compiled.source),
                )
            )
        if inner:
            self.line("  in the inner loop: " + histogram_in_words(inner.instructions))
            self.line("  its memory: " + (accesses_in_words(inner.instructions) or "no access"))

    def listing(self, compiled: Compiled) -> None:
        """The source's lines and, under each, the instructions that come next and belong to it."""
        inner = compiled.inner
        marked = {id(one) for one in inner.instructions} if inner else set()
        headers = {loop.header for loop in compiled.loops}
        targets = {one.target for one in compiled.instructions if one.target is not None}
        sources: dict[str, list[str]] = {}
        place = None
        for one in compiled.instructions:
            if (one.file, one.line) != place and one.line:
                place = (one.file, one.line)
                self.line(self.paint("dim", self.source_line(sources, compiled, *place)))
            edge = self.paint("cyan", "|") if id(one) in marked else " "
            at = ">" if one.address in headers else ":" if one.address in targets else " "
            text = f"{one.predicate:>5} {one.name:<24} {one.operands}".rstrip()
            self.line(f"  {edge}{at} {one.address:04x} {self.colour(one, text)}")

    def colour(self, one: Instruction, text: str) -> str:
        found = kinds.memory(one)
        if found and found[0] == "local":
            return self.paint("red", text)
        return self.paint("yellow" if found else "green" if kinds.kind(one) in ("FP32", "tensor") else "", text)

    def source_line(self, sources: dict[str, list[str]], compiled: Compiled, file: str, line: int) -> str:
        if file not in sources:
            sources[file] = read_source(file) or []
        text = sources[file][line - 1].rstrip() if line <= len(sources[file]) else "(source not found)"
        name = "" if file == compiled.source else paths.shown(file) + ":"
        return f"{name}{line:>5} | {text}"


def render(kernels: list[Compiled], paint: Palette, architecture: str, release: str, threads: int | None = None) -> str:
    """The report on [Compiled] as text."""
    renderer = Renderer(paint, architecture, release, threads)
    for compiled in kernels:
        renderer.kernel(compiled)
    renderer.line(paint("dim", "|  in the inner loop   >  a loop begins   :  a branch goes here"))
    return "\n".join(renderer.out) + "\n"


# ---- two kernels side by side ----------------------------------------------------------------------


def figures(compiled: Compiled, architecture: str) -> list[tuple[str, float]]:
    """[(what, number)] of a kernel: what --diff compares."""
    resources, inner = compiled.resources, compiled.inner
    rows: list[tuple[str, float]] = [
        ("registers", resources.registers),
        ("spill stores, bytes", resources.spill_stores),
        ("spill loads, bytes", resources.spill_loads),
        ("stack, bytes", resources.stack),
        ("static shared memory, bytes", resources.shared),
        ("instructions", len(compiled.instructions)),
        ("loops", len(compiled.loops)),
    ]
    found = occupancy.occupancy(architecture, 256, resources.registers, resources.shared)
    if found:
        rows.append(("warps at 256 threads a block", found.warps))
    if inner:
        rows.append(("instructions of the inner loop", len(inner.instructions)))
        rows.append(("FFMA of the inner loop, %", round(100 * kinds.share(inner.instructions, "FFMA"), 1)))
    for (space, how, bits), number in sorted(kinds.accesses(compiled.instructions).items()):
        rows.append((f"{space} {how}, {bits} bits" if bits else f"{space} {how}", number))
    rows += [(f"  {opcode}", number) for opcode, number in sorted(kinds.histogram(compiled.instructions).items())]
    return rows


def render_diff(one: Compiled, other: Compiled, paint: Palette, architecture: str) -> str:
    """A table of what differs between two kernels."""
    left, right = dict(figures(one, architecture)), dict(figures(other, architecture))
    names = list(dict.fromkeys([*left, *right]))
    rows = [(name, left.get(name, 0), right.get(name, 0)) for name in names]
    rows = [row for row in rows if row[1] != row[2]]
    lines = [paint("bold", f"{one.name} -> {other.name}") + f"  ({architecture})"]
    if not rows:
        return lines[0] + "\n  the same resources and the same instructions\n"
    width = max(len(row[0]) for row in rows)
    for name, before, after in rows:
        lines.append(f"  {name:<{width}}  {before:>9,}  {after:>9,}  {after - before:>+9,}")
    return "\n".join(lines) + "\n"


# ---- for programs ----------------------------------------------------------------------------------


def as_data(compiled: Compiled, architecture: str) -> dict[str, Any]:
    """A kernel as --json has it."""
    inner = compiled.inner

    def access_rows(instructions: list[Instruction]) -> list[dict[str, Any]]:
        return [
            {"memory": space, "access": how, "bits": bits, "count": number}
            for (space, how, bits), number in sorted(kinds.accesses(instructions).items())
        ]

    occupancies = {
        str(threads): found._asdict()
        for threads in THREADS
        if (
            found := occupancy.occupancy(architecture, threads, compiled.resources.registers, compiled.resources.shared)
        )
    }
    return {
        "name": compiled.name,
        "symbol": compiled.symbol,
        "source": paths.shown(compiled.source),
        "resources": vars(compiled.resources),
        "occupancy": occupancies,
        "opcodes": dict(kinds.histogram(compiled.instructions).most_common()),
        "kinds": dict(kinds.kinds(compiled.instructions).most_common()),
        "accesses": access_rows(compiled.instructions),
        "loops": [
            {
                "header": loop.header,
                "last": loop.last,
                "depth": loop.depth,
                "inner": loop is inner,
                "opcodes": dict(kinds.histogram(loop.instructions).most_common()),
                "accesses": access_rows(loop.instructions),
            }
            for loop in compiled.loops
        ],
        "instructions": [
            {
                "address": one.address,
                "predicate": one.predicate,
                "opcode": one.opcode,
                "modifiers": one.modifiers,
                "operands": one.operands,
                "file": paths.shown(one.file) if one.file else "",
                "line": one.line,
                "target": one.target,
                "control": vars(one.control) if one.control else None,
            }
            for one in compiled.instructions
        ],
    }
