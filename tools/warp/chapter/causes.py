"""Sentences that say why something takes its time, and show no evidence. Standard library only.

Evidence is what the bindings of the same paragraph hold: a counter of the hardware (`hw`, `ncu`), two rungs or variants
compared, a time beside what is counted or compiled or what a resource alone would take, or a line `//= because QUOTE: CONDITION`. Or the paragraph says that
it was not measured.
"""

from __future__ import annotations

import re

from warp.chapter import source
from warp.chapter.expressions import names_in

_CAUSE = re.compile(
    r"\b(?:because|since|reasons?|causes?|caused|(?:that|which) is why|due to|owing to|for want of|thanks to|explains?"
    r"|accounts? for|hence|therefore|(?:held up|limited) by|comes? from|hides?|stalls?"
    r"|so (?:it|the|that|a|an|each|all|this|these|they|its))\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:times as|times more|faster|slower|speed|rate|bandwidth|[TG]FLOP/s|[GT]B/s|ms|us|latency|throughput"
    r"|of the (?:time|limit|copy)|as (?:long|fast|slow))\b|%"
)
_SENTENCE = re.compile(r"(?<=[.!?:;])\)?\s+")
_ROW = re.compile(r"\b(?:ms|first|rate|ratio)\(\s*([\"'][^\"']+[\"'])")
_UNMEASURED = re.compile(r"\bnot\s+(?:been\s+)?(?:measured|shown)\b|\bno counter here\b")


def is_shown(paragraph: str, bindings: list[source.Binding]) -> bool:
    """Whether a paragraph says that it was not measured, or its bindings prove more than a number."""
    names = {name for one in bindings for name in names_in(one.expression)}
    rows = {row for one in bindings for row in _ROW.findall(one.expression)}
    return bool(
        _UNMEASURED.search(paragraph)
        or names & {"ncu", "hw"}
        or len(rows) > 1
        or (rows and names & {"alone", "count", "sass"})
        or any(one.is_cause for one in bindings)
    )


def unproven(prose: source.Prose, paragraphs: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """(line, sentence) of each cause of a time or a rate in a block of prose that nothing shows."""
    found = []
    for index, paragraph in paragraphs:
        own = [one for one in prose.bindings if one.paragraph in paragraph]
        if is_shown(paragraph, own):
            continue
        for sentence in _SENTENCE.split(paragraph):
            if _CAUSE.search(sentence) and _TIME.search(sentence):
                found.append((prose.rows[index], sentence))
    return found
