"""./learn alone: where the reader is and what comes next."""

from learn import chapters, paths, ui
from learn.cli import help_text
from learn.commands.list_ import gpu_state, simulator_state
from learn.commands.run import in_words, statuses
from learn.machine import Machine


def main():
    paint = ui.palette()
    machine = Machine()
    known = chapters.all_chapters()
    ui.say(paint("bold", "Warp by Warp") + ": CUDA performance, one chapter at a time")
    ui.say()
    ui.say("This machine: GPU: %s; simulator: %s." % (gpu_state(machine), simulator_state(machine)))
    upcoming = None
    for chapter in known:
        done = [
            "%s on the %s" % (in_words(counts), "GPU" if backend == "gpu" else backend)
            for backend in ("gpu", "simulator")
            for counts in [statuses(paths.last_results(backend, chapter.key))]
            if counts is not None
        ]
        ui.say("Chapter %s, %s: %s." % (chapter.number, chapter.title, "; ".join(done) or "not run yet"))
        if not done and upcoming is None:
            upcoming = chapter
    ui.say()
    if upcoming:
        ui.say("Next: " + paint("bold", "./learn run %s" % upcoming.number))
    elif known:
        ui.say(
            "Next: %s reads chapter %s line by line; ./learn docs builds the text."
            % (paint("bold", "./learn explain %s" % known[-1].number), known[-1].number)
        )
    ui.say()
    ui.say(help_text())
    return 0
