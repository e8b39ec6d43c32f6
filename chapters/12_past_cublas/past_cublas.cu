// # Chapter 12: Past cuBLAS
//
// Question: The loop is nine tenths FMAs and no load is late. Where does the rest of the peak go, and how much can we recover?
// Builds on: 11_pipelines
// Minutes: 35
// Afterwards: specialize warps, order tiles and share them evenly, and say what keeps a product from the peak
// Kind: gemm
// Size gpu: 4096,4096,4096
// Size simulator: 200,300,92
// Sizes measured: 4096,4096,4096 1024,1024,1024 2048,2048,2048 8192,8192,8192
// Run: ./learn run 12
//   ./learn run 12 --rung cublas           the vendor's library: what all others are compared with  [needs cublas]
//   ./learn run 12 --rung producer_ring    one warp loads, four add: a ring with two barriers for each stage
//   ./learn run 12 --rung no_empty_wait    the producer does not wait for empty stages  [raises hang]
//   ./learn run 12 --rung tma_box          one thread asks for a box of a matrix, the TMA copies it
//                                          [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 12 --rung register_budget  one warpgroup gives registers back, two take more
//                                          [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 12 --rung producer_warps   the product: four warps load, eight compute; a block stays for many tiles
//                                          [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 12 --rung without          the same product without one of its ideas  [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 12 --rung even_shares      the tiles that fill no whole wave are cut along K, evenly
//                                          [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 12 --rung tile_by_shape    smaller tiles where there are few of them  [needs gpu, sm_90a, cuda 12.9]

#include <cuda_runtime.h>

#include <cuda/barrier>
#include <memory>
#include <vector>

#include "lab/lab.h"

// In the last kernels of chapter 11 every warp does everything: it computes addresses, starts copies, waits for them,
// meets all others at a barrier, reads fragments, multiplies. Of the instructions of the loop 93 % are FMAs, and 84 of 100
// cycles issue an instruction: the FMA units do 78 % of what they could. The rest is lost in two ways. An instruction that
// is not an FMA takes an {term}`issue slot`. And with two warps for each scheduler, a cycle in which both wait issues nothing. It is
// not the barrier for which they wait: that takes 0.4 % of a warp's time.
//= 93 %: 100 * sass("11:grouped_tiles", "FFMA", "FFMA") / sass("11:grouped_tiles", "instructions", "FFMA")
//= 84 of 100: (ncu("11:grouped_tiles", "smsp__issue_active.avg.pct_of_peak_sustained_active"), 100)
//= 0.4 % of: 100 * ncu("11:grouped_tiles", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio") /
//=   ncu("11:grouped_tiles", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 78 %: sass("11:grouped_tiles", "FFMA", "FFMA") / sass("11:grouped_tiles", "instructions", "FFMA") *
//=   ncu("11:grouped_tiles", "smsp__issue_active.avg.pct_of_peak_sustained_active")
//
// This chapter divides the work, and passes cuBLAS. It uses three Hopper features (compute capability 9.0): barriers that
// count the bytes that arrive, a copy engine for boxes of a matrix, and registers that warps can hand over. Each comes in a
// small kernel of its own before the product needs it. The simulator runs the first; the others need the GPU, and are
// SKIP elsewhere.

// ## 1. Warps that only load
//
// {term}`Warp specialization <warp specialization>` means that warps of one block run different code. *Producer* warps
// load, *consumer* warps compute, and a ring of stages in shared memory connects them. `__syncthreads()` would defeat
// the purpose, since it makes all warps wait for each other. Only two waits are needed:
//
// - a consumer must not read a stage before *all* of its copies have arrived: the stage is **full**;
// - a producer must not refill a stage before *all* consumers have read it: the stage is **empty**.
//
// ```{drawing} ring
// ```
//
// The tool for that is the {term}`mbarrier`, a barrier that lies in shared memory; in CUDA C++ it is `cuda::barrier`.
// It is initialized with a number of arrivals. *Arriving* does not block, and a thread that *waits* need not arrive. When
// all have arrived, the barrier's {term}`phase <phase>` is complete and the next begins. A thread that waits names the
// phase by its parity: 0 for the first, 1 for the second, 0 for the third. That suffices as long as no side gets two
// phases ahead of the other. Each side goes around the ring with a parity of its own, which flips at the end of each
// round.
//
// Here is the ring of chapter 11 in this form: it adds up the columns of a matrix. One producer warp copies the rows,
// four consumer warps add. The copies go through registers; in section 4 asynchronous copies arrive at such a barrier.

