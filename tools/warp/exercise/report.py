"""What a check came to, for the learner: what was run, what was wrong and where, the bars, and one next step."""

from __future__ import annotations

import os
import re
from typing import Any

from warp.base import paths, ui
from warp.base.ui import Palette
from warp.exercise import record, updates
from warp.exercise.exercises import Exercise
from warp.exercise.outcomes import Bar, Failure, Guess, Outcome
from warp.exercise.record import Record

WIDTH = 96
FEW = 3  # failures shown of one case; the rest is a consequence as a rule
# Findings that end the kernel: what the results are then is no news.
FATAL = ("out-of-bounds", "misaligned-access", "use-after-free", "device-access", "peer-access", "api-error", "hang")

# The next step for a kind of failure. Bars and wrong results have their own, below.
STEPS = {
    "compile": "mend that line; ./learn watch checks again each time that you save",
    "out-of-bounds": "is an index too large, or the allocation too small? Which threads are there, and how many bytes are there?",
    "shared-race": "two threads touch the same word: what makes one of them wait until the other is done?",
    "global-race": "two threads touch the same element: give each its own, or let one atomic operation do it",
    "barrier-divergence": "every thread of the block must come to the same __syncthreads(): take it out of the branch",
    "uninitialized-shared": "who writes this element of shared memory, and before whom?",
    "uninitialized-global": "who fills this memory before it is read: a kernel, a copy, a memset?",
    "misaligned-access": "a float4 needs an address that is a multiple of 16 bytes: when is it one?",
    "peer-access": "which device's kernel goes to which device's memory, and who has opened it in that direction?",
    "no-kernel": "which kernel shall do that work, and where is it launched?",
    "host-computes": "which kernel could compute that, where the data lie?",
    "input-changed": "the input is only to be read; write where the task says",
    "api-error": "look at the arguments of that call: what does it want, and in which unit?",
    "cuda-error": "look at the arguments of that call: what does it want, and in which unit?",
    "empty": "./learn reset {name} puts the exercise back",
    "unfit": "undo that in your editor; or ./learn reset {name}, which puts the exercise back and keeps this file",
    "interface": "undo the change of names or parameters; the text at the top of the file says which are needed",
    "hang": "which condition ends the loop, and who makes it true?",
    "timeout": "which condition ends the loop, and who makes it true?",
    "crash": "host code followed a pointer that is not its own",
}


def outcome(exercise: Exercise, source: str, result: Outcome, before: dict[str, Any], paint: Palette) -> list[str]:
    """Lines that tell of a check. `before`: the values of the bars at the last try."""
    shown = paths.shown(source)
    if result.passed:
        lines = ["{}  {}".format(paint("green+bold", exercise.name + ": passed"), facts(result))]
    else:
        lines = ["{}  {}".format(paint("red+bold", exercise.name + ": not yet"), facts(result))]
    lines += failures(result, source, shown, paint)
    lines += predictions(result, paint)
    lines += bars(result, source, shown, before, paint)
    if result.said.strip():
        said = result.said.rstrip().splitlines()
        lines += ["", "  Your code printed:"] + ["    " + line for line in said[:12]]
        if len(said) > 12:
            lines.append(f"    ... and {len(said) - 12} lines more")
    return lines


def for_editors(source: str, result: Outcome) -> list[str]:
    """FILE:LINE: error: what, one line for each thing that is wrong: a problem matcher finds them."""
    shown, lines = paths.shown(source), []

    def add(file: str | None, line: int | None, text: str) -> None:
        where = paths.shown(file) if file else shown
        lines.append("{}:{}: error: {}".format(where, line or 1, " ".join(text.split())))

    for failure in result.failures:
        case = failure.case + ": " if failure.case else ""
        writer = re.search(r", line (\d+)$", failure.writer)
        line = failure.line or (int(writer[1]) if writer else 0)
        add(failure.file, line, case + first_sentences(failure.message))
    for bar in result.bars:
        if not bar.holds:
            text = f"{bar.name}: {number(bar.value)}, {bar.relation} {number(bar.bar)}"
            add(bar.file, bar.line, bar.case + ": " + text)
    for guess in result.predictions:
        if not guess.holds:
            verdict = guess.hint if guess.answered else "no answer yet"
            add("", line_with(source, guess.question), f"prediction {guess.question}: {verdict}")
    return lines


