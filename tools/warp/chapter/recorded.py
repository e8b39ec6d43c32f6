"""What a chapter's text says of machine code, recorded: figures of kernels, and excerpts of what nvcc made of them.

A fence of the prose names what it is cut from; its body is written by `./learn author sass NN`, never by hand:

    ```{sass} copy_float4 from=LDG lines=3
    ```{sass} "04:thread_tile_2d" in=loop lines=6
    ```{sass} copy_scalar only=LDG,STG
    ```{sass} store_order<1> in=loop control=yes
    ```{ptx} copy_scalar from=ld.global lines=3

The kernel is named as C++ has it, template arguments and all, with the chapter's number before it where it is another's.
`from` is part of the first instruction; `only` lists opcodes; `in=loop` means the inner loop; `control=yes` says behind each
instruction what its control codes make the warp wait for. `sass(KERNEL, WHAT, WHERE)` of
the bound numbers reads the figures of the same file, recorded_sass.json in the chapter's folder.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warp.base.errors import LearnError
from warp.base.text import there
from warp.chapter.errors import ExpressionError
from warp.chapter.source import other_files
from warp.machinecode import code, flow, kinds, registers
from warp.machinecode.code import Compiled
from warp.machinecode.disassembly import Control, Instruction
from warp.machinecode.tools import Toolchain

FILE = "recorded_sass.json"
ARCHITECTURE = "sm_90a"
LINES = 12  # of an excerpt without lines=
FENCE = re.compile(
    r"^(?P<mark>// ```\{(?P<kind>sass|ptx)\} (?P<spec>.+?)\s*)\n(?P<body>(?://.*\n)*?)// ```$", re.MULTILINE
)
OPTIONS = ("from", "lines", "in", "only", "control")


class Excerpt:
    """What a fence asks for, and the lines that stand in it."""

    def __init__(self, kind: str, spec: str, body: Sequence[Any] = ()) -> None:
        self.kind, self.spec, self.body = kind, spec, list(body)
        words = shlex.split(spec)
        self.kernel = words[0]
        pairs = [word.partition("=") for word in words[1:]]
        wrong = next((key for key, sign, value in pairs if key not in OPTIONS or not value), None)
        if wrong is not None:
            raise LearnError(f"{{{kind}}} {spec}: '{wrong}' is none of {', '.join(f'{one}=' for one in OPTIONS)}")
        self.options = {key: value for key, _, value in pairs}
        if self.options.get("control", "yes") != "yes":
            raise LearnError(f"{{{kind}}} {spec}: it is control=yes, or left out")

    @property
    def key(self) -> str:
        return f"{self.kind} {self.spec}"

    def cut(self, rows: list[tuple[str, str]]) -> list[str]:
        """The lines of [(text to search, line)]; LearnError where there is none."""
        first = next((i for i, (text, _) in enumerate(rows) if self.options.get("from", "") in text), None)
        found = [line for _, line in rows[first:]][: int(self.options.get("lines", LINES))] if first is not None else []
        if not found:
            raise LearnError(f"{{{self.kind}}} {self.spec}: nothing of the kernel is that")
        return found


def excerpts(text: str) -> list[Excerpt]:
    """[Excerpt] of a chapter's source."""
    return [
        Excerpt(found["kind"], found["spec"], [row[3:].rstrip() for row in found["body"].splitlines()])
        for found in FENCE.finditer(text)
    ]


def rewritten(text: str, recorded: dict[str, list[str]]) -> str:
    """The source with every excerpt as it was recorded."""

    def fence(found: re.Match[str]) -> str:
        lines = recorded[f"{found['kind']} {found['spec']}"]
        return "\n".join([found["mark"], *(f"// {line}".rstrip() for line in lines), "// ```"])

    return FENCE.sub(fence, text)


def instruction_line(one: Instruction) -> str:
    return f"{one.address:04x}  {one.predicate:>4} {one.name:<18} {one.operands}".rstrip()


def control_words(control: Control) -> str:
    """What the control codes of an instruction say: scoreboards that it waits for and that it sets, then the cycles until the
    next one."""
    waits = [f"SB{i}" for i in range(6) if control.waits >> i & 1]
    said = [f"waits for {', '.join(waits)}"] if waits else []
    if control.write_barrier is not None:
        said.append(f"SB{control.write_barrier} until written")
    if control.read_barrier is not None:
        said.append(f"SB{control.read_barrier} until read")
    return "; ".join([*said, f"{control.stall} cycle{'' if control.stall == 1 else 's'}"])


