"""Installs what is missing: Debian packages through apt-get, the site's Python packages in a venv. For other
distributions it names the command."""

from __future__ import annotations

import glob
import os
import platform
import shutil
import sys

from warp.base import needs, paths, steps, ui
from warp.base.build import lock
from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.base.needs import Need

APT = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::http::Timeout=30"]
REQUIREMENTS = os.path.join(paths.ROOT, "docs", "requirements.txt")
# What disassembles machine code where the CUDA Toolkit was installed without it.
DISASSEMBLERS = ("nvidia-cuda-nvdisasm==13.2.86", "nvidia-cuda-cuobjdump==13.2.86")
# What compiles for a GPU where there is no CUDA Toolkit. nvcc takes its parts from beside it, so they are of one release.
COMPILERS = (
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
)
# Where the distribution's CMake is too old.
CMAKE_PACKAGE = "cmake==3.31.10"


def ensure(machine: Machine, *works: str) -> None:
    """Brings what these kinds of work need, or raises one line that says what is missing."""
    if "simulator" in works or "test" in works:
        refusal = needs.unsupported(platform.system(), platform.machine())
        if refusal:
            raise LearnError(refusal)
    lacking = needs.missing(machine, *works)
    if not lacking:
        return
    install(machine, lacking)
    old = [need for need in lacked(machine, lacking) if need.newer]
    if old:  # a g++ came, and it is too old
        install(machine, old)
    if needs.CMAKE in lacked(machine, lacking):
        ensure_cmake()
    still = lacked(machine, lacking)
    needed = [need for need in still if need not in needs.WORK["contributor"]]
    if needed:
        raise LearnError(
            "missing after the installation: {}; the packages of {} are too old for the course".format(
                ", ".join(need.lack(machine) for need in needed), machine.system()
            )
        )
    for need in still:  # as Chromium in a container of Ubuntu, whose package asks for a snap
        ui.note(f"learn: {machine.system()} did not bring {need.lack(machine)}: {need.cost}")


def out_of_reach(machine: Machine, work: str) -> str:
    """What this kind of work lacks where nothing can be installed, as on a GPU machine of others, in words; "" where it lacks
    nothing or can be brought."""
    refusal = needs.unsupported(platform.system(), platform.machine()) if work == "simulator" else ""
    lacking = needs.missing(machine, work)
    if not lacking or (not refusal and may_install()):
        return refusal
    return refusal or ", ".join(need.lack(machine) for need in lacking)


def may_install() -> bool:
    """Whether apt-get is here, and so are the rights to use it."""
    if needs.manager() != "apt-get":
        return False
    if os.geteuid() == 0:
        return True
    if not shutil.which("sudo"):
        return False
    return steps.ask(["sudo", "-n", "true"]) is not None or bool(sys.stdin is not None and sys.stdin.isatty())


def lacked(machine: Machine, lacking: list[Need]) -> list[Need]:
    """Which of them are lacking still."""
    machine.forget()
    return [need for need in lacking if not need.found(machine)]


def install(machine: Machine, lacking: list[Need]) -> None:
    names = ", ".join(need.lack(machine) for need in lacking)
    manager = needs.manager()
    packages = [need.package_of(manager, machine) for need in lacking]
    if not manager:
        raise LearnError(
            "missing: {}; this machine has no apt-get: install them with its own package manager "
            "(in Debian they are called {})".format(names, " ".join(packages))
        )
    command = needs.install_command(packages, manager)
    if manager != "apt-get":
        raise LearnError(f"missing: {names}. To install: {command}")
    prefix = rights(names, command)
    with lock("apt"):
        updated = not glob.glob("/var/lib/apt/lists/*_Packages*")
        try:
            if updated:
                apt(prefix, ["update"], "Updating the package lists")
            try:
                apt(prefix, ["install", "--no-install-recommends", *packages], "Installing " + " ".join(packages))
            except steps.StepFailed:
                if updated:
                    raise
                apt(prefix, ["update"], "Updating the package lists, which may be old")
                apt(prefix, ["install", "--no-install-recommends", *packages], "Installing " + " ".join(packages))
        except steps.StepFailed as failure:
            error = LearnError(f"missing: {names}; apt-get could not install them (no network?). To install: {command}")
            error.detail = failure.detail
            raise error


asks = True  # not for `setup`, which is asked for nothing else


