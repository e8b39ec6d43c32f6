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
    """Of the `kernels` (their plain names), those whose machine code is not what was recorded, in order."""

    def of(digests_: dict[str, str], kernel: str) -> list[tuple[str, str]]:
        return sorted((name, digest) for name, digest in digests_.items() if base_name(name) == kernel)

    return [kernel for kernel in kernels if of(recorded, kernel) != of(compiled, kernel)]


def nearest(recorded: dict[str, str], compile_once: Callable[[], dict[str, str]], times: int) -> dict[str, str]:
    """The digests of today's source, and of a kernel with several the recorded one, if it came in so many compilations.

    nvcc may make one source into different machine code from one run to the next.
    """
    made: dict[str, str] = {}
    for _ in range(times):
        seen = {name: code_ for name, code_ in made.items() if recorded.get(name) == code_}
        made = compile_once() | seen
        if recorded.items() <= made.items():
            break
    return made


def compiled(nvcc: str, cuobjdump: str, sources: Iterable[Path | str], architecture: str) -> dict[str, str]:
    """The digests of what these sources become today, with the options of the gpu preset; `architecture` is as 90a.

    Only machine code is made, no program: a matter of seconds. CompilerError where nvcc refuses.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            cubin = os.path.join(folder, "kernels.cubin")
            step([nvcc, *code.options(f"sm_{architecture}", str(source)), "-cubin", "-o", cubin, str(source)], source)
            found.update(of_file(cuobjdump, cubin))
    return found


def of_file(cuobjdump: str, file: Path | str) -> dict[str, str]:
    """The digests of a cubin, or of an object file of the gpu preset."""
    return digests(step([cuobjdump, "-sass", str(file)], file))


def step(command: list[str], file: Path | str) -> str:
    """What a command prints; CompilerError where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise CompilerError(f"{os.path.basename(command[0])} fails on {file}: {done.stderr.strip()[-500:]}")
    return done.stdout
