"""The drawings of chapter 05: which banks its reads and stores want, and how the lanes of a warp stand."""

from pathlib import Path

from warp.chapter import maps, results
from warp.chapter.counted import load_counted
from warp.site import figures

LADDER = "GFLOP/s"
STAIR = ("new layout,", "cheaper reads")

STRIDES = (0, 1, 2, 4, 8, 16, 32, 33)  # the first launches of strided_reads: float
VECTORS = Path(__file__).resolve().parents[2] / "common/lab/include/lab/vectors.h"  # where C is stored
EVERY_STRIDE = 34  # launches for each type: the strides from 0 to 33
# The launches of `product`, three depths of each rung; depth 32 is drawn.
RUNGS = ("as_a_lies", "transposed_a", "padded_a", "swizzled_a", "split_tile", "square_warp", "warp_tile")


def every_stride(simulated, folder):
    """Wavefronts of a read at every stride from 0 to 33, as the simulator counted them and as the hardware did."""
    counted = load_counted(folder)
    if not counted:
        raise results.ResultsError(
            f"{folder}: no counts of the hardware, which the drawing of all strides has beside it"
        )

    def wavefronts(launches):
        return [
            launch["counts"]["shared_load_wavefronts"] // launch["counts"]["shared_load_requests"]
            for launch in launches
            if results.kernel_base(launch["kernel"]) == "every_stride"
        ]

    here, there = wavefronts(simulated.trace["launches"]), wavefronts(counted.launches)
    reads = []
    for i, (word, bits) in enumerate((("float", 32), ("float2", 64), ("float4", 128))):
        width = slice(EVERY_STRIDE * i, EVERY_STRIDE * (i + 1))
        reads.append((f"a {word} for each lane, {bits} bits", here[width], there[width]))
    return figures.stride_bars(reads, counted.device)


def draw(simulated, source):
    """(rung, name, drawing, caption) of each."""

    def examples(kernel, line, launch=-1, file=source):
        return results.examples_of(simulated, kernel, file, line, launch)

    def from_its_first_word(example):
        """A request as if lane 0 read the first word of an array that begins in bank 0, as it does on a GPU."""
        first = example["addresses"][0]
        return maps.of_example({**example, "addresses": [address - first for address in example["addresses"]]})

    strides = figures.bank_map(
        [
            (
                f"words[{stride} * lane]",
                from_its_first_word(examples("strided_reads", "const Word word = from;", STRIDES.index(stride))[0]),
            )
            for stride in (2, 4, 32)
        ]
    )
    strides_caption = (
        "One read for strides of 2, 4 and 32: the 32 banks, and below each the words that are wanted of it, "
        "with the lanes that want them. A read takes as many wavefronts as its highest column has words."
    )

    thread = figures.bank_map(
        [
            (
                "float4 at tile[row][k] of A",
                maps.of_example(examples("product", "reinterpret_cast<const float4*>(&tile[row][k])", 0)[0]),
            ),
            (
                "float4 at b_tile[l][col]",
                maps.of_example(examples("product", "reinterpret_cast<const float4*>(from + q * step)", 0)[0]),
            ),
        ]
    )
    thread_caption = (
        "A read of A and one of B. The two float4 of A are in the same banks. Of B half of the banks are left out, and "
        "the others are asked for two float4."
    )

    stores = figures.bank_map(
        [
            (
                f"tile[k][row], PAD={pad}",
                maps.of_example(examples("product", "tile[k][row] = four.x", launch)[0]),
            )
            for launch, pad in ((2, 0), (5, 4))  # of those that transpose
        ]
    )
    stores_caption = "A store of A's tile, without padding and with it."

    def places_of(launch):
        """Row and column of each lane of a warp, in units of 4 x 4 elements, from where it stores to C."""
        row_bytes = 4 * simulated.rows[0].size["N"]
        at = examples("product", "*to = sum;", launch, VECTORS)[0]["addresses"]
        return [(address // row_bytes // 4, address % row_bytes // 16) for address in at]

    def places(rung):
        return places_of(3 * RUNGS.index(rung) + 2)

    def read_of_b(rung):
        at = [16 * col for _, col in places(rung)]
        merged = any(all(at[lane] == at[lane ^ other] for lane in range(32)) for other in (1, 2))
        return maps.of_example(
            {"space": "shared", "access": "load", "size": 16, "phase_lanes": 16 if merged else 8, "addresses": at}
        )

    split = figures.bank_map([("float4 at b_tile[l][col]", read_of_b("split_tile"))])
    split_caption = "A read of B now: no bank is left out, and none is asked twice."

    warps = figures.lane_map(
        [
            ("2 × 16, in rows: split_tile", places("split_tile"), set(range(8))),
            ("4 × 8, in pairs: warp_tile", places("warp_tile"), set(range(16))),
        ]
    )
    warps_caption = (
        "The lanes of a warp. Those that the first wavefront of a read of B serves are marked: in rows 8 of them, "
        "in pairs 16."
    )
    clean = figures.bank_map([("float4 at b_tile[l][col]", read_of_b("warp_tile"))])
    clean_caption = "The same read in pairs: 16 lanes share the 8 float4 of a wavefront, so that two are enough."
    # Squares of 8 x 8: as_a_lies, and behind the rungs of three depths the three launches of thread_orders.
    first = 3 * len(RUNGS)
    orders = figures.warp_map(
        [
            (name, [(row // 2, col // 2) for row, col in places_of(launch)])
            for name, launch in (
                ("16 × 2 in columns", first),
                ("4 × 8 in rows", first + 1),
                ("2 × 16 in rows", 2),
                ("4 × 8 in pairs", first + 2),
            )
        ],
        [divmod(lane, 2) for lane in range(32)],  # with K-tiles of 8, as product copies them
        [(0, lane) for lane in range(32)],
    )
    orders_caption = (
        "Warp 0 in each of the four orders: A's K-tile to the left, B's above, C's tile between them in squares of 8 x 8. "
        "Each number is a lane. The strips are what the warp reads from shared memory in a step; what it copies there, drawn "
        "for K-tiles of 8, is the same in all four."
    )
    every_caption = (
        "Wavefronts of one read at every stride from 0 to 33, in words of its own size: the bars as the "
        "simulator counted them, the dots as Nsight Compute did on an H200. Each step up is twice as many."
    )
    return [
        ("strided_reads", "strides", strides, strides_caption),
        ("every_stride", "every-stride", every_stride(simulated, source.parent / "results"), every_caption),
        ("as_a_lies", "reads", thread, thread_caption),
        ("padded_a", "stores", stores, stores_caption),
        ("split_tile", "split", split, split_caption),
        ("warp_shapes", "lanes", warps, warps_caption),
        ("warp_tile", "clean", clean, clean_caption),
        (None, "orders", orders, orders_caption),
    ]
