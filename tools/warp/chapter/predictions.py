"""The predictions of a chapter: what is asked, what the run answers, what explains it. Standard library only."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from warp.chapter import bindings, source
from warp.chapter.errors import ExpressionError, NotRecorded
from warp.chapter.expressions import FUNCTIONS, Numbers, evaluate, names_in
from warp.chapter.header import Header
from warp.chapter.source import Code, Prediction, Prose


@dataclass
class Asked:
    """A prediction where it stands."""

    file: Path
    prediction: Prediction
    section: str  # the heading above it
    main_track: bool
    explanation: list[str]  # the prose behind it, as Markdown; one list for those that share it
    lead: list[str] = field(default_factory=list)  # the prose between the heading and it, unless that explains others
    code: list[str] = field(default_factory=list)  # the lines of the code it is about: right behind it, or before

    @property
    def name(self) -> str:
        return self.prediction.name


@dataclass
class Answer:
    """What the run says."""

    value: float | str
    source: str  # "counted on the simulator", "measured on NVIDIA H200", "computed"

    @property
    def text(self) -> str:
        return shown(self.value)


def shown(value: float | str) -> str:
    """A value in at most four digits, whole numbers in full: 1,024; 0.4815; 2.5."""
    if isinstance(value, str):
        return value
    if float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def bare(text: str) -> str:
    """A choice as a reader types it: small letters, no backquotes."""
    return text.replace("`", "").strip().lower()


def collect(main: Path) -> list[Asked]:
    """The predictions of a chapter, in their order. Those that follow one another share what explains them."""
    found: list[Asked] = []
    for file, blocks in source.all_blocks(main):
        open_ones: list[Asked] = []  # those that a paragraph explains
        explained, section = False, ""
        lead: list[str] = []
        code: list[str] = []
        for block, on_main_track in bindings.main_track(blocks):
            if isinstance(block, Prose) and block.heading:
                open_ones, section = [], block.heading[1]
                lead, code = [block.text.partition("\n")[2].strip()], []
            elif isinstance(block, Prose) and open_ones:
                explained = True
                open_ones[0].explanation.append(block.text)
            elif isinstance(block, Prose):
                lead.append(block.text)
            elif isinstance(block, Code):
                code = block.lines
                for one in open_ones if not explained else []:
                    one.code = code
            elif isinstance(block, Prediction):
                if explained:
                    open_ones, explained = [], False
                shared = open_ones[0].explanation if open_ones else []
                open_ones.append(Asked(file, block, section, on_main_track, shared, lead, code))
                found.append(open_ones[-1])
                if len(open_ones) == 1:
                    lead = []
    for one in found:
        if sum(one.name == other.name for other in found) > 1:
            raise source.SourceError(f"{one.file}:{one.prediction.line}: two predictions are named {one.name}")
    return found


class NoChoice(ExpressionError):
    """None of the choices holds, or several do: on the GPU whose times were asked, if it is measured."""


def chosen(prediction: Prediction, numbers: Numbers) -> str:
    """The choice that holds. ExpressionError unless each choice has a condition of its own: {CHOICE: CONDITION, ...}; or
    states a number, which the answer computes; or no number decides, and the answer is one of them in quotation marks."""
    try:
        tree = ast.parse(prediction.answer, mode="eval").body
    except SyntaxError:
        raise ExpressionError(f"this is no expression: {prediction.answer}") from None
    stated = [bindings.quoted_numbers(choice) for choice in prediction.choices]
    all_numbers = all(len(found) == 1 for found in stated)
    if isinstance(tree, ast.Dict):
        keys = [bare(str(key.value)) if isinstance(key, ast.Constant) else "" for key in tree.keys]
        if sorted(keys) != sorted(map(bare, prediction.choices)):
            raise ExpressionError(
                "each choice needs a condition of its own: {CHOICE: CONDITION, ...}, all of them, once"
            )
        texts = [ast.get_source_segment(prediction.answer, part) or "" for part in tree.values]
        values = dict(zip(keys, [evaluate(text, numbers) for text in texts]))
        if not all(isinstance(value, bool) for value in values.values()):
            raise ExpressionError("the condition of a choice is a comparison")
        right = [choice for choice in prediction.choices if values[bare(choice)]]
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str) and not all_numbers:
        right = [choice for choice in prediction.choices if bare(choice) == bare(tree.value)]
    elif all_numbers and not isinstance(tree, ast.Constant):
        value = evaluate(prediction.answer, numbers)
        if isinstance(value, (str, bool, tuple)):
            raise ExpressionError(f"the answer is {value!r}, which is no number")
        right = [choice for choice, (number,) in zip(prediction.choices, stated) if number.holds(value)]
    else:
        how = "the choices are numbers: compute the answer" if all_numbers else "write {CHOICE: CONDITION, ...}"
        raise ExpressionError(f"each choice needs a condition of its own; {how}")
    if len(right) != 1:
        what = " and ".join(f"'{choice}'" for choice in right) + " hold" if right else "none holds"
        where = f" on {numbers.device()}" if is_measured(prediction) else ""
        raise NoChoice(f"of the choices exactly one has to hold; {what}{where}")
    return right[0]


def answer(prediction: Prediction, numbers: Numbers) -> Answer:
    """What the run answers; ExpressionError or NotRecorded where it cannot."""
    value = chosen(prediction, numbers) if prediction.choices else evaluate(prediction.answer, numbers)
    if not prediction.choices and isinstance(value, (str, bool, tuple)):
        raise ExpressionError(f"the answer is {value!r}, which is no number")
    used = names_in(prediction.answer)
    if is_measured(prediction):
        where = f"measured on {numbers.device()}"
    elif "sass" in used:
        where = numbers.compiled_by
    else:
        where = "counted on the simulator" if "count" in used else "computed"
    return Answer(value, where)


def is_measured(prediction: Prediction) -> bool:
    """Whether the answer is of a GPU: a time, a rate or a count of its hardware."""
    return bool(names_in(prediction.answer) & set(FUNCTIONS) - {"count", "sass"})


PER_CENT = ("%", "per cent")  # the units of which 90 % is 90; of others it is 0.9
# docs/_static/predict.js reads and judges a number as `guessed` and `is_near` do: tests/course/guesses.json holds both to it.
_NUMBER = re.compile(
    r"([-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)(?:([/^])(\d+(?:\.\d+)?))?", re.ASCII
)


def guessed(prediction: Prediction, text: str) -> float | str | None:
    """The guess that a reader typed: a choice, or a number as 1,024, 2.5, 1/32, 2^20, 12 %; None if it is neither."""
    text = text.strip()
    if prediction.choices:
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(prediction.choices):
            return prediction.choices[int(text) - 1]
        begun = [choice for choice in prediction.choices if text and bare(choice).startswith(bare(text))]
        exact = [choice for choice in begun if bare(choice) == bare(text)]
        return exact[0] if exact else begun[0] if len(begun) == 1 else None
    number = _NUMBER.match(text.lower())
    if not number:
        return None
    rest = text[number.end() :].strip().lower()
    if rest and rest not in ("%", "x", "times") and rest not in prediction.unit.lower():
        return None
    value = float(number.group(1).replace(",", ""))
    if rest == "%" and prediction.unit not in PER_CENT:
        value /= 100
    sign, second = number.group(2), number.group(3)
    try:
        value = value / float(second) if sign == "/" else value ** float(second) if sign == "^" else value
    except (ZeroDivisionError, OverflowError):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None  # a root of -1 is complex


def is_near(prediction: Prediction, guess: float | str, value: float | str) -> bool:
    """Whether a guess counts as right."""
    if isinstance(value, str) or isinstance(guess, str):
        return guess == value
    how = prediction.near
    if how == "exact":  # of a fraction, the digits that a page would show
        return guess == value or (not float(value).is_integer() and abs(guess - value) <= 0.005 * abs(value))
    if how.startswith("factor"):
        factor = float(how.split()[1])
        return guess * value > 0 and 1 / factor <= guess / value <= factor
    return abs(guess - value) <= float(how.rstrip("% ")) / 100 * abs(value)


def giveaways(header: Header, blocks: list, asked: list[Asked], answers: dict[str, Answer]) -> list[str]:
    """Where a heading or an idea gives an answer away, one line each."""
    lines = [(f"the idea of {rung.name}", rung.idea) for rung in header.rungs.values()]
    lines += [
        (f"the heading '{block.heading[1]}'", re.sub(r"^[\d.]+\s+", "", block.heading[1]))
        for block in source.every_block(blocks)
        if isinstance(block, Prose) and block.heading
    ]
    found = []
    for one in asked:
        if one.name not in answers:
            continue
        value = answers[one.name].value
        for place, text in lines:
            if _gives_away(one.prediction, value, text):
                found.append(f"{one.file}:{one.prediction.line}: {place} gives away {one.name}: {shown(value)}")
    return found


def _gives_away(prediction: Prediction, value: float | str, text: str) -> bool:
    words = set(re.findall(r"[a-z]{2,}", text.lower()))
    if isinstance(value, str):
        others = [choice for choice in prediction.choices if choice != value]
        told = set(re.findall(r"[a-z]{2,}", value.lower()))
        asks = set(re.findall(r"[a-z]{2,}", prediction.question.lower()))
        return (
            bool(told)
            and told <= words
            and not told <= asks
            and not any(choice.lower() in text.lower() for choice in others)
        )
    is_told = any(number.low < number.high and number.holds(value) for number in bindings.quoted_numbers(text))
    units = set(re.findall(r"[a-z]{2,}", prediction.unit.lower())) - {"per", "the", "of", "as", "in"}
    units |= {unit[:-1] for unit in units if unit.endswith("s")}
    return is_told and (not units or bool(units & words))


def shown_before(main: Path) -> list[str]:
    """The predictions that come too late: results stand behind their kernel, unless a question before it folds them,
    and those of all rungs that the answer names were to be seen already."""
    late = []
    for file, blocks in source.all_blocks(main):
        shown: set[str] = set()
        asked = False  # since the last heading
        for block in source.every_block(blocks):
            if isinstance(block, Prose) and block.heading:
                asked = False
            elif isinstance(block, Prediction):
                asked = True
                rungs = {rung.split("/")[0] for rung in re.findall(r'\b(?!sass)\w+\("([^"]+)"', block.answer)}
                if rungs and rungs <= shown:
                    names = " and ".join(sorted(rungs))
                    late.append(f"{file}:{block.line}: prediction {block.name}: put it before the kernel of {names}")
            elif isinstance(block, Code) and not asked:
                shown.update(re.findall(r"(\w+)\(", " ".join(line for line in block.lines if "__global__" in line)))
    return late


def check_chapter(main: Path, build: Path) -> tuple[list[str], list[str], int]:
    """(what is wrong, what is not recorded yet, how many predictions there are)."""
    asked = collect(main)
    numbers = Numbers(main, build)
    wrong, pending, answers = [], [], {}
    for one in asked:
        place = f"{one.file}:{one.prediction.line}: prediction {one.name}"
        used = names_in(one.prediction.answer)
        try:
            if not used & set(FUNCTIONS) and not one.prediction.choices:
                raise ExpressionError("no run answers it: its answer names neither a count nor a measurement")
            answers[one.name] = answer(one.prediction, numbers)
        except ExpressionError as error:
            wrong.append(f"{place}: {error}")
        except NotRecorded as error:
            pending.append(f"{place}: {error}")
        if not "".join(one.explanation).strip():
            wrong.append(f"{place}: no paragraph behind it explains the answer")
    blocks = [block for _, blocks in source.all_blocks(main) for block in blocks]
    wrong += giveaways(numbers.header, blocks, asked, answers) + shown_before(main)
    return wrong, pending, len(asked)
