"""Compiles a source to machine code and disassembles it. What has not changed is not compiled again.

Kept in build/sass: a file for each source and architecture, with the digests of all files that were compiled into it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

from warp.base import paths, steps
from warp.base.errors import LearnError
from warp.base.text import there
from warp.machinecode import disassembly, flow, image
from warp.machinecode.disassembly import Instruction
from warp.machinecode.flow import Loop
from warp.machinecode.tools import Toolchain

LAB = os.path.join(paths.ROOT, "common", "lab", "include")
ENTRY = re.compile(r"Compiling entry function '([^']+)'")
FUNCTION = re.compile(r"Function properties for (\S+)")
PROPERTIES = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")


@dataclass
class Resources:
    """What ptxas reports of a kernel; bytes, registers of a thread."""

    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0  # without what is asked for at the launch


@dataclass
class Compiled:
    """A kernel as the compiler made it."""

    symbol: str
    name: str  # as C++ has it, template arguments and all
    base: str  # its plain name
    kernel: disassembly.Kernel
    resources: Resources
    source: str  # the file that was compiled
    loops: list
    image: object = None  # sass.image.Image of the file that it lies in

    @property
    def instructions(self) -> list[Instruction]:
        return self.kernel.live

    @property
    def inner(self) -> Loop | None:
        return flow.inner_loop(self.loops)


def options(architecture: str, source: str) -> list[str]:
    """What nvcc is called with: the options of the gpu preset."""
    common = ["-std=c++20", "--extended-lambda", "-O3", "-DNDEBUG", "-lineinfo", f"-arch={architecture}"]
    return [*common, f"-I{LAB}", f"-I{os.path.dirname(os.path.abspath(source))}"]


def compile_source(toolchain: Toolchain, source: str, architecture: str) -> list[Compiled]:
    """[Compiled] of the kernels of a source, in the order of the disassembly; LearnError where nvcc refuses it."""
    source = os.path.realpath(source)
    text, report, cubin = _disassembled(toolchain, source, architecture)
    kernels = compiled(text, report, source)
    whole = image.Image(base64.b64decode(cubin))
    for one in kernels:
        one.image = whole
    return kernels


def compiled(text: str, report: str, source: str) -> list[Compiled]:
    """[Compiled] of a disassembly and of ptxas's report on the same kernels."""
    found = resources(report)
    kernels = [kernel for kernel in disassembly.parse(text) if kernel.symbol in found]
    names = demangled([kernel.symbol for kernel in kernels])
    return [
        Compiled(kernel.symbol, name, plain(name), kernel, found[kernel.symbol], source, flow.loops_of(kernel))
        for kernel, name in zip(kernels, names)
    ]


def resources(report: str) -> dict[str, Resources]:
    """{symbol: Resources} of the kernels, from what `-Xptxas -v` prints."""
    found: dict[str, Resources] = {}
    entries: set[str] = set()
    current: Resources | None = None
    for line in report.splitlines():
        if entry := ENTRY.search(line):
            entries.add(entry.group(1))
            current = found.setdefault(entry.group(1), Resources())
        elif function := FUNCTION.search(line):
            current = found.setdefault(function.group(1), Resources())
        elif current is not None and (properties := PROPERTIES.search(line)):
            current.stack, current.spill_stores, current.spill_loads = map(int, properties.groups())
        elif current is not None and (used := REGISTERS.search(line)):
            # A device function of its own may have been reported in between: `Used` is the kernel's.
            current.registers = int(used.group(1))
            shared = SHARED.search(line)
            current.shared = int(shared.group(1)) if shared else 0
    return {symbol: of for symbol, of in found.items() if symbol in entries}


def demangled(symbols: list[str]) -> list[str]:
    """The names as C++ has them, without their parameters; as they are where there is no c++filt."""
    try:
        done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True)
        names = done.stdout.splitlines() if done.returncode == 0 else []
    except OSError:
        names = []
    if len(names) != len(symbols):
        return [base_name(symbol) for symbol in symbols]
    return [without_parameters(name) for name in names]


