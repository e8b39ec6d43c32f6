"""./learn hint: the next hint of an exercise; those shown before come with it."""

from __future__ import annotations

from warp.base import pages, ui
from warp.base.errors import UsageError
from warp.cli.options import Arguments
from warp.exercise import catalogue, record, show


def main(arguments: Arguments) -> int:
    if len(arguments.words) > 1:
        raise UsageError("hint takes one exercise or chapter, or none: then the one that you are at")
    known = catalogue.everything()
    exercise = record.one(arguments.words[0], known) if arguments.words else record.current(known)
    if exercise is None:
        ui.say("All exercises are done; ./learn hint NAME shows the hints of one.")
        return 0
    paint = ui.palette()
    shown = min(record.all_records([exercise])[exercise.key].hints + 1, len(exercise.hints))
    record.note_hint(exercise, shown)
    ui.say("{}: hint {} of {}".format(paint("bold", exercise.name), shown, len(exercise.hints)))
    for number, hint in enumerate(exercise.hints[:shown], 1):
        ui.say()
        for i, line in enumerate(show.prose(hint)):
            text = (f"{number}. " if i == 0 else "   ") + line
            ui.say("  " + (text if number == shown else paint("dim", text)))
    ui.say()
    pages.tell_exercise(exercise)
    if shown == len(exercise.hints):
        ui.say()
        ui.say(f"That was the last one; ./learn solution {exercise.name} --anyway shows the solution.")
    return 0
