"""What ./learn author says of a chapter: its numbers, its predictions, its lengths, and the value of an expression."""

from __future__ import annotations

from pathlib import Path

from warp.base.errors import LearnError, UsageError
from warp.chapter import bindings, limits, predictions
from warp.chapter.expressions import Numbers, evaluate
from warp.chapter.results import load_recorded
from warp.chapter.run import ROOT, build_folder, is_stale


def find(word: str) -> Path:
    """The main source of the chapter that `word` means."""
    path = Path(word)
    if path.suffix == ".cu" and path.exists():
        folder = path.resolve().parent
    else:
        found = [
            f
            for f in sorted((ROOT / "chapters").glob("[0-9][0-9]_*"))
            if f.name == path.name or f.name[:2] == word.zfill(2)
        ]
        if len(found) != 1:
            raise UsageError(f"'{word}' is no chapter: name a number, a folder below chapters/ or a source")
        folder = found[0]
    return folder / f"{folder.name[3:]}.cu"


def numbers(main: Path) -> int:
    """Prints every binding of a chapter; the number of those that are wrong."""
    build = build_folder()
    outcomes = bindings.check_chapter(main, build)
    if outcomes is None:
        print(f"{main.parent.name}: not yet bound: no '//=' line in it")
        return 0
    width = max((len(outcome.quote) for outcome in outcomes), default=0)
    for outcome in sorted(outcomes, key=lambda outcome: (outcome.file != main, outcome.file, outcome.line)):
        print(
            f"{outcome.file.name}:{outcome.line:<5} {outcome.word:12}  {outcome.quote:{min(width, 40)}}  {outcome.value}"
        )
    wrong = sum(outcome.word == bindings.WRONG for outcome in outcomes)
    pending = sum(outcome.word == bindings.PENDING for outcome in outcomes)
    print(f"{main.parent.name}: {len(outcomes) - wrong - pending} ok, {wrong} wrong, {pending} not recorded yet")
    if is_stale(main, build):
        again = f"./learn run {main.parent.name[:2]} --backend simulator makes them anew"
        print(
            f"note: {main.name} is newer than its program: counts are those of the program; where code has changed, {again}"
        )
    return wrong


def asked(main: Path) -> int:
    """Prints every prediction of a chapter with its answer; how many things are wrong."""
    build = build_folder()
    known = Numbers(main, build)
    for one in predictions.collect(main):
        try:
            answer = predictions.answer(one.prediction, known)
            said = f"{answer.text} {one.prediction.unit}".strip() + f" ({answer.source})"
        except LearnError as error:
            said = str(error)
        print(f"{one.file.name}:{one.prediction.line:<5} {one.name}: {said}")
    wrong, pending, count = predictions.check_chapter(main, build)
    for line in wrong:
        print(f"WRONG {line}")
    print(f"{main.parent.name}: {count} predictions, {len(wrong)} wrong, {len(pending)} not recorded yet")
    return len(wrong)


def sizes(main: Path) -> int:
    """Prints how long a chapter is; how many limits it exceeds."""
    wrong, found = limits.check_chapter(main)
    for line in wrong:
        print(f"WRONG {line}")
    words, file, at = found.longest
    print(
        f"{main.parent.name}: {found.words:,} of {limits.WORDS:,} words, {found.rungs} of {limits.RUNGS} rungs, "
        f"{found.predictions} predictions; longest stretch {words} of {limits.STRETCH} words, {Path(file).name}:{at}"
    )
    return len(wrong)


def check(main: Path) -> int:
    return numbers(main) + asked(main) + sizes(main)


def sass(main: Path) -> int:
    """Records what nvcc makes of the kernels that a chapter shows or binds; 0."""
    from warp.base.machine import Machine
    from warp.chapter import recorded
    from warp.machinecode.tools import Toolchain

    data = recorded.write(Toolchain(Machine()), main)
    print(f"{main.parent.name}: {len(data['kernels'])} kernels, {len(data['excerpts'])} excerpts, nvcc {data['nvcc']}")
    return 0


def value(main: Path, asked: list[str]) -> int:
    """Prints the value of each expression; of none, the times that `ms` and `rate` give, by rung, variant and size."""
    known, wrong = Numbers(main, build_folder()), 0
    for expression in asked:
        try:
            print(f"{expression}: {evaluate(expression, known):,.6g}")
        except LearnError as error:
            print(f"WRONG {expression}: {error}")
            wrong += 1
    for gpu, results in load_recorded(main.parent / "results").items() if not asked else ():
        print(f"{results.device}, as gpu={gpu!r}:")
        for row in results.rows:
            if row.time_ms:
                ref = f'"{row.rung}/{row.variant}"' if row.variant else f'"{row.rung}"'
                size = '"' + ",".join(map(str, row.size.values())) + '"'
                rate = f"  {row.rate:,.5g} {row.rate_unit}" if row.rate else ""
                print(f"  {ref}, {size}  {row.time_ms.median:.6g} ms{rate}")
    return wrong


COMMANDS = {"numbers": numbers, "asked": asked, "limits": sizes, "check": check, "sass": sass}


def main(words: list[str]) -> int:
    """An action, then chapters; 1 where something is wrong with one of them."""
    action, *named = words
    if not named:
        raise UsageError(f"author {action} needs a chapter: a number, a folder below chapters/ or a source")
    if action == "value":
        return 1 if value(find(named[0]), named[1:]) else 0
    return 1 if sum([COMMANDS[action](find(word)) for word in named]) else 0
