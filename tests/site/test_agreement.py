"""The page of agreement: one number where simulator and hardware agree, both where they differ."""

import json
import os
import pathlib
import stat
import tempfile
import unittest

import sample  # noqa: F401  (puts tools on the path)

from warp.site import agreement

COUNTS = [name for _, name in agreement.COLUMNS]


class Cells(unittest.TestCase):
    def test_both_numbers_where_they_differ(self):
        self.assertEqual(agreement.cell("global_load_sectors", {"global_load_sectors": 1024}, 1024), "1,024")
        self.assertEqual(agreement.cell("global_load_sectors", {"global_load_sectors": 0}, 0), "")
        self.assertEqual(
            agreement.cell("global_load_sectors", {"global_load_sectors": 1024}, 1025), "**1,024**, H200 1,025"
        )
        self.assertEqual(agreement.cell("global_load_sectors", {"global_load_sectors": 0}, 7), "**0**, H200 7")
        self.assertEqual(agreement.cell("global_load_sectors", {"global_load_sectors": 4}, None), "–")

    def test_noise_is_upwards_and_of_wavefronts_by_kind(self):
        self.assertEqual(agreement.cell("shared_load_wavefronts", {"shared_load_wavefronts": 1000}, 1020), "1,000")
        self.assertIn("H200", agreement.cell("shared_load_wavefronts", {"shared_load_wavefronts": 1000}, 999))
        self.assertIn("H200", agreement.cell("shared_wavefronts", {"shared_wavefronts": 1000}, 1020))


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def data(self, name, value):
        path = self.root / "tests" / "simulator" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")

    def program(self, name, kernel, value, code=0):
        path = self.root / "built" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        launch = {"kernel": kernel, "grid": [2, 1, 1], "block": [32, 4, 1], "counts": dict.fromkeys(COUNTS, value)}
        path.write_text(f"#!/bin/sh\necho '{json.dumps({'launches': [launch]})}' >$SIMT_JSON\nexit {code}\n")
        os.chmod(path, path.stat().st_mode | stat.S_IXUSR)

    def page(self, code=0):
        about = {"device": "NVIDIA H200", "driver": "1.2", "toolkit": "release 13", "ncu": "3.4 (x)", "date": "today"}
        self.data("microkernels/h200.json", dict(about, cases={"small": {"counts": dict.fromkeys(COUNTS, 5)}}))
        self.data("microkernels/open.json", {"cases": {"small": {"why": "made up"}}})
        self.data(
            "agreement/h200.json",
            dict(
                about, counts=COUNTS, programs={"copies": [["copy(int *)", [2, 1, 1], [32, 4, 1], [6] * len(COUNTS)]]}
            ),
        )
        self.data("agreement/open.json", {"kernels": []})
        self.program("microkernels/microkernels", "small", 4, code)
        self.program("agreement/agreement_copies", "copy", 6)
        return agreement.page(self.root, self.root / "built", self.root / "work")

    def test_rows_tools_and_reasons(self):
        text = self.page()
        for part in (
            "NVIDIA H200",
            "driver 1.2",
            "release 13",
            "ncu 3.4",
            "| `small` | **4**, H200 5 |",
            "### copies",
            "| `copy 2, 32x4` | 6 | 6 |",
            "- `small`: made up.",
        ):
            self.assertIn(part, text)

    def test_a_program_that_fails_is_named(self):
        with self.assertRaisesRegex(ValueError, "microkernels ended with exit code 3"):
            self.page(code=3)