def rows_of(compiled: Compiled, excerpt: Excerpt) -> list[tuple[str, str]]:
    """[(text, line)] of the machine code that an excerpt is cut from."""
    instructions = compiled.instructions
    if excerpt.options.get("in") == "loop":
        if not compiled.inner:
            raise LearnError(f"{{sass}} {excerpt.spec}: the kernel has no loop")
        instructions = compiled.inner.instructions
    only = excerpt.options.get("only", "").split(",") if "only" in excerpt.options else None

    def line(one: Instruction) -> str:
        shown = instruction_line(one)
        return f"{shown:<52}  {control_words(one.control)}" if "control" in excerpt.options and one.control else shown

    return [(one.text, line(one)) for one in instructions if not only or one.opcode in only]


def figures(instructions: list[Instruction]) -> dict[str, int]:
    """What `sass()` can ask of a list of instructions."""
    counted = kinds.histogram(instructions)
    widths: Counter[str] = Counter()
    for one in instructions:
        access = kinds.memory(one)
        if access and not one.never:
            widths[f"{one.opcode}.{access[2]}"] += 1
    reuse = sum(".reuse" in one.operands for one in instructions)
    return {"instructions": sum(counted.values()), "reuse": reuse, **dict(counted), **dict(widths)}


def bits(instruction: Instruction) -> int:
    """What an instruction moves between memories and registers, for each thread."""
    access = kinds.memory(instruction)
    return access[2] if access else 0


def of_a_way(opcode: str, way: list[Instruction]) -> dict[str, int] | None:
    """Figures of an iteration; of one with FFMAs also what these read of the register file, and what that takes."""
    if not way:
        return None
    if opcode != "FFMA":
        return figures(way)
    read = registers.reads(way)
    extra = {"register reads": read.registers, "bank conflicts": read.conflicts, "cycles": registers.cycles(way)}
    return {**figures(way), **extra}


def facts(compiled: Compiled, opcodes: Sequence[Any] = ()) -> dict[str, Any]:
    """All figures of a kernel: those of ptxas, of the whole, of its inner loop, of iterations with these opcodes."""
    used = compiled.resources
    ways = {one: flow.iteration(compiled.kernel, compiled.loops, one, bits) for one in opcodes}
    return {
        "registers": used.registers,
        "spills": used.spill_stores + used.spill_loads,
        "stack": used.stack,
        "shared": used.shared,
        "kernel": figures(compiled.instructions),
        "loop": figures(compiled.inner.instructions) if compiled.inner else None,
        **{one: of_a_way(one, way) for one, way in ways.items()},
    }


def opcodes_named(text: str, kernel: str) -> list[str]:
    """The opcodes by which the `sass()` of a source name loops of a kernel."""
    found = re.findall(rf'\bsass\("{re.escape(kernel)}",\s+"[^"]*",\s+"([A-Z]\w*)"', text.replace("\n//=", ""))
    return list(dict.fromkeys(found))


def sass_calls(text: str) -> list[str]:
    """The kernels that the `sass()` of a source speak of, in their order."""
    return list(dict.fromkeys(re.findall(r'\bsass\("([^"]+)"', text)))


def kernels_named(text: str) -> list[str]:
    """The kernels that a source speaks of, in `sass()` and in excerpts."""
    return list(dict.fromkeys([*sass_calls(text), *(one.kernel for one in excerpts(text))]))


