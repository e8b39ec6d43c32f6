"""Compiles for a GPU with several CUDA Toolkits: chapters, lab, grader and exercises, without a warning.

    ./learn author toolkits                            13.0 and the newest, from PyPI
    ./learn author toolkits 13.2 newest                releases of CUDA 13, from PyPI: each brings about 300 MB
    ./learn author toolkits /usr/local/cuda-12.4       one that is installed: nvcc is on PyPI from CUDA 13 on
    ./learn author toolkits /usr                       Debian's own: 12.4 in Debian 13 (nvidia-cuda-toolkit, non-free)
    ./learn author toolkits 13.0 --host clang++-16     with another compiler for the host, too

It is no test of `./learn test`, because of its downloads and of its time: some ten minutes for each on two cores. What it
brings and builds lies in build/toolkits. No GPU is needed, and nothing that is compiled runs.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from warp.base import paths  # noqa: E402
from warp.base.machine import Machine, first_version, version_tuple  # noqa: E402
from warp.exercise import compiling  # noqa: E402

FOLDER = pathlib.Path(paths.BUILD) / "toolkits"
# nvcc takes its parts from beside it, so they are of one release.
PACKAGES = (
    "nvidia-cuda-nvcc",
    "nvidia-nvvm",
    "nvidia-cuda-crt",
    "nvidia-cuda-runtime",
    "nvidia-cuda-cccl",
    "nvidia-cublas",
)
RELEASED_TOGETHER = PACKAGES[:4]  # and the others have numbers of their own
OLDEST_ON_PYPI = (13,)
ARCHITECTURE = "90a"
FEWEST_EXERCISES = 30


class Failed(Exception):
    """What went wrong, for a reader."""


def run(command, log, **options):
    """Runs a command and returns its output, which `log` keeps; Failed with its end where it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
        **options,
    )
    with open(log, "a", encoding="utf-8") as file:
        file.write(done.stdout)
    if done.returncode:
        raise Failed(f"{command[0]} failed ({log}):\n" + done.stdout[-3000:])
    return done.stdout


def bring(release, log):
    """The folder of a toolkit from PyPI: `13.2`, or `newest`."""
    if release != "newest" and version_tuple(release) < OLDEST_ON_PYPI:
        raise Failed("PyPI has nvcc from CUDA 13.0 on: name the folder of one that is installed, as /usr")
    folder = FOLDER / f"cuda-{release}"
    if not (folder / "nvidia").is_dir():
        wanted = "" if release == "newest" else f"=={release}.*"
        packages = [name + (wanted if name in RELEASED_TOGETHER else "") for name in PACKAGES]
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-compile",
        ]
        run([*command, "--target", folder, *packages], log)
    found = sorted(folder.glob("nvidia/*/bin/nvcc"))
    if not found:
        raise Failed(f"there is no nvcc in {folder}")
    return found[0].parent.parent


def toolkit(name, log):
    """Path of the nvcc of a toolkit: a folder, or a release."""
    folder = pathlib.Path(name) if os.sep in name else bring(name, log)
    nvcc = folder / "bin" / "nvcc"
    if not nvcc.exists():
        raise Failed(f"there is no bin/nvcc in {folder}")
    return nvcc


def warnings(output):
    return [line for line in output.splitlines() if re.search(r"\bwarning\b", line, re.IGNORECASE)]


def exercises():
    """(checker, the exercise's file, options of the compiler): each blank and each solution."""
    for checker in sorted(ROOT.glob("exercises/*/check/*.cu")):
        for options in ([], ["-DSOLUTION"]):
            yield checker, checker.parents[1] / checker.name, options


def compile_exercise(nvcc, host, checker, source, options):
    """What nvcc says of one, linking left out."""
    command = [word for word in compiling.checked("gpu", source) if word != "-arch=native"] + options
    command[0] = str(nvcc)
    output = ["-c", str(checker), "-o", os.devnull]
    done = subprocess.run(
        [*command, *output, "-arch=sm_" + ARCHITECTURE, *(["-ccbin", host] if host else [])],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    said = (done.stdout + done.stderr).strip()
    which = " ".join([str(source.relative_to(ROOT)), *options])
    return f"{which}: {said or done.returncode}" if said or done.returncode else ""


def compiled(name, host, generator):
    """Compiles everything with one toolkit and one compiler for the host; returns what to say of it."""
    began = time.monotonic()
    label = re.sub(r"[^\w.+-]+", "_", f"{name}_{host}" if host else name).strip("_")
    log = FOLDER / f"{label}.log"
    log.write_text("", encoding="utf-8")
    nvcc = toolkit(name, log)
    machine = Machine()
    build = FOLDER / f"build-{label}"
    command = [
        machine.cmake(),
        "--preset",
        "gpu",
        "-B",
        build,
        "--fresh",
        *generator,
        "-DCMAKE_CUDA_COMPILER=" + str(nvcc),
    ]
    command += ["-DCMAKE_CUDA_ARCHITECTURES=" + ARCHITECTURE, "-DPython3_EXECUTABLE=" + sys.executable]
    if host:
        command += ["-DCMAKE_CUDA_HOST_COMPILER=" + host, "-DCMAKE_CXX_COMPILER=" + host]
    output = run(command, log, cwd=ROOT)
    release = re.search(r"^-- CUDA (\S+), ", output, re.MULTILINE)[1]
    output += run([machine.cmake(), "--build", build, "--parallel", machine.cores()], log, cwd=ROOT)
    of_exercises = list(exercises())
    if len(of_exercises) < FEWEST_EXERCISES:
        raise Failed(f"{len(of_exercises)} exercises were found")
    with concurrent.futures.ThreadPoolExecutor(machine.cores()) as pool:
        said = list(pool.map(lambda pair: compile_exercise(nvcc, host, *pair), of_exercises))
    wrong = warnings(output) + [text for text in said if text]
    if wrong:
        raise Failed("\n".join(wrong[:30]))
    with_version = first_version(subprocess.run([host or "g++", "-dumpversion"], capture_output=True, text=True).stdout)
    minutes = (time.monotonic() - began) / 60
    return f"CUDA {release} with {host or 'g++'} ({with_version}): no warning; {len(of_exercises)} exercises; {minutes:.0f} min"


def main():
    parser = argparse.ArgumentParser(description="compiles for a GPU with several CUDA Toolkits")
    parser.add_argument(
        "toolkits", nargs="*", default=["13.0", "newest"], help="13.2, newest, or the folder of a toolkit"
    )
    parser.add_argument(
        "--host", action="append", default=[], help="the compiler for the host, as clang++-16; may be repeated"
    )
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    generator = ["-G", "Ninja"] if Machine().version("ninja") else []
    failed = 0
    for name in arguments.toolkits:
        for host in arguments.host or [""]:
            try:
                print(compiled(name, host, generator), flush=True)
            except Failed as failure:
                failed += 1
                print(f"FAILED: CUDA {name} with {host or 'g++'}: {failure}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
