"""Which lines of a kernel ask more of the machine than their bytes need, and one sentence of advice for each.

Everything here is derived from the counts of a trace. What a line is told is its costliest problem alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from warp.base import paths
from warp.base.text import read_source
from warp.machinecode.kinds import SECTOR
from warp.trace.model import Example
from warp.trace.trace import Kernel, Totals, volume

WARP = 32

# The topics of the advice, by the chapter that has the cure.
TOPICS = {
    "01": "thread indexing",
    "02": "coalescing",
    "03": "shared memory tiles",
    "04": "register tiling",
    "05": "bank conflicts",
    "06": "transpose",
    "07": "reductions",
}

# Above these, a line has a problem. Misaligned rows (5 sectors for 4) and compare-and-exchange (two
# wavefronts a request, atomics of 8 bytes likewise) stay below.
SECTORS_TOO_MANY = 1.5
WAVEFRONTS_TOO_MANY = 1.02
ATOMICS_TOO_MANY = 2.05
WALKS = 4  # requests of a line for each warp, from which on its threads walk through memory in a loop
REQUESTS_TOO_MANY = 4.0  # for few active lanes: against the requests that full warps would make
SHARE_THAT_MATTERS = 0.05  # of the kernel's sectors and wavefronts, or of its requests for few active lanes
MEMBER = re.compile(r"(?:\]\s*\.|->)\s*[A-Za-z_]\w*(?!\w*\s*\()")  # of an element
LARGEST_STRUCTURE = 128  # bytes from lane to lane: beyond that it is rather a row
OWN_COPIES = "section 13, the histogram"  # of chapter 07
USED_WELL = 0.95  # of the moved bytes: what ragged edges leave unused is less

WIDE_ENOUGH = "Nothing to improve in its memory accesses: nvcc makes wider ones of those that leave sectors half used."


Found = tuple[float, str, str, str]  # what can be saved, what is wrong, the cure, the chapter


class Problem:
    """What is wrong with one or more lines: `excess` counts the sectors, wavefronts or requests to be saved."""

    def __init__(self, file: str, line: int, excess: float, what: str, cure: str, chapter: str) -> None:
        self.lines = [(file, line)]
        self.excess = excess
        self.what = what
        self.cure = cure
        self.chapter = chapter

    @property
    def sentence(self) -> str:
        return f"{self.what[0].upper() + self.what[1:]}: {self.cure}; see {chapter_name(self.chapter)}."

    def places(self) -> str:
        """kernel.cu:8, 10; other.cuh:3"""
        files: dict[str, list[int]] = {}
        for file, line in self.lines:
            files.setdefault(file, []).append(line)
        return "; ".join(
            "{}:{}".format(paths.shown(file), ", ".join(str(line) for line in sorted(lines)))
            for file, lines in files.items()
        )


def chapter_name(number: str) -> str:
    """`chapter 05, bank conflicts`"""
    return f"chapter {number}, {TOPICS[number]}"


def of_kernel(kernel: Kernel) -> list[Problem]:
    """The problems of a kernel's lines, costliest first; lines that are told the same stand together."""
    told: dict[str, Problem] = {}
    wide = made_wide(kernel)
    for file, lines in kernel.lines.items():
        for number in lines:
            problem = of_line(kernel, file, number, wide)
            if problem is None:
                continue
            same = told.setdefault(problem.sentence, problem)
            if same is not problem:
                same.lines += problem.lines
                same.excess += problem.excess
    # What would win next to nothing, even if all of it were mended, is not worth a word.
    least = SHARE_THAT_MATTERS * kernel.totals().cost
    small = [problem for problem in told.values() if problem.excess < least]
    if sum(problem.excess for problem in small) < least:
        told = {problem.sentence: problem for problem in told.values() if problem not in small}
    return sorted(told.values(), key=lambda problem: (-problem.excess, problem.lines[0]))


def waits(kernel: Kernel) -> str:
    """A sentence on the lines whose loads wait for another thread; "" where there are none."""
    lines = sorted(place for place in kernel.polls if _polls(kernel, *place))
    if not lines:
        return ""
    places = Problem(lines[0][0], lines[0][1], 0, "", "", "")
    places.lines = lines
    return (
        f"{places.places()}  Waits: these loads ask for the same place until another thread has written there. How many "
        "there are depends on when it does, here and on a GPU, so compare the other lines."
    )


