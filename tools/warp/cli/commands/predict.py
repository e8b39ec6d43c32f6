"""./learn predict: asks a chapter's predictions, lets the run answer, explains, keeps the score."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from warp.base import build, install, paths, progress, ui
from warp.base.errors import LearnError, UsageError
from warp.base.machine import Machine
from warp.chapter import asked_about, chapters, predictions
from warp.chapter.chapters import Chapter
from warp.chapter.errors import NotRecorded
from warp.chapter.expressions import Numbers
from warp.chapter.predictions import Asked
from warp.chapter.source import Prediction
from warp.cli.options import Arguments
from warp.exercise import catalogue

WIDTH = 96
ROOM = 70  # lines of code before a question; a function that does not fit is named with its place
STOP = ("q", "quit", "exit")
DRAWING = re.compile(r"^```\{drawing\}[^\n]*\n```$", re.MULTILINE)


def main(arguments: Arguments) -> int:
    if len(arguments.words) != 1:
        raise UsageError("name one chapter: ./learn predict 01")
    known = chapters.all_chapters()
    word = arguments.words[0]
    if word in [exercise.name for exercise in catalogue.whatever_there_is()]:
        raise UsageError(f"{word} is an exercise: write your numbers into its file, then ./learn check {word}")
    chapter = chapters.find(word, known)
    if chapter.problem:
        raise LearnError(chapter.problem)
    asked = [one for one in predictions.collect(Path(chapter.source)) if one.main_track]
    if not asked:
        raise LearnError(f"chapter {chapter.number} asks no predictions yet")
    guesses = None
    if arguments.answers is not None:
        guesses = [part.strip() for part in arguments.answers.split(";")]
        if len(guesses) > len(asked):
            raise UsageError(
                f"--answers has {len(guesses)} guesses; chapter {chapter.number} asks {len(asked)} predictions"
            )
        for one, typed in zip(asked, guesses):
            if typed and predictions.guessed(one.prediction, typed) is None:
                raise UsageError(f"'{typed}' is no answer to {one.name}. {legal(one.prediction)}")
    machine = Machine()
    lack = install.out_of_reach(machine, "simulator")
    if lack:
        asked = without_counts(asked, lack)
    else:
        install.ensure(machine, "simulator")
        build.build("simulator", machine, f"chapter {chapter.number} for the simulator", [chapter.name], patience=1.0)
    numbers = open_numbers(chapter)
    done = progress.read().get("predictions", {}).get(chapter.key, {})
    todo = asked if arguments.again or guesses is not None else [one for one in asked if one.name not in done]
    if not todo:
        ui.say(score(done, asked))
        ui.say(f"You have answered all of them; once more: ./learn predict {chapter.number} --again")
        return 0
    return ask_all(chapter, asked, todo, numbers, guesses)


def without_counts(asked: list[Asked], lack: str) -> list[Asked]:
    """The predictions that need no run of the simulator: measured times answer them, or arithmetic."""
    kept = [one for one in asked if not re.search(r"\bcount\(", one.prediction.answer)]
    if not kept:
        raise LearnError(f"the simulator's counts answer these predictions, and it lacks {lack}")
    if len(kept) < len(asked):
        few = f"{len(asked) - len(kept)} of {len(asked)} predictions"
        ui.note(f"learn: {few} left out: counts answer them, and the simulator lacks {lack}")
    return kept


def open_numbers(chapter: Chapter) -> Numbers:
    """The chapter's counts and times: those of this machine's GPU where ./learn run left any."""
    own = Path(paths.last_results("gpu", chapter.key))
    return Numbers(Path(chapter.source), Path(paths.build_folder("simulator")), own if own.exists() else None)


def ask_all(
    chapter: Chapter, asked: list[Asked], todo: list[Asked], numbers: Numbers, guesses: list[str] | None
) -> int:
    paint = ui.palette()
    ui.say(paint("bold", f"Chapter {chapter.number}, {chapter.title}: {len(asked)} predictions"))
    ui.say("Answer with a number or a choice. Enter skips a question, q ends; answers so far are kept.")
    listing = Listing(chapter)
    for index, one in enumerate(todo):
        ui.say()
        place = asked.index(one) + 1
        if index == 0 or todo[index - 1].explanation is not one.explanation:
            situate(one)
            listing.elsewhere()
        listing.show(one)
        question = f"{ui.plain(one.prediction.question)} {in_brackets(one.prediction, numbers)}".rstrip()
        ui.say(paint("bold", f"{place}/{len(asked)}  ") + ui.wrap(question, 5, WIDTH))
        for number, choice in enumerate(one.prediction.choices, start=1):
            ui.say(f"     {number}  {ui.plain(choice)}")
        if guesses is not None:
            typed: str | None = guesses[index] if index < len(guesses) else ""
            ui.say(f"> {typed}")
        else:
            typed = ask(one.prediction)
        if typed is None or typed.lower() in STOP:
            break
        settle(chapter, one, typed, numbers)
        following = todo[index + 1] if index + 1 < len(todo) else None
        if not following or following.explanation is not one.explanation:
            explain(one)
    ui.say()
    kept = progress.read().get("predictions", {}).get(chapter.key, {})
    ui.say(score(kept, asked))
    missed = [one for one in todo if one.name in kept and not kept[one.name].get("near")]
    for section in dict.fromkeys((heading(one), str(one.file)) for one in missed):
        ui.say(f"Read again: {section[0]} ({paths.shown(section[1])})")
    ui.say(f"Next: ./learn run {chapter.number} shows the whole ladder; ./learn docs has the text.")
    return 0


def situate(one: Asked) -> None:
    """Where the question stands in the chapter, and what is told before it."""
    paint = ui.palette()
    ui.say(paint("bold", f"--- {heading(one)} ") + f"({paths.shown(str(one.file))}:{one.prediction.line})")
    told = [
        paragraph
        for text in one.lead
        for paragraph in re.split(r"\n\s*\n", DRAWING.sub("", text))
        if paragraph.strip() and not paragraph.startswith("[rung ")
    ]
    for paragraph in told:
        ui.say()
        ui.say(indented(paragraph))
    ui.say()


def heading(one: Asked) -> str:
    """The heading above a question, without its number."""
    return re.sub(r"^[\d.]+\s+", "", ui.plain(one.section))


class Listing:
    """Shows the code that questions are about: what was shown already is not shown again."""

    def __init__(self, chapter: Chapter) -> None:
        self.main = Path(chapter.source)
        self.here: set[Any] = set()  # shown or named for the questions of this place
        self.sitting: set[Any] = set()  # shown for any

    def elsewhere(self) -> None:
        """The questions that follow stand at another place."""
        self.here = set()

    def show(self, one: Asked) -> None:
        """The functions that the answer is about, whole, and what they call while there is room."""
        found = {name: lines for name, lines in asked_about.pieces(self.main, one).items() if lines}
        found = {name: lines for name, lines in found.items() if tuple(lines) not in self.here}
        asked = asked_about.answered(self.main, one)
        room, chosen = ROOM, set()
        for name in sorted(found, key=lambda name: (name not in asked, len(found[name]))):
            if tuple(found[name]) not in self.sitting and (len(found[name]) <= room or not name):
                chosen.add(name)
                room -= len(found[name])
        after = True  # a function, which ends with a blank line
        for name, lines in found.items():
            if name in chosen:
                if len(lines) > 1 and not after:
                    ui.say()
                for line in lines:
                    ui.say("    " + line if line.strip() else "")
                self.sitting.add(tuple(lines))
                after = len(lines) > 1
                if after:
                    ui.say()
            elif name in asked:
                where = "as above" if tuple(lines) in self.sitting else asked[name]
                ui.say(f"    // {name}: {where}")
                after = False
            self.here.add(tuple(lines))
        if found and not after:
            ui.say()


def in_brackets(prediction: Prediction, numbers: Numbers) -> str:
    """In which unit to answer, of which GPU, and how near is right: (ms on an NVIDIA H200, within 50 %)."""
    parts = []
    try:
        gpu = f"on an {numbers.device()}" if predictions.is_measured(prediction) else ""
    except LearnError:
        gpu = ""
    if not prediction.choices:
        unit = ui.plain(prediction.unit) or "a number"
        parts.append("a part " + unit if unit.startswith("of ") else unit)
    parts.append(gpu)
    first = " ".join(part for part in parts if part)
    near = prediction.near if prediction.near in ("", "exact") else f"within {within(prediction)}"
    text = ", ".join(part for part in (first, near) if part)
    return f"({text})" if text else ""


def ask(prediction: Prediction) -> str | None:
    """What the reader types, asked again until it can be read; None at the end of the input."""
    while True:
        sys.stdout.write("> ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            ui.say()
            return None
        typed = line.strip()
        if not typed or typed.lower() in STOP or predictions.guessed(prediction, typed) is not None:
            return typed
        ui.say("  " + legal(prediction))


def legal(prediction: Prediction) -> str:
    """What a guess may look like."""
    if prediction.choices:
        return f"Type 1 to {len(prediction.choices)}, or the beginning of a choice; Enter skips."
    return "Type a number, as 32, 1,024, 2.5, 1/32, 2^20 or 90 %; Enter skips."


def settle(chapter: Chapter, one: Asked, typed: str, numbers: Numbers) -> None:
    """Shows guess, answer and why; keeps whether the guess was near."""
    paint = ui.palette()
    prediction = one.prediction
    guess = predictions.guessed(prediction, typed) if typed else None
    try:
        answer = predictions.answer(prediction, numbers)
    except NotRecorded as error:
        ui.say(f"  Nobody has measured this yet ({error}).")
        return
    except predictions.NoChoice as error:  # a reader's own GPU may do what no choice says
        ui.say(f"  No answer: {error}.")
        return
    except LearnError as error:
        raise LearnError(f"{paths.shown(str(one.file))}:{prediction.line}: {error}")
    unit = f" {ui.plain(prediction.unit)}" if prediction.unit else ""
    shown = predictions.shown(guess) if guess is not None else "-"
    width = max(len(shown), len(answer.text))
    if guess is None:
        word, colour = "skipped", "yellow"
    elif predictions.is_near(prediction, guess, answer.value):
        word, colour = (
            "right"
            if prediction.choices or prediction.near == "exact"
            else f"near enough (within {within(prediction)})",
            "green",
        )
    else:
        word, colour = (
            "no"
            if prediction.choices or prediction.near == "exact"
            else f"not near (asked: within {within(prediction)})",
            "red",
        )
    ui.say(f"  your guess  {shown:>{width}}{unit if guess is not None else ''}")
    ui.say(f"  the answer  {answer.text:>{width}}{unit}  ({answer.source})  {paint(colour, word)}")
    if guess is not None:
        near = colour == "green"
        progress.change(lambda kept: keep(kept, chapter.key, one.name, typed, near))


def explain(one: Asked) -> None:
    """Why, in the chapter's words; predictions that stand together share it."""
    for paragraph in one.explanation:
        text = indented(paragraph)
        if text:  # no drawing alone
            ui.say()
            ui.say(text)


