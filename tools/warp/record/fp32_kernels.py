"""Names the kernels that a program launches, with Nsight Compute, and fails where a product of floats ran on
tensor cores.

Products in double precision (a reference) may use what they like. No product at all is a failure, too: then
nothing was checked. Only the standard library is needed.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys

from warp.record import counters

GEMM = re.compile(r"gemm|mma|cutlass", re.IGNORECASE)
DOUBLE = re.compile(r"f64|dgemm|d(?:884|1688|16816)gemm|zgemm", re.IGNORECASE)
# How the vendor's libraries name what runs on tensor cores: the unit, the shape of its instruction, or the type.
TENSOR = re.compile(r"tensor|warpgroup|[hwg]gmma|hmma|imma|tf32|bf16|f16|884|1688|16816|bf3x|bf9x", re.IGNORECASE)


def verdict(names: list[str]) -> tuple[list[str], list[str]]:
    """(products in float, those of them on tensor cores)"""
    products = [name for name in names if GEMM.search(name) and not DOUBLE.search(name)]
    return products, [name for name in products if TENSOR.search(name)]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./learn author fp32", description="Fails where a product of floats ran on tensor cores."
    )
    parser.add_argument("--timeout", type=int, default=240, help="seconds for the run")
    parser.add_argument("program", help="the program whose kernels are named")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(words)
    ncu = counters.find_ncu()
    if ncu is None:
        print("fp32_kernels.py: no ncu here; install Nsight Compute or set NCU to its path", file=sys.stderr)
        return 1
    code, output = counters.run(
        [
            ncu,
            "--csv",
            "--page",
            "raw",
            "--clock-control",
            "none",
            "--cache-control",
            "none",
            "--kernel-name-base",
            "function",
            "--metrics",
            "gpu__time_duration.sum",
            os.path.abspath(options.program),
            *options.arguments,
        ],
        options.timeout,
    )
    launches = counters.parse_raw_page(output, ["gpu__time_duration.sum"])
    names = [launch["kernel"] for launch in launches]
    for name, count in collections.Counter(names).items():
        print(f"{count:>5} x {name}")
    products, wrong = verdict(names)
    if code != 0 or not products:
        print(
            "fp32_kernels.py: exit code {}, {} launches, {} products of floats; last words:\n{}".format(
                code, len(names), len(products), "\n".join(output.splitlines()[-6:])
            ),
            file=sys.stderr,
        )
        return 1
    for name in dict.fromkeys(wrong):
        print(f"fp32_kernels.py: {name} runs on tensor cores", file=sys.stderr)
    return 1 if wrong else 0
