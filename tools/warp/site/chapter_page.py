"""Turns a chapter's source, its counts and its results into the blocks of its pages. Standard library only.

Nothing is written here that a source says: prose, code, contracts, ideas, sizes and numbers all
come from the chapter's files and from its program.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warp.chapter.errors import SourceError
from warp.chapter.functions import find_function
from warp.chapter.header import Header, read_text
from warp.chapter.predictions import Answer
from warp.chapter.results import Results
from warp.chapter.source import SECOND_READING, Chapter, Code, Prediction, Prose, RungHere, parse_blocks
from warp.chapter.source import Fold as Hidden
from warp.exercise.exercises import Exercise
from warp.site import compiler_explorer, counted_listing, exercises_page, way
from warp.site.blocks import Block, Box, Card, Elsewhere, Fold, Listing, Page, Question, Table, Text, every, written
from warp.site.chapter_tables import agreement, ladder
from warp.site.markup import escape, size_words, typeset, typeset_rows
from warp.site.rung_panel import Rungs


def is_headers(block: object) -> bool:
    """What a file begins with: its headers, and the names that it takes from them."""
    start = re.compile(r"#\s*(include|pragma once)\b|using [\w:]+;$|namespace \w+ = [\w:]+;$")
    return isinstance(block, Code) and all(not line.strip() or start.match(line) for line in block.lines)


HELPER_LINES = 12  # of code without a kernel that stands in the open: what is longer is folded
DEFINED = re.compile(
    r"(?:(?:struct|class|enum class|enum|union) (\w+)|(?!using|static_assert|//)[A-Za-z_][\w:<>,&* ]*?[ *&](\w+)\()"
)


def fold_title(code: Code) -> str:
    """What stands on the fold of a long listing that has no kernel; "" for a listing that stays open."""
    if len(code.lines) <= HELPER_LINES or any("__global__" in line for line in code.lines):
        return ""
    names = [found[1] or found[2] for line in code.lines if (found := DEFINED.match(line))]
    names = [name for name in dict.fromkeys(names) if not name.startswith("__")]
    what = ", ".join(f"`{name}`" for name in names[:3]) + (" and more" if len(names) > 3 else "")
    return f"{what or 'Code'}: lines {code.line} to {code.line + len(code.lines) - 1}"


def check_rungs(chapter: Chapter, results: Results, origin: str) -> None:
    """The header and the program must name the same rungs."""
    listed, ran = set(chapter.header.rungs), {row.rung for row in results.rows}
    for name in sorted(ran - listed):
        raise SourceError(f"{chapter.path}:1: {origin} has a rung {name} that the header does not list")
    for name in sorted(listed - ran):
        raise SourceError(f"{chapter.path}:1: the header lists rung {name}, which {origin} does not have")


def explorer_links(recorded: dict, files: list[Path]) -> dict[str, str]:
    """{kernel: address in Compiler Explorer} of the chapter's own kernels of which machine code is recorded."""
    links = {}
    for kernel in recorded["kernels"]:
        units = [compiler_explorer.unit(read_text(file), kernel) for file in files] if ":" not in kernel else []
        source = next(filter(None, units), "")
        if source:
            links[kernel] = compiler_explorer.address(source, recorded["architecture"])
    return links


def prose(block: Prose, source: Path, raised: int = 0) -> Text:
    """A block of prose as the page has it."""
    text, rows = typeset_rows(block.text, block.rows)
    if block.second_reading:
        head, end, body = text.partition("\n")
        text = head.rstrip().removesuffix(SECOND_READING) + end + body
    return Text(text, source, rows, raised)


BOUNDS, REMEMBER = "## What bounds each rung", "## What to remember"

# Sections at the end of a chapter that no later one needs: they have a page together.
FURTHER = {
    "What comes next",
    "What a library does further",
    "What others reach",
    "Possibilities for extension",
    "Where this model comes from",
    "The program",
}


