"""What has changed since a kernel was explained before: counts of the last trace of the same file beside today's."""

from __future__ import annotations

from collections.abc import Iterable

from warp.base.counts import BY_NAME
from warp.base.text import thousands
from warp.trace.trace import Kernel

# What a reader's edit is meant to change. Launch shapes come first: they explain the counts below them.
COUNTS = [
    BY_NAME[name]
    for name in (
        "global_load_requests",
        "global_load_sectors",
        "global_store_requests",
        "global_store_sectors",
        "global_atomic_requests",
        "global_atomic_sectors",
        "shared_wavefronts",
        "divergent_branches",
    )
]
UNCHANGED = "counts as in the last run"


def of_kernel(before: Iterable[Kernel], kernel: Kernel) -> list[tuple[str, str]]:
    """[(text, colour)] of what changed from the kernels of the last trace; one line if nothing did, none if unknown, as of a
    run that a finding has ended, or a sample of the blocks."""
    last = next((other for other in before if other.name == kernel.name), None)
    if last is None or any(one.cut_short() or one.is_sample() for one in (last, kernel)):
        return []
    found = []
    if last.shapes() != kernel.shapes():
        found.append((f"launched as {last.shapes()} before", ""))
    for count in COUNTS:
        old, new = last.counts.get(count.name, 0), kernel.counts.get(count.name, 0)
        if old != new:
            found.append(
                (
                    f"{count.words}: {thousands(old)} before, {thousands(new)} now{by_how_much(old, new)}",
                    colour(old, new),
                )
            )
    return found or [(UNCHANGED, "")]


def colour(old: int, new: int) -> str:
    return "green" if new < old else "yellow"


def by_how_much(old: int, new: int) -> str:
    """`, 8.0 times fewer`, `, 12 % more`; nothing where one of them is 0."""
    if not old or not new:
        return ""
    less, more = sorted((old, new))
    word = "fewer" if new < old else "as many"
    if more >= 2 * less:
        return f", {more / less:.1f} times {word}"
    return f", {100 * abs(new - old) / old:.1f} % {'fewer' if new < old else 'more'}"
