"""How fast a kernel could be: the bounds of course.bounds for one launch of it, in words, and the advice that follows from them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from warp.base import paths
from warp.base.errors import UsageError
from warp.base.names import nearest, one_of
from warp.base.text import read_source
from warp.chapter.functions import find_function, mask
from warp.explain.problems import WARP, Problem
from warp.explain.problems import of_kernel as of_kernel_lines
from warp.machinecode import bounds, kinds
from warp.machinecode.bounds import Bound, Gpu
from warp.machinecode.code import Compiled
from warp.machinecode.disassembly import Instruction
from warp.trace import execution
from warp.trace.execution import ARCHITECTURES
from warp.trace.model import Launch, LeastTime, Limit, Trace
from warp.trace.trace import Kernel, counted_blocks, ratio, volume

FAR = 8  # times as long as the memory would take: then the bound of another resource is worth advice
FEW = 2  # a grid of so many times fewer blocks than there are SMs leaves the GPU idle
# Elements that each thread goes through: a tile in registers is up to 100 or so, and its grid grows with the size of the problem.
LOOPS_OF_ONE_BLOCK, LOOPS = 16, 128
RELOADS = 16  # times that a byte is loaded, from which on a tile is worth advice
SHORT = 1e-7  # seconds: what takes less, at a size as small as the simulator's, tells nothing
SHOWN = 0.01  # of the bound: what takes less is left out
MINOR = 0.25  # of what the accesses take: arithmetic in double that is shorter is told behind them
WASTE = 1.5  # times the sectors of a kernel: more are told first, if no machine code tells what double costs
IDLE = 0.6  # of a warp's lanes: with fewer in an instruction on average, a branch that parts them is worth advice
NO_MACHINE_CODE = "Instructions and wavefronts: not counted without nvcc (./learn setup --sass brings it)."


def gpu_named(name: str) -> Gpu:
    """The GPU of --gpu; UsageError with the nearest and the legal names."""
    try:
        return bounds.gpu(name or bounds.DEFAULT)
    except KeyError:
        known = list(bounds.gpus())
        near = nearest(name, [one.replace(" ", "_") for one in known])
        meant = f"did you mean {one_of(one.replace('_', ' ') for one in near)}? " if near else ""
        raise UsageError(f"--gpu {name}: there is no such GPU in the table; {meant}Legal are {', '.join(known)}")


class Speed:
    """The bound of the launch of a kernel that has the highest one."""

    def __init__(
        self, launch: Launch, bounds_found: list[Bound], gpu: Gpu, registers: int = 0, shared: int = 0
    ) -> None:
        self.launch = launch
        self.bounds = bounds_found
        self.gpu = gpu
        self.shape = execution.shape_of(launch)
        self.registers = registers  # of a thread; 0: not known
        self.resident = bounds.residency(self.shape, gpu, registers, shared + (launch.dynamic_shared or 0))

    @property
    def limit(self) -> Bound:
        return self.bounds[0]

    def seconds(self, *resources: Any) -> float:
        """The longest of these alone; 0 where none is known."""
        return max((bound.seconds for bound in self.bounds if bound.resource in resources), default=0.0)

    @property
    def memory(self) -> float:
        """What DRAM takes for all that is touched, also what might stay in L2 at this size."""
        return self.launch.distinct() * bounds.SECTOR / (self.gpu.dram_gb_s * 1e9)

    @property
    def work(self) -> Bound | None:
        """The bound of the work, if only to be launched takes longer; None elsewhere."""
        return self.bounds[1] if self.limit.resource == bounds.LAUNCH and len(self.bounds) > 1 else None

    def is_far(self) -> bool:
        """Whether something else than the memory, and than to be launched at all, takes many times as long."""
        others = [bound for bound in self.bounds if bound.resource not in (bounds.DRAM, bounds.L2, bounds.LAUNCH)]
        return bool(others) and others[0].seconds >= max(FAR * self.memory, SHORT)

    def farthest(self) -> Bound:
        return next(bound for bound in self.bounds if bound.resource not in (bounds.DRAM, bounds.L2, bounds.LAUNCH))

    def as_limit(self) -> Limit:
        """As the trace has it."""
        bounds_found = [LeastTime(bound.resource, bound.seconds, bound.what) for bound in self.bounds]
        return Limit(self.gpu.name, self.limit.seconds, self.limit.resource, bounds_found)


def of_launch(launch: Launch, gpu: Gpu, compiled: Sequence[Compiled] = ()) -> Speed | None:
    """The Speed of one launch; None of one of which only a sample was counted, or nothing at all."""
    if counted_blocks(launch) != volume(launch.grid) or launch.global_sectors_read_distinct is None:
        return None
    found = bounds.of_launch(execution.counts_of(launch), execution.shape_of(launch), gpu)
    if not found:
        return None
    # Of several instances of a template it is not known here which one ran.
    one = compiled[0].resources if len(compiled) == 1 else None
    return Speed(launch, found, gpu, one.registers if one else 0, one.shared if one else 0)


def of_kernel(kernel: Kernel, gpu: Gpu) -> Speed | None:
    """The Speed of its launch with the highest bound, None where no launch has one."""
    if kernel.cut_short():
        return None
    found = [speed for speed in (of_launch(launch, gpu, kernel.compiled) for launch in kernel.launches) if speed]
    return max(found, key=lambda speed: speed.limit.seconds, default=None)


def why_none(kernel: Kernel) -> str:
    """A sentence on why a kernel has no bound; "" where its trace tells nothing, or it did not come to its end."""
    launches = [launch for launch in kernel.launches if launch.dynamic_shared is not None and counted_blocks(launch)]
    if not launches or kernel.cut_short():
        return ""
    if any(counted_blocks(launch) < volume(launch.grid) for launch in launches):
        return "No bound: only a sample of the blocks was counted."
    return "No bound: the accesses lie so far apart that the sectors were not counted once each."


def note_bounds(trace: Trace, gpu: Gpu, compiled: Sequence[Any] = ()) -> None:
    """Puts each launch's bound into the trace, as `bound`."""
    for launch in trace.launches:
        speed = of_launch(launch, gpu, compiled)
        if speed:
            launch.bound = speed.as_limit()


