"""The chapters' part of the site: what each page needs from its program, Doxygen and the results, and the map of them."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warp.chapter import predictions, results, run, source
from warp.chapter.counted import load_counted
from warp.chapter.errors import ExpressionError, NotRecorded, SourceError
from warp.chapter.expressions import Numbers
from warp.exercise.exercises import all_exercises
from warp.site import (
    asked,
    chapter_drawings,
    chapter_page,
    doxygen,
    exercises_page,
    figures,
    landing,
    live,
    recording,
    way,
)
from warp.site.blocks import Block, Figure, Page, Text
from warp.site.stage import Stage, write

DOCS = Path(__file__).resolve().parents[3] / "docs"


def signatures(chapter: source.Chapter, xml: Path) -> dict[str, str]:
    """How Breathe finds the contract of each rung. A rung without a contract is an error."""
    entities, found = doxygen.entities(xml), {}
    for name, rung in chapter.header.rungs.items():
        function = chapter.functions.get(name)
        lines = range(function.first, function.name_line + 2) if function else ()
        same = [e for e in entities if e.kind == "function" and e.name.split("::")[-1] == name]
        here = [e for e in same if e.line in lines and e.file.name == chapter.path.name]
        contract = next(iter(here or same), None)
        if contract and contract.documented:
            found[name] = doxygen.name_for_breathe(contract, entities)
        elif contract or not source.has_no_function(rung):
            where = function.name_line if function else 1
            raise SourceError(
                f"{chapter.path}:{where}: rung {name} has no contract: it needs '///' lines right above it"
            )
    return found


def answers_of(main: Path, asked: list[predictions.Asked], build: Path) -> dict[str, predictions.Answer]:
    """What the runs answer to a chapter's predictions; those that nobody has measured yet are left out."""
    numbers, found = Numbers(main, build), {}
    for one in asked:
        try:
            found[one.name] = predictions.answer(one.prediction, numbers)
        except NotRecorded:
            continue
        except ExpressionError as error:
            raise SourceError(f"{one.file}:{one.prediction.line}: prediction {one.name}: {error}") from None
    return found


def cache_bandwidths(measured: results.Results) -> dict[tuple[str, str], float]:
    """What a chapter has measured of memory and caches: (device, "L2 cache") -> GB/s."""
    return {(measured.device, row.variant): row.rate for row in measured.of("memory_bandwidth") if row.rate}


@dataclass
class Made:
    """All that a build made of a chapter: the next one takes it as it is while nothing that it is made of changes."""

    files: list[Path]  # of the stage
    pages: dict[str, Page]
    project: Path  # Breathe's
    measured: results.Results | None
    lines: dict[str, live.Line]


def digest_of(files: list[Path], *more: object) -> str:
    digest = hashlib.sha256(repr(more).encode())
    for file in files:
        digest.update(f"{file} ".encode() + file.read_bytes())
    return digest.hexdigest()


