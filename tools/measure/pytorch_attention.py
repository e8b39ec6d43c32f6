#!/usr/bin/env python3
"""Times PyTorch on the problems of chapter 18, for `results/h200_pytorch.json` and its like beside the chapter's own results.

usage: pytorch_attention.py [--write FILE]      FILE: chapters/18_attention/results/h200_pytorch.json

Rungs and variants are named as the chapter names those that solve the same problem: `ms("fused/d=128,full", "4096,64",
"h200_pytorch")` is what PyTorch takes for it. Needs PyTorch with CUDA. Products of floats stay in float (no TF32); attention in
float is PyTorch's memory-efficient kernel, decoding is cuDNN's through PyTorch. The L2 is flushed before each run.
"""

import argparse
import datetime
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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


def measure(torch):
    functional = torch.nn.functional
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.backends.cuda.matmul.allow_tf32 = False
    clock, rows = Clock(torch), []
    for name, (count, cols) in ROWS.items():
        x, gamma, beta = (torch.randn(*shape, device="cuda") for shape in ((count, cols), (cols,), (cols,)))
        for operation, work in (
            ("softmax", lambda x=x: torch.softmax(x, -1)),
            ("layer_norm", lambda x=x, g=gamma, b=beta, c=cols: functional.layer_norm(x, (c,), g, b)),
            ("rms_norm", lambda x=x, g=gamma, c=cols: functional.rms_norm(x, (c,), g)),
        ):
            rung = "warp_row" if name == "tiny" else "block_row"
            rows.append(row(rung, f"{operation},{name}", clock.times(work), 8 * count * cols, "GB/s"))
    for d, heads in ((128, HEADS), (64, 2 * HEADS)):
        q, k, v = (torch.randn(1, heads, LENGTH, d, device="cuda") for _ in range(3))
        for mask in ("full", "causal"):
            with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
                times = clock.times(
                    lambda q=q, k=k, v=v, c=mask == "causal": functional.scaled_dot_product_attention(
                        q, k, v, is_causal=c
                    )
                )
            flops = 4 * heads * LENGTH**2 * d * (0.5 if mask == "causal" else 1)
            rows.append(row("fused", f"d={d},{mask}", times, flops, "GFLOP/s"))
    for name, sequences, keys in (("one,short", 1, 8192), ("one,long", 1, 131072), ("many,short", HEADS, 8192)):
        kind = {"device": "cuda", "dtype": torch.bfloat16}
        q = torch.randn(sequences, 32, 1, 128, **kind)
        k, v = (torch.randn(sequences, 8, keys, 128, **kind) for _ in range(2))
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            times = clock.times(lambda q=q, k=k, v=v: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True))
        rows.append(row("decode", f"{name},split", times, 4 * sequences * 8 * keys * 128, "GB/s"))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="pytorch_attention.py", description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="where to (default: to the terminal)")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("pytorch_attention.py: needs PyTorch: pip install torch", file=sys.stderr)
        return 2
    if not torch.cuda.is_available():
        print("pytorch_attention.py: needs a GPU that PyTorch can use", file=sys.stderr)
        return 2
    text = results.as_text(
        {
            "chapter": "18_attention",
            "backend": "gpu",
            "device": torch.cuda.get_device_name(),
            "toolkit": f"CUDA {torch.version.cuda}, PyTorch {torch.__version__}",
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "rows": measure(torch),
        }
    )
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
