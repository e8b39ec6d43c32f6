"""What the problem of a recorded row demands of any kernel, or of each that computes it the chapter's way: see machinecode.bounds.

It holds for kernels that the simulator does not run, or whose counts at small sizes say nothing of a large one. The FMAs of a
product are its extents' own; those of a layer, of attention, and the bytes of what is limited by memory are what the row's rate
counts, as lab::Rung::flops and bytes have it, each byte once. Nothing is said of rungs that run on the host.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from typing import NamedTuple

from warp.base.text import there
from warp.chapter.chapters import Chapter
from warp.chapter.written import Row
from warp.machinecode import bounds

ON_THE_HOST = ("add_on_cpu", "triple_loop", "on_cpu", "one_by_one")


def of_row(chapter: Chapter, row: Row) -> list[dict[str, int]]:
    """Counts as bounds.of_launch() takes them, of launches one after the other; [] where nothing is known."""
    key = (chapter.number, row.rung)
    if key in OF_LAUNCHES:
        return OF_LAUNCHES[key](row)
    if row.rung in ON_THE_HOST or not row.rate:
        return []
    if chapter.number == "16":
        return convolution(chapter, row)
    found = _of_one_launch(chapter, row)
    return [found] if found else []


def _of_one_launch(chapter: Chapter, row: Row) -> dict[str, int]:
    if chapter.number in OF_CHAPTER:
        return OF_CHAPTER[chapter.number](row)
    if chapter.kind == "gemm" and row.rate_unit == "GFLOP/s":
        return product(row, "fp32", 4)
    share = SHARE_READ.get(chapter.number, {}).get(row.rung)
    return moved(row, share) if share is not None and row.rate_unit == "GB/s" else {}


def amount(row: Row) -> float:
    """The operations, or the bytes, that the rate counts."""
    return 1e9 * there(row.rate) * row.median / 1e3


def product(row: Row, unit: str, size: int, times: int = 1) -> dict[str, int]:
    """A product of matrices of elements of `size` bytes: M N K FMAs, and each element touched once."""
    m, n, k = row.size.values()
    sectors = {"read": (m * k + k * n) * size // bounds.SECTOR, "written": m * n * size // bounds.SECTOR}
    return {**fmas(unit, times * m * n * k), **{f"global_sectors_{how}_distinct": n for how, n in sectors.items()}}


def fmas(unit: str, number: float) -> dict[str, int]:
    """FMAs of tensor cores, or of instructions of whole warps."""
    return {"tensor_fmas": int(number)} if unit == "tensor" else {unit: int(number / bounds.WARP)}


def moved(row: Row, share_read: float) -> dict[str, int]:
    """The bytes that the rate counts, `share_read` of them read; of several steps, which it counts each, one has to."""
    steps_at_once = re.search(r"steps=(\d+)", row.variant)
    sectors = amount(row) / bounds.SECTOR / (int(steps_at_once[1]) if steps_at_once else 1)
    read = int(share_read * sectors)
    return {"global_sectors_read_distinct": read, "global_sectors_written_distinct": int(sectors) - read}


# ---- chapter by chapter ------------------------------------------------------------------------------

HALF = 0.5  # as many bytes are written as read
READS = 1.0  # what is written too is taken to be read, which is faster

# Chapter -> rung -> the share of the bytes that are read. Left out: rungs whose rate counts bytes that need not come from DRAM.
SHARE_READ = {
    "06": dict.fromkeys(("tma",), HALF),
    "08": dict.fromkeys(("look_ahead", "one_wave"), HALF),
    "14": {
        **dict.fromkeys(("segmented", "segmented_ahead"), 5 / 9),  # a value and a flag, and a value
        **dict.fromkeys(("multiply_rows", "multiply_in_warps", "multiply_segments", "multiply_in_shares"), READS),
        "compact": 2 / 3,  # half are kept
        **dict.fromkeys(("repeats_ahead", "sort_in_steps", "sort_in_sweeps"), READS),
    },
    "15": dict.fromkeys(
        ("seven_naive", "seven_column", "seven_columns", "seven_bricks", "seven_edges", "seven_tiles")
        + ("far_naive", "far_queue", "far_tma", "filter_stay", "filter_texture", "filter_between"),
        HALF,
    ),
}

# Rung -> bytes of an element of C. Two FMAs of factors of 8 bits take as long as one of BF16.
EIGHT_BITS = {"int8": 4, "fp8": 2}
TF32 = {"products=1": 2, "products=3": 6}  # FMAs of BF16 that take as long
WGMMA = ("tma_wgmma", "producer_warp", "box_stores", "persistent", "multicast", "overlapped", "fp8")


def tensor_cores(row: Row) -> dict[str, int]:
    if row.rate_unit != "GFLOP/s":
        return {}
    operands = {"shared_wavefronts": operands_of_wgmma(row)} if row.rung in WGMMA else {}
    if row.rung == "tf32":
        return product(row, "tensor", 4, TF32[row.variant.split(",")[0]])
    if row.rung in EIGHT_BITS:
        m, n, k = row.size.values()
        written = {"global_sectors_written_distinct": m * n * EIGHT_BITS[row.rung] // bounds.SECTOR}
        return {**product(row, "tensor", 1), **fmas("tensor", m * n * k / 2), **written, **operands}
    return {**product(row, "tensor", 2), **operands}


def operands_of_wgmma(row: Row) -> int:
    """The wavefronts in which `wgmma` reads shared memory, as the hardware counts them (results/differences.json of chapter 17): for 128 x
    256 sums and 32 bytes along K 32 of A for both warpgroups together, and 64 of B for each. In halves of 128 columns A is read twice."""
    m, n, k = row.size.values()
    size = 1 if row.rung == "fp8" else 4 if row.variant == "type=tf32" else 2
    halves = row.rung == "fp8" and row.variant != "sums=inside"
    return (m // 128) * (n // 256) * (k * size // 32) * (2 * 32 + 2 * 64 if halves else 32 + 2 * 64)


class Layer(NamedTuple):
    """A layer as chapters/16_convolution/convolution.h has it: images, channels, pixels a side, filters, their side, stride, edge."""

    n: int
    c: int
    h: int
    k: int
    r: int
    stride: int
    pad: int

    @property
    def out(self) -> int:
        """Results a side."""
        return (self.h + 2 * self.pad - self.r) // self.stride + 1

    def winograd(self, tile: str, pooled: bool) -> list[dict[str, int]]:
        """Three launches: pixels to tiles, products, tiles to results; what each hands over lies in memory."""
        if tile == "4+3":
            threes = -self.out % 4
            along = 6 * (self.out - 3 * threes) // 4 + 5 * threes
        else:
            along = (int(tile) + self.r - 1) * -(-self.out // int(tile))
        elements = along**2 * self.n
        pixels, results = self.n * self.c * self.h**2, self.n * self.k * self.out**2
        return [
            floats(pixels, elements * self.c),
            {**floats(elements * self.c, elements * self.k), **fmas("fp32", elements * self.c * self.k)},
            floats(elements * self.k, results // (4 if pooled else 1)),
        ]

    def fourier(self) -> list[dict[str, int]]:
        """The like for tiles of 32 x 32 pixels, two in a transform: 514 products of complex values, four FMAs each."""
        tiles = self.n * (-(-self.out // (33 - self.r))) ** 2
        columns, values = tiles + tiles % 2, 2 * 514
        pixels, results = self.n * self.c * self.h**2, self.n * self.k * self.out**2
        spectra = values * self.c * (columns + self.k)
        return [
            floats(pixels + self.c * self.k * self.r**2, spectra),
            {**floats(spectra, values * self.k * columns), **fmas("fp32", 2 * values * self.c * self.k * columns)},
            floats(values * self.k * columns, results),
        ]


def floats(read: int, written: int, size: int = 4) -> dict[str, int]:
    return {
        "global_sectors_read_distinct": read * size // bounds.SECTOR,
        "global_sectors_written_distinct": written * size // bounds.SECTOR,
    }


@functools.cache
def layers(folder: str) -> dict[str, Layer]:
    """The layers for images of 224 pixels a side, by name."""
    with open(os.path.join(folder, "convolution.h"), encoding="utf-8") as file:
        found = re.findall(r'\{"(\w+)", layer\(([\d, ]+)\)\}', file.read())
    return {name: Layer(*map(int, numbers.split(","))) for name, numbers in found}


def convolution(chapter: Chapter, row: Row) -> list[dict[str, int]]:
    """The products of the sum, or those of Winograd's tiles; of the network, whose layers have other names, these alone."""
    variant, number = row.variant, amount(row) / 2
    name = re.match(r"layer=(\w+)", variant)
    if not name:
        return [fmas("fp32", number / 4)]  # tiles of 4 x 4: 36 products in place of 144
    layer = layers(chapter.folder)[name[1]]
    touched = layer.n * layer.c * layer.h**2, layer.n * layer.k * layer.out**2
    if row.rung == "implicit_bf16":
        return [{**floats(*touched, size=2), **fmas("tensor", number)}]
    if row.rung == "winograd" or (row.rung == "pooled" and "kernels=implicit" not in variant):
        tile = re.search(r"tile=([\d+]+)", variant)
        return layer.winograd(tile[1] if tile else "4", "kernels=fused" in variant)
    if row.rung == "fourier":
        return layer.fourier()
    return [{**floats(touched[0], 0), **fmas("fp32", number)}]


