"""An exercise's task, on the terminal."""

from __future__ import annotations

from warp.base import paths, ui
from warp.exercise import workspace
from warp.exercise.exercises import Exercise


def task(exercise: Exercise) -> None:
    """Title, task and what to do with it."""
    paint = ui.palette()
    ui.say(
        "{}  ({}, about {} min)".format(
            paint("bold", f"{exercise.number} {exercise.title}"), exercise.kind, exercise.minutes
        )
    )
    ui.say()
    for line in prose(exercise.task):
        ui.say("  " + line if line else "")
    ui.say()
    ui.say("  Edit   " + paint("cyan", paths.shown(workspace.file_of(exercise))))
    ui.say(
        "  Check  "
        + paint("cyan", "./learn check " + exercise.name)
        + "   (./learn watch does it each time that you save)"
    )
    ui.say("  Stuck  " + paint("cyan", "./learn hint " + exercise.name))


def prose(markdown: str) -> list[str]:
    """Paragraphs of the Markdown, wrapped; lists and code as they stand."""
    import textwrap

    lines: list[str] = []
    for paragraph in markdown.split("\n\n"):
        if lines:
            lines.append("")
        if any(line.startswith(("    ", "- ", "|", "```", "1. ")) for line in paragraph.split("\n")):
            lines += paragraph.split("\n")
        else:
            words = ui.plain(" ".join(paragraph.split()))
            lines += textwrap.wrap(words, 94, break_long_words=False, break_on_hyphens=False)
    return lines
