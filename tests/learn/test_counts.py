"""The table of counts, and those who cannot import it: simulator, grader and lab, in C++."""

import pathlib
import re
import unittest

import fake

from warp.base.counts import BY_NAME, COUNTS

COMMON = pathlib.Path(fake.ROOT) / "common"
METRIC = re.compile(r'Metric \w+\{\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]+)",\s*"([^"]*)"\}')


def read(path):
    return (COMMON / path).read_text(encoding="utf-8")


def strange_names(text):
    """What looks like a count in a source, and is none of the table."""
    named = re.findall(r'"((?:global|shared)_\w+|divergent_\w+)', text)
    return sorted({name for name in named if name not in BY_NAME})


def other_metrics(text):
    """The metrics of the grader that are one count, and have other words or another unit than the table."""
    found = [(words, unit, name) for words, unit, name, per in METRIC.findall(text) if name in BY_NAME and not per]
    return [row for row in found if (BY_NAME[row[2]].words, BY_NAME[row[2]].unit) != row[:2]]


class Counts(unittest.TestCase):
    def test_the_simulator_counts_these_in_this_order(self):
        self.assertEqual(
            re.findall(r'\{"(\w+)", &Counts::', read("simt/include/simt/counts.h")), [c.name for c in COUNTS]
        )

    def test_the_grader_says_them_in_the_same_words(self):
        text = read("grader/include/grader/grader.h")
        self.assertGreater(len(METRIC.findall(text)), 15)
        self.assertEqual((strange_names(text), other_metrics(text)), ([], []))

    def test_lab_shows_no_other(self):
        text = read("lab/src/table.cpp")
        self.assertIn('"global_load_sectors"', text)
        self.assertEqual(strange_names(text), [])

    def test_what_is_wrong_is_seen(self):
        self.assertEqual(strange_names('n("global_load_sector")'), ["global_load_sector"])
        wrong = 'Metric m{"global load request", "sectors", "global_load_requests", ""};'
        self.assertEqual(other_metrics(wrong), [("global load request", "sectors", "global_load_requests")])
