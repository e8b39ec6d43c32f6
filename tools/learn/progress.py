"""What the reader has done so far: .progress.json in the course's folder, which git ignores.

One dictionary; each command has a key of its own ("predictions", "exercises"). A change is made under a lock and
replaces the file as a whole: two commands at once lose nothing, and an interrupted one leaves what was there.
"""

import json
import os

from learn import paths, ui
from learn.build import lock
from learn.errors import LearnError

FILE = os.path.join(paths.ROOT, ".progress.json")


def read():
    """All of it; empty where nothing is kept, and where the file is damaged."""
    try:
        with open(FILE, encoding="utf-8") as file:
            kept = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        kept = None
    return kept if isinstance(kept, dict) else {}


def change(edit):
    """Calls edit(kept), which changes the dictionary in place, and keeps it; returns what edit returns."""
    with lock("progress"):
        _set_damaged_aside()
        kept = read()
        result = edit(kept)
        _write(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return result


def _set_damaged_aside():
    """A file that is no dictionary is renamed, not overwritten: the reader may want to mend it."""
    try:
        with open(FILE, encoding="utf-8") as file:
            damaged = not isinstance(json.load(file), dict)
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        damaged = True
    if damaged:
        os.replace(FILE, FILE + ".damaged")
        ui.note(f"learn: {paths.shown(FILE)} was damaged; it is now {paths.shown(FILE)}.damaged, and a new one begins")


def _write(text):
    new = f"{FILE}.{os.getpid()}"
    try:
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, FILE)
    except OSError as error:
        if os.path.exists(new):
            os.unlink(new)
        raise LearnError(f"cannot keep your progress in {paths.shown(FILE)}: {error.strerror}")
