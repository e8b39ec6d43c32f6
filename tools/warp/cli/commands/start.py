"""./learn start: copies the exercises into the learner's own folder, and says where to begin."""

from __future__ import annotations

from warp.base import paths, ui
from warp.cli.options import Arguments
from warp.exercise import catalogue, record, show, updates, workspace


def main(arguments: Arguments) -> int:
    known = catalogue.everything()
    asked = [record.one(word, known, onwards=True) for word in arguments.words]
    copied, renewed = updates.bring(known)
    if copied:
        number = "1 exercise is" if len(copied) == 1 else f"{len(copied)} exercises are"
        ui.say(f"{number} now in {folder()}, yours to edit; git ignores that folder.")
    if renewed:
        names = ", ".join(exercise.name for exercise in renewed)
        ui.say(f"The course has changed {names}; your copies were not edited and have been renewed.")
    if not copied and not renewed and not asked:
        ui.say(f"The exercises are in {folder()} already; nothing was changed.")
    for exercise in copied:
        if workspace.checked_last(exercise):
            ui.note(f"{exercise.name} was gone; the version that you checked last: {workspace.checked_last(exercise)}")
    for old in updates.behind(known, record.all_records(known)):
        ui.note(f"The course has changed {old.name} since you began it: {updates.how_to_follow(old)}.")
    for file in workspace.of_no_exercise(known):
        ui.note(f"{paths.shown(file)} belongs to no exercise of this version of the course; it stays as it is.")
    if asked:
        record.choose(asked[-1])
    here = asked[-1] if asked else record.current(known)
    if here is None:
        ui.say(f"All {len(known)} exercises are done.")
        return 0
    ui.say()
    show.task(here)
    return 0


def folder() -> str:
    return paths.shown(workspace.FOLDER) + "/"
