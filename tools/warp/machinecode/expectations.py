"""What a chapter states of its machine code, and whether the compiler still does it.

`sass.txt` in the chapter's folder has a line for each kernel, claims with semicolons between them:

    thread_tile_float4<8, 2>: LDG.128; LDS.128 in loop; no spills; FFMA >= 80 % in loop
    points_aligned: LDG.128; no LDG.32

A kernel without template arguments means all its instantiations. LDS.128 is: at least one, of that opcode and width.
"""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import tempfile
from typing import Any

from warp.base.errors import LearnError
from warp.base.text import there
from warp.machinecode import code, kinds
from warp.machinecode.code import Compiled
from warp.machinecode.tools import Toolchain

FILE = "sass.txt"
CLAIM = re.compile(
    r"(?P<spills>no spills)\Z"
    r"|(?P<no>no )?(?P<opcode>[A-Z][A-Z0-9]+)\.(?P<bits>8|16|32|64|128|256)(?P<in> in loop)?\Z"
    r"|(?P<share>[A-Z][A-Z0-9]+) >= (?P<least>\d+) %(?P<of> in loop)?\Z"
)
# PTX of this family runs on all later GPUs: it is made once, and ptxas makes machine code of it for each of them. What
# nvcc makes for one architecture alone may differ by a few registers.
PTX = "compute_75"
PART = re.compile(r"part_(\d+)::")  # the namespace of a source


@dataclasses.dataclass
class Expectation:
    """What a line of sass.txt states of a kernel."""

    line: int
    kernel: str
    claims: list = dataclasses.field(default_factory=list)

    def means(self, compiled: Compiled) -> bool:
        return self.kernel in (compiled.name, compiled.base)


def parse(text: str, name: str = FILE) -> list[Expectation]:
    """[Expectation]; LearnError with the line that cannot be read."""
    found = []
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            continue
        kernel, colon, rest = row.partition(": ")
        claims = [claim.strip() for claim in rest.split(";")]
        wrong = next((claim for claim in claims if not CLAIM.match(claim)), None)
        if not colon or wrong is not None:
            legal = "no spills, LDG.128, no LDG.32, LDS.128 in loop, FFMA >= 50 % in loop"
            raise LearnError(f"{name}:{number}: cannot read '{wrong if colon else row}'; a claim is as {legal}")
        found.append(Expectation(number, kernel.strip(), claims))
    return found


def failed(claim: str, compiled: Compiled) -> str:
    """Why a claim does not hold for a kernel, "" if it does."""
    found = there(CLAIM.match(claim))
    if found["spills"]:
        lost = compiled.resources.spill_stores + compiled.resources.spill_loads
        return f"spills {lost} bytes" if lost else ""
    inside = found["in"] or found["of"]
    if inside and not compiled.inner:
        return "has no loop"
    instructions = compiled.inner.instructions if inside and compiled.inner else compiled.instructions
    if found["share"]:
        share = 100 * kinds.share(instructions, found["share"])
        return "" if share >= int(found["least"]) else f"{found['share']} {share:.1f} %"
    of_opcode = [one for one in instructions if one.opcode == found["opcode"]]
    number = sum(count for (_, _, bits), count in kinds.accesses(of_opcode).items() if bits == int(found["bits"]))
    if bool(found["no"]) == bool(number):
        return f"{number} of them" if number else "none of them"
    return ""


def check(expectations: list[Expectation], compiled: list[Compiled]) -> list[str]:
    """A line for each claim that does not hold, and for each kernel that is not there."""
    problems = []
    for expected in expectations:
        meant = [one for one in compiled if expected.means(one)]
        if not meant:
            problems.append(f"{expected.kernel}: no such kernel")
        for one in meant:
            reasons = ((claim, failed(claim, one)) for claim in expected.claims)
            problems += [f"{one.name}: {claim}: {reason}" for claim, reason in reasons if reason]
    return problems


class Assembled:
    """The kernels that are named, of all sources together, compiled to PTX once and then for one architecture after the other.

    Most of the time goes into starting compilers and disassemblers and into reading headers: so there is one translation
    unit, in which each source has a namespace of its own, and one call of ptxas and of nvdisasm for an architecture.
    """

    def __init__(self, toolchain: Toolchain, stated: list[tuple[str, list[Expectation]]]) -> None:
        """`stated`: [(source, [Expectation])]."""
        self.toolchain = toolchain
        self.stated = [(str(source), expectations) for source, expectations in stated]
        self.folder = tempfile.TemporaryDirectory()
        self.ptx = os.path.join(self.folder.name, "kernels.ptx")
        unit = os.path.join(self.folder.name, "kernels.cu")
        with open(unit, "w", encoding="utf-8") as file:
            file.write(_unit([source for source, _ in self.stated]))
        folders = [f"-I{os.path.dirname(source)}" for source, _ in self.stated]
        self._run(toolchain.nvcc, *code.options(PTX, unit), *folders, "-ptx", "-o", self.ptx, unit)
        with open(self.ptx, encoding="utf-8") as file:
            symbols = re.findall(r"^\s*(?:\.\w+ )*\.entry (\w+)", file.read(), re.MULTILINE)
        self.of = {}  # (index of the source, name) of the symbols that are named
        for symbol, name in zip(symbols, code.demangled(symbols)):
            part = PART.match(name)
            if part is None:
                continue
            index, name = int(part[1]), name.replace(part[0], "")
            if any(expected.kernel in (name, code.plain(name)) for expected in self.stated[index][1]):
                self.of[symbol] = (index, name)

    def kernels(self, architecture: str) -> dict[str, list[Compiled]]:
        """{source: [code.Compiled]} for an architecture."""
        found: dict[str, list[Compiled]] = {source: [] for source, _ in self.stated}
        if not self.of:
            return found
        ptxas = os.path.join(os.path.dirname(os.path.realpath(self.toolchain.nvcc)), "ptxas")
        cubin = os.path.join(self.folder.name, f"{architecture}.cubin")
        entries = [word for symbol in self.of for word in ("-e", symbol)]
        report = self._run(ptxas, "-v", "-lineinfo", f"-arch={architecture}", *entries, "-o", cubin, self.ptx)
        for one in code.compiled(self._run(self.toolchain.nvdisasm, "-c", cubin), report, ""):
            if one.symbol in self.of:
                index, name = self.of[one.symbol]
                source = self.stated[index][0]
                found[source].append(dataclasses.replace(one, name=name, source=source))
        return found

    def close(self) -> None:
        self.folder.cleanup()

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise LearnError(f"{os.path.basename(command[0])} fails: {done.stdout.strip()[-500:]}")
        return done.stdout


def _unit(sources: Any) -> Any:
    """One translation unit of sources: what they include first, then each in its namespace."""
    includes, parts = [], []
    for index, source in enumerate(sources):
        with open(source, encoding="utf-8") as file:
            includes += re.findall(r'^#include [<"].+$', file.read(), re.MULTILINE)
        parts += [f"namespace part_{index} {{", f'#include "{source}"', "}"]
    return "\n".join([*dict.fromkeys(includes), *parts, ""])
