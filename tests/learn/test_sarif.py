"""SARIF 2.1.0 of a trace written by hand."""

import json
import os
import re

import fake

import test_trace

from warp.explain import sarif
from warp.trace import trace

FINDING = {
    "kind": "out-of-bounds",
    "severity": "error",
    "message": "read past the end",
    "line": 8,
    "block": [0, 0, 0],
    "thread": [1, 0, 0],
    "address": "0x0",
    "allocation": "",
}


# What the schema of SARIF 2.1.0 says of the objects that we write, and no more properties than we write: of each
# property what it holds ("[result]": a list of them), with ! those that have to be there.
OBJECTS = {
    "log": {"$schema": "uri", "version!": ["2.1.0"], "runs!": "[run]"},
    "run": {
        "tool!": "tool",
        "originalUriBaseIds": "{folder}",
        "columnKind": ["utf16CodeUnits", "unicodeCodePoints"],
        "results": "[result]",
    },
    "tool": {"driver!": "component"},
    "component": {"name!": "text", "rules": "[rule]"},
    "rule": {"id!": "text", "shortDescription": "string"},
    "string": {"text!": "text"},
    "result": {
        "ruleId": "text",
        "ruleIndex": "index",
        "level": ["none", "note", "warning", "error"],
        "message!": "string",
        "locations": "[location]",
    },
    "location": {"physicalLocation": "place"},
    "place": {"artifactLocation!": "artifact", "region": "region"},
    "artifact": {"uri!": "uri", "uriBaseId": "text"},
    "folder": {"uri!": "uri"},
    "region": {"startLine!": "line"},
}
PLAIN = {
    "text": lambda value: isinstance(value, str) and value,
    # RFC 3986: of ASCII, no blank, and % stands before two digits
    "uri": lambda value: (
        isinstance(value, str) and re.fullmatch(r"(?:[\w\-.~:/?#@!$&'()*+,;=]|%[0-9A-F]{2})+", value, re.A)
    ),
    "index": lambda value: type(value) is int and value >= 0,
    "line": lambda value: type(value) is int and value >= 1,
}


def breaches(value, kind, where="log"):
    """What of it the schema does not allow, in one line each."""
    if isinstance(kind, list):
        return [] if value in kind else [f"{where}: {value!r} is none of {kind}"]
    if kind[0] == "[":
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [b for i, one in enumerate(value) for b in breaches(one, kind[1:-1], f"{where}[{i}]")]
    if not isinstance(value, dict) and (kind[0] == "{" or kind in OBJECTS):
        return [f"{where}: no object"]
    if kind[0] == "{":
        return [b for key, one in value.items() for b in breaches(one, kind[1:-1], f"{where}.{key}")]
    if kind in PLAIN:
        return [] if PLAIN[kind](value) else [f"{where}: {value!r} is no {kind}"]
    known = {name.rstrip("!"): of for name, of in OBJECTS[kind].items()}
    found = [f"{where}: lacks {name[:-1]}" for name in OBJECTS[kind] if name.endswith("!") and name[:-1] not in value]
    for name, one in value.items():
        found += breaches(one, known[name], f"{where}.{name}") if name in known else [f"{where}: {name} is unknown"]
    return found


class Schema(test_trace.Made):
    def log(self):
        findings = [dict(FINDING, file=self.cu), dict(FINDING, kind="new-kind", file="", line=0)]
        return json.loads(sarif.render(trace.of_json({"launches": [self.launch(findings=findings)]})))

    def test_it_holds(self):
        log = self.log()
        self.assertEqual(breaches(log, "log"), [])
        for base in log["runs"][0]["originalUriBaseIds"].values():
            self.assertRegex(base["uri"], "^file:///.*/$")

    def test_it_can_be_broken(self):
        def spoil(change):
            log = self.log()
            change(log["runs"][0])
            return breaches(log, "log")

        result = "log.runs[0].results[0]"
        for change, said in (
            (lambda run: run.pop("tool"), "log.runs[0]: lacks tool"),
            (lambda run: run.update(colour=1), "log.runs[0]: colour is unknown"),
            (lambda run: run["results"][0].update(level="bad"), result + ".level: 'bad' is none of"),
            (lambda run: run["results"][0].update(ruleIndex=-1), result + ".ruleIndex: -1 is no index"),
            (lambda run: run["results"][0].update(message="x"), result + ".message: no object"),
            (lambda run: run.update(results={}), "log.runs[0].results: no list"),
            (lambda run: self.place(run)["region"].update(startLine=0), "startLine: 0 is no line"),
            (lambda run: self.place(run)["artifactLocation"].update(uri="a b"), "uri: 'a b' is no uri"),
        ):
            self.assertIn(said, "\n".join(spoil(change)))

    @staticmethod
    def place(run):
        return run["results"][0]["locations"][0]["physicalLocation"]


class Sarif(test_trace.Made):
    def run_of(self, findings=(), host=()):
        recorded = trace.of_json({"launches": [self.launch(findings=list(findings))], "findings": list(host)})
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
