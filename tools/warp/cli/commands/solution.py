"""./learn solution: the solution of an exercise, why it works, and what else does."""

from __future__ import annotations

from warp.base import paths, ui
from warp.base.errors import LearnError, UsageError
from warp.cli.options import Arguments
from warp.exercise import catalogue, record, show


def main(arguments: Arguments) -> int:
    if len(arguments.words) > 1:
        raise UsageError("solution takes one exercise or chapter, or none: then the one that you are at")
    known = catalogue.everything()
    exercise = record.one(arguments.words[0], known) if arguments.words else record.current(known) or known[-1]
    if not record.all_records([exercise])[exercise.key].is_done() and not arguments.anyway:
        raise LearnError(
            f"{exercise.name} is not passed yet: ./learn hint {exercise.name} helps, ./learn solution {exercise.name} --anyway shows it all the same"
        )
    paint = ui.palette()
    ui.say(
        paint("bold", f"{exercise.number} {exercise.title}") + "  " + paint("dim", paths.shown(str(exercise.source)))
    )
    ui.say()
    code = exercise.solution[len(exercise.header) :].strip("\n")
    for line in code.split("\n"):
        ui.say("  " + paint("cyan", line) if line else "")
    for title, text in (("Why", exercise.explanation), ("What else", exercise.alternatives)):
        ui.say()
        ui.say(paint("bold", title))
        ui.say()
        for line in show.prose(text):
            ui.say("  " + line if line else "")
    return 0
