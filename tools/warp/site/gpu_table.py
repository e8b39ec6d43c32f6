"""The GPUs whose bounds ./learn explain knows, as tools/warp/machinecode/gpus.json has them, with the source of each figure."""

from __future__ import annotations

from warp.machinecode import bounds
from warp.site.blocks import Block, Table, Text

# Heading, what stands there of a GPU, the figures of the table that it comes from.
COLUMNS = [
    ("SMs", lambda gpu: gpu.sms, "sms"),
    ("clock, MHz", lambda gpu: f"{gpu.clock_mhz:,}", "clock_mhz"),
    ("DRAM, GB/s", lambda gpu: f"{gpu.dram_gb_s:,}", "dram_gb_s"),
    (
        "of it read, written",
        lambda gpu: f"{gpu.dram_reads:.2f}, {gpu.dram_writes:.2f}" if gpu.dram_reads else "-",
        "dram_reads dram_writes",
    ),
    ("L2, MiB", lambda gpu: gpu.l2_mib, "l2_mib"),
    ("L2, bytes a cycle", lambda gpu: f"{bounds.SECTOR * gpu.l2_sectors:,}" if gpu.l2_sectors else "-", "l2_sectors"),
    (
        "FP32, FP64, INT32, special",
        lambda gpu: f"{gpu.fp32}, {gpu.fp64}, {gpu.int32}, {gpu.special}",
        "fp32 fp64 int32 special",
    ),
    ("BF16 FMAs a cycle and SM", lambda gpu: f"{gpu.tensor:,}" if gpu.tensor else "-", "tensor"),
    ("L1 and shared, bytes a cycle", lambda gpu: gpu.shared_bytes, "shared_bytes"),
    ("atomics on a word, a cycle", lambda gpu: f"{gpu.atomics:g}", "atomics"),
    ("blocks, a cycle", lambda gpu: f"{gpu.blocks:g}" if gpu.blocks else "-", "blocks"),
    ("launch, us", lambda gpu: f"{gpu.launch_us:g}" if gpu.launch_us else "-", "launch_us"),
    (
        "to the host, to a GPU, GB/s",
        lambda gpu: ", ".join(f"{rate:g}" if rate else "-" for rate in (gpu.host_gb_s, gpu.peer_gb_s)),
        "host_gb_s peer_gb_s",
    ),
    ("blocks, warps of an SM", lambda gpu: f"{gpu.limits.blocks}, {gpu.limits.warps}", ""),
    ("shared, KiB", lambda gpu: gpu.limits.shared // 1024, ""),
]


def table() -> list[Block]:
    """The table, and its sources below it."""
    sources: dict[str, int] = {}
    head = ["GPU", *(heading for heading, _, _ in COLUMNS)]
    rows = []
    for gpu in bounds.gpus().values():
        cells = [gpu.name]
        for _, cell, figures in COLUMNS:
            origin = dict.fromkeys(gpu.sources[one] for one in figures.split() if one in gpu.sources)
            marks = ", ".join(str(sources.setdefault(source, len(sources) + 1)) for source in origin)
            cells.append(str(cell(gpu)) + (f" [{marks}]" if marks else ""))
        rows.append(cells)
    listed = "\n".join(f"{number}. {source}." for source, number in sources.items())
    return [Table(head, rows, "l" + "r" * len(COLUMNS)), Text(listed)]
