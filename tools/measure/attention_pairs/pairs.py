#!/usr/bin/env python3
"""Times chapter 18's `dealt_items` and cuDNN's attention in turn, in one process, at the same clock.

usage: pairs.py [--write FILE] [--build FOLDER]      FILE: chapters/18_attention/results/h200_pairs.json

cuDNN is called through PyTorch's scaled_dot_product_attention. For each problem both results are compared with attention in
double, on rows of the first and the last head. Then they are timed in turn, the one that begins alternates, and the L2 is
flushed before each. Meanwhile the clock of the SMs and the power are sampled through NVML. A line for each problem is
printed; `--write` makes a results file, which the prose reads as `ratio("dealt_items/bf16,d=128,short,full",
"4096,64", "h200_pairs")`: cuDNN's time over the chapter's. Needs PyTorch with CUDA, nvcc of CUDA 12.9 or newer, and a GPU of compute
capability 9.0. Takes a minute, half of it to compile the chapter's kernels; in FOLDER they stay, and are not compiled again.
"""

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "measure"), str(ROOT / "tools")]

import pytorch  # noqa: E402

from warp.chapter import results  # noqa: E402

LENGTH, HEADS = 4096, 64  # as `Size gpu` of the chapter
PROBLEMS = [  # variant, columns of a head, heads, positions
    ("d=128,short", 128, HEADS, LENGTH),
    ("d=128,long", 128, HEADS // 4, 4 * LENGTH),
    ("d=64,short", 64, 2 * HEADS, LENGTH),
    ("d=64,long", 64, HEADS // 2, 4 * LENGTH),
]
SOURCES = ["backend_gpu.cpp", "buffer.cpp", "check.cpp", "device.cpp", "text.cpp"]  # of common/lab
TOLERANCE = 4e-3  # of the chapter: weights and outputs rounded to 8 bits
RUNS = 41


class Kernels:
    """The chapter's rungs, compiled to a library."""

    def __init__(self, folder):
        file, lab = folder / "rungs.so", ROOT / "common" / "lab"
        if not file.exists():
            self.compile(file, lab)
        self.library = ctypes.CDLL(str(file), mode=os.RTLD_LAZY)

    @staticmethod
    def compile(file, lab):
        chapter = ROOT / "chapters" / "18_attention"
        sources = [Path(__file__).with_name("rungs.cu"), chapter / "attention_bf16_hopper.cu"]
        sources += [lab / "src" / source for source in SOURCES]
        options = (
            "-shared -Xcompiler -fPIC -std=c++20 -O3 --extended-lambda -gencode=arch=compute_90a,code=sm_90a -DLAB_GPU"
        )
        subprocess.run(
            ["nvcc", *options.split(), "-I", chapter, "-I", lab / "include", *sources, "-o", file], check=True
        )

    def prepared(self, rung, tensors, out, causal):
        """A function that launches the rung."""
        heads, length, d = tensors[0].shape[1:]
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in [out, *tensors]]
        scale = ctypes.c_float(1.4426950409 / d**0.5)
        number = self.library.prepare(rung.encode(), d, int(causal), *pointers, heads, length, scale)
        if number < 0:
            raise RuntimeError(f"{rung} has no kernel for heads of {d} columns")
        return lambda: self.library.launch(number)


class Sensors:
    """Samples the clock of the SMs and the power while a block of code runs."""

    def __init__(self, torch):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        uuid = f"GPU-{torch.cuda.get_device_properties(0).uuid}".encode()
        self.nvml.nvmlInit_v2()
        if self.nvml.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(self.device)):
            raise RuntimeError("NVML does not know the GPU that PyTorch uses")

    def __enter__(self):
        self.mhz, self.watts, self.over, self.begin = [], [], threading.Event(), time.monotonic()
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()

    def sample(self):
        value, sm_clock = ctypes.c_uint(), 1
        while not self.over.wait(0.002):
            if not self.nvml.nvmlDeviceGetClockInfo(self.device, sm_clock, ctypes.byref(value)):
                self.mhz.append(float(value.value))
            # NVML's power is the mean over the last second: of this code alone only behind its first one (lab/conditions.h).
            behind = time.monotonic() - self.begin > 7 / 6
            if behind and not self.nvml.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(value)):
                self.watts.append(value.value / 1000)

    def seen(self):
        seen = {"sm_mhz": statistics.median(self.mhz), "sm_mhz_min": min(self.mhz)}
        return {**seen, "power_w": statistics.median(self.watts)} if self.watts else seen


