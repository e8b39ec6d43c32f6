"""Which lane touches which bank or sector, for one request of a warp, ready to be drawn.

What a request costs the simulator has said; here its lanes are placed in a picture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass
class Sector:
    """Its distance in bytes from the first one, and the lanes that touch each of its eight words; "" of one that none does."""

    label: str
    words: list[str]


@dataclass
class Group:
    """Lanes that go through the banks together, and for each bank the lanes of its words, one word a wavefront."""

    label: str  # "" where the whole warp does
    stacks: list[list[str]]


@dataclass
class Map:
    """What a request touches: sectors of global memory, or banks of shared memory, which groups of its lanes ask in turn."""

    caption: str
    sectors: list[Sector] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)


def of_example(example: dict[str, Any]) -> Map | None:
    """A map of one request of a trace, or None if no lane is active."""
    lanes = [(lane, address) for lane, address in enumerate(example["addresses"][:32]) if address is not None]
    if not lanes:
        return None
    size = example["size"]
    if example["space"] == "shared":
        # Atomics come without phases and wavefronts, which depend on the operation.
        return _shared(lanes, size, example["access"], example.get("phase_lanes", 32), example.get("wavefronts"))
    drawn = _global(lanes, size)
    again = len(lanes) - len({address for _, address in lanes})
    if example["access"] == "atomic" and again:
        drawn.caption += f"; {amount(again, 'lane')} wait for another that names the same address"
    return drawn


def amount(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def words_of(lanes: list[tuple[int, int]], size: int) -> dict[int, list[int]]:
    """{word index: [lanes that touch it]}"""
    words: dict[int, list[int]] = {}
    for lane, address in lanes:
        for word in range(address // WORD, (address + size - 1) // WORD + 1):
            words.setdefault(word, []).append(lane)
    return words


def short(lanes: list[int]) -> str:
    """5, or 0-31, or 0+3 for lane 0 and three others that do not follow one another; "" of none."""
    if not lanes:
        return ""
    first, last = lanes[0], lanes[-1]
    if len(lanes) == 1:
        return str(first)
    if last - first + 1 == len(lanes):
        return f"{first}-{last}"
    return f"{first}+{len(lanes) - 1}"


def _global(lanes: list[tuple[int, int]], size: int) -> Map:
    words = words_of(lanes, size)
    sectors = sorted({word * WORD // SECTOR for word in words})
    drawn = []
    for sector in sectors:
        first = sector * SECTOR // WORD
        places = [short(words.get(word, [])) for word in range(first, first + SECTOR // WORD)]
        drawn.append(Sector(f"+{(sector - sectors[0]) * SECTOR}", places))
    asked = len({byte for _, address in lanes for byte in range(address, address + size)})
    moved = len(sectors) * SECTOR
    return Map(f"{amount(len(sectors), 'sector')}, {moved} bytes moved, {asked} of them wanted", sectors=drawn)


def phases_of(lanes: list[tuple[int, int]], width: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """The lanes that go through the banks together, `width` neighbours each: (first, members)."""
    phases: dict[Any, Any] = {}
    for lane, address in lanes:
        phases.setdefault(lane // width, []).append((lane, address))
    return [(number * width, phases[number]) for number in sorted(phases)]


def _shared(lanes: list[tuple[int, int]], size: int, access: str, width: int, total: int | None) -> Map:
    groups, passes = [], []
    for first, members in phases_of(lanes, width):
        stacks: list[list[str]] = [[] for _ in range(BANKS)]
        if access == "atomic":  # most kinds serve each lane by itself, whether the words differ or not
            for lane, address in members:
                for word in range(address // WORD, (address + size - 1) // WORD + 1):
                    stacks[word % BANKS].append(short([lane]))
        else:
            for word, touching in sorted(words_of(members, size).items()):
                stacks[word % BANKS].append(short(touching))
        passes.append(max(len(stack) for stack in stacks))
        groups.append(Group("" if width == 32 else f"lanes {first}-{first + width - 1}", stacks))
    worst = max(passes)
    total = sum(passes) if total is None else total  # without a trace: what the phases take one by one
    if access == "atomic":  # how many wavefronts that makes depends on the operation, which no example tells
        return Map(f"at most {amount(worst, 'lane')} in one bank", groups=groups)
    return Map(f"{amount(total, 'wavefront')}: at most {amount(worst, 'word')} in one bank", groups=groups)
