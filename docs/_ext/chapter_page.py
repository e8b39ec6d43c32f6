"""Turns a chapter's source, its counts and its results into a page (MyST). Standard library only.

Nothing is written here that a source says: prose, code, contracts, ideas, sizes and numbers all
come from the chapter's files and from its program.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import compiler_explorer
import counted_listing
import way
from chapter_tables import agreement, ladder
from markup import escape, fence, listing, size_words, table, typeset
from rung_panel import rung_panel

from warp.chapter.counted import Counted
from warp.chapter.errors import SourceError
from warp.chapter.functions import find_function
from warp.chapter.header import read_text
from warp.chapter.predictions import Answer
from warp.chapter.results import Results
from warp.chapter.source import SECOND_READING, Chapter, Code, Fold, Prediction, Prose, RungHere, parse_blocks
from warp.exercise.exercises import Exercise


def is_headers(block) -> bool:
    """What a file begins with: its headers, and the names that it takes from them."""
    start = re.compile(r"#\s*(include|pragma once)\b|using [\w:]+;$|namespace \w+ = [\w:]+;$")
    return isinstance(block, Code) and all(not line.strip() or start.match(line) for line in block.lines)


HOST_LINES = 60  # of code for the host alone, as registering rungs takes: what is longer is folded


def fold_title(code: Code) -> str:
    """What stands on the fold of a long listing in which nothing is for the device alone; "" for a listing that stays open."""
    device = re.compile(r"__global__|(?<!__host__ )__device__")
    if len(code.lines) <= HOST_LINES or any(map(device.search, code.lines)):
        return ""
    what = "main()" if any(re.match(r"int main\(", line) for line in code.lines) else "Host code"
    return f"{what}: lines {code.line} to {code.line + len(code.lines) - 1}"


def check_rungs(chapter: Chapter, results: Results, origin: str) -> None:
    """The header and the program must name the same rungs."""
    listed, ran = set(chapter.header.rungs), {row["rung"] for row in results.rows}
    for name in sorted(ran - listed):
        raise SourceError(f"{chapter.path}:1: {origin} has a rung {name} that the header does not list")
    for name in sorted(listed - ran):
        raise SourceError(f"{chapter.path}:1: the header lists rung {name}, which {origin} does not have")


def machine_code(text: str, recorded: dict | None, kernels: dict[str, str] | None = None) -> str:
    """The excerpts of machine code as listings, with what they are of and what compiled them. Each stands in a container:
    unlike a kernel, it may be the answer to a prediction, and is folded with it. The first of each of the chapter's own
    kernels has a link that opens the kernel in Compiler Explorer: `kernels` has those that need one, with their address."""
    kernels = {} if kernels is None else kernels

    def listing_of(found: re.Match) -> str:
        kind, spec, body = found.groups()
        name, *options = shlex.split(spec)
        words = {"in": "its inner loop", "only": "only {}", "from": "from {} on"}
        pairs = [option.split("=", 1) for option in options]
        which = [words[key].format(value.replace(",", ", ")) for key, value in pairs if key in words]
        by = "nvcc {nvcc}, {architecture}".format(**recorded) if recorded else "not recorded"
        caption = f"{kind.upper()} of `{name}`{': ' if which else ''}{', '.join(which)} ({by})"
        shown = fence(body.rstrip("\n"), "{code-block} text", [f":caption: {caption}", ""])
        link = kernels.pop(name, "") if kind == "sass" else ""
        if link:
            shown += f"\n\n[`{name}` in Compiler Explorer]({link})"
        return fence(shown, "{container} machine-code", [""])

    return re.sub(r"^```\{(sass|ptx)\} (.+)\n((?:.*\n)*?)```$", listing_of, text, flags=re.MULTILINE)


def explorer_links(recorded: dict | None, files: list[Path]) -> dict[str, str]:
    """{kernel: address in Compiler Explorer} of the chapter's own kernels of which machine code is recorded."""
    links = {}
    for kernel in recorded["kernels"] if recorded else ():
        units = [compiler_explorer.unit(read_text(file), kernel) for file in files] if ":" not in kernel else []
        source = next(filter(None, units), "")
        if source:
            links[kernel] = compiler_explorer.address(source, recorded["architecture"])
    return links