def _polls(kernel: Kernel, file: str, number: int) -> bool:
    """Whether most loads of a line ask once more for what the one before has loaded."""
    return 2 * kernel.polls.get((file, number), 0) > kernel.totals(file, number).requests


def made_wide(kernel: Kernel) -> set[tuple[str, int, str]]:
    """{(file, line, load or store)} of global accesses that fill their sectors once nvcc has merged them."""
    if not kernel.compiled:
        return set()
    from warp.explain import lines

    return lines.made_wide(kernel, kernel.compiled, SECTORS_TOO_MANY)


def of_line(kernel: Kernel, file: str, number: int, wide: Collection[tuple[str, int, str]] = ()) -> Problem | None:
    """The costliest problem of one line, or None for a line that is fine, or that waits. `wide` is what made_wide() says."""
    if _polls(kernel, file, number):
        return None
    totals = kernel.totals(file, number)
    examples = kernel.examples_at(file, number)
    parted = _parted(kernel, totals, examples)
    if parted:  # what else its requests lack follows from it
        return Problem(file, number, *parted)
    found = [_idle_lanes(kernel, totals)]
    idle = found[0] is not None
    source = read_source(file)
    line = source[number - 1] if source and number <= len(source) else ""
    kinds = [kind for kind in ("load", "store") if (file, number, kind) not in wide]
    found += [_sectors(kernel, totals, examples, kind, idle, MEMBER.search(line)) for kind in kinds]
    found += [_banks(totals, kind) for kind in ("load", "store")] + [_copies(totals)]
    found += [_global_atomics(totals, examples), _shared_atomics(totals, examples), _shared_attempts(totals, examples)]
    problems = [problem for problem in found if problem]
    return Problem(file, number, *max(problems, key=lambda problem: problem[0])) if problems else None


def in_passing(kernel: Kernel) -> list[str]:
    """[sentence] about a kernel without a problem that is not at its best all the same: [] if it is, [""] if no line or
    launch explains what is left.

    Idle lanes of ragged last warps and edge tiles are no fault, nor is a launch of a single block.
    """
    for launch in kernel.launches:
        threads, blocks = volume(launch.block), volume(launch.grid)
        if threads % WARP and blocks > 1:
            which = "last" if threads > 2 * WARP else "second" if threads > WARP else "only"
            idle = WARP - threads % WARP
            lanes = "1 lane" if idle == 1 else f"{idle} lanes"
            return [f"Blocks of {threads} threads leave {lanes} of their {which} warp idle: take a multiple of 32."]
    atomics = _atomics_in_turns(kernel)
    if atomics:
        return [atomics]
    for file, number, kind in made_wide(kernel):
        part = kernel.totals(file, number).part(kind)
        if part.sectors > 1.02 * part.ideal_sectors:
            return [WIDE_ENOUGH]
    totals = kernel.totals()
    if not totals.moved or totals.asked >= USED_WELL * totals.moved:
        return []
    others: list[tuple[float, str, str, str]] = []
    begin: list[tuple[float, str, str, str]] = []
    for file, lines in kernel.lines.items():
        for number in lines:
            for kind in ("load", "store"):
                part = kernel.totals(file, number).part(kind)
                if not part.requests or part.lanes < WARP - 1 or part.sectors <= 1.1 * part.ideal_sectors:
                    continue
                per = f"{part.sectors / part.requests:.1f} sectors where {part.ideal_sectors / part.requests:.1f} would do"
                shown = [e for e in kernel.examples_at(file, number) if e.space == "global" and e.access == kind]
                told = begin if shown and all(_begins_inside(example) for example in shown) else others
                told.append((part.ideal_sectors - part.sectors, f"{paths.shown(file)}:{number}", kind, per))
    if not begin and not others:
        return [""]
    _, place, kind, per = min(begin or others)
    sentence = f"{100 * totals.asked / totals.moved:.0f} % of the moved bytes are used: each {kind} request at {place} takes {per}"
    if begin:
        sentence += (
            ", as it begins inside a sector; let it begin at a multiple of 32 bytes where the algorithm allows it"
        )
    return [sentence + "."]