def line_with(file: str, text: str) -> int:
    """The last line of a file that has `text`, as a constant or a kernel is named there; 1 where none has."""
    wanted, found = re.sub(r"\W|_", "", text).lower(), 1
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            for number_, line in enumerate(opened, 1):
                if wanted and wanted in re.sub(r"\W|_", "", line).lower():
                    found = number_
    except OSError:
        pass
    return found


def facts(result: Outcome) -> str:
    where = {"gpu": "on the simulator and the GPU", "gpu alone": "on the GPU alone"}.get(
        result.backend, "on the simulator"
    )
    cases = list(dict.fromkeys(result.cases))
    if not cases:
        answers = len(result.predictions)
        return f"({answers} answer{'' if answers == 1 else 's'})" if answers else "(not run)"
    count = "1 case" if len(cases) == 1 else f"{len(cases)} cases"
    return f"({count} {where}, {ui.duration(result.seconds)})"


def failures(result: Outcome, source: str, shown: str, paint: Palette) -> list[str]:
    lines = []
    cases = list(dict.fromkeys(result.cases))
    told, same = news(result.failures)
    for failure in told[:FEW]:
        case = failure.case
        lines.append("")
        if failure.kind in ("compile", "interface"):
            lines += located(failure, "does not compile", source, shown, paint)
            if failure.more:
                lines.append(f"    (and {failure.more} more; the first one often causes them)")
            continue
        if failure.kind == "wrong-result" and failure.place:
            lines += wrong_element(failure, paint)
            continue
        label = "{}: ".format(paint("bold", case)) if case else ""
        if failure.line:
            lines += located(failure, case + ": " + failure.kind if case else failure.kind, source, shown, paint)
            for other in same.get((failure.kind, case), ())[:FEW]:
                text = line_of(other.file, other.line)
                lines.append("    and in line {}: {}".format(other.line, paint("cyan", text)))
        else:
            lines.append("  " + ui.wrap(label + failure.message, 4, WIDTH))
    if len(told) > FEW:
        lines.append(f"    ... and {len(told) - FEW} findings more")
    failed = [failure.case for failure in result.failures if failure.case]
    if failed and failed[0] in cases and cases.index(failed[0]) > 0:
        lines += ["", "  Right so far: {}.".format("; ".join(cases[: cases.index(failed[0])]))]
    return lines


def news(
    all_failures: list[Failure],
) -> tuple[list[Failure], dict[tuple[str, str], list[Failure]]]:
    """The failures that tell something of their own, and {(kind, case): further findings of that kind, in other lines}."""
    told: list[Failure] = []
    same: dict[tuple[str, str], list[Failure]] = {}
    for failure in all_failures:
        case = failure.case
        if failure.kind == "wrong-result" and any(f.kind in FATAL and f.case == case for f in told):
            continue
        key = (failure.kind, case)
        if failure.line and key in same:
            same[key].append(failure)
            continue
        if failure.line:
            same[key] = []
        told.append(failure)
    return told, same


def wrong_element(failure: Failure, paint: Palette) -> list[str]:
    got = re.sub("-?nan", "NaN", failure.got)
    lines = ["  {}: {} is wrong".format(paint("bold", failure.case), failure.place)]
    lines.append(f"    expected  {failure.expected}")
    lines.append(
        "    got       {}{}".format(
            got,
            ", as before: no thread wrote it"
            if failure.unwritten
            else ", which is made of an element that nobody has set"
            if failure.unset
            else "",
        )
    )
    if failure.inputs:
        lines.append(f"    inputs    {ui.wrap(failure.inputs, 14, WIDTH)}")
    if failure.writer:
        lines.append(f"    written by {failure.writer}")
    if failure.of > 1:
        lines.append(f"    {failure.wrong} of {failure.of} elements are wrong")
    return lines


def located(failure: Failure, title: str, source: str, shown: str, paint: Palette) -> list[str]:
    """A failure at a line: the line itself, then what is to be said."""
    mine = os.path.realpath(failure.file) == os.path.realpath(source) if failure.file else False
    lines = []
    if failure.file and failure.line:
        where = f"{shown if mine else paths.shown(failure.file)}:{failure.line}"
        lines.append("  {}: {}".format(paint("bold", where), title))
        text = line_of(failure.file, failure.line)
        if text:
            lines.append("      " + paint("cyan", text))
    else:
        lines.append("  {}: {}".format(paint("bold", shown), title))
    lines.append("    " + ui.wrap(first_sentences(failure.message, failure.file), 4, WIDTH))
    return lines


