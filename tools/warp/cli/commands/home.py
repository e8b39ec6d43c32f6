"""./learn alone: where the reader is and what comes next."""

from __future__ import annotations

from warp.base import progress, ui
from warp.base.machine import Machine
from warp.chapter.chapters import Chapter
from warp.chapter.header import hours
from warp.chapter.last_run import in_words
from warp.cli.commands.list_ import gpu_state, simulator_state
from warp.cli.commands.path import next_lines
from warp.cli.way import Way, in_minutes
from warp.exercise import updates, workspace


def main() -> int:
    paint, way, machine = ui.palette(), Way(), Machine()
    ui.say(paint("bold", "Warp by Warp") + ": CUDA performance, one chapter at a time")
    ui.say()
    whole, done = way.minutes()
    if whole:
        ui.say(f"Your path is the {way.path} one: {hours(whole)}, of which {hours(done)} done (./learn path).")
    ui.say(f"This machine: GPU: {gpu_state(machine)}; simulator: {simulator_state(machine)}.")
    ui.say()
    for chapter in way.chapters:
        if way.is_on(chapter) or way.is_begun(chapter):
            ui.say(of_chapter(way, chapter))
    for exercise in way.exercises:
        if way.records[exercise.key].has_changed(exercise):
            ui.say(f"The course has changed {exercise.name} since you passed it: ./learn check {exercise.name}")
    for exercise in updates.behind(way.exercises, way.records):
        ui.say(f"The course has changed {exercise.name} since you began it: {updates.how_to_follow(exercise)}")
    here = way.here()
    if here is not None and workspace.is_edited(here) and not way.is_done(here):
        ui.say(f"You are at exercise {here.name} of chapter {here.number}: ./learn check")
    ui.say()
    for line in next_lines(way):
        ui.say(line)
    ui.say("All commands: ./learn --help")
    return 0


def of_chapter(way: Way, chapter: Chapter) -> str:
    """One line: what was run, predicted and exercised."""
    runs = [
        "{} on the {}".format(in_words(counts), "GPU" if backend == "gpu" else backend)
        for backend, counts in way.runs(chapter).items()
    ]
    parts = ["; ".join(runs) or ("taken as read" if way.is_begun(chapter) else "not run yet")]
    parts += filter(None, [progress.predictions_in_words(way.kept, chapter.key)])
    mine = way.exercises_of(chapter)
    if mine:
        parts.append(f"exercises: {sum(map(way.is_done, mine))} of {len(mine)}")
    aside = sum(way.records[one.key].later for one in mine)
    parts += [f"{aside} set aside"] if aside else []
    return f"Chapter {chapter.number}, {chapter.title}{in_minutes(chapter, ' ({} min)')}: {'; '.join(parts)}."