# Rung -> wavefronts in which `ldmatrix` reads the fragments for 128 queries and 64 keys, for each column, as the simulator counts them.
OF_FRAGMENTS = {"fragments": 144, "fragments_swizzled": 18, "fragments_ring": 18, "fragments_reused": 10}


def attention(row: Row) -> dict[str, int]:
    """Two products of d FMAs and one exponential for each score; rows of a softmax read and written once, a cache read once."""
    if row.rate_unit == "GB/s":
        return moved(row, READS if row.rung in ("variance", "decode", "paged") else HALF)
    columns = re.search(r"d=(\d+)", row.variant)
    if not columns or row.rate_unit != "GFLOP/s":
        return {}
    number = amount(row) / 2
    scores = number / (2 * int(columns[1]))
    found = {
        **fmas("tensor" if "bf16" in row.variant else "fp32", number),
        "special": int(scores / bounds.WARP),
    }
    if row.rung in OF_FRAGMENTS:
        found["shared_wavefronts"] = int(scores / (128 * 64) * int(columns[1]) * OF_FRAGMENTS[row.rung])
    return found


FMAS = 2048  # of the work for each element


def transfers(row: Row) -> dict[str, int]:
    """What crosses the link to the host, one way; `staged` and `both_ways` count the bytes of both."""
    if row.rate_unit == "GB/s":
        ways = 2 if row.rung in ("both_ways", "staged") else 1
        (n,) = row.size.values()
        worked = fmas("fp32", n * FMAS) if row.rung == "staged" else {}
        return {"host_bytes": int(amount(row) / ways), **worked}
    return {}


