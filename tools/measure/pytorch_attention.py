#!/usr/bin/env python3
"""Times PyTorch on the problems of chapter 18, for `results/h200_pytorch.json` and its like beside the chapter's own results.

usage: pytorch_attention.py [--write FILE]      FILE: chapters/18_attention/results/h200_pytorch.json

Rungs and variants are named as the chapter names those that solve the same problem: `ms("fused/d=128,full", "4096,64",
"h200_pytorch")` is what PyTorch takes for it. Needs PyTorch with CUDA. Products of floats stay in float (no TF32); attention in
float is PyTorch's memory-efficient kernel, decoding in BF16 is cuDNN's through PyTorch. attention_pairs/pairs.py times attention in
BF16. The L2 is flushed before each run. Takes half a minute, much of it for loading PyTorch and building cuDNN's kernels. A kernel that PyTorch does not have here
is named and left out, the others are written all the same, and the exit code is 1.
"""

import argparse
import sys
from pathlib import Path

sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[:2]]

import pytorch  # noqa: E402

from warp.chapter import results  # noqa: E402

LENGTH, HEADS = 4096, 64  # as `Size gpu` of the chapter
ROWS = {"tiny": (65536, 128), "short": (8192, 1024), "middle": (8192, 4096), "long": (8192, 32768)}


def quantile(times, part):
    return sorted(times)[min(len(times) - 1, int(part * len(times)))]


class Clock:
    def __init__(self, torch):
        self.torch = torch
        self.flushed = torch.empty(64 << 20, dtype=torch.float32, device="cuda")

    def times(self, work, runs=21):
        work()
        times = []
        for _ in range(runs):
            self.flushed.zero_()
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            work()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        return times


def row(rung, variant, times, amount, unit):
    median = quantile(times, 0.5)
    return {
        "rung": rung,
        "variant": variant,
        "size": {"rows": LENGTH, "cols": HEADS},
        "status": "PASS",
        "time_ms": {"median": median, "p10": quantile(times, 0.1), "p90": quantile(times, 0.9), "runs": len(times)},
        "rate": amount / median / 1e6,
        "rate_unit": unit,
    }


def problems(torch):
    """(rung, variant, what makes the inputs, what is timed of them, amount of work, its unit) of each problem."""
    functional = torch.nn.functional
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.backends.cuda.matmul.allow_tf32 = False

    def made(dtype, *shapes):
        return lambda: [torch.randn(*shape, device="cuda", dtype=dtype) for shape in shapes]

    def attention(backend, **options):
        def run(q, k, v):
            with sdpa_kernel(backend):
                functional.scaled_dot_product_attention(q, k, v, **options)

        return run

    for name, (count, cols) in ROWS.items():
        for operation, work in (
            ("softmax", lambda x, g, b: torch.softmax(x, -1)),
            ("layer_norm", lambda x, g, b, c=cols: functional.layer_norm(x, (c,), g, b)),
            ("rms_norm", lambda x, g, b, c=cols: functional.rms_norm(x, (c,), g)),
        ):
            rung = "warp_row" if name == "tiny" else "block_row"
            inputs = made(torch.float32, (count, cols), (cols,), (cols,))
            yield rung, f"{operation},{name}", inputs, work, 8 * count * cols, "GB/s"

    for d, heads in ((128, HEADS), (64, 2 * HEADS)):
        for mask in ("full", "causal"):
            flops = 4 * heads * LENGTH**2 * d * (0.5 if mask == "causal" else 1)
            inputs = made(torch.float32, *3 * [(1, heads, LENGTH, d)])
            work = attention(SDPBackend.EFFICIENT_ATTENTION, is_causal=mask == "causal")
            yield "fused", f"d={d},{mask}", inputs, work, flops, "GFLOP/s"

    for name, sequences, keys in (("one,short", 1, 8192), ("one,long", 1, 131072), ("many,short", HEADS, 8192)):
        cache = (sequences, 8, keys, 128)
        inputs = made(torch.bfloat16, (sequences, 32, 1, 128), cache, cache)
        work = attention(SDPBackend.CUDNN_ATTENTION, enable_gqa=True)
        yield "decode", f"{name},split", inputs, work, 4 * sequences * 8 * keys * 128, "GB/s"


def measure(torch):
    """The rows of all problems, and how many were not timed."""
    clock, rows, missing = Clock(torch), [], 0
    for rung, variant, inputs, work, amount, unit in problems(torch):
        try:
            tensors = inputs()
            times = clock.times(lambda work=work, tensors=tensors: work(*tensors))
        except RuntimeError as error:  # no such kernel, or too little memory
            missing += 1
            words = str(error).strip().splitlines() or [type(error).__name__]
            print(f"pytorch_attention.py: {rung}/{variant} was not timed: {words[0]}", file=sys.stderr)
            continue
        rows.append(row(rung, variant, times, amount, unit))
    return rows, missing


def main():
    parser = argparse.ArgumentParser(prog="pytorch_attention.py", description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="where to (default: to the terminal)")
    options = parser.parse_args()
    torch = pytorch.found(parser.prog)
    if not torch:
        return 2
    rows, missing = measure(torch)
    text = results.as_text(pytorch.report(torch, rows))
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