# ---- in words -------------------------------------------------------------------------------------


def heading(speed: Speed) -> str:
    """`At least 0.50 ms on an H200, bound by DRAM; a bound, not a measurement.`"""
    work = f" ({speed.work.resource} alone: {bounds.in_time(speed.work.seconds)})" if speed.work else ""
    return (
        f"At least {bounds.in_time(speed.limit.seconds)} on {with_article(speed.gpu.name)}, bound by {speed.limit.resource}{work}; "
        "a bound, not a measurement."
    )


def with_article(name: str) -> str:
    return ("an " if name[0] in "AHR" else "a ") + name


def rows(speed: Speed) -> list[tuple[str, str, str]]:
    """[(resource, time, what)], the slowest first."""
    least = SHOWN * (speed.work or speed.limit).seconds
    return [
        (bound.resource, bounds.in_time(bound.seconds), bound.what) for bound in speed.bounds if bound.seconds >= least
    ]


def notes(kernel: Kernel, speed: Speed) -> Iterator[str]:
    """Sentences on the grid, and on what is not counted."""
    yield grid_in_words(speed)
    warm = _warm(speed)
    if warm:
        yield warm
    if len(kernel.launches) > 1:
        yield f"This is launch {speed.launch.index}, the one of {len(kernel.launches)} with the highest bound."
    if execution.executed_of(speed.launch):
        if speed.gpu.architecture not in ARCHITECTURES:
            yield "Instructions and wavefronts are those of the machine code for compute capability 9.0."
        return
    if speed.launch.compiled and speed.launch.compiled.executed:
        yield "Instructions and wavefronts: not counted, as some loads wait for another thread, and how often is not known."
    elif kernel.compiled:
        yield "Instructions and wavefronts: not counted, as the simulator has not carried out the machine code."
    else:
        yield NO_MACHINE_CODE
    if problems(kernel, speed.gpu):
        yield from branch(kernel, speed)