class Compilations:
    """Kernels of any chapter, each source compiled when it is first asked for."""

    def __init__(self, toolchain: Toolchain, main: Path, architecture: str = ARCHITECTURE) -> None:
        self.toolchain, self.main, self.architecture = toolchain, Path(main), architecture
        self.compiled: dict[Path, list[Compiled]] = {}

    def source(self, name: str) -> Any:
        """The file that defines a kernel, `copy_float4` or `04:thread_tile_2d`."""
        number, _, kernel = name.rpartition(":") if re.match(r"\d\d:", name) else ("", "", name)
        folders = sorted(self.main.parents[1].glob(f"{number}_*")) if number else [self.main.parent]
        word = re.compile(rf"\b{re.escape(kernel.split('<')[0])}\(")
        for file in sorted(file for folder in folders for file in folder.glob("*.cu")):
            text = file.read_text(encoding="utf-8")
            if word.search(text) and "__global__" in text and not file.name.endswith("_cublas.cu"):
                return file, kernel
        raise LearnError(
            f"{self.main.name}: no source of chapter {number or self.main.parent.name} has a kernel {kernel}"
        )

    def kernel(self, name: str) -> Compiled:
        """The one code.Compiled of this name."""
        file, kernel = self.source(name)
        if file not in self.compiled:
            self.compiled[file] = code.compile_source(self.toolchain, str(file), self.architecture)
        found = [one for one in self.compiled[file] if kernel in (one.name, one.base)]
        if len(found) != 1:
            names = ", ".join(one.name for one in found) or "no such kernel"
            raise LearnError(f"{name}: write one of them, in quotation marks: {names}")
        return found[0]

    def ptx(self, name: str) -> list[tuple[str, str]]:
        """[(text, line)] of the PTX of a kernel's body, without what only serves debuggers."""
        file, _ = self.source(name)
        options = [word for word in code.options(self.architecture, str(file)) if word != "-lineinfo"]
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "kernels.ptx"
            command = [self.toolchain.nvcc, *options, "-ptx", "-o", str(made), str(file)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise LearnError(f"nvcc makes no PTX of {file.name}: {done.stderr.strip()[-300:]}")
            text = made.read_text(encoding="utf-8")
        body = there(
            re.search(rf"\.entry {re.escape(self.kernel(name).symbol)}\(.*?\n\{{\n(.*?)\n\}}", text, re.DOTALL)
        )
        lines = [line.strip().replace("\t", " ") for line in body.group(1).splitlines()]
        return [(line, line) for line in lines if line and not line.startswith((".loc", ".reg", "//"))]


def text_of(main: Path) -> str:
    """The text of all sources of a chapter, in the order of the page."""
    return "".join(file.read_text(encoding="utf-8") for file in (Path(main), *other_files(Path(main))))


def make(toolchain: Toolchain, main: Path, text: str) -> dict[str, Any]:
    """What recorded_sass.json has to be for this text of a chapter."""
    compilations = Compilations(toolchain, main)
    cut = {}
    for one in excerpts(text):
        rows = compilations.ptx(one.kernel) if one.kind == "ptx" else rows_of(compilations.kernel(one.kernel), one)
        cut[one.key] = one.cut(rows)
    return {
        "architecture": ARCHITECTURE,
        "nvcc": toolchain.release,
        "kernels": {name: facts(compilations.kernel(name), opcodes_named(text, name)) for name in kernels_named(text)},
        "excerpts": cut,
    }


def load(main: Path) -> dict[str, Any] | None:
    """recorded_sass.json of a chapter, None where it has none."""
    file = Path(main).parent / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def write(toolchain: Toolchain, main: Path) -> dict[str, Any]:
    """Records, and puts every excerpt into its source; what was recorded."""
    main = Path(main)
    data = make(toolchain, main, text_of(main))
    (main.parent / FILE).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for file in (main, *other_files(main)):
        text = file.read_text(encoding="utf-8")
        fresh = rewritten(text, data["excerpts"])
        if fresh != text:
            file.write_text(fresh, encoding="utf-8")
    return data


def figure(data: dict[str, Any] | None, name: str, what: str, where: str = "kernel") -> int:
    """What `sass(KERNEL, WHAT, WHERE)` is; ExpressionError where there is no such figure."""
    kernel = (data or {}).get("kernels", {}).get(name)
    if kernel is None:
        raise ExpressionError(f"no machine code of {name} was recorded: ./learn author sass NN")
    if what in ("registers", "spills", "stack", "shared"):
        return kernel[what]
    if kernel.get(where) is None or where in ("registers", "spills", "stack", "shared"):
        raise ExpressionError(
            f"sass({name}): the place is kernel, loop or an opcode, recorded and such that the kernel has one; not {where!r}"
        )
    if what not in kernel[where] and not re.fullmatch(r"[A-Z][A-Z0-9]+(\.\d+)?", what):
        raise ExpressionError(
            f"sass({name}): {what!r} is no opcode, as LDG or LDG.128, and none of registers, spills, ..."
        )
    return kernel[where].get(what, 0)
