"""The time below which no GPU of a kind can run a launch, resource by resource: bounds, not measurements.

    found = of_launch(counts, shape, gpu("H200"))
    found[0]     the resource that sets the bound; found[0].seconds is the bound

`counts` has, by name, what is known of the launch; what it lacks is in no bound:

- global_sectors_read_distinct, global_sectors_written_distinct: sectors that the launch touches, each once
- global_atomics_on_one_word: lanes' atomic operations on the word that has most of them
- what no instruction of the machine code tells: tensor_fmas (multiplications of BF16 by tensor cores; one of TF32 counts for two,
  one of 8 bits for half),
  host_bytes and peer_bytes (that cross the link to the host or to another GPU, one way)
- and of its machine code, as nvcc compiles it: issued (instructions of warps), the same by unit as in UNITS, shared_wavefronts,
  l1_wavefronts (passes of 128 bytes, at least: one for every four whole sectors of a request). The source's own counts will not
  do: nvcc merges accesses, and keeps values in registers.

A resource is taken as if nothing else took time and each cycle were used. What is written may stay in L2 until after the launch, so
that only what L2 has no room for counts for DRAM; what is read is taken to come from DRAM: L2 is cold. DRAM never reaches the rate of
its pins, as rows have to be opened and refreshed, and it turns around between reads and writes: where the course has measured how much
the best kernels reach, that is its rate.
"""

from __future__ import annotations

import collections
import functools
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from warp.machinecode import kinds, occupancy
from warp.machinecode.disassembly import Instruction
from warp.machinecode.occupancy import Limits

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpus.json")
DEFAULT = "H200"
SECTOR = 32  # bytes
LINE = 128
WARP = 32
PARTITIONS = 4  # of an SM: each issues an instruction a cycle

# Three extents each; `fills`: on a GPU the grid is larger, as it follows the number of SMs.
Shape = collections.namedtuple("Shape", "grid block fills", defaults=(False,))

# Units of an SM -> the opcodes that go through them and nowhere else. Others count for the issue slots alone: moves, IMAD and
# what compares may go through one unit or another.
UNITS = {
    "fp32": ("FFMA", "FADD", "FMUL"),
    "fp64": ("DFMA", "DADD", "DMUL", "DSETP"),
    "int32": ("IADD3", "LOP3", "SHF", "ISETP", "LEA"),
    "special": ("MUFU",),
}
UNIT_OF = {opcode: unit for unit, opcodes in UNITS.items() for opcode in opcodes}
NAMES = {"fp32": "FP32 instructions", "fp64": "FP64 instructions", "int32": "integer instructions"}
NAMES["special"] = "special functions"

DRAM, L2, L1, SHARED = "DRAM", "L2", "L1", "shared memory"
TENSOR, HOST, PEER = "tensor cores", "link to the host", "link to the other GPU"
ATOMICS, ISSUE, LAUNCH = "atomics on one word", "issue slots", "the launch itself"
BLOCKS = "starts of blocks"
IN_TURN = "launches in turn"  # the slowest resource of each, one launch after the other


@dataclass(frozen=True)
class Bound:
    """What one resource takes alone."""

    resource: str
    seconds: float
    what: str  # what there is to do, and how fast it goes


@dataclass(frozen=True)
class Gpu:
    """One row of gpus.json, with the figures of its compute capability from machinecode.occupancy."""

    name: str
    capability: str
    sms: int
    clock_mhz: float
    dram_gb_s: float
    l2_mib: float
    fp32: int  # lanes of an SM
    fp64: int
    int32: int
    special: int
    shared_bytes: int  # a cycle and SM
    l2_sectors: float  # a cycle; None: neither published nor measured
    atomics: float  # on one word, a cycle
    launch_us: float
    blocks: float  # that the whole GPU starts, a cycle
    tensor: int  # FMAs of BF16 with FP32 sums, a cycle and SM; None: it has none
    dram_reads: float  # share of dram_gb_s that reads reach, and writes; None: not measured
    dram_writes: float
    host_gb_s: float  # one way, as measured
    peer_gb_s: float
    sources: dict  # figure -> where it comes from

    @property
    def architecture(self) -> str:
        return "sm_" + self.capability.replace(".", "")

    @property
    def limits(self) -> Limits | None:
        return occupancy.limits(self.architecture)

    @property
    def cycles_a_second(self) -> float:
        return self.clock_mhz * 1e6


@functools.cache
def gpus() -> dict[str, Gpu]:
    """{name: Gpu} in the order of the table."""
    with open(TABLE, encoding="utf-8") as file:
        table = json.load(file)
    found = {}
    for row in table["gpus"]:
        row = dict(row)
        origin = row.pop("from")
        sources = {figure: table["sources"][key] for key, figures in origin.items() for figure in figures.split()}
        found[row["name"]] = Gpu(**row, sources=sources)
    return found


def gpu(name: str = DEFAULT) -> Gpu:
    """The Gpu of a name, whatever its case and blanks; KeyError for one that the table lacks."""
    plain = _plain(name)
    return next((one for known, one in gpus().items() if _plain(known) == plain), None) or gpus()[name]


def _plain(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "").replace("_", "")


def of_launch(counts: dict[str, int], shape: Shape, of: Gpu, follows: bool = False) -> list[Bound]:
    """[Bound] of a launch on the Gpu `of`, the slowest first; never empty where the Gpu has a launch floor or a byte is touched.
    `follows`: another launch was before it, and L2 may hold what that has touched."""
    found = _memory(counts, of, follows) + _instructions(counts, shape, of) + _links(counts, of)
    if of.blocks and not shape.fills:
        number = volume(shape.grid)
        found.append(Bound(BLOCKS, number / of.blocks / of.cycles_a_second, f"{number:,}, {of.blocks} a cycle"))
    atomics = counts.get("global_atomics_on_one_word", 0)
    if atomics > 1:
        found.append(Bound(ATOMICS, atomics / of.atomics / of.cycles_a_second, f"{atomics:,}, one after the other"))
    if of.launch_us:
        found.append(Bound(LAUNCH, of.launch_us * 1e-6, "whatever it does"))
    return sorted(found, key=lambda bound: -bound.seconds)


