"""JSON as data classes: what is read, refused and written, and the schema."""

import unittest

import fake  # noqa: F401  (the path)

from warp.base import records
from warp.trace.model import Launch, Line, Trace

LAUNCH = {"index": 0, "kernel": "k", "grid": [2, 1, 1], "block": [32, 1, 1], "counts": {"sectors": 4}}


class Records(unittest.TestCase):
    def refused(self, said, data, strict=False):
        with self.assertRaises(records.FormError) as caught:
            records.read(Trace, data, strict)
        self.assertEqual(caught.exception.message, said)

    def test_what_is_written_is_read_again(self):
        lines = [Line("k.cu", 3, {"sectors": 4}, polls=1)]
        trace = Trace([Launch(0, "k", [2, 1, 1], [32, 1, 1], {"sectors": 4}, traced_blocks=0, lines=lines)])
        data = records.write(trace)
        self.assertEqual(
            data["launches"][0], {**LAUNCH, "traced_blocks": 0, "findings": [], "lines": data["launches"][0]["lines"]}
        )
        self.assertEqual(data["launches"][0]["lines"][0]["polls"], 1)
        self.assertEqual(records.read(Trace, data, strict=True), trace)

    def test_what_has_another_form_is_told_with_its_place(self):
        self.refused("the whole: [] is no object", [])
        self.refused("the whole: it lacks launches", {})
        self.refused("launches: 3 is no list", {"launches": 3})
        self.refused("launches[1]: it lacks block", {"launches": [LAUNCH, {"index": 0, "kernel": "k", "grid": []}]})
        self.refused("launches[0].grid[1]: '1' is no integer", {"launches": [{**LAUNCH, "grid": [1, "1"]}]})
        self.refused("launches[0].index: True is no integer", {"launches": [{**LAUNCH, "index": True}]})
        self.refused(
            "launches[0].counts.sectors: 0.5 is no integer", {"launches": [{**LAUNCH, "counts": {"sectors": 0.5}}]}
        )

    def test_what_is_unknown_is_left_out_unless_all_has_to_be_known(self):
        data = {"launches": [{**LAUNCH, "colour": 1}]}
        self.assertEqual(records.read(Trace, data).launches[0].kernel, "k")
        self.refused("launches[0]: colour is unknown", data, strict=True)
        self.refused("launches[0]: variant is unknown", {"launches": [{**LAUNCH, "variant": "n"}]}, strict=True)

    def test_the_schema(self):
        schema = records.schema(Trace)
        launch = schema["$defs"]["Launch"]
        self.assertEqual(schema["$ref"], "#/$defs/Trace")
        self.assertEqual(launch["required"], ["index", "kernel", "grid", "block", "counts"])
        self.assertEqual(launch["properties"]["grid"], {"type": "array", "items": {"type": "integer"}})
        self.assertNotIn("variant", launch["properties"])
