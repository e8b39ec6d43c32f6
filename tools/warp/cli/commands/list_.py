"""./learn list: the chapters and exercises, what this machine can run, and what is done."""

from __future__ import annotations

from warp.base import needs, paths, progress, ui
from warp.base.errors import LearnError
from warp.base.machine import Machine
from warp.chapter import chapters
from warp.chapter.last_run import in_words, last_run
from warp.cli.options import Arguments
from warp.exercise import catalogue, record, report


def main(arguments: Arguments) -> int:
    known = chapters.all_chapters()
    if not known:
        raise LearnError(f"there is no chapter in {paths.shown(paths.CHAPTERS)}")
    asked = [chapters.find(word, known) for word in arguments.words]
    machine = Machine()
    paint = ui.palette()
    exercises = catalogue.whatever_there_is()
    records, here = record.all_records(exercises), record.current(exercises)
    kept = progress.read()
    broken = 0
    for chapter in asked or known:
        minutes = f"  about {chapter.minutes} min" if chapter.minutes else ""
        path = ", short path" if chapter.on_short_path else ""
        ui.say("{}  {}".format(paint("bold", chapter.number), paint("bold", chapter.title)) + minutes + path)
        if chapter.problem:
            ui.say("    " + paint("red", chapter.problem))
            broken += 1
            continue
        ui.say("    " + ui.wrap(chapter.question, 4, 96))
        if chapter.builds_on:
            ui.say("    builds on {}".format(", ".join(chapter.builds_on)))
        ui.say(
            "    {} rungs; size {} on a GPU, {} on the simulator".format(
                len(chapter.rungs), chapter.size("gpu"), chapter.size("simulator")
            )
        )
        for backend in ("gpu", "simulator"):
            counts = last_run(backend, chapter)
            if counts is not None:
                ui.say("    last run on the {}: {}".format("GPU" if backend == "gpu" else backend, in_words(counts)))
        predicted = progress.predictions_in_words(kept, chapter.key)
        if predicted:
            ui.say("    " + predicted)
        for line in report.listing([e for e in exercises if e.chapter == chapter.key], records, paint, here):
            ui.say(line)
    keys = [chapter.key for chapter in known]
    of_others = [e for e in exercises if e.chapter not in keys and not asked]  # of chapters that are still to come
    for key in dict.fromkeys(e.chapter for e in of_others):
        ui.say(paint("bold", key))
        for line in report.listing([e for e in of_others if e.chapter == key], records, paint, here):
            ui.say(line)
    ui.say()
    ui.say(f"This machine: GPU: {gpu_state(machine)}; simulator: {simulator_state(machine)}.")
    return 1 if broken else 0


def gpu_state(machine: Machine) -> str:
    if not machine.gpus():
        return "no (no NVIDIA GPU here)"
    if not machine.nvcc():
        return "no (there is one, but no nvcc: ./learn doctor)"
    lacking = needs.missing(machine, "gpu")
    return (
        "yes"
        if not lacking
        else "after ./learn setup (missing: {})".format(", ".join(n.lack(machine) for n in lacking))
    )


def simulator_state(machine: Machine) -> str:
    lacking = needs.missing(machine, "simulator")
    return (
        "yes"
        if not lacking
        else "after ./learn setup (missing: {})".format(", ".join(n.lack(machine) for n in lacking))
    )
