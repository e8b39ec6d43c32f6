"""Mistakes made by a machine: small changes of a solution, each of which its check must notice.

Solutions are formatted by clang-format, so a comparison has spaces around it and a template argument has none.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Union

# What takes the place of a match.
Replacement = Union[str, Callable[["re.Match[str]"], str]]
Rule = tuple[str, str, Replacement]

MOST = 24  # of one solution: of each kind some, so that all kinds come to their turn
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TERM = r"(?:[\w.]+(?:\((?:[^()]|\([^()]*\))*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*|\((?:[^()]|\([^()]*\))*\))"

# kind -> pattern, what takes its place
RULES: list[Rule] = [
    ("barrier dropped", r"\b(?:__syncthreads|__syncwarp|__pipeline_wait_prior|cp_async_wait\w*)\([^;{}]*\);", ";"),
    ("guard dropped", r"\bif \((?:[^()]|\([^()]*\))*\) (?=return;|continue;)(?:return|continue);", ";"),
    ("guard dropped", r"\bif \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\) (?!\{|return|continue)", ""),
    ("condition dropped", rf"(?<=[ (])({TERM} [<>=!]=? {TERM}) && ", ""),
    ("condition dropped", rf" && ({TERM} [<>=!]=? {TERM})(?=[ );])", ""),
    ("bound moved", r" < (?!<)", " <= "),
    ("bound moved", r" <= ", " < "),
    ("bound moved", r" > ", " >= "),
    ("bound moved", r" >= ", " > "),
    ("last element skipped", rf"(?<= < )({TERM})(?=;)", r"\1 - 1"),
    ("indices swapped", rf"\[({TERM})\]\[({TERM})\]", r"[\2][\1]"),
    ("indices swapped", rf"(?<=\[)({TERM}) \* ({TERM}) \+ ({TERM})(?=\])", r"\3 * \2 + \1"),
    ("indices swapped", r"\b(threadIdx|blockIdx|blockDim|gridDim)\.x\b", r"\1.y"),
    ("indices swapped", r"\b(threadIdx|blockIdx|blockDim|gridDim)\.y\b", r"\1.x"),
    ("stride changed", rf"(?<= \+= )({TERM}(?: \* {TERM})?)(?=\))", r"2 * (\1)"),
    ("stride changed", r"\+\+(\w+)(?=\))", r"\1 += 2"),
    ("term dropped", rf" [+-] {TERM}", ""),
    ("term dropped", rf" \* {TERM}", ""),
    ("sum not kept", r" \+= (?![^;\n]*\) )", " = "),
    ("initial value", r"(?<= = )0(?:\.0)?f?(?=[;,])", "1"),
    ("constant changed", r"(?<![\w.])([1-9]\d*)(?![\w.])", lambda match: str(int(match[1]) + 1)),
    ("sign changed", r" \+ (?!1\b)", " - "),
]
PREDICTION = r"(constexpr \w+ k\w+ = )(\d+)(?=;)"


@dataclasses.dataclass
class Mutation:
    """One change; `change` says it in a line."""

    kind: str
    change: str
    text: str


def of_solution(text: str, header: str, kind: str) -> list[Mutation]:
    """Mutations of a solution that begins with the comment `header`; `kind` is that of the exercise."""
    found: list[Mutation] = []
    body = len(header)
    blocked = [match.span() for match in COMMENT.finditer(text)]
    blocked += [match.span() for match in re.finditer(r"^#.*$|<<<|>>>|\"[^\"\n]*\"", text, re.MULTILINE)]
    # An array that is larger than it need be is no mistake, unless its rows are.
    blocked += [match.span() for match in re.finditer(r"__(?:shared|constant)__ \w+ \w+\[\w+\];", text)]
    for name, pattern, replacement in predictions() if kind == "predict" else RULES:
        for match in re.finditer(pattern, text):
            if match.start() < body or any(a < match.end() and match.start() < b for a, b in blocked):
                continue
            new = replacement(match) if callable(replacement) else match.expand(replacement)
            mutated = text[: match.start()] + new + text[match.end() :]
            if new != match.group() and mutated not in [other.text for other in found]:
                found.append(Mutation(name, describe(text, mutated, match.start()), mutated))
    return chosen(found)


def predictions() -> list[Rule]:
    return [
        ("one more", PREDICTION, lambda match: match[1] + str(int(match[2]) + 1)),
        ("one less", PREDICTION, lambda match: match[1] + str(int(match[2]) - 1)),
        ("twice", PREDICTION, lambda match: match[1] + str(int(match[2]) * 2)),
    ]


def describe(before: str, after: str, at: int) -> str:
    """The line, before and after."""
    begin = before.rfind("\n", 0, at) + 1

    def line(text: str, length: int) -> str:
        end = text.find("\n", at)
        return " ".join(COMMENT.sub("", text[begin : end if end >= 0 else length]).split())

    return f"{line(before, len(before))} -> {line(after, len(after))}"


def chosen(found: list[Mutation]) -> list[Mutation]:
    """At most MOST of them, the kinds in turn."""
    kinds: dict[str, list[Mutation]] = {}
    for mutation in found:
        kinds.setdefault(mutation.kind, []).append(mutation)
    picked: list[Mutation] = []
    while len(picked) < MOST and any(kinds.values()):
        for waiting in kinds.values():
            if waiting and len(picked) < MOST:
                picked.append(waiting.pop(0))
    return picked