def apart(blocks: list) -> list[tuple[Prose | None, list]]:
    """The blocks of a source as runs: those of the main road with None before them, and each section beside it with its
    first block."""
    runs: list[tuple[Prose | None, list]] = [(None, [])]
    for block in blocks:
        heading = block.heading if isinstance(block, Prose) else None
        inside = runs[-1][0]
        within = bool(inside and inside.heading and heading and heading[0] > inside.heading[0])
        if heading and not within and (block.second_reading or heading[1] in FURTHER):
            runs.append((block, [block]))
        elif heading and inside and not within:
            runs.append((None, [block]))
        else:
            runs[-1][1].append(block)
    return runs


def prediction(block: Prediction, source: Path, answers: dict[str, Answer]) -> Question:
    """A question, and what the run answers where there is a run."""
    answer = answers.get(block.name)
    known: dict[str, Any] = {"near": block.near, "unit": block.unit.replace("`", ""), "choices": block.choices}
    said = ""
    if answer:
        known.update(answer=answer.value, shown=answer.text)
        text = f"{answer.text} {block.unit}".replace("`", "").strip()
        said = f"{answer.source[:1].upper()}{answer.source[1:]}: {text}."
    choices = ["", *(f"- {choice}" for choice in block.choices)] if block.choices else []
    lines = [typeset(block.question), *choices]
    return Question(block.name, Text("\n".join(lines), source, [block.line] * len(lines)), known, said)


def links_to_map(header: Header, titles: dict[str, str]) -> str:
    if not header.builds_on:
        return "nothing"
    return ", ".join(f"[{escape(titles[name])}](/chapters/{name}.cu)" for name in header.builds_on)


@dataclass(eq=False)
class Pages(Rungs):
    """What the pages of a chapter are made of, its main road and what lies beside it; and what those made so far have told."""

    titles: dict[str, str] = field(default_factory=dict)
    others: Sequence[Path] = ()
    figures: Sequence[Block] = ()
    whole_ladder: Sequence[Block] = ()
    notes: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    exercises: Sequence[Exercise] = ()
    compiled: str = "not recorded"  # what compiled the machine code
    kernels: dict[str, str] = field(default_factory=dict)  # those that still need a link to Compiler Explorer
    kernels_before: dict[str, list[str]] = field(default_factory=dict)  # the lines of the functions that were shown

    @functools.cache  # noqa: B019  of a page that lives as long as its build
    def costs_of(self, name: str) -> dict[int, list[counted_listing.Cost]]:
        return counted_listing.costs_of(self.simulated.trace if self.simulated else {}, name)

    def render(self, blocks: list, source: Path, folded: bool = False, raised: int = 0) -> list[Block]:
        """Prose, questions, listings and panels, in the order of a source."""
        costs = self.costs_of(source.name)
        prefix = "" if source == self.chapter.path else f"{source.stem}-"
        out: list[Block] = []
        for block, following in zip(blocks, [*blocks[1:], None]):
            if isinstance(block, Prose):
                out.append(self.prose(block, source, raised))
            elif isinstance(block, Prediction):
                out.append(prediction(block, source, self.answers))
            elif is_headers(block):
                out.append(Fold("Headers", [Listing(block)]))
            elif isinstance(block, Code):
                title = fold_title(block)
                marks = self.marks(block, following.name) if isinstance(following, RungHere) else None
                is_rung = isinstance(following, RungHere)
                long = counted_listing.LONG if is_rung else counted_listing.LONG_HELPER
                shown = counted_listing.listing(block, costs, marks, prefix, long)
                out.append(Fold(title, [shown]) if title and not folded and not is_rung else shown)
            elif isinstance(block, RungHere):
                if block.name not in self.chapter.header.rungs:
                    raise SourceError(f"{source}:1: '[rung {block.name}]': the header lists no such rung")
                out += self.panel(block.name)
            elif isinstance(block, Hidden):
                title = block.title or f"Lines {block.line + 1} on"
                out.append(Fold(title, self.render(block.blocks, source, folded=True, raised=raised)))
        return out

    def marks(self, code: Code, rung: str) -> counted_listing.Marks | None:
        """What of a rung's function differs from the earlier one that it is most like."""
        function = find_function("\n".join(code.lines), rung)
        if not function:
            return None
        lines = code.lines[function.first - 1 : function.last]
        found = counted_listing.compared(rung, lines, code.line + function.first - 1, self.kernels_before)
        self.kernels_before[rung] = lines
        if found:
            self.base[rung] = found.base
        return found

    def prose(self, block: Prose, source: Path, raised: int) -> Text:
        """A block of prose, with the links of the machine code that it is the first to show."""
        text = prose(block, source, raised)
        for found in MACHINE_CODE.finditer(text.text):
            name = found[1] or found[2]
            if name in self.kernels:
                text.links[name] = self.kernels.pop(name)
        return text

    def page(self, source: Path, blocks: list[Block], is_beside: bool = False) -> Page:
        return Page(source, blocks, self.project, is_beside, compiled=self.compiled)

    def beside(self, source: Path, title: str, about: str, blocks: list[Block]) -> Page:
        """A page beside the main road, which links it."""
        header = self.chapter.header
        back = f"{about} [Back to chapter {header.number}](/chapters/{self.chapter.folder}.cu)."
        return self.page(source, [Text(f"# Chapter {header.number}: {title}\n\n{back}"), *blocks], is_beside=True)