def within(prediction: Prediction) -> str:
    return prediction.near.replace("factor", "a factor of")


def keep(
    kept: dict[str, dict[str, dict[str, dict[str, bool | str]]]], chapter: str, name: str, typed: str, near: bool
) -> None:
    """The first guess is the one that counts."""
    mine = kept.setdefault("predictions", {}).setdefault(chapter, {})
    mine.setdefault(name, {"guess": typed, "near": near})


def score(done: dict[str, dict[str, bool | str]], asked: list[Asked]) -> str:
    """How many of a chapter's predictions are answered, and how many of these were near."""
    answered = [done[one.name] for one in asked if one.name in done]
    near = sum(1 for one in answered if one["near"])
    return f"Score: {near} of {len(answered)} right or near; {len(asked) - len(answered)} of {len(asked)} still open."


def indented(text: str) -> str:
    """A block of prose: its paragraphs wrapped, tables and code as they stand, drawings left out."""
    text = DRAWING.sub("", text)
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        if not paragraph.strip():
            continue
        if re.match(r" {4}|\||```|~~~|[-*] |\d+\. ", paragraph):
            found.append("\n".join("  " + ui.plain(line) for line in paragraph.split("\n")))
        else:
            words = ui.plain(" ".join(paragraph.split()))
            found.append("  " + ui.wrap(words, 2, WIDTH))
    return "\n\n".join(found)