def branch(kernel: Kernel, speed: Speed | None) -> Iterator[str]:
    """A sentence on the branch that parts lanes often, where no advice is about that and no machine code tells what it costs."""
    if speed and not execution.executed_of(speed.launch) and _part_often(kernel) and not of_kernel_lines(kernel):
        most, (file, number) = max((kernel.totals(*place).divergent, place) for place in _places(kernel))
        yield (
            f"The branch near {paths.shown(file)}:{number} parts the lanes of a warp {most:,} times: they go both ways one after "
            "the other, and how long these take shows in the machine code alone."
        )


def _warm(speed: Speed) -> str:
    """A sentence on the bound behind a launch that leaves in L2 what this one reads; "" where DRAM does not set the bound."""
    counts = execution.counts_of(speed.launch)
    reads = bounds.SECTOR * counts.get("global_sectors_read_distinct", 0)
    if not reads or (speed.work or speed.limit).resource != bounds.DRAM:
        return ""
    first, *others = bounds.of_launch(counts, speed.shape, speed.gpu, follows=True)
    if first.resource == bounds.LAUNCH and others:
        first = others[0]
    stays = bounds.in_bytes(min(reads, speed.gpu.l2_mib * 2**20))
    return (
        f"What is read is taken to come from DRAM. Where an earlier launch has left {stays} of it in L2, the bound is "
        f"{bounds.in_time(first.seconds)}, by {first.resource}."
    )


def _part_often(kernel: Kernel) -> bool:
    """Whether the lanes part at least once in every second warp."""
    warps = sum(volume(launch.grid) * bounds.warps_of(execution.shape_of(launch)) for launch in kernel.launches)
    return 2 * kernel.totals().divergent >= warps


def grid_in_words(speed: Speed) -> str:
    """`Grid: 40 blocks of 8 warps on 132 SMs, of which 40 get one; an SM holds 8 (threads).`"""
    blocks, warps, sms = volume(speed.shape.grid), bounds.warps_of(speed.shape), speed.gpu.sms
    text = f"Grid: {blocks:,} block{'s' * (blocks != 1)} of {warps} warp{'s' * (warps != 1)}"
    if speed.shape.fills:
        text += "; the program asks for the number of SMs, so that it may be larger on a GPU than here"
    elif blocks < sms:
        text += f", so that {blocks} of {sms} SMs get one"
    else:
        text += f" on {sms} SMs"
    if speed.resident and speed.resident.blocks:
        fit = speed.resident.blocks
        most = "" if speed.registers else "at most "
        text += f"; an SM has room for {most}{fit} ({speed.resident.by})"
        if not speed.shape.fills and blocks > fit * sms:
            text += f": {blocks / (fit * sms):.1f} waves"
    return text + "."


# ---- advice ---------------------------------------------------------------------------------------


class WholeProblem(Problem):
    """What is wrong with the launch and with no line of it alone, or with lines that no count has led to."""

    def __init__(self, rule: str, what: str, cure: str, chapter: str, lines: Sequence[tuple[str, int]] = ()) -> None:
        super().__init__("", 0, 0, what, cure, chapter)
        self.rule = rule  # its name in SARIF
        self.lines = list(lines)
        self.is_minor = False  # told last: something else costs more

    @property
    def sentence(self) -> str:
        return super().sentence if self.chapter else f"{self.what[0].upper() + self.what[1:]}: {self.cure}."

    def places(self) -> str:
        return super().places() if self.lines else "The launch"


def problems(kernel: Kernel, gpu: Gpu) -> list[WholeProblem]:
    """[WholeProblem] that the bounds show, the worst first."""
    speed = of_kernel(kernel, gpu)
    found = [
        _no_room(speed),
        _few_blocks(kernel, speed),
        _one_warp(speed),
        _double(kernel, speed),
        _one_word(kernel, speed),
    ]
    found += [_parted(kernel, speed), _reloads(kernel, speed), _local(kernel)]
    return [problem for problem in found if problem]


