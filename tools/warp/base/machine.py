"""What this machine has. Every probe is made when first asked for, and once."""

from __future__ import annotations

import functools
import glob
import os
import re
import shlex
import shutil
from collections.abc import Callable
from typing import Any, TypeVar, cast

from warp.base import paths, steps

Probe = TypeVar("Probe", bound=Callable[..., Any])

OLDEST_GXX = (12,)
OLDEST_CMAKE = (3, 25)


def first_version(text: str | None) -> str:
    match = re.search(r"\d+(?:\.\d+)+|\b\d+\b", text or "")
    return match.group(0) if match else ""


def version_tuple(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text or "")[:3])


def probe(method: Probe) -> Probe:
    """A method that looks once and remembers, until forget()."""

    @functools.wraps(method)
    def remembered(self: Machine, *arguments: Any) -> Any:
        key = (method.__name__, *arguments)
        if key not in self.known:
            self.known[key] = method(self, *arguments)
        return self.known[key]

    return cast(Probe, remembered)


# What may stand ahead of the compiler in CXX.
LAUNCHERS = ("ccache", "sccache", "distcc", "icecc")


class Machine:
    """Probes of the machine that learn runs on."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, ...], Any] = {}

    def forget(self) -> None:
        """Looks again: something was installed."""
        self.known.clear()

    @probe
    def cores(self) -> int:
        """Cores that this process may use (fewer than the machine's in a container)."""
        try:
            return max(1, len(os.sched_getaffinity(0)))
        except (AttributeError, OSError):
            return os.cpu_count() or 1

    @probe
    def system(self) -> str:
        """Debian GNU/Linux 12 (bookworm)."""
        try:
            with open("/etc/os-release", encoding="utf-8") as file:
                match = re.search(r'^PRETTY_NAME="?([^"\n]*)', file.read(), re.MULTILINE)
        except OSError:
            match = None
        if match:
            return match.group(1)
        import platform

        return f"{platform.system()} {platform.release()}"

    @probe
    def compiler(self) -> tuple[str, list[str]]:
        """What CMake is to call: (launcher or "", words). CXX says so if it names a g++, as `ccache g++ -m64` does."""
        try:
            words = shlex.split(os.environ.get("CXX", ""))
        except ValueError:
            words = []
        launcher = ""
        if len(words) > 1 and os.path.basename(words[0]) in LAUNCHERS:
            launcher = words.pop(0)
        if words and steps.ask([*words, "-dumpfullversion"]):  # of g++ alone
            return launcher, words
        return "", [self._newest_gxx()]

    def _newest_gxx(self) -> str:
        """g++; where that is older than the course needs (Ubuntu 22.04), the newest g++-NN on the PATH."""
        if version_tuple(steps.ask(["g++", "-dumpfullversion"])) >= OLDEST_GXX:
            return "g++"
        folders = os.environ.get("PATH", "").split(os.pathsep)
        names = {os.path.basename(path) for folder in folders for path in glob.glob(os.path.join(folder, "g++-*"))}
        numbers = [int(name[4:]) for name in names if name[4:].isdigit() and int(name[4:]) >= OLDEST_GXX[0]]
        return f"g++-{max(numbers)}" if numbers else "g++"

    def ignored_compiler(self) -> str:
        """CXX where it names no g++; else ""."""
        named = os.environ.get("CXX", "")
        taken = self.compiler()[1][0]
        return named if named.strip() and not {taken, "g++"} & set(named.split()) else ""

    @probe
    def cmake(self) -> str:
        """The cmake to call: that of the PATH, or a newer one that `learn` brought into build/venv."""
        own = os.path.join(paths.VENV, "bin", "cmake")
        old = version_tuple(self.version("cmake")) < OLDEST_CMAKE
        return own if old and os.access(own, os.X_OK) else "cmake"

    def ctest(self) -> str:
        """The ctest beside it."""
        return os.path.join(os.path.dirname(self.cmake()), "ctest")

    @probe
    def gxx_version(self) -> str:
        return first_version(steps.ask([*self.compiler()[1], "-dumpfullversion"]))

    @probe
    def version(self, program: str, argument: str = "--version") -> str:
        """The version that a program on the PATH reports; "" if it is missing."""
        if not shutil.which(program):
            return ""
        return first_version(steps.ask([program, argument])) or "present"

    @probe
    def chromium(self) -> str:
        """Path of a Chromium that starts, or "". In Ubuntu its package may be a script that asks for a snap."""
        found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
        return next((path for path in found if first_version(steps.ask([path, "--version"]))), "")

    @probe
    def nvcc(self) -> str | None:
        """Path of nvcc, or None: the PATH first, then the usual places."""
        named = os.environ.get("CUDACXX")
        if named:
            return shutil.which(named)  # CMake takes no other, either
        found = shutil.which("nvcc")
        if found:
            return found
        for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
            path = os.path.join(home, "bin", "nvcc") if home else ""
            if path and os.access(path, os.X_OK):
                return path
        return None

    @probe
    def nvcc_version(self) -> str:
        path = self.nvcc()
        match = re.search(r"release (\d+\.\d+)", (steps.ask([path, "--version"]) if path else "") or "")
        return match.group(1) if match else ""

    def cuda_tool(self, name: str) -> str | None:
        """Path of ncu or compute-sanitizer: on the PATH or beside nvcc."""
        found, nvcc = shutil.which(name), self.nvcc()
        if found or not nvcc:
            return found
        beside = os.path.join(os.path.dirname(os.path.realpath(nvcc)), name)
        return beside if os.access(beside, os.X_OK) else None

    @probe
    def gpus(self) -> list[tuple[str, str, str, str]]:
        """[(name, compute capability, driver, memory)], as nvidia-smi tells; [] without a usable GPU."""
        if not shutil.which("nvidia-smi"):
            return []
        query = "--query-gpu=name,compute_cap,driver_version,memory.total"
        text = steps.ask(["nvidia-smi", query, "--format=csv,noheader"]) or ""
        rows = [tuple(part.strip() for part in line.split(",")) for line in text.splitlines()]
        return [row for row in rows if len(row) == 4 and re.match(r"\d+\.\d+$", row[1])]

    @probe
    def header(self, name: str) -> bool:
        """True when a C++ header is where g++ looks without being told."""
        folders = ["/usr/include", "/usr/local/include"] + glob.glob("/usr/include/*-linux-gnu")
        for variable in ("CPATH", "CPLUS_INCLUDE_PATH"):
            folders += os.environ.get(variable, "").split(os.pathsep)
        folders += [os.path.join(prefix, "include") for prefix in self._prefixes()]
        return any(folder and os.path.exists(os.path.join(folder, name)) for folder in folders)

    @probe
    def library(self, name: str) -> bool:
        """True when lib`name`.so or .a is where the linker looks."""
        folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"]
        folders += glob.glob("/usr/lib/*-linux-gnu")
        folders += os.environ.get("LIBRARY_PATH", "").split(os.pathsep)
        folders += [os.path.join(prefix, part) for prefix in self._prefixes() for part in ("lib", "lib64")]
        return any(
            folder and os.path.exists(os.path.join(folder, f"lib{name}.{suffix}"))
            for folder in folders
            for suffix in ("so", "a")
        )

    def _prefixes(self) -> list[str]:
        return [prefix for prefix in re.split("[:;]", os.environ.get("CMAKE_PREFIX_PATH", "")) if prefix]

    def python_module(self, name: str) -> bool:
        import importlib.util

        importlib.invalidate_caches()
        return importlib.util.find_spec(name) is not None

    def free_disk(self) -> int:
        """Bytes free where the build folder is."""
        folder = paths.BUILD
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        return shutil.disk_usage(folder).free

    def default_backend(self) -> str:
        """The GPU if there is one and nvcc to compile for it, else the simulator."""
        return "gpu" if self.gpus() and self.nvcc() else "simulator"