CHAIN = 1000  # launches that depend on one another


def generated(row: Row) -> list[dict[str, int]]:
    """Floats that are written, and come from nowhere."""
    (n,) = row.size.values()
    return [{"global_sectors_read_distinct": 0, "global_sectors_written_distinct": 4 * n // bounds.SECTOR}]


def chain(row: Row) -> list[dict[str, int]]:
    return [{}] * (1 if row.variant == "how=stays" else CHAIN)


SMALL_STEPS = 100  # of chapter 15's small grid


def small_grid(row: Row) -> list[dict[str, int]]:
    return [{}] * (1 if row.rung == "resident" else SMALL_STEPS)


GPUS = 2  # of chapter 20's recordings
STEPS = 100  # of its stencil


def steps(row: Row) -> list[dict[str, int]]:
    """A stencil reads and writes each GPU's part of the grid in every step."""
    cells = next(iter(row.size.values())) ** 2 // int(row.variant.removeprefix("gpus="))
    sectors = 4 * cells // bounds.SECTOR
    return [{"global_sectors_read_distinct": sectors, "global_sectors_written_distinct": sectors}] * STEPS


def many_gpus(row: Row) -> dict[str, int]:
    """What crosses the link between two GPUs, one way: the sum of two arrays takes all of one of them to the other GPU."""
    rung, variant = row.rung, row.variant
    if rung.startswith("peer_"):
        return {"peer_bytes": int(amount(row) / (2 if variant == "ways=2" else 1))}
    if variant.startswith("floats="):
        return {"peer_bytes": 4 * int(variant.removeprefix("floats="))}
    if rung in ("product", "product_cublas"):
        return fmas("fp32", amount(row) / 2 / (1 if variant == "gpus=1" else GPUS))
    return {}


OF_CHAPTER: dict[str, Callable[[Row], dict[str, int]]] = {
    "17": tensor_cores, "18": attention, "19": transfers, "20": many_gpus,
}  # fmt: skip
OF_LAUNCHES: dict[tuple[str, str], Callable[[Row], list[dict[str, int]]]] = {
    ("19", "generated"): generated,
    **dict.fromkeys((("15", "step_by_step"), ("15", "resident")), small_grid),
    **dict.fromkeys((("19", "chain"), ("19", "programmatic")), chain),
    **dict.fromkeys([("20", f"jacobi_{how}") for how in ("copies", "overlap", "flags", "stays")], steps),
}