def _atomics_in_turns(kernel: Kernel) -> str:
    """A sentence on atomics in shared memory that take more wavefronts than there are requests, if too few for advice."""
    lines = [
        (
            line.get("shared_atomic_wavefronts") - line.get("shared_atomic_requests"),
            f"{paths.shown(file)}:{number}",
            line,
        )
        for file, lines in kernel.lines.items()
        for number, line in ((number, kernel.totals(file, number)) for number in lines)
        if line.get("shared_atomic_wavefronts") > WAVEFRONTS_TOO_MANY * line.get("shared_atomic_requests")
    ]
    if not lines:
        return ""
    _, place, line = max(lines, key=lambda row: row[:2])
    per = line.get("shared_atomic_wavefronts") / line.get("shared_atomic_requests")
    return (
        f"Each shared atomic at {place} takes {per:.1f} wavefronts: lanes that meet in a bank take turns, and an "
        "atomicCAS takes two in any case."
    )


def _begins_inside(example: Example) -> bool:
    """Whether a request's lanes lie side by side, in whatever order, from an address on that is no sector's first."""
    lanes = sorted({address for address in example.addresses if address is not None})
    size = example.size
    return bool(lanes) and lanes[0] % SECTOR > 0 and all(b - a <= size for a, b in zip(lanes, lanes[1:]))


def _has_no_pattern(example: Example) -> bool:
    """Whether its lanes are apart by distances of many kinds, forwards and back."""
    lanes = [address for address in example.addresses if address is not None]
    steps = [b - a for a, b in zip(lanes, lanes[1:])]
    return len(set(steps)) > len(steps) / 2 and min(steps) < 0 < max(steps)


def _structure_at(examples: list[Example], kind: str, of_members: object) -> int:
    """By how many bytes the lanes of a request are apart, if it is by one distance and that of a structure of some
    members; else 0. Of 32 bytes and more it may as well be a matrix of few columns, unless the line names members."""
    for example in examples:
        lanes = [address for address in example.addresses if address is not None]
        steps = {b - a for a, b in zip(lanes, lanes[1:])}
        if (example.space, example.access) != ("global", kind) or len(steps) != 1:
            continue
        (step,) = steps
        if 2 * example.size < step < (LARGEST_STRUCTURE + 1 if of_members else SECTOR):
            return step
    return 0


def _sectors(
    kernel: Kernel, totals: Totals, examples: list[Example], kind: str, idle: bool, of_members: object
) -> Found | None:
    """Global loads or stores whose sectors hold more than the active lanes asked for."""
    part = totals.part(kind)
    requests, sectors, ideal = part.requests, part.sectors, part.ideal_sectors
    if not requests or sectors <= SECTORS_TOO_MANY * ideal:
        return None
    lanes = part.get(f"global_{kind}_active_lanes")
    size = part.get(f"global_{kind}_bytes") / lanes if lanes else 4
    if idle and sectors <= 1.02 * requests * size:
        return None  # no more than a full warp would take: the idle lanes are to blame
    what = f"each {kind} request takes {sectors / requests:.1f} sectors where {ideal / requests:.1f} would do"
    excess = sectors - ideal
    apart = _structure_at(examples, kind, of_members)
    if apart:
        what += f", as the lanes are {apart} bytes apart, as in an array of structures"
        cure = "give each member an array of its own, or pass the structures through shared memory"
        return excess, what, cure, "02"
    shown = [e for e in examples if (e.space, e.access) == ("global", kind)]
    if shown and all(map(_begins_inside, shown)):
        what += ", as it begins inside a sector"
        return excess, what, "let it begin at a multiple of 32 bytes where the algorithm allows it", "06"
    if sectors < 0.9 * lanes and shown and all(map(_has_no_pattern, shown)):
        what += ", at addresses that follow no pattern from lane to lane"
        cure = "where an expression makes them, let neighbouring lanes touch neighbouring elements; where data does, only the order of the data can"
        return excess, what, cure, "02"
    if sectors < 0.9 * lanes:
        return excess, what, "let neighbouring lanes touch neighbouring elements, without gaps", "02"
    if _others_are_side_by_side(kernel, requests):
        what += ", while other accesses of this kernel lie side by side"
        return excess, what, "pass the data through a tile in shared memory, so that both sides can", "06"
    cure = "let threadIdx.x run along the index whose neighbours lie side by side in memory"
    if requests >= WALKS * kernel.geometry()[1]:
        return excess, what, cure + ", or let a warp walk along each row and add up its lanes", "02"
    return excess, what, cure, "01"


