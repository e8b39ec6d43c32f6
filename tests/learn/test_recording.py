"""The recording on the landing page says what the runner says now: docs/recordings/watch.json."""

import json
import re
import sys
import unittest
from pathlib import Path

LABELS = ["learn", "simt"]
NEEDS = ["simtcc", "simt", "lab", "grader"]

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from warp.base.errors import LearnError
from warp.site import record_watch


def without_times(frames):
    return [dict(one, says=[re.sub(r"[\d.]+ s\)", "S s)", line) for line in one["says"]]) for one in frames]


class Recording(unittest.TestCase):
    def test_the_runner_still_says_it(self):
        kept = json.loads((ROOT / "docs" / "recordings" / "watch.json").read_text(encoding="utf-8"))
        self.assertEqual(kept["exercise"], record_watch.EXERCISE)
        try:
            now = record_watch.frames()
        except LearnError as error:
            self.skipTest(f"no exercise can be checked here: {error}")
        self.assertEqual(without_times(kept["frames"]), without_times(now), "make it again: ./learn author watch")
        self.assertNotEqual(without_times(kept["frames"]), without_times(now[:-1]))
