"""What an edit changed: a chapter's code, or its prose alone. Standard library only.

An edit of prose moves lines and changes nothing that a program does: the run that was made before still holds, with its
line numbers moved along.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from warp.chapter import header
from warp.chapter.functions import mask
from warp.chapter.header import read_text
from warp.chapter.results import Results

PROSE_OF_THE_HEADER = ("title", "question", "builds_on", "intro")


def sources_of(main: Path) -> list[Path]:
    """The files of a chapter that its program is compiled from."""
    return sorted(path for path in main.parent.iterdir() if path.suffix in (".cu", ".cuh", ".h", ".cmake"))


def code_lines(text: str) -> list[tuple[int, str]]:
    """(number, text) of each line that has code, comments taken off."""
    plain = mask(text, strings=False).split("\n")
    return [(number, line.rstrip()) for number, line in enumerate(plain, start=1) if line.strip()]


def code_of(main: Path) -> dict:
    """What a chapter's program depends on: {"digest", "lines": {file: [numbers of the lines with code]}}."""
    facts = {key: value for key, value in header.read(main).to_json().items() if key not in PROSE_OF_THE_HEADER}
    for rung in facts["rungs"]:
        del rung["idea"]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    lines = {}
    for path in sources_of(main):
        found = code_lines(read_text(path)) if path.suffix != ".cmake" else list(enumerate(read_text(path).split("\n")))
        lines[path.name] = [number for number, _ in found]
        digest.update("\n".join([path.name, *(line for _, line in found)]).encode())
    return {"digest": digest.hexdigest(), "lines": lines}


def moved_lines(results: Results, before: dict, now: dict) -> None:
    """Moves the line numbers of a run to where the same code stands now."""
    moves = {}
    for name, old in before["lines"].items():
        moves[name] = dict(zip(old, now["lines"].get(name, [])))
    results.moves = moves
    if all(a == b for move in moves.values() for a, b in move.items()):
        return

    def moved(file: str, line: int) -> int:
        return moves.get(Path(file).name, {}).get(line, line)

    def text(said: str) -> str:
        return re.sub(r"([\w.-]+\.cuh?):(\d+)", lambda found: f"{found[1]}:{moved(found[1], int(found[2]))}", said)

    for launch in results.trace.get("launches", []):
        for entry in [*launch.get("lines", []), *launch.get("findings", [])]:
            if "file" in entry and "line" in entry:
                entry["line"] = moved(entry["file"], entry["line"])
    for finding in results.trace.get("findings", []):
        if "file" in finding and "line" in finding:
            finding["line"] = moved(finding["file"], finding["line"])
    results.lines = {
        kernel: {(file, moved(file, line)): counts for (file, line), counts in lines.items()}
        for kernel, lines in results.lines.items()
    }
    results.output = text(results.output)
    results.shown = {rung: text(said) for rung, said in results.shown.items()}
    for row in results.rows:
        if row.reason:
            row.reason = text(row.reason)


def newest(paths: list[Path]) -> float:
    """When anything below these paths changed last."""
    times = [0.0]
    for path in paths:
        files = path.rglob("*") if path.is_dir() else [path]
        times += [file.stat().st_mtime for file in files if file.is_file() and "__pycache__" not in file.parts]
    return max(times)
