"""What the landing page shows of the chapters: made from their headers and results, put where docs/index.md names it."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

from warp.chapter.header import hours
from warp.chapter.results import Results
from warp.chapter.source import Chapter
from warp.exercise.exercises import Exercise
from warp.site import figures, way
from warp.site.blocks import Block, Box, Html, Output, Text
from warp.site.markup import escape, number, size_words

ARCHIVE = "warp-by-warp"


def pack(root: Path, archive: Path) -> bool:
    """The course as one file to download, of the commit that the site shows; False where there is no Git."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    command = ["git", "-C", str(root), "archive", f"--prefix={ARCHIVE}/", "--format=tar.gz", "-o", str(archive), "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def pack_site(site: Path, kept: Path, anew: bool) -> None:
    """Puts the site into the archive that it offers, as `site/`: who downloads the course can read it before anything is built.
    `kept` has that archive for the next build, which makes it again only where all pages are made `anew`."""
    for archive in site.glob(f"_downloads/*/{ARCHIVE}.tar.gz"):
        if kept.exists() and not anew:
            shutil.copyfile(kept, archive)
            return
        packed = archive.with_suffix(".tmp")
        with tarfile.open(archive) as course, tarfile.open(packed, "w:gz", compresslevel=6) as both:
            for member in course:
                if not member.name.startswith(f"{ARCHIVE}/site/"):
                    both.addfile(member, course.extractfile(member) if member.isfile() else None)
            for path in sorted(site.rglob("*")):
                if path.is_file() and path != archive and path != packed:
                    both.add(path, f"{ARCHIVE}/site/{path.relative_to(site)}", recursive=False)
        packed.replace(archive)
        shutil.copyfile(archive, kept)


def start(first: Chapter, download: str, source: str) -> list[Block]:
    """The button, and the two ways to the code: `download` is the file's place, `source` the repository's address."""
    ways = [f"[Start with chapter {first.header.number}](chapters/{first.folder}.cu){{.button}}"]
    ways += [f"{{download}}`Download the course </{download}>`"] if download else []
    ways.append("[Installation](install.md)")
    lines = []
    if source:
        lines.append(f"$ git clone {source} {ARCHIVE}")
    elif download:
        lines.append(f"$ tar xzf {ARCHIVE}.tar.gz")
    lines += [f"$ cd {ARCHIVE}"] if lines else []
    lines += [
        "$ ./learn new     # a kernel, counted",
        f"$ ./learn run {first.header.number}  # the first chapter",
        "$ ./learn start   # the first exercise",
    ]
    return [Box("start", [Text("\n\n".join(ways))], is_plain=True), Output("\n".join(lines), "", "console")]


def chapters(all_chapters: list[Chapter], exercises: dict[str, list[Exercise]]) -> list[Block]:
    """A card for each chapter: its picture, its question and its minutes. `progress.js` ticks those that are done."""
    cards: list[Block] = []
    for chapter in all_chapters:
        header, own = chapter.header, exercises.get(chapter.folder, [])
        facts = [f"{header.minutes} min"] if header.minutes else []
        facts += [f"{len(own)} exercise{'s' if len(own) > 1 else ''}, {hours(way.of_exercises(own))}"] if own else []
        facts += ["on the short path"] if header.on_short_path else []
        card: list[Block] = [
            Html(figures.icon(chapter.folder)),
            Text(f"[{header.number} {escape(header.title)}](chapters/{chapter.folder}.cu)\n\n{header.question}"),
            *([Box("facts", [Text(" · ".join(facts))])] if facts else []),
        ]
        cards.append(Box("chapter-card", card, is_plain=True))
    return [Box("chapter-cards", cards, is_plain=True)]


def evidence(told: list[tuple]) -> str:
    """How far the ladder goes, from the first and the last chapter's fastest rung of a story."""
    (first, measured, slow), (last, _, fast) = told[0], told[-1]
    return (
        f"One product of {size_words(last.header.sizes['gpu'])} matrices on an {escape(measured.device)}, in FP32: "
        f"[chapter {first.header.number}](/chapters/{first.folder}.cu) reaches {number(round(slow.rate))} GFLOP/s, "
        f"[chapter {last.header.number}](/chapters/{last.folder}.cu) {number(round(fast.rate))}, "
        f"which is {100 * fast.ratio_to_peer:.0f} % of {fast.peer.name} in the same rounds."
    )


def copies(recorded: list[tuple[Chapter, Results | None]]) -> list[Block]:
    """What the two orders of a copy cost where they were measured; nothing where they were not."""
    for chapter, measured in recorded:
        rows, columns = (measured.of(f"copy_{order}_fastest") if measured else [] for order in "xy")
        if measured and rows and columns and rows[0].rate and columns[0].rate:
            words = (
                f"As copies, measured in [chapter {chapter.header.number}](chapters/{chapter.folder}.cu) on an "
                f"{escape(measured.device)}: {number(round(rows[0].rate))} GB/s along the rows, "
                f"{number(round(columns[0].rate))} down the columns."
            )
            return [Text(words)]
    return []


def version(commit: str, day: str, download: str = "") -> list[Block]:
    too = " The archive has this site, too, in its folder `site`." if download else ""
    return [Box("version", [Text(f"Built on {day} from commit {escape(commit)}.{too}")], is_plain=True)]
