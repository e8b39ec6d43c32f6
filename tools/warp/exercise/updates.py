"""What becomes of the learner's copies when the course has changed an exercise: those that nobody edited follow.

The progress keeps of each copy, under "blanks", which version of the blank it began as.
"""

from __future__ import annotations

import hashlib
from typing import Any

from warp.exercise import record, workspace
from warp.exercise.exercises import Exercise
from warp.exercise.record import Record


def bring(exercises: list[Exercise]) -> tuple[list[Exercise], list[Exercise]]:
    """Copies into my/ what is not there, and renews the copies that are still the blank of an older course. Returns
    ([copied], [renewed])."""
    kept = record.blanks()
    copied = [exercise for exercise in exercises if workspace.start(exercise)]
    renewed = [exercise for exercise in exercises if _is_old_blank(exercise, kept)]
    for exercise in renewed:
        workspace.replace(exercise, exercise.blank.encode())
    note(exercises, kept)
    return copied, renewed


def note(exercises: list[Exercise], kept: dict[str, Any] | None = None) -> None:
    """Keeps which blanks there are, of the copies that are still blank."""
    kept = record.blanks() if kept is None else kept
    blank = [exercise for exercise in exercises if workspace.is_started(exercise) and not workspace.is_edited(exercise)]
    now = {exercise.key: _digest(exercise.blank.encode()) for exercise in blank}
    if any(kept.get(key) != digest for key, digest in now.items()):
        record.keep_blanks(now)


def behind(exercises: list[Exercise], records: dict[str, Record]) -> list[Exercise]:
    """Those that the learner has begun to edit and not passed, and that the course has changed since."""
    kept = record.blanks()
    return [
        exercise
        for exercise in exercises
        if not records[exercise.key].is_done()
        and exercise.key in kept
        and kept[exercise.key] != _digest(exercise.blank.encode())
        and workspace.is_edited(exercise)
        and not _is_old_blank(exercise, kept)
    ]


def how_to_follow(exercise: Exercise) -> str:
    return f"./learn reset {exercise.name} brings the new one and keeps yours in my/backups"


def _is_old_blank(exercise: Exercise, kept: dict[str, Any]) -> bool:
    mine = workspace.content(exercise)
    return mine is not None and _digest(mine) == kept.get(exercise.key) and workspace.is_edited(exercise)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
