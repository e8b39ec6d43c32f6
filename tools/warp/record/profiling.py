"""What ./learn profile asks of Nsight Compute and Nsight Systems, and how it shows what they counted."""

from __future__ import annotations

import re
from typing import Any

from warp.base.ui import Palette
from warp.record import counters, counts

TOOLS = {
    "ncu": ("Nsight Compute (ncu)", "https://developer.nvidia.com/nsight-compute"),
    "nsys": ("Nsight Systems (nsys)", "https://developer.nvidia.com/nsight-systems"),
}
PERMISSION = "ERR_NVGPUCTRPERM"
CURE = """\
The driver lets only an administrator read the GPU's performance counters. Three ways on:
  - as root, once:  sudo -E env PATH="$PATH" {again}
  - for all users, until it is undone:  echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' |
      sudo tee /etc/modprobe.d/nvidia-profiling.conf, then sudo update-initramfs -u and restart the machine
  - in a container: start it with --cap-add=SYS_ADMIN, on a host that permits it
Needs no permission: ./learn explain {chapter}{rung} (the simulator counts), and --tool nsys (times of kernels and copies)."""
NOTHING_PROFILED = "No kernels were profiled"

# Reports of `nsys stats`: kernels, copies and fills, calls of the API; each is a table of times.
NSYS_REPORTS = ("cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_api_sum")

ROOFLINE = [
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
    "sm__cycles_elapsed.avg.per_second",
    "dram__bytes.sum",
    "dram__bytes.sum.peak_sustained",
    "dram__cycles_elapsed.avg.per_second",
]
OTHERS = ["sm__warps_active.avg.pct_of_peak_sustained_active"]
# Of the course's counts those that ncu reads with the others: "memory_..." takes a pass of its own for each.
COUNTED = [metric for parts in counters.COUNTS.values() for metric in parts if not metric.startswith("memory_")]
METRICS = list(dict.fromkeys(COUNTED + counts.METRICS + ROOFLINE + OTHERS))

# ncu's options that are given once: what a reader adds by hand replaces ours.
REPLACES = {
    "--export": {"-o", "--export"},
    "--clock-control": {"--clock-control"},
    "--target-processes": {"--target-processes"},
    "--cache-control": {"--cache-control"},
    "--kernel-name-base": {"--kernel-name-base"},
    "--kernel-name": {"-k", "--kernel-name", "--kernel-id"},
    "--metrics": {"--metrics", "--set", "--section"},
}


def not_permitted(output: str) -> str:
    """Why Nsight Compute counts nothing on this machine; "" where it is not for want of a permission."""
    if PERMISSION in output:
        return f"this user may not read the GPU's counters ({PERMISSION})"
    if "no ncu here" in output:
        return "Nsight Compute is not installed"
    return ""


def ncu_words(
    ncu: str,
    report: str,
    kernels: set[str],
    sections: list[str],
    metrics: list[str],
    raw: list[str],
    program: list[str],
) -> list[str]:
    """The command line of ncu: our options, less those that the reader's raw ones replace, then the program."""
    words = counters.ncu_command(ncu, metrics, [], report, [])
    if kernels:
        words += ["--kernel-name", counters.only_kernels(sorted(kernels))]
    given = {word.partition("=")[0] for word in raw if word.startswith("-")}
    if sections:
        given.add("--section")
    kept, pairs = [words[0], words[1]], words[2:]  # ncu --force-overwrite, then options with a value each
    for option, value in zip(pairs[::2], pairs[1::2]):
        if not REPLACES[option] & given:
            kept += [option, value]
    for section in sections:
        kept += ["--section", section]
    return kept + raw + program


def nsys_words(nsys: str, report: str, raw: list[str], program: list[str]) -> list[str]:
    """The command line of nsys: the calls of the CUDA API, kernels and copies; no sampling of the CPU."""
    ours = {"--output": report, "--trace": "cuda,nvtx,osrt", "--sample": "none", "--cpuctxsw": "none"}
    short = {"-o": "--output", "-t": "--trace", "-s": "--sample"}
    given = {word.partition("=")[0] for word in raw if word.startswith("-")}
    given |= {short[word] for word in given & set(short)}
    kept = [f"{option}={value}" for option, value in ours.items() if option not in given]
    return [nsys, "profile", "--force-overwrite=true", *kept, *raw, *program]


def own_report(raw: list[str], options: tuple[str, str], otherwise: str, suffix: str) -> str:
    """The file that the tool writes: that of the reader's raw options, else ours."""
    for place, word in enumerate(raw):
        name, equals, value = word.partition("=")
        if name in options:
            value = value if equals else raw[place + 1] if place + 1 < len(raw) else ""
            return value if value.endswith(suffix) else value + suffix
    return otherwise + suffix


def quantity(value: float, units: tuple[str, ...], step: int = 1000) -> str:
    """1234567 and ("B", "kB", "MB") as 1.23 MB."""
    place = 0
    while abs(value) >= step and place < len(units) - 1:
        value, place = value / step, place + 1
    digits = 0 if value >= 100 or (place == 0 and value == int(value)) else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {units[place]}"


BYTES = ("B", "kB", "MB", "GB", "TB")
PER_SECOND = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")
FLOPS = ("FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s")
TIMES = ("ns", "us", "ms", "s")


