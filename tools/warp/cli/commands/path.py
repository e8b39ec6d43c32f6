"""./learn path: the way through the course with its minutes; chooses the short or the full one."""

from __future__ import annotations

from warp.base import progress, ui
from warp.base.errors import UsageError
from warp.chapter.chapters import Chapter
from warp.chapter.header import hours
from warp.cli.options import Arguments
from warp.cli.way import CHOSEN, PATHS, Way, in_minutes
from warp.exercise.exercises import Exercise


def main(arguments: Arguments) -> int:
    words = arguments.words
    if len(words) > 1 or (words and words[0] not in PATHS):
        raise UsageError("path takes short or full, or nothing: then it shows where you are")
    if words:
        progress.change(lambda kept: kept.__setitem__(CHOSEN, words[0]))
    way, paint = Way(), ui.palette()
    for path in PATHS:
        whole, done = way.minutes(path)
        mark = "  (yours)" if path == way.path else f"  ./learn path {path}"
        ui.say(f"{paint('bold', path):<5}  {hours(whole)}, of which {hours(done)} done{mark}")
    ui.say()
    for chapter in way.chapters:
        if not way.is_on(chapter):
            continue
        mine = way.exercises_of(chapter)
        box = "x" if way.is_done(chapter) else " "
        title = paint("bold", chapter.title) + in_minutes(chapter, ", {} min")
        ui.say(f"[{box}] {chapter.number} {title}" + short(way, chapter))
        for one in mine:
            box = "x" if way.is_done(one) else "-" if way.records[one.key].later else " "
            ui.say(f"    [{box}] {one.name}, {one.minutes} min" + short(way, one))
    ui.say()
    for line in next_lines(way):
        ui.say(line)
    return 0


def short(way: Way, one: Chapter | Exercise) -> str:
    return "  (short path)" if way.path == "full" and one.on_short_path else ""


def next_lines(way: Way) -> list[str]:
    """What comes next, as `./learn` and `./learn path` end."""
    step = way.next()
    if step is None:
        return way.end()
    return ["Next: {}  {}".format(ui.palette()("bold", step.command), step.why)]
