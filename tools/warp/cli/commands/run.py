"""./learn run: builds chapters and runs them."""

from __future__ import annotations

import os

from warp.base import build, install, pages, paths, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.files import check_writable, forget
from warp.base.machine import Machine
from warp.base.names import advice, one_of
from warp.chapter import chapters
from warp.chapter.chapters import Chapter
from warp.chapter.last_run import in_words, last_run, statuses
from warp.cli.options import Arguments
from warp.cli.way import Way


def main(arguments: Arguments) -> int:
    known = chapters.all_chapters()
    if not known:
        raise LearnError(f"there is no chapter in {paths.shown(paths.CHAPTERS)}")
    wanted = []
    for word in arguments.words:
        chapter = chapters.find(word, known)
        if chapter not in wanted:
            wanted.append(chapter)
    wanted = wanted or known
    for chapter in wanted:
        if chapter.problem:
            raise LearnError(chapter.problem)
    for rung in arguments.rung:
        having = chapters.check_rung(rung, wanted)
        if len(wanted) > 1:
            wanted = having
    for size in arguments.size:
        chapters.check_size(size, wanted)
    if arguments.cases:
        wanted = chapters.check_cases(wanted, named=bool(arguments.words))
    if arguments.rest and len(wanted) > 1:
        raise UsageError("what stands after -- are options of one chapter: name it, as in ./learn run 09 -- --help")
    if arguments.fast and arguments.backend == "gpu":
        raise UsageError("--fast is the simulator without its checks; it does not go with --backend gpu")

    machine = Machine()
    backend = arguments.backend or ("simulator" if arguments.fast else machine.default_backend())
    recorded = recorded_files(arguments.times, wanted, backend)
    part = bool(arguments.rung or arguments.cases or arguments.rest)
    results = results_files(arguments.json, wanted, backend, part)
    if backend == "gpu":
        check_gpu(machine)
    elif not arguments.backend and not arguments.fast and machine.gpus():
        ui.note("learn: there is a GPU but no nvcc (./learn doctor); running on the simulator")

    install.ensure(machine, backend)
    if is_new(wanted, known):
        for line in introduction(wanted[0], backend):
            ui.note(line)
        ui.note("")
    targets = [chapter.name + ("_fast" if arguments.fast else "") for chapter in wanted]
    what = "{} for the {}".format(", ".join("chapter " + c.number for c in wanted), backend_name(backend))
    build.build(backend, machine, what, targets)

    outcomes = []
    for chapter in wanted:
        env = dict(os.environ, WARP_COMMIT=build.commit(), **recorded.get(chapter.key, {}))
        command = [chapter.program(backend, arguments.fast), "--json", results[chapter.key]]
        for rung in arguments.rung:
            command += ["--rung", rung]
        for size in arguments.size:
            command += ["--size", size]
        if arguments.cases:
            command += ["--cases", arguments.cases]
        command += arguments.rest
        forget(results[chapter.key])
        ui.say()
        code = steps.start(command, env=env)
        outcomes.append((chapter, code, statuses(results[chapter.key])))
    if arguments.rest and outcomes[0][2] is None:  # it was asked for something else than its ladder
        return outcomes[0][1]
    return summary(outcomes, backend, arguments)


NO_TIMES = "none"


def recorded_files(asked: str | None, wanted: list[Chapter], backend: str) -> dict[str, dict[str, str]]:
    """{chapter: {LAB_RECORDED: file}} with the times that a GPU took for the rungs: they stand beside the simulator's counts.
    Those of the first GPU recorded, or of the one that was asked for."""
    if backend == "gpu":
        if asked:
            raise UsageError("--times goes with the simulator: on a GPU the times are measured")
        return {}
    gpus = {chapter.key: chapter.recorded_gpus() for chapter in wanted}
    names = sorted({name for known in gpus.values() for name in known})
    gpu = (asked or "").lower()
    if asked and gpu not in (*names, NO_TIMES):
        raise UsageError(
            f"--times {asked}: no such GPU was recorded{advice(gpu, names)}; legal is {one_of([*names, NO_TIMES])}"
        )
    files = {}
    for chapter in wanted:
        taken = gpu or next(iter(gpus[chapter.key]), NO_TIMES)
        if taken in gpus[chapter.key]:
            file = os.path.splitext(paths.last_results(backend, chapter.key))[0] + ".times"
            steps.make_folder(os.path.dirname(file))
            with open(file, "w", encoding="utf-8") as opened:
                opened.write(chapter.recorded_times(taken))
            files[chapter.key] = {"LAB_RECORDED": file}
    return files


