"""What the last `./learn run` of a chapter left: how many rungs passed."""

from __future__ import annotations

import json

from warp.base import paths
from warp.chapter.chapters import Chapter


def statuses(file: str) -> dict[str, int] | None:
    """{"PASS": 12, ...} of a results file, rung by rung; None where the program wrote none."""
    try:
        with open(file, encoding="utf-8") as opened:
            rows = json.load(opened)["rows"]
    except (OSError, ValueError, KeyError):
        return None
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    return counts


def last_run(backend: str, chapter: Chapter) -> dict[str, int] | None:
    """The statuses of the last run of a whole ladder; where there was none, of the last part; else None."""
    whole = statuses(paths.last_results(backend, chapter.key))
    return whole if whole is not None else statuses(paths.last_results(backend, chapter.key, part=True))


def in_words(counts: dict[str, int]) -> str:
    """12 PASS, 2 SKIP"""
    order = ("PASS", "FAIL", "ERROR", "SKIP")
    return ", ".join(f"{counts[word]} {word}" for word in order if counts.get(word)) or "nothing ran"
