"""The exercises as their own files describe them. Runner, tests and site read them with this.

exercises/NN_chapter/name.cu begins with `// # Title`, the fields below and the task, in Markdown. name.md beside it
holds the hints, the explanation and the alternatives, and the number of the section that it trains. check/name.cu is the checker, check/name.mutants the mistakes that
it must catch. solutions/NN_chapter/name.cu is the same file, solved. exercises/README.md shows how to write one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path

from warp.base.errors import LearnError

KINDS = ("fill in", "repair", "predict", "optimise")
FEWEST_HINTS = 3
FEWEST_MUTANTS = 2
FOLDER = re.compile(r"\d\d_\w+$")
SECTIONS = ("Hints", "Explanation", "Alternatives")


class ExerciseError(LearnError):
    """What is wrong with the files of an exercise, in one line that starts with the file."""


@dataclasses.dataclass
class Mutant:
    """A mistake in the solution, by name, and how the check must say it."""

    name: str
    reason: str  # a kind of failure, the name of a bar, or "prediction QUESTION"
    case: str  # the case that must fail, "" for any
    changes: list[tuple[str, str]]
    line: int


@dataclasses.dataclass
class Equivalent:
    """An automatic mutation that changes nothing that can be seen, and why."""

    change: str
    argument: str
    always: bool = True  # no: it is wrong, but only some orders of the threads show it, so a check may pass it or not


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
    hints: list[str] = dataclasses.field(default_factory=list)
    explanation: str = ""
    alternatives: str = ""
    mutants: list[Mutant] = dataclasses.field(default_factory=list)
    equivalents: list[Equivalent] = dataclasses.field(default_factory=list)

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
        return self.checker.with_suffix(".mutants")

    @property
    def solution(self) -> Path:
        return self.root / "solutions" / self.chapter / (self.name + ".cu")

    def digest(self) -> str:
        """Changes whenever the task, its blank or its checker does."""
        sums = hashlib.sha256()
        for file in (self.source, self.checker):
            sums.update(file.read_bytes())
        return sums.hexdigest()[:16]


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
    for file in (exercise.checker, exercise.solution):
        if not file.is_file():
            raise ExerciseError(f"{_shown(exercise, file)}: missing")
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
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line)
    return "\n".join(lines)


def _read_source(exercise: Exercise) -> None:
    text = _text(exercise, exercise.source)
    where = _shown(exercise, exercise.source)
    exercise.header = header_of(text)
    lines = [line[2:].removeprefix(" ") for line in exercise.header.split("\n")]
    if not lines[0].startswith("# "):
        raise ExerciseError(f"{where}:1: the first line must be '// # Title'")
    exercise.title = lines[0][2:].strip()
    fields, at, match = {}, 1, None
    while at < len(lines) and (not lines[at] or (match := re.match(r"(Kind|Level|Minutes|Path): (.+)$", lines[at]))):
        if lines[at] and match:
            fields[match.group(1)] = match.group(2).strip()
        at += 1
    exercise.kind = fields.get("Kind", "")
    if exercise.kind not in KINDS:
        raise ExerciseError(f"{where}: 'Kind:' must be {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    for field in ("Level", "Minutes"):
        if not re.fullmatch(r"[1-9]\d?", fields.get(field, "")):
            raise ExerciseError(f"{where}: '{field}:' must be a number from 1 to 99")
        setattr(exercise, field.lower(), int(fields[field]))
    if fields.get("Path", "short") != "short":
        raise ExerciseError(f"{where}: 'Path:' must be short, or left out")
    exercise.on_short_path = "Path" in fields
    exercise.task = "\n".join(lines[at:]).strip()
    if len(exercise.task.split()) < 10:
        raise ExerciseError(f"{where}: the task must stand in the header, after the fields")
    if "TODO" not in text and exercise.kind != "repair":
        raise ExerciseError(f"{where}: no TODO says where the learner works")


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


def _read_mutants(exercise: Exercise) -> None:
    where = _shown(exercise, exercise.mutants_file)
    mode = ""  # of the line before
    for number, line in enumerate(_text(exercise, exercise.mutants_file).split("\n"), 1):
        at = f"{where}:{number}"
        if line.startswith("# "):
            match = re.fullmatch(r"(.+?): ([^:]+?)(?: at ([^:]+))?", line[2:])
            if not match:
                raise ExerciseError(f"{at}: must be '# NAME: REASON' or '# NAME: REASON at CASE'")
            exercise.mutants.append(Mutant(match[1], match[2], match[3] or "", [], number))
        elif line.startswith(("~ ", "? ")):
            change, separator, argument = line[2:].rpartition(" because ")
            if not separator or len(argument.split()) < 4:
                raise ExerciseError(f"{at}: must be '{line[0]} CHANGE because ARGUMENT'")
            exercise.equivalents.append(Equivalent(change.strip(), argument.strip(), line[0] == "~"))
        elif line[:2] in ("- ", "+ ", "+", "-"):
            if not exercise.mutants:
                raise ExerciseError(f"{at}: a change must follow its '# NAME: REASON'")
            changes, sign, rest = exercise.mutants[-1].changes, line[0], line[2:]
            if sign == "-":
                changes.append((changes.pop()[0] + "\n" + rest, "") if mode == "-" else (rest, ""))
            elif not changes:
                raise ExerciseError(f"{at}: '+' without the '-' before it that it replaces")
            else:
                old, new = changes.pop()
                changes.append((old, new + "\n" + rest if mode == "+" else rest))
        elif line.strip():
            raise ExerciseError(f"{at}: a line begins with '# ', '- ', '+ ', '~ ' or '? '")
        mode = line[:1]
    if len(exercise.mutants) < FEWEST_MUTANTS:
        raise ExerciseError(f"{where}: at least {FEWEST_MUTANTS} mutants")
    names = [mutant.name for mutant in exercise.mutants]
    for mutant in exercise.mutants:
        if not mutant.changes or names.count(mutant.name) > 1:
            raise ExerciseError(f"{where}:{mutant.line}: mutant '{mutant.name}' changes nothing, or is there twice")


def _squeezed(line: str) -> str:
    return line.strip()


def apply(exercise: Exercise, mutant: Mutant) -> str:
    """The solution with the mutant's changes. Lines are compared without their indentation."""
    text = _text(exercise, exercise.solution)
    body_begins = len(exercise.header)
    for old, new in mutant.changes:
        # Within a line the text is looked for as it stands; of several lines, the indentation is free.
        pattern = r"\n[ \t]*".join(re.escape(_squeezed(line)) for line in old.split("\n"))
        found = list(re.finditer(pattern, text[body_begins:]))
        if len(found) != 1:
            raise ExerciseError(
                f"{_shown(exercise, exercise.mutants_file)}:{mutant.line}: the solution has '{old}' "
                f"{len(found)} times; it must have it once"
            )
        begin, end = (body_begins + place for place in found[0].span())
        text = text[:begin] + new.strip() + text[end:]
    return text