def error(torch, tensors, out, causal):
    """The largest error of 64 rows of the first and of the last head, the last row among them."""
    length, d = tensors[0].shape[2:]
    rows = torch.arange(0, length, length // 63, device="cuda").clamp(max=length - 1)
    rows[-1] = length - 1
    worst = 0.0
    for head in (0, -1):
        q, k, v = (tensor[0, head].double() for tensor in tensors)
        scores = q[rows] @ k.T / d**0.5
        if causal:
            scores.masked_fill_(torch.arange(length, device="cuda") > rows[:, None], -torch.inf)
        wrong = (torch.softmax(scores, -1) @ v - out[0, head, rows].double()).abs().max()
        worst = max(worst, float(wrong)) if wrong == wrong else float("inf")
    return worst


def timed(torch, works):
    """The times of two works that take turns, in ms."""
    flushed = torch.empty(64 << 20, dtype=torch.float32, device="cuda")
    times = [[], []]
    for run in range(-3, RUNS):
        for which in (0, 1) if run % 2 else (1, 0):
            flushed.zero_()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            works[which]()
            end.record()
            end.synchronize()
            if run >= 0:
                times[which].append(begin.elapsed_time(end))
    return [sorted(each) for each in times]


def summary(times):
    last = len(times) - 1
    return {"median": times[last // 2], "p10": times[last // 10], "p90": times[last - last // 10], "runs": len(times)}


def measure(torch, kernels):
    """A row for each problem."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    rows, sensors = [], Sensors(torch)
    torch.manual_seed(1)
    for name, d, heads, length in PROBLEMS:
        # As the chapter's inputs: queries so large that a few keys get most of the weight.
        tensors = [torch.rand(1, heads, length, d, device="cuda") - 0.5 for _ in range(3)]
        tensors = [(16 * tensors[0]).bfloat16(), tensors[1].bfloat16(), tensors[2].bfloat16()]
        for causal in (False, True):
            variant = f"bf16,{name},{'causal' if causal else 'full'}"
            out, peers = torch.full_like(tensors[0], float("nan")), []

            def peer(tensors=tensors, causal=causal, peers=peers):
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    peers[:] = [torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=causal)]

            own = kernels.prepared("dealt_items", tensors, out, causal)
            own(), peer()
            errors = error(torch, tensors, out, causal), error(torch, tensors, peers[0], causal)
            if not max(errors) < TOLERANCE:
                raise RuntimeError(f"{variant}: errors of {errors[0]:.1e} and, of cuDNN, {errors[1]:.1e}")
            with sensors:
                mine, its = (summary(times) for times in timed(torch, [own, peer]))
            flops = 4 * heads * length**2 * d * (0.5 if causal else 1)
            row = {"rung": "dealt_items", "variant": variant, "size": {"rows": LENGTH, "cols": HEADS}, "status": "PASS"}
            row.update(max_error=errors[0], tolerance=TOLERANCE, time_ms=mine, clock=sensors.seen())
            row.update(rate=flops / mine["median"] / 1e6, rate_unit="GFLOP/s")
            row.update(
                peer={"name": "cuDNN through PyTorch", "time_ms": its}, ratio_to_peer=its["median"] / mine["median"]
            )
            rows.append(row)
            print(
                f"{variant:24} {row['rate'] / 1e3:6.1f} TFLOP/s, cuDNN {flops / its['median'] / 1e9:6.1f}: "
                f"{row['ratio_to_peer']:.3f} at {row['clock']['sm_mhz']:.0f} MHz",
                flush=True,
            )
    return rows


def main():
    parser = argparse.ArgumentParser(prog="pairs.py", description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="where to (default: lines at the terminal alone)")
    parser.add_argument(
        "--build", type=Path, metavar="FOLDER", help="where the compiled kernels stay (default: nowhere)"
    )
    options = parser.parse_args()
    torch = pytorch.found(parser.prog, (9, 0))
    if not torch:
        return 2
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(torch, Kernels(options.build or Path(folder)))
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"pairs.py: {str(error).strip().splitlines()[0]}", file=sys.stderr)
        return 1
    if options.write:
        report = pytorch.report(torch, rows, f", cuDNN {torch.backends.cudnn.version()}")
        options.write.write_text(results.as_text(report), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
