"""Reads the source of a chapter: header, prose, code, rungs.

The form is the one of CONTRIBUTING: the file starts with `//` lines in column 0 (the header), other
runs of such lines are prose in Markdown, everything else is code. Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path


class SourceError(Exception):
    """What is wrong with a source and what would be right, in one line that starts with file:line."""


@dataclass
class Header:
    number: str  # "01"
    title: str  # "Thread indexing"
    question: str
    builds_on: list[str]  # folder names
    sizes: dict[str, str]  # backend -> size
    rungs: dict[str, str]  # name -> idea, in the order of the ladder
    intro: str  # Markdown between the fields, usually empty


@dataclass
class Prose:
    line: int  # of its first line
    text: str  # Markdown


@dataclass
class Code:
    line: int
    lines: list[str]


@dataclass
class Fold:
    """The blocks between `// [hide]` and `// [/hide]`."""

    line: int
    title: str
    blocks: list = field(default_factory=list)


@dataclass
class RungHere:
    """Stands right after the code of the function `name`."""

    name: str


@dataclass
class Function:
    name: str
    contract: int  # first line of the `///` lines above it; equals `first` if there are none
    first: int  # first line of the declaration
    name_line: int  # the line that holds its name
    last: int  # line of the closing brace


@dataclass
class Chapter:
    folder: str  # "01_thread_indexing"
    path: Path
    header: Header
    blocks: list
    functions: dict[str, Function]  # of the rungs that this file defines


def mask(text: str, inside: set[int] | None = None) -> str:
    """The text with comments, strings and character literals blanked out, newlines kept.

    `inside` gets the numbers of the lines that start within a block comment or a raw string.
    """
    out = []
    i, n = 0, len(text)

    def blank(piece: str) -> str:
        return re.sub(r"[^\n]", " ", piece)

    while i < n:
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = n if end < 0 else end
        elif text.startswith("/*", i):
            end = text.find("*/", i + 2)
            end = n if end < 0 else end + 2
        elif raw := re.compile(r'(?:u8|[uUL])?R"([^()\\ \n]{0,16})\(').match(text, i):
            if i > 0 and (text[i - 1].isalnum() or text[i - 1] == "_"):
                out.append(text[i])
                i += 1
                continue
            closing = f'){raw.group(1)}"'
            end = text.find(closing, raw.end())
            end = n if end < 0 else end + len(closing)
        elif text[i] == '"' or (text[i] == "'" and not (i > 0 and text[i - 1].isalnum())):
            quote, end = text[i], i + 1
            while end < n and text[end] not in (quote, "\n"):
                end += 2 if text[end] == "\\" else 1
            end = min(end + 1, n)
        else:
            out.append(text[i])
            i += 1
            continue
        if inside is not None and "\n" in text[i:end]:
            line = text.count("\n", 0, i) + 1
            inside.update(range(line + 1, line + 1 + text.count("\n", i, end)))
        out.append(blank(text[i:end]))
        i = end
    return "".join(out)


def _matching(masked: str, start: int, opening: str, closing: str) -> int:
    """Index of the bracket that closes the one at `start`; -1 if none does."""
    depth = 0
    for i in range(start, len(masked)):
        if masked[i] == opening:
            depth += 1
        elif masked[i] == closing:
            depth -= 1
            if depth == 0:
                return i
    return -1


def find_function(text: str, name: str, masked: str | None = None) -> Function | None:
    """The definition of the function `name`, wherever it stands; a declaration is none."""
    masked = masked if masked is not None else mask(text)
    # Directives end a declaration as a semicolon does.
    plain = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", ";", m.group()), masked,
                   flags=re.MULTILINE)
    for found in re.finditer(rf"\b{re.escape(name)}\b(?:\s*<[^;{{}}()]*>)?\s*\(", plain):
        close = _matching(plain, found.end() - 1, "(", ")")
        if close < 0:
            continue
        tail = re.compile(r"(?:\s|const|noexcept|->|__attribute__\s*\(\([^;{}]*\)\)|[\w:<>,&*])*\{").match(plain, close + 1)
        if tail is None:
            continue
        end = _matching(plain, tail.end() - 1, "{", "}")
        if end < 0:
            continue
        before = max(plain.rfind(c, 0, found.start()) for c in ";{}") + 1
        start = before + len(plain[before:]) - len(plain[before:].lstrip())
        if not plain[start:found.start()].strip():
            continue  # a statement such as `name(x) {`: no return type, so no function
        line = text.count("\n", 0, start) + 1
        rows = text.split("\n")
        contract = line
        while contract > 1 and rows[contract - 2].lstrip().startswith("///"):
            contract -= 1
        return Function(name, contract, line, text.count("\n", 0, found.start()) + 1,
                        text.count("\n", 0, end) + 1)
    return None


_RUN_LINE = re.compile(r"(?:Run:)?\s*\./learn run \S+ --rung (\S+)(?:\s+(?:—\s*|-\s+)?(.*))?$")
_FIELD = re.compile(r"(Question|Builds on|Size gpu|Size simulator|Sizes measured|Run):\s*(.*)$")


def parse_header(path: Path, folder: str, lines: list[str]) -> tuple[Header, int]:
    """The header and the number of lines it takes."""

    def bad(line: int, what: str) -> SourceError:
        return SourceError(f"{path}:{line}: {what}")

    count = 0
    while count < len(lines) and re.match(r"//(?!/)", lines[count]):
        count += 1
    title = re.fullmatch(r"// # Chapter (\d\d): (\S.*)", lines[0]) if lines else None
    if not title:
        raise bad(1, "a chapter starts with the line '// # Chapter NN: Title'")
    if not folder.startswith(title.group(1) + "_"):
        raise bad(1, f"the title says chapter {title.group(1)}, the folder is {folder}")

    fields: dict[str, str] = {}
    rungs: dict[str, str] = {}
    intro: list[str] = []
    last = None  # the field whose value the next indented line continues
    for number, line in enumerate(lines[1:count], start=2):
        text = line[2:].removeprefix(" ").rstrip()
        rung = _RUN_LINE.match(text.strip())
        if rung:
            if rung.group(1) in rungs:
                raise bad(number, f"rung {rung.group(1)} is listed twice")
            rungs[rung.group(1)] = (rung.group(2) or "").strip()
            last = None
            continue
        known = _FIELD.match(text)
        if known:
            if known.group(1) in fields:
                raise bad(number, f"the field '{known.group(1)}' stands here a second time")
            fields[known.group(1)] = known.group(2).strip()
            last = known.group(1)
        elif last and re.match(r"\s+\S", text):
            fields[last] += " " + text.strip()
        else:
            last = None
            intro.append(text)
    for key in ("Question", "Builds on", "Size gpu", "Size simulator"):
        if not fields.get(key):
            raise bad(1, f"the header lacks the line '// {key}: ...'")
    builds_on = []
    text = re.sub(r"\(.*?\)", "", fields["Builds on"]).strip()
    if text.rstrip(".") != "nothing":
        builds_on = [part.strip() for part in text.split(",") if part.strip()]
    for part in builds_on:
        if not re.fullmatch(r"\d\d_[a-z0-9_]+", part):
            raise bad(1, f"'Builds on: {part}': write 'nothing' or folder names such as 01_thread_indexing")
    if not rungs:
        raise bad(1, "the header lists no rung; each has a line "
                     f"'//   ./learn run {title.group(1)} --rung NAME   idea'")
    sizes = {"gpu": fields["Size gpu"], "simulator": fields["Size simulator"]}
    if "Sizes measured" in fields and fields["Sizes measured"].split()[:1] != [fields["Size gpu"]]:
        raise bad(1, "'Sizes measured' names sizes with spaces between them, that of 'Size gpu' first")
    return Header(title.group(1), title.group(2).strip(), fields["Question"], builds_on, sizes, rungs,
                  "\n".join(intro).strip()), count


def _check_fences(path: Path, prose: Prose) -> None:
    """An open fence would swallow the code after it."""
    fence, opened = None, 0
    for number, line in enumerate(prose.text.split("\n"), start=prose.line):
        mark = re.match(r" {0,3}(`{3,}|~{3,}|:{3,})(.*)$", line)
        if not mark:
            continue
        marker, rest = mark.groups()
        if fence is None:
            fence, opened = marker, number
        elif marker[0] == fence[0] and len(marker) >= len(fence) and not rest.strip():
            fence = None
    if fence is not None:
        raise SourceError(f"{path}:{opened}: the fence '{fence}' is not closed in this block of prose")


def parse_blocks(path: Path, lines: list[str], first: int, contracts: list[Function]) -> list:
    """Blocks of `lines` from line number `first` on (1 is the first line of the file).

    The `///` lines of the functions in `contracts` are left out: the page renders them.
    """
    ends = {f.last: f.name for f in contracts}
    omitted = {n for f in contracts for n in range(f.contract, f.first)}
    inside: set[int] = set()
    mask("\n".join(lines), inside)
    top: list = []
    fold: Fold | None = None
    target = top
    code: Code | None = None
    prose: Prose | None = None

    def flush() -> None:
        nonlocal code, prose
        if code:
            while code.lines and not code.lines[-1].strip():
                code.lines.pop()
            while code.lines and not code.lines[0].strip():
                code.lines.pop(0)
                code.line += 1
            if code.lines:
                target.append(code)
        if prose and prose.text.strip():
            prose.text = prose.text.rstrip()
            _check_fences(path, prose)
            target.append(prose)
        code = prose = None

    for number in range(first, len(lines) + 1):
        line = lines[number - 1].rstrip()
        text = "" if number in inside else line  # what may be prose
        hide = re.fullmatch(r"// \[hide\]\s*(.*)", text)
        if hide:
            flush()
            if fold:
                raise SourceError(f"{path}:{number}: '[hide]' inside the '[hide]' of line {fold.line}")
            fold = Fold(number, hide.group(1).strip())
            target = fold.blocks
        elif text == "// [/hide]":
            flush()
            if not fold:
                raise SourceError(f"{path}:{number}: '[/hide]' without '[hide]'")
            target = top
            target.append(fold)
            fold = None
        elif number in omitted:
            flush()
        elif re.match(r"// clang-format (on|off)$|// NOLINT", text):
            pass
        elif re.match(r"//(?!/)", text):
            if re.match(r"//\s{0,4}%", text):
                raise SourceError(f"{path}:{number}: a line of prose begins with '%', which Markdown takes for a "
                                  "comment and leaves out: break the line elsewhere")
            if not prose:
                flush()
                prose = Prose(number, "")
            prose.text += line[2:].removeprefix(" ") + "\n"
        else:
            if not code:
                flush()
                code = Code(number, [])
            code.lines.append(line)
        if number in ends:
            flush()
            target.append(RungHere(ends[number]))
    flush()
    if fold:
        raise SourceError(f"{path}:{fold.line}: '[hide]' is never closed by '[/hide]'")
    return top


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from None


def parse_chapter(path: Path, other_files: list[Path] = ()) -> Chapter:
    """Reads `chapters/NN_name/name.cu`; rungs may also be defined in `other_files`."""
    text = read_text(path)
    lines = text.split("\n")
    folder = path.parent.name
    header, taken = parse_header(path, folder, lines)
    masked = mask(text)
    functions: dict[str, Function] = {}
    elsewhere = [read_text(other) for other in other_files]
    for name in header.rungs:
        found = find_function(text, name, masked)
        if found:
            functions[name] = found
        elif not any(find_function(other, name) for other in elsewhere):
            raise SourceError(f"{path}:1: the header lists rung {name}, but no function has this name")
    return Chapter(folder, path, header, parse_blocks(path, lines, taken + 1, list(functions.values())),
                   functions)


def find_chapters(root: Path) -> list[Path]:
    """The main source of every chapter below `root`, by number."""
    found = []
    for folder in sorted(root.glob("[0-9][0-9]_*")):
        if not folder.is_dir():
            continue
        main = folder / (folder.name[3:] + ".cu")
        if not main.exists():
            raise SourceError(f"{folder}: a chapter's source is missing: {main.name}")
        found.append(main)
    if not found:
        raise SourceError(f"{root}: no chapter here")
    return found
