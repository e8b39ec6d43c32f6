"""The exercises as their own files describe them. Runner, tests and site read them with this.

exercises/NN_chapter/name.cu begins with `// # Title`, the fields below and the task, in Markdown; then comes the code,
with marks that tell the blank from the solution (marks.py). name.md beside it holds the hints, the explanation and the
alternatives, and the number of the section that it trains. check/name.cu is the checker, check/name.diff the mistakes
that it must catch. exercises/README.md shows how to write one.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import re
from pathlib import Path

from warp.base import fields
from warp.base.errors import LearnError
from warp.exercise import marks

KINDS = ("fill in", "repair", "predict", "optimise")
FEWEST_HINTS = 3
FEWEST_MUTANTS = 2
FILL_IN = "FILL IN"  # begins what `./learn author new-exercise` leaves to its author
FOLDER = re.compile(r"\d\d_\w+$")
SECTIONS = ("Hints", "Explanation", "Alternatives")


class ExerciseError(LearnError):
    """What is wrong with the files of an exercise, in one line that starts with the file."""


# A change with one of these in place of a reason is none that the check has to notice.
EQUIVALENT, ORDER_DEPENDENT = "equivalent", "order-dependent"


@dataclasses.dataclass
class Hunk:
    """One hunk of a unified diff: whole lines of the solution, and what takes their place."""

    old: list[str]
    new: list[str]


@dataclasses.dataclass
class Mutant:
    """A mistake in the solution, by name, and how the check must say it; or a change that it need not notice."""

    name: str  # of a change that need not be noticed, why
    reason: str  # a kind of failure, the name of a bar, "prediction QUESTION", EQUIVALENT or ORDER_DEPENDENT
    case: str  # the case that must fail, "" for any
    hunks: list[Hunk]
    line: int


@dataclasses.dataclass
class Exercise:
    """One exercise. Paths are those of the course, never the learner's."""

    root: Path
    chapter: str  # "01_thread_indexing"
    name: str
    title: str = ""
    kind: str = ""
    level: int = 0
    minutes: int = 0
    on_short_path: bool = False
    task: str = ""
    section: str = ""  # the number of the chapter's section that it trains, "" for none
    header: str = ""  # the comment that the file begins with, as it stands
    blank: str = ""  # the text that the learner begins with
    solution: str = ""  # the same, solved
    hints: list[str] = dataclasses.field(default_factory=list)
    explanation: str = ""
    alternatives: str = ""
    mutants: list[Mutant] = dataclasses.field(default_factory=list)
    equivalents: list[Mutant] = dataclasses.field(default_factory=list)

    @property
    def key(self) -> str:
        return self.chapter + "/" + self.name

    @property
    def number(self) -> str:
        return self.chapter[:2]

    @property
    def source(self) -> Path:
        return self.root / "exercises" / self.chapter / (self.name + ".cu")

    @property
    def notes(self) -> Path:
        return self.source.with_suffix(".md")

    @property
    def checker(self) -> Path:
        return self.source.parent / "check" / (self.name + ".cu")

    @property
    def mutants_file(self) -> Path:
        return self.checker.with_suffix(".diff")

    def digest(self) -> str:
        """Changes whenever the task, its blank or its checker does."""
        return hashlib.sha256(self.blank.encode() + self.checker.read_bytes()).hexdigest()[:16]


def all_exercises(root: Path, of: str = "") -> list[Exercise]:
    """Every exercise, or those of the chapter `of`: by chapter, then by level.

    An exercise that lacks a file or a field is an ExerciseError.
    """
    found = []
    folder = root / "exercises"
    for chapter in sorted(folder.iterdir()) if folder.is_dir() else []:
        if chapter.is_dir() and FOLDER.match(chapter.name) and of in ("", chapter.name):
            found += [read(root, chapter.name, file.stem) for file in sorted(chapter.glob("*.cu"))]
    return sorted(found, key=lambda exercise: (exercise.chapter, exercise.level, exercise.name))


