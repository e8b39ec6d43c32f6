"""SARIF 2.1.0 of a trace written by hand."""

import json
import os
import unittest

import fake

import test_trace

from learn.explain import sarif

FINDING = {
    "kind": "out-of-bounds",
    "severity": "error",
    "message": "read past the end",
    "line": 8,
    "block": [0, 0, 0],
    "thread": [1, 0, 0],
    "address": 0,
    "allocation": "",
}


class Sarif(test_trace.Made):
    def run_of(self, findings=(), host=()):
        recorded = {"launches": [self.launch(findings=list(findings))], "findings": list(host)}
        log = json.loads(sarif.render(recorded))
        self.assertEqual((log["version"], len(log["runs"])), ("2.1.0", 1))
        return log["runs"][0]

    def test_findings_and_advice(self):
        run = self.run_of(
            [dict(FINDING, file=self.cu), dict(FINDING, file=self.cu, thread=[2, 0, 0])],
            [dict(FINDING, kind="leak", severity="warning", file=self.cu, line=14, message="never freed")],
        )
        by_rule = {result["ruleId"]: result for result in run["results"]}
        error = by_rule["out-of-bounds"]
        self.assertEqual(error["level"], "error")
        self.assertIn("and 1 more of this kind", error["message"]["text"])
        place = error["locations"][0]["physicalLocation"]
        self.assertEqual(place["region"]["startLine"], 8)
        self.assertEqual(place["artifactLocation"]["uri"], "file://" + os.path.realpath(self.cu))
        self.assertEqual(by_rule["leak"]["level"], "warning")
        advice = [result for rule, result in by_rule.items() if rule.startswith("advice/")]
        self.assertTrue(advice)
        self.assertEqual({result["level"] for result in advice}, {"note"})

    def test_every_result_has_its_rule(self):
        run = self.run_of([dict(FINDING, file=self.cu), dict(FINDING, kind="new-kind", file="", line=0)])
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertTrue(result["message"]["text"])
            self.assertIn(result["level"], ("error", "warning", "note"))
        new = next(result for result in run["results"] if result["ruleId"] == "new-kind")
        self.assertNotIn("locations", new)
        self.assertIn("New kind.", [rule["shortDescription"]["text"] for rule in rules])

    def test_files_of_the_course_are_relative(self):
        inside = sarif.artifact(os.path.join(fake.ROOT, "chapters", "a b.cu"))
        self.assertEqual(inside, {"uri": "chapters/a%20b.cu", "uriBaseId": "SRCROOT"})


if __name__ == "__main__":
    unittest.main()
