"""Checks a learner's file: compiles it with the exercise's checker, runs that, and reads what it noted."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time

from learn import build, install, paths, steps
from learn.errors import LearnError
from learn.machine import Machine

INCLUDES = [os.path.join(paths.ROOT, "common", part, "include") for part in ("grader", "lab")]
LIBRARIES = ("common/grader/libgrader.a", "common/lab/liblab.a")
TARGETS = ("simtcc", "simt", "lab", "grader")
SECONDS = 20  # that a check may run; most take a tenth of a second, and nearly every endless loop is found before
GPU = threading.Lock()  # one check at a time runs there: bars in time are no others' business
LARGEST = 1 << 20  # bytes of a learner's file; an exercise has a few thousand
STEPS = "2000000"  # of one warp between two barriers, before the simulator calls it a hang


class Outcome:
    """What a check came to. The dictionaries are the events of common/grader."""

    def __init__(self, backend="simulator"):
        self.backend = backend
        self.passed = False
        self.failures = []  # kind, message, case and where
        self.bars = []
        self.predictions = []
        self.cases = []
        self.said = ""  # by the learner's own code
        self.seconds = 0.0

    def reasons(self):
        """Kinds of failure, and the names of the bars and predictions that were missed, each with its case."""
        found = [(failure["kind"], failure.get("case", "")) for failure in self.failures]
        found += [(bar["name"], bar["case"]) for bar in self.bars if not bar["holds"]]
        found += [("prediction " + guess["question"], "") for guess in self.predictions if not guess["holds"]]
        return found

    def fail(self, kind, message, **more):
        self.failures.append(dict(kind=kind, message=message, **more))

    def to_json(self):
        names = ("backend", "passed", "failures", "bars", "predictions", "cases", "said")
        return dict({name: getattr(self, name) for name in names}, seconds=round(self.seconds, 2))


def prepare(backend):
    """Builds what every check needs; quick where that is done."""
    machine = Machine()
    install.ensure(machine, backend)
    targets = TARGETS if backend == "simulator" else ("lab", "grader")
    built = os.path.exists(os.path.join(paths.build_folder(backend), LIBRARIES[0]))
    build.build(
        backend, machine, "the checker" if built else "the checker (only the first time)", targets, patience=1.0
    )


def check(exercise, source, backend="simulator"):
    """The outcome for the file `source`; prepare() has been called."""
    folder = os.path.join(paths.BUILD, "exercises", exercise.chapter, exercise.name)
    steps.make_folder(folder)
    began = time.monotonic()
    with build.lock(f"check-{exercise.number}-{exercise.name}"):
        program, events = os.path.join(folder, "check"), os.path.join(folder, "events")
        outcome = Outcome(backend)
        unfit = what_is_unfit(source)
        if unfit:
            outcome.fail(*unfit)
            return outcome
        errors = compile_check(exercise.checker, source, program, backend)
        if errors is None:
            with GPU if backend == "gpu" else contextlib.nullcontext():
                run_check([program, events], events, outcome)
        else:
            explain_errors(errors, source, outcome)
    outcome.seconds = time.monotonic() - began
    return outcome


def what_is_unfit(source):
    """(kind, message) where there is no use in compiling the learner's file; else None."""
    try:
        with open(source, "rb") as file:
            text = file.read(LARGEST + 1)
        size = os.path.getsize(source)
    except OSError as error:
        raise LearnError(f"cannot read {paths.shown(source)}: {error.strerror}")
    if size > LARGEST:
        return "unfit", f"the file has {size / 1e6:.0f} MB, an exercise a few KB: something else was written into it"
    if b"\0" in text:
        encoding = "UTF-16 (save it as UTF-8)" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "something else"
        return "unfit", f"the file has bytes of 0, so it is no C++ source but {encoding}"
    return None if text.strip() else ("empty", "the file is empty")


def compile_command(checker, source, program, backend="simulator", options=()):
    """The command that makes a check. `source` None: the checker names its files itself."""
    folder = paths.build_folder(backend)
    if backend == "simulator":
        command = [os.path.join(folder, "bin", "simtcc"), "-Wall", "-Wextra", "-Werror=return-type"]
    else:
        command = [Machine().nvcc() or "nvcc", "-arch=native", "-O3", "-lineinfo"]
    command += ["-std=c++20", *options] + ["-I" + include for include in INCLUDES]
    if source:
        command.append('-DEXERCISE="{}"'.format(os.path.abspath(source).replace("\\", "\\\\").replace('"', '\\"')))
    return command + [str(checker)] + [os.path.join(folder, library) for library in LIBRARIES] + ["-o", program]


