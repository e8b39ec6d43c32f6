"""Finds nvcc and the disassembler: of the toolkit, on the PATH, or of the course's Python environment.

`./learn setup --sass` brings there what is missing. What nvcc makes there is read and never run.
"""

from __future__ import annotations

import glob
import os
import re

from warp.base import paths, steps
from warp.base.errors import LearnError, UsageError
from warp.base.machine import Machine

NO_NVCC = "machine code needs nvcc, and none is here. To install, without the CUDA Toolkit: ./learn setup --sass"
NO_DISASSEMBLER = "machine code needs nvdisasm, and none is here. To install: ./learn setup --sass"
DEFAULT = "sm_90a"
OLDEST = 75


class Toolchain:
    """nvcc, its release, nvdisasm and the architectures; LearnError in one line where something is missing."""

    def __init__(self, machine: Machine) -> None:
        nvcc = compiler(machine)
        if not nvcc:
            raise LearnError(NO_NVCC)
        self.nvcc = nvcc
        disassembler = find(machine, "nvdisasm")
        if not disassembler:
            raise LearnError(NO_DISASSEMBLER)
        self.nvdisasm = disassembler
        version = re.search(r"V[\d.]+", steps.ask([self.nvcc, "--version"]) or "")
        self.release = version.group() if version else "unknown"
        self.gpus = machine.gpus

    def architectures(self) -> list[str]:
        """[sm_75, ...]: those that nvcc makes code for, from 7.5 up."""
        text = steps.ask([self.nvcc, "--list-gpu-code"]) or ""
        numbers = sorted({int(number) for number in re.findall(r"\bsm_(\d+)\b", text)})
        return [f"sm_{number}" for number in numbers if number >= OLDEST]

    def architecture(self, asked: str | None = None) -> str:
        """The one that was asked for, else that of this machine's GPU, else sm_90a."""
        if asked is None:
            capability = self.gpus()[0][1].replace(".", "") if self.gpus() else ""
            return f"sm_{capability}{'a' if capability in ('90', '100') else ''}" if capability else DEFAULT
        known = self.architectures()
        found = re.match(r"sm_(\d+)([af]?)\Z", asked)
        # Code for one family of GPUs alone exists from 9.0 on.
        if not found or f"sm_{found.group(1)}" not in known or (found.group(2) and int(found.group(1)) < 90):
            raise UsageError(f"--arch {asked}: legal is {', '.join(known)}, from sm_90 on also with an a, as in sm_90a")
        return asked


def compiler(machine: Machine) -> str | None:
    """Path of nvcc: the toolkit's, else that of the course's Python environment; None without."""
    return machine.nvcc() or _in_environment("nvcc")


def find(machine: Machine, name: str) -> str | None:
    """Path of nvdisasm or cuobjdump: the toolkit's, else that of the course's Python environment; None without."""
    return machine.cuda_tool(name) or _in_environment(name)


def _in_environment(name: str) -> str | None:
    pattern = os.path.join(paths.VENV, "lib", "python*", "site-packages", "nvidia", "*", "bin", name)
    return next((path for path in sorted(glob.glob(pattern)) if os.access(path, os.X_OK)), None)
