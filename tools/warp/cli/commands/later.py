"""./learn later: sets an exercise aside, and goes on."""

from __future__ import annotations

from warp.base import ui
from warp.base.errors import UsageError
from warp.cli.commands import next_
from warp.cli.options import Arguments
from warp.exercise import catalogue, record


def main(arguments: Arguments) -> int:
    if len(arguments.words) > 1:
        raise UsageError("later takes one exercise, or none: then the one that you are at")
    known = catalogue.everything()
    exercise = catalogue.find(arguments.words[0], known) if arguments.words else record.current(known)
    if exercise is None:
        ui.say(f"All {len(known)} exercises are done.")
        return 0
    if record.all_records([exercise])[exercise.key].is_done():
        raise UsageError(f"{exercise.name} is passed already")
    record.set_aside(exercise)
    ui.say(f"{exercise.name} comes at the end of your path; ./learn next {exercise.name} comes back to it.")
    ui.say()
    return next_.go_on(but=exercise)
