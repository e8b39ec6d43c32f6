"""./learn author new-exercise NAME --chapter NN: the four files of an exercise that works, with what has to be written marked."""

from __future__ import annotations

import argparse
import re

from warp.base import paths, steps, ui
from warp.base.errors import UsageError
from warp.chapter import chapters
from warp.cli.commands import new
from warp.exercise import exercises as course
from warp.exercise import proofs


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./learn author new-exercise", description="Begins an exercise: its four files, which work as they are."
    )
    parser.add_argument("name", metavar="NAME", help="small letters, digits and _, as in missing_guard")
    parser.add_argument("--chapter", required=True, metavar="NN", help="number or name of its chapter")
    arguments = parser.parse_args(words)
    name, chapter = arguments.name, chapters.find(arguments.chapter, chapters.all_chapters())
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(f"'{name}' is no name of an exercise: small letters, digits and _, as in missing_guard")
    known = course.all_exercises(proofs.ROOT)
    for other in known:
        if other.name == name:
            raise UsageError(f"there is an exercise {other.key} already")
    exercise = course.Exercise(proofs.ROOT, chapter.key, name)
    level = 1 + max((other.level for other in known if other.chapter == chapter.key), default=0)
    values = {"TITLE": name.replace("_", " ").capitalize(), "LEVEL": str(level)}
    steps.make_folder(str(exercise.checker.parent))
    for file, template in (
        (exercise.source, "exercise.cu"),
        (exercise.notes, "exercise.md"),
        (exercise.checker, "exercise_check.cu"),
        (exercise.mutants_file, "exercise_check.diff"),
    ):
        new.write(str(file), template, **values)
        ui.say(paths.shown(str(file)))
    ui.say(f"They are a whole exercise. Put yours in its place; {course.FILL_IN} stands where words are missing.")
    new.next_steps(
        (f"./learn author prove {name}", "says what is still missing; exercises/README.md has the form"),
        ("./learn test py.course.header", "whether the course still takes as long as the README says"),
    )
    return 0
