"""Counts the lines of a chapter that register rungs: `python3 registration.py` prints them for each chapter.

Registration is main and each function or lambda that has a ladder, a map, a problem or a canvas as a parameter, in all
files of the chapter. Blank lines and lines that are comments alone do not count.
"""

import pathlib
import re
import sys

# lab::Ladder&, lab::GemmLadder&, lab::Map<float>&, const lab::Problem&, Canvas&.
LADDER = r"(?:\w*Ladder|Map\s*(?:<[^()]*?>)?|\w*Problem|\w*Canvas)"
PARAMETER = re.compile(rf"[(,]\s*(?:const\s+)?(?:\w+::)*{LADDER}(?:\s+const)?\s*&")
MAIN = re.compile(r"\bint\s+main\s*\(")
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


def blanked(text):
    """The text with its comments and literals as blanks, so that what is left of braces is the code's."""
    kept = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", text)  # 1'000
    return LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), kept)


def behind(code, at, opening, closing):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == opening) - (code[place] == closing)
        if depth == 0:
            return place + 1
    raise ValueError(f"a '{opening}' is never closed")


def opening_before(code, at):
    """The round bracket that is open at `at`."""
    depth = 0
    for place in range(at, -1, -1):
        depth += (code[place] == ")") - (code[place] == "(")
        if depth < 0:
            return place
    raise ValueError("a parameter stands in no brackets")


def registration(text):
    """The numbers of the lines of a source that register rungs, from 0."""
    code = blanked(text)
    lists = [found.end() - 1 for found in MAIN.finditer(code)]
    lists += [opening_before(code, found.start()) for found in PARAMETER.finditer(code)]
    lines = set()
    for start in lists:
        end = behind(code, start, "(", ")")
        body = re.compile(r"[^;{}()]*(?:\([^()]*\)[^;{}()]*)*\{").match(
            code, end
        )  # `const`, `noexcept`, `-> int`, `: a_(b)`
        if body is None:
            continue  # declared here, and defined elsewhere
        # From where the statement begins: what is returned, and template <...>.
        first = max(code.rfind(mark, 0, start) for mark in ";}{") + 1
        first += len(code[first:start]) - len(code[first:start].lstrip())
        last = behind(code, body.end() - 1, "{", "}")
        lines.update(range(code.count("\n", 0, first), code.count("\n", 0, last) + 1))
    of_code = code.split("\n")
    return {line for line in lines if of_code[line].strip()}


def count(folder):
    """How many lines of a chapter register rungs."""
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".cu", ".cuh", ".cpp", ".h")]
    return sum(len(registration(file.read_text(encoding="utf-8"))) for file in files)


if __name__ == "__main__":
    for chapter in sorted(pathlib.Path(__file__).resolve().parents[3].glob("chapters/[0-9][0-9]_*")):
        sys.stdout.write(f"{chapter.name:24} {count(chapter):4}\n")
