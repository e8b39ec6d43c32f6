"""Reads the header of a chapter's source: the one place for its title, question, sizes, rungs and ideas.

A header that is wrong gets one line, FILE:LINE and what is legal. docs/reference/chapter.md shows the form.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

from warp.base import fields
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
_RUN_LINE = re.compile(r"\./learn run (\S+) --rung (\S+)(?:\s+(.*))?$")
_SIZE = re.compile(r"[1-9][0-9]*(,[1-9][0-9]*)*")


@dataclass(eq=False)
class _Reader:
    """Reads one header."""

    shown: str
    folder: str

    def bad(self, line: int, what: str) -> SourceError:
        return SourceError(f"{self.shown}:{line}: {what}")

    def read(self, lines: list[str]) -> Header:
        comment = fields.comment_of(lines)
        title = re.fullmatch(r"// # Chapter (\d\d): (\S.*)", comment[0].rstrip()) if comment else None
        if not title:
            raise self.bad(1, "a chapter starts with the line '// # Chapter NN: Title'")
        number = title.group(1)
        if not self.folder.startswith(number + "_"):
            raise self.bad(1, f"the title says chapter {number}, the folder is {self.folder}")
        self.fields = fields.read(comment, _FIELDS, self.bad)
        for key in ("Question", "Builds on", "Size gpu", "Size simulator"):
            if not self.fields.get(key):
                raise self.bad(1, f"the header lacks the line '// {key}: ...'")
        rungs = self._rungs(number)
        sizes = {backend: self._size(f"Size {backend}") for backend in ("gpu", "simulator")}
        measured = self._sizes_measured(sizes["gpu"])
        kind = self._kind(sizes)
        return Header(
            number,
            self.folder,
            title.group(2).strip(),
            self.fields.get("Question"),
            self._builds_on(),
            kind,
            sizes,
            measured,
            rungs,
            "\n".join(self.fields.text).strip(),
            len(comment),
            self.fields.number("Minutes", 999),
            self.fields.is_on_short_path(),
            self.fields.get("Afterwards"),
        )

    def _rungs(self, chapter: str) -> dict[str, Rung]:
        """Those of the lines of `Run`; a line that names none carries on the idea above it."""
        rungs: dict[str, Rung] = {}
        for number, text in self.fields.lines.get("Run", ()):
            run = _RUN_LINE.match(text)
            if not run:
                if rungs:
                    last = next(reversed(rungs.values()))
                    last.idea = f"{last.idea} {text}".strip()
                continue
            if run.group(1) != chapter:
                raise self.bad(number, f"this is chapter {chapter}: write './learn run {chapter} --rung ...'")
            name = run.group(2)
            if not re.fullmatch(r"[A-Za-z_]\w*", name):
                raise self.bad(number, f"'{name}' is no name of a rung: a rung is named as its function is")
            if name in rungs:
                raise self.bad(number, f"rung {name} is listed twice")
            rungs[name] = Rung(name, (run.group(3) or "").strip(), line=number)
        if not rungs:
            example = f"//   ./learn run {chapter} --rung NAME   idea"
            raise self.bad(1, f"the header lists no rung; each has a line '{example}'")
        for rung in rungs.values():
            self._take_bracket(rung)
        return rungs

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
        size = self.fields.get(key)
        if not _SIZE.fullmatch(size):
            raise self.fields.refused(key, "a size: n, rows,cols or M,N,K, without spaces")
        return size

    def _sizes_measured(self, first: str) -> list[str]:
        if "Sizes measured" not in self.fields:
            return [first]
        sizes = self.fields.get("Sizes measured").split()
        if sizes[:1] != [first] or not all(_SIZE.fullmatch(size) for size in sizes):
            raise self.fields.refused(
                "Sizes measured", f"sizes with spaces between them, that of 'Size gpu' ({first}) first"
            )
        return sizes

    def _kind(self, sizes: dict[str, str]) -> str:
        gpu, simulator = (size.count(",") + 1 for size in sizes.values())
        if gpu != simulator:
            raise self.fields.refused("Size simulator", f"a size of as many extents as 'Size gpu' has, {gpu}")
        kind = self.fields.get("Kind") or ("gemm" if gpu == 3 else "free")
        if kind not in KINDS:
            raise self.fields.refused("Kind", ", ".join(KINDS))
        if gpu not in KINDS[kind]:
            extents = " or ".join(map(str, KINDS[kind]))
            raise self.fields.refused("Kind", f"a kind of {gpu} extents; a {kind} has a size of {extents}")
        return kind

    def _builds_on(self) -> list[str]:
        text = re.sub(r"\(.*?\)", "", self.fields.get("Builds on")).strip().rstrip(".")
        if text == "nothing":
            return []
        found = [part.strip() for part in text.split(",") if part.strip()]
        if not all(re.fullmatch(r"\d\d_[a-z0-9_]+", part) for part in found):
            raise self.fields.refused("Builds on", "'nothing' or folder names such as 01_thread_indexing")
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
