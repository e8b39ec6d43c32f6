"""The exercises on the site: a page for each, with the hints one behind the other and the solution behind them; cards at the
end of their chapter."""

from __future__ import annotations

import re
from collections.abc import Callable

from warp.exercise.exercises import Exercise, ExerciseError, header_of
from warp.site import live
from warp.site.markup import container, escape, fence, typeset


def dropdown(title: str, body: str, classes: str = "fold") -> str:
    """A folded part; nothing in `body` may close it."""
    longest = max((len(colons) for colons in re.findall(r"^:{3,}", body, re.MULTILINE)), default=2)
    colons = ":" * (longest + 1)
    return f"{colons}{{dropdown}} {title}\n:class-container: {classes}\n\n{body}\n\n{colons}"


def code_of(text: str) -> str:
    """A listing of a source without the comment that it begins with, under its real line numbers."""
    header = header_of(text)
    body = text[len(header) :].rstrip("\n")
    first = header.count("\n") + 1
    while body.startswith("\n"):
        body, first = body[1:], first + 1
    return fence(body, "{code-block} cuda", [":linenos:", f":lineno-start: {first}", ""])


def hints(texts: list[str]) -> str:
    """Hints of which each stands in the fold of the one before it: a reader meets one at a time."""
    inner = ""
    for number in range(len(texts), 0, -1):
        inner = dropdown(
            f"Hint {number} of {len(texts)}", f"{typeset(texts[number - 1])}\n\n{inner}".strip(), "fold hint"
        )
    return inner


def rubric(text: str) -> str:
    return f":::{{rubric}} {text}\n:::"


def facts(exercise: Exercise) -> str:
    return f"{exercise.kind.capitalize()}, about {exercise.minutes} min{', on the short path' if exercise.on_short_path else ''}"


def section(exercises: list[Exercise]) -> str:
    """What stands at the end of the chapter's page; empty where there is no exercise."""
    if not exercises:
        return ""
    cards = [
        container("card", f"[{escape(one.title)}](/exercises/{one.chapter}/{one.name}.md)\n\n{facts(one)}")
        for one in exercises
    ]
    return "\n".join(
        [
            "## Exercises",
            "",
            "`./learn start` copies them into `my/`, a folder of your own. `./learn watch` checks each time that you save.",
            "",
            container("cards", "\n\n".join(cards)),
            "",
        ]
    )


def trained(exercises: list[Exercise], road: list[str], where: str) -> None:
    """Puts links to exercises at the end of the sections that they train; `road` has a chapter's blocks."""
    for number in dict.fromkeys(one.section for one in exercises if one.section):
        begins = next((i for i, block in enumerate(road) if block.startswith(f"## {number}. ")), None)
        those = [one for one in exercises if one.section == number]
        if begins is None:
            raise ExerciseError(f"exercises/{those[0].key}.md: {where} has no section {number}")
        ends = next((i for i in range(begins + 1, len(road)) if road[i].startswith("## ")), len(road))
        links = " · ".join(
            f"[{escape(one.title)}](/exercises/{one.chapter}/{one.name}.md) ({one.kind}, {one.minutes} min)"
            for one in those
        )
        road[ends:ends] = [container("trains", f"Try it: {links}"), ""]


def exercise_page(exercise: Exercise) -> str:
    """The statement, the command, the hints and the solution."""
    solution = [
        code_of(exercise.solution),
        rubric("Why"),
        typeset(exercise.explanation),
        live.answer(exercise.name),
        rubric("What else"),
        typeset(exercise.alternatives),
    ]
    return "\n\n".join(
        [
            "---\norphan: true\n---",
            f"# {escape(exercise.title)}",
            typeset(exercise.task),
            container(
                "facts",
                f"{facts(exercise)}. An exercise of [chapter {exercise.number}](/chapters/{exercise.chapter}.md).",
            ),
            fence(f"./learn start {exercise.name}\n./learn check {exercise.name}", "{code-block} console", [""]),
            code_of(exercise.blank),
            live.ask(exercise.name),
            hints(exercise.hints),
            dropdown("The solution, and why", "\n\n".join(solution), "fold solution"),
            "",
        ]
    )


def stage(write: Callable[[str, str], None], exercises: list[Exercise]) -> str:
    """Stages the pages of a chapter's exercises with `write(name, text)`; returns the section for the chapter's page."""
    for exercise in exercises:
        write(f"exercises/{exercise.chapter}/{exercise.name}.md", exercise_page(exercise))
    return section(exercises)
