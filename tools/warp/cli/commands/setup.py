"""./learn setup: everything that is missing here, each step printed."""

from __future__ import annotations

from warp.base import install, needs, ui
from warp.base.machine import Machine
from warp.cli.options import Arguments


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
    if not lacking and ready:
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
    from warp.machinecode.tools import compiler, find

    if not compiler(machine):
        install.ensure_compiler()
    ui.say("nvcc: " + (compiler(machine) or "not found after the installation"))
    if not all(find(machine, name) for name in ("nvdisasm", "cuobjdump")):
        install.ensure_disassembler()
    ui.say("nvdisasm: " + (find(machine, "nvdisasm") or "not found after the installation"))
    ui.say("Next: ./learn sass 01")
    return 0
