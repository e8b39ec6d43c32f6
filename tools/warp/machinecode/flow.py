"""The control flow of a kernel: basic blocks, dominators, natural loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from warp.machinecode.disassembly import BRANCHES, Instruction, Kernel

ENDS = {"EXIT", "RET", "KILL", "BPT"}


@dataclass
class Loop:
    """A natural loop: its blocks all lead back to its header, through which alone it is entered."""

    header: int  # address of its first instruction
    blocks: set  # indices of blocks
    instructions: list  # in the order of their addresses
    depth: int = 1  # how many loops it lies in, itself counted
    innermost: bool = True
    lines: list = field(default_factory=list)

    @property
    def last(self) -> int:
        return self.instructions[-1].address


def _always(instruction: Instruction) -> bool:
    """Whether nothing behind a branch or an end is reached: no predicate before it, none among its operands."""
    if instruction.predicate and not instruction.predicate.endswith("PT"):
        return False
    first = instruction.operands.split(",")[0].strip().lstrip("!")
    is_predicate = first[:1] == "P" or first[:2] == "UP"
    return not (instruction.opcode in BRANCHES and is_predicate and not first.endswith("PT")) and (
        "DIV" not in instruction.modifiers
    )


def blocks_of(instructions: list[Instruction]) -> tuple[list[int], list[list[int]]]:
    """([first index of each block], [[successor]]) of the basic blocks."""
    starts = {0}
    index_of = {instruction.address: index for index, instruction in enumerate(instructions)}
    for index, instruction in enumerate(instructions):
        if instruction.opcode in BRANCHES or instruction.opcode in ENDS:
            starts.add(index + 1)
            if instruction.opcode in BRANCHES and instruction.target in index_of:
                starts.add(index_of[instruction.target])
    firsts = sorted(start for start in starts if start < len(instructions))
    block_at = {first: block for block, first in enumerate(firsts)}
    successors = []
    for block, _ in enumerate(firsts):
        end = firsts[block + 1] if block + 1 < len(firsts) else len(instructions)
        last, following = instructions[end - 1], []
        leaves = last.opcode in BRANCHES or last.opcode in ENDS
        if last.opcode in BRANCHES and last.target in index_of and not last.never:
            following.append(block_at[index_of[last.target]])
        if end < len(instructions) and not (leaves and _always(last)):
            following.append(block + 1)
        successors.append(sorted(set(following)))
    return firsts, successors


def _order(successors: list[list[int]]) -> list[int]:
    """The blocks that are reached, each before those that it leads to, loops aside."""
    seen, done, stack = {0}, [], [(0, iter(successors[0]))]
    while stack:
        block, rest = stack[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(successors[following])))
                break
        else:
            done.append(block)
            stack.pop()
    return done[::-1]


def dominators(successors: list[list[int]]) -> dict[int, int]:
    """{block: its immediate dominator}, of those that are reached (Cooper, Harvey and Kennedy's algorithm)."""
    order = _order(successors)
    place = {block: index for index, block in enumerate(order)}
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for following in successors[block]:
            before[following].append(block)
    immediate = {0: 0}

    def meet(a: int, b: int) -> int:
        while a != b:
            while place[a] > place[b]:
                a = immediate[a]
            while place[b] > place[a]:
                b = immediate[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [one for one in before[block] if one in immediate]
            best = known[0]
            for one in known[1:]:
                best = meet(best, one)
            if immediate.get(block) != best:
                immediate[block] = best
                changed = True
    return immediate


def loops_of(kernel: Kernel) -> list[Loop]:
    """The natural loops of a kernel, in the order of their headers; those with one header are one loop."""
    instructions = kernel.live
    if not instructions:
        return []
    firsts, successors = blocks_of(instructions)
    immediate = dominators(successors)

    def dominates(header: int, block: int) -> bool:
        while block != header and block != 0:
            block = immediate[block]
        return block == header

    before: list[list[int]] = [[] for _ in firsts]
    for block in immediate:
        for following in successors[block]:
            before[following].append(block)
    bodies: dict[int, set[int]] = {}
    for block in immediate:
        for header in successors[block]:
            if dominates(header, block):
                body = bodies.setdefault(header, {header})
                waiting = [block]
                while waiting:
                    one = waiting.pop()
                    if one not in body:
                        body.add(one)
                        waiting += before[one]
    loops = []
    for header, body in sorted(bodies.items()):
        inside = []
        for block in sorted(body):
            end = firsts[block + 1] if block + 1 < len(firsts) else len(instructions)
            inside += instructions[firsts[block] : end]
        loops.append(Loop(instructions[firsts[header]].address, body, inside))
    for loop in loops:
        around = [other for other in loops if other is not loop and loop.blocks < other.blocks]
        loop.depth += len(around)
        for other in around:
            other.innermost = False
    return loops


def inner_loop(loops: list[Loop], weight: Callable[[Instruction], int] | None = None) -> Loop | None:
    """The innermost loop with most instructions, where a kernel spends its time; None without a loop.

    Unrolled loops leave a small one for the rest behind them: the large one is meant. `weight(instruction)` counts
    other than one for each.
    """
    innermost = [loop for loop in loops if loop.innermost]
    return max(
        innermost, key=lambda loop: (sum(map(weight or (lambda _: 1), loop.instructions)), -loop.header), default=None
    )


def iteration(kernel: Kernel, loops: list[Loop], opcode: str, bits: Callable[..., Any]) -> list[Instruction]:
    """The instructions of an iteration of the smallest loop that has most of the kernel's instructions of this opcode: of
    the ways round it those with least of inner loops, of these the ones that move most, of these the shortest. So a full
    K-tile is meant and not an edge. `bits(instruction)` are what it moves. Empty where no loop has most of them."""
    instructions = kernel.live

    def number(some: list[Instruction]) -> int:
        return sum(one.opcode == opcode for one in some)

    with_most = [loop for loop in loops if 2 * number(loop.instructions) > number(instructions)]
    if not with_most:
        return []
    loop = min(with_most, key=lambda one: len(one.instructions))
    firsts, successors = blocks_of(instructions)
    ends = [*firsts[1:], len(instructions)]
    place = {block: index for index, block in enumerate(_order(successors))}
    head = next(block for block in loop.blocks if instructions[firsts[block]].address == loop.header)
    inner = set().union(*(other.blocks for other in loops if other.blocks < loop.blocks))
    # block: the best way from it to the end of the iteration: (-blocks of inner loops, bits, -length, blocks)
    ways: dict[int, tuple[Any, ...]] = {}
    for block in sorted(loop.blocks, key=lambda block: place[block], reverse=True):
        onward = [(0, 0, 0, ())] if head in successors[block] else []
        onward += [ways[one] for one in successors[block] if one in ways and place[one] > place[block]]
        if onward:
            inside, moved, length, rest = max(onward)
            here = instructions[firsts[block] : ends[block]]
            ways[block] = (inside - (block in inner), moved + sum(map(bits, here)), length - len(here), (block, *rest))
    return [one for block in ways[head][3] for one in instructions[firsts[block] : ends[block]]]
