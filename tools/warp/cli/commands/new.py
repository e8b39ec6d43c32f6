"""./learn new: a CUDA program of the reader's own, or the folder of a chapter."""

from __future__ import annotations

import os
import re

from warp.base import paths, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.machine import Machine
from warp.base.text import there
from warp.chapter import chapters
from warp.cli.options import Arguments
from warp.exercise import workspace

TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")
FIRST = "first.cu"
FORMS = "./learn new, ./learn new my.cu, or ./learn new chapter 21_histograms"


def main(arguments: Arguments) -> int:
    words = arguments.words
    if not words:
        return first_program()
    if len(words) == 1 and words[0].endswith(".cu"):
        return new_program(words[0])
    if len(words) == 2 and words[0] == "chapter":
        return new_chapter(words[1])
    raise UsageError(f"legal is {FORMS}")


def first_program() -> int:
    """A program of the reader's own, run and counted at once; what was begun before is taken as it is."""
    from warp.base import install
    from warp.base.machine import Machine
    from warp.cli import options, table
    from warp.cli.commands import explain

    path = place(FIRST)
    shown = paths.shown(os.path.abspath(path))
    if not os.path.exists(path):
        write(path, "program.cu", FILE=shown, STEM=FIRST[: -len(".cu")])
    ui.say(f"{shown} is a whole CUDA program, and yours: it allocates, copies, launches a kernel, checks and frees.")
    machine = Machine()
    lack = install.out_of_reach(machine, "simulator")
    if lack:
        return on_gpu(path, shown, machine, lack)
    if not explain.is_built():
        for line in meanwhile(shown):
            ui.say(line)
    ui.say()
    code = explain.main(options.parse(there(table.find("explain")), [path]))
    next_steps(
        (f"edit {shown}, then ./learn explain {shown}", "what it costs now, or what is wrong and where"),
        ("leave out 'if (i < n)', explain again", "a thread without an element, and the array that it misses"),
        ("./learn run 01", "the first chapter"),
    )
    return code


def meanwhile(shown: str) -> list[str]:
    """What to read while the simulator is built: the beginning of the course."""
    from pathlib import Path

    from warp.chapter import source
    from warp.chapter.errors import SourceError
    from warp.cli.commands.predict import indented

    lines = ["", f"The simulator is built now, once. Meanwhile, read {shown} from the top, and how the course begins:"]
    for chapter in chapters.all_chapters()[:1]:
        try:
            _, blocks = source.all_blocks(Path(chapter.source))[0]
        except (OSError, SourceError):
            continue
        told = next((block.text for block in blocks if isinstance(block, source.Prose) and not block.heading), "")
        lines += ["", indented(told)] if told else []
        lines += ["", f"It goes on in {paths.shown(chapter.source)}, which is the text of chapter {chapter.number}."]
    return lines


def on_gpu(path: str, shown: str, machine: Machine, lack: str) -> int:
    """The same with nvcc, where the simulator cannot be brought."""
    if not (machine.gpus() and machine.nvcc()):
        raise LearnError(f"the simulator lacks {lack}, and there is no GPU with nvcc here: ./learn doctor says more")
    ui.note(f"learn: with nvcc, as the simulator lacks {lack}")
    program = os.path.splitext(os.path.abspath(path))[0] + ".out"
    command = [there(machine.nvcc()), "-std=c++17", "-arch=native", "-o", program, path]
    steps.run("Compiling " + shown, command, "new")
    code = steps.start([program])
    next_steps(
        (f"edit {shown}, then ./learn new", "compiles and runs it again"), ("./learn run 01", "the first chapter")
    )
    return code


def new_program(path: str) -> int:
    """A whole program in one file: allocates, copies, launches, checks, frees."""
    name = os.path.basename(path)
    stem = name[: -len(".cu")]
    if not re.fullmatch(r"[A-Za-z0-9_][\w.+-]*", stem):
        raise UsageError(f"'{name}' is no name for a program: letters, digits, _, - and ., as in my.cu")
    path = place(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {paths.shown(folder)}")
    shown = paths.shown(os.path.abspath(path))
    write(path, "program.cu", FILE=shown, STEM=stem)
    ui.say(f"{shown} is a whole CUDA program: it allocates, copies, launches a kernel, checks and frees.")
    next_steps(
        (f"./learn explain {shown}", "runs it on the simulator and shows what each line costs"),
        ("edit the kernel, run it again", "the simulator says what is wrong, and where"),
    )
    return 0


def place(path: str) -> str:
    """Where a program goes: a bare name into my/ if one stands in the course, whose folders git watches; else as it says."""
    here = os.path.realpath(os.getcwd())
    mine = os.path.realpath(workspace.FOLDER)
    in_course = is_within(here, os.path.realpath(paths.ROOT)) and not is_within(here, mine)
    if os.path.dirname(path) or not in_course:
        return path
    try:
        os.makedirs(workspace.FOLDER, exist_ok=True)
    except OSError as error:
        raise LearnError(f"cannot write to {paths.shown(workspace.FOLDER)}: {error.strerror}")
    return os.path.join(workspace.FOLDER, path)


def is_within(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def new_chapter(name: str) -> int:
    """A chapter's folder: a source that builds and runs, and its test."""
    match = chapters.FOLDER.fullmatch(name)
    if not match or not re.fullmatch(r"[a-z][a-z0-9_]*", match.group(2)):
        raise UsageError(f"'{name}' is no name of a chapter: two digits, _ and small letters, as in 21_histograms")
    number, short = match.groups()
    known = chapters.all_chapters()
    for chapter in known:
        if number == chapter.number or short == chapter.name:
            raise UsageError(f"there is a chapter {chapter.key} already")
    folder = os.path.join(paths.CHAPTERS, name)
    before = [chapter.key for chapter in known if chapter.number < number]
    title = short.replace("_", " ").capitalize()
    values = {"NUMBER": number, "FOLDER": name, "TITLE": title, "BUILDS_ON": before[-1] if before else "nothing"}
    steps.make_folder(folder)
    write(os.path.join(folder, f"{short}.cu"), "chapter.cu", **values)
    write(os.path.join(folder, f"test_{short}.py"), "chapter_test.py", **values)
    ui.say(f"{paths.shown(folder)} has a source with two rungs and a test. Nothing outside of it was touched.")
    next_steps(
        (f"./learn run {number}", "builds and runs it"),
        (f"./learn author check {number}", "numbers, predictions and lengths of its text"),
        (f"./learn test {name}", "its test"),
        (f"./learn record {number}", "on a machine with a GPU: its measured results"),
    )
    return 0


def write(path: str, template: str, **values: str) -> None:
    """Writes a template with its @PLACES@ filled; an existing file is left alone."""
    with open(os.path.join(TEMPLATES, template), encoding="utf-8") as file:
        text = file.read()
    for place, value in values.items():
        text = text.replace(f"@{place}@", value)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{paths.shown(path)} exists already")
    except OSError as error:
        raise LearnError(f"cannot write {paths.shown(path)}: {error.strerror}")


def next_steps(*rows: tuple[str, str]) -> None:
    width = max(len(command) for command, _ in rows)
    ui.say()
    ui.say("Next:")
    for command, why in rows:
        ui.say(f"  {command:<{width}}  {why}")
