"""What the landing page shows of the chapters: made from their headers and results, put where docs/index.md names it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from warp.chapter.header import hours
from warp.chapter.results import Results
from warp.chapter.source import Chapter
from warp.exercise.exercises import Exercise
from warp.site import figures, way
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


def start(first: Chapter, download: str, source: str) -> str:
    """The button, and the two ways to the code: `download` is the file's place, `source` the repository's address."""
    rows = [f":::{{div}} start\n\n[Start with chapter {first.header.number}](chapters/{first.folder}.cu){{.button}}"]
    if download:
        rows.append(f"{{download}}`Download the course </{download}>`")
    rows.append("[Installation](install.md)\n\n:::")
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
    return "\n\n".join(rows) + "\n\n```{code-block} console\n" + "\n".join(lines) + "\n```"


def chapters(all_chapters: list[Chapter], exercises: dict[str, list[Exercise]]) -> str:
    """A card for each chapter: its picture, its question and its minutes. `progress.js` ticks those that are done."""
    cards = []
    for chapter in all_chapters:
        header, own = chapter.header, exercises.get(chapter.folder, [])
        facts = [f"{header.minutes} min"] if header.minutes else []
        facts += [f"{len(own)} exercise{'s' if len(own) > 1 else ''}, {hours(way.of_exercises(own))}"] if own else []
        facts += ["on the short path"] if header.on_short_path else []
        cards += [
            f"::::{{div}} chapter-card\n\n```{{raw}} html\n{figures.icon(chapter.folder)}\n```",
            f"[{header.number} {escape(header.title)}](chapters/{chapter.folder}.cu)\n\n{header.question}",
            *([f":::{{container}} facts\n{' · '.join(facts)}\n:::"] if facts else []),
            "::::",
        ]
    return "\n\n".join([":::::{div} chapter-cards", *cards, ":::::"])


def evidence(told: list[tuple]) -> str:
    """How far the ladder goes, from the first and the last chapter's fastest rung of a story."""
    (first, measured, slow), (last, _, fast) = told[0], told[-1]
    return (
        f"One product of {size_words(last.header.sizes['gpu'])} matrices on an {escape(measured.device)}, in FP32: "
        f"[chapter {first.header.number}](/chapters/{first.folder}.cu) reaches {number(round(slow['rate']))} GFLOP/s, "
        f"[chapter {last.header.number}](/chapters/{last.folder}.cu) {number(round(fast['rate']))}, "
        f"which is {100 * fast['ratio_to_peer']:.0f} % of {fast['peer']['name']} in the same rounds."
    )


def copies(recorded: list[tuple[Chapter, Results | None]]) -> str:
    """What the two orders of a copy cost where they were measured; "" where they were not."""
    for chapter, measured in recorded:
        rows, columns = (measured.of(f"copy_{order}_fastest") if measured else [] for order in "xy")
        if measured and rows and columns and rows[0].get("rate") and columns[0].get("rate"):
            return (
                f"As copies, measured in [chapter {chapter.header.number}](chapters/{chapter.folder}.cu) on an "
                f"{escape(measured.device)}: {number(round(rows[0]['rate']))} GB/s along the rows, "
                f"{number(round(columns[0]['rate']))} down the columns."
            )
    return ""


def version(commit: str, day: str, download: str = "") -> str:
    too = " The archive has this site, too, in its folder `site`." if download else ""
    return f":::{{div}} version\n\nBuilt on {day} from commit {escape(commit)}.{too}\n\n:::"


def placed(page: str, made: dict[str, str]) -> str:
    """The page with each piece where it has an empty fence ```{made} NAME; a piece that is empty leaves no trace."""

    def piece(found: re.Match) -> str:
        if found[1] not in made:
            raise ValueError(f"a page asks for '{found[1]}'; there are {', '.join(made)}")
        return made[found[1]]

    return re.sub(r"^```\{made\} (\w+)\n```$", piece, page, flags=re.MULTILINE)
