"""How long a chapter may be, and what may not stand before its first kernel. Standard library only."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from warp.chapter import header as headers
from warp.chapter import source
from warp.chapter.bindings import main_track
from warp.chapter.results import recorded_gpus
from warp.chapter.source import Code, Fold, Prediction, Prose

WORDS = 4500  # of prose on the main track
RUNGS = 20  # names in the header, but for those whose kernel, or whose registration, is second reading
STRETCH = 700  # words without a heading, a figure or a kernel
PREDICTIONS = (8, 16)  # at least and at most
WORDS_A_MINUTE = 150  # with the code and the tables beside them
MINUTES_A_PREDICTION = 1.5


@dataclass
class Lengths:
    """What a chapter's main track amounts to."""

    words: int = 0
    rungs: int = 0
    predictions: int = 0
    longest: tuple[int, str, int] = (0, "", 0)  # words, file and first line of the longest stretch
    early_folds: list[str] = field(default_factory=list)  # folds before the first kernel

    @property
    def minutes(self) -> int:
        """How long a reader takes, exercises aside; in steps of five."""
        return 5 * round((self.words / WORDS_A_MINUTE + self.predictions * MINUTES_A_PREDICTION) / 5)


def words_of(markdown: str) -> int:
    """Words of prose: code blocks and tables are none."""
    text = re.sub(r"^ {0,3}(```|~~~).*?^ {0,3}\1", "", markdown, flags=re.DOTALL | re.MULTILINE)
    lines = (line for line in text.split("\n") if not re.match(r" {4}|\s*\|", line))
    return sum(1 for line in lines for word in line.split() if re.search(r"\w", word))


def is_kernel(block: Code | Prediction | Prose) -> bool:
    return isinstance(block, Code) and any("__global__" in line for line in block.lines)


def measure(main: Path) -> Lengths:
    """The lengths of a chapter, all its files together."""
    rungs = set(headers.read(main).rungs)
    found = Lengths()
    kernel_seen = False
    for file, blocks in source.all_blocks(main):
        stretch, first = 0, 0
        for block, on_main_track in main_track(blocks):
            kernel_seen |= is_kernel(block)
            if isinstance(block, Fold) and not kernel_seen:
                found.early_folds.append(f"{file}:{block.line}")
            if is_kernel(block):
                stretch = 0
            if not on_main_track:
                stretch = 0
                code = "\n".join(block.lines) if isinstance(block, Code) else ""
                if is_kernel(block):
                    rungs -= set(re.findall(r"\b(\w+)\(", code))
                if "lab::Rungs" in code:
                    rungs -= set(re.findall(r'"(\w+)"', code))
                continue
            found.predictions += isinstance(block, Prediction)
            if isinstance(block, Prose):
                if block.heading or re.search(r"^ {0,3}(?:```|:::+)\{(?:svg|figure|drawing)", block.text, re.MULTILINE):
                    stretch = 0
                first = first if stretch else block.line
                text = block.text
            elif isinstance(block, Prediction):
                first = first if stretch else block.line
                text = block.question
            else:
                continue
            words = words_of(text)
            found.words += words
            stretch += words
            found.longest = max(found.longest, (stretch, str(file), first))
    found.rungs = len(rungs)
    return found


def check_chapter(main: Path) -> tuple[list[str], Lengths]:
    """What exceeds the limits, one line each, and the lengths."""
    found = measure(main)
    wrong = []
    if found.words > WORDS:
        wrong.append(f"{main}:1: {found.words:,} words on the main track; at most {WORDS:,}")
    if found.rungs > RUNGS:
        wrong.append(f"{main}:1: {found.rungs} rungs; at most {RUNGS}")
    if found.longest[0] > STRETCH:
        words, file, line = found.longest
        wrong.append(f"{file}:{line}: {words} words without a heading, a figure or a kernel; at most {STRETCH}")
    least, most = PREDICTIONS
    finished = bool(recorded_gpus(main.parent / "results"))  # a draft may have fewer
    if found.predictions > most or (finished and found.predictions < least):
        wrong.append(f"{main}:1: {found.predictions} predictions on the main track; legal is {least} to {most}")
    read = headers.read(main)
    if finished and (not read.minutes or abs(read.minutes - found.minutes) > max(5, found.minutes / 4)):
        stated = f"'Minutes: {read.minutes}'" if read.minutes else "no line 'Minutes:'"
        wrong.append(f"{main}:1: {stated}; its main track takes about {found.minutes}")
    if finished and not read.afterwards:
        wrong.append(f"{main}:1: no line 'Afterwards:' says what a reader can do then")
    wrong += [f"{place}: a fold before the first kernel" for place in found.early_folds]
    return wrong, found
