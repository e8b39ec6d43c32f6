"""A digest of each kernel's machine code: what was measured can be told from what is compiled today."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from warp.base.errors import LearnError
from warp.machinecode import code
from warp.machinecode.code import base_name

FUNCTION = re.compile(r"^\s*Function : (\S+)", re.MULTILINE)
INSTRUCTION = re.compile(r"^\s*(/\*[0-9a-f]{4,}\*/.*?)\s*$", re.MULTILINE)
ENCODING = re.compile(r"^\s*(/\* 0x[0-9a-f]{16} \*/)\s*$", re.MULTILINE)
ANONYMOUS = re.compile(r"(\d+)(_GLOBAL__N_)")


class CompilerError(LearnError):
    """nvcc or cuobjdump refused a source."""


def digests(sass: str) -> dict[str, str]:
    """{kernel as the compiler names it: digest of its instructions} of what `cuobjdump -sass` prints."""
    parts = FUNCTION.split(sass)
    found = {}
    for name, body in zip(parts[1::2], parts[2::2]):
        lines = [line for line in body.splitlines() if INSTRUCTION.match(line) or ENCODING.match(line)]
        text = "\n".join(" ".join(line.split()) for line in lines)
        found[without_paths(name)] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return found


def without_paths(mangled: str) -> str:
    """The name without those of anonymous namespaces, which nvcc makes of the file's path."""
    at = 0
    while found := ANONYMOUS.search(mangled, at):
        end = found.start(2) + int(found.group(1))
        mangled = f"{mangled[: found.start()]}12_GLOBAL__N_1{mangled[end:]}"
        at = found.start() + len("12_GLOBAL__N_1")
    return mangled


def changed(recorded: dict[str, str], compiled: dict[str, str], kernels: list[str]) -> list[str]:
    """Of the `kernels` (their plain names), those with a recorded instance that is gone or other code, in order.

    An instance that was not recorded has no result that could be wrong.
    """
    other = {base_name(name) for name, code_ in recorded.items() if compiled.get(name) != code_}
    return [kernel for kernel in kernels if kernel in other]


def unmade(recorded: dict[str, str], compile_once: Callable[[], dict[str, str]], times: int) -> dict[str, str]:
    """What is left of `recorded` after up to so many compilations, of which each takes away what it has made.

    nvcc may make one source into different machine code from one run to the next: it is compiled until all was seen.
    """
    left = recorded
    for _ in range(times):
        made = compile_once()
        left = {name: code_ for name, code_ in left.items() if made.get(name) != code_}
        if not left:
            break
    return left


def compiled(nvcc: str, cuobjdump: str, sources: Iterable[Path | str], architecture: str) -> dict[str, str]:
    """The digests of what these sources become today, with the options of the gpu preset; `architecture` is as 90a.

    Only machine code is made, no program: a matter of seconds. CompilerError where nvcc refuses.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            cubin = os.path.join(folder, "kernels.cubin")
            command = [nvcc, *code.options(f"sm_{architecture}", str(source)), "-cubin", "-o", cubin, str(source)]
            for step in (command, [cuobjdump, "-sass", cubin]):
                done = subprocess.run(step, capture_output=True, text=True)
                if done.returncode != 0:
                    raise CompilerError(f"{os.path.basename(step[0])} fails on {source}: {done.stderr.strip()[-500:]}")
            found.update(digests(done.stdout))
    return found