class Chapters:
    """Stages the chapters, one after the other: a later one may use what an earlier one has measured."""

    def __init__(self, stage: Stage, root: Path, simulator: Path, work: Path, commit: str, generator: str):
        """`root` is the course, `simulator` its build, `work` keeps runs, XML and pages from build to build; `generator` is a digest
        of the code that makes them."""
        self.stage, self.root, self.simulator, self.work, self.commit = stage, root, simulator, work, commit
        self.generator = generator
        self.projects: dict[str, Path] = {}  # Breathe's
        self.titles: dict[str, str] = {}
        self.caches: dict[tuple[str, str], float] = {}  # (device, "L2 cache") -> GB/s
        self.lines: dict[str, live.Line] = {}  # that the live figure shows
        self.recorded: list[tuple[source.Chapter, results.Results | None]] = []
        self.read: dict[str, str] = {}  # digests of the chapters' files, taken before they are read
        self.chapters = []
        for main in source.find_chapters(root / "chapters"):
            others = source.other_files(main)
            self.read[main.parent.name] = digest_of(sorted(f for f in main.parent.rglob("*") if f.is_file()))
            chapter = source.parse_chapter(main, others)
            for name in chapter.header.builds_on:
                if name not in self.titles:
                    raise SourceError(f"{main}:1: builds on {name}, which is no earlier chapter")
            self.titles[chapter.folder] = f"{chapter.header.number} {chapter.header.title}"
            self.chapters.append((chapter, others))
        self.exercises = {chapter.folder: all_exercises(root, chapter.folder) for chapter, _ in self.chapters}

    def write_all(self, only: str = "") -> dict[str, list[Block]]:
        """Writes the pages of the chapters, or of one alone, and their map; returns what other pages show of them."""
        chosen = [one for one in self.chapters if only in ("", one[0].folder)]
        if not chosen:
            raise SourceError(f"there is no chapter {only}")
        pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1)  # a program of the simulator runs on one core
        made_of = self.made_of()
        kept = {chapter.folder: self.kept(chapter, made_of) for chapter, _ in chosen}
        runs = {chapter.folder: pool.submit(self.run, chapter) for chapter, _ in chosen if not kept[chapter.folder]}
        anew = []
        try:
            for chapter, others in chosen:
                made = kept[chapter.folder]
                if not made:
                    made = self.make(chapter, others, runs[chapter.folder].result())
                    anew.append((chapter, made))
                self.recorded.append((chapter, made.measured))
                self.projects[f"chapter_{chapter.header.number}"] = made.project
                self.caches.update(cache_bandwidths(made.measured) if made.measured else {})
                self.lines.update(made.lines)
                self.stage.kept.update(made.files)
                self.stage.pages.update(made.pages)
        finally:
            pool.shutdown(cancel_futures=True)
        made_of = self.made_of()  # with the runs of now
        for chapter, made in anew:
            self.keep(chapter, made_of, made)
        if only:
            return {}
        told = chapter_drawings.story(self.recorded)
        known = [chapter for chapter, _ in self.chapters]
        graph = figures.chapter_graph([(c.folder, c.header.number, c.header.title, c.header.builds_on) for c in known])
        self.stage.write("chapters/index.md", chapter_page.map_page(known, self.exercises))
        download = self.pack()
        return {
            "map": [Figure("chapters", graph, "")],
            "start": landing.start(known[0], download, os.environ.get("WARP_SOURCE_URL", "")),
            "stairs": chapter_drawings.stairs(told),
            "copies": landing.copies(self.recorded),
            "chapters": landing.chapters(known, self.exercises),
            "watch": recording.watch(self.root),
            "lines": live.lines_list(self.lines),
            "version": landing.version(self.commit, time.strftime("%Y-%m-%d"), download),
        }

    def run(self, chapter: source.Chapter) -> results.Results:
        """Runs a chapter's program, or takes the run that was kept."""
        program = self.simulator / "chapters" / chapter.folder / chapter.path.stem
        simulated = run.kept_run(chapter.path, program, self.commit)
        results.without_root(simulated, self.root)
        return simulated

    def made_of(self) -> str:
        """A digest of what all pages are made of: one may show the numbers of another chapter."""
        known = [chapter for chapter, _ in self.chapters]
        programs = [run.program_of(chapter.path, self.simulator) for chapter in known]
        stats = [(p.stat().st_mtime_ns, p.stat().st_size) if p.exists() else () for p in programs]
        files = [f for chapter in known for f in sorted((chapter.path.parent / "results").rglob("*")) if f.is_file()]
        files += [f for f in (run.work_of(program) / "stamp.json" for program in programs) if f.exists()]
        headers = [(chapter.header, self.exercises[chapter.folder]) for chapter in known]
        return digest_of(files, self.generator, stats, headers)

    def kept(self, chapter: source.Chapter, made_of: str) -> Made | None:
        """What the last build made of a chapter, if it would be made the same now."""
        file = self.work / "made" / chapter.folder
        if not file.exists():
            return None
        digest, _, pickled = file.read_bytes().partition(b" ")
        if digest != digest_of([], self.read[chapter.folder], made_of).encode():
            return None
        made = pickle.loads(pickled)
        return made if made.project.exists() and all(file.exists() for file in made.files) else None

    def keep(self, chapter: source.Chapter, made_of: str, made: Made) -> None:
        file = self.work / "made" / chapter.folder
        file.parent.mkdir(exist_ok=True)
        part = file.with_suffix(".part")  # a build that is broken off leaves no half of it
        part.write_bytes(digest_of([], self.read[chapter.folder], made_of).encode() + b" " + pickle.dumps(made))
        part.replace(file)

    def make(self, chapter: source.Chapter, others: list[Path], simulated: results.Results) -> Made:
        """Makes and writes all that is made of a chapter and its run."""
        stage, folder, recorded = Stage(self.stage.folder), chapter.folder, chapter.path.parent / "results"
        gpus = list(results.load_recorded(recorded).values())
        measured = gpus[0] if gpus else None
        project = f"chapter_{chapter.header.number}"
        files = [chapter.path, *others]
        declared = sorted(chapter.path.parent.glob("*.h"))  # without them Doxygen does not know what a file defines
        contracts = doxygen.run(DOCS / "Doxyfile", self.work / "doxygen" / project, [*files, *declared])
        drawings: list[Block] = []
        whole: list[Block] = []
        every = predictions.collect(chapter.path)
        if measured:
            caches = {**self.caches, **cache_bandwidths(measured)}
            questions = [one.prediction for one in every if one.main_track]
            drawings, whole = chapter_drawings.ladders(chapter, measured, questions)
            beside = chapter_drawings.asked_by(chapter).get("LIMITERS") == "beside"
            (whole if beside else drawings).extend(chapter_drawings.limiters(chapter, measured))
            drawings += chapter_drawings.roofline(chapter, simulated, measured, caches)
        behind, named = chapter_drawings.own(chapter, simulated)
        for file in files:  # what the page offers for download
            stage.write(f"_files/{folder}/{file.name}", file.read_text(encoding="utf-8"))
        notes_file, notes = recorded / "NOTES.md", ""
        if measured and notes_file.exists():
            notes = f"notes/{folder}.md"
            stage.write(notes, chapter_page.notes_page(notes_file.read_text(encoding="utf-8"), chapter))
        known = chapter_page.Pages(
            chapter,
            project=project,
            signatures=signatures(chapter, contracts),
            titles=self.titles,
            simulated=simulated,
            measured=measured,
            elsewhere=gpus[1:],
            others=others,
            figures=drawings,
            whole_ladder=whole,
            counted=load_counted(recorded),
            asked=asked.asked(chapter.path, [one.prediction for one in every], keeps_first=False) if measured else {},
            answers=answers_of(chapter.path, every, self.simulator),
            rung_figures=behind,
            notes=notes,
            exercises=self.exercises[folder],
        )
        pages = chapter_page.chapter_pages(known)
        road = pages[f"chapters/{folder}"].blocks
        road += exercises_page.section(self.exercises[folder])
        road.append(Text(way.end(chapter.header, [known.header for known, _ in self.chapters])))
        chapter_drawings.place(pages, named, chapter.path)
        live.place(road, folder)
        lines = live.lines_of(folder, chapter.path.read_text(encoding="utf-8"), pages, simulated.trace)
        for exercise in self.exercises[folder]:
            pages[f"exercises/{exercise.key}"] = exercises_page.exercise_page(exercise)
        for name, page in pages.items():
            stage.page(name, page)
        stage.write(f"_data/{folder}.trace.json", json.dumps(simulated.trace))
        return Made(sorted(stage.kept), stage.pages, contracts, measured, lines)

    def pack(self) -> str:
        """The course as a file to download, made once for each commit; "" where there is none."""
        archive = self.stage.folder / "_files" / f"{landing.ARCHIVE}.tar.gz"
        self.stage.kept.add(archive)
        packed = self.stage.folder.parent / "packed"  # the commit that the archive is of
        if not (archive.exists() and packed.exists() and packed.read_text() == self.commit):
            write(packed, self.commit if landing.pack(self.root, archive) else "")
        return f"_files/{archive.name}" if archive.exists() else ""
