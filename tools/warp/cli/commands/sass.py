"""./learn sass: the machine code that nvcc makes of a chapter or of a CUDA file, beside its source."""

from __future__ import annotations

import json
import os
import re
import sys

from warp.base import ui
from warp.base.errors import LearnError, UsageError
from warp.base.files import check_writable, write_output
from warp.base.machine import Machine
from warp.base.names import advice, one_of
from warp.chapter import chapters
from warp.chapter.chapters import Chapter
from warp.cli.commands.explain import STDOUT, as_chapter, check_source
from warp.cli.options import Arguments
from warp.machinecode.code import Compiled

NEITHER = "sass takes one chapter or one file that ends in .cu"


def main(arguments: Arguments) -> int:
    pair = difference(arguments)
    if len(arguments.words) != 1:
        raise UsageError(NEITHER + "; see ./learn sass --help")
    subject = arguments.words[0]
    chapter = as_chapter(subject)
    if chapter and chapter.problem:
        raise LearnError(chapter.problem)
    if not chapter:
        check_source(subject, NEITHER)
    wanted = list(dict.fromkeys(arguments.rung))
    if chapter:
        for rung in wanted + pair:
            chapters.check_rung(rung, [chapter])
    threads = block_size(arguments.threads)
    if arguments.json and arguments.json != STDOUT:
        check_writable(arguments.json, "--json")
        if os.path.realpath(arguments.json) == os.path.realpath(chapter.source if chapter else subject):
            raise UsageError(f"--json {arguments.json}: that is the source")

    from warp.machinecode import code, report
    from warp.machinecode.tools import Toolchain

    toolchain = Toolchain(Machine())
    architecture = toolchain.architecture(arguments.arch)
    kernels = []
    for source in sources_of(chapter, wanted + pair, architecture) if chapter else [subject]:
        kernels += code.compile_source(toolchain, source, architecture)
    if not kernels:
        raise LearnError(f"{subject} has no kernel for {architecture}")
    if pair:
        one, other = (pick(kernels, name, subject, architecture)[0] for name in pair)
        ui.say(report.render_diff(one, other, ui.palette(), architecture).rstrip("\n"))
        return 0
    if wanted:
        kernels = [kernel for name in wanted for kernel in pick(kernels, name, subject, architecture)]
    elif chapter:
        # Headers of lab may hold kernels, too: a chapter's are those in its own files.
        kernels = [kernel for kernel in kernels if own(kernel, chapter.folder)] or kernels
    if arguments.json:
        data = {
            "architecture": architecture,
            "nvcc": toolchain.release,
            "kernels": [report.as_data(kernel, architecture) for kernel in kernels],
        }
        text = json.dumps(data, indent=1) + "\n"
        if arguments.json == STDOUT:
            sys.stdout.write(text)
        else:
            write_output("--json", arguments.json, text.encode())
        return 0
    ui.say(report.render(kernels, ui.palette(), architecture, toolchain.release, threads).rstrip("\n"))
    return 0


def difference(arguments: Arguments) -> list[str]:
    """The two names of --diff ONE OTHER, of which the second is taken from the words; [] without it."""
    if arguments.diff is None:
        return []
    names = [arguments.diff, *arguments.words[1:]]
    del arguments.words[1:]
    if len(names) != 2:
        raise UsageError("--diff takes two kernels, as in ./learn sass 03 --diff naive_along_columns shared_tiles")
    if arguments.rung or arguments.json:
        raise UsageError("--diff compares two kernels; it goes with neither --rung nor --json")
    return names


def block_size(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1024):
        raise UsageError(f"--threads {text}: legal is the number of threads of a block, 1 to 1024")
    return int(text)


def sources_of(chapter: Chapter, rungs: list[str], architecture: str) -> list[str]:
    """The files of a chapter that are compiled for an architecture; of these, those that name the rungs."""
    files = [chapter.source]
    for name in sorted(os.listdir(chapter.folder)):
        path = os.path.join(chapter.folder, name)
        family = re.fullmatch(r"sm_(90|100)a", architecture)
        if name.endswith(".cu") and path != chapter.source and not name.endswith("_cublas.cu"):
            if family or not name.endswith(("_sm90.cu", "_hopper.cu")):
                files.append(path)
    if not rungs:
        return files
    having = []
    for path in files:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if any(re.search(rf"\b{re.escape(rung)}\s*\(", text) for rung in rungs):
            having.append(path)
    return having or files


def own(kernel: Compiled, folder: str) -> bool:
    return any(
        os.path.dirname(os.path.realpath(one.file)) == os.path.realpath(folder)
        for one in kernel.instructions
        if one.file
    )


def pick(kernels: list[Compiled], name: str, subject: str, architecture: str) -> list[Compiled]:
    """The kernels of this plain name, all their instantiations; UsageError with the names that there are."""
    found = [kernel for kernel in kernels if name in (kernel.base, kernel.name)]
    if not found:
        names = list(dict.fromkeys(kernel.base for kernel in kernels))
        raise UsageError(
            f"{subject} has no kernel {name} for {architecture}{advice(name, names, 'it has ' + one_of(names))}"
        )
    return found
