"""The code that a prediction is about, as it is shown before the question: functions whole. Standard library only."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from warp.chapter import source
from warp.chapter.functions import Function, find_function, mask
from warp.chapter.header import read_text
from warp.chapter.predictions import Asked

TOGETHER = 60  # lines up to which functions that a kernel calls, or the question names, are shown with it
NO_FUNCTIONS = ("main", "if", "for", "while", "switch", "constexpr", "operator")
SHELL = 12  # lines of a function that leaves its work to others: they are shown in any case
_REF = re.compile(r"(?:(\d\d):)?(\w+)(?:[</].*)?", re.DOTALL)


def pieces(main: Path, one: Asked) -> dict[str, list[str]]:
    """{name: lines}: the functions that the answer names and, where that is not long, those that the question names, with
    what they call; else the code beside the question, whose name is ""."""
    answered = _named(main, one, re.findall(r'"([^"]*)"', one.prediction.answer))
    found = answered | _named(main, one, _in_backquotes(one))
    if answered and _length(found.values()) > TOGETHER:
        found = answered
    if found:
        return _texts(_with_called(found))
    lines = [line for line in one.code if not re.match(r"///|#include|using |namespace \w+ =", line)]
    while lines and not lines[0].strip():
        lines.pop(0)
    return {"": lines} if lines else {}


def answered(main: Path, one: Asked) -> dict[str, str]:
    """{name: what a reader needs to find it} of the functions that the answer names."""
    found = _named(main, one, re.findall(r'"([^"]*)"', one.prediction.answer))
    return {
        name: f"{function.last - function.first + 1} lines, {file.parent.name}/{file.name}:{function.first}"
        for (file, name), function in found.items()
    }


def _named(main: Path, one: Asked, names: list[str]) -> dict[tuple[Path, str], Function]:
    found = {}
    for name in names:
        ref = _REF.fullmatch(name)
        place = _where(main, one.file, *ref.groups()) if ref else None
        if place:
            found[place] = functions(place[0])[place[1]]
    return found


def _length(chosen: Iterable[Function]) -> int:
    return sum(function.last - function.first + 1 for function in chosen)


def _in_backquotes(one: Asked) -> list[str]:
    return re.findall(r"`([^`]+)`", " ".join([one.prediction.question, *one.prediction.choices]))


def _where(main: Path, file: Path, number: str | None, name: str) -> tuple[Path, str] | None:
    """The file that defines `name`: the question's own, or one that has device code of that name; one of another chapter,
    where the name has its number."""
    if number is None and name in functions(file):
        return file, name
    files = [main, *source.other_files(main)]
    if number:
        folder = next(iter(main.parent.parent.glob(number + "_*")), None)
        files = sorted(folder.glob("*.cu")) if folder else []
    found = ((one, name) for one in files if name in functions(one))
    return next((at for at in found if _on_device(at, functions(at[0])[name])), None)


@functools.cache
def functions(file: Path) -> dict[str, Function]:
    """The functions that a file defines, main() aside."""
    text = read_text(file)
    masked = mask(text)
    # Behind a type: no member of a list of initializers, no condition.
    names = dict.fromkeys(re.findall(r"[\w>&*)]\s+[&*]*(\w+)\s*\((?=[^;{}]*\)[^;{}()]*\{)", masked))
    found = {name: find_function(text, name, masked) for name in names if name not in NO_FUNCTIONS}
    return {name: function for name, function in found.items() if function}


def _lines(place: tuple[Path, str], function: Function) -> list[str]:
    return read_text(place[0]).split("\n")[function.first - 1 : function.last]


def _on_device(place: tuple[Path, str], function: Function) -> bool:
    return re.search("__(device|global)__", "\n".join(_lines(place, function))) is not None


def _with_called(named: dict[tuple[Path, str], Function]) -> dict[tuple[Path, str], Function]:
    """The functions and, where that is not long, those that they call; in the order of the source."""
    chosen = dict(named)
    todo = list(named)
    while todo:
        place = todo.pop(0)
        function = functions(place[0])[place[1]]
        words = set(re.findall(r"\w+", mask("\n".join(_lines(place, function)))))
        called = {(place[0], name): f for name, f in functions(place[0]).items() if name in words}
        called = {at: f for at, f in called.items() if at not in chosen and _on_device(at, f)}
        total = _length([*chosen.values(), *called.values()])
        if _length([function]) <= SHELL or total <= TOGETHER:
            chosen.update(called)
            todo += called
    return dict(sorted(chosen.items(), key=lambda entry: (str(entry[0][0]), entry[1].first)))


def _texts(chosen: dict[tuple[Path, str], Function]) -> dict[str, list[str]]:
    """Their lines, and before them those of the constants that they use."""
    found: dict[str, list[str]] = {}
    for file in dict.fromkeys(place[0] for place in chosen):
        texts = {place[1]: _lines(place, function) for place, function in chosen.items() if place[0] == file}
        words = set(re.findall(r"\w+", mask("\n".join(line for lines in texts.values() for line in lines))))
        for line in read_text(file).split("\n"):
            constant = re.match(r"(?:inline |static )*constexpr [\w:<>, ]+?\b(\w+) = .*;", line)
            if constant and constant.group(1) in words:
                found[constant.group(1)] = [line]
        found.update(texts)
    return found
