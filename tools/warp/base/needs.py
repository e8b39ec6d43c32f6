"""What each kind of work needs, how to see whether it is there, and what each distribution calls it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

from warp.base.machine import OLDEST_CMAKE, OLDEST_GXX, Machine, version_tuple

OLDEST_NVCC = (12, 4)
OLDEST_SITE_PYTHON = (3, 11)  # of the packages in docs/requirements.txt


# Package managers, in the order of asking, and the commands that install with them.
MANAGERS = {
    "apt-get": ("apt-get update", "apt-get install -y"),
    "dnf": ("dnf install -y",),
    "pacman": ("pacman -Syu --needed",),  # Arch has no upgrade of a part of a system
    "zypper": ("zypper install -y",),
}


def manager() -> str:
    """The package manager of this machine; "" where none is known."""
    return next((name for name in MANAGERS if shutil.which(name)), "")


def install_command(packages: list[str], manager: str, sudo: str | None = None) -> str:
    """The command that a reader would type, with sudo unless they are root."""
    if sudo is None:
        sudo = "" if os.geteuid() == 0 else "sudo "
    return " && ".join(sudo + command for command in MANAGERS[manager]) + " " + " ".join(dict.fromkeys(packages))


class Need:
    """One thing that work needs, and what a machine without it cannot do."""

    def __init__(
        self,
        name: str,
        package: str,
        seen: Callable[..., Any],
        cost: str,
        oldest: tuple[int, ...] = (),
        newer: str = "",
        **elsewhere: str,
    ) -> None:
        self.name = name
        self.package = package  # its name in Debian and Ubuntu
        self.seen = seen  # seen(machine): the version that is there, however old; "" if none
        self.cost = cost
        self.oldest = oldest
        self.newer = newer  # in Debian and Ubuntu: the package to install where `package` is too old
        self.elsewhere = elsewhere  # {manager: package}, where it has another name

    def package_of(self, manager: str, machine: Machine) -> str:
        """What to install: not again what is there and too old."""
        if manager == "apt-get" and self.newer and self.seen(machine):
            return self.newer
        return self.elsewhere.get(manager, self.package)

    def found(self, machine: Machine) -> str:
        """Its version, or "" when it is missing or too old."""
        version = self.seen(machine)
        return "" if self.oldest and version_tuple(version) < self.oldest else version

    def lack(self, machine: Machine) -> str:
        """What is wrong, for a sentence: `CMake 3.25 or newer (3.22.1 is here)`."""
        version = self.seen(machine)
        return self.name + (f" ({version} is here)" if version else "")


def _generator(machine: Machine) -> str:
    return machine.version("ninja") or machine.version("make")


def _library(header: str, library: str) -> Callable[..., Any]:
    return lambda m: "present" if m.header(header) and m.library(library) else ""


def _venv(machine: Machine) -> str:
    return "present" if machine.python_module("venv") and machine.python_module("ensurepip") else ""


def _on_path(program: str) -> Callable[..., Any]:
    """Its path is enough: some of these take seconds to tell their version."""
    return lambda m: shutil.which(program) or ""


NOTHING_BUILDS = "no chapter can be built"
NO_SIMULATOR = "the simulator cannot be built"

GXX = Need(
    "g++ 12 or newer",
    "g++",
    lambda m: m.gxx_version(),
    NOTHING_BUILDS,
    OLDEST_GXX,
    newer="g++-12",
    dnf="gcc-c++",
    pacman="gcc",
    zypper="gcc-c++",
)
CMAKE = Need("CMake 3.25 or newer", "cmake", lambda m: m.version(m.cmake()), NOTHING_BUILDS, OLDEST_CMAKE)
GENERATOR = Need("Ninja or Make", "ninja-build", _generator, NOTHING_BUILDS, pacman="ninja", zypper="ninja")
LIBDW = Need(
    "libdw",
    "libdw-dev",
    _library("elfutils/libdw.h", "dw"),
    NO_SIMULATOR,
    dnf="elfutils-devel",
    pacman="libelf",
    zypper="libdw-devel",
)
GTEST = Need(
    "GoogleTest",
    "libgtest-dev",
    _library("gtest/gtest.h", "gtest"),
    "./learn test cannot run",
    dnf="gtest-devel",
    pacman="gtest",
    zypper="gtest",
)
DOXYGEN = Need("Doxygen", "doxygen", lambda m: m.version("doxygen"), "the site cannot be built")
VENV = Need(
    "Python's venv",
    "python3-venv",
    _venv,
    "the site cannot be built",
    dnf="python3",
    pacman="python",
    zypper="python3",
)

HOST = [GXX, CMAKE, GENERATOR]
SIMULATOR = HOST + [LIBDW]
WORK = {
    "gpu": HOST,
    "simulator": SIMULATOR,
    "test": SIMULATOR + [GTEST],
    "docs": [DOXYGEN, VENV],
    "contributor": [
        Need("gdb", "gdb", _on_path("gdb"), "no debugger for simulated kernels"),
        Need("Chromium", "chromium", lambda m: m.chromium(), "the site's tests in a browser are skipped"),
        Need(
            "clang-format",
            "clang-format",
            _on_path("clang-format"),
            "C++ cannot be formatted",
            dnf="clang-tools-extra",
            pacman="clang",
            zypper="clang-tools",
        ),
        Need("zsh", "zsh", _on_path("zsh"), "the test of zsh completion is skipped"),
    ],
}


def unsupported(system: str, processor: str) -> str:
    """Why the simulator cannot run on such a machine, in one line; "" if it can."""
    if system == "Linux" and processor in ("x86_64", "AMD64"):
        return ""
    if system == "Linux":
        here = f"this machine has a processor {processor}. With an NVIDIA GPU, nvcc and g++: --backend gpu"
    elif system == "Darwin":
        here = f"this machine is macOS on {processor}. Use a machine with Linux on x86-64"
    else:
        here = f"this machine is {system} on {processor}. In Windows, run ./learn in WSL 2"
    return "the simulator runs on Linux on x86-64 alone; " + here


def missing(machine: Machine, *works: str) -> list[Need]:
    """The needs of these kinds of work that are not there, each once."""
    lacking = []
    for work in works:
        for need in WORK[work]:
            if need not in lacking and not need.found(machine):
                lacking.append(need)
    return lacking
