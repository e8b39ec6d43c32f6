"""What the landing page shows of the chapters: made from their headers and results, put where docs/index.md names it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from markup import escape, number, size_words

from warp.chapter.results import Results
from warp.chapter.source import Chapter

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


def start(first: Chapter, download: str, source: str) -> str:
    """The button, and the two ways to the code: `download` is the file's place, `source` the repository's address."""
    rows = [f":::{{div}} start\n\n[Start with chapter {first.header.number}](chapters/{first.folder}.md){{.button}}"]
    if download:
        rows.append(f"{{download}}`Download the course </{download}>`")
    rows.append("[Installation](install.md)\n\n:::")
    lines = []
    if source:
        lines.append(f"$ git clone {source} {ARCHIVE} && cd {ARCHIVE}")
    elif download:
        lines.append(f"$ tar xzf {ARCHIVE}.tar.gz && cd {ARCHIVE}")
    lines += [
        "$ ./learn new       # a kernel of your own, run and counted; needs no GPU",
        f"$ ./learn run {first.header.number}    # the first chapter",
        "$ ./learn start     # the first exercise",
    ]
    return "\n\n".join(rows) + "\n\n```{code-block} console\n" + "\n".join(lines) + "\n```"


def chapters(all_chapters: list[Chapter]) -> str:
    """Every chapter with its question."""
    items = [
        f"1. [{chapter.header.number} {escape(chapter.header.title)}](chapters/{chapter.folder}.md): "
        f"{chapter.header.question}"
        for chapter in all_chapters
    ]
    return "\n".join([":::{div} chapters", "", *items, "", ":::"])


def evidence(story: list[tuple[Chapter, dict]], device: str, peer: str) -> str:
    """How far the ladder goes, from its first and its last chapter's fastest rung."""
    if len(story) < 2:
        return ""
    (first, slow), (last, fast) = story[0], story[-1]
    return (
        f"One product of {size_words(last.header.sizes['gpu'])} matrices on an {escape(device)}: "
        f"[chapter {first.header.number}](chapters/{first.folder}.md) reaches {number(round(slow['rate']))} GFLOP/s, "
        f"[chapter {last.header.number}](chapters/{last.folder}.md) {number(round(fast['rate']))}, "
        f"which is {100 * fast['ratio_to_peer']:.0f} % of {peer} in the same rounds."
    )


def copies(recorded: list[tuple[Chapter, Results | None]]) -> str:
    """What the two orders of a copy cost where they were measured; "" where they were not."""
    for chapter, measured in recorded:
        rows, columns = (measured.of(f"copy_{order}_fastest") if measured else [] for order in "xy")
        if rows and columns and rows[0].get("rate") and columns[0].get("rate"):
            return (
                f"In [chapter {chapter.header.number}](chapters/{chapter.folder}.md) the first of them reaches "
                f"{number(round(rows[0]['rate']))} GB/s on an {escape(measured.device)}, the second "
                f"{number(round(columns[0]['rate']))}."
            )
    return ""


def version(commit: str, day: str) -> str:
    return f":::{{div}} version\n\nBuilt on {day} from commit {escape(commit)}.\n\n:::"


def placed(page: str, made: dict[str, str]) -> str:
    """The page with each piece where it has an empty fence ```{made} NAME; a piece that is empty leaves no trace."""

    def piece(found: re.Match) -> str:
        if found[1] not in made:
            raise ValueError(f"a page asks for '{found[1]}'; there are {', '.join(made)}")
        return made[found[1]]

    return re.sub(r"^```\{made\} (\w+)\n```$", piece, page, flags=re.MULTILINE)
