"""./learn explain: runs a program on the simulator and prints its source with the counts."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from warp.base import build, install, pages, paths, progress, records, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.files import check_writable, forget, write_output
from warp.base.machine import Machine
from warp.base.names import advice
from warp.base.text import read_source
from warp.chapter import chapters
from warp.chapter.chapters import Chapter
from warp.chapter.functions import mask
from warp.cli.options import Arguments
from warp.exercise import workspace
from warp.explain import report as explained
from warp.explain import speed
from warp.explain.running import (
    TOLD_BELOW,
    compile_source,
    hand_over,
    includes_lab,
    last_trace,
    left_out,
    machine_code,
    name_variants,
    output_folder,
    rows_of,
    take_over,
)
from warp.machinecode.code import Compiled
from warp.trace import trace
from warp.trace.model import Trace

COLUMNS_TOLD = "columns told"
STDOUT = "-"  # as FILE of --json: standard output, which then holds nothing else
SIMULATOR = os.path.join("common", "simt", "libsimt.a")  # in its build folder
NO_GPU_TIME = "The times of cudaEventElapsedTime() are those of the simulator, and tell nothing of a GPU's."
NEITHER = "explain takes one chapter or one file that ends in .cu"


def main(arguments: Arguments) -> int:
    if len(arguments.words) != 1:
        raise UsageError(NEITHER + "; see ./learn explain --help")
    launch_number(arguments.launch)
    sample_size(arguments.blocks)
    speed.gpu_named(arguments.gpu)
    subject = arguments.words[0]
    chapter = as_chapter(subject)
    if chapter:
        # A header that cannot be read has no rungs; --watch waits until it is repaired.
        if not chapter.problem:
            for rung in arguments.rung:
                chapters.check_rung(rung, [chapter])
    else:
        if arguments.rung:
            raise UsageError(f"--rung goes with a chapter; {subject} is a program of its own")
        check_source(subject)
    check_outputs(arguments, chapter.source if chapter else subject)
    if arguments.against:
        check_against(arguments, subject, chapter)
    machine = Machine()
    if arguments.against:
        return compare(arguments, subject, machine)
    if arguments.watch and arguments.json == STDOUT:
        raise UsageError("--watch goes on and on: --json needs a FILE with it")
    if arguments.watch:
        watch(arguments, subject, machine)
    return once(arguments, subject, machine)


def check_outputs(arguments: Arguments, source: str) -> None:
    """UsageError unless --json, --html and --sarif name files of their own that can be written, none of them the source."""
    taken = {os.path.realpath(source): "the source"}
    for option, file in (("--json", arguments.json), ("--html", arguments.html), ("--sarif", arguments.sarif)):
        if not file or file == STDOUT:
            continue
        check_writable(file, option)
        before = taken.setdefault(os.path.realpath(file), option)
        if before != option:
            raise UsageError("{} {}: that is {}".format(option, file, before.replace("--", "the file of --")))


@dataclass
class Run:
    """A program that has run on the simulator, and what it left."""

    chapter: Chapter | None
    source: str
    label: str
    recorded: Trace = field(default_factory=lambda: Trace([]))
    before: Trace | None = None  # the last one of the same source
    compiled: list[Compiled] = field(default_factory=list)
    code: int = 0
    json: str = ""  # the trace as text, where that is asked for

    def verdict(self) -> int:
        """The exit code. A chapter's program says by its own whether a finding was meant to be raised."""
        found = trace.errors_of(trace.all_findings(self.recorded))
        return 1 if found and (self.code != 0 or not self.chapter) else self.code if self.code >= 0 else 128 - self.code