def _no_room(speed: Speed | None) -> WholeProblem | None:
    """A block that no SM can hold, which the simulator cannot know: it has no registers."""
    if not speed or not speed.resident or speed.resident.blocks or speed.resident.by != "registers":
        return None
    threads = volume(speed.shape.block)
    return WholeProblem(
        "too-many-registers",
        f"{with_article(speed.gpu.name)} refuses this launch with cudaErrorLaunchOutOfResources: nvcc gives each thread "
        f"{speed.registers} registers, and {threads:,} threads take more than the 65,536 of an SM",
        f"launch smaller blocks, or write __launch_bounds__({threads}) beside __global__, which makes nvcc spill some of them",
        "",
    )


def _few_blocks(kernel: Kernel, speed: Speed | None) -> WholeProblem | None:
    if not speed or speed.shape.fills:
        return None
    blocks, sms = volume(speed.shape.grid), speed.gpu.sms
    threads = blocks * volume(speed.shape.block)
    touched = speed.launch.distinct()
    if not touched:  # managed memory, whose sectors are not told apart
        touched = sum(speed.launch.counts.get(f"global_{kind}_sectors", 0) for kind in ("load", "store"))
    elements = touched * bounds.SECTOR / 4  # of 4 bytes: of smaller ones there are more
    least = LOOPS_OF_ONE_BLOCK if blocks == 1 else LOOPS
    if blocks > max(4, sms // FEW) or elements < least * threads or elements / 256 < 2 * blocks:
        return None
    of_warps = ", of one warp," if threads == blocks * WARP else ""
    who = f"The only block{of_warps} keeps" if blocks == 1 else f"The {blocks} blocks{of_warps} keep"
    found = WholeProblem(
        "few-blocks",
        f"{who} {blocks} of {sms} SMs busy, while each thread goes through about {elements / threads:,.0f} elements of 4 bytes",
        "launch more blocks, and let each thread do less",
        "01",
    )
    found.is_minor = _waste(kernel) > sms / blocks  # the lines waste more than the idle SMs
    return found


def _one_warp(speed: Speed | None) -> WholeProblem | None:
    if not speed or volume(speed.shape.block) != WARP or not speed.resident:
        return None
    if volume(speed.shape.grid) <= speed.gpu.sms or speed.resident.share > 0.5:
        return None
    return WholeProblem(
        "one-warp",
        f"Blocks of one warp: an SM has room for {speed.resident.blocks} blocks, and so for {speed.resident.blocks} of the "
        f"{speed.resident.limit} warps that it could hold",
        "take blocks of 128 to 256 threads",
        "01",
    )


def _one_word(kernel: Kernel, speed: Speed | None) -> WholeProblem | None:
    if not speed:
        return None
    operations = execution.counts_of(speed.launch).get("global_atomics_on_one_word", 0)
    atomics = speed.seconds(bounds.ATOMICS)
    if operations < 64 or atomics < FAR * speed.memory:
        return None
    counted = [
        (kernel.totals(file, number).part("atomic").requests, (file, number)) for file, number in _places(kernel)
    ]
    most, place = max(counted, default=(0, ("", 0)))
    return WholeProblem(
        "one-word",
        f"{operations:,} atomic operations meet on one word, and a GPU carries them out one after the other: "
        f"{bounds.in_time(atomics)} where the memory takes {bounds.in_time(speed.memory)}",
        "collect within the warp and the block first, and add one sum for each block",
        "07",
        [place] if most else (),
    )


def _parted(kernel: Kernel, speed: Speed | None) -> WholeProblem | None:
    """Instructions of few lanes, where the accesses do not show it."""
    executed = execution.executed_of(speed.launch) if speed else {}
    if not executed or executed["lanes"] >= IDLE * WARP * executed["issued"] or of_kernel_lines(kernel):
        return None
    if not _part_often(kernel):
        return None
    most, place = max((kernel.totals(*place).divergent, place) for place in _places(kernel))
    return WholeProblem(
        "parted-lanes",
        f"on average {executed['lanes'] / executed['issued']:.1f} of 32 lanes take part in an instruction, as the branch near here parts "
        f"the lanes of a warp {most:,} times, which then go both ways one after the other",
        "let whole warps go one way, or compute what both ways need and select",
        "07",
        [place],
    )


# Functions that keep something on the stack, whatever the reader does.
ON_THE_STACK = re.compile(r"\b((sin|cos|tan|sincos|sinpi|cospi|fmod|remainder)f?|printf|assert)\s*\(")


def _local(kernel: Kernel) -> WholeProblem | None:
    """An array of a thread's own that nvcc keeps in memory, of which the simulator counts nothing."""
    if len(kernel.compiled) != 1 or not kernel.compiled[0].resources.stack:
        return None  # of several instances of a template it is not known which one ran
    (one,) = kernel.compiled
    places = [place for place in _compiled_at(kernel, _is_local) if not _line_has(place, ON_THE_STACK)]
    if not places:
        return None
    count = kinds.accesses([instruction for instruction in one.instructions if _is_local(instruction)])
    loads, stores = (sum(n for (_, how, _), n in count.items() if how == access) for access in ("load", "store"))
    return WholeProblem(
        "local-memory",
        f"{one.resources.stack:,} bytes of each thread's own lie in local memory, that is in L1 and DRAM, and the machine code has "
        f"{loads:,} loads and {stores:,} stores of them, which are not counted here",
        "registers have no index, so make arrays small, and each index into them known when nvcc compiles, as in a loop that "
        "#pragma unroll unrolls whole",
        "04",
        places,
    )


def _is_local(instruction: Instruction) -> bool:
    return kinds.kind(instruction) == "local" and not instruction.never


def _line_has(place: tuple[str, int], pattern: re.Pattern[str]) -> bool:
    source = read_source(place[0]) or []
    return place[1] <= len(source) and bool(pattern.search(source[place[1] - 1]))


def _reloads(kernel: Kernel, speed: Speed | None) -> WholeProblem | None:
    """The same bytes from L1 again and again, in requests that are well formed. Without the machine code it is not known how long
    that takes, so there have to be more of them."""
    if not speed or of_kernel_lines(kernel):
        return None
    is_timed = bool(execution.executed_of(speed.launch))
    if is_timed and not (speed.is_far() and speed.farthest().resource == bounds.L1):
        return None
    distinct = speed.launch.global_sectors_read_distinct
    loaded = speed.launch.counts.get("global_load_sectors", 0)
    if not distinct or loaded < (RELOADS if is_timed else 4 * RELOADS) * distinct:
        return None
    most, place = max((kernel.totals(*place).part("load").sectors, place) for place in _places(kernel))
    if 2 * most < loaded:
        return None
    what = f"{bytes_in_words(loaded)} are loaded of {bytes_in_words(distinct)}, each byte about {loaded / distinct:,.0f} times"
    if is_timed:
        through_l1, memory = bounds.in_time(speed.farthest().seconds), bounds.in_time(speed.memory)
        what += f", and what passes through L1 takes {through_l1}, the memory {memory}"
    cure = (
        "let a block load a tile into shared memory once and use it many times, and a thread what it has in registers"
    )
    return WholeProblem("reloads", what, cure, "03", [place])


def bytes_in_words(sectors: float) -> str:
    size = sectors * bounds.SECTOR
    unit, name = next(
        (unit, name) for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1, "bytes")) if size >= unit
    )
    return f"{size / unit:,.3g} {name}"


