"""./learn setup: everything that is missing here, each step printed."""

from __future__ import annotations

from warp.base import install, needs, ui
from warp.base.machine import Machine
from warp.cli.options import Arguments
from warp.machinecode.tools import compiler, find


def main(arguments: Arguments) -> int:
    install.asks = False
    machine = Machine()
    if arguments.sass:
        return machine_code(machine)
    works = ["docs"] if arguments.docs else ["simulator", "test", "docs"]
    if arguments.all:
        works = ["simulator", "test", "docs", "contributor"]
    lacking = needs.missing(machine, *works)
    if lacking:
        ui.say("missing: " + ", ".join(need.lack(machine) for need in lacking))
        install.ensure(machine, *works)
    ready = install.venv_is_ready()
    if not ready:
        install.ensure_venv(machine)
    # Tests of what nvcc makes need it; readers have ./learn setup --sass.
    brought = arguments.all and compiler(machine) and disassembler(machine)
    if not lacking and ready and not brought:
        ui.say("Everything is here already; nothing to install.")
    else:
        ui.say("Everything is here now.")
    if not machine.gpus():
        ui.say("No GPU on this machine: chapters run on the simulator.")
    elif not machine.nvcc():
        ui.say("There is a GPU but no nvcc: ./learn doctor says how to get the CUDA Toolkit.")
    ui.say("Next: ./learn run")
    return 0


def machine_code(machine: Machine) -> int:
    if not compiler(machine):
        install.ensure_compiler()
    ui.say("nvcc: " + (compiler(machine) or "not found after the installation"))
    disassembler(machine)
    ui.say("nvdisasm: " + (find(machine, "nvdisasm") or "not found after the installation"))
    ui.say("Next: ./learn sass 01")
    return 0


def disassembler(machine: Machine) -> bool:
    """Whether it had to be installed."""
    lacks = not all(find(machine, name) for name in ("nvdisasm", "cuobjdump"))
    if lacks:
        install.ensure_disassembler()
    return lacks
