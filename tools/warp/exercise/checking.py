"""Checks a learner's file: has it compiled and judged, and reads what was noted."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any

from warp.base import build, install, paths, steps
from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.base.text import there
from warp.exercise import compiling, outcomes
from warp.exercise.compiling import Programs
from warp.exercise.exercises import Exercise
from warp.exercise.outcomes import Outcome

TARGETS = ("simtcc", "simt", "lab", "grader")
SECONDS = 20  # that a check may run; most take a tenth of a second, and nearly every endless loop is found before
GPU = threading.Lock()  # one check at a time runs there: bars in time are no others' business
LARGEST = 1 << 20  # bytes of a learner's file; an exercise has a few thousand
STEPS = "2000000"  # of one warp between two barriers, before the simulator calls it a hang


def prepare(backend: str) -> None:
    """Builds what every check needs; quick where that is done."""
    machine = Machine()
    install.ensure(machine, backend)
    targets = TARGETS if backend == "simulator" else ("lab", "grader")
    built = os.path.exists(compiling.libraries(backend)[0])
    build.build(
        backend, machine, "the checker" if built else "the checker (only the first time)", targets, patience=1.0
    )


def check(exercise: Exercise, source: str, backend: str = "simulator") -> Outcome:
    """The outcome for the file `source`; prepare() has been called."""
    folder = os.path.join(paths.BUILD, "exercises", exercise.chapter, exercise.name)
    steps.make_folder(folder)
    began = time.monotonic()
    with build.lock(f"check-{exercise.number}-{exercise.name}"):
        outcome = Outcome(backend)
        unfit = what_is_unfit(source)
        if unfit:
            outcome.fail(*unfit)
            return outcome
        programs = compiling.make(exercise, source, folder, backend, outcome)
        if programs:
            with GPU if backend == "gpu" else contextlib.nullcontext():
                run_check(programs, outcome)
    outcome.seconds = time.monotonic() - began
    return outcome


def what_is_unfit(source: str) -> tuple[str, str] | None:
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


def run_check(programs: Programs, outcome: Outcome, variant: Sequence[Any] = ()) -> None:
    """Lets a check judge, and adds what it noted to `outcome`. The code that it judges runs in a process of its own, which has
    no way to the notes."""
    env = dict(os.environ, SIMT_STEPS=os.environ.get("SIMT_STEPS", STEPS))
    env.pop("SIMT_JSON", None)
    code = None
    with tempfile.TemporaryFile() as events:
        process = subprocess.Popen(
            [programs.judge, f"/dev/fd/{events.fileno()}", programs.performer, *variant],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[events.fileno()],
            start_new_session=True,
        )
        told = there(process.stdout)
        said: list[bytes] = []
        reading = threading.Thread(target=lambda: said.append(told.read()))
        reading.start()
        try:
            code = process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            end_all_of(process)  # a process that it has left would keep the output open
            reading.join()
            told.close()
        events.seek(0)
        noted = events.read().decode("utf-8", "replace")
    text = b"".join(said).decode("utf-8", "replace")
    outcome.said = "\n".join(line for line in text.splitlines() if not line.startswith("simt: "))
    ended, its_code = read_events(noted, outcome)
    case = outcome.cases[-1] if outcome.cases else ""
    if code is None:
        outcome.fail("timeout", f"it did not end within {SECONDS} s", case=case)
    elif not ended and not outcome.failures:
        code = code if its_code is None else its_code
        how = f"with exit code {code}" if code >= 0 else "by " + signal.Signals(-code).name
        kind = "exit" if code >= 0 else "crash"
        outcome.fail(kind, f"your code ended the program {how} before the check was over", case=case)
    outcome.passed = ended == "passed" and not outcome.reasons() and code == 0


def end_all_of(process: subprocess.Popen[bytes]) -> None:
    """Nothing that the learner's code has started outlives the check."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read_events(noted: str, outcome: Outcome) -> tuple[str, int | None]:
    """Adds the notes to `outcome`: "passed", "failed", or "" where they end too early; and the exit code of the process that
    the learner's code ran in, or None."""
    ended, code = "", None
    for line in noted.splitlines():
        try:
            data = json.loads(line)
            event = outcomes.read_event(data)
        except (ValueError, AttributeError, TypeError, LearnError):
            break  # cut off in the middle
        if isinstance(event, outcomes.Case):
            outcome.cases.append(event.case)
        elif isinstance(event, outcomes.Failure):
            outcome.failures.append(event)
        elif isinstance(event, outcomes.Bar):
            outcome.bars.append(event)
        elif isinstance(event, outcomes.Guess):
            outcome.predictions.append(event)
        elif isinstance(event, outcomes.Ended):
            code = event.code
        else:
            ended = data["event"]
    return ended, code