# A fence of the prose, with the kernel of which it shows the machine code.
MACHINE_CODE = re.compile(r"^```\{sass\} (?:\"([^\"]+)\"|(\S+))", re.MULTILINE)


def carries_on(blocks: list) -> bool:
    """Whether a further file's sections carry on those of the chapter, as their numbers say: `## 6. Hopper`."""
    return any(isinstance(block, Prose) and re.match(r"## \d", block.text) for block in blocks)


def chapter_pages(pages: Pages) -> dict[str, Page]:
    """The pages of a chapter by their names, the one that is read first."""
    chapter, simulated, figures, notes = pages.chapter, pages.simulated, pages.figures, pages.notes
    header, folder = chapter.header, chapter.folder
    if simulated:  # what was measured may be older than a rung's name
        check_rungs(chapter, simulated, "the simulator's run")
    recorded_sass = chapter.path.parent / "recorded_sass.json"
    if recorded_sass.exists():
        recorded = json.loads(recorded_sass.read_text(encoding="utf-8"))
        pages.compiled = "nvcc {nvcc}, {architecture}".format(**recorded)
        pages.kernels = explorer_links(recorded, [chapter.path, *pages.others])

    begins = chapter.blocks[0] if chapter.blocks and is_headers(chapter.blocks[0]) else None
    road: list[Block] = []
    beside: dict[str, tuple[Path, str, str, list[Block]]] = {}
    links: list[Block] = []  # cards of what lies beside the road
    led_to: set[str] = set()  # of these, the pages that a section of the road leads to
    further: list[tuple[list, Path]] = []

    def walk(blocks: list, source: Path) -> None:
        """Sections in their order; each for a second reading becomes a page, to which its heading leads."""
        for second, run in apart(blocks):
            if second is None:
                road.extend(pages.render(run, source))
                continue
            assert second.heading  # it begins with it
            level, title = second.heading
            if title in FURTHER:
                further.append((run, source))
                continue
            title = re.sub(r"^\d+\. ", "", title)
            name = f"more/{folder}/{re.sub(r'[^a-z0-9]+', '_', title.lower()).strip('_')}"
            head, *rest = pages.render(run, source, raised=level - 1)
            assert isinstance(head, Text)  # whose first line is the heading, for which the page has its title
            first = replace(head, text=head.text.partition("\n")[2], rows=head.rows[1:])
            beside[name] = source, typeset(title), "For a second reading.", [first, *rest]
            road.append(prose(Prose(second.line, second.text.split("\n")[0], [], second.rows[:1]), source))
            road.append(Text(f"For a second reading: [{typeset(title)}](/{name}.cu).", source, [second.line]))
            road.extend(elsewhere(name))
            led_to.add(name)

    def elsewhere(page: str) -> list[Block]:
        """Anchors for the rungs whose cards stand on a page beside the road."""
        cards = [block for block in every(beside[page][-1]) if isinstance(block, Card)]
        return [Elsewhere(card.name, card.idea, page) for card in cards]

    walk(chapter.blocks[1:] if begins else chapter.blocks, chapter.path)
    for other in pages.others:
        text = read_text(other)
        names = [name for name in header.rungs if name not in chapter.functions]
        blocks = parse_blocks(other, text.split("\n"), 1, list(filter(None, (find_function(text, n) for n in names))))
        if carries_on(blocks):
            road.append(Text(f"## {other.name}", other, [1]))
            walk(blocks, other)
            continue
        name, about = f"more/{folder}/{other.stem}", about_file(other, blocks)
        beside[name] = other, f"`{other.name}`", about, pages.render(blocks, other)
        links.append(more_card(f"`{other.name}`", f"{name}.cu", about))
    if further:
        name, shown = f"more/{folder}/further", [one for run, source in further for one in pages.render(run, source)]
        beside[name] = chapter.path, "further", "", shown
        headings = [block.heading for run, _ in further for block in run if isinstance(block, Prose)]
        titles_of = [heading[1] for heading in headings if heading]
        links.append(more_card("Further", f"{name}.cu", "; ".join(titles_of) + "."))
    rest = [name for name in header.rungs if name not in pages.placed]
    name = f"more/{folder}/measurements"
    found: list[Block] = [block for rung in rest for block in pages.panel(rung)]
    measured = [*filter(None, [pages.measured]), *pages.elsewhere]
    found += ladder(chapter, simulated, measured, pages.whole_ladder)
    found += agreement(pages.counted, simulated)
    if notes:
        found.append(Text(f"How the figures were measured, and what else was tried: [laboratory notes](/{notes})."))
    about = "Times and counts of every rung, and the simulator's counts beside the hardware's."
    beside[name] = chapter.path, "measurements", about, found
    links.append(more_card("Measurements", f"{name}.cu", about))
    if notes:
        links.append(more_card("Laboratory notes", notes, "How the figures were measured, and what else was tried."))

    exercises_page.trained(list(pages.exercises), road, folder)
    place_bounds(road, figures[1:])
    out = [*head(chapter, pages.exercises, figures), *road, Text("## More about this chapter"), Box("cards", links)]
    out += [anchor for name in beside if name not in led_to for anchor in elsewhere(name)]
    out += foot(chapter, pages.titles, [chapter.path, *pages.others], begins)
    made = {f"chapters/{folder}": pages.page(chapter.path, out)}
    made.update((name, pages.beside(*of)) for name, of in beside.items())
    return made