def read(root: Path, chapter: str, name: str) -> Exercise:
    exercise = Exercise(root, chapter, name)
    _read_source(exercise)
    _read_notes(exercise)
    _read_mutants(exercise)
    if not exercise.checker.is_file():
        raise ExerciseError(f"{_shown(exercise, exercise.checker)}: missing")
    return exercise


def _shown(exercise: Exercise, file: Path) -> str:
    return str(file.relative_to(exercise.root))


def _text(exercise: Exercise, file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ExerciseError(f"{_shown(exercise, file)}: {(error.strerror or 'cannot be read').lower()}")


def header_of(text: str) -> str:
    """The `//` lines that a source begins with."""
    return "\n".join(fields.comment_of(text.split("\n")))


def _read_source(exercise: Exercise) -> None:
    text = _text(exercise, exercise.source)

    def bad(line: int, what: str) -> ExerciseError:
        return ExerciseError(f"{_shown(exercise, exercise.source)}:{line}: {what}")

    exercise.header = header_of(text)
    title = re.match(r"// # (\S.*)", exercise.header)
    if not title:
        raise bad(1, "an exercise starts with the line '// # Title'")
    exercise.title = title[1].strip()
    found = fields.read(exercise.header.split("\n"), ("Kind", "Level", "Minutes", "Path"), bad)
    for name in ("Kind", "Level", "Minutes"):
        if not found.get(name):
            raise bad(1, f"the header lacks the line '// {name}: ...'")
    exercise.kind = found.get("Kind")
    if exercise.kind not in KINDS:
        raise found.refused("Kind", ", ".join(KINDS))
    exercise.level, exercise.minutes = found.number("Level", 99), found.number("Minutes", 99)
    exercise.on_short_path = found.is_on_short_path()
    exercise.task = "\n".join(found.text).strip()
    if len(exercise.task.split()) < 10:
        raise bad(1, "the task must stand in the header, behind the fields")
    exercise.blank, exercise.solution = marks.blank_and_solution(text, bad)
    if not header_of(exercise.blank) == header_of(exercise.solution) == exercise.header:
        raise bad(exercise.header.count("\n") + 2, "an empty line must part the header from the first mark")
    if "TODO" not in exercise.blank and exercise.kind != "repair":
        raise bad(1, "no TODO says where the learner works")


def _read_notes(exercise: Exercise) -> None:
    text = _text(exercise, exercise.notes)
    where = _shown(exercise, exercise.notes)
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    sections = {parts[i].strip(): parts[i + 1].strip() for i in range(1, len(parts), 2)}
    begins = re.fullmatch(r"\s*(?:Section: (\d+)\s*)?", parts[0])
    if not begins or tuple(sections) != SECTIONS:
        raise ExerciseError(
            f"{where}: must consist of '## Hints', '## Explanation' and '## Alternatives', in this order, "
            "with at most 'Section: N' before them"
        )
    exercise.section = begins[1] or ""
    hints = re.split(r"^\d+\. ", sections["Hints"], flags=re.MULTILINE)
    exercise.hints = [re.sub(r"\n {3}", "\n", hint).strip() for hint in hints[1:]]
    if hints[0].strip() or len(exercise.hints) < FEWEST_HINTS:
        raise ExerciseError(f"{where}: at least {FEWEST_HINTS} hints, numbered '1. ' and so on")
    exercise.explanation, exercise.alternatives = sections["Explanation"], sections["Alternatives"]
    for section in SECTIONS[1:]:
        if len(sections[section].split()) < 8:
            raise ExerciseError(f"{where}: '## {section}' is empty")


HEAD = re.compile(r"# (.+): ([^:]+?)(?: at ([^:]+))?")
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*")


def parse(where: str, text: str) -> list[Mutant]:
    """The entries of a file of mutants: heads, each with the hunks that follow it."""
    found: list[Mutant] = []
    left = [
        0,
        0,
    ]  # lines of the solution, and of the mutant, that the head of a hunk promises and that are still to come
    for number, line in enumerate(text.split("\n"), 1):
        if left != [0, 0]:
            sign, rest = line[:1] or " ", line[1:]
            sides = {" ": (1, 1), "-": (1, 0), "+": (0, 1)}.get(sign)
            if not sides or left[0] < sides[0] or left[1] < sides[1]:
                raise ExerciseError(f"{where}:{number}: the hunk above has another number of lines than its '@@' says")
            hunk = found[-1].hunks[-1]
            hunk.old += [rest] * sides[0]
            hunk.new += [rest] * sides[1]
            left = [left[0] - sides[0], left[1] - sides[1]]
        elif head := HEAD.fullmatch(line):
            found.append(Mutant(head[1], head[2], head[3] or "", [], number))
        elif found and (counts := HUNK.fullmatch(line)):
            left = [int(count or 1) for count in counts.groups()]
            found[-1].hunks.append(Hunk([], []))
        elif line.strip():
            legal = "'# NAME: REASON', '# NAME: REASON at CASE' and the hunks of a unified diff"
            raise ExerciseError(f"{where}:{number}: legal are {legal}")
    return found


def _read_mutants(exercise: Exercise) -> None:
    where = _shown(exercise, exercise.mutants_file)
    for one in parse(where, _text(exercise, exercise.mutants_file)):
        need_not = one.reason in (EQUIVALENT, ORDER_DEPENDENT)
        at = f"{where}:{one.line}"
        if not one.hunks:
            raise ExerciseError(f"{at}: no hunk of a unified diff follows '{one.name}'")
        if need_not and len(one.name.split()) < 4:
            raise ExerciseError(f"{at}: '# WHY: {one.reason}' has to say why nothing notices it")
        if not need_not and one.name in [other.name for other in exercise.mutants]:
            raise ExerciseError(f"{at}: mutant '{one.name}' is there twice")
        (exercise.equivalents if need_not else exercise.mutants).append(one)
    if len(exercise.mutants) < FEWEST_MUTANTS:
        raise ExerciseError(f"{where}: at least {FEWEST_MUTANTS} mutants")


def to_fill_in(exercise: Exercise) -> list[str]:
    """The places where it still has what `./learn author new-exercise` wrote, as FILE:LINE: TEXT."""
    return [
        f"{_shown(exercise, file)}:{number}: {line[line.index(FILL_IN) :]}"
        for file in (exercise.source, exercise.notes, exercise.checker, exercise.mutants_file)
        for number, line in enumerate(_text(exercise, file).split("\n"), 1)
        if FILL_IN in line
    ]


def apply(exercise: Exercise, mutant: Mutant) -> str:
    """The solution with the mutant's hunks. Each has to fit in one place; the line numbers of its `@@` do not count."""
    lines = exercise.solution.split("\n")
    body = exercise.header.count("\n") + 1
    places = []
    for hunk in mutant.hunks:
        size = len(hunk.old)
        fits = [at for at in range(body, len(lines) - size + 1) if lines[at : at + size] == hunk.old]
        if len(fits) != 1 or not size:
            what = "\n".join(hunk.old)
            raise ExerciseError(
                f"{_shown(exercise, exercise.mutants_file)}:{mutant.line}: the solution has '{what}' "
                f"{len(fits)} times; it must have it once"
            )
        places.append((fits[0], hunk))
    for at, hunk in sorted(places, key=lambda place: place[0], reverse=True):
        lines[at : at + len(hunk.old)] = hunk.new
    return "\n".join(lines)


def as_entry(exercise: Exercise, head: str, changed: str) -> str:
    """A change of the solution as its file of mutants has it, with as few lines around it as tell where it belongs."""
    lines = exercise.solution.split("\n")
    for context in range(len(lines)):
        diff = list(difflib.unified_diff(lines, changed.split("\n"), n=context, lineterm=""))[2:]
        entry = "\n".join([f"# {head}", *diff])
        try:
            apply(exercise, parse("", entry)[0])
            break
        except ExerciseError:
            continue  # it would fit in several places
    return entry
