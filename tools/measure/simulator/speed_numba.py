"""The naive transpose of speed.cu on Numba's CUDA simulator, which runs a Python thread per CUDA thread."""

import os
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numba  # noqa: E402
import numpy as np  # noqa: E402
from numba import cuda  # noqa: E402

N = 64  # of 1024: at this speed the whole matrix takes a quarter of an hour


@cuda.jit
def naive(a, out):
    x = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    out[x, y] = a[y, x]


def main():
    a = np.arange(N * N, dtype=np.float32).reshape(N, N)
    out = np.zeros_like(a)
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        naive[(N // 32, N // 8), (32, 8)](a, out)
        best = min(best, time.perf_counter() - begin)
    if not (out == a.T).all():
        raise SystemExit("the transpose is wrong")
    print(f"Numba {numba.__version__}, naive transpose of {N} x {N}: {1e9 * best / (2 * N * N):.0f} ns per lane access")


main()
