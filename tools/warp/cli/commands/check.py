"""./learn check: the learner's file against the exercise's checker."""

from __future__ import annotations

import concurrent.futures
import os
from typing import Any

from warp.base import pages, paths, ui
from warp.base.errors import LearnError, UsageError
from warp.base.machine import Machine
from warp.base.ui import Palette
from warp.cli.options import Arguments
from warp.exercise import catalogue, checking, record, report, results, show, updates, workspace
from warp.exercise.exercises import Exercise
from warp.exercise.outcomes import Outcome
from warp.exercise.results import Outcomes


def main(arguments: Arguments) -> int:
    known = catalogue.everything()
    backend = arguments.backend or "simulator"
    if arguments.all and arguments.words:
        raise UsageError("check takes exercises or --all, not both")
    if arguments.words == ["all"]:
        raise UsageError("all exercises: ./learn check --all")
    if backend == "gpu" and not Machine().gpus():
        raise LearnError("there is no NVIDIA GPU here; without --backend gpu the check runs on the simulator")
    wanted = (
        ("--json", arguments.json, results.as_json),
        ("--junit", arguments.junit, results.as_junit),
        ("--markdown", arguments.markdown, results.as_markdown),
    )
    for option, file, _ in wanted:
        if file:
            from warp.base.files import check_writable

            check_writable(file, option)
    exercises = chosen(arguments, known)
    on_gpu_alone = backend == "gpu" and without_simulator(exercises)
    if on_gpu_alone:
        exercises = [exercise for exercise in exercises if exercise.kind != "predict"]
    if not arguments.all:
        not_started = [exercise for exercise in exercises if not workspace.is_started(exercise)]
        updates.bring(not_started)
        for exercise in not_started:
            kept = record.all_records([exercise])[exercise.key]
            file = paths.shown(workspace.file_of(exercise))
            if kept.tries or kept.is_done():
                ui.say(f"{file} was gone: here it is again, as it was at the start.")
                ui.say("If your editor still has your version open, save that. Edit it, then check again.")
                if workspace.checked_last(exercise):
                    ui.say("The version that you checked last: " + workspace.checked_last(exercise))
            else:
                ui.say(f"{file} was not there yet: it is now. Edit it, then check again.")
        if not_started == exercises:
            ui.say()
            show.task(exercises[-1])
            return 1
    if on_gpu_alone:
        backend = GPU_ALONE
    for needed in sorted({place for exercise in exercises for place in backends(exercise, backend)}):
        checking.prepare(needed)
    outcomes = check_all(exercises, backend, arguments.lines)
    for option, file, text in wanted:
        if file:
            results.write(file, option, text(outcomes))
    if arguments.all:
        summary(outcomes)
    return 0 if all(outcome.passed for _, outcome in outcomes) else 1


GPU_ALONE = "gpu alone"


def without_simulator(exercises: list[Exercise]) -> bool:
    """Whether the simulator can neither be built nor brought here. Says what is not looked at then."""
    from warp.base import install

    lack = install.out_of_reach(Machine(), "simulator")
    if not lack:
        return False
    asked = [exercise.name for exercise in exercises if exercise.kind == "predict"]
    if len(asked) == len(exercises):
        raise LearnError(f"{', '.join(asked)}: the simulator's counts answer that, and it lacks {lack}")
    ui.note(f"learn: on the GPU alone, as the simulator lacks {lack}: races and counts are not looked at")
    if asked:
        ui.note(f"learn: left out, as counts answer them: {', '.join(asked)}")
    return True


def chosen(arguments: Arguments, known: list[Exercise]) -> list[Exercise]:
    """The exercises to check; a single one becomes the current one."""
    if arguments.all:
        return known
    exercises = catalogue.several(arguments.words, known)
    if not exercises:
        exercises = [record.current(known) or known[-1]]
        note_other(exercises[0], known)
    if len(exercises) == 1:
        record.choose(exercises[0])
    return exercises