def first_sentences(message: str, file: str | None = None) -> str:
    """What happened, without the place, which stands above, and without the advice: the next step takes its turn."""
    message = re.sub(r" at \S+:\d+(?= in | failed)", "", message)
    message = re.sub(r"(?:, and the program never asked for it:| Usual cause:| \(SIMT_STEPS=).*", "", message)
    message = re.sub(r"(?<=of )(\d+)( bytes.* in shared memory, byte (\d+))(?!\d)", with_element, message)
    if file:
        message = re.sub(rf"\bat \S*\b{re.escape(os.path.basename(file))}:(\d+)", r"in line \1", message)
    return message.strip()


def with_element(match: re.Match[str]) -> str:
    """`of 4 bytes ... byte 1020` with the element that this is in an array of such."""
    size, byte = int(match[1]), int(match[3])
    return match[0] + (f" (element {byte // size} of {size} bytes)" if size and byte % size == 0 else "")


def usual_cause(message: str) -> str:
    """The advice of a finding, as a sentence of its own."""
    match = re.search(r"Usual cause: (.+)", message)
    return "usual cause: " + match[1].rstrip(". ") if match else ""


def line_of(file: str, number: int) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read().splitlines()[number - 1].strip()
    except (OSError, IndexError):
        return ""


def predictions(result: Outcome, paint: Palette) -> list[str]:
    if not result.predictions:
        return []
    lines = [""]
    width = max(len(guess.question) for guess in result.predictions)
    for guess in result.predictions:
        if guess.holds:
            verdict = f"{number(guess.guess):<8} {paint('green', 'right')}"
        elif not guess.answered:
            verdict = f"{'':<8} {paint('yellow', 'no answer yet')}"
        else:
            verdict = f"{number(guess.guess):<8} {paint('red', guess.hint)}"
        lines.append(f"  {guess.question:<{width}}  {verdict}")
    return lines


def bars(result: Outcome, source: str, shown: str, before: dict[str, Any], paint: Palette) -> list[str]:
    """The last look at each bar, or the one that was missed; with the line that causes it."""
    if not result.bars:
        return []
    latest: dict[str, Bar] = {}
    for bar in result.bars:
        if bar.name not in latest or latest[bar.name].holds:
            latest[bar.name] = bar
    lines = [""]
    width = max(len(name) for name in latest)
    for name, bar in latest.items():
        word = paint("green", "holds") if bar.holds else paint("red", "missed")
        text = f"  {name:<{width}}  {number(bar.value)}  ({bar.relation} {number(bar.bar)})  {word}"
        last = before.get(record.bar_and_case(bar))
        if isinstance(last, (int, float)) and last != bar.value:
            text += "  before: " + number(last)
        if not bar.holds:
            text += "  at " + bar.case
        lines.append(text)
        for place in [] if bar.holds else bar.places()[:FEW]:
            mine = os.path.realpath(place.file) == os.path.realpath(source)
            where = f"{shown if mine else paths.shown(place.file)}:{place.line}"
            text = paint("cyan", line_of(place.file, place.line))
            lines.append(f"      {where}  {number(place.at_line)}   {text}")
    return lines


def number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def next_step(exercise: Exercise, result: Outcome, record: Any) -> list[str]:
    """Lines: what to do or to ask next, and from the third try on where there is help."""
    name = exercise.name
    if result.passed:
        return [f"Next: ./learn solution {name} tells why it works and what else does; ./learn next goes on."]
    step, help_ = question(result).format(name=name), ""
    if record.tries >= 3 and record.hints >= len(exercise.hints):
        help_ = f"./learn solution {name} --anyway shows the solution and why"
    elif (record.tries >= 2 or not step) and record.hints < len(exercise.hints):
        help_ = f"./learn hint {name} shows hint {record.hints + 1} of {len(exercise.hints)}"
    lines = ["Next: " + step + ("" if step.endswith("?") else ".")] if step else []
    if help_:
        lines.append(("Help: " if step else "Next: ") + help_ + ".")
    return lines


def question(result: Outcome) -> str:
    """What a learner should ask of what went wrong first; "" where only a hint helps."""
    if result.failures:
        return of_failure(result.failures[0])
    missed = [bar for bar in result.bars if not bar.holds]
    if missed:
        return of_bar(missed[0])
    wrong = [guess for guess in result.predictions if not guess.holds]
    if any(not guess.answered for guess in wrong):
        return "write a number for each question, then check again"
    if wrong:
        return of_prediction(wrong[0])
    return ""