constexpr int RING = 4;  // stages
using Barrier = cuda::barrier<cuda::thread_scope_block>;

/// sums[t] = sum of in[row][127 - t] over all rows. in is (rows, 128) floats.
///
/// WAIT_EMPTY is false for a demonstration.
///
/// Launch: one block of 160 threads: four consumer warps, one producer warp.
template <bool WAIT_EMPTY>
__device__ void sum_columns(float* sums, const float* in, int rows) {
  __shared__ float stages[RING][128];
  __shared__ __align__(16) char room[2][RING * sizeof(Barrier)];  // shared: no constructors
  Barrier* const full = reinterpret_cast<Barrier*>(room[0]);      // (RING)
  Barrier* const empty = reinterpret_cast<Barrier*>(room[1]);     // (RING)
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < RING; ++s) {
      init(&full[s], 32);    // arrivals of the producer's lanes
      init(&empty[s], 128);  // arrivals of the consumers
    }
  }
  __syncthreads();  // the barriers are ready; from here on each side runs by itself

  if (t >= 128) {  // producer
    // The parity of the phase before the first, which counts as complete: all stages are empty.
    bool parity = true;
    for (int row = 0, s = 0; row < rows; ++row) {
      if (WAIT_EMPTY) empty[s].wait_parity(parity);
      for (int i = t - 128; i < 128; i += 32) stages[s][i] = in[row * 128 + i];
      static_cast<void>(full[s].arrive());
      if (++s == RING) s = 0, parity = !parity;
    }
  } else {  // consumer
    bool parity = false;
    float sum = 0;
    for (int row = 0, s = 0; row < rows; ++row) {
      full[s].wait_parity(parity);
      sum += stages[s][127 - t];
      static_cast<void>(empty[s].arrive());
      if (++s == RING) s = 0, parity = !parity;
    }
    sums[t] = sum;
  }
}

/// The sums of the columns of a matrix: one warp loads, four add.
///
/// Launch: one block of 160 threads.
__global__ void producer_ring(float* sums, const float* in, int rows) {
  sum_columns<true>(sums, in, rows);
}

/// producer_ring whose producer does not wait for empty stages.
///
/// Launch: one block of 160 threads.
__global__ void no_empty_wait(float* sums, const float* in, int rows) {
  sum_columns<false>(sums, in, rows);
}

//? first_wait: The producer begins by waiting for `empty[0]`, at which nobody has arrived yet. What happens?
//? choices: it waits for the consumers | it passes at once | it hangs
//? answer: "it passes at once"
//
// It asks for parity 1, the phase *before* the first one, which counts as complete. So four stages are filled without
// waiting, and nobody has to declare them empty.
//
//? ahead: The matrix has 10 rows. How many rows can the producer have copied, at most, before a consumer reads one?
//? choices: 1 | 4 | 10
//? answer: min(4, 10)
//
// Four, one for each stage. For the fifth it needs `empty[0]`, at which 128 consumers have to arrive. The
// demonstration `no_empty_wait` does not wait for it. It overwrites stages that may still be read, and it laps the
// consumers. Stage 2 gets rows 2 and 6: `full[2]` completes two phases, a phase of parity 0 is current again, and a
// consumer that waits for the end of one waits forever. The simulator reports the hang.

// [hide] The program
/// Adds the ring and its demonstration: 10 rows of 128 floats.
void add_ring(lab::Ladder& ladder) {
  constexpr size_t rows = 10, columns = 128;
  const auto value = [] __host__ __device__(size_t i) { return static_cast<float>(i % 67); };
  const auto sum = [] __host__ __device__(size_t column) {
    double sum = 0;
    for (size_t row = 0; row < rows; ++row) sum += (row * columns + columns - 1 - column) % 67;
    return sum;
  };
  const lab::Input<float> in(rows * columns, value);
  lab::DeviceBuffer<float> sums(columns, "sums");
  ladder.add({.name = "producer_ring",
              .launch = [&] { producer_ring<<<1, 160>>>(sums.data(), in.data(), rows); },
              .outputs = {lab::expect(sums, sum, lab::tolerance_for_sum(rows, 67))},
              .timed = false});
  ladder.demonstrate("no_empty_wait",
                     [&] { no_empty_wait<<<1, 160>>>(sums.data(), in.data(), rows); });
}

// The rungs that need Hopper register themselves, at the end of past_cublas_sm90.cu.
int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    ladder.add_with(add_ring);
    lab::add_others(ladder);
  });
}
// [/hide]
