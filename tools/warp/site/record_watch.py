"""./learn author watch: records what ./learn watch says of one exercise, save by save, for the landing page.

Each save is checked as the runner checks it, and what it prints is kept with its colours in docs/recordings/watch.json, beside the edit that was
made. tests/learn/test_recording.py holds the file to what the runner prints now, seconds aside.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from warp.base import ui
from warp.base.errors import LearnError
from warp.exercise import catalogue, checking, record, report

ROOT = Path(__file__).resolve().parents[3]
EXERCISE = "missing_guard"
# What the learner changes before each save: (words, before, after).
SAVES = (
    ("Saved as it is.", "", ""),
    (
        "The number of blocks is rounded up: `(n + threads - 1) / threads`.",
        "const int blocks = n / threads;",
        "const int blocks = (n + threads - 1) / threads;",
    ),
    ("The kernel gets its guard: `if (i < n)`.", "  c[i] = a[i] + b[i];", "  if (i < n) c[i] = a[i] + b[i];"),
)


def frames() -> list[dict]:
    """[{"edit": words, "says": the lines on the terminal}], one for each save."""
    (exercise,) = catalogue.several([EXERCISE], catalogue.everything())
    checking.prepare("simulator")
    text, found, here = exercise.blank, [], os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "my", exercise.chapter, f"{exercise.name}.cu")
        file.parent.mkdir(parents=True)
        os.chdir(folder)  # names of files are shown as in the course's folder
        try:
            for words, before, after in SAVES:
                if before not in text:
                    raise LearnError(f"{exercise.source} has no '{before}' any more: mend SAVES in {__file__}")
                text = text.replace(before, after) if before else text
                file.write_text(text, encoding="utf-8")
                outcome = checking.check(exercise, str(file))
                lines = report.outcome(exercise, str(file), outcome, {}, ui.Palette(True))
                if not outcome.passed:
                    lines += ["", *(f"  {line}" for line in report.next_step(exercise, outcome, record.Record({})))]
                found.append({"edit": words, "says": [line.rstrip() for line in lines]})
        finally:
            os.chdir(here)
    return found


def main(_words: list[str]) -> int:
    kept = ROOT / "docs" / "recordings" / "watch.json"
    kept.write_text(json.dumps({"exercise": EXERCISE, "frames": frames()}, indent=1, ensure_ascii=False) + "\n")
    return 0