def is_new(wanted: list[Chapter], known: list[Chapter]) -> bool:
    """Whether the reader runs one chapter, and none was run here before."""
    runs = [last_run(backend, chapter) for backend in ("gpu", "simulator") for chapter in known]
    return len(wanted) == 1 and all(one is None for one in runs)


def introduction(chapter: Chapter, backend: str) -> list[str]:
    """Five lines for who has not seen such a table before, to read while the first build lasts."""
    rung, several = chapter.first_rung(), any(one.raises for one in chapter.rungs.values())
    what = "times" if backend == "gpu" else "counts"
    return [
        f"Chapter {chapter.number}, {chapter.title}: {chapter.question}",
        f"A table follows, one row for each of its {len(chapter.rungs)} kernels ("
        f'"rungs"): whether the result is right, and its {what}{"; some are wrong on purpose" if several else ""}.',
        f"Nothing in it has to be understood yet. Read first: {paths.shown(chapter.source)}, which is the chapter's text, from the top.",
        f"The same with figures: ./learn docs makes {paths.shown(chapter.page())}.",
        f"One kernel alone, its source with the counts of each line: ./learn explain {chapter.number}"
        + (f" --rung {rung}" if rung else ""),
    ]


def backend_name(backend: str) -> str:
    return "GPU" if backend == "gpu" else "simulator"


def check_gpu(machine: Machine) -> None:
    """The GPU backend was asked for, or chosen: can this machine run it?"""
    if not machine.nvcc():
        raise LearnError("the gpu backend needs nvcc, and there is none; ./learn doctor says how to get it")
    if not machine.gpus():
        raise LearnError(
            "this machine has no usable NVIDIA GPU (nvidia-smi lists none); "
            "run on the simulator: ./learn run --backend simulator"
        )


def results_files(asked: str | None, wanted: list[Chapter], backend: str, part: bool = False) -> dict[str, str]:
    """Where each chapter's results go: {key: file}. A bad --json is told before anything is built."""
    files = {}
    for chapter in wanted:
        files[chapter.key] = paths.last_results(backend, chapter.key, part)
    if asked is None:
        steps.make_folder(os.path.dirname(paths.last_results(backend, "any")))
        return files
    if os.path.isdir(asked):
        return {chapter.key: os.path.join(asked, chapter.key + ".json") for chapter in wanted}
    if len(wanted) > 1:
        raise UsageError(f"--json {asked}: for several chapters name a folder that exists")
    check_writable(asked)
    return {wanted[0].key: asked}


def summary(outcomes: list[tuple[Chapter, int, dict[str, int] | None]], backend: str, arguments: Arguments) -> int:
    """What came out, chapter by chapter, and what comes next; returns the exit code."""
    paint = ui.palette()
    ui.say()
    for chapter, code, counts in outcomes:
        result = in_words(counts) if counts is not None else "no results"
        if code == 0 and counts is not None:
            word = paint("green", "ok")
        else:
            word = paint("red", f"FAILED ({steps.ended(code)})")
        ui.say(f"chapter {chapter.number}, {chapter.title}, on the {backend_name(backend)}: {word}  {result}")
    # A program that ends well and writes no results has checked nothing.
    codes = [code or (1 if counts is None else 0) for _, code, counts in outcomes]
    if any(codes):
        return 2 if all(code in (0, 2) for code in codes) else 1
    next_steps(outcomes[-1][0], backend, arguments)
    return 0


def next_steps(chapter: Chapter, backend: str, arguments: Arguments) -> None:
    """The commands that make sense now."""
    step = Way().next()
    rows = []
    rung = chapter.first_rung(arguments.rung or ())
    explain = "./learn explain {}{}".format(chapter.number, " --rung " + rung if rung else "")
    rows.append((explain, "the source with the counts of each line"))
    if step:
        rows.append((step.command, step.why))
    if not pages.folder():
        rows.append(("./learn docs", f"the text of the course, with figures, as a site; {pages.HOW_LONG}"))
    width = max(len(command) for command, _ in rows)
    ui.say()
    ui.say("Next:")
    for command, why in rows:
        ui.say(f"  {command:<{width}}  {why}")
    pages.tell_chapter(chapter, arguments.rung or ())
