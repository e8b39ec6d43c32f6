"""Reads the header of a chapter's source: the one place for its title, question, sizes, rungs and ideas.

A header that is wrong gets one line, FILE:LINE and what is legal. docs/reference/chapter.md shows the form.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path

from warp.chapter.errors import SourceError


@dataclasses.dataclass
class Rung:
    """One line of the ladder, as the header states it."""

    name: str
    idea: str
    needs: list[str] = dataclasses.field(default_factory=list)  # "gpu", "sm_90a", "cuda 12.9", "cublas", ...
    raises: str | None = None  # the finding that a demonstration must raise
    line: int = 0


@dataclasses.dataclass
class Header:
    """The header of a chapter."""

    number: str  # "06"
    folder: str  # "06_transpose"
    title: str
    question: str
    builds_on: list[str]  # folder names
    kind: str  # map, gemm or free
    sizes: dict[str, str]  # "gpu" and "simulator" -> "16384,16384"
    sizes_measured: list[str]  # that of the GPU first
    rungs: dict[str, Rung]  # by name, in the order of the ladder
    intro: str  # Markdown between the fields, usually empty
    end: int  # the number of lines that it takes
    minutes: int = 0  # to read the main track and to answer its predictions; exercises have their own
    on_short_path: bool = False
    afterwards: str = ""  # what a reader can do then, as a phrase that follows "you can"

    @property
    def has_cases(self) -> bool:
        """Whether the program takes `--cases`: many small products, or many small sizes."""
        return self.kind in ("gemm", "map")

    def to_json(self) -> dict:
        """All that it says, for who compares it with what it said before."""
        rungs = [
            {"name": rung.name, "idea": rung.idea, "needs": rung.needs, "raises": rung.raises}
            for rung in self.rungs.values()
        ]
        plain = {name: getattr(self, name) for name in JSON_FIELDS}
        return {**plain, "rungs": rungs}


JSON_FIELDS = ("number", "folder", "title", "question", "builds_on", "kind", "sizes", "sizes_measured", "intro")
KINDS = {"map": (1, 2), "gemm": (3,), "free": (1, 2, 3)}  # and how many extents its sizes may have
LIBRARIES = ("gpu", "cublas", "cub")
NEEDS = "gpu, sm_90, sm_90a, cuda 12.9, cublas or cub"

_FIELDS = (
    "Question",
    "Builds on",
    "Minutes",
    "Path",
    "Afterwards",
    "Kind",
    "Size gpu",
    "Size simulator",
    "Sizes measured",
    "Run",
)
_FIELD = re.compile(rf"({'|'.join(_FIELDS)}):\s*(.*)$")
_RUN_LINE = re.compile(r"(?:Run:)?\s*\./learn run (\S+) --rung (\S+)(?:\s+(.*))?$")
_SIZE = re.compile(r"[1-9][0-9]*(,[1-9][0-9]*)*")


@dataclass(eq=False)
class _Reader:
    """Collects the lines of one header."""

    shown: str
    folder: str
    fields: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # field -> its line
    rungs: dict[str, Rung] = field(default_factory=dict)
    intro: list[str] = field(default_factory=list)

    def bad(self, line: int, what: str) -> SourceError:
        return SourceError(f"{self.shown}:{line}: {what}")

    def read(self, lines: list[str]) -> Header:
        end = 0
        while end < len(lines) and re.match(r"//(?!/)", lines[end]):
            end += 1
        title = re.fullmatch(r"// # Chapter (\d\d): (\S.*)", lines[0].rstrip()) if lines else None
        if not title:
            raise self.bad(1, "a chapter starts with the line '// # Chapter NN: Title'")
        number = title.group(1)
        if not self.folder.startswith(number + "_"):
            raise self.bad(1, f"the title says chapter {number}, the folder is {self.folder}")
        self._collect(lines[1:end], number)
        for key in ("Question", "Builds on", "Size gpu", "Size simulator"):
            if not self.fields.get(key):
                raise self.bad(1, f"the header lacks the line '// {key}: ...'")
        if not self.rungs:
            example = f"//   ./learn run {number} --rung NAME   idea"
            raise self.bad(1, f"the header lists no rung; each has a line '{example}'")
        for rung in self.rungs.values():
            self._take_bracket(rung)
        sizes = {backend: self._size(f"Size {backend}") for backend in ("gpu", "simulator")}
        measured = self._sizes_measured(sizes["gpu"])
        kind = self._kind(sizes)
        return Header(
            number,
            self.folder,
            title.group(2).strip(),
            self.fields["Question"],
            self._builds_on(number),
            kind,
            sizes,
            measured,
            self.rungs,
            "\n".join(self.intro).strip(),
            end,
            self._minutes(),
            self._on_short_path(),
            self.fields.get("Afterwards", ""),
        )

    def _collect(self, lines: list[str], chapter: str) -> None:
        """Sorts the lines into fields, rungs and what is prose; an indented line continues what stands above it."""
        last: Rung | str | None = None  # a field's name, or the rung that an indented line continues
        for number, line in enumerate(lines, start=2):
            text = line[2:]
            text = (text[1:] if text.startswith(" ") else text).rstrip()
            run = _RUN_LINE.match(text.strip())
            field = _FIELD.match(text)
            if run:
                if run.group(1) != chapter:
                    raise self.bad(number, f"this is chapter {chapter}: write './learn run {chapter} --rung ...'")
                name = run.group(2)
                if not re.fullmatch(r"[A-Za-z_]\w*", name):
                    raise self.bad(number, f"'{name}' is no name of a rung: a rung is named as its function is")
                if name in self.rungs:
                    raise self.bad(number, f"rung {name} is listed twice")
                last = self.rungs[name] = Rung(name, (run.group(3) or "").strip(), line=number)
            elif field:
                last = name = field.group(1)
                if name in self.fields:
                    raise self.bad(number, f"the field '{name}' stands here a second time")
                self.fields[name], self.lines[name] = field.group(2).strip(), number
            elif last and re.match(r"\s+\S", text):
                if isinstance(last, Rung):
                    last.idea = f"{last.idea} {text.strip()}".strip()
                else:
                    self.fields[last] += " " + text.strip()
            else:
                last = None
                self.intro.append(text)

    def _take_bracket(self, rung: Rung) -> None:
        """Reads `[needs a, b; raises KIND]` at the end of a rung's line."""
        bracket = re.search(r"\s*\[((?:needs|raises)\b[^\[\]]*)\]$", rung.idea)
        if not bracket:
            return
        rung.idea = rung.idea[: bracket.start()].rstrip()
        for part in bracket.group(1).split(";"):
            word, _, value = part.strip().partition(" ")
            value = value.strip()
            if word == "needs" and value and not rung.needs:
                rung.needs = [self._need(rung, one.strip()) for one in value.split(",")]
            elif word == "raises" and re.fullmatch(r"[a-z]+(-[a-z]+)*", value) and rung.raises is None:
                rung.raises = value
            else:
                raise self.bad(
                    rung.line, f"'[{bracket.group(1)}]': legal is [needs A, B], [raises KIND] or [needs A; raises KIND]"
                )

    def _need(self, rung: Rung, need: str) -> str:
        if need in LIBRARIES or re.fullmatch(r"sm_[1-9]\d+a?|cuda [1-9]\d*\.\d+", need):
            return need
        raise self.bad(rung.line, f"rung {rung.name} needs '{need}': legal is {NEEDS}")

    def _size(self, key: str) -> str:
        size = self.fields[key]
        if not _SIZE.fullmatch(size):
            raise self.bad(self.lines[key], f"'{key}: {size}': a size is n, rows,cols or M,N,K, without spaces")
        return size

    def _sizes_measured(self, first: str) -> list[str]:
        if "Sizes measured" not in self.fields:
            return [first]
        sizes = self.fields["Sizes measured"].split()
        if sizes[:1] != [first] or not all(_SIZE.fullmatch(size) for size in sizes):
            raise self.bad(
                self.lines["Sizes measured"],
                f"'Sizes measured' names sizes with spaces between them, that of 'Size gpu' ({first}) first",
            )
        return sizes

    def _kind(self, sizes: dict[str, str]) -> str:
        extents = {size.count(",") + 1 for size in sizes.values()}
        if len(extents) != 1:
            raise self.bad(
                self.lines["Size simulator"], "'Size gpu' and 'Size simulator' differ in their number of extents"
            )
        (count,) = extents
        if "Kind" not in self.fields:
            return "gemm" if count == 3 else "free"
        kind = self.fields["Kind"]
        if kind not in KINDS:
            raise self.bad(self.lines["Kind"], f"'Kind: {kind}': legal is {', '.join(KINDS)}")
        if count not in KINDS[kind]:
            raise self.bad(
                self.lines["Kind"], f"a {kind} has a size of {' or '.join(map(str, KINDS[kind]))} extents, not {count}"
            )
        return kind

    def _minutes(self) -> int:
        text = self.fields.get("Minutes", "0")
        if not re.fullmatch(r"0|[1-9]\d{0,2}", text):
            raise self.bad(self.lines["Minutes"], f"'Minutes: {text}': legal is a number from 1 to 999")
        return int(text)

    def _on_short_path(self) -> bool:
        text = self.fields.get("Path", "")
        if text not in ("", "short"):
            raise self.bad(self.lines["Path"], f"'Path: {text}': legal is short, or no such line")
        return text == "short"

    def _builds_on(self, number: str) -> list[str]:
        text = re.sub(r"\(.*?\)", "", self.fields["Builds on"]).strip().rstrip(".")
        if text == "nothing":
            return []
        found = [part.strip() for part in text.split(",") if part.strip()]
        for part in found:
            if not re.fullmatch(r"\d\d_[a-z0-9_]+", part):
                raise self.bad(
                    self.lines["Builds on"],
                    f"'Builds on: {part}': write 'nothing' or folder names such as 01_thread_indexing",
                )
        return found


def hours(minutes: int) -> str:
    """45 min; 6 h 20 min."""
    whole, rest = divmod(minutes, 60)
    return f"{minutes} min" if not whole else f"{whole} h" + (f" {rest} min" if rest else "")


def parse(shown: str | Path, folder: str, lines: list[str]) -> Header:
    """The header of a source of which `lines` are the lines and `shown` the name in messages."""
    return _Reader(str(shown), folder).read(lines)


def read_text(path: Path) -> str:
    """A source's text, or SourceError."""
    try:
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from None


def read(path: Path) -> Header:
    """The header of chapters/NN_name/name.cu."""
    folder = path.resolve().parent.name
    return parse(path, folder, read_text(path).split("\n"))
