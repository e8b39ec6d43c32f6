"""What the reader has done so far: .progress.json in the course's folder, which git ignores.

One dictionary; each command has a key of its own ("predictions", "exercises"). A change is made under a lock and
replaces the file as a whole: two commands at once lose nothing, and an interrupted one leaves what was there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from typing import Any, TypeVar

from warp.base import pages, paths, ui
from warp.base.build import lock
from warp.base.errors import LearnError

Result = TypeVar("Result")
FILE = os.path.join(paths.ROOT, ".progress.json")
BEFORE = FILE + ".before"  # what FILE was before its last change

_told = False


def read() -> dict[str, Any]:
    """All of it; empty where nothing is kept. Where the file is damaged, what it was before its last change."""
    kept = _load(FILE)
    if kept is not None:
        return kept
    before = _load(BEFORE)
    global _told
    if not _told:
        ui.note(
            f"learn: {paths.shown(FILE)} was damaged; "
            + ("all counts that it had before its last change" if before else "what you have done so far is not known")
        )
    _told = True
    return before or {}


def predictions_in_words(kept: dict[str, dict[str, dict[str, dict[str, bool | str]]]], chapter: str) -> str:
    """`3 predictions answered, 2 right or near`, of a chapter's key; "" where none is."""
    done = kept.get("predictions", {}).get(chapter, {}).values()
    near = sum(1 for one in done if one.get("near"))
    return (
        "{} prediction{} answered, {} right or near".format(len(done), "" if len(done) == 1 else "s", near)
        if done
        else ""
    )


def change(edit: Callable[[dict[str, Any]], Result]) -> Result:
    """Calls edit(kept), which changes the dictionary in place, and keeps it; returns what edit returns."""
    with lock("progress"):
        damaged = _load(FILE) is None
        kept = read()
        result = edit(kept)
        if damaged:  # the reader may want to mend it
            shutil.copyfile(FILE, FILE + ".damaged")
            ui.note(f"learn: it is now {paths.shown(FILE)}.damaged")
        _write(json.dumps(kept, indent=1, sort_keys=True) + "\n", keeps_before=not damaged)
    pages.note_passed(kept)
    return result


def _load(file: str) -> dict[str, Any] | None:
    """The dictionary in a file, {} where there is no file, None where it is damaged."""
    try:
        with open(file, encoding="utf-8") as text:
            kept = json.load(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _write(text: str, keeps_before: bool) -> None:
    new = f"{FILE}.{os.getpid()}"
    try:
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if keeps_before and os.path.exists(FILE):
            shutil.copyfile(FILE, new + ".before")
            os.replace(new + ".before", BEFORE)
        os.replace(new, FILE)
    except OSError as error:
        for left in (new, new + ".before"):
            if os.path.exists(left):
                os.unlink(left)
        raise LearnError(f"cannot keep your progress in {paths.shown(FILE)}: {error.strerror}")
