"""./learn record: measures chapters on this machine's GPU and writes their results/GPU.json."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warp.base import build, install, paths, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.files import forget, write_atomically
from warp.base.machine import Machine
from warp.base.text import there
from warp.chapter import chapters
from warp.chapter.chapters import Chapter
from warp.chapter.results import as_text
from warp.cli.commands.run import check_gpu
from warp.cli.options import Arguments
from warp.machinecode import digest
from warp.record import counts
from warp.record.profiling import not_permitted
from warp.record.sizes import joined, read, same_code
from warp.record.timed import FAIL, OK, SKIP, Steps

SECONDS = 540
SECONDS_A_SIZE = 400
PARTS = ("run", "sanitize", "counts", "caches")
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
AUTHOR = [sys.executable, os.path.join(paths.ROOT, "tools", "warp"), "author"]
MICROKERNELS = "microkernels"


def main(arguments: Arguments) -> int:
    known = chapters.all_chapters()
    if not arguments.words:
        raise UsageError("name the chapters to measure: ./learn record 06")
    micro = MICROKERNELS in arguments.words
    wanted = []
    for word in arguments.words:
        if word != MICROKERNELS and (chapter := chapters.find(word, known)) not in wanted:
            wanted.append(chapter)
    for chapter in wanted:
        if chapter.problem:
            raise LearnError(chapter.problem)
    for size in arguments.size:
        chapters.check_size(size, wanted)
    seconds = whole_number(arguments.seconds, SECONDS)
    cccl = include_folder(arguments.cccl)
    machine = Machine()
    check_gpu(machine)
    install.ensure(machine, "gpu")
    device = machine.gpus()[0][0]
    out = os.path.abspath(arguments.out or os.path.join(paths.BUILD, "record", gpu_slug(device)))
    steps.make_folder(out)
    parts = set(arguments.only or (PARTS if not cccl else PARTS[:1]))
    recorder = Recorder(machine, device, out, seconds, parts, cccl)
    recorder.environment()
    recorder.build(wanted, micro)
    for chapter in wanted:
        recorder.chapter(chapter, arguments.size)
    if micro:
        recorder.microkernels()
    return recorder.end()


def whole_number(text: str | None, otherwise: int) -> int:
    if text is None:
        return otherwise
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise UsageError(f"--seconds {text}: legal is a whole number of seconds, as in --seconds 540")
    return int(text)


def include_folder(folder: str | None) -> str:
    """The folder after --cccl as an absolute path; nothing where there is none."""
    if folder is None:
        return ""
    header = os.path.join("cub", "version.cuh")
    if not os.path.exists(os.path.join(folder, header)):
        raise UsageError(
            f"--cccl {folder}: there is no {header} in it; legal is the folder that contains cub, as in the package "
            "nvidia-cuda-cccl"
        )
    return os.path.abspath(folder)


def gpu_slug(device: str) -> str:
    """What the results of a device are named: `NVIDIA H100 80GB HBM3` -> h100, `NVIDIA GeForce RTX 4090` -> rtx4090."""
    words = re.split(r"[\s-]+", device)
    left_out = r"NVIDIA|GeForce|Tesla|Quadro|GPU|Generation|\d+GB|HBM\w*|SXM\d*"
    kept = [word for word in words if word and not re.fullmatch(left_out, word, re.IGNORECASE)]
    return re.sub(r"[^a-z0-9]", "", "".join(kept).lower()) or "gpu"


class Recorder:
    """One recording: every step within one limit of time, every product in one folder first."""

    def __init__(self, machine: Machine, device: str, out: str, seconds: int, parts: set[str], cccl: str = "") -> None:
        self.machine = machine
        self.device = device
        self.gpu = gpu_slug(device)
        self.out = out
        self.parts = parts
        self.cccl = cccl  # of which CUB is the peer; the toolkit's where it is empty
        self.steps = Steps(seconds, os.path.join(out, "log"))
        self.env = dict(os.environ, WARP_COMMIT=os.environ.get("WARP_COMMIT") or build.commit(), NO_COLOR="1")
        self.nvcc = there(machine.nvcc())  # check_gpu() has asked for it
        beside_nvcc = os.path.dirname(os.path.realpath(self.nvcc))
        self.env["PATH"] = os.pathsep.join([self.env.get("PATH", ""), beside_nvcc])
        self.quick = dict(self.env, LAB_GUARD="0", LAB_TIMING="off")  # bare allocations, each rung launched once
        self.written: list[str] = []

    # --- The parts.

    def environment(self) -> None:
        """Notes the machine, for whoever reads the logs."""
        ui.say(f"{self.device} ({self.gpu}), commit {self.env['WARP_COMMIT']}, at most {self.steps.left():.0f} s")
        text = steps.ask(["nvidia-smi"]) or "nvidia-smi fails\n"
        text += steps.ask([self.nvcc, "--version"]) or ""
        write_atomically(Path(self.out, "environment.txt"), text)

    def build(self, wanted: list[Chapter], micro: bool) -> None:
        """The programs: what does not build ends the recording."""
        env = dict(build.environment("gpu", self.machine), PATH=self.env["PATH"])
        folder = paths.build_folder("gpu")
        configure = [
            self.machine.cmake(),
            "--preset",
            "gpu",
            "-B",
            folder,
            f"-DPython3_EXECUTABLE={sys.executable}",
            "-DBUILD_TESTING=OFF",
            f"-DWARP_CCCL={self.cccl}",
        ]
        if wanted:
            with build.lock("gpu"):
                words = [self.steps.run("configure", 120, configure, env, paths.ROOT)[0]]
                make = [self.machine.cmake(), "--build", folder, "--parallel", str(self.machine.cores())]
                make += ["--target", *(chapter.name for chapter in wanted)]
                if words == [OK]:
                    words.append(self.steps.run("build", 360, make, env, paths.ROOT)[0])
            if FAIL in words:
                raise LearnError(f"the chapters do not build; the log is in {paths.shown(self.steps.folder)}")
        if micro:
            architecture = "sm_" + self.machine.gpus()[0][1].replace(".", "")
            architecture += "a" if architecture in ("sm_90", "sm_100") else ""
            source = os.path.join(paths.ROOT, "tests", "simulator", "microkernels", "microkernels.cu")
            command = [
                self.nvcc,
                "-std=c++20",
                f"-arch={architecture}",
                "-lineinfo",
                "-o",
                self.micro(),
                source,
            ]
            self.steps.run("build microkernels", 240, command, self.env)

    def chapter(self, chapter: Chapter, sizes: list[str]) -> None:
        """All parts of one chapter; its results are written where they are clean."""
        folder = os.path.join(self.out, chapter.key)
        steps.make_folder(folder)
        times, *counted = self.products()
        for name in counted:  # of an earlier recording
            forget(os.path.join(folder, name))
        clean = True
        if "run" in self.parts:
            clean &= self.run(chapter, folder, sizes or chapter.sizes_measured)
        if "sanitize" in self.parts:
            clean &= self.sanitize(chapter)
        if "counts" in self.parts:
            self.count(chapter, folder)
        if "caches" in self.parts:
            self.caches(chapter, folder)
        self.publish(chapter, folder, clean, [times, *counted] if "run" in self.parts else counted)

    def run(self, chapter: Chapter, folder: str, sizes: list[str]) -> bool:
        """Times and checks at the measured sizes; maps and products also on their cases.

        Each size is a step of its own, whose rows are on disk before the next begins: what the time did not suffice
        for, or what crashed, can be measured by another recording of the same commit, with `--size`.
        """
        results, part = Path(folder, self.products()[0]), Path(folder, "size.json")
        program = chapter.program("gpu")
        kept, tables = read(results), []
        new, clean = False, True
        for size in sizes:
            forget(str(part))
            command = [program, "--json", str(part), "--size", size]
            # What does not depend on the size is measured at the first of them alone.
            env = self.env if size == sizes[0] else {**self.env, "LAB_FURTHER_SIZE": "1"}
            word, output = self.steps.run(f"run {chapter.key} {size}", SECONDS_A_SIZE, command, env)
            tables.append(output)
            found = read(part) if word == OK else None
            clean &= found is not None
            if found:
                good = kept is not None and (new or same_code(kept, found))
                kept = joined(kept, found, chapter.sizes_measured) if kept is not None and good else found
                new = True
                write_results(results, kept)
            Path(folder, "table.txt").write_text("\n".join(tables), encoding="utf-8")
        if not new or kept is None:
            return False
        clean &= self.stamp(chapter, results, program)
        if chapter.has_cases:
            cases = [program, "--cases", "all", "--json", os.path.join(folder, "cases.json")]
            clean &= self.steps.run(f"cases {chapter.key}", 90, cases, self.env)[0] == OK
        in_fp32 = "fp32_gflop_s" in kept["limits"]  # else it is tensor cores that the library is to use
        if chapter.kind == "gemm" and "cublas" in chapter.rungs and in_fp32:
            command = [*AUTHOR, "fp32", "--timeout", "50", program]
            command += ["--rung", "cublas"]
            command += [word for size in sizes for word in ("--size", size)]
            name = f"cuBLAS in FP32 {chapter.key}"
            clean &= self.steps.run(name, 60, command, self.quick, permitted=not_permitted)[0] != FAIL
        return clean

    def stamp(self, chapter: Chapter, results: Path, program: str) -> bool:
        """Adds the digests of the machine code to the results; False where a row did not pass."""
        data = there(read(results))
        wrong = [row["rung"] for row in data["rows"] if row["status"] not in ("PASS", "SKIP")]
        sass = self.tool("cuobjdump")
        if sass:
            word, text = self.steps.run(f"machine code {chapter.key}", 90, [sass, "-sass", program], self.env)
            own = counts.kernels_of(chapter.folder)
            found = {name: code for name, code in digest.digests(text).items() if digest.base_name(name) in own}
            if word == OK:
                version = steps.ask([self.nvcc, "--version"]) or ""
                release = re.search(r"V[\d.]+", version)
                data["machine_code"] = {
                    "nvcc": release.group() if release else "unknown",
                    "architecture": build.read_cache(paths.build_folder("gpu")).get("CMAKE_CUDA_ARCHITECTURES", ""),
                    "kernels": found,
                }
        else:
            self.steps.report(SKIP, f"machine code {chapter.key}", note="cuobjdump is not installed")
        write_results(results, data)
        return not wrong

    def sanitize(self, chapter: Chapter) -> bool:
        """The four tools of compute-sanitizer at the simulator's size and on small cases."""
        tool = self.tool("compute-sanitizer")
        if not tool:
            self.steps.report(SKIP, f"sanitizers {chapter.key}", note="compute-sanitizer is not installed")
            return True
        clean = True
        for kind in SANITIZERS:
            # Chapters show what a refused call returns; only what kernels do counts here.
            options = ["--report-api-errors", "no"] if kind == "memcheck" else []
            command = [tool, "--tool", kind, *options, "--error-exitcode", "9", chapter.program("gpu")]
            sized = [*command, "--size", chapter.size("simulator")]
            clean &= self.steps.run(f"{kind} {chapter.key}", 90, sized, self.quick)[0] == OK
            # The other tools are slower by a multiple; of products, two dozen cases have every extent in every place.
            if chapter.kind == "gemm" or (chapter.has_cases and kind == "memcheck"):
                cases = "all" if kind == "memcheck" else "0-23"
                clean &= (
                    self.steps.run(f"{kind} cases {chapter.key}", 120, [*command, "--cases", cases], self.quick)[0]
                    == OK
                )
        return clean

    def count(self, chapter: Chapter, folder: str) -> None:
        """What the simulator counts, counted by Nsight Compute at the simulator's size."""
        raw = os.path.join(folder, "counters.json")
        kernels = ",".join(sorted(counts.kernels_of(chapter.folder)))
        command = [*AUTHOR, "count", "--timeout", "150", "--out", raw]
        command += ["--kernels", kernels, chapter.program("gpu"), "--size", chapter.size("simulator")]
        word, _ = self.steps.run(f"count {chapter.key}", 180, command, self.quick, permitted=not_permitted)
        if word == OK:
            self.keep(
                f"record counts {chapter.key}",
                folder,
                f"{self.gpu}_counts.json",
                lambda: counts.counts_file(json.loads(Path(raw).read_text(encoding="utf-8")), chapter.folder),
            )

    def caches(self, chapter: Chapter, folder: str) -> None:
        """What the text quotes of caches and waits, at the sizes that it speaks of."""
        ncu = self.tool("ncu")
        wanted = counts.caches_wanted(Path(chapter.source), os.path.join(chapter.folder, "results"))
        if not wanted:
            return
        if not ncu:
            self.steps.report(SKIP, f"caches {chapter.key}", note="Nsight Compute is not installed")
            return
        own, parts = counts.kernels_of(chapter.folder), []
        for rung, size in wanted:
            command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(counts.METRICS)]
            command += [chapter.program("gpu"), "--rung", rung, "--size", size]
            name = f"caches {chapter.number} {rung} {size.split(',')[0]}"
            word, output = self.steps.run(name, 90, command, self.quick, permitted=not_permitted)
            if word == SKIP:
                return
            if word == OK:
                try:
                    parts.append(counts.caches_of(output, own))
                except counts.CountsError as error:
                    self.steps.report(FAIL, name, note=str(error))
        if len(parts) == len(wanted):
            facts = {
                "toolkit": f"CUDA {self.machine.nvcc_version()}",
                "ncu": version_line(steps.ask([ncu, "--version"])),
                "commit": self.env["WARP_COMMIT"],
            }
            self.keep(
                f"record caches {chapter.key}",
                folder,
                f"{self.gpu}_caches.json",
                lambda: counts.caches_file(facts, parts),
            )

    def keep(self, name: str, folder: str, file: str, text: Callable[..., Any]) -> None:
        """Writes what a part recorded, or reports why it cannot."""
        try:
            write_atomically(Path(folder, file), text())
        except counts.CountsError as error:
            self.steps.report(FAIL, name, note=str(error))

    def publish(self, chapter: Chapter, folder: str, clean: bool, names: list[str]) -> None:
        """Copies what was recorded into the chapter's results, if everything about the chapter was clean."""
        files = [name for name in names if os.path.exists(os.path.join(folder, name))]
        if not clean:
            self.steps.report(
                FAIL, f"write results of {chapter.key}", note=f"not all was clean; it is in {paths.shown(folder)}"
            )
            return
        for name in files:
            target = Path(chapter.folder, "results", name)
            try:
                write_atomically(target, Path(folder, name).read_text(encoding="utf-8"))
            except OSError as error:
                self.steps.report(FAIL, f"write {name}", note=f"{error.strerror}; it is in {paths.shown(folder)}")
                continue
            self.written.append(paths.shown(str(target)))

    def microkernels(self) -> None:
        """The kernels of tests/simulator/microkernels: right results, their counts, the sanitizers."""
        if not os.path.exists(self.micro()):
            return
        self.steps.run("run microkernels", 60, [self.micro()], self.env)
        out, source = (os.path.join(self.out, name) for name in ("microkernels.json", "microkernels_source.csv.gz"))
        command = [*AUTHOR, "count", "--out", out, "--source", source, "--timeout", "300", self.micro()]
        self.steps.run("count microkernels", 360, command, self.env, permitted=not_permitted)
        if self.tool("cuobjdump"):
            check = os.path.join(paths.ROOT, "tests", "simulator", "microkernels", "check_sass.py")
            self.steps.run("machine code of microkernels", 60, [sys.executable, check, self.micro()], self.env)
        tool = self.tool("compute-sanitizer") or ""
        for kind in SANITIZERS if tool else ():
            command = [tool, "--tool", kind, "--error-exitcode", "9", self.micro()]
            self.steps.run(f"{kind} microkernels", 60, command, self.quick)

    def products(self) -> tuple[str, str, str]:
        times = f"{self.gpu}_cccl.json" if self.cccl else f"{self.gpu}.json"
        return times, f"{self.gpu}_counts.json", f"{self.gpu}_caches.json"

    def micro(self) -> str:
        return os.path.join(self.out, "microkernels")

    # --- Helpers.

    def tool(self, name: str) -> str | None:
        return self.machine.cuda_tool(name)

    def end(self) -> int:
        """The closing lines, and the exit code."""
        write_atomically(Path(self.out, "summary.txt"), "\n".join(self.steps.lines) + "\n")
        ui.say()
        for file in self.written:
            ui.say(f"written: {file}")
        ui.say(f"logs and all that was recorded: {paths.shown(self.out)}")
        if self.steps.failed:
            raise LearnError(f"{self.steps.failed} of {len(self.steps.lines)} steps failed")
        return 0


def write_results(file: Path, data: dict[str, Any]) -> None:
    write_atomically(Path(file), as_text(data))


def version_line(text: str | None) -> str:
    """The line of a tool's `--version` that has the version."""
    return next(
        (line.strip() for line in (text or "").splitlines() if "ersion" in line and re.search(r"\d\.\d", line)),
        "unknown",
    )
