"""Reads the source of a chapter: prose, code, predictions, bound numbers. Standard library only.

The form is the one of docs/reference/chapter.md: the file starts with `//` lines in column 0 (chapter.header reads them), other
runs of such lines are prose in Markdown, everything else is code. `//? ` begins a line of a prediction, `//= ` one
that binds a number of the paragraph above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from warp.chapter import header as headers
from warp.chapter.errors import SourceError
from warp.chapter.functions import Function, find_function, mask
from warp.chapter.header import Header, Rung, read_text

SECOND_READING = " (second reading)"  # ends the heading of a section that a first reader may skip


@dataclass
class Binding:
    """`//= QUOTE: EXPRESSION`: a number of the prose and what it is computed from.

    `//= because QUOTE: CONDITION`: a cause that the prose names, and what must hold if it is the cause.
    """

    line: int
    quote: str
    expression: str
    paragraph: str  # the text above it, in which the quote stands
    is_cause: bool = False


@dataclass
class Prose:
    """A run of prose; a heading, if it has one, is its first line."""

    line: int  # of its first line
    text: str  # Markdown
    bindings: list[Binding] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # the source's line of each line of the text

    @property
    def heading(self) -> tuple[int, str] | None:
        """Level and title of the heading that it begins with, `(second reading)` taken off."""
        found = re.match(r"(#{2,6}) +(.*)", self.text)
        return (len(found.group(1)), found.group(2).strip().removesuffix(SECOND_READING)) if found else None

    @property
    def second_reading(self) -> bool:
        return bool(self.heading) and self.text.split("\n")[0].rstrip().endswith(SECOND_READING)


@dataclass
class Code:
    line: int
    lines: list[str]


@dataclass
class Prediction:
    """A question that the program's run answers."""

    line: int
    name: str
    question: str
    answer: str = ""  # an expression as course.expressions evaluates them
    unit: str = ""
    near: str = ""  # exact, N % or factor N
    choices: list[str] = field(default_factory=list)


@dataclass
class Fold:
    """The blocks between `// [hide]` and `// [/hide]`."""

    line: int
    title: str
    blocks: list = field(default_factory=list)


@dataclass
class RungHere:
    """Stands right after the code of the function `name`, or where `// [rung NAME]` puts a rung that has none."""

    name: str


@dataclass
class Chapter:
    folder: str  # "01_thread_indexing"
    path: Path
    header: Header
    blocks: list
    functions: dict[str, Function]  # of the rungs that this file defines


def _check_fences(path: Path | str, prose: Prose) -> None:
    """An open fence would swallow the code after it."""
    fence, opened = None, 0
    for number, line in enumerate(prose.text.split("\n"), start=prose.line):
        mark = re.match(r" {0,3}(`{3,}|~{3,}|:{3,})(.*)$", line)
        if not mark:
            continue
        marker, rest = mark.groups()
        if fence is None:
            fence, opened = marker, number
        elif marker[0] == fence[0] and len(marker) >= len(fence) and not rest.strip():
            fence = None
    if fence is not None:
        raise SourceError(f"{path}:{opened}: the fence '{fence}' is not closed in this block of prose")


_ATTRIBUTES = ("answer", "unit", "near", "choices")
_NEAR = re.compile(r"exact|\d+(\.\d+)? ?%|factor \d+(\.\d+)?")