def base_name(mangled: str) -> str:
    """`_Z10naive_flatiiif...` and `_ZN3lab4pickILi2EEEvi` -> `naive_flat` and `pick`."""
    at = 3 if mangled.startswith("_ZN") else 2
    name = ""
    while at < len(mangled) and mangled[at].isdigit():
        length = there(re.match(r"\d+", mangled[at:])).group()
        at += len(length) + int(length)
        name = mangled[at - int(length) : at]
    return name or mangled


def without_parameters(name: str) -> str:
    """`void lab::pick<int, (Kind)2>(float*)` -> `lab::pick<int, (Kind)2>`."""
    name = name.replace("(anonymous namespace)::", "")
    depth = 0
    for index, character in enumerate(name):
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            name = name[:index]
            break
    depth, start = 0, 0
    for index, character in enumerate(name):
        depth += (character == "<") - (character == ">")
        if character == " " and depth == 0:
            start = index + 1
    return name[start:]


def plain(name: str) -> str:
    """`lab::pick<int>` -> `pick`."""
    return name.split("<")[0].split("::")[-1]


# ---- what is kept ----------------------------------------------------------------------------------


def _disassembled(toolchain: Toolchain, source: str, architecture: str) -> tuple[str, str, str]:
    """(disassembly, ptxas's report, the cubin in base 64)."""
    command = [toolchain.nvcc, *options(architecture, source), "-cubin", "-Xptxas", "-v"]
    key = json.dumps([toolchain.release, toolchain.nvdisasm, command, source])
    folder = os.path.join(paths.BUILD, "sass")
    stem = os.path.splitext(os.path.basename(source))[0]
    kept = os.path.join(folder, f"{stem}-{architecture}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json")
    try:
        with open(kept, encoding="utf-8") as file:
            data = json.load(file)
        if all(_digest(name) == digest for name, digest in data["files"].items()):
            return data["sass"], data["report"], data["cubin"]
    except (OSError, ValueError, KeyError):
        pass
    steps.make_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        cubin, deps = os.path.join(work, "kernels.cubin"), os.path.join(work, "kernels.d")
        title = f"Compiling {paths.shown(source)} with nvcc, for its machine code ({architecture})"
        try:
            _, report = steps.run(title, [*command, "-MD", "-MF", deps, "-o", cubin, source], "sass", patience=2.0)
        except steps.StepFailed as failed:
            raise LearnError(f"{paths.shown(source)} does not compile for {architecture}", failed.output.rstrip())
        done = subprocess.run([toolchain.nvdisasm, "-gi", "-c", "-hex", cubin], capture_output=True, text=True)
        if done.returncode != 0:
            raise LearnError(f"nvdisasm fails on {paths.shown(source)}: {done.stderr.strip()[-300:]}")
        with open(deps, encoding="utf-8", errors="replace") as file:
            files = _own(file.read(), source)
        with open(cubin, "rb") as file:
            binary = base64.b64encode(file.read()).decode()
        data = {
            "files": {name: _digest(name) for name in files},
            "report": report,
            "sass": done.stdout,
            "cubin": binary,
        }
        fresh = os.path.join(work, "kept.json")
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump(data, file)
        os.replace(fresh, kept)
    return data["sass"], data["report"], data["cubin"]


def _own(rule: str, source: str) -> list[str]:
    """The files of a Makefile's rule that can change under one release of nvcc: not the system's, not the toolkit's."""
    words = re.findall(r"(?:\\ |[^\s\\])+", rule.split(":", 1)[1])
    names = {os.path.realpath(word.replace("\\ ", " ")) for word in words}
    system = ("/usr/", "/opt/")
    return sorted({source} | {name for name in names if not name.startswith(system) and "/cuda" not in name})


def _digest(name: str) -> str:
    with open(name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
