"""./learn reset: puts the blank back; what it replaces is kept in my/backups."""

import sys

from learn import paths, ui
from learn.errors import LearnError, UsageError
from learn.exercises import catalogue, record, workspace


def main(arguments):
    known = catalogue.everything()
    if arguments.all == bool(arguments.words):
        raise UsageError("reset takes exercises, or --all")
    exercises = known if arguments.all else [catalogue.find(word, known) for word in arguments.words]
    edited = [exercise for exercise in exercises if workspace.is_edited(exercise)]
    if edited and not arguments.yes:
        names = ", ".join(exercise.name for exercise in edited)
        if not sys.stdin.isatty():
            raise LearnError("reset replaces what you wrote in %s (a backup is kept); --yes says that you want it" % names)
        ui.say("This replaces what you wrote in %s; a backup is kept in %s/." % (names, paths.shown(workspace.BACKUPS)))
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
            ui.say("%s is as it was; %s" % (exercise.name, "your version: " + paths.shown(kept) if kept else "you had changed nothing"))
    if arguments.all:
        ui.say("All %d exercises are as they were, and open." % len(known))
    return 0