def roofline(metrics: dict[str, float]) -> dict[str, float] | None:
    """What bounds a kernel by its FP32 operations for each byte of device memory; None without the counters.

    {"flop", "bytes", "rate", "intensity", "peak", "bandwidth", "attainable"}, in FLOP, bytes and seconds.
    """
    if any(name not in metrics for name in (*ROOFLINE, "gpu__time_duration.sum")):
        return None
    ffma, fadd, fmul, peak_ffma, sm_clock, moved, peak_bytes, dram_clock = (metrics[name] for name in ROOFLINE)
    seconds = metrics["gpu__time_duration.sum"] * 1e-9
    flop = 2 * ffma + fadd + fmul
    if not flop or not moved or not seconds:
        return None
    peak, bandwidth = 2 * peak_ffma * sm_clock, peak_bytes * dram_clock
    intensity = flop / moved
    return {
        "flop": flop,
        "bytes": moved,
        "rate": flop / seconds,
        "intensity": intensity,
        "peak": peak,
        "bandwidth": bandwidth,
        "attainable": min(peak, intensity * bandwidth),
    }


def rows(launch: dict[str, Any]) -> list[tuple[str, str]]:
    """[(what, value)] of one launch: what its counters say, as far as they are there."""
    found, metrics, counted = [], launch["metrics"], launch["counts"]

    def per_request(kind: str, what: str) -> None:
        requests, parts = counted.get(f"{kind}_requests"), counted.get(f"{kind}_{what}")
        if requests and parts is not None:
            words = kind.replace("_", " ")
            found.append((f"{words}s", f"{requests:,} requests, {parts / requests:.2f} {what} each"))

    time = metrics.get("gpu__time_duration.sum")
    if time:
        found.append(("time", quantity(time, TIMES)))
    moved = metrics.get("dram__bytes.sum")
    if moved is not None:
        text = quantity(moved, BYTES)
        if time:
            text += f", {quantity(moved / time * 1e9, PER_SECOND)}"
            peak = metrics.get("dram__bytes.sum.peak_sustained", 0) * metrics.get(
                "dram__cycles_elapsed.avg.per_second", 0
            )
            text += f", {100 * moved / time * 1e9 / peak:.0f} % of the peak" if peak else ""
        found.append(("device memory", text))
    hits = [
        f"{name} {metrics[metric]:.0f} %"
        for name, metric in (("L1", "l1tex__t_sector_hit_rate.pct"), ("L2", "lts__t_sector_hit_rate.pct"))
        if metrics.get(metric, 101) <= 100  # of a kernel that hardly reads, L2 counts more hits than lookups
    ]
    if hits:
        found.append(("hits in the caches", ", ".join(hits)))
    for kind in ("global_load", "global_store", "global_atomic"):
        per_request(kind, "sectors")
    for kind in ("shared_load", "shared_store"):
        per_request(kind, "wavefronts")
    if counted.get("divergent_branches"):
        found.append(("divergent branches", f"{counted['divergent_branches']:,}"))
    if "sm__warps_active.avg.pct_of_peak_sustained_active" in metrics:
        found.append(("occupancy reached", f"{metrics['sm__warps_active.avg.pct_of_peak_sustained_active']:.0f} %"))
    issued = metrics.get("smsp__issue_active.avg.pct_of_peak_sustained_active")
    if issued is not None:
        found.append(("cycles that issued", f"{issued:.0f} %"))
    waits = {
        reason: metrics[counts.STALL.format(reason)]
        for reason in counts.REASONS.split()
        if counts.STALL.format(reason) in metrics and reason != "selected"
    }
    latency = metrics.get("smsp__average_warp_latency_per_inst_issued.ratio")
    if waits and latency:
        first = sorted(waits, key=lambda reason: waits[reason], reverse=True)[:3]
        reasons = ", ".join(f"{reason} {waits[reason]:.1f}" for reason in first if waits[reason] >= 0.05)
        found.append(("a warp's cycles per instruction", f"{latency:.1f}: {reasons}"))
    roof = roofline(metrics)
    if roof:
        bound = "FP32 units allow" if roof["attainable"] == roof["peak"] else "device memory allows"
        found.append(
            (
                "roofline",
                f"{roof['intensity']:.2f} FLOP per byte: {bound} {quantity(roof['attainable'], FLOPS)}, "
                f"reached {quantity(roof['rate'], FLOPS)} ({100 * roof['rate'] / roof['attainable']:.0f} %)",
            )
        )
    return found


def table(launches: list[dict[str, Any]], paint: Palette) -> str:
    """The launches as text: equal ones of a kernel (same grid and block) once, the first of them."""
    seen: dict[Any, Any] = {}
    lines = []
    for launch in launches:
        key = (launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]))
        seen.setdefault(key, []).append(launch)
    for (kernel, grid, block), same in seen.items():
        shape = f"{_extents(grid)} blocks of {_extents(block)}"
        more = f", first of {len(same)} launches" if len(same) > 1 else ""
        lines += ["", f"{paint('bold', re.sub(r'[(].*', '', kernel))}  {shape}{more}"]
        shown = rows(same[0])
        width = max((len(what) for what, _ in shown), default=0)
        lines += [f"  {what:<{width}}  {value}" for what, value in shown] or ["  no counters"]
    return "\n".join(lines[1:])


def _extents(extents: tuple[int, ...]) -> str:
    while len(extents) > 1 and extents[-1] == 1:
        extents = extents[:-1]
    return " x ".join(f"{extent:,}" for extent in extents)