def _others_are_side_by_side(kernel: Kernel, requests: int) -> bool:
    """True if the kernel makes half as many requests that fill their sectors: to swap indices would spoil those."""
    good = 0
    for lines in kernel.lines.values():
        for counts in lines.values():
            for kind in ("load", "store"):
                part = kernel.of_counts(counts).part(kind)
                moved = 32 * part.sectors
                # Broadcasts move less than was asked for; they are no sign of a direction.
                if part.requests and moved / 1.3 <= part.get(f"global_{kind}_bytes") <= moved:
                    good += part.requests
    return good >= requests / 2


def _banks(totals: Totals, kind: str) -> tuple[int, str, str, str] | None:
    """Shared loads or stores whose lanes meet in a bank."""
    requests = totals.get(f"shared_{kind}_requests")
    wavefronts = totals.get(f"shared_{kind}_wavefronts")
    conflicts = totals.get(f"shared_{kind}_bank_conflicts")
    ideal = wavefronts - conflicts
    if not requests or wavefronts <= WAVEFRONTS_TOO_MANY * ideal:
        return None
    return (
        conflicts,
        f"each shared {kind} takes {wavefronts / requests:.1f} wavefronts where {ideal / requests:.1f} would do, as lanes meet in a bank",
        "pad the rows of the tile, or shift them, so that the lanes fall into different banks",
        "05",
    )


def _copies(totals: Totals) -> Found | None:
    """Asynchronous copies whose lanes meet in a bank. They have wavefronts, but are no shared loads or stores.

    Those of 16 bytes pass the banks of L1 by: the wavefronts that are counted for them are no queue.
    """
    requests, lanes = totals.get("global_load_requests"), totals.get("global_load_active_lanes")
    if not requests or totals.shared_requests or not totals.wavefronts:
        return None
    size = totals.get("global_load_bytes") / lanes
    ideal = requests * max(1, size / 4)
    if size > 8 or totals.wavefronts <= WAVEFRONTS_TOO_MANY * ideal:
        return None
    return (
        totals.wavefronts - ideal,
        f"each asynchronous copy takes {totals.wavefronts / requests:.1f} wavefronts where {ideal / requests:.1f} would do, as lanes meet in a bank of L1 or of "
        "shared memory",
        "let neighbouring lanes read neighbouring elements, and pad the rows of the tile",
        "05",
    )


def _global_atomics(totals: Totals, examples: list[Example]) -> Found | None:
    part = totals.part("atomic")
    requests, sectors, ideal = part.requests, part.sectors, part.ideal_sectors
    if not requests or sectors <= ATOMICS_TOO_MANY * ideal:
        return None
    what = f"each atomic request takes {sectors / requests:.1f} sectors where {ideal / requests:.1f} would do"
    shown = [e for e in examples if e.access == "atomic" and e.space == "global"]
    addresses = [[a for a in e.addresses if a is not None] for e in shown]
    if shown and all(len(set(some)) == len(some) for some in addresses):
        what += ", as its lanes' addresses lie apart"
        return sectors - ideal, what, "let neighbouring lanes update neighbouring elements", "02"
    what += ", as lanes that name one address take turns"
    cure = "collect in shared memory or within the warp first, and add the sums once for each block"
    return sectors - ideal, what, cure, "07"


def _shared_atomics(totals: Totals, examples: list[Example]) -> Found | None:
    """Atomics whose lanes, all of one warp, take turns: counters for each warp would change nothing."""
    requests, wavefronts = totals.get("shared_atomic_requests"), totals.get("shared_atomic_wavefronts")
    if not requests or wavefronts <= ATOMICS_TOO_MANY * requests:
        return None
    shown = [e for e in examples if (e.space, e.access) == ("shared", "atomic")]
    what = "each shared atomic takes {:.1f} wavefronts for its {:.1f} lanes, which take turns at a bank".format(
        wavefronts / requests, totals.get("shared_atomic_active_lanes") / requests
    )
    if shown and all(len({a for a in e.addresses if a is not None}) == 1 for e in shown):
        cure = "add within the warp first, and let one lane add the sum"
    else:
        cure = f"give each lane a copy of the counters in the bank of its own number, as in {OWN_COPIES}"
    return wavefronts - requests, what, cure, "07"


