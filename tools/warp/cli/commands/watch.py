"""./learn watch: checks an exercise each time that it is saved, until Ctrl-C."""

from __future__ import annotations

import os
from typing import Any

from warp.base import paths, ui
from warp.base.errors import LearnError, UsageError
from warp.cli.commands import check
from warp.cli.options import Arguments
from warp.exercise import catalogue, checking, record, updates, watching, workspace


def main(arguments: Arguments) -> None:
    if len(arguments.words) > 1:
        raise UsageError("watch takes one exercise or chapter, or none: then whichever you save")
    known = catalogue.everything()
    updates.bring(known)
    only = catalogue.several(arguments.words, known)
    checking.prepare("simulator")
    files = {os.path.realpath(workspace.file_of(exercise)): exercise for exercise in only or known}
    watcher = watching.watcher(sorted({os.path.dirname(file) for file in files}))
    exercise = record.one(arguments.words[0], known) if only else record.current(known) or known[-1]
    while True:
        if arguments.lines:
            ui.say("Checking " + exercise.name)
        else:
            ui.clear()
        workspace.keep_checked(exercise)
        try:
            outcome = checking.check(exercise, workspace.file_of(exercise))
            check.tell(exercise, outcome, ui.palette(), for_editors=arguments.lines)
        except LearnError as error:
            ui.report(error)
        ui.say()
        ui.say(
            "Watching {} ({}); Ctrl-C ends.".format(
                " ".join(paths.shown(workspace.file_of(one)) for one in only) or paths.shown(workspace.FOLDER) + "/",
                watcher.name,
            )
        )
        exercise = next_saved(watcher, files)
        record.choose(exercise)


def next_saved(watcher: Any, files: Any) -> Any:
    while True:
        for file in sorted(watcher.wait()):
            exercise = files.get(os.path.realpath(file))
            if exercise is not None and os.path.exists(file):
                return exercise
