"""Which exercises there are, and which of them a learner means."""

from __future__ import annotations

import os
from pathlib import Path

from warp.base import paths
from warp.base.errors import LearnError, UsageError
from warp.base.names import advice, one_of
from warp.exercise import exercises as course
from warp.exercise.exercises import Exercise


def everything() -> list[Exercise]:
    """All exercises in the order of the course."""
    found = course.all_exercises(Path(paths.ROOT))
    if not found:
        raise LearnError("there is no exercise in {}".format(paths.shown(os.path.join(paths.ROOT, "exercises"))))
    return found


def whatever_there_is() -> list[Exercise]:
    """The same for commands about other things: none where the exercises are missing or cannot be read."""
    try:
        return everything()
    except LearnError:
        return []


def find(word: str, known: list[Exercise]) -> Exercise:
    """The exercise that `word` means: its name, chapter/name, a unique prefix, or its file."""
    plain = word[:-3] if word.endswith(".cu") else word
    parts = os.path.normpath(plain).replace("-", "_").split(os.sep)
    name, chapter = parts[-1].lower(), parts[-2] if len(parts) > 1 else ""
    pool = [e for e in known if not chapter or chapter in (".", "my") or e.chapter.startswith(chapter)]
    exact = [e for e in pool if e.name.lower() == name]
    found = exact or [e for e in pool if name and e.name.lower().startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"'{word}' could be {one_of(e.key for e in found)}; write more of it")
    pool = pool or known
    of_first = [e.name for e in pool if e.chapter == pool[0].chapter]
    there = f"chapter {pool[0].number} has {one_of(of_first)}" if pool else ""
    near = advice(word, [e.name for e in known], there)
    raise UsageError(f"unknown exercise '{word}'{near} (./learn list shows all)")


def of_chapter(word: str, known: list[Exercise]) -> list[Exercise]:
    """The exercises of the chapter that `word` means: its number, its name, a path to it, or a beginning of its name that
    no exercise and no other chapter has; none where it means no chapter."""
    if word.isdigit():
        return [e for e in known if int(e.number) == int(word)]
    plain = os.path.basename(os.path.normpath(word)).lower().replace("-", "_")
    names = {e.chapter: (e.chapter, e.chapter.partition("_")[2]) for e in known}
    found = [key for key, forms in names.items() if plain in forms]
    if not found and not any(e.name.lower().startswith(plain) for e in known):
        found = [key for key, forms in names.items() if any(form.startswith(plain) for form in forms)]
    return [e for e in known if e.chapter == found[0]] if len(found) == 1 else []


def several(words: list[str], known: list[Exercise]) -> list[Exercise]:
    """The exercises that the words mean, each once; a chapter means all of its exercises."""
    meant = [exercise for word in words for exercise in of_chapter(word, known) or [find(word, known)]]
    return list({exercise.key: exercise for exercise in meant}.values())