def prose(block: Prose, recorded: dict | None = None, kernels: dict[str, str] | None = None) -> str:
    """A block of prose as the page has it; the rest of a section for second reading is folded."""
    text = machine_code(typeset(block.text), recorded, kernels)
    if not block.second_reading:
        return text
    head, _, body = text.partition("\n")
    return "\n".join([head.rstrip().removesuffix(SECOND_READING), "", "```{second-reading}", "```", body])


def prediction(block: Prediction, answers: dict[str, Answer]) -> str:
    """A question, and what the run answers where there is a run."""
    answer = answers.get(block.name)
    known = {"near": block.near, "unit": block.unit.replace("`", ""), "choices": block.choices}
    said = ""
    if answer:
        known.update(answer=answer.value, shown=answer.text)
        text = f"{answer.text} {block.unit}".replace("`", "").strip()
        said = f"{answer.source[:1].upper()}{answer.source[1:]}: {text}."
    choices = ["", *(f"- {choice}" for choice in block.choices)] if block.choices else []
    return fence(
        "\n".join([typeset(block.question), *choices]),
        f"{{prediction}} {block.name}",
        [
            f":data: {json.dumps(json.dumps(known, ensure_ascii=False), ensure_ascii=False)}",
            f":said: {json.dumps(said, ensure_ascii=False)}",
            "",
        ],
    )


def links_to_map(header, titles: dict[str, str]) -> str:
    if not header.builds_on:
        return "nothing"
    return ", ".join(f"[{escape(titles[name])}](/chapters/{name}.md)" for name in header.builds_on)