def home(kernel: Kernel) -> list[tuple[str, int]]:
    """[(file, line)] of the kernel's name, [] where its source is not found."""
    for file in kernel.lines:
        source = read_source(file)
        found = source and find_function("\n".join(source), kernel.function)
        if found:
            return [(file, found.name_line)]
    return []


def _places(kernel: Kernel) -> list[tuple[str, int]]:
    return [(file, number) for file, lines in kernel.lines.items() for number in lines]


# ---- double by accident ----------------------------------------------------------------------------

NUMBER = r"(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])"  # a literal of type double
OPERAND = r"[\w)\]]"
MIXED = re.compile(rf"{OPERAND}\s*[-+*/]=?\s*{NUMBER}|{NUMBER}\s*[-+*/]\s*[A-Za-z_(]")
DOUBLE = re.compile(r"\bdouble\b")
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def _double(kernel: Kernel, speed: Speed | None) -> WholeProblem | None:
    """Arithmetic in double in a kernel whose parameters have none."""
    lines = double_lines(kernel)
    if lines is not None and kernel.compiled:
        lines = _compiled_to_double(kernel)
    executed = execution.executed_of(speed.launch) if speed else {}
    if lines is None or (not lines and not executed.get("fp64")) or (executed and not executed.get("fp64")):
        return None
    gpu = speed.gpu if speed else bounds.gpu()
    amount = f"{executed['fp64']:,} instructions of warps compute" if executed else "Part of the arithmetic is"
    found = WholeProblem(
        "double",
        f"{amount} in double, though no parameter is one: an SM of {with_article(gpu.name)} has {gpu.fp64} lanes for it, and "
        f"{gpu.fp32} for float",
        "write 0.5f for 0.5, float for double, and sinf() for sin() of a double, if float is exact enough",
        "",
        lines,
    )
    found.is_minor = _is_minor(speed) if executed else _waste(kernel) > WASTE
    return found


