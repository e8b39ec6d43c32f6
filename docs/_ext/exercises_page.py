"""The exercises on the site: at the end of their chapter with hints folded, each solution on a page of its own."""

from __future__ import annotations

import re
from pathlib import Path

import live
from markup import escape, fence, typeset

from warp.exercise.exercises import Exercise, header_of


def dropdown(title: str, body: str) -> str:
    """A folded part; nothing in `body` may close it."""
    longest = max((len(colons) for colons in re.findall(r"^:{3,}", body, re.MULTILINE)), default=2)
    colons = ":" * (longest + 1)
    return f"{colons}{{dropdown}} {title}\n:class-container: fold\n\n{body}\n\n{colons}"


def code_of(file: Path) -> str:
    """A listing of a source without the comment that it begins with, under its real line numbers."""
    text = file.read_text(encoding="utf-8")
    header = header_of(text)
    body = text[len(header) :].rstrip("\n")
    first = header.count("\n") + 1
    while body.startswith("\n"):
        body, first = body[1:], first + 1
    return fence(body, "{code-block} cuda", [":linenos:", f":lineno-start: {first}", ""])


def section(exercises: list[Exercise]) -> str:
    """What stands at the end of the chapter's page; empty where there is no exercise."""
    if not exercises:
        return ""
    out = [
        "## Exercises",
        "",
        "`./learn start` copies them into `my/`, a folder of your own. `./learn check NAME` runs one on the simulator, and "
        "`./learn watch` does it each time that you save.",
        "",
    ]
    for exercise in exercises:
        out += [
            f"### {escape(exercise.title)}",
            "",
            f":::{{container}} facts\n`{exercise.name}`: {exercise.kind}, about {exercise.minutes} minutes"
            f"{', on the short path' if exercise.on_short_path else ''}.\n:::",
            "",
            typeset(exercise.task),
            "",
            dropdown("The file", code_of(exercise.source)),
            "",
        ]
        out += [
            dropdown(f"Hint {number} of {len(exercise.hints)}", typeset(hint)) + "\n"
            for number, hint in enumerate(exercise.hints, 1)
        ]
        out += [f"[The solution, and why](/exercises/{exercise.chapter}/{exercise.name}.md)", ""]
    return "\n".join(out)


def solution_page(exercise: Exercise) -> str:
    """A page that nothing but the exercise links to."""
    return "\n".join(
        [
            "---",
            "orphan: true",
            "---",
            "",
            f"# Solution: {escape(exercise.title)}",
            "",
            f"[Back to the exercises of chapter {exercise.number}](/chapters/{exercise.chapter}.md)",
            "",
            typeset(exercise.task),
            "",
            "## The code",
            "",
            code_of(exercise.solution),
            "",
            "## Why",
            "",
            typeset(exercise.explanation),
            "",
            live.answer(exercise.name),
            "",
            "## What else",
            "",
            typeset(exercise.alternatives),
            "",
        ]
    )


def stage(write, exercises: list[Exercise]) -> str:
    """Stages the solutions of a chapter's exercises with `write(name, text)`; returns the section for its page."""
    for exercise in exercises:
        write(f"exercises/{exercise.chapter}/{exercise.name}.md", solution_page(exercise))
    return section(exercises)