def chapter_page(
    chapter: Chapter,
    *,
    project: str,
    signatures: dict[str, str],
    titles: dict[str, str],
    simulated: Results | None,
    measured: Results | None,
    elsewhere: list[Results] = (),
    others: list[Path] = (),
    figures: list[str] = (),
    rung_figures: dict[str, str] | None = None,
    counted: Counted | None = None,
    notes: str = "",
    answers: dict[str, Answer] | None = None,
    exercises: list[Exercise] = (),
) -> str:
    """The page of a chapter. `signatures` says how Breathe finds each rung's contract."""
    header = chapter.header
    rung_figures, answers = rung_figures or {}, answers or {}
    if simulated:  # what was measured may be older than a rung's name
        check_rungs(chapter, simulated, "the simulator's run")
    out = [f"# Chapter {header.number}: {header.title}", "", f":::{{container}} question\n{header.question}\n:::", ""]
    out += [f":::{{container}} facts\n{way.facts(header, exercises)}\n:::", ""] if header.minutes else []
    # Chapters may have functions of one name: each has its own namespace, which no signature shows.
    out += [f"```{{cpp:namespace}} {project}\n```", ""]
    facts = [f"Builds on {links_to_map(header, titles)}." if header.builds_on else "Builds on no other chapter."]
    shown = [chapter.path, *others]
    links = [
        f"{{download}}`chapters/{chapter.folder}/{file.name} </_files/{chapter.folder}/{file.name}>`" for file in shown
    ]
    facts.append(f"Source: {', '.join(links)}.")
    facts.append(
        f"Default size: {size_words(header.sizes['gpu'])} on a GPU, "
        f"{size_words(header.sizes['simulator'])} on the simulator."
    )
    begins = chapter.blocks[0] if chapter.blocks and is_headers(chapter.blocks[0]) else None
    out += figures[:1]  # the chapter's plot: how fast each rung is; the counts, which say why, are predicted first
    if header.intro:
        out += ["", header.intro]
    out += [
        "",
        fence(f"./learn run {header.number}", "{code-block} console", [""]),
        "",
        "::::{dropdown} The rungs of this chapter, its source and its sizes",
        ":class-container: rungs",
        "",
        ":::{container} facts",
        " ".join(facts),
        ":::",
        "",
        table(
            ["rung", "idea"],
            [[f"{{rung}}`{name}`", typeset(rung.idea).replace("|", "\\|")] for name, rung in header.rungs.items()],
            "ll",
        ),
        "",
        f"One rung alone: `./learn run {header.number} --rung {next(iter(header.rungs))}`",
        "",
        *([listing(begins), ""] if begins else []),
        "::::",
        "",
    ]

    placed: set[str] = set()
    recorded_sass = chapter.path.parent / "recorded_sass.json"
    recorded = json.loads(recorded_sass.read_text(encoding="utf-8")) if recorded_sass.exists() else None
    kernels = explorer_links(recorded, shown)

    def panel(name: str) -> str:
        placed.add(name)
        text = rung_panel(
            name,
            typeset(header.rungs[name].idea),
            project,
            signatures.get(name, ""),
            simulated,
            measured,
            counted,
            elsewhere,
        )
        return text + ("\n\n" + rung_figures[name] if name in rung_figures else "")

    def render(blocks: list, source: Path, folded: bool = False) -> None:
        costs = counted_listing.costs_of(simulated.trace if simulated else {}, source.name)
        for block in blocks:
            if isinstance(block, Prose):
                out.extend([prose(block, recorded, kernels), ""])
            elif isinstance(block, Prediction):
                out.extend([prediction(block, answers), ""])
            elif is_headers(block):
                out.extend([":::{dropdown} Headers", ":class-container: fold", "", listing(block), ":::", ""])
            elif isinstance(block, Code):
                title = fold_title(block)
                if title and not folded:
                    out.extend([f":::{{dropdown}} {title}", ":class-container: fold", "", listing(block), ":::", ""])
                else:
                    out.extend([counted_listing.listing(block, costs), ""])
            elif isinstance(block, RungHere):
                if block.name not in header.rungs:
                    raise SourceError(f"{source}:1: '[rung {block.name}]': the header lists no such rung")
                out.extend([panel(block.name), ""])
            elif isinstance(block, Fold):
                title = block.title or f"Lines {block.line + 1} on"
                out.extend([f"::::::::{{dropdown}} {title}", ":class-container: fold", ""])
                render(block.blocks, source, folded=True)
                out.extend(["::::::::", ""])

    render(chapter.blocks[1:] if begins else chapter.blocks, chapter.path)
    for other in others:
        lines = read_text(other).split("\n")
        functions = [
            f for name in header.rungs if name not in chapter.functions and (f := find_function("\n".join(lines), name))
        ]
        out += [f"## {other.name}", ""]
        render(parse_blocks(other, lines, 1, functions), other)
    rest = [name for name in header.rungs if name not in placed]
    if rest:
        out += ["## Beside the kernels", ""]
        for name in rest:
            out += [panel(name), ""]
    out += [ladder(chapter, simulated, [*filter(None, [measured]), *elsewhere], list(figures[1:])), ""]
    out += [agreement(counted, simulated), ""]
    if notes:
        out += [f"How the figures were measured, and what else was tried: [laboratory notes](/{notes}).", ""]
    return "\n".join(out)


def notes_page(text: str, chapter: Chapter) -> str:
    """The page of a chapter's notes, which the chapter links and no table of contents lists."""
    title, _, rest = text.strip().partition("\n")
    due = f"# Laboratory notes of chapter {chapter.header.number}"
    if title != due:
        raise SourceError(f"{chapter.folder}/results/NOTES.md:1: the title is not '{due}', but '{title}'")
    back = f"[Back to chapter {chapter.header.number}](/chapters/{chapter.folder}.md)"
    return f"---\norphan: true\n---\n\n{title}\n\n{back}\n\n{typeset(rest.strip())}\n"


def map_page(chapters: list[Chapter], drawings: str, exercises: dict[str, list[Exercise]]) -> str:
    """The map: what there is, which question each chapter answers, what it builds on."""
    titles = {c.folder: f"{c.header.number} {c.header.title}" for c in chapters}
    out = [
        "# The chapters",
        "",
        "Each chapter is one program: the page and the program are the same file. It climbs a ladder of "
        "kernels, from the obvious one up; each rung is verified, counted and timed.",
        "",
        *way.paths([chapter.header for chapter in chapters], exercises),
        drawings,
        "",
    ]
    for chapter in chapters:
        header = chapter.header
        rungs = ", ".join(f"{{rung}}`{chapter.folder}/{name}`" for name in header.rungs)
        out += [
            f"## [{header.number} {escape(header.title)}](/chapters/{chapter.folder}.md)",
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
