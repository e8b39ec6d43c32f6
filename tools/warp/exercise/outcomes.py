"""What a check came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Outcome:
    """What a check came to. The dictionaries are the events of common/grader."""

    backend: str = "simulator"
    passed: bool = False
    failures: list[dict[str, Any]] = field(default_factory=list)  # kind, message, case and where
    bars: list[dict[str, Any]] = field(default_factory=list)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)
    said: str = ""  # by the learner's own code
    seconds: float = 0.0

    def reasons(self) -> list[tuple[str, str]]:
        """Kinds of failure, and the names of the bars and predictions that were missed, each with its case."""
        found = [(failure["kind"], failure.get("case", "")) for failure in self.failures]
        found += [(bar["name"], bar["case"]) for bar in self.bars if not bar["holds"]]
        found += [("prediction " + guess["question"], "") for guess in self.predictions if not guess["holds"]]
        return found

    def fail(self, kind: str, message: str, **more: Any) -> None:
        self.failures.append(dict(kind=kind, message=message, **more))

    def to_json(self) -> dict[str, Any]:
        names = ("backend", "passed", "failures", "bars", "predictions", "cases", "said")
        return dict({name: getattr(self, name) for name in names}, seconds=round(self.seconds, 2))
