"""How many warps of a kernel a multiprocessor holds.

The figures are those of the table "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide;
the rules of allocation are those of cuda_occupancy.h of the CUDA Toolkit.
"""

from __future__ import annotations

import collections

WARP = 32
REGISTERS = 65536  # 32-bit registers of a multiprocessor, on all of these
REGISTER_UNIT = 256  # registers are given to a warp in multiples of this
PARTITIONS = 4  # of a multiprocessor: each has a quarter of the registers

Limits = collections.namedtuple("Limits", "warps blocks shared reserved unit")

# Compute capability -> warps and blocks of a multiprocessor, bytes of its shared memory, bytes of it that each block
# gives to the system, and the unit of its allocation.
LIMITS = {
    "75": Limits(32, 16, 64 << 10, 0, 256),
    "80": Limits(64, 32, 164 << 10, 1024, 128),
    "86": Limits(48, 16, 100 << 10, 1024, 128),
    "87": Limits(48, 16, 164 << 10, 1024, 128),
    "89": Limits(48, 24, 100 << 10, 1024, 128),
    "90": Limits(64, 32, 228 << 10, 1024, 128),
    "100": Limits(64, 32, 228 << 10, 1024, 128),
    "103": Limits(64, 32, 228 << 10, 1024, 128),
    "110": Limits(48, 24, 228 << 10, 1024, 128),
    "120": Limits(48, 24, 100 << 10, 1024, 128),
    "121": Limits(48, 24, 100 << 10, 1024, 128),
}

Occupancy = collections.namedtuple("Occupancy", "blocks warps limit share by")


def up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def limits(architecture: str) -> Limits | None:
    """The figures of sm_90a and the like, None of an architecture that the table lacks."""
    return LIMITS.get(architecture.removeprefix("sm_").rstrip("af"))


def occupancy(architecture: str, threads: int, registers: int, shared: int = 0) -> Occupancy | None:
    """The Occupancy of a kernel in blocks of `threads` with `registers` a thread and `shared` bytes a block (static and
    dynamic). `by` names what bounds it. None where the table lacks the architecture."""
    table = limits(architecture)
    if table is None:
        return None
    warps = -(-threads // WARP)
    bounds = [(table.warps // warps, "threads"), (table.blocks, "blocks")]
    if registers:
        of_warp = up(registers * WARP, REGISTER_UNIT)
        resident = REGISTERS // PARTITIONS // of_warp * PARTITIONS
        # A block needs them as if its warps filled the partitions evenly.
        fits = of_warp * up(warps, PARTITIONS) <= REGISTERS
        bounds.append((resident // warps if fits else 0, "registers"))
    taken = up(shared + table.reserved, table.unit)
    if taken:
        bounds.append((table.shared // taken, "shared memory"))
    blocks, by = min(bounds, key=lambda bound: bound[0])
    return Occupancy(blocks, blocks * warps, table.warps, blocks * warps / table.warps, by)