def note_other(here: Exercise, known: list[Exercise]) -> None:
    """A word where the learner has saved another exercise than the one that is checked."""
    other = workspace.saved_last(known)
    if other is not None and other.key != here.key and workspace.saved(other) > record.changed():
        ui.note(f"This checks {here.name}; of {other.name}, saved last, it is ./learn check {other.name}.")


def check_all(exercises: list[Exercise], backend: str, for_editors: bool = False) -> Outcomes:
    """(exercise, outcome) of each; told as soon as it is known, in the order of the course."""
    paint = ui.palette()
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(min(len(exercises), os.cpu_count() or 1)) as pool:
        running = [pool.submit(one, exercise, backend) for exercise in exercises]
        try:
            for exercise, future in zip(exercises, running):
                outcome = wait_for(future, exercise)
                outcomes.append((exercise, outcome))
                tell(exercise, outcome, paint, brief=len(exercises) > 1, for_editors=for_editors)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return outcomes


def wait_for(future: concurrent.futures.Future[Outcome], exercise: Exercise) -> Outcome:
    """Its result; on a terminal with a sign of life, which goes away in the end."""
    with ui.Progress("Checking " + exercise.name, patience=0.3, leaves=False) as progress:
        while True:
            try:
                return future.result(timeout=0.2)
            except concurrent.futures.TimeoutError:
                progress.update()


def backends(exercise: Exercise, backend: str) -> tuple[str, ...]:
    """Where an exercise is checked, in order. On a GPU after the simulator has had its say: counts, races and reads
    outside of an array are seen there alone. A prediction is answered by what the simulator counts."""
    if backend == GPU_ALONE:
        return ("gpu",)
    return ("simulator",) if backend == "simulator" or exercise.kind == "predict" else ("simulator", "gpu")


def one(exercise: Exercise, backend: str) -> checking.Outcome:
    if not workspace.is_started(exercise):
        outcome = checking.Outcome()
        outcome.fail("not-started", "not started")
        return outcome
    workspace.keep_checked(exercise)
    first, *others = backends(exercise, backend)
    outcome = checking.check(exercise, workspace.file_of(exercise), first)
    for place in others if outcome.passed else ():
        before, outcome = outcome, checking.check(exercise, workspace.file_of(exercise), place)
        outcome.bars = before.bars + outcome.bars
        outcome.seconds += before.seconds
    if backend == GPU_ALONE:
        outcome.backend = GPU_ALONE
    return outcome


def tell(exercise: Exercise, outcome: Outcome, paint: Palette, brief: bool = False, for_editors: bool = False) -> None:
    """Prints what a check came to, and keeps it."""
    if outcome.failures and outcome.failures[0].kind == "not-started":
        ui.say(f"{exercise.name}: not started")
        return
    before = record.all_records([exercise])[exercise.key]
    record.note_try(exercise, outcome)
    now = record.all_records([exercise])[exercise.key]
    if for_editors:
        for line in report.for_editors(workspace.file_of(exercise), outcome):
            ui.say(line)
        ui.say("{}: {}".format(exercise.name, "passed" if outcome.passed else "not yet"))
        return
    lines = report.outcome(exercise, workspace.file_of(exercise), outcome, before.last, paint)
    if brief and outcome.passed:
        ui.say(lines[0])
        return
    for line in lines:
        ui.say(line)
    if not brief:
        ui.say()
        for line in report.next_step(exercise, outcome, now):
            ui.say("  " + line)
        pages.tell_exercise(exercise, indent="  ")
    else:
        ui.say()


def summary(outcomes: Any) -> None:
    passed = sum(outcome.passed for _, outcome in outcomes)
    started = sum(workspace.is_started(exercise) for exercise, _ in outcomes)
    ui.say()
    ui.say(f"{passed} of {len(outcomes)} exercises passed, {started} started.")
