"""Runs a program on the simulator, with the machine code of its kernels where nvcc is, and brings what it counted."""

from __future__ import annotations

import json
import os
import re

from warp.base import paths, records, steps, ui
from warp.base.errors import LearnError
from warp.base.files import write_output
from warp.base.machine import Machine
from warp.chapter.written import Launches, Report, Row
from warp.machinecode.code import Compiled
from warp.trace import trace
from warp.trace.model import Finding, Trace


def machine_code(machine: Machine, source: str) -> tuple[list[Compiled], bool]:
    """([sass.code.Compiled] of a source's kernels, whether the simulator can carry them out); none where nvcc or nvdisasm is
    missing, or where nvcc refuses it."""
    from warp.machinecode import code, tools
    from warp.trace import execution

    try:
        toolchain = tools.Toolchain(machine)
        architecture = toolchain.architecture()
    except LearnError:  # they are not here, which is said elsewhere
        return [], False
    try:
        found = code.compile_source(toolchain, source, architecture)
        return found, bool(found) and architecture in execution.ARCHITECTURES
    except LearnError as error:
        first = next((line for line in error.detail.splitlines() if "error" in line), error.message)
        ui.note(f"learn: nvcc does not take it, so nothing is said of the machine code: {first.strip()}")
        return [], False


def hand_over(file: str, compiled: list[Compiled], program: str) -> None:
    """Gives the simulator the machine code to carry out beside the program."""
    from warp.trace import execution

    execution.write(file, compiled, program)


def take_over(recorded: Trace, compiled: list[Compiled], file: str, trace_file: str) -> None:
    """What it has counted of the machine code becomes part of the trace."""
    if execution_counts(recorded, compiled, file):
        write_output("the trace", trace_file, (json.dumps(records.write(recorded), indent=2) + "\n").encode("utf-8"))


def execution_counts(recorded: Trace, compiled: list[Compiled], file: str) -> bool:
    """Adds them to a trace; returns whether there are any."""
    from warp.trace import execution

    return execution.add_to(recorded, compiled, file + ".counts")


def last_trace(file: str) -> Trace | None:
    """The trace of the last run of the same file, None if there is none that can be read."""
    try:
        return trace.load(file)
    except LearnError:
        return None


def rows_of(file: str) -> list[Row]:
    """The rows of a chapter's report; none where there is no report."""
    try:
        with open(file, encoding="utf-8") as text:
            return records.read(Report, json.load(text)).rows
    except (OSError, ValueError, LearnError):
        return []


def name_variants(trace: Trace, rows: list[Row]) -> None:
    """Notes at each launch the variant of the rung that made it, as the rows say."""
    for row in rows:
        made = row.launches or Launches(0, 0)
        for launch in trace.launches:
            if made.first <= launch.index < made.end:
                launch.variant = row.variant


def output_folder(source: str) -> str:
    """build/explain/NAME-HASH: one folder for each explained file, wherever it lies."""
    import zlib

    path = os.path.realpath(source)
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.join(paths.BUILD, "explain", f"{stem}-{zlib.crc32(path.encode()):08x}")
    steps.make_folder(folder)
    return folder


def includes_lab(source: str) -> bool:
    """Whether a program takes something from lab, which is then built and linked."""
    with open(source, encoding="utf-8", errors="replace") as file:
        return re.search(r'^\s*#\s*include\s*[<"]lab/', file.read(), re.MULTILINE) is not None


def compile_source(source: str) -> str:
    """Compiles with simtcc, traced; returns the program. The compiler's messages reach the reader."""
    folder = output_folder(source)
    program = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
    simtcc = os.path.join(paths.build_folder("simulator"), "bin", "simtcc")
    command = [simtcc, "-std=c++20", "-I" + os.path.join(paths.ROOT, "common", "lab", "include")]
    command += ["-o", program, source]
    if includes_lab(source):
        command.append(os.path.join(paths.build_folder("simulator"), "common", "lab", "liblab.a"))
    try:
        _, output = steps.run("Compiling " + paths.shown(source), command, "explain")
    except steps.StepFailed as failed:
        if "undefined reference to `main'" in failed.output:
            raise LearnError(f"{source} has no main(): explain runs whole programs")
        raise LearnError(f"{source} does not compile", failed.output.rstrip())
    if output.strip():
        ui.note(output.rstrip())
    return program


# What the simulator says of a finding while the program runs. The report says it again, with the source.
TOLD_BELOW = re.compile(r"simt: ((warning: )?(?P<kind>[a-z]+(-[a-z]+)*): (?P<message>.*)|\d+ (finding|warning)s?\b)")


def left_out(told: list[str], findings: list[Finding]) -> list[str]:
    """The lines of the simulator that the report does not say again."""
    known = {(finding.kind, finding.message) for finding in findings}
    matches = ((line, TOLD_BELOW.match(line)) for line in told)
    return [
        line for line, found in matches if found and found["kind"] and (found["kind"], found["message"]) not in known
    ]
