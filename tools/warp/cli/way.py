"""The way through the course: its steps in order, how long they take, and which comes next. `./learn`, `next`, `run` and
`path` ask here, so that they give one answer.

A chapter is one step, to be run and read; its exercises follow it. On the short path stand the chapters and exercises whose
headers say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from warp.base import progress
from warp.chapter import chapters
from warp.chapter.chapters import Chapter
from warp.chapter.last_run import last_run
from warp.exercise import catalogue, record, workspace
from warp.exercise.exercises import Exercise

PATHS = ("short", "full")
CHOSEN = "path"  # the key of the progress


@dataclass(eq=False)
class Step:
    """One thing to do: a chapter, or one of its exercises. What a reader types for it, and why."""

    command: str = ""
    why: str = ""
    chapter: Chapter | None = None
    exercise: Exercise | None = None


class Way:
    def __init__(self) -> None:
        self.chapters = [chapter for chapter in chapters.all_chapters() if not chapter.problem]
        self.exercises = catalogue.whatever_there_is()
        self.records = record.all_records(self.exercises)
        self.kept = progress.read()
        self.path = self.kept.get(CHOSEN) if self.kept.get(CHOSEN) in PATHS else "full"

    def is_on(self, one: Chapter | Exercise, path: str = "") -> bool:
        """Whether a chapter or an exercise is on the path that was chosen, or on `path`."""
        return (path or self.path) == "full" or one.on_short_path

    def exercises_of(self, chapter: Chapter, path: str = "") -> list[Exercise]:
        return [e for e in self.exercises if e.chapter == chapter.key and self.is_on(e, path)]

    def runs(self, chapter: Chapter) -> dict[str, dict[str, int]]:
        """{backend: statuses} of the last run on each backend."""
        runs = {backend: last_run(backend, chapter) for backend in ("gpu", "simulator")}
        return {backend: counts for backend, counts in runs.items() if counts is not None}

    def is_begun(self, chapter: Chapter) -> bool:
        """It was run, or something in it was tried. Then its step on the path is done: `./learn`, `path` and `next` take it as
        read."""
        mine = [self.records[e.key] for e in self.exercises if e.chapter == chapter.key]
        tried = any(one.is_done() or one.tries for one in mine)
        return tried or bool(self.kept.get("predictions", {}).get(chapter.key)) or bool(self.runs(chapter))

    def is_done(self, one: Chapter | Exercise) -> bool:
        return self.is_begun(one) if isinstance(one, Chapter) else self.records[one.key].is_done()

    def things(self, path: str = "") -> list[Chapter | Exercise]:
        """Chapters and exercises in their order."""
        found: list[Chapter | Exercise] = []
        for chapter in self.chapters:
            if self.is_on(chapter, path):
                found += [chapter, *self.exercises_of(chapter, path)]
        keys = [chapter.key for chapter in self.chapters]
        return found + [e for e in self.exercises if e.chapter not in keys and self.is_on(e, path)]

    def minutes(self, path: str = "") -> tuple[int, int]:
        """(all, done)"""
        things = self.things(path)
        return sum(one.minutes for one in things), sum(one.minutes for one in things if self.is_done(one))

    def here(self) -> Exercise | None:
        """The exercise that the learner named, checked or was led to last; None where that is none."""
        here = record.current(self.exercises)
        return here if here is not None and record.was_chosen(here) else None

    def next(self, leave: bool = False, but: Chapter | Exercise | None = None) -> Step | None:
        """The next step, None at the end. `leave`: not the exercise that the learner is at; `but`: not this one, while there
        is another."""
        here = self.here()
        if here is not None and not leave and not self.is_done(here) and not self.records[here.key].later:
            why = f"the exercise of chapter {here.number} that you are at"
            return Step(f"./learn check {here.name}", why, exercise=here)
        things = self.things()
        begin = next((place for place, one in enumerate(things, 1) if here is not None and one.key == here.key), 0)
        open_ones = [one for one in things[begin:] + things[:begin] if not self.is_done(one)]
        aside = [one for one in open_ones if one.key in self.records and self.records[one.key].later]
        last = [one.key for one in (here, but) if one is not None]
        for one in sorted(open_ones, key=lambda one: (one.key in last, one in aside)):
            return self.step(one, one in aside)
        return None

    def step(self, one: Chapter | Exercise, was_aside: bool = False) -> Step:
        if isinstance(one, Chapter):
            return Step(
                f"./learn run {one.number}", f"chapter {one.number}, {one.title}" + in_minutes(one), chapter=one
            )
        if not workspace.is_started(one) and not any(map(workspace.is_started, self.exercises)):
            return Step("./learn start", "puts the exercises into my/ and shows the first one", exercise=one)
        why = f"an exercise of chapter {one.number}" + in_minutes(one)
        return Step(f"./learn next {one.name}", why + (", set aside for later" if was_aside else ""), exercise=one)

    def abilities(self) -> list[tuple[Chapter, str]]:
        """(chapter, what its reader can do) of the chapters all of whose steps on the path are done."""
        done = [
            chapter
            for chapter in self.chapters
            if self.is_on(chapter) and self.is_done(chapter) and all(map(self.is_done, self.exercises_of(chapter)))
        ]
        return [(chapter, chapter.afterwards) for chapter in done if chapter.afterwards]

    def end(self) -> list[str]:
        """Lines for who has done all of it."""
        rest = "" if self.path == "full" else "; ./learn path full goes on with the other chapters"
        lines = [f"You have done all of the {self.path} path{rest}."]
        if self.abilities():
            lines += ["You can now"]
        return lines + [f"  {chapter.number}  {text}" for chapter, text in self.abilities()]


def in_minutes(one: Chapter | Exercise, form: str = ", {} minutes") -> str:
    """How long a chapter or an exercise takes; "" where its header does not say."""
    return form.format(one.minutes) if one.minutes else ""
