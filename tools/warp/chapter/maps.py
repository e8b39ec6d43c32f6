"""Which lane touches which bank or sector, for one request of a warp, ready to be drawn.

What a request costs the simulator has said; here its lanes are placed in a picture.
"""

from __future__ import annotations

from typing import Any

SECTOR = 32
BANKS = 32
WORD = 4
LINE_BYTES = 128  # patterns this far apart are alike: the same banks, and the same places in their sectors


def pattern(example: dict[str, Any]) -> list[Any] | None:
    """A request as docs/_static/counted.js draws it: g or s for its memory, whether it stores, its bytes, and the lanes'
    addresses, as a first one and a step where that says them all. None for what no rule of addresses alone tells: an atomic
    operation in shared memory."""
    known = [address for address in example["addresses"] if address is not None]
    if not known or (example["access"] == "atomic" and example["space"] == "shared"):
        return None
    base = min(known) // LINE_BYTES * LINE_BYTES
    at: list[int | None] = [None if address is None else address - base for address in example["addresses"]]
    if len(known) == len(at) and len({b - a for a, b in zip(known, known[1:])}) == 1:
        at = [known[0] - base, known[1] - known[0]]
    return [example["space"][0], int(example["access"] == "store"), example["size"], at]


def of_example(example: dict[str, Any]) -> dict[str, list[dict[str, Any]] | str] | None:
    """A map of one request, or None if no lane is active.

    {"space": "shared", "title", "caption", "groups": [{"label", "stacks": [[word, ...] for each bank]}]}
    {"space": "global", "title", "caption", "sectors": [{"label", "words": [word or None, 8 of them]}]}
    A word is {"lanes": "0-3", "all": "lanes 0, 1, 2, 3"}: who touches these 4 bytes.
    """
    lanes = [(lane, address) for lane, address in enumerate(example["addresses"][:32]) if address is not None]
    if not lanes:
        return None
    size = example["size"]
    if example["space"] == "shared":
        # Atomics come without phases and wavefronts, which depend on the operation.
        drawn = _shared(lanes, size, example["access"], example.get("phase_lanes", 32), example.get("wavefronts"))
    else:
        drawn = _global(lanes, size)
    drawn["space"] = example["space"]
    drawn["title"] = "{} {}, {} byte{} a lane, {} active lane{}".format(
        example["space"],
        example["access"],
        size,
        "" if size == 1 else "s",
        len(lanes),
        "" if len(lanes) == 1 else "s",
    )
    if example["space"] == "global" and example["access"] == "atomic":
        again = len(lanes) - len({address for _, address in lanes})
        if again:
            drawn["caption"] += "; {} lane{} wait for another that names the same address".format(
                again,
                "" if again == 1 else "s",
            )
    return drawn


def words_of(lanes: list[tuple[int, int]], size: int) -> dict[int, list[int]]:
    """{word index: [lanes that touch it]}"""
    words: dict[int, list[int]] = {}
    for lane, address in lanes:
        for word in range(address // WORD, (address + size - 1) // WORD + 1):
            words.setdefault(word, []).append(lane)
    return words


def word_entry(lanes: list[int]) -> dict[str, str]:
    return {"lanes": short(lanes), "all": ("lane " if len(lanes) == 1 else "lanes ") + ", ".join(map(str, lanes))}


def short(lanes: list[int]) -> str:
    """5, or 0-31, or 0+3 for lane 0 and three others that do not follow one another."""
    first, last = lanes[0], lanes[-1]
    if len(lanes) == 1:
        return str(first)
    if last - first + 1 == len(lanes):
        return f"{first}-{last}"
    return f"{first}+{len(lanes) - 1}"


def _global(lanes: list[tuple[int, int]], size: int) -> dict[str, list[dict[str, Any]] | str]:
    words = words_of(lanes, size)
    sectors = sorted({word * WORD // SECTOR for word in words})
    drawn = []
    for sector in sectors:
        first = sector * SECTOR // WORD
        places = [words.get(word) for word in range(first, first + SECTOR // WORD)]
        drawn.append(
            {
                "label": f"+{(sector - sectors[0]) * SECTOR}",
                "words": [word_entry(place) if place else None for place in places],
            }
        )
    asked = len({byte for _, address in lanes for byte in range(address, address + size)})
    moved = len(sectors) * SECTOR
    caption = "{} sector{}, {} bytes moved, {} of them wanted".format(
        len(sectors),
        "" if len(sectors) == 1 else "s",
        moved,
        asked,
    )
    return {"caption": caption, "sectors": drawn}


def phases_of(lanes: list[tuple[int, int]], width: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """The lanes that go through the banks together, `width` neighbours each: (first, members)."""
    phases: dict[Any, Any] = {}
    for lane, address in lanes:
        phases.setdefault(lane // width, []).append((lane, address))
    return [(number * width, phases[number]) for number in sorted(phases)]


def _shared(lanes: list[tuple[int, int]], size: int, access: str, width: int, total: int | None) -> dict[str, Any]:
    groups, passes = [], []
    for first, members in phases_of(lanes, width):
        stacks: list[Any] = [[] for _ in range(BANKS)]
        if access == "atomic":  # most kinds serve each lane by itself, whether the words differ or not
            for lane, address in members:
                for word in range(address // WORD, (address + size - 1) // WORD + 1):
                    stacks[word % BANKS].append(word_entry([lane]))
        else:
            for word, touching in sorted(words_of(members, size).items()):
                stacks[word % BANKS].append(word_entry(touching))
        passes.append(max(len(stack) for stack in stacks))
        label = "" if width == 32 else f"lanes {first}-{first + width - 1}"
        groups.append({"label": label, "stacks": stacks})
    worst = max(passes)
    total = sum(passes) if total is None else total  # without a trace: what the phases take one by one
    if access == "atomic":  # how many wavefronts that makes depends on the operation, which no example tells
        caption = "at most {} lane{} in one bank".format(worst, "" if worst == 1 else "s")
    else:
        caption = "{} wavefront{}: at most {} word{} in one bank".format(
            total,
            "" if total == 1 else "s",
            worst,
            "" if worst == 1 else "s",
        )
    return {"caption": caption, "groups": groups}
