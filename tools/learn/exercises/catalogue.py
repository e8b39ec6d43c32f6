"""Which exercises there are, and which of them a learner means."""

import os
from pathlib import Path

from course import exercises as course
from learn import paths
from learn.errors import LearnError, UsageError
from learn.names import advice, one_of


def everything():
    """All exercises in the order of the course."""
    try:
        found = course.all_exercises(Path(paths.ROOT))
    except course.ExerciseError as error:
        raise LearnError(str(error))
    if not found:
        raise LearnError("there is no exercise in {}".format(paths.shown(os.path.join(paths.ROOT, "exercises"))))
    return found


def whatever_there_is():
    """The same for commands about other things: none where the exercises are missing or cannot be read."""
    try:
        return everything()
    except LearnError:
        return []


def find(word, known):
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
    if of_chapter(word, known):
        names = one_of(e.name for e in of_chapter(word, known))
        raise UsageError(f"'{word}' is a chapter; name one of its exercises: {names}")
    pool = pool or known
    of_first = [e.name for e in pool if e.chapter == pool[0].chapter]
    there = f"chapter {pool[0].number} has {one_of(of_first)}" if pool else ""
    near = advice(word, [e.name for e in known], there)
    raise UsageError(f"unknown exercise '{word}'{near} (./learn list shows all)")


def of_chapter(word, known):
    """The exercises of the chapter with this number, or none where `word` is no number."""
    return [e for e in known if word.isdigit() and int(e.number) == int(word)]


def first(word, known):
    """The exercise that `word` means, or the first one of the chapter with this number."""
    return (of_chapter(word, known) or [find(word, known)])[0]