def compile_check(checker, source, program, backend="simulator", options=()):
    """None, or what the compiler had to say. Its warnings are not the learner's concern while it compiles."""
    if os.path.exists(program):
        os.unlink(program)  # an interrupted compilation must not leave the last program in its place
    command = compile_command(checker, source, program, backend, options)
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise LearnError(f"cannot run {paths.shown(command[0])}: {error.strerror}")
    return None if done.returncode == 0 else done.stderr + done.stdout


def run_check(command, events, outcome):
    """Runs a check's program and adds what it noted to `outcome`."""
    if os.path.exists(events):
        os.unlink(events)
    env = dict(os.environ, SIMT_STEPS=os.environ.get("SIMT_STEPS", STEPS))
    env.pop("SIMT_JSON", None)
    code = None
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        said, _ = process.communicate(timeout=SECONDS)
        code = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise
    text = said.decode("utf-8", "replace")
    outcome.said = "\n".join(line for line in text.splitlines() if not line.startswith("simt: "))
    ended = read_events(events, outcome)
    case = outcome.cases[-1] if outcome.cases else ""
    if code is None:
        outcome.fail("timeout", f"it did not end within {SECONDS} s", case=case)
    elif not ended and not outcome.failures:
        how = f"with exit code {code}" if code >= 0 else "by " + signal.Signals(-code).name
        kind = "exit" if code >= 0 else "crash"
        outcome.fail(kind, f"your code ended the program {how} before the check was over", case=case)
    outcome.passed = ended == "passed" and not outcome.reasons() and code == 0


def read_events(file, outcome):
    """Adds the events of a file to `outcome`; "passed", "failed", or "" where it ends too early."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            lines = opened.read().splitlines()
    except OSError:
        return ""
    ended = ""
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            break  # cut off in the middle
        kind = event.pop("event")
        if kind == "case":
            outcome.cases.append(event["case"])
        elif kind == "failure":
            outcome.failures.append(event)
        elif kind == "bar":
            outcome.bars.append(dict(event, holds=bool(event["holds"])))
        elif kind == "prediction":
            outcome.predictions.append(dict(event, holds=bool(event["holds"]), answered=bool(event["answered"])))
        elif kind in ("passed", "failed"):
            ended = kind
    return ended


ERROR = re.compile(
    r"(?P<file>[^:\n]+)(?::(?P<line>\d+)(?::(?P<column>\d+))?|\((?P<nvcc>\d+)\)): (?:fatal )?error: (?P<message>.+)"
)


def explain_errors(text, source, outcome):
    """One sentence for the first error at the learner's own line."""
    found = [match for match in map(ERROR.match, text.splitlines()) if match]
    own = [match for match in found if os.path.realpath(match["file"]) == os.path.realpath(source)]
    if own:
        line, message = int(own[0]["line"] or own[0]["nvcc"]), own[0]["message"].strip()
        message = re.sub(r" \[-f\w+\]$", "", message)
        semicolon = re.match(r"expected .*[‘'\"];[’'\"](?! at end)", message)
        if semicolon:
            before = ends_before(source, line, int(own[0]["column"] or 0))
            line, message = before or line, "a ; is missing at the end of this line" if before else message
        outcome.fail("compile", message, file=str(source), line=line, more=len(own) - 1)
        return
    missing = next((re.search(r"['‘](\w+)['’] was not declared", match["message"]) for match in found), None)
    if missing:
        message = f"the check uses {missing[1]}, which your file no longer has: keep its name and its parameters"
        outcome.fail("interface", message, name=missing[1])
        return
    first = found[0]["message"] if found else steps.tail(text, 5).strip() or "the compiler ended without a word"
    outcome.fail("interface", "the check does not compile with your file (keep the names and parameters): " + first)


def ends_before(source, line, column):
    """The line that a missing ; belongs to: that line, or the one before if the compiler stumbled over the line's first
    word (`column` 0: it does not say); 0 where neither is so."""
    with open(source, encoding="utf-8", errors="replace") as file:
        lines = [re.sub(r"//.*", "", text).rstrip() for text in file]
    if line > len(lines):
        return 0
    text = lines[line - 1]
    if column > len(text):
        return line  # g++ points behind the last word
    if column and text[: column - 1].strip():
        return 0
    before = next((number for number in range(line - 1, 0, -1) if lines[number - 1].strip()), 0)
    return before if before and lines[before - 1][-1] not in ";{}" else 0