def place_bounds(road: list[Block], drawings: Sequence[Block]) -> None:
    """Puts the drawings behind the chapter's own words on what bounds each rung, or below that heading near its end."""
    heads = [block.text.partition("\n")[0] if isinstance(block, Text) else "" for block in road]
    at = heads.index(BOUNDS) + 1 if BOUNDS in heads else heads.index(REMEMBER) if REMEMBER in heads else len(road)
    road[at:at] = drawings if BOUNDS in heads or not drawings else [Text(BOUNDS), *drawings]


# What a file of a chapter needs, by the end of its name.
NEEDS = {
    "gpu": "is compiled for a GPU alone",
    "cublas": "needs cuBLAS",
    "sm90": "needs a Hopper GPU",
    "cub": "needs CUB",
}


def about_file(file: Path, blocks: list) -> str:
    """What stands beside the link to the page of a file: what it needs, or where it needs nothing, its first heading."""
    needs = NEEDS.get(file.stem.rpartition("_")[2])
    if needs:
        return f"A file of the chapter that {needs}."
    titles = [block.heading[1] for block in blocks if isinstance(block, Prose) and block.heading]
    return f"{titles[0]}." if titles else "A file of the chapter."


def more_card(title: str, page: str, about: str) -> Box:
    return Box("card", [Text(f"[{title}](/{page})\n\n{about}")])


