"""Nearest names: a typo gets advice, not a list of everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def nearest(word: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The names most like `word`, best first; may be empty.

    A name also counts by its parts: `tread` is near to `01_thread_indexing` through `thread`. Half of a word's letters are
    in many a name that has nothing to do with it; letters in another order are a slip, in the shortest word, too.
    """
    import difflib

    word = word.lower()
    scored = []
    for name in names:
        forms = [name.lower()] + name.lower().replace("-", "_").split("_")
        if word and name.lower().startswith(word):
            score = 0.95
        else:
            score = max(difflib.SequenceMatcher(None, word, form).ratio() for form in forms if form)
        if score >= 0.7 or (len(word) > 2 and any(sorted(word) == sorted(form) for form in forms)):
            scored.append((-score, name))
    return [name for _, name in sorted(scored)[:count]]


def one_of(names: Iterator[Any] | Sequence[str]) -> str:
    """`a, b or c`: a list in a sentence."""
    names = list(names)
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + " or " + names[-1]


def advice(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """`; did you mean X or Y?`, or the sentence `otherwise` where nothing is near."""
    near = nearest(word, names)
    if near:
        return "; did you mean " + one_of(near) + "?"
    return "; " + otherwise if otherwise else ""