def run(arguments: Arguments, subject: str, machine: Machine, rungs: list[str]) -> Run:
    """Builds a program and runs it; returns the Run."""
    chapter = as_chapter(subject)
    if chapter:
        if chapter.problem:
            raise LearnError(chapter.problem)
        for rung in rungs:
            chapters.check_rung(rung, [chapter])
        install.ensure(machine, "simulator")
        build.build("simulator", machine, f"chapter {chapter.number} for the simulator", [chapter.name], patience=1.0)
        command = [chapter.program("simulator")]
        for rung in rungs:
            command += ["--rung", rung]
        done = Run(chapter, chapter.source, chapter.key)
    else:
        check_source(subject)
        install.ensure(machine, "simulator")
        lab = ["lab"] if includes_lab(subject) else []
        first = "the simulator (only the first time, about a minute on two cores)"
        built = is_built()
        build.build(
            "simulator", machine, "the simulator" if built else first, ["simtcc", "simt"] + lab, patience=built * 1.0
        )
        done = Run(None, subject, os.path.basename(subject))
        command = [compile_source(subject)]
    folder = output_folder(done.source)
    trace_file = os.path.join(folder, "trace.json")
    rows_file = os.path.join(folder, "rows.json")
    done.before = last_trace(trace_file)
    forget(trace_file)
    forget(rows_file)
    if chapter and "--json" not in arguments.rest:
        command += ["--json", rows_file]
    command += arguments.rest
    env = dict(os.environ, SIMT_JSON=trace_file, WARP_COMMIT=build.commit())
    if arguments.blocks:
        env["SIMT_BLOCKS"] = sample_size(arguments.blocks)
    only_json = arguments.json == STDOUT
    done.compiled, is_known = machine_code(machine, done.source)
    executed = ""
    if is_known:
        executed = os.path.join(folder, "compiled.txt")
        forget(executed + ".counts")
        hand_over(executed, done.compiled, command[0])
        env["SIMT_COMPILED"] = executed
    if only_json:
        told: list[str] = []
        done.code = steps.start(command, env=env, stdout=sys.stderr)
    else:
        done.code, told = steps.start_and_hold(command, "simt: ", TOLD_BELOW.match, env=env)
    if not os.path.exists(trace_file):
        sys.stderr.write("".join(told))
        raise LearnError(f"{done.label} ended with {steps.ended(done.code)} before it wrote a trace")
    done.recorded = trace.load(trace_file)
    if executed:
        take_over(done.recorded, done.compiled, executed, trace_file)
    if not chapter and measures_itself(done.source):
        done.recorded.notes.append(NO_GPU_TIME)
    speed.note_bounds(done.recorded, speed.gpu_named(arguments.gpu), done.compiled)
    done.json = json.dumps(records.write(done.recorded), indent=2) + "\n" if arguments.json else ""
    name_variants(done.recorded, rows_of(rows_file))
    sys.stderr.write("".join(left_out(told, trace.all_findings(done.recorded))))
    return done


def once(arguments: Arguments, subject: str, machine: Machine) -> int:
    """Builds, runs and reports; returns the exit code."""
    done = run(arguments, subject, machine, arguments.rung)
    gpu, launch = speed.gpu_named(arguments.gpu), launch_number(arguments.launch)
    only_json = arguments.json == STDOUT
    if only_json:
        sys.stdout.write(done.json)
    shared: dict[str, Any] = dict(
        main=done.source, launch=launch, compiled=done.compiled, failed=done.code != 0, gpu=gpu
    )
    told = columns_told(done.recorded)
    report = explained.render(done.recorded, ui.palette(), ui.terminal_width(), before=done.before, told=told, **shared)
    if arguments.json and not only_json:
        write_output("--json", arguments.json, done.json.encode("utf-8"))
    if arguments.html:
        from warp.explain import page

        text = page.render(done.recorded, done.label, **shared)
        write_output("--html", arguments.html, text.encode("utf-8", "replace"))
    if arguments.sarif:
        from warp.explain import sarif

        text = sarif.render(done.recorded, launch, done.compiled, gpu)
        write_output("--sarif", arguments.sarif, text.encode("utf-8", "replace"))
    if only_json:
        return done.verdict()
    ui.say()
    ui.say(report.rstrip("\n"))
    if done.chapter and pages.folder():
        ui.say()
        pages.tell_chapter(done.chapter, arguments.rung)
    if arguments.html:
        ui.say()
        ui.say("The same as a page: " + paths.shown(arguments.html))
    if done.code != 0 and not trace.errors_of(trace.all_findings(done.recorded)):
        ui.say()
        ui.say(f"The program ended with {steps.ended(done.code)}.")
    return done.verdict()


def measures_itself(source: str) -> bool:
    """Whether a program asks events for a time."""
    return "cudaEventElapsedTime" in mask("\n".join(read_source(source) or []))


def is_built() -> bool:
    """Whether the simulator has been built here before."""
    return os.path.exists(os.path.join(paths.build_folder("simulator"), SIMULATOR))


def columns_told(recorded: Trace) -> Sequence[str]:
    """The columns whose meaning this reader has read before; those of this report are kept as told. Who writes the report to
    a file gets all of them."""
    if not ui.is_terminal(sys.stdout):
        return ()
    told = progress.read().get(COLUMNS_TOLD) or []
    new = [heading for heading in explained.headings(recorded) if heading not in told]
    if new:
        progress.change(lambda kept: kept.__setitem__(COLUMNS_TOLD, sorted({*told, *new})))
    return told