def head(chapter: Chapter, exercises: Sequence[Exercise], figures: Sequence[Block]) -> list[Block]:
    """The top of a chapter's page: its question, its key picture, its time, and what one can do afterwards."""
    header = chapter.header
    facts = [f"{way.facts(header, list(exercises))}"] if header.minutes else []
    facts += [f"Afterwards you can {header.afterwards}."] if header.afterwards else []
    facts.append(f"`./learn run {header.number}` runs it.")
    facts += ["Near its end: [what bounds each rung](#what-bounds-each-rung)."] if figures[1:] else []
    out: list[Block] = [
        Text(f"# [Chapter {header.number}]{{.chapter-number}}[:]{{.colon}} {header.title}"),
        Box("question", [Text(header.question)]),
        Box("facts", [Text(" ".join(facts))]),
        *figures[:1],  # the chapter's plot: how fast each rung is; the counts, which say why, are predicted first
    ]
    return [*out, written(header.intro, chapter.path)] if header.intro else out


def foot(chapter: Chapter, titles: dict[str, str], files: list[Path], begins: Code | None) -> list[Block]:
    """The rungs of a chapter, its files and its sizes."""
    header = chapter.header
    facts = [f"Builds on {links_to_map(header, titles)}." if header.builds_on else "Builds on no other chapter."]
    links = [
        f"{{download}}`chapters/{chapter.folder}/{file.name} </_files/{chapter.folder}/{file.name}>`" for file in files
    ]
    facts.append(f"Source: {', '.join(links)}.")
    facts.append(
        f"Default size: {size_words(header.sizes['gpu'])} on a GPU, "
        f"{size_words(header.sizes['simulator'])} on the simulator."
    )
    rungs = [[f"{{rung}}`{name}`", typeset(rung.idea)] for name, rung in header.rungs.items()]
    inside: list[Block] = [
        Box("facts", [Text(" ".join(facts))]),
        Table(["rung", "idea"], rungs, "ll"),
        Text(f"One rung alone: `./learn run {header.number} --rung {next(iter(header.rungs))}`"),
        *([Listing(begins)] if begins else []),
    ]
    return [Fold("The rungs of this chapter, its source and its sizes", inside, "rungs")]


def notes_page(text: str, chapter: Chapter) -> str:
    """The page of a chapter's notes, which the chapter links and no table of contents lists."""
    title, _, rest = text.strip().partition("\n")
    due = f"# Laboratory notes of chapter {chapter.header.number}"
    if title != due:
        raise SourceError(f"{chapter.folder}/results/NOTES.md:1: the title is not '{due}', but '{title}'")
    back = f"[Back to chapter {chapter.header.number}](/chapters/{chapter.folder}.cu)"
    return f"---\norphan: true\n---\n\n{title}\n\n{back}\n\n{typeset(rest.strip())}\n"


def map_page(chapters: list[Chapter], exercises: dict[str, list[Exercise]]) -> str:
    """The map: what there is, which question each chapter answers, what it builds on."""
    titles = {c.folder: f"{c.header.number} {c.header.title}" for c in chapters}
    out = [
        "# The chapters",
        "",
        "Each chapter is one program: the page and the program are the same file. It climbs a ladder of "
        "kernels, from the obvious one up; each rung is verified, counted and timed.",
        "",
        *way.paths([chapter.header for chapter in chapters], exercises),
        "```{made} map",
        "```",
        "",
    ]
    for chapter in chapters:
        header = chapter.header
        rungs = ", ".join(f"{{rung}}`{chapter.folder}/{name}`" for name in header.rungs)
        out += [
            f"## [{header.number} {escape(header.title)}](/chapters/{chapter.folder}.cu)",
            "",
            header.question,
            "",
            *([way.facts(header, exercises.get(chapter.folder, [])), ""] if header.minutes else []),
            f"Builds on: {links_to_map(header, titles)}",
            "",
            f"Rungs: {rungs}",
            "",
        ]
    out += ["```{toctree}", ":hidden:", ":maxdepth: 1", ""]
    out += [f"{chapter.folder}" for chapter in chapters]
    out += ["```", ""]
    return "\n".join(out)
