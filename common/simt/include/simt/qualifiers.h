/// \file
/// CUDA's function and variable qualifiers. (`__shared__` is not here: simtcc rewrites it.)
#pragma once

/// A kernel keeps its own symbol, so that reports can name it with its template arguments.
#define __global__ __attribute__((noinline, used))
#define __device__
#define __host__
/// Constant memory has a section of its own, by which the simulator tells it from global memory.
#define __constant__ __attribute__((section("simt_constant")))
/// So has managed memory, which the host may write while a kernel runs.
#define __managed__ __attribute__((section("simt_managed")))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __inline_hint__
#define __nv_pure__ __attribute__((pure))
#define __no_return__ __attribute__((noreturn))
#define __device_builtin__
#define __cudart_builtin__
#ifndef __restrict__
#define __restrict__ __restrict
#endif
#define CUDARTAPI
#define CUDART_CB
