"""The learner's own copies, in my/: git ignores them, and nothing here is overwritten without a backup.

Whatever moment a command is interrupted at, each file in my/ is whole: it is what it was, or what was to come.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from warp.base import paths
from warp.base.errors import LearnError
from warp.exercise.exercises import Exercise

FOLDER = os.path.abspath(os.environ.get("WARP_MY_DIR") or os.path.join(paths.ROOT, "my"))
BACKUPS = os.path.join(FOLDER, "backups")
CHECKED = os.path.join(FOLDER, "checked")  # of each exercise the version that was checked last


def file_of(exercise: Exercise) -> str:
    return os.path.join(FOLDER, exercise.chapter, exercise.name + ".cu")


def is_started(exercise: Exercise) -> bool:
    return os.path.exists(file_of(exercise))


def content(exercise: Exercise) -> bytes | None:
    """The learner's file; None where there is none."""
    try:
        with open(file_of(exercise), "rb") as file:
            return file.read()
    except OSError:
        return None


def is_edited(exercise: Exercise) -> bool:
    """There is a file, and it is not the blank."""
    return content(exercise) not in (None, exercise.blank.encode())


def is_worth_asking(exercise: Exercise) -> bool:
    """What a reset would replace is more than space."""
    return is_edited(exercise) and bool((content(exercise) or b"").strip())


def of_no_exercise(exercises: list[Exercise]) -> list[str]:
    """Files in the chapters' folders of my/ that belong to none of the exercises: an update renamed or dropped it."""
    known, found = {file_of(exercise) for exercise in exercises}, []
    for chapter in sorted({exercise.chapter for exercise in exercises}):
        folder = os.path.join(FOLDER, chapter)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        found += [os.path.join(folder, name) for name in names if name.endswith(".cu") and name[0] != "."]
    return [file for file in found if file not in known]


def saved(exercise: Exercise) -> float:
    """When its file was saved, in seconds; 0 where there is none."""
    try:
        return os.stat(file_of(exercise)).st_mtime
    except OSError:
        return 0.0


def saved_last(exercises: list[Exercise]) -> Exercise | None:
    """The exercise whose file was saved last, of those that are not blank; None if all are."""
    return max(filter(is_edited, exercises), key=saved, default=None)


def start(exercise: Exercise) -> bool:
    """Copies the exercise into my/, unless it is there; True if it was copied."""
    file = file_of(exercise)
    with _complaining(file):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        if os.path.lexists(file):
            return False
        new = _written(file, exercise.blank.encode())
        try:
            os.link(new, file)  # unlike a rename, never in the place of a file that has come meanwhile
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            if os.path.lexists(file):
                return False
            os.rename(new, file)
            return True
        finally:
            if os.path.exists(new):
                os.unlink(new)
    return True


def reset(exercise: Exercise) -> str:
    """Puts the blank in the place of the learner's file; returns the backup, "" where there was nothing to keep."""
    file = file_of(exercise)
    blank = exercise.blank.encode()
    with _complaining(file):
        if not os.path.exists(file):
            start(exercise)
            return ""
        with open(file, "rb") as opened:
            mine = opened.read()
        if mine == blank:
            return ""
        kept = backup(exercise, mine)
    replace(exercise, blank)
    return kept


def replace(exercise: Exercise, content: bytes) -> None:
    """Puts `content` in the place of the learner's file, of which nothing is kept."""
    file = file_of(exercise)
    with _complaining(file):
        os.replace(_written(file, content), file)


def checked_file_of(exercise: Exercise) -> str:
    return os.path.join(CHECKED, f"{exercise.number}-{exercise.name}.cu")


def keep_checked(exercise: Exercise) -> None:
    """Keeps a copy of what is about to be checked, in case that its file is deleted. Without one the check goes on."""
    kept = checked_file_of(exercise)
    try:
        if not is_worth_asking(exercise):
            return
        with open(file_of(exercise), "rb") as file:
            mine = file.read()
        if os.path.exists(kept):
            with open(kept, "rb") as file:
                if file.read() == mine:
                    return
        os.makedirs(CHECKED, exist_ok=True)
        os.replace(_written(kept, mine), kept)
    except OSError:
        pass


def checked_last(exercise: Exercise) -> str:
    """Where the version that was checked last is kept, for the learner to read; "" if none is."""
    kept = checked_file_of(exercise)
    return paths.shown(kept) if os.path.exists(kept) else ""


def backup(exercise: Exercise, content: bytes) -> str:
    """Keeps `content` in a new file of my/backups; returns its path."""
    os.makedirs(BACKUPS, exist_ok=True)
    stem = os.path.join(BACKUPS, "{}-{}-{}".format(exercise.number, exercise.name, time.strftime("%Y%m%d-%H%M%S")))
    for attempt in range(1000):
        name = stem + (f"-{attempt}" if attempt else "") + ".cu"
        new = _written(name, content)
        try:
            os.link(new, name)
            return name
        except FileExistsError:
            continue
        except OSError:
            if not os.path.exists(name):
                os.rename(new, name)
                return name
        finally:
            if os.path.exists(new):
                os.unlink(new)
    raise LearnError(f"{paths.shown(BACKUPS)} holds too many backups of {exercise.name}")


def _written(beside: str, content: bytes) -> str:
    """A temporary file in the same folder, written to the disk."""
    name = os.path.join(os.path.dirname(beside), f".{os.path.basename(beside)}.{os.getpid()}")
    with open(name, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return name


@dataclass(eq=False)
class _complaining:
    """Turns an OSError into one line."""

    file: str

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, OSError):
            raise LearnError(f"cannot write {paths.shown(self.file)}: {error.strerror}")