# A word of a prediction -> what to ask of it. The first that is found counts: "store sectors" is about sectors.
OF_PREDICTIONS = (
    ("sector", "which sectors of 32 bytes does one warp touch there, from lane 0 to lane 31?"),
    (
        "wavefront|stride|rows of|float[24], ",
        "which lanes of a warp need different words of one bank (word modulo 32)?",
    ),
    ("per cent|busy|waves|tiles", "how many blocks are there, and how many run at the same time?"),
    ("multiply-adds", "how many products does a thread form of what it has read once?"),
    ("step", "how often is the distance halved or doubled until it has passed the whole?"),
    (
        "request|load|read|store",
        "one request is one warp at one line: how often does one warp come there, and how many warps?",
    ),
)


def of_prediction(guess: Guess) -> str:
    """What to ask of a wrong guess: by what is counted, and by the side on which it lies."""
    name = guess.question
    side = {
        "too low": "does your number leave out lanes, warps or repetitions?",
        "too high": "does your number count twice what several lanes share?",
    }.get(guess.hint, "")
    asked = next((text for words, text in OF_PREDICTIONS if re.search(words, name)), "what does one warp do there?")
    return f"'{name}': {asked} And {side}" if side else f"'{name}': {asked}"


def of_failure(failure: Failure) -> str:
    kind, message = failure.kind, failure.message
    if kind == "interface" and failure.name:
        return f"give {failure.name} its name back, or undo what you did to its parameters"
    if kind == "api-error" and "holds no thread" in message:
        return "how many blocks does {} need, and what does the division give?".format(failure.case or "this")
    if kind == "api-error" and re.search("to free (it|the )", message):
        return "which call has made that memory, and which one gives it back?"
    if kind == "uninitialized-shared" and "asynchronous" in message:
        return "what must the copying thread wait for, and what all others, before the copy can be read?"
    if kind in STEPS:
        return STEPS[kind]
    if kind == "wrong-result":
        place = failure.place or "it"
        if failure.got == "never written" or failure.unwritten:
            return f"which thread should write {place}, and what keeps it from doing so?"
        if failure.unset:
            return f"which element does the thread that writes {place} read before anyone has set it?"
        if failure.host:
            return f"which line of your host code decides about {place}, and when does it run?"
        if "the last of" in failure.writer:
            return f"which threads write {place}, and how often should it be written?"
        return f"compute by hand what the thread that writes {place} reads"
    return usual_cause(message).replace("{", "{{").replace("}", "}}")


def of_bar(bar: Bar) -> str:
    name, line = bar.name, bar.line
    if not line:
        return f"look at the launch: {name} must be {bar.relation} {number(bar.bar)}"
    if "requests" in name:
        *others, last = [str(place.line) for place in bar.places()[:FEW]]
        where = "lines {} and {}".format(", ".join(others), last) if others else "line " + last
        return f"how often does a warp come to {where}, and how much does each lane move there at once?"
    if "conflicts" in name or "wavefronts" in name:
        return f"in which banks (number of the word, modulo 32) are the words of a warp's lanes in line {line}?"
    if "divergent" in name:
        return f"which lanes of one warp take the one side in line {line}, and which the other?"
    if "lanes" in name:
        return f"which lanes of a warp have nothing to do in line {line}, and why?"
    return f"which addresses do the lanes of one warp touch in line {line} at the same time?"


def listing(
    exercises: list[Exercise], records: dict[str, Record], paint: Palette, here: Exercise | None = None
) -> list[str]:
    """The exercises of one chapter with what is done."""
    lines, behind = [], [exercise.key for exercise in updates.behind(exercises, records)]
    for exercise in exercises:
        record = records[exercise.key]
        mark, colour, note = " ", "", ""
        if record.has_changed(exercise):
            mark, colour, note = (
                "~",
                "yellow",
                "passed, but the course has changed it since: ./learn check " + exercise.name,
            )
        elif record.is_done():
            mark, colour = "x", "green"
        elif record.tries:
            note = "1 try" if record.tries == 1 else f"{record.tries} tries"
        if record.later:
            note = (note + "; " if note else "") + "set aside"
        if exercise.key in behind:
            note = (note + "; " if note else "") + "the course has changed it since you began"
        if here is not None and exercise.key == here.key:
            note = (note + "; " if note else "") + "you are here"
        text = f"    {paint(colour, f'[{mark}]')} {exercise.name:<24} {exercise.kind}, {exercise.minutes} min"
        text += ", short path" if exercise.on_short_path else ""
        lines.append(text + ("   " + paint("dim", note) if note else ""))
    return lines
