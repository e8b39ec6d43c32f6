"""Where the site shows what a command prints: in the site that ./learn docs built here, else in the one that came with the course."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from warp.base import paths, ui

BUILT = os.path.join(paths.BUILD, "docs", "html")
SHIPPED = os.path.join(paths.ROOT, "site")
HOW_LONG = "about 3 minutes on two cores the first time"  # packages and pages


def folder() -> str:
    """The site's folder; "" where there is none."""
    return next((one for one in (BUILT, SHIPPED) if os.path.exists(os.path.join(one, "index.html"))), "")


def file_of(page: str) -> str:
    """The file of a page of the site, such as chapters/01_thread_indexing; "" where there is none."""
    file = os.path.join(folder(), page + ".html")
    return file if folder() and os.path.exists(file) else ""


def tell(page: str, anchor: str = "", indent: str = "") -> None:
    """Says where a page of the site is; nothing where there is none. A terminal makes a link of it."""
    file = file_of(page)
    if not file:
        return
    words = paths.shown(file) + (f"#{anchor}" if anchor else "")
    if ui.is_terminal(sys.stdout):
        from pathlib import Path

        address = Path(file).as_uri() + (f"#{anchor}" if anchor else "")
        words = f"\x1b]8;;{address}\x1b\\{words}\x1b]8;;\x1b\\"  # OSC 8
    ui.say(f"{indent}Its page: {words}")


def tell_chapter(chapter: Any, rungs: Sequence[str] = ()) -> None:
    """The page of a chapter, at the rung that was asked for."""
    tell(f"chapters/{chapter.key}", rungs[0] if rungs else "")


def tell_exercise(exercise: Any, indent: str = "") -> None:
    tell(f"exercises/{exercise.chapter}/{exercise.name}", indent=indent)


def note_passed(kept: dict[str, Any]) -> None:
    """Writes which exercises are passed into the site that was built here, which ticks them."""
    file = os.path.join(BUILT, "_static", "learned.js")
    if not os.path.exists(file):
        return
    passed = sorted(key for key, of in kept.get("exercises", {}).items() if isinstance(of, dict) and of.get("passed"))
    text = f"globalThis.learned = {json.dumps({'passed': passed})};\n"
    try:
        with open(file, encoding="utf-8") as before:
            if before.read() == text:
                return
        with open(file, "w", encoding="utf-8") as after:
            after.write(text)
    except OSError:
        pass  # a comfort; no reason to stop
