"""Configures and builds a preset; one learn at a time in a build folder."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence

from warp.base import paths, steps, ui
from warp.base.errors import LearnError
from warp.base.machine import Machine

NINJA_PROGRESS = re.compile(r"\[\s*(\d+)/(\d+)\]")
ASK_AGAIN = 3.0  # seconds: whether what is waited for is there
MAKE_PROGRESS = re.compile(r"\[\s*(\d+)%\]")


@contextlib.contextmanager
def lock(name: str, what: str = "", is_needless: Callable[[], bool] | None = None) -> Iterator[bool]:
    """Holds build/.NAME.lock; waits, and says for whom, while another learn holds it. `what` is built meanwhile, which those
    who wait are told. False where `is_needless` said, while it waited, that there is nothing to wait for."""
    import fcntl
    import shlex
    import sys
    import time

    steps.make_folder(paths.BUILD)
    path = os.path.join(paths.BUILD, "." + name + ".lock")
    try:
        file = open(path, "a+")  # noqa: SIM115  closed below
    except OSError as error:
        raise LearnError(f"cannot write {path}: {error.strerror}")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            process, _, command = file.readline().strip().partition(" ")
            holder = f"./learn {command}" if command else "another ./learn"
            holder += f" (process {process or '?'})"
            built = file.readline().strip()
            with ui.Progress(f"Waiting for {holder}" + (f", which builds {built}" if built else "")) as progress:
                asked = time.monotonic()
                while True:
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except OSError:
                        time.sleep(0.2)
                        progress.update()
                    if is_needless and time.monotonic() - asked > ASK_AGAIN:
                        if is_needless():
                            yield False
                            return
                        asked = time.monotonic()
        file.seek(0)
        file.truncate()
        command = " ".join(shlex.quote(word) for word in sys.argv[1:])
        file.write(f"{os.getpid()} {command}\n{what}\n")
        file.flush()
        yield True


def is_held(name: str) -> bool:
    """Whether another learn holds build/.NAME.lock."""
    import fcntl

    try:
        with open(os.path.join(paths.BUILD, "." + name + ".lock")) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def read_cache(folder: str) -> dict[str, str]:
    """CMake's cache as a dictionary; empty where the folder is not configured."""
    values = {}
    try:
        with open(os.path.join(folder, "CMakeCache.txt"), encoding="utf-8", errors="replace") as file:
            for line in file:
                match = re.match(r"([\w./-]+):\w+=(.*)$", line)
                if match:
                    values[match.group(1)] = match.group(2)
    except OSError:
        pass
    return values


def is_configured(folder: str) -> bool:
    """True when CMake finished there for this checkout: an aborted configure leaves only a cache."""
    cache = read_cache(folder)
    made = any(os.path.exists(os.path.join(folder, name)) for name in ("build.ninja", "Makefile"))
    return made and os.path.realpath(cache.get("CMAKE_HOME_DIRECTORY", "")) == os.path.realpath(paths.ROOT)


def environment(backend: str, machine: Machine) -> dict[str, str]:
    """The environment of CMake: the g++ to call, and where nvcc is, if it is not on the PATH."""
    import shlex
    import shutil

    env = dict(os.environ)
    launcher, words = machine.compiler()
    if env.get("CXX") or words != ["g++"]:
        env["CXX"] = " ".join(shlex.quote(word) for word in words)
        if launcher:
            env.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", launcher)
    nvcc = machine.nvcc()
    if backend == "gpu" and nvcc and not shutil.which("nvcc"):
        env.setdefault("CUDACXX", nvcc)
    return env


def configure(backend: str, machine: Machine, testing: bool) -> None:
    """Runs CMake if the folder needs it; afterwards ninja or make keeps it up to date."""
    import shutil
    import sys

    folder = paths.build_folder(backend)
    cache = read_cache(folder)
    compiler = cache.get("CMAKE_CXX_COMPILER", "")
    usable = is_configured(folder) and (not compiler or os.path.exists(compiler))
    has_tests = cache.get("BUILD_TESTING") == "ON"
    if usable and (has_tests or not testing):
        return
    command = [machine.cmake(), "--preset", backend]
    if folder != os.path.join(paths.ROOT, "build", backend):
        command += ["-B", folder]
    if not usable and cache:
        command.append("--fresh")
    if not usable and shutil.which("ninja") and not os.environ.get("CMAKE_GENERATOR"):
        command += ["-G", "Ninja"]
    command.append("-DBUILD_TESTING=" + ("ON" if testing else "OFF"))
    command.append("-DPython3_EXECUTABLE=" + sys.executable)
    if machine.ignored_compiler():
        ui.note(f"learn: CXX is '{machine.ignored_compiler()}', which is no g++; taking {machine.compiler()[1][0]}")
    steps.run(
        f"Configuring the {backend} build",
        command,
        "configure-" + backend,
        env=environment(backend, machine),
        cwd=paths.ROOT,
    )
    link_compile_commands(folder)


def link_compile_commands(folder: str) -> None:
    """compile_commands.json in the root, where editors look: the backend configured last."""
    link = os.path.join(paths.ROOT, "compile_commands.json")
    made = os.path.join(folder, "compile_commands.json")
    if not os.path.exists(made) or (os.path.lexists(link) and not os.path.islink(link)):
        return
    try:
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(os.path.relpath(made, paths.ROOT), link)
    except OSError:
        pass  # an editor's comfort; no reason to stop


def is_up_to_date(backend: str, targets: Sequence[str]) -> bool:
    """Whether ninja would have nothing to do for the targets. It only looks, so it may do so beside a build."""
    folder = paths.build_folder(backend)
    ninja = read_cache(folder).get("CMAKE_MAKE_PROGRAM", "")
    if os.path.basename(ninja) != "ninja" or not is_configured(folder):
        return False
    said = steps.ask([ninja, "-C", folder, "-n", *targets])
    return said is not None and "no work to do" in said


def build(
    backend: str, machine: Machine, what: str, targets: Sequence[str] = (), testing: bool = False, patience: float = 0.0
) -> None:
    """Configures if needed and builds the targets (all when none is named); `what` names them to the reader.

    Nothing is said of what is over within `patience` seconds. Another learn that builds there is waited for until the targets are
    up to date."""

    def is_needless() -> bool:
        return bool(targets) and not testing and is_up_to_date(backend, targets)

    if is_held(backend) and is_needless():
        return
    with lock(backend, what, is_needless) as is_mine:
        if not is_mine:
            return
        configure(backend, machine, testing)
        command = [machine.cmake(), "--build", paths.build_folder(backend), "--parallel", str(machine.cores())]
        if targets:
            command += ["--target", *targets]
        steps.run(
            "Building " + what,
            command,
            "build-" + backend,
            env=environment(backend, machine),
            cwd=paths.ROOT,
            note_of=build_note,
            patience=patience,
        )


def build_note(line: str) -> str | None:
    """`[12/80]` of ninja, `[ 15%]` of make."""
    match = NINJA_PROGRESS.match(line) or MAKE_PROGRESS.match(line)
    return match.group(0) if match else None


def commit() -> str:
    """The commit that results are stamped with: abc1234, abc1234-dirty, or unknown."""
    head = steps.ask(["git", "-C", paths.ROOT, "rev-parse", "--short", "HEAD"])
    if not head:
        return "unknown"
    changes = steps.ask(["git", "-C", paths.ROOT, "status", "--porcelain", "--untracked-files=no"])
    return head.strip() + ("-dirty" if changes is None or changes.strip() else "")
