"""The progress in the exercises, under "exercises" of learn.progress: what was passed, tried and hinted, and the last try."""

from __future__ import annotations

import os
import time
from typing import Any

from warp.base import progress
from warp.exercise import catalogue
from warp.exercise.exercises import Exercise
from warp.exercise.outcomes import Bar, Outcome

KEY = "exercises"
CURRENT = "current exercise"
BLANKS = "blanks"  # exercise -> digest of the blank that its copy began as


class Record:
    """What is kept of one exercise; reading it never fails, whatever stands in the file."""

    def __init__(self, entry: object) -> None:
        kept: dict[str, Any] = entry if isinstance(entry, dict) else {}
        self.passed = _text(kept.get("passed"))  # the day, or ""
        self.digest = _text(kept.get("digest"))  # of the exercise then
        self.tries = _count(kept.get("tries"))  # since the last pass
        self.later = kept.get("later") is True  # set aside
        self.hints = _count(kept.get("hints"))  # shown
        self.last = _dictionary(kept.get("last"))  # bar_and_case() -> value of the last try

    def has_changed(self, exercise: Exercise) -> bool:
        """The course has another version than the one that was passed."""
        return bool(self.passed and self.digest and self.digest != exercise.digest())

    def is_done(self) -> bool:
        return bool(self.passed)


def bar_and_case(bar: Bar) -> str:
    """What a value of a bar can be compared with: that of another case is another one."""
    return f"{bar.name} at {bar.case}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def all_records(exercises: list[Exercise]) -> dict[str, Record]:
    """{key: Record} for all of them."""
    kept = _dictionary(progress.read().get(KEY))
    return {exercise.key: Record(kept.get(exercise.key)) for exercise in exercises}


def current(exercises: list[Exercise]) -> Exercise | None:
    """The exercise that the learner is at: the one started or chosen last, or the first that is open; None at the end."""
    kept = progress.read().get(CURRENT)
    for exercise in exercises:
        if exercise.key == kept:
            return exercise
    return first_open(exercises)


def was_chosen(exercise: Exercise) -> bool:
    """It is the one that the learner named, checked or was led to last."""
    return progress.read().get(CURRENT) == exercise.key


def first_open(exercises: list[Exercise], after: Exercise | None = None) -> Exercise | None:
    """The next exercise that was not passed, behind `after` first, then from the start; None if there is none."""
    records = all_records(exercises)
    begin = exercises.index(after) + 1 if after in exercises else 0
    for exercise in exercises[begin:] + exercises[:begin]:
        if not records[exercise.key].is_done():
            return exercise
    return None


def one(word: str, exercises: list[Exercise], onwards: bool = False) -> Exercise:
    """The exercise that `word` means; of a chapter the one that the learner is at, else the first that is open. `onwards`:
    not the one that the learner is at, if it is passed."""
    of_chapter = catalogue.of_chapter(word, exercises)
    if not of_chapter:
        return catalogue.find(word, exercises)
    here = current(exercises)
    if here in of_chapter and not (onwards and all_records([here])[here.key].is_done()):
        return here
    return first_open(of_chapter, after=here) or of_chapter[0]


def changed() -> float:
    """When a command last kept something, in seconds; 0 before the first."""
    try:
        return os.stat(progress.FILE).st_mtime
    except OSError:
        return 0.0


def choose(exercise: Exercise) -> None:
    """It is the one that the learner is at, and no longer set aside."""

    def edit(kept: dict[str, Any]) -> None:
        kept[CURRENT] = exercise.key
        if Record(_dictionary(kept.get(KEY)).get(exercise.key)).later:
            _entry(kept, exercise).pop("later")

    progress.change(edit)


def set_aside(exercise: Exercise) -> None:
    progress.change(lambda kept: _entry(kept, exercise).update(later=True))


def note_try(exercise: Exercise, outcome: Outcome) -> None:
    """Keeps what a check came to."""

    def edit(kept: dict[str, Any]) -> None:
        entry = _entry(kept, exercise)
        record = Record(entry)
        if outcome.passed:
            entry.update(passed=time.strftime("%Y-%m-%d"), digest=exercise.digest(), tries=0)
            entry.pop("later", None)
        else:
            entry["tries"] = record.tries + 1
        entry["last"] = {bar_and_case(bar): bar.value for bar in outcome.bars}

    progress.change(edit)


def note_hint(exercise: Exercise, shown: int) -> None:
    progress.change(lambda kept: _entry(kept, exercise).update(hints=shown))


def blanks() -> dict[str, str]:
    return _dictionary(progress.read().get(BLANKS))


def keep_blanks(digests: dict[str, str]) -> None:
    progress.change(lambda kept: kept.__setitem__(BLANKS, {**_dictionary(kept.get(BLANKS)), **digests}))


def forget(exercise: Exercise) -> None:
    """After a reset the exercise is open again."""

    def edit(kept: dict[str, Any]) -> None:
        kept[KEY] = _dictionary(kept.get(KEY))
        kept[KEY].pop(exercise.key, None)

    progress.change(edit)


def _dictionary(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _entry(kept: dict[str, Any], exercise: Exercise) -> dict[str, Any]:
    kept[KEY] = _dictionary(kept.get(KEY))
    kept[KEY][exercise.key] = _dictionary(kept[KEY].get(exercise.key))
    return kept[KEY][exercise.key]
