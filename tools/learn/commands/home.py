"""./learn alone: where the reader is and what comes next."""

from learn import chapters, progress, ui
from learn.cli import help_text
from learn.commands.list_ import gpu_state, simulator_state
from learn.commands.run import in_words, last_run
from learn.exercises import catalogue, record, updates, workspace
from learn.machine import Machine


def main():
    paint = ui.palette()
    machine = Machine()
    known, exercises = chapters.all_chapters(), catalogue.whatever_there_is()
    records = record.all_records(exercises)
    ui.say(paint("bold", "Warp by Warp") + ": CUDA performance, one chapter at a time")
    ui.say()
    ui.say(f"This machine: GPU: {gpu_state(machine)}; simulator: {simulator_state(machine)}.")
    kept = progress.read()
    runs = {chapter.key: last_runs(chapter) for chapter in known}
    for chapter in known:
        mine = [exercise for exercise in exercises if exercise.chapter == chapter.key]
        done = sum(records[exercise.key].is_done() for exercise in mine)
        text = "Chapter {}, {}: {}".format(chapter.number, chapter.title, "; ".join(runs[chapter.key]) or "not run yet")
        predicted = progress.predictions_in_words(kept, chapter.key)
        text += "; " + predicted if predicted else ""
        ui.say(text + (f"; exercises: {done} of {len(mine)}." if mine else "."))
    for exercise in exercises:
        if records[exercise.key].has_changed(exercise):
            ui.say(f"The course has changed {exercise.name} since you passed it: ./learn check {exercise.name}")
    for exercise in updates.behind(exercises, records):
        ui.say(f"The course has changed {exercise.name} since you began it: {updates.how_to_follow(exercise)}")
    here = record.current(exercises)
    if here is not None and workspace.is_edited(here) and not records[here.key].is_done():
        ui.say(f"You are at exercise {here.name} of chapter {here.number}: ./learn check")
    ui.say()
    step, why = next_step(known, runs, exercises, records)
    if step:
        ui.say("Next: {}  {}".format(paint("bold", step), why))
        ui.say()
    ui.say(help_text())
    return 0


def last_runs(chapter):
    """What the last run on each backend came to, in words."""
    return [
        "{} on the {}".format(in_words(counts), "GPU" if backend == "gpu" else backend)
        for backend in ("gpu", "simulator")
        for counts in [last_run(backend, chapter)]
        if counts is not None
    ]


def next_step(known, runs, exercises, records):
    """(command, why): the exercise that the learner is in the middle of, else the first chapter with something left to
    do, its program before its exercises."""
    here = record.current(exercises)
    if here is not None and not records[here.key].is_done() and (records[here.key].tries or record.was_chosen(here)):
        return f"./learn check {here.name}", f"the exercise of chapter {here.number} that you are at"
    if here is not None and records[here.key].is_done() and record.was_chosen(here):
        following = record.first_open(exercises, after=here)
        if following is not None and following.chapter == here.chapter:
            return f"./learn next {following.name}", f"the next exercise of chapter {here.number}"
    for chapter in known:
        if not runs[chapter.key]:
            return (
                f"./learn run {chapter.number}",
                f"runs chapter {chapter.number}; the text is beside it (./learn docs)",
            )
        left = [e for e in exercises if e.chapter == chapter.key and not records[e.key].is_done()]
        if not left:
            continue
        if not workspace.is_started(left[0]):
            return "./learn start", "puts the exercises into my/ and shows the first one"
        if here is not None and here.key in [exercise.key for exercise in left]:
            return f"./learn check {here.name}", "the exercise that you are at"
        return f"./learn next {left[0].name}", f"{len(left)} exercises of chapter {chapter.number} are open"
    if known:
        last = known[-1].number
        return f"./learn explain {last}", f"reads chapter {last} line by line; you have done all the rest"
    return "", ""
