"""What a check came to, of the events that common/grader notes; base/records.py reads them."""

from dataclasses import dataclass, field
from typing import Any, Union

from warp.base import records


@dataclass
class Place:
    """A line of a source, and what was counted there."""

    file: str
    line: int
    at_line: float


@dataclass
class Failure:
    """What is wrong. Of a wrong result, `place` is the element, of `of`, of which `wrong` are."""

    kind: str
    message: str
    case: str = ""
    file: str = ""
    line: int = 0
    thread: str = ""
    place: str = ""
    writer: str = ""  # of the element: block, thread and line; "" where that is not known
    unwritten: int = 0  # 1: no thread wrote it
    host: int = 0  # 1: a value of the host, which no thread writes
    unset: int = 0  # 1: it is made of what nobody has set
    expected: str = ""
    got: str = ""
    inputs: str = ""
    wrong: int = 0
    of: int = 0
    more: int = field(default=0, metadata=records.NOTED)  # errors of the compiler
    name: str = field(default="", metadata=records.NOTED)  # that the check looks for and does not find


@dataclass
class Bar:
    """A count, and what it may be; with the line that causes it where it is missed, and further ones."""

    name: str
    case: str
    value: float = field(metadata={records.KEY: "is"})
    relation: str = "at most"
    bar: float = 0
    holds: int = 0
    unit: str = ""
    file: str = ""
    line: int = 0
    at_line: float = 0
    others: list[Place] = field(default_factory=list)

    def places(self) -> list[Place]:
        """The lines that do most of it, the first the most."""
        return [Place(self.file, self.line, self.at_line), *self.others] if self.line else []


@dataclass
class Guess:
    """An answer to a question."""

    question: str
    answered: int
    guess: float
    holds: int
    hint: str = ""  # too low or too high


@dataclass
class Case:
    case: str


@dataclass
class Ended:
    code: int


@dataclass
class Verdict:
    """Nothing more than its event says: passed or failed."""


EVENTS: dict[str, type] = {"case": Case, "failure": Failure, "bar": Bar, "prediction": Guess, "ended": Ended}
EVENTS.update(passed=Verdict, failed=Verdict)


def read_event(event: dict[str, Any], strict: bool = False) -> Union[Case, Failure, Bar, Guess, Ended, Verdict]:
    """An event of its JSON; FormError where it has another form."""
    rest = dict(event)
    kind = rest.pop("event", None)
    if kind not in EVENTS:
        raise records.FormError(f"{kind!r} is no event")
    return records.read(EVENTS[kind], rest, strict)


@dataclass
class Outcome:
    """What a check came to."""

    backend: str = "simulator"
    passed: bool = False
    failures: list[Failure] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    predictions: list[Guess] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)
    said: str = ""  # by the learner's own code
    seconds: float = 0.0

    def reasons(self) -> list[tuple[str, str]]:
        """Kinds of failure, and the names of the bars and predictions that were missed, each with its case."""
        found = [(failure.kind, failure.case) for failure in self.failures]
        found += [(bar.name, bar.case) for bar in self.bars if not bar.holds]
        found += [("prediction " + guess.question, "") for guess in self.predictions if not guess.holds]
        return found

    def fail(self, kind: str, message: str, **more: Any) -> None:
        self.failures.append(Failure(kind, message, **more))

    def to_json(self) -> dict[str, Any]:
        names = ("backend", "passed", "failures", "bars", "predictions", "cases", "said")
        return dict({name: records.write(getattr(self, name)) for name in names}, seconds=round(self.seconds, 2))
