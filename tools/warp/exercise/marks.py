"""The two texts that the one source of an exercise stands for: what a learner begins with, and the same solved.

Its marks are the preprocessor's own, so that `unifdef` and a compiler read them, too. They stand at column 0 and not
within each other; either part may be missing:

#ifdef SOLUTION
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#else
  const int i = 0;  // TODO
#endif

In place of `#ifdef`, `#ifndef SOLUTION` is for what the solution has not.
"""

from __future__ import annotations

import re
from collections.abc import Callable

OPENINGS = {"#ifdef SOLUTION": True, "#ifndef SOLUTION": False}  # whether the solution has what follows
CONDITIONAL = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b")


def blank_and_solution(text: str, bad: Callable[[int, str], Exception]) -> tuple[str, str]:
    """Both texts, without the marks. Raises `bad(line, what is wrong)` where the marks make no sense."""
    texts: dict[bool, list[str]] = {False: [], True: []}  # whether solved -> its lines
    opened, has_else = 0, False  # the line of the mark that is open, or 0
    within = [False, True]  # which of the two has the line
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        mark = line.rstrip("\n")
        if not CONDITIONAL.match(mark):
            for solved in within:
                texts[solved].append(line)
        elif mark in OPENINGS:
            if opened:
                raise bad(number, f"'{mark}' within the one of line {opened}: marks do not nest")
            opened, has_else, within = number, False, [OPENINGS[mark]]
        elif mark not in ("#else", "#endif"):
            raise bad(number, f"'{mark.strip()}': legal are {', '.join(OPENINGS)}, #else and #endif, from column 0 on")
        elif not opened:
            raise bad(number, f"'{mark}' without '#ifdef SOLUTION' above it")
        elif mark == "#endif":
            opened, within = 0, [False, True]
        elif has_else:
            raise bad(number, f"a second '#else' for the mark of line {opened}")
        else:
            has_else, within = True, [not within[0]]
    if opened:
        raise bad(opened, "the mark that begins here has no '#endif'")
    return "".join(texts[False]), "".join(texts[True])
