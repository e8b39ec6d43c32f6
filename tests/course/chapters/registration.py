"""Counts the lines of a chapter that register rungs: `python3 registration.py` prints them for each chapter.

Registration is main and each function or lambda that has a ladder, a map, a problem or a canvas as a parameter, in all
files of the chapter. Blank lines and lines that are comments alone do not count.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from warp.chapter import functions  # noqa: E402

# The round bracket of a function's parameters and its body's opening one: main, or one that takes lab::Ladder&,
# lab::GemmLadder&, lab::Map<float>&, const lab::Problem&, Canvas&.
INSIDE = r"(?:[^()]|\([^()]*\))*?"
LADDER = r"(?:const\s+)?(?:\w+::)*(?:\w*Ladder|Map\s*(?:<[^()]*?>)?|\w*Problem|\w*Canvas)(?:\s+const)?\s*&"
AFTER = r"[^;{}()]*(?:\([^()]*\)[^;{}()]*)*\{"  # `const`, `noexcept`, `-> int`, `: a_(b)`
TAKES = re.compile(rf"(?:\bint\s+main\s*\({INSIDE}|\((?:{INSIDE},)?\s*{LADDER}{INSIDE})\){AFTER}")


def registration(text):
    """The numbers of the lines of a source that register rungs, from 0."""
    code = functions.mask(text)
    lines = set()
    for found in TAKES.finditer(code):
        # From where the statement begins: what is returned, and template <...>.
        first = max(code.rfind(mark, 0, found.start()) for mark in ";}{") + 1
        first += len(code[first : found.start()]) - len(code[first : found.start()].lstrip())
        last = functions.matching(code, found.end() - 1, "{", "}")
        lines.update(range(code.count("\n", 0, first), code.count("\n", 0, last) + 1))
    of_code = code.split("\n")
    return {line for line in lines if of_code[line].strip()}


def count(folder):
    """How many lines of a chapter register rungs."""
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".cu", ".cuh", ".cpp", ".h")]
    return sum(len(registration(file.read_text(encoding="utf-8"))) for file in files)


if __name__ == "__main__":
    for chapter in sorted(ROOT.glob("chapters/[0-9][0-9]_*")):
        sys.stdout.write(f"{chapter.name:24} {count(chapter):4}\n")