def _is_minor(speed: Speed | None) -> bool:
    """Whether the arithmetic in double takes far less than the accesses."""
    if not speed:
        return False
    accesses = speed.seconds(bounds.L1, bounds.DRAM, bounds.SHARED, bounds.ATOMICS)
    return speed.seconds(bounds.NAMES["fp64"]) < MINOR * accesses


def _waste(kernel: Kernel) -> float:
    """How many times the sectors and wavefronts that its bytes need a kernel takes, where advice is about that."""
    totals = kernel.totals()
    return ratio(totals.cost, totals.ideal_sectors + totals.ideal_wavefronts) if of_kernel_lines(kernel) else 1.0


def double_lines(kernel: Kernel) -> list[tuple[str, int]] | None:
    """[(file, line)] of the kernel, and of what it calls in its file, that mix a double into what may be meant as float; None
    where double is meant, or nothing is known."""
    for file in kernel.lines:
        source = "\n".join(read_source(file) or [])
        if not find_function(source, kernel.function):
            continue
        if DOUBLE.search(kernel.name):
            return None
        found = _doubles_of(source, kernel.function, set())
        return found if found is None else [(file, number) for number in sorted(found)]
    return None


def _doubles_of(source: str, name: str, seen: set[str]) -> set[int] | None:
    """The lines of a function and of those that it calls; None where its head has a double, or there is no such function."""
    seen.add(name)
    found = find_function(source, name)
    text = mask(source).split("\n")
    body = range(found.first, found.last + 1) if found else range(0)
    head, _, inside = "\n".join(text[number - 1] for number in body).partition("{")
    if not found or DOUBLE.search(head):
        return None
    lines = {
        number
        for number in body
        if MIXED.search(text[number - 1]) or (DOUBLE.search(text[number - 1]) and number > found.first)
    }
    for called in CALL.findall(inside):
        if called not in seen:
            lines |= _doubles_of(source, called, seen) or set()
    return lines


def _compiled_to_double(kernel: Kernel) -> list[tuple[str, int]]:
    """The lines of the source that have FP64 instructions."""
    return _compiled_at(kernel, lambda instruction: bounds.unit_of(instruction) == "fp64")


def _compiled_at(kernel: Kernel, is_meant: Callable[[Instruction], bool]) -> list[tuple[str, int]]:
    """[(file, line)] of the source that have such instructions."""
    known = {os.path.realpath(file): file for file in kernel.lines}  # which may be named from the folder of the reader
    found = {
        (known[os.path.realpath(file)], line)
        for one in kernel.compiled
        for instruction in one.instructions
        if is_meant(instruction)
        for file, line in instruction.places
        if os.path.realpath(file) in known
    }
    return sorted(found)


def in_short(speed: Speed | None) -> str:
    """What to say where the accesses are as few as the bytes need and something else takes many times as long; "" elsewhere."""
    if not speed or not speed.is_far():
        return ""
    bound = speed.farthest()
    return (
        f"Sectors, wavefronts and lanes are what the bytes need, and the memory takes {bounds.in_time(speed.memory)} at least. What "
        f"takes longer is {bound.resource}: {bounds.in_time(bound.seconds)}."
    )
