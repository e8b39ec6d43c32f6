/// \file
/// All of lab, and how a chapter uses it.
///
/// A chapter is its folder: `chapters/06_transpose/transpose.cu`, found by CMake and by the tests; no list names
/// it. Its header comment is the only place for title, question, sizes, rungs, their order, their ideas, what they
/// need and what they raise (docs/reference/chapter.md shows the form):
///
///     // # Chapter 06: Transpose
///     // ...
///     // Size gpu: 16384,16384
///     // Size simulator: 96,160
///     // Run: ./learn run 06
///     //   ./learn run 06 --rung naive       rows in, columns out
///     //   ./learn run 06 --rung tiled       rows in, rows out, turned in shared memory
///     //   ./learn run 06 --rung no_barrier  reads before the tile is full       [raises shared-race]
///     //   ./learn run 06 --rung tma         one thread asks, the TMA moves      [needs gpu, sm_90a, cuda 12.9]
///
/// The build links what it says to the program, so that the chapter gives each name its kernel and nothing else. A
/// chapter is a function of its extents; `lab::run` calls it for each size and case, in one loop, and each rung is run
/// as it is added, so that a launch may capture by reference what the function holds:
///
///     int main(int argc, char** argv) {
///       return lab::run(argc, argv, [](lab::Ladder& ladder, size_t rows, size_t cols) {
///         lab::Map<float> map(ladder, rows * cols);  // in, out, poison, bytes, peer, limit
///         const auto in = map.in;
///         const auto turned = [=] __host__ __device__(size_t i) { return in[i % rows * cols + i / rows]; };
///         const dim3 grid = lab::tiles(cols, rows, TILE), block(TILE, ROWS);
///
///         map.add("naive", turned, [&](auto* out, auto* in) { naive<<<grid, block>>>(out, in, rows, cols); });
///         map.sweep("tiled", turned, {
///             {"pad=0", [&](auto* out, auto* in) { tiled<0><<<grid, block>>>(out, in, rows, cols); }},
///             {"pad=1", [&](auto* out, auto* in) { tiled<1><<<grid, block>>>(out, in, rows, cols); }}});
///         map.demonstrate("no_barrier", [&](auto* out, auto* in) { ... });
///         lab::add_others(map);
///       });
///     }
///
/// What a rung has to compute is a `__host__ __device__` function of the index, which captures views by value: on a GPU
/// the reference is computed there (lab/reference.h).
///
/// What the simulator cannot compile stands in a file of its own beside it, `stencils_sm90.cu` or
/// `transpose_gpu.cu`, and registers itself; `lab::add_others` adds it. Where the build leaves that file out, the
/// header's rungs are SKIP, with the reason that `[needs ...]` gives:
///
///     static void add_tma(lab::Map<float>& map) { map.add("tma", ...); }
///     static const lab::Rungs here(add_tma);
///
/// Matrix products have one signature of kernels, `lab::GemmKernel`, one launcher and a ladder. The peer and the
/// rung `cublas` come with it:
///
///     __global__ void shared_tiles(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
///                                  int ldb, float beta, float* c, int ldc);
///
///     int main(int argc, char** argv) {
///       return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
///         ladder.add("naive_along_columns", naive_along_columns, {.rows = 8, .cols = 32, .threads = {32, 8}});
///         ladder.sweep("shared_tiles", {{"tile=16", shared_tiles<16>, {16, 16, {16, 16}}},
///                                       {"tile=32", shared_tiles<32>, {32, 32, {32, 32}}}});
///         ladder.add("naive_flat", [](const lab::Gemm& g) { naive_flat<<<..., 256>>>(g.m, g.n, ...); });
///         ladder.demonstrate("no_second_barrier", no_second_barrier, {32, 32, {32, 32}});
///         ladder.add_with([](lab::Ladder& ladder) { ladder.add(...); });  // no product: a microbenchmark
///       });
///     }
///
/// Whatever is neither a map nor a product says what it writes and what has to be in it (lab/expect.h). A problem that
/// several rungs solve is told once:
///
///     lab::DeviceBuffer<float> out(1, "out");
///     const lab::Problem sums(ladder, {.outputs = {lab::expect(out, std::vector{sum}, tolerance)},
///                                      .bytes = 4.0 * n,
///                                      .limit = lab::Limit::copy,
///                                      .peer = lab::vendor("CUB", lab::cub_sum(out.data(), in.data(), n))});
///     sums.add("sequential", [&] { in_passes(sequential, out.data(), in.data(), n); });
///     sums.sweep("unrolled", "block", {64u, 256u}, [&](unsigned block) { ... });
///     sums.demonstrate("racy_warp", [&] { ... });
///     ladder.add("integers", "", {.outputs = ...}, [&] { ... });  // the only rung of a problem
///     ladder.add({.name = "who_am_i", .launch = [&] { ... }, .outputs = {lab::expect(names, want)}, .timed = false});
///     ladder.demonstrate("host_touches_device", [&] { ... });
///
/// What has memory of its own is an object, an `Experiment`, whose members are called as those of a rung:
///
///     ladder.add("count_above", CountAbove(in), {.timed = false});  // has launch(), outputs() and show()
///
/// Work in several streams goes by `lab::Streams`, also on several devices (`lab::open_devices`, `Rung::devices`); `Rung::clock` times what the host waits for.
/// `lab/vectors.h` has what kernels need for float4: `aligned16`, `load4`, `store4`, `update4`.
#pragma once

#include "lab/backend.h"
#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/check.h"
#include "lab/convolution.h"
#include "lab/device.h"
#include "lab/devices.h"
#include "lab/elements.h"
#include "lab/expect.h"
#include "lab/gemm.h"
#include "lab/header.h"
#include "lab/inputs.h"
#include "lab/json.h"
#include "lab/ladder.h"
#include "lab/limits.h"
#include "lab/map.h"
#include "lab/nccl.h"
#include "lab/parallel.h"
#include "lab/peers.h"
#include "lab/reference.h"
#include "lab/row.h"
#include "lab/run.h"
#include "lab/rungs.h"
#include "lab/size.h"
#include "lab/stats.h"
#include "lab/streams.h"
#include "lab/table.h"
#include "lab/text.h"
#include "lab/timing.h"
#include "lab/vectors.h"
#include "lab/verify.h"