def agree(names: str, command: str) -> None:
    """Asks who sits at a terminal before their system is changed, once; elsewhere, as in a container's build, goes on."""
    global asks
    if not asks or sys.stdin is None or not (sys.stdin.isatty() and ui.is_terminal(sys.stderr)):
        return
    ui.note(f"learn: missing: {names}")
    sys.stderr.write(f"Run {command}? [Y/n] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("", "y", "yes"):
        raise LearnError(f"missing: {names}; nothing was installed. To install: {command}")
    asks = False


def rights(names: str, command: str) -> list[str]:
    """What to put before apt-get: nothing for root, sudo where it works or can ask."""
    if os.geteuid() == 0:
        agree(names, command)
        return []
    if shutil.which("sudo"):
        if steps.ask(["sudo", "-n", "true"]) is not None:
            agree(names, command)
            return ["sudo", "-n"]
        if sys.stdin is not None and sys.stdin.isatty():
            agree(names, command)
            ui.note("learn: that needs your password")
            if steps.start(["sudo", "-v"]) == 0:
                return ["sudo", "-n"]
    raise LearnError(f"missing: {names}; no right to install here. To install: {command}")


def apt(prefix: list[str], arguments: list[str], title: str) -> None:
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    command = prefix + (["env", "DEBIAN_FRONTEND=noninteractive"] if prefix else []) + APT + arguments
    steps.run(title, command, "apt-" + arguments[0], env=env, own_session=False)


def venv_python() -> str:
    return os.path.join(paths.VENV, "bin", "python3")


def python_stamp() -> str:
    """Which Python the virtual environment is made with."""
    return "{}.{}\n".format(*sys.version_info[:2])


def packages_stamp() -> str:
    """What the virtual environment must hold: changes with the requirements."""
    import hashlib

    try:
        with open(REQUIREMENTS, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise LearnError(f"cannot read {paths.shown(REQUIREMENTS)}: {error.strerror}")
    return digest + "\n"


def venv_says(name: str, stamp: str) -> bool:
    try:
        with open(os.path.join(paths.VENV, name), encoding="utf-8") as file:
            return file.read() == stamp and os.path.exists(venv_python())
    except OSError:
        return False


def write_stamp(name: str, stamp: str) -> None:
    with open(os.path.join(paths.VENV, name), "w", encoding="utf-8") as file:
        file.write(stamp)


def venv_is_ready() -> bool:
    return venv_says(".python", python_stamp()) and venv_says(".requirements", packages_stamp())


def ensure_venv(machine: Machine) -> str:
    """build/venv with the packages of docs/requirements.txt; returns its Python."""
    if venv_is_ready():
        return venv_python()
    if sys.version_info < needs.OLDEST_SITE_PYTHON:
        raise LearnError(
            "the site's packages need Python %s.%s or later and this is %s.%s; name one: WARP_PYTHON=/path/to/python3 ./learn docs"
            % (needs.OLDEST_SITE_PYTHON + sys.version_info[:2])
        )
    ensure(machine, "docs")
    with lock("venv"):
        if venv_is_ready():  # another learn made it while this one waited
            return venv_python()
        try:
            make_venv()
            pip("Installing the site's Python packages", "-r", REQUIREMENTS)
        except steps.StepFailed as failure:
            error = LearnError(
                "missing: the site's Python packages (docs/requirements.txt); pip could not install them "
                "(no network?). To install: ./learn setup --docs"
            )
            error.detail = failure.detail
            raise error
        write_stamp(".requirements", packages_stamp())
    return venv_python()


def make_venv() -> None:
    """build/venv, empty, unless it is there for this Python."""
    if not venv_says(".python", python_stamp()):
        machine = Machine()
        if not needs.VENV.found(machine):  # Debian and Ubuntu have it in a package of its own
            install(machine, [needs.VENV])
        shutil.rmtree(paths.VENV, ignore_errors=True)
        steps.run("Creating the site's Python environment", [sys.executable, "-m", "venv", paths.VENV], "venv")
        write_stamp(".python", python_stamp())


def pip(title: str, *packages: str) -> None:
    command = [venv_python(), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
    steps.run(title, [*command, *packages], "pip", note_of=pip_note)


def ensure_disassembler() -> None:
    """nvdisasm and cuobjdump into build/venv."""
    _ensure_packages("nvdisasm", "Installing the disassembler", DISASSEMBLERS)


def ensure_compiler() -> None:
    """nvcc into build/venv, for machine code alone: nothing that it makes is linked or run."""
    _ensure_packages("nvcc", "Installing nvcc (about 300 MB)", COMPILERS)


def _ensure_packages(what: str, title: str, packages: tuple[str, ...]) -> None:
    with lock("venv"):
        try:
            make_venv()
            pip(title, *packages)
        except steps.StepFailed as failure:
            command = "pip install " + " ".join(packages)
            error = LearnError(f"missing: {what}; pip could not install it (no network?). To install: {command}")
            error.detail = failure.detail
            raise error


def ensure_cmake() -> None:
    """A newer CMake into build/venv, where machine.cmake() finds it."""
    with lock("venv"):
        try:
            make_venv()
            pip("Installing a newer CMake", CMAKE_PACKAGE)
        except steps.StepFailed as failure:
            error = LearnError(
                "missing: CMake 3.25 or newer; this system's is older, and pip could not install one (no network, or "
                f"no python3-venv?). To install: pip install {CMAKE_PACKAGE}"
            )
            error.detail = failure.detail
            raise error


def pip_note(line: str) -> str | None:
    """The package that pip is at."""
    words = line.split()
    return " ".join(words[:2]) if words and words[0] in ("Collecting", "Downloading", "Installing") else None
