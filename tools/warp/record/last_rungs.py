"""The last rungs of each chapter's ladders: the recorded time beside the bound, and why some bounds stay far below it.

    ./learn author bounds --list

A chapter has a ladder for each thing that it computes. Where the bound is below CLOSE of the time, REASONS says what is known of the
rest: a test holds that each such row has one, and no other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from warp.chapter import chapters
from warp.machinecode import bounds

CLOSE = 0.75
GPUS = ("h200", "h100")

# Chapter -> the last rung of each ladder, as RUNG/VARIANT.
LAST = {
    "01": ["add_guarded", "grid_stride/grid=wave", "map_square/block=256", "copy_x_fastest", "diverge_between_warps"],
    "02": ["naive_along_columns/block=16x16"],
    "03": ["k_tile_depth/BK=256"],
    "04": ["k_tile_depth/BK=32"],
    "05": ["warp_tile/BK=32"],
    "06": ["vectors/along=out, evict=last", "whole_sectors", "points_staged/loads=6", "points_aligned/alignas=16", "tma"],
    "07": ["single_pass", "integers", "fold/op=dot_product", "arg_max/input=random"]
    + ["histogram_shared/copies=32,input=random", "histogram_shared/copies=1,input=equal"],
    "08": ["block_scan", "look_back/pause", "look_ahead"],
    "09": ["linked_lists/rgb"],
    "10": ["copy_async/loads=1", "copy_bulk", "store_order/unroll=8", "warps_or_loads/warps=64, loads=1", "branch/by=warp"]
    + ["quotient/divisor=1009"],
    "11": ["serpentine", "grouped_tiles"],
    "12": ["tile_by_shape"],
    "13": ["choose_specialized"],
    "14": ["segmented_ahead/flags, one", "segmented_ahead/keys, one", "multiply_in_warps/lanes=2, even"]
    + ["multiply_in_shares/skewed", "compact", "repeats_ahead/density=1", "permute/by=scatter, ordered"]
    + ["sort_in_sweeps/32 bits, random", "scatter_add/by=blocks, equal"],
    "15": ["gradient", "taps_staged/taps=33", "five_columns", "seven_bricks/box=brick,depth=8", "far_tma/box=brick"]
    + ["resident/small,barrier=grid", "five_strips/steps=8", "seven_tiles/box=brick,steps=3", "filter_stay/size=7"]
    + ["filter_separable/size=7"],
    "16": ["winograd/layer=large,tile=4", "pointwise/layer=down", "split/layer=one14", "pooled/layer=large,kernels=fused"]
    + ["network/kernels=fused", "implicit/layer=first", "implicit_bf16/layer=five"],
    "17": ["tf32/products=3", "copy_ring", "overlapped"],
    "18": ["block_row/softmax,long", "cluster_row/softmax,long", "variance/by=two_sums", "loading_warps/d=128,full"]
    + ["fragments_reused/bf16,d=128,long,full", "dealt_items/bf16,d=128,long,causal", "dealt_items/bf16,d=64,short,full"]
    + ["decode/many,short,split", "paged/many,short"],
    "19": ["generated", "staged/by part, pieces=64", "summed", "chain/how=graph", "programmatic/how=graph"],
    "20": ["peer_load", "peer_store", "jacobi_flags/gpus=1", "jacobi_flags/gpus=2", "two_shots/floats=268435456"]
    + ["product_cublas/copies=hidden"],
}  # fmt: skip

FEW = "each thread has one float under way; chapter 10's copies, with a float4, come close to their bound"
SMALL = (
    "so small that waiting decides: launches, loads and barriers follow one another, and their latency is in no bound"
)
ROWS = "how many FMAs and loads a row takes depends on the matrix; no count of a small one says it of the large one"
MMA = "the bound is the peak of wgmma; what mma.sync reaches at most on Hopper is not measured"
BESIDE = (
    "its products take nearly as long, at the peak of wgmma; what mma.sync reaches at most on Hopper is not measured"
)

# What is known of the time that no bound explains. Where nothing is measured, it says so.
REASONS: dict[tuple[str, str], str] = {
    ("01", "add_guarded"): FEW,
    ("01", "grid_stride/grid=wave"): FEW,
    ("01", "map_square/block=256"): FEW,
    ("01", "copy_x_fastest"): FEW,
    (
        "02",
        "naive_along_columns/block=16x16",
    ): "loads wait for L2, and what L1 keeps until it is asked for again is no count",
    ("09", "linked_lists/rgb"): SMALL,
    ("10", "quotient/divisor=1009"): "integer multiplications and conversions count for the issue slots alone",
    ("13", "choose_specialized"): SMALL,
    ("14", "multiply_in_shares/skewed"): ROWS,
    (
        "14",
        "compact",
    ): "a tile waits for those before it; `repeats_ahead`, whose warps have roles for that, comes closer",
    (
        "14",
        "sort_in_sweeps/32 bits, random",
    ): "its instructions take nearly as long as its bytes; how much of both overlaps is not measured",
    ("14", "scatter_add/by=blocks, equal"): "its atomics in shared memory depend on the indices, and are in no bound",
    ("15", "gradient"): FEW,
    (
        "15",
        "five_strips/steps=8",
    ): "its instructions do not grow evenly with the sizes that they were counted at, and are in no bound",
    (
        "15",
        "filter_separable/size=7",
    ): "its FMAs and shared memory take their time beside the bytes; how much overlaps is not measured",
    ("15", "far_tma/box=brick"): "only the bytes are counted, each once; tiles load their edges besides, and compute",
    (
        "15",
        "seven_tiles/box=brick,steps=3",
    ): "only the bytes are counted, each once; tiles compute their edges again in each step",
    (
        "15",
        "filter_stay/size=7",
    ): "the 49 FMAs of a pixel take nearly as long as its bytes; how much of both overlaps is not measured",
    ("15", "resident/small,barrier=grid"): "a hundred meetings of all blocks, whose latency is in no bound",
    ("16", "winograd/layer=large,tile=4"): "the instructions of the transforms are not counted",
    ("16", "pooled/layer=large,kernels=fused"): "the instructions of the transforms are not counted",
    (
        "16",
        "network/kernels=fused",
    ): "only the FMAs are counted, and not the tiles that kernels hand over through memory",
    ("16", "pointwise/layer=down"): "only the FMAs are counted, and not the loads from shared memory beside them",
    ("16", "implicit/layer=first"): "only the FMAs are counted, and not the loads from shared memory beside them",
    ("16", "split/layer=one14"): SMALL,
    ("16", "implicit_bf16/layer=five"): MMA,
    ("17", "tf32/products=3"): MMA,
    ("17", "copy_ring"): BESIDE,
    (
        "17",
        "overlapped",
    ): "power: the bound is that of 1,980 MHz, and within a launch the clock is about 1,600 MHz (the notes of the chapter)",
    (
        "18",
        "loading_warps/d=128,full",
    ): "only the products and exponentials are counted; maxima, sums and loads take issue slots too",
    ("18", "fragments_reused/bf16,d=128,long,full"): BESIDE,
    (
        "18",
        "dealt_items/bf16,d=128,long,causal",
    ): "a tile's softmax waits for its scores; how much of both overlaps is not measured",
    (
        "18",
        "dealt_items/bf16,d=64,short,full",
    ): "exponentials and products take equally long here; how much of both overlaps is not measured",
    (
        "19",
        "chain/how=graph",
    ): "the bound is that of launches that overlap (`programmatic`); these wait for one another",
    ("20", "peer_load"): "two blocks an SM with 4 bytes a thread ask for too little at a time; `one_shot`, with 16, loads at 333 GB/s",
    ("20", "product_cublas/copies=hidden"): "without a copy, on one GPU, cuBLAS's product is at 0.77 of its own",
}  # fmt: skip


class Last(NamedTuple):
    """One row of the list."""

    chapter: str
    rung: str  # RUNG/VARIANT
    gpu: str
    ms: float
    bound_ms: float
    resource: str

    @property
    def share(self) -> float:
        return self.bound_ms / self.ms

    @property
    def reason(self) -> str:
        """What is known of the rest, where the bound is far below the time."""
        return REASONS.get((self.chapter, self.rung), "") if self.share < CLOSE else ""


def rows() -> Iterator[Last]:
    """Those of LAST that are recorded, with their bounds in results/GPU_bounds.json."""
    for chapter in chapters.all_chapters():
        for gpu in GPUS:
            times = _by_row(os.path.join(chapter.folder, "results", gpu + ".json"))
            alone = _by_row(os.path.join(chapter.folder, "results", gpu + "_bounds.json"))
            for name in LAST.get(chapter.number, ()):
                known = [key for key in alone if key[0] == name]
                if not times or not known:
                    continue
                (key,) = known
                resource, ms = max(alone[key]["alone_ms"].items(), key=lambda one: one[1])
                yield Last(chapter.number, name, gpu, times[key]["time_ms"]["median"], ms, resource)


def _by_row(path: str) -> dict[tuple[str, tuple[int, ...]], dict]:
    """{(RUNG/VARIANT, size): row} of a file of results, {} where there is none."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        found = json.load(file)["rows"]
    sizes = [row["size"] if isinstance(row["size"], list) else row["size"].values() for row in found]
    names = ["/".join(filter(None, (row["rung"], row.get("variant")))) for row in found]
    return {(name, tuple(size)): row for name, size, row in zip(names, sizes, found)}


def as_table() -> str:
    """The list in Markdown."""
    lines = ["| chapter | rung | GPU | time | at least | share | by | the rest |", "|--:|:--|:--|--:|--:|--:|:--|:--|"]
    for one in rows():
        time, bound = bounds.in_time(one.ms / 1e3), bounds.in_time(one.bound_ms / 1e3)
        cells = [
            one.chapter,
            f"`{one.rung}`",
            one.gpu.upper(),
            time,
            bound,
            f"{one.share:.2f}",
            one.resource,
            one.reason,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
