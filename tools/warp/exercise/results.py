"""Outcomes as files: JSON, a table in Markdown, and the JUnit XML that continuous integration reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from warp.base.errors import LearnError
from warp.exercise.exercises import Exercise
from warp.exercise.outcomes import Outcome

Outcomes = Sequence[tuple[Exercise, Outcome]]


def as_json(outcomes: Outcomes) -> str:
    """{"passed", "total", "exercises": [{"exercise", "chapter", "title", "kind", ...outcome}]}"""
    rows = [
        dict(exercise=e.name, chapter=e.chapter, title=e.title, kind=e.kind, **outcome.to_json())
        for e, outcome in outcomes
    ]
    passed = sum(row["passed"] for row in rows)
    return json.dumps({"passed": passed, "total": len(rows), "exercises": rows}, indent=2) + "\n"


def as_junit(outcomes: Outcomes) -> str:
    """One testcase for each exercise, in a testsuite for each chapter."""
    chapters: dict[str, list[tuple[Exercise, Outcome]]] = {}
    for exercise, outcome in outcomes:
        chapters.setdefault(exercise.chapter, []).append((exercise, outcome))
    failed = sum(not outcome.passed for _, outcome in outcomes)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    seconds = sum(outcome.seconds for _, outcome in outcomes)
    lines.append(
        f'<testsuites name="exercises" tests="{len(outcomes)}" failures="{failed}" errors="0" time="{seconds:.2f}">'
    )
    for chapter, rows in chapters.items():
        wrong = sum(not outcome.passed for _, outcome in rows)
        total = sum(outcome.seconds for _, outcome in rows)
        lines.append(
            f'  <testsuite name={quoteattr(chapter)} tests="{len(rows)}" failures="{wrong}" errors="0" time="{total:.2f}">'
        )
        for exercise, outcome in rows:
            head = f'    <testcase classname={quoteattr(chapter)} name={quoteattr(exercise.name)} time="{outcome.seconds:.2f}"'
            if outcome.passed:
                lines.append(head + "/>")
                continue
            reasons = [kind + (" at " + case if case else "") for kind, case in outcome.reasons()]
            text = "\n".join(failure.message for failure in outcome.failures)
            lines.append(head + ">")
            lines.append(
                "      <failure type={} message={}>{}</failure>".format(
                    attribute(outcome.reasons()[0][0]), attribute("; ".join(reasons)), escape(printable(text))
                )
            )
            lines.append("    </testcase>")
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def as_markdown(outcomes: Outcomes) -> str:
    """A table for people: what continuous integration shows as its summary."""
    passed = sum(outcome.passed for _, outcome in outcomes)
    lines = [
        f"## Exercises: {passed} of {len(outcomes)} passed",
        "",
        "| exercise | kind | | why |",
        "|---|---|---|---|",
    ]
    for exercise, outcome in outcomes:
        reasons = [kind + (" at " + case if case else "") for kind, case in outcome.reasons()]
        word = "passed" if outcome.passed else "not started" if reasons == ["not-started"] else "not yet"
        why = "; ".join(reasons[:2]).replace("|", "\\|") if word == "not yet" else ""
        lines.append(f"| {exercise.number} `{exercise.name}` | {exercise.kind} | {word} | {why} |")
    return "\n".join(lines) + "\n"


def attribute(text: str) -> str:
    return quoteattr(printable(text))


def printable(text: str) -> str:
    """XML has no way to say control characters."""
    return "".join(c if c in "\n\t" or ord(c) >= 32 else "?" for c in text)


def write(file: str, option: str, text: str) -> None:
    try:
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise LearnError(f"{option} {file}: cannot be written: {error.strerror}")