def _shared_attempts(totals: Totals, examples: list[Example]) -> Found | None:
    """Additions of floats or 64 bits, which are a loop of a load and an attempt: its loads have no example."""
    attempts, loads = totals.get("shared_atomic_requests"), totals.get("shared_load_requests")
    shown = {e.access: e for e in examples if e.space == "shared"}
    if not attempts or loads < attempts or "load" in shown or "atomic" not in shown:
        return None
    banks = [address // 4 % 32 for address in shown["atomic"].addresses if address is not None]
    rounds = max(map(banks.count, banks), default=0)
    if rounds <= ATOMICS_TOO_MANY:
        return None
    wavefronts = totals.get("shared_load_wavefronts", "shared_atomic_wavefronts")
    return (
        wavefronts - wavefronts / rounds,
        f"shared memory has no unit for this operation, which becomes a loop of attempts in which up to {rounds} lanes of a "
        "warp meet in a bank and one of them succeeds each time",
        "add within the warp first, with shuffles, and let one lane add the sum",
        "07",
    )


def _parted(kernel: Kernel, totals: Totals, examples: list[Example]) -> Found | None:
    """Requests of some lanes of a warp, since a branch takes the others another way: the active lanes lie where they would in a
    whole warp, and they are not its first ones, as a guard or a tree of sums leaves them."""
    if not totals.requests or totals.lanes > 0.75 * WARP or not examples:
        return None
    if 2 * kernel.totals().divergent < totals.requests or not all(map(_is_part_of_a_row, examples)):
        return None
    branches = [
        (kernel.totals(file, number).divergent, file, number) for file in kernel.lines for number in kernel.lines[file]
    ]
    _, file, number = max(branches)
    return (
        totals.requests * (1 - totals.lanes / WARP),
        f"only {totals.lanes:.1f} of 32 lanes take part in each request, as the branch near {paths.shown(file)}:{number} parts the "
        "lanes of a warp, which then go both ways one after the other",
        "let whole warps go one way, or compute what both ways need and select",
        "07",
    )


def _is_part_of_a_row(example: Example) -> bool:
    """Whether its lanes' addresses are one element apart for each lane between them, with lanes left out in the middle or ahead."""
    active = [lane for lane, address in enumerate(example.addresses) if address is not None]
    if not active or active == list(range(len(active))):
        return False
    starts = {(example.addresses[lane] or 0) - lane * example.size for lane in active}
    return len(starts) == 1


def _writes_for_warps(kernel: Kernel, totals: Totals) -> bool:
    """True if one lane stores what its warp has made: as many requests of whole warps, or more, stand behind it."""
    stores = totals.get("global_store_requests", "shared_store_requests")
    if totals.lanes > 1 or stores < totals.requests:
        return False
    every = [kernel.of_counts(counts) for lines in kernel.lines.values() for counts in lines.values()]
    return stores <= sum(line.requests for line in every if line.lanes >= WARP / 2)


def _idle_lanes(kernel: Kernel, totals: Totals) -> Found | None:
    """Requests of few lanes each where full warps would make a fraction of them."""
    if not totals.requests or totals.lanes >= WARP / 2:
        return None
    blocks, warps, threads = kernel.geometry()
    lonely = totals.lanes == 1 and totals.requests <= warps * totals.accesses
    if threads < WARP and blocks > len(kernel.launches) and totals.lanes > 0.75 * threads:
        return (
            totals.requests * (1 - totals.lanes / WARP),
            "blocks of {} thread{} leave {} of each warp's 32 lanes idle".format(
                threads, "" if threads == 1 else "s", WARP - threads
            ),
            "launch fewer blocks, of a multiple of 32 threads",
            "01",
        )
    if lonely or _writes_for_warps(kernel, totals):
        return None
    needed = totals.requests_of_full_warps(blocks)
    if totals.requests < REQUESTS_TOO_MANY * needed:
        return None
    if totals.requests < SHARE_THAT_MATTERS * kernel.totals().requests:
        return None
    return (
        totals.requests - needed,
        f"only {totals.lanes:.1f} of 32 lanes take part in each request",
        "let neighbouring threads do the work, so that whole warps take part and the others skip it",
        "01",
    )