class _Blocks:
    """Collects the blocks of a source, line by line."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.top: list = []
        self.target = self.top
        self.fold: Fold | None = None
        self.code: Code | None = None
        self.prose: Prose | None = None
        self.prediction: Prediction | None = None
        self.last: str = ""  # the field of the prediction that a further line continues
        self.paragraph: list[str] = []  # lines of prose since the last blank or bound one
        self.bound = False  # the line before this one binds a number of the paragraph
        self.in_fence = False

    def bad(self, line: int, what: str) -> SourceError:
        return SourceError(f"{self.path}:{line}: {what}")

    def flush(self) -> None:
        """Ends the block that is being collected."""
        code, prose = self.code, self.prose
        if code:
            while code.lines and not code.lines[-1].strip():
                code.lines.pop()
            while code.lines and not code.lines[0].strip():
                code.lines.pop(0)
                code.line += 1
            if code.lines:
                self.target.append(code)
        if prose and prose.text.strip():
            prose.text = prose.text.rstrip()
            _check_fences(self.path, prose)
            self.target.append(prose)
        if self.prediction:
            self.check(self.prediction)
            self.target.append(self.prediction)
        self.code = self.prose = self.prediction = None
        self.paragraph, self.bound, self.in_fence = [], False, False

    def add_code(self, number: int, line: str) -> None:
        if not self.code:
            self.flush()
            self.code = Code(number, [])
        self.code.lines.append(line)

    def add_prose(self, number: int, line: str) -> None:
        if re.match(r"//\s{0,4}%", line):
            raise self.bad(
                number,
                "a line of prose begins with '%', which Markdown takes for a comment and leaves out: "
                "break the line elsewhere",
            )
        text = line[2:].removeprefix(" ")
        fence = re.match(r" {0,3}(```|~~~)", text)
        if not fence and not self.in_fence and re.match(r"#{2,6} ", text) and self.prose and self.prose.text.strip():
            self.flush()
        if not self.prose:
            self.flush()
            self.prose = Prose(number, "")
        if fence:
            self.in_fence = not self.in_fence
        self.prose.text += text + "\n"
        self.prose.rows.append(number)
        if self.bound or not text.strip():
            self.paragraph, self.bound = [], False
        if text.strip():
            self.paragraph.append(text.strip())

    def add_binding(self, number: int, text: str) -> None:
        if text.startswith("  ") and self.bound and self.prose:
            self.prose.bindings[-1].expression += " " + text.strip()
            return
        quote, colon, expression = text.strip().partition(": ")
        if not self.prose or not self.paragraph:
            raise self.bad(number, "'//=' stands right under the paragraph whose number it binds")
        if not colon or not expression.strip():
            raise self.bad(number, "write '//= QUOTE: EXPRESSION', as in '//= 51.98 ms: ms(\"naive\", 4096)'")
        quote, is_cause = quote.strip().removeprefix("because "), quote.startswith("because ")
        self.prose.bindings.append(Binding(number, quote, expression.strip(), " ".join(self.paragraph), is_cause))
        self.bound = True

    def add_prediction(self, number: int, text: str) -> None:
        key, colon, value = text.strip().partition(":")
        value = value.strip()
        if text.startswith("  ") and self.prediction:  # it continues the line above
            if self.last == "choices":
                raise self.bad(number, "'choices' stands on one line")
            setattr(self.prediction, self.last, f"{getattr(self.prediction, self.last)} {text.strip()}")
        elif not colon or not value:
            raise self.bad(number, "write '//? NAME: QUESTION', and below it '//? answer: EXPRESSION'")
        elif key not in _ATTRIBUTES:
            if not re.fullmatch(r"[a-z]\w*", key):
                raise self.bad(number, f"'{key}' is no name of a prediction: small letters, digits and _")
            self.flush()
            self.prediction, self.last = Prediction(number, key, value), "question"
        elif not self.prediction:
            raise self.bad(number, f"'//? {key}:' without the line '//? NAME: QUESTION' above it")
        elif getattr(self.prediction, key):
            raise self.bad(number, f"prediction {self.prediction.name} has a second '{key}'")
        else:
            self.last = key
            setattr(self.prediction, key, [part.strip() for part in value.split("|")] if key == "choices" else value)

    def check(self, prediction: Prediction) -> None:
        name, line = prediction.name, prediction.line
        if not prediction.answer:
            raise self.bad(line, f"prediction {name} lacks the line '//? answer: EXPRESSION'")
        if prediction.choices:
            if len(set(prediction.choices)) < 2 or "" in prediction.choices:
                raise self.bad(line, f"prediction {name}: choices are written 'A | B', two or more, each another")
            if prediction.near or prediction.unit:
                raise self.bad(line, f"prediction {name} has choices: it needs neither 'near' nor 'unit'")
        elif not _NEAR.fullmatch(prediction.near):
            raise self.bad(line, f"prediction {name}: 'near' is exact, N % or factor N")


def parse_blocks(path: Path | str, lines: list[str], first: int, contracts: list[Function]) -> list:
    """Blocks of `lines` from line number `first` on (1 is the first line of the file).

    The `///` lines of the functions in `contracts` are left out: the page renders them.
    """
    ends = {f.last: f.name for f in contracts}
    omitted = {n for f in contracts for n in range(f.contract, f.first)}
    inside: set[int] = set()
    mask("\n".join(lines), inside)
    blocks = _Blocks(path)

    for number in range(first, len(lines) + 1):
        line = lines[number - 1].rstrip()
        text = "" if number in inside else line  # what may be prose
        comment = text.startswith("//")
        if comment and text.startswith("// [hide]"):
            blocks.flush()
            if blocks.fold:
                raise blocks.bad(number, f"'[hide]' inside the '[hide]' of line {blocks.fold.line}")
            blocks.fold = Fold(number, text.removeprefix("// [hide]").strip())
            blocks.target = blocks.fold.blocks
        elif text == "// [/hide]":
            blocks.flush()
            if not blocks.fold:
                raise blocks.bad(number, "'[/hide]' without '[hide]'")
            blocks.target = blocks.top
            blocks.target.append(blocks.fold)
            blocks.fold = None
        elif number in omitted:
            blocks.flush()
        elif not comment:
            blocks.add_code(number, line)
        elif placed := re.fullmatch(r"// \[rung (\w+)\]", text):
            blocks.flush()
            blocks.target.append(RungHere(placed.group(1)))
        elif text.startswith("// NOLINT") or text in ("// clang-format on", "// clang-format off"):
            pass
        elif text.startswith("//= "):
            blocks.add_binding(number, text[4:])
        elif text.startswith("//? "):
            blocks.add_prediction(number, text[4:])
        elif text.startswith(("//?", "//=")):
            raise blocks.bad(number, f"'{text[:3]}' is followed by a space")
        elif not text.startswith("///"):
            blocks.add_prose(number, line)
        else:
            blocks.add_code(number, line)
        if number in ends:
            blocks.flush()
            blocks.target.append(RungHere(ends[number]))
    blocks.flush()
    if blocks.fold:
        raise blocks.bad(blocks.fold.line, "'[hide]' is never closed by '[/hide]'")
    return blocks.top


def every_block(blocks: list) -> Iterator[Code | Prediction | Prose]:
    """All blocks in their order, those in folds too; a fold comes before what is in it."""
    for block in blocks:
        yield block
        if isinstance(block, Fold):
            yield from every_block(block.blocks)


def has_no_function(rung: Rung) -> bool:
    """Whether a rung may be without a function of its name: a library's, and a demonstration, which may run a variant
    of a kernel that stands elsewhere."""
    return rung.raises is not None or not {"cublas", "cub"}.isdisjoint(rung.needs)


def parse_chapter(path: Path, other_files: Iterable[Path] = ()) -> Chapter:
    """Reads `chapters/NN_name/name.cu`; rungs may also be defined in `other_files`."""
    text = read_text(path)
    lines = text.split("\n")
    folder = path.resolve().parent.name
    header = headers.parse(path, folder, lines)
    masked = mask(text)
    functions: dict[str, Function] = {}
    elsewhere = [read_text(other) for other in other_files]
    for name in header.rungs:
        found = find_function(text, name, masked)
        if found:
            functions[name] = found
        elif not has_no_function(header.rungs[name]) and not any(find_function(other, name) for other in elsewhere):
            raise SourceError(f"{path}:1: the header lists rung {name}, but no function has this name")
    return Chapter(folder, path, header, parse_blocks(path, lines, header.end + 1, list(functions.values())), functions)


def find_chapters(root: Path) -> list[Path]:
    """The main source of every chapter below `root`, by number."""
    found = []
    for folder in sorted(root.glob("[0-9][0-9]_*")):
        if not folder.is_dir():
            continue
        main = folder / (folder.name[3:] + ".cu")
        if not main.exists():
            raise SourceError(f"{folder}: a chapter's source is missing: {main.name}")
        found.append(main)
    if not found:
        raise SourceError(f"{root}: no chapter here")
    return found


def other_files(main: Path) -> list[Path]:
    """The chapter's further sources, in the order of the page: a header that is a part of the text ends in .cuh."""
    return sorted(p for p in main.parent.iterdir() if p.suffix in (".cu", ".cuh") and p != main)


def all_blocks(main: Path) -> list[tuple[Path, list]]:
    """The blocks of each file of a chapter, contracts left in the code: for those who read its prose alone."""
    header = headers.read(main)
    found = [(main, parse_blocks(main, read_text(main).split("\n"), header.end + 1, []))]
    return found + [(other, parse_blocks(other, read_text(other).split("\n"), 1, [])) for other in other_files(main)]
