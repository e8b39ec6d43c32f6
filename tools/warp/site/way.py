"""The way through the course on its pages: minutes, the short path, and what comes next. `./learn path` says the same."""

from __future__ import annotations

from warp.chapter.header import Header, hours
from warp.exercise.exercises import Exercise
from warp.site.markup import escape


def of_exercises(exercises: list[Exercise], short: bool = False) -> int:
    return sum(one.minutes for one in exercises if one.on_short_path or not short)


def facts(header: Header, exercises: list[Exercise]) -> str:
    """How long a chapter takes, and whether it is on the short path."""
    text = f"About {hours(header.minutes)} to read"
    if exercises:
        text += f", and {hours(of_exercises(exercises))} for its exercises"
    if not header.on_short_path:
        return text + ". Not on the short path."
    few = of_exercises(exercises, short=True)
    return text + (f", {few} of them on the short path." if few else ". On the short path.")


def paths(headers: list[Header], exercises: dict[str, list[Exercise]]) -> list[str]:
    """Both ways through the course."""
    full = sum(one.minutes + of_exercises(exercises.get(one.folder, [])) for one in headers)
    few = [one for one in headers if one.on_short_path]
    short = sum(one.minutes + of_exercises(exercises.get(one.folder, []), short=True) for one in few)
    if not short:
        return []
    names = ", ".join(one.number for one in few)
    return [
        f"All of it takes about {hours(full)} with the exercises. The short path takes {hours(short)}: chapters {names} and "
        "those of their exercises that are marked. `./learn path short` chooses it.",
        "",
    ]


# What stands behind the last chapter.
NOW = "This is the last chapter. What you have learned is for your own code:"
AND_THEN = (
    "- `./learn explain FILE.cu` counts a kernel of yours line by line; `--gpu NAME` adds the time that no GPU can beat.",
    "- [Profiling on a GPU](/profiling.md) says what to ask of Nsight Compute, and in which order.",
    "- Each chapter ends with possibilities for extension; `./learn new chapter 21_histograms` begins one of your own.",
    "- `./learn` says which exercises are still open.",
)


def end(header: Header, headers: list[Header]) -> str:
    """The end of a chapter's page: what a reader can do now, and which chapter comes next on each path."""
    later = headers[[one.folder for one in headers].index(header.folder) + 1 :]
    lines = [f"You can now {header.afterwards}."] if header.afterwards else []
    following = later[:1]
    on_short = [one for one in later if one.on_short_path][:1] if header.on_short_path else following
    if following:
        lines.append(f"Next: {link(following[0])}.")
    if header.on_short_path and on_short and on_short != following:
        lines[-1] = lines[-1][:-1] + f"; on the short path {link(on_short[0])}."
    if header.on_short_path and not on_short:
        lines.append("This is the end of the short path.")
    if following:
        return "\n".join(["## What next", "", " ".join(lines), ""])
    return "\n".join(["## What now", "", " ".join([*lines, NOW]), "", *AND_THEN, ""])


def link(header: Header) -> str:
    return f"[{header.number} {escape(header.title)}](/chapters/{header.folder}.cu)"
