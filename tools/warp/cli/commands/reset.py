"""./learn reset: puts the blank back; what it replaces is kept in my/backups."""

from __future__ import annotations

import sys

from warp.base import paths, ui
from warp.base.errors import LearnError, UsageError
from warp.cli.options import Arguments
from warp.exercise import catalogue, record, updates, workspace


def main(arguments: Arguments) -> int:
    known = catalogue.everything()
    if arguments.all == bool(arguments.words):
        raise UsageError("reset takes exercises or chapters, or --all")
    exercises = known if arguments.all else catalogue.several(arguments.words, known)
    edited = [exercise for exercise in exercises if workspace.is_worth_asking(exercise)]
    if edited and not arguments.yes:
        names = ", ".join(exercise.name for exercise in edited)
        if not sys.stdin.isatty():
            raise LearnError(
                f"reset replaces what you wrote in {names} (a backup is kept); --yes says that you want it"
            )
        ui.say(f"This replaces what you wrote in {names}; a backup is kept in {paths.shown(workspace.BACKUPS)}/.")
        try:
            answer = input("Go on? [y/N] ")
        except EOFError:
            answer = ""
        if answer.strip().lower() not in ("y", "yes"):
            ui.say("Nothing was changed.")
            return 1
    for exercise in exercises:
        kept = workspace.reset(exercise)
        record.forget(exercise)
        if kept or not arguments.all:
            ui.say(
                "{} is as it was; {}".format(
                    exercise.name, "your version: " + paths.shown(kept) if kept else "you had changed nothing"
                )
            )
    updates.note(exercises)
    if arguments.all:
        ui.say(f"All {len(known)} exercises are as they were, and open.")
    return 0