def _memory(counts: dict[str, int], of: Gpu, follows: bool) -> list[Bound]:
    read = counts.get("global_sectors_read_distinct")
    if read is None:
        return []
    l2, found = int(of.l2_mib * 2**20), []
    written = counts.get("global_sectors_written_distinct", 0)
    stays = min(SECTOR * written, l2)
    is_there = min(SECTOR * read, l2) if follows else 0
    reads, writes = SECTOR * read - is_there, SECTOR * written - stays
    if reads or writes:
        pins = of.dram_gb_s * 1e9
        beside = min(writes, reads)  # of what is written alone no kernel has shown the rate: that of the pins
        seconds = (
            reads / (pins * (of.dram_reads or 1)) + beside / (pins * (of.dram_writes or 1)) + (writes - beside) / pins
        )
        where = "" if stays == 0 else f"; {in_bytes(stays)} more may stay in L2"
        rate = f"{(reads + writes) / seconds / 1e9:,.0f} GB/s"
        found.append(Bound(DRAM, seconds, f"{in_bytes(reads + writes)} at {rate}{where}"))
    if of.l2_sectors:
        sectors = read + written  # stores of several requests to one sector may be merged on the way
        seconds = sectors / of.l2_sectors / of.cycles_a_second
        if sectors:
            most = of.l2_sectors * SECTOR * of.cycles_a_second / 1e9
            found.append(Bound(L2, seconds, f"{in_bytes(SECTOR * sectors)} at {most:,.0f} GB/s"))
    return found


def _links(counts: dict[str, int], of: Gpu) -> list[Bound]:
    found = []
    for resource, name, rate in ((HOST, "host_bytes", of.host_gb_s), (PEER, "peer_bytes", of.peer_gb_s)):
        if counts.get(name) and rate:
            number = counts[name]
            found.append(Bound(resource, number / (rate * 1e9), f"{in_bytes(number)} one way at {rate:,} GB/s"))
    return found


def filled(shape: Shape, of: Gpu) -> tuple[int, int]:
    """(SMs, partitions of SMs) that a grid can keep busy."""
    blocks, warps = volume(shape.grid), warps_of(shape)
    if shape.fills:
        return of.sms, PARTITIONS * of.sms
    return min(of.sms, blocks), min(PARTITIONS * of.sms, blocks * min(PARTITIONS, warps))


def _instructions(counts: dict[str, int], shape: Shape, of: Gpu) -> list[Bound]:
    sms, partitions = filled(shape, of)
    found = []

    def add(resource: str, amount: int, cycles: float, what: str) -> None:
        if amount:
            found.append(Bound(resource, cycles / of.cycles_a_second, what))

    issued = counts.get("issued", 0)
    add(
        ISSUE,
        issued,
        issued / partitions,
        f"{issued:,} instructions of warps on {partitions:,} scheduler{'s' if partitions > 1 else ''}",
    )
    for unit, name in NAMES.items():
        amount, lanes = counts.get(unit, 0), getattr(of, unit)
        cycles = amount * WARP / (lanes / PARTITIONS) / partitions
        add(name, amount, cycles, f"{amount:,} of warps, {lanes} lanes a cycle and SM")
    if of.tensor:
        fmas = counts.get("tensor_fmas", 0)
        add(TENSOR, fmas, fmas / of.tensor / sms, f"{fmas:,} FMAs on {_some(sms, 'SM')}, {of.tensor:,} a cycle")
    wavefronts = counts.get("shared_wavefronts", 0)
    cycles = wavefronts * LINE / of.shared_bytes / sms
    add(SHARED, wavefronts, cycles, f"{wavefronts:,} wavefronts on {_some(sms, 'SM')}, one a cycle")
    # Without machine code: what is touched has to pass through the L1 of some SM once.
    touched = SECTOR * (
        counts.get("global_sectors_read_distinct", 0) + counts.get("global_sectors_written_distinct", 0)
    )
    through = LINE * counts.get("l1_wavefronts", 0) or touched
    rate = f"{of.shared_bytes} bytes a cycle"
    add(L1, through, through / of.shared_bytes / sms, f"{in_bytes(through)} on {_some(sms, 'SM')}, {rate}")
    return found


def _some(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def unit_of(instruction: Instruction) -> str | None:
    """The unit of an instruction of the machine code, as UNITS has it; None where it may be one or another."""
    return UNIT_OF.get(instruction.opcode) if kinds.kind(instruction) != "move" else None


# ---- how many blocks fit -------------------------------------------------------------------------


def volume(three: Sequence[int]) -> int:
    return three[0] * three[1] * three[2]


def warps_of(shape: Shape) -> int:
    return -(-volume(shape.block) // WARP)


def residency(shape: Shape, of: Gpu, registers: int = 0, shared: int = 0) -> occupancy.Occupancy | None:
    """machinecode.occupancy.Occupancy of a launch; `registers` 0: not known."""
    return occupancy.occupancy(of.architecture, volume(shape.block), registers, shared)


# ---- in words -------------------------------------------------------------------------------------


def in_time(seconds: float) -> str:
    """`0.50 ms`, `2.3 us`, `41 ns`"""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.1 * size if unit == "ms" else seconds >= size:
            return f"{seconds / size:.2f} {unit}" if seconds < 10 * size else f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def in_bytes(number: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return _some(int(number), "byte")
