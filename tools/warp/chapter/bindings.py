"""Holds the numbers of a chapter's prose against what they are computed from. Standard library only.

A line `//= QUOTE: EXPRESSION` under a paragraph binds a number of it. The quote stands in the paragraph as it is; its
number, rounded to the digits quoted, is the expression's value. Several numbers in one quote take a tuple. A line
`//= because QUOTE: CONDITION` binds a cause: the condition compares what was measured, and holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warp.chapter import causes, source
from warp.chapter.errors import ExpressionError, NotRecorded
from warp.chapter.expressions import Numbers, evaluate, names_in
from warp.chapter.source import Code, Prediction, Prose

OK, WRONG, PENDING = "ok", "WRONG", "not recorded"
MEASURED = {"ms", "first", "rate", "ratio", "clock", "power", "count", "hw", "ncu", "alone", "sass", "shapes", "orders"}


@dataclass
class Outcome:
    """A binding and what became of it."""

    file: Path
    line: int
    quote: str
    word: str  # OK, WRONG or PENDING
    value: str  # what the expression gives, or what is wrong

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.word}: {self.quote}: {self.value}"


@dataclass
class Quoted:
    """A number as prose spells it: all values from `low` to `high` round to it."""

    text: str
    low: float
    high: float

    def holds(self, value: float) -> bool:
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        return self.low - slack <= value <= self.high + slack


_TO_TEN = "one two three four five six seven eight nine ten"
_TO_TWENTY = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
_WORDS = {word: number for number, word in enumerate(f"{_TO_TEN} {_TO_TWENTY}".split(), start=1)}
_WORDS.update(zip(["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], range(30, 100, 10)))
_WORDS.update({"zero": 0, "once": 1, "twice": 2, "double": 2, "doubles": 2, "triple": 3, "triples": 3, "hundred": 100})
_PARTS = dict(zip(["half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], range(2, 11)))
_PARTS.update({"halves": 2, **{f"{part}s": number for part, number in _PARTS.items()}})
_FRACTION = re.compile(rf"\b(?:(a|an|one|two|three|four|five|six|seven|eight|nine) )?({'|'.join(_PARTS)})\b")
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b")
_DIGITS = re.compile(r"(?<![\w.,^])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:\^(\d+))?(?![\w^]|\.\d)")
_ROUGH = re.compile(
    r"\b(?:about|some|around|roughly|approximately|nearly|almost|more than|over|less than|under) $", re.IGNORECASE
)  # the zeros that end a whole number are not its digits then
_ABOVE = re.compile(r"\b(?:more than|over|above|at least)\s+$", re.IGNORECASE)
_BELOW = re.compile(r"\b(?:less than|fewer than|under|below|at most|nearly|almost)\s+$", re.IGNORECASE)
_COMPILED = re.compile(r"(?<![\w.,^])(\d[\d,]*)(?: (?:more|fewer|other))? instructions\b")
_TIMED = re.compile(r"(?<![\w.,^])\d[\d,]*(?:\.\d+)?\s?(?:ms|us|µs|μs|ns|[GTM]B/s|[GT]FLOP/s)(?![\w/])")


def quoted_numbers(quote: str) -> list[Quoted]:
    """The numbers of a quote: those in digits, or, where it has none, those in words."""
    found = []
    for match in _DIGITS.finditer(quote):
        whole, decimals, power = match.groups()
        number = float(whole.replace(",", "") + (decimals or ""))
        step = 10.0 ** -(len(decimals) - 1) if decimals else 1.0
        before = quote[: match.start()]
        if power:
            found.append(Quoted(match.group(), number ** int(power), number ** int(power)))
            continue
        if _ROUGH.search(before) and not decimals and number:
            digits = whole.replace(",", "")
            step = 10.0 ** (len(digits) - len(digits.rstrip("0")))
        found.append(_between(match.group(), number, step, before))
    if found:
        return found
    spans = []
    for match in _FRACTION.finditer(quote):
        times = _WORDS.get(match.group(1) or "", 1)
        number = times / _PARTS[match.group(2)]
        spans.append((match.span(), Quoted(match.group(), 0.9 * number, 1.1 * number)))
    for match in _WORD.finditer(quote):
        if not any(first <= match.start() < last for (first, last), _ in spans):
            number = _WORDS[match.group()]
            spans.append(
                (match.span(), _between(match.group(), number, 10 if number >= 30 else 1, quote[: match.start()]))
            )
    return [quoted for _, quoted in sorted(spans, key=lambda pair: pair[0])]


def _between(text: str, number: float, step: float, before: str) -> Quoted:
    if _ABOVE.search(before):
        return Quoted(text, number, number + step)
    if _BELOW.search(before):
        return Quoted(text, number - step, number)
    return Quoted(text, number - step / 2, number + step / 2)


def shown(value: float | str | tuple[float, ...]) -> str:
    """A value as an author reads it beside the quote."""
    if isinstance(value, tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.6g}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_binding(binding: source.Binding, numbers: Numbers) -> tuple[str, str]:
    """What became of a binding: a word, and the value or what is wrong."""
    if binding.quote not in binding.paragraph:
        return WRONG, "the paragraph above does not say this, letter by letter"
    if binding.is_cause and not names_in(binding.expression) & MEASURED:
        return WRONG, f"a cause is shown by what was measured or counted: {', '.join(sorted(MEASURED))}"
    if not binding.is_cause and not quoted_numbers(binding.quote):
        return WRONG, "the quote has no number"
    try:
        value = evaluate(binding.expression, numbers)
    except ExpressionError as error:
        return WRONG, str(error)
    except NotRecorded as error:
        return PENDING, str(error)
    return check_cause(value) if binding.is_cause else check_numbers(quoted_numbers(binding.quote), value)


def check_numbers(quoted: list[Quoted], value: Any) -> tuple[str, str]:
    """Whether the value of an expression rounds to the numbers of a quote."""
    values = value if isinstance(value, tuple) else (value,)
    if len(values) != len(quoted):
        return WRONG, f"{len(quoted)} numbers in the quote, {len(values)} in the expression: {shown(value)}"
    if any(isinstance(one, (str, bool, tuple)) for one in values):
        return WRONG, f"the expression gives {shown(value)}, which is no number"
    if not all(number.holds(one) for number, one in zip(quoted, values)):
        return WRONG, f"it is {shown(value)}"
    return OK, shown(value)


def check_cause(value: bool | float) -> tuple[str, str]:
    """Whether the condition of a cause is one, and holds."""
    if not isinstance(value, bool):
        return WRONG, f"the condition of a cause is true or false, not {shown(value)}"
    return (OK, "it holds") if value else (WRONG, "it does not hold")


def paragraphs(text: str) -> list[tuple[int, str]]:
    """The paragraphs of a block of prose, each on one line, with the index of its first line; fences left out."""
    found: list[tuple[int, str]] = []
    current: list[str] = []
    first, fence = 0, False
    for index, line in enumerate([*text.split("\n"), ""]):
        if re.match(r" {0,3}(```|~~~)", line):
            fence = not fence
            line = ""
        if line.strip() and not fence:
            first = index if not current else first
            current.append(line.strip())
        elif current:
            found.append((first, " ".join(current)))
            current = []
    return found


def unbound(prose: source.Prose) -> list[tuple[int, str]]:
    """(line, number) of every time and rate in a block of prose that no binding quotes."""
    return _without(prose, _TIMED, prose.bindings)


def typed(prose: source.Prose) -> list[tuple[int, str]]:
    """(line, "1221 instructions") of every count of instructions that no binding takes from a compilation or a counter."""
    counted = [one for one in prose.bindings if names_in(one.expression) & {"sass", "count", "hw", "ncu"}]
    return _without(prose, _COMPILED, counted)


def _without(prose: source.Prose, pattern: re.Pattern, known: list[source.Binding]) -> list[tuple[int, str]]:
    """(line, what was found) of all that the pattern finds in a block of prose and none of the bindings quotes."""
    missing = []
    for index, paragraph in paragraphs(prose.text):
        spans = []
        for binding in known:
            if binding.paragraph in paragraph:
                spans += [m.span() for m in re.finditer(re.escape(binding.quote), paragraph)]
        for number in pattern.finditer(paragraph):
            begin, end = number.span(pattern.groups)  # what has to be quoted
            if not any(first <= begin and end <= last for first, last in spans):
                missing.append((prose.rows[index], number.group()))
    return missing


def main_track(blocks: list) -> Iterator[tuple[Code | Prediction | Prose, bool]]:
    """(block, whether it is on the main track) for every block in order, those in folds too."""
    skipped = 0  # the level of the second reading's heading; 0 outside of one
    for block in source.every_block(blocks):
        if isinstance(block, source.Prose) and block.heading:
            if skipped and block.heading[0] <= skipped:
                skipped = 0
            if block.second_reading and not skipped:
                skipped = block.heading[0]
        yield block, not skipped


def check_chapter(main: Path, build: Path) -> list[Outcome] | None:
    """Every binding of a chapter and every number that lacks one; None where the chapter binds nothing yet."""
    numbers = Numbers(main, build)
    outcomes = []
    bound = False
    for file, blocks in source.all_blocks(main):
        for block, on_main_track in main_track(blocks):
            if not isinstance(block, source.Prose):
                continue
            for binding in block.bindings:
                bound = True
                outcomes.append(Outcome(file, binding.line, binding.quote, *check_binding(binding, numbers)))
            if on_main_track:
                for line, number in unbound(block):
                    outcomes.append(Outcome(file, line, number, WRONG, "no '//=' line binds this number"))
                for line, sentence in causes.unproven(block, paragraphs(block.text)):
                    outcomes.append(Outcome(file, line, sentence, WRONG, "a cause without evidence"))
            for line, number in typed(block):
                outcomes.append(Outcome(file, line, number, WRONG, "a count of machine code is bound by sass()"))
    return outcomes if bound else None
