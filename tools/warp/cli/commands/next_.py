"""./learn next: goes on to the next step of the path: an exercise, or the next chapter."""

from __future__ import annotations

from warp.base import pages, paths, ui
from warp.base.errors import UsageError
from warp.base.text import there
from warp.cli.options import Arguments
from warp.cli.way import Way, in_minutes
from warp.exercise import catalogue, record, show, updates, workspace
from warp.exercise.exercises import Exercise


def main(arguments: Arguments) -> int:
    if len(arguments.words) > 1:
        raise UsageError("next takes one exercise or chapter to go to, or none")
    known = catalogue.everything()
    if not arguments.words:
        return go_on()
    return go_to(record.one(arguments.words[0], known, onwards=True))


def go_on(but: Exercise | None = None) -> int:
    """The next step, and where it is an exercise its task; `but`: another one than this."""
    way = Way()
    here = way.here()
    if here is not None and (way.is_done(here) or way.records[here.key].later):
        here = None
    if here is not None and not workspace.is_started(here):
        return go_to(here)
    step = way.next(leave=True, but=but)
    if here is not None and step is not None and step.exercise is not here:
        ui.say(f"{here.name} is still open; ./learn next {here.name} comes back to it.")
        ui.say()
    if step is None:
        for line in way.end():
            ui.say(line)
        return 0
    if step.exercise is not None:
        return go_to(step.exercise)
    chapter = there(step.chapter)
    title = ui.palette()("bold", f"Chapter {chapter.number}: {chapter.title}")
    ui.say(title + in_minutes(chapter, "  (about {} min)"))
    ui.say()
    ui.say("  " + chapter.question)
    ui.say()
    page = pages.file_of(f"chapters/{chapter.key}")
    figures = paths.shown(page) if page else f"./learn docs, {pages.HOW_LONG}"
    ui.say("  Read       " + paths.shown(chapter.source) + ", from the top; with figures: " + figures)
    ui.say(f"  Run        ./learn run {chapter.number}")
    ui.say(f"  Predict    ./learn predict {chapter.number}")
    if way.exercises_of(chapter):
        ui.say(f"  Exercises  ./learn next {chapter.number}")
    return 0


def go_to(exercise: Exercise) -> int:
    updates.bring([exercise])
    record.choose(exercise)
    show.task(exercise)
    return 0
