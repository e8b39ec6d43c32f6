"""Chapters as their own sources describe them: the header comment of NN_name/name.cu."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from warp.base import paths
from warp.base.errors import UsageError
from warp.base.names import advice, one_of
from warp.base.text import there
from warp.chapter import header
from warp.chapter.header import Rung

FOLDER = re.compile(r"(\d\d)_(\w+)$")


class Chapter:
    """One chapter. `problem` says in one line what is wrong with its header, "" if nothing is."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.key = os.path.basename(folder)  # 01_thread_indexing
        self.number, self.name = (str(part) for part in there(FOLDER.match(self.key)).groups())
        self.source = os.path.join(folder, self.name + ".cu")
        self.title = self.name.replace("_", " ").capitalize()
        self.question = ""
        self.builds_on: list[str] = []
        self.minutes = 0
        self.on_short_path = False
        self.afterwards = ""
        self.sizes: dict[str, str] = {}
        self.sizes_measured: list[str] = []
        self.kind = ""  # map, gemm or free
        self.has_cases = False
        self.rungs: dict[str, Rung] = {}  # in the order of the ladder
        self.problem = ""
        self._read_header()

    def _read_header(self) -> None:
        shown = paths.shown(self.source)
        try:
            with open(self.source, encoding="utf-8", errors="replace") as file:
                read = header.parse(shown, self.key, file.read().split("\n"))
        except OSError as error:
            self.problem = f"cannot read {shown}: {error.strerror}"
        except header.SourceError as error:
            self.problem = str(error)
        else:
            self.title = read.title
            self.question = read.question
            self.kind = read.kind
            self.has_cases = read.has_cases
            self.builds_on = read.builds_on
            self.minutes = read.minutes
            self.on_short_path = read.on_short_path
            self.afterwards = read.afterwards
            self.sizes = read.sizes
            self.sizes_measured = read.sizes_measured
            self.rungs = read.rungs

    def size(self, backend: str) -> str:
        """The default size as the header spells it: 65536, or 512,512."""
        return self.sizes.get(backend, "")

    def first_rung(self, asked: Sequence[str] = ()) -> str:
        """The first rung, of those `asked` for if it is one of them, that is a kernel of the source itself and no mistake:
        the simulator cannot show a function of the host, or what is in a file of its own, a peer or a kernel for one
        generation of GPUs."""
        try:
            with open(self.source, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            text = ""
        rungs = [rung for rung in (*asked, *self.rungs) if rung in self.rungs]
        kernels = set(re.findall(r"__global__[^;{}]*?(\w+)\s*\([^()]*\)\s*\{", text))
        told = [rung for rung in rungs if rung + "(" in text]
        shown = (rung for rung in told if rung in kernels and (rung in asked or not self.rungs[rung].raises))
        return next(shown, next(iter(told or rungs), ""))

    def page(self) -> str:
        """Its page on the site that ./learn docs builds."""
        return os.path.join(paths.BUILD, "docs", "html", "chapters", self.key + ".html")

    def recorded_gpus(self) -> list[str]:
        """The GPUs on which it was measured, as their results files are named; the one that its prose is about first."""
        from pathlib import Path

        from warp.chapter import results

        return results.recorded_gpus(Path(self.folder, "results"))

    def recorded_times(self, gpu: str) -> str:
        """The medians of one of them at the size of a GPU, as a chapter's program reads them: see lab/table.h."""
        from pathlib import Path

        from warp.chapter import results

        size = self.size("gpu")
        found = there(results.load(Path(self.folder, "results", gpu + ".json")))
        lines = [f"{found.device}\t{size}"]
        for row in found.rows:
            time = row.time_ms and row.time_ms.median
            if time is not None and ",".join(str(part) for part in row.size.values()) == size:
                lines.append(f"{row.rung}\t{row.variant}\t{time}")
        return "\n".join(lines) + "\n"

    def program(self, backend: str, fast: bool = False) -> str:
        name = self.name + ("_fast" if fast else "")
        return os.path.join(paths.build_folder(backend), "chapters", self.key, name)


def all_chapters() -> list[Chapter]:
    """Every chapter folder, in the order of the numbers."""
    try:
        entries = sorted(os.listdir(paths.CHAPTERS))
    except OSError:
        entries = []
    folders = [os.path.join(paths.CHAPTERS, entry) for entry in entries if FOLDER.match(entry)]
    return [Chapter(folder) for folder in folders if os.path.isdir(folder)]


def find(word: str, chapters: list[Chapter]) -> Chapter:
    """The chapter that `word` means: its number, its name, a unique prefix of either, or its path."""
    plain = os.path.basename(os.path.abspath(word)) if os.sep in word else word
    if plain.endswith(".cu"):
        plain = plain[:-3]
    lower = plain.lower().replace("-", "_")
    exact = [c for c in chapters if lower in (c.key.lower(), c.name.lower())]
    if not exact and lower.isdigit():
        exact = [c for c in chapters if int(c.number) == int(lower)]
    if exact:
        return exact[0]
    begun = [c for c in chapters if lower and (c.key.lower().startswith(lower) or c.name.lower().startswith(lower))]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UsageError(f"'{word}' could be {one_of(c.key for c in begun)}; write more of it")
    raise UsageError(unknown_chapter(word, chapters))


def unknown_chapter(word: str, chapters: list[Chapter]) -> str:
    if not chapters:
        return f"there is no chapter in {paths.shown(paths.CHAPTERS)}"
    near = advice(word, [c.key for c in chapters])
    if not near:
        first, last = chapters[0], chapters[-1]
        near = "; there is " + (first.key if first is last else f"{first.key} ... {last.key}")
    return f"unknown chapter '{word}'{near} (./learn list shows all)"


def check_rung(word: str, chapters: list[Chapter]) -> list[Chapter]:
    """The chapters that have the rung `word`; a typo gets the nearest names."""
    having = [c for c in chapters if word in c.rungs]
    if having:
        return having
    names = [name for c in chapters for name in c.rungs]
    where = "chapter " + chapters[0].number if len(chapters) == 1 else "the chapters named"
    otherwise = f"{where} has {one_of(names)}" if names else ""
    raise UsageError(f"unknown rung '{word}' of {where}{advice(word, names, otherwise)}")


def check_cases(chapters: list[Chapter], named: bool) -> list[Chapter]:
    """Those of `chapters` that have cases; where one was named that has none, an error."""
    having = [c for c in chapters if c.has_cases]
    if not having or (named and having != chapters):
        lacking = [c for c in chapters if c not in having][0]
        raise UsageError(f"--cases is for chapters of Kind map or gemm; chapter {lacking.number} has none")
    return having


SIZE = re.compile(r"[1-9][0-9]*((,[1-9][0-9]*)*|x[1-9][0-9]*)\Z")


def check_size(text: str, chapters: list[Chapter]) -> str:
    """The size as the programs read it, or one line that says what is legal."""
    wanted = {len(c.size("simulator").split(",")) for c in chapters if c.size("simulator")}
    forms = {1: "n, as in --size 1000", 2: "rows,cols, as in --size 500,300", 3: "M,N,K, as in --size 256,128,64"}
    legal = one_of(forms[count] for count in sorted(wanted) if count in forms) or "whole numbers from 1 up"
    parts = re.split("[,x]", text)
    if not SIZE.match(text) or any(int(part) > 2**63 - 1 for part in parts):
        raise UsageError(f"'{text}' is no size; legal is {legal}, every number a whole one from 1 up")
    if wanted and len(parts) not in wanted:
        raise UsageError(f"the size '{text}' has {len(parts)} number(s); legal is {legal}")
    return text
