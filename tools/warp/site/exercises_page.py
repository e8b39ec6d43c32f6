"""The exercises on the site: a page for each, with the hints one behind the other and the solution behind them; cards at the
end of their chapter."""

from __future__ import annotations

from pathlib import Path

from warp.chapter.source import Code
from warp.exercise.exercises import Exercise, ExerciseError, header_of
from warp.site import live
from warp.site.blocks import Block, Box, Fold, Listing, Output, Page, Rubric, Text, written
from warp.site.markup import escape


def code_of(text: str) -> Listing:
    """A listing of a source without the comment that it begins with, under its real line numbers."""
    header = header_of(text)
    body = text[len(header) :].rstrip("\n")
    first = header.count("\n") + 1
    while body.startswith("\n"):
        body, first = body[1:], first + 1
    return Listing(Code(first, body.split("\n")))


def hints(texts: list[str], notes: Path) -> list[Block]:
    """Hints of which each stands in the fold of the one before it: a reader meets one at a time."""
    inner: list[Block] = []
    for number in range(len(texts), 0, -1):
        said = written(texts[number - 1], notes)
        inner = [Fold(f"Hint {number} of {len(texts)}", [said, *inner], "fold hint")]
    return inner


def facts(exercise: Exercise) -> str:
    return f"{exercise.kind.capitalize()}, about {exercise.minutes} min{', on the short path' if exercise.on_short_path else ''}"


def section(exercises: list[Exercise]) -> list[Block]:
    """What stands at the end of the chapter's page; empty where there is no exercise."""
    if not exercises:
        return []
    cards: list[Block] = [
        Box("card", [Text(f"[{escape(one.title)}](/exercises/{one.chapter}/{one.name}.cu)\n\n{facts(one)}")])
        for one in exercises
    ]
    words = (
        "`./learn start` copies them into `my/`, a folder of your own. `./learn watch` checks each time that you save."
    )
    return [Text(f"## Exercises\n\n{words}"), Box("cards", cards)]


def trained(exercises: list[Exercise], road: list[Block], where: str) -> None:
    """Puts links to exercises at the end of the sections that they train; `road` has a chapter's blocks."""
    heads = [block.text if isinstance(block, Text) else "" for block in road]
    placed: dict[int, Block] = {}
    for number in dict.fromkeys(one.section for one in exercises if one.section):
        begins = next((i for i, head in enumerate(heads) if head.startswith(f"## {number}. ")), None)
        those = [one for one in exercises if one.section == number]
        if begins is None:
            raise ExerciseError(f"exercises/{those[0].key}.md: {where} has no section {number}")
        ends = next((i for i in range(begins + 1, len(heads)) if heads[i].startswith("## ")), len(heads))
        links = " · ".join(
            f"[{escape(one.title)}](/exercises/{one.chapter}/{one.name}.cu) ({one.kind}, {one.minutes} min)"
            for one in those
        )
        placed[ends] = Box("trains", [Text(f"Try it: {links}")])
    for at in sorted(placed, reverse=True):
        road.insert(at, placed[at])


def exercise_page(exercise: Exercise) -> Page:
    """The statement, the command, the hints and the solution."""
    of = f"{facts(exercise)}. An exercise of [chapter {exercise.number}](/chapters/{exercise.chapter}.cu)."
    solution: list[Block] = [
        code_of(exercise.solution),
        Rubric("Why"),
        written(exercise.explanation, exercise.notes),
        *live.answer(exercise.name),
        Rubric("What else"),
        written(exercise.alternatives, exercise.notes),
    ]
    blocks: list[Block] = [
        Text(f"# {escape(exercise.title)}"),
        written(exercise.task, exercise.source),
        Box("facts", [Text(of)]),
        Output(f"./learn start {exercise.name}\n./learn check {exercise.name}", "", "console"),
        code_of(exercise.blank),
        *live.ask(exercise.name),
        *hints(exercise.hints, exercise.notes),
        Fold("The solution, and why", solution, "fold solution"),
    ]
    return Page(exercise.source, blocks, is_beside=True)