def compare(arguments: Arguments, subject: str, machine: Machine) -> int:
    """Two programs, or two rungs of a chapter, side by side, that of --against as what was before; returns the exit code of the
    first that is not 0."""
    from warp.explain import against

    other, chapter = arguments.against, as_chapter(subject)
    if chapter:
        labels = [other, *arguments.rung]
        runs = [run(arguments, subject, machine, [rung]) for rung in labels]
    else:
        runs = [run(arguments, file, machine, []) for file in (other, subject)]
        labels = [done.label for done in runs]
        if labels[0] == labels[1]:
            labels = [other, subject]
    sides = [
        against.Side(label, done.recorded, done.compiled, done.code != 0 or done.verdict() != 0)
        for label, done in zip(labels, runs)
    ]
    gpu, launch = speed.gpu_named(arguments.gpu), launch_number(arguments.launch)
    ui.say()
    ui.say(against.render(sides[0], sides[1], ui.palette(), gpu, launch).rstrip("\n"))
    for label, done in zip(labels, runs):
        findings = len(trace.all_findings(done.recorded))
        if done.verdict() or findings:
            ui.say(
                f"{label}: {findings} findings and warnings, exit code {done.verdict()}: ./learn explain tells what."
            )
    return next((done.verdict() for done in runs if done.verdict()), 0)


def check_against(arguments: Arguments, subject: str, chapter: Chapter | None) -> None:
    """UsageError unless --against names what can be compared."""
    for option, given in (("--json", arguments.json), ("--html", arguments.html), ("--sarif", arguments.sarif)):
        if given:
            raise UsageError(f"--against prints its comparison: it goes with no {option}")
    if arguments.watch:
        raise UsageError("--against goes with no --watch")
    if not chapter:
        check_source(arguments.against, "--against takes a file that ends in .cu")
    elif len(arguments.rung) != 1:
        raise UsageError(f"of a chapter two rungs are compared: ./learn explain {subject} --rung NAME --against NAME")
    else:
        chapters.check_rung(arguments.against, [chapter])


# ---- --watch --------------------------------------------------------------------------------------

POLL = 0.3  # seconds between two looks at the source
SOURCES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cmake")


def watch(arguments: Arguments, subject: str, machine: Machine) -> NoReturn:
    """Explains again each time that the source is saved; goes on whatever comes out. Ctrl-C ends it."""
    chapter = as_chapter(subject)
    source, folder = (chapter.source, chapter.folder) if chapter else (subject, None)
    while True:
        seen = stamps(source, folder)  # before the run: a save during it counts
        ui.clear()
        try:
            once(arguments, subject, machine)
        except LearnError as error:
            ui.report(error)
        ui.say()
        ui.say(f"Watching {paths.shown(folder or source)}; Ctrl-C ends.")
        wait_for_save(source, folder, seen)


def wait_for_save(source: str, folder: str | None, seen: dict[str, tuple[int, int]]) -> None:
    """Returns when a source has another stamp than before. One that is gone is about to be written anew."""
    while True:
        now = stamps(source, folder)
        if now != seen and source in now:
            return
        time.sleep(POLL)


def stamps(source: str, folder: str | None = None) -> dict[str, tuple[int, int]]:
    """{file: (time of its last change, bytes)} of a source and of the other sources of a chapter's folder."""
    files = {source}
    if folder:
        try:
            files.update(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(SOURCES))
        except OSError:
            pass
    found = {}
    for file in files:
        try:
            state = os.stat(file)
        except OSError:
            continue
        found[file] = (state.st_mtime_ns, state.st_size)
    return found


def sample_size(text: str | None) -> str:
    if text is None:
        return ""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise UsageError(f"--blocks {text}: legal is a number of blocks, from 1 up")
    return text


def launch_number(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"--launch {text}: legal is the index of a launch, counted from 0")
    return int(text)


def as_chapter(subject: str) -> Chapter | None:
    """The chapter that is meant, or None for a file of the reader's own."""
    known = chapters.all_chapters()
    inside = [c for c in known if os.path.realpath(subject) in (os.path.realpath(c.folder), os.path.realpath(c.source))]
    if inside:
        return inside[0]
    if os.path.isfile(subject) or os.sep in subject or "." in subject:
        return None
    mine = os.path.join(workspace.FOLDER, subject + ".cu")
    try:
        return chapters.find(subject, known)
    except UsageError as error:
        if not os.path.isfile(mine):
            raise
        raise UsageError(f"{error}; or did you mean {paths.shown(mine)}?")


def check_source(file: str, legal: str = NEITHER) -> None:
    """UsageError unless `file` is a CUDA source that can be read; `legal` is what the command takes."""
    if os.path.isdir(file):
        raise UsageError(f"{file} is a folder; {legal}")
    if not file.endswith(".cu"):
        raise UsageError(f"{file} does not end in .cu; {legal}")
    if not os.path.exists(file):
        folder = os.path.dirname(file) or "."
        try:
            others = [name for name in os.listdir(folder) if name.endswith(".cu")]
        except OSError:
            raise UsageError(f"there is no file {file}")
        mine = os.path.join(workspace.FOLDER, file)
        if not os.path.dirname(file) and os.path.exists(mine):
            raise UsageError(f"there is no file {file} here; did you mean {paths.shown(mine)}?")
        begin = f"./learn new {file} begins one"
        raise UsageError(f"there is no file {file}{advice(os.path.basename(file), others, begin)}")
    if not os.access(file, os.R_OK):
        raise UsageError(f"no right to read {file}")
