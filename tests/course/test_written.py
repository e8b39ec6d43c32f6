"""Recorded results have the form that is read, all of it and nothing else."""

import json
import unittest

import small

from warp.base import records
from warp.chapter.written import Report

FILES = sorted((small.ROOT / "chapters").glob("*/results/*.json"))


class Results(unittest.TestCase):
    def test_every_recorded_one(self):
        read = 0
        for file in FILES:
            data = json.loads(file.read_text(encoding="utf-8"))
            if "backend" in data:  # else it is of counters, or of bounds
                with self.subTest(file=file.name, chapter=file.parts[-3]):
                    self.assertTrue(records.read(Report, data, strict=True).rows)
                read += 1
        self.assertGreater(read, 15)

    def test_another_form_is_refused(self):
        data = json.loads(next(file for file in FILES if file.name == "h200.json").read_text(encoding="utf-8"))
        for change, said in (
            ({"status": 1}, "rows[0].status: 1 is no string"),
            ({"speed": 2}, "rows[0]: speed is unknown"),
        ):
            with self.assertRaises(records.FormError) as caught:
                records.read(Report, {**data, "rows": [{**data["rows"][0], **change}]}, strict=True)
            self.assertEqual(caught.exception.message, said)
