"""Which rungs of a chapter's ladder wait for a prediction: their times, at the top of the page, would answer it."""

from __future__ import annotations

import ast
from pathlib import Path

from warp.chapter import source
from warp.chapter.errors import SourceError
from warp.chapter.expressions import Numbers
from warp.chapter.results import FIRST_GPU

TIMES = ("ms", "rate", "ratio")  # of the functions of expressions.py those of which a ladder is made


def named(expression: str, numbers: Numbers) -> list[str]:
    """The chapter's own rungs whose times at its first size an expression asks for, in the order of the ladder."""
    found = set()
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TIMES):
            continue
        given = {one.arg: ast.literal_eval(one.value) for one in node.keywords}
        given.update(zip(("ref", "size", "gpu"), map(ast.literal_eval, node.args)))
        here = numbers.extents(given.get("size")) == numbers.extents(None)
        if here and given.get("gpu", FIRST_GPU) == FIRST_GPU:
            found.add(given["ref"].split("/")[0])  # of another chapter: "12:rung", which is none of this one
    return [name for name in numbers.header.rungs if name in found]


def asked(main: Path, questions: list[source.Prediction], keeps_first: bool) -> dict[str, list[str]]:
    """{rung: the predictions that it waits for}. With `keeps_first` the first of several rungs that a prediction compares is
    shown: without the others it answers nothing. Where all are shown relative to the fastest, none of them may be."""
    numbers, found = Numbers(main, Path()), dict[str, list[str]]()
    for question in questions:
        try:
            rungs = named(question.answer, numbers)
        except (SyntaxError, ValueError, KeyError) as error:
            raise SourceError(f"{main}:{question.line}: prediction {question.name}: {error}") from None
        for rung in rungs[1:] if keeps_first and len(rungs) > 1 else rungs:
            found.setdefault(rung, []).append(question.name)
    return found
