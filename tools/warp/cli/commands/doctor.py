"""./learn doctor: the whole state of the machine, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from warp.base import install, needs, paths, ui
from warp.base.machine import Machine, version_tuple
from warp.base.needs import Need
from warp.cli.options import Arguments
from warp.machinecode.tools import find

TOOLKIT = "the CUDA Toolkit, 12.4 or newer: https://developer.nvidia.com/cuda-downloads"
GIBIBYTE = 1 << 30


@dataclass(eq=False)
class Row:
    name: str
    found: str
    state: str = "ok"  # ok; missing: something asked for does not work; optional: one thing less
    cost: str = ""
    get: str = ""


def examine(machine: Machine) -> list[Row]:
    """Every row, in the order of printing."""
    rows = [
        Row("system", machine.system()),
        cpu_row(machine),
    ]
    free = machine.free_disk()
    short = free < 2 * GIBIBYTE
    rows.append(
        Row(
            "free disk",
            f"{free / GIBIBYTE:.1f} GiB in {paths.shown(paths.BUILD)}",
            "optional" if short else "ok",
            "less than the 2 GiB that all builds together may take" if short else "",
            "set WARP_BUILD_DIR to a folder on a larger disk" if short else "",
        )
    )
    rows.append(Row("Python", "{}.{}.{} ({})".format(*python_version())))
    for work in ("simulator", "test", "docs"):
        for need in needs.WORK[work]:
            if all(row.name != need.name for row in rows):
                rows.append(need_row(machine, need, "missing" if work == "simulator" else "optional"))
    rows.append(site_row())
    rows += gpu_rows(machine)
    for need in needs.WORK["contributor"]:
        rows.append(need_row(machine, need, "optional"))
    return rows


def cpu_row(machine: Machine) -> Row:
    """How many cores, and what the simulator asks of them."""
    import platform

    cores = "{} core{}".format(machine.cores(), "" if machine.cores() == 1 else "s")
    refusal = needs.unsupported(platform.system(), platform.machine())
    return Row("CPU", cores + ", " + platform.machine(), "missing", refusal) if refusal else Row("CPU", cores)


def python_version() -> tuple[int, int, int, str]:
    import sys

    return (*sys.version_info[:3], sys.executable)


def need_row(machine: Machine, need: Need, state: str) -> Row:
    found = need.found(machine)
    if found:
        return Row(need.name, found)
    manager = needs.manager() or "apt-get"
    seen = need.seen(machine)
    if seen and manager == "apt-get":
        get = "./learn setup"  # which knows where a newer one is
    else:
        get = needs.install_command([need.package_of(manager, machine)], manager).rpartition("&& ")[2]
    return Row(need.name, seen + " (too old)" if seen else "", state, need.cost, get)


def site_row() -> Row:
    try:
        ready = install.venv_is_ready()
    except Exception:  # no docs/requirements.txt: the row below says what to do
        ready = False
    name = "Python packages of the site"
    if ready:
        return Row(name, "in " + paths.shown(paths.VENV))
    return Row(name, "", "optional", "./learn docs and ./learn test install them first", "./learn setup --docs")


def gpu_rows(machine: Machine) -> list[Row]:
    rows = []
    gpus = machine.gpus()
    simulator_only = "chapters run on the simulator: counts, no times"
    if gpus:
        for name, capability, _, memory in gpus:
            rows.append(Row("GPU", f"{name}, compute capability {capability}, {memory}"))
        rows.append(Row("driver", gpus[0][2]))
    else:
        rows.append(Row("GPU", "", "optional", simulator_only, "a machine with an NVIDIA GPU and its driver"))
    version = machine.nvcc_version()
    new_enough = version_tuple(version) >= needs.OLDEST_NVCC
    rows.append(
        Row("nvcc", f"{version} ({machine.nvcc()})")
        if version and new_enough
        else Row(
            "nvcc",
            version + " (too old)" if version else "",
            "optional",
            simulator_only if gpus else "chapters cannot be compiled for a GPU",
            TOOLKIT + "; for ./learn sass alone: ./learn setup --sass",
        )
    )
    for tool, name, cost in (
        ("ncu", "Nsight Compute (ncu)", "no hardware counters: ./learn profile and record count nothing"),
        ("nsys", "Nsight Systems (nsys)", "no time line of kernels and copies: ./learn profile --tool nsys"),
        ("compute-sanitizer", "compute-sanitizer", "no memory checks on the GPU; the simulator has its own"),
    ):
        path = machine.cuda_tool(tool)
        rows.append(Row(name, path) if path else Row(name, "", "optional", cost, "part of " + TOOLKIT))
    return [*rows, *disassembler_rows(machine)]


def disassembler_rows(machine: Machine) -> list[Row]:
    """The two tools that read machine code: the toolkit's, or those of the course's own Python environment."""
    rows = []
    for tool, cost in (
        ("nvdisasm", "./learn sass shows no machine code"),
        ("cuobjdump", "results are recorded without digests of the machine code"),
    ):
        path = find(machine, tool)
        name = f"disassembler ({tool})"
        rows.append(Row(name, paths.shown(path)) if path else Row(name, "", "optional", cost, "./learn setup --sass"))
    return rows


def abilities(machine: Machine) -> dict[str, str | None]:
    """What can be done here, now: {ability: None, or why not}."""

    def lack(work: str) -> str | None:
        lacking = needs.missing(machine, work)
        return "missing: " + ", ".join(need.lack(machine) for need in lacking) if lacking else None

    gpu = lack("gpu")
    if not machine.nvcc():
        gpu = "no nvcc"
    elif version_tuple(machine.nvcc_version()) < needs.OLDEST_NVCC:
        gpu = "nvcc is older than 12.4"
    if not machine.gpus():
        gpu = "no GPU"
    return {
        "run chapters on the simulator": lack("simulator"),
        "run chapters on the GPU": gpu,
        "build the site": lack("docs") or lack("simulator"),
        "run the tests": lack("test"),
    }


def main(arguments: Arguments) -> int:
    machine = Machine()
    rows = examine(machine)
    can = abilities(machine)
    works = can["run chapters on the simulator"] is None
    if arguments.json:
        import json

        ui.say(json.dumps({"rows": [vars(row) for row in rows], "can": can}, indent=2))
        return 0 if works else 1
    paint = ui.palette()
    width = max(len(row.name) for row in rows)
    for row in rows:
        colour = {"ok": "", "missing": "red", "optional": "yellow"}[row.state]
        found = row.found or "missing"
        ui.say(f"  {row.name.ljust(width)}  {paint(colour, found)}")
        if row.cost:
            ui.say("  {}    {}".format(" " * width, row.cost))
        if row.get:
            ui.say("  {}    get it: {}".format(" " * width, row.get))
    ui.say()
    for ability, reason in can.items():
        ui.say(
            "  {} {}".format(paint("green", "yes") if reason is None else paint("yellow", "no "), ability)
            + ("" if reason is None else ": " + reason)
        )
    if any(need.package for work in ("simulator", "test", "docs") for need in needs.missing(machine, work)):
        ui.say()
        ui.say("./learn setup installs what Debian and Ubuntu have of it, and names the command for others.")
    return 0 if works else 1
