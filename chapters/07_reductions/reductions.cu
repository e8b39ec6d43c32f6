// # Chapter 07: Reductions
//
// Question: Every thread has a part of the answer, and the answer is one number. How do they agree on it?
// Builds on: 06_transpose
// Minutes: 35
// Path: short
// Afterwards: reduce an array within warps, blocks and the grid, and count into histograms
// Kind: map
// Size gpu: 268435456
// Size simulator: 32775
// Run: ./learn run 07
//   ./learn run 07 --rung on_cpu               a loop on one core of the host
//   ./learn run 07 --rung interleaved_modulo   a tree; every second thread adds, then every fourth, ...
//   ./learn run 07 --rung wrong_modulo         tid % s where tid % (2 * s) is meant [raises shared-race]
//   ./learn run 07 --rung interleaved_strided  the same tree; the first threads add
//   ./learn run 07 --rung sequential           the halves of the array are added to each other
//   ./learn run 07 --rung first_add            two elements for each thread, added before the tree
//   ./learn run 07 --rung past_the_end         n taken for a multiple of the block [raises out-of-bounds]
//   ./learn run 07 --rung racy_warp            the last warp without any synchronization [raises shared-race]
//   ./learn run 07 --rung last_warp            the last warp with __syncwarp
//   ./learn run 07 --rung unrolled             no loop left: one kernel for each size of block
//   ./learn run 07 --rung grid_stride          many elements for each thread, as many threads as run at a time
//   ./learn run 07 --rung shuffled             lanes read each other's registers
//   ./learn run 07 --rung scalars              4-byte loads, several of them in flight
//   ./learn run 07 --rung vectors              16-byte loads, several of them in flight
//   ./learn run 07 --rung single_pass          the last block adds the blocks' sums: one kernel
//   ./learn run 07 --rung small_sums           a hundred small sums, one after the other [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 07 --rung integers             one instruction adds up a warp, an atomic the rest
//   ./learn run 07 --rung fold                 any associative operator, in the order of the elements
//   ./learn run 07 --rung arg_max              the index of the largest element, by keys of 64 bits
//   ./learn run 07 --rung histogram_global     256 counters in global memory
//   ./learn run 07 --rung histogram_shared     counters in shared memory, in one copy or several

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda/atomic>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/cub.h"
#include "lab/lab.h"

using std::size_t;

// In a map, as in the chapters before, no thread needs another's result. A {term}`reduction` is the opposite: it
// combines all elements into one value, such as their sum, their maximum, or the place of the maximum. The norm of a
// vector, the loss of a neural network and the brightness of a picture are reductions. There is hardly any arithmetic
// in them. The difficulty is that thousands of threads have to combine their results, and every scheme has its
// pitfalls.
//
// After this chapter you can write a reduction that is as fast as the memory, for any operator that allows it. You
// know why the kernels that most tutorials show are slow, and which of them are wrong on today's hardware.
//
// Counts are for 32,775 floats, the simulator's default: 2^15 elements and 7 more. On a GPU the default is 2^28
// floats, 1 GiB. The peer is CUB, the library of the CUDA Toolkit for such work.
//= 32,775 floats: 2 ** 15 + 7

constexpr unsigned BLOCK = 256;       ///< threads of a block where nothing else is said
constexpr unsigned ALL = 0xffffffff;  ///< the mask of all 32 lanes

// ## 1. The loop to beat
//
// On one core, a sum is a loop. Each addition needs the result of the one before, so it is also a chain: the loop
// takes as long as n additions, one after the other.
//
//? float_loop: The 2^28 floats of this chapter lie between -1 and 1 and add up to about 67 million. What does the loop
//?   return if its accumulator is a float?
//? choices: 67 million, off by a few hundred | 64 million | 17 million
//? answer: 2**24 / 1e6

/// Adds up n numbers, one after the other.
///
/// Launch: no kernel.
double on_cpu(const float* in, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += in[i];
  return sum;
}

// With a float it gets stuck at 2^24, or 16.8 million. A float has 24 significant bits, so from 2^24 on neighbouring
// floats are 2 apart. A positive addend below 1 is rounded away there, so the sum never gets past it. Hence the `double`.
//= 16.8 million: 2 ** 24 / 1e6
//
// Keep this in mind for the rest of the chapter. A GPU adds in another order: thousands of short sums first, then the
// sums of these. The terms of each sum are about equally large, so little is rounded away. With floats, the parallel
// sum is not only faster than a loop with a float accumulator but also more accurate.
//
// ## 2. A tree
//
// Up to rounding, the order of the additions does not matter, so choose one with many independent additions: a tree.
// Eight elements take three steps instead of seven:
//
// ```{drawing} neighbours
// ```
//
// In general n elements take log2(n) steps. Within a block, threads exchange values through shared memory, with a
// barrier after each step. An ordinary launch has no barrier between its blocks. So a block writes its sum to memory,
// and the next launch adds up the sums of the blocks, until one block is left. For 2^28 elements and blocks of 256
// these are four launches.
//= four launches: -(-28 // 8)
//
// The kernels of this chapter up to section 6 are those of a well-known presentation of 2007. Each repairs one fault
// of the kernel before. The first one follows the picture: in the step with distance s, the threads whose number is a
// multiple of 2s add. (`extern __shared__` is dynamic shared memory, chapter 03: the launch says how large `sums` is.)
//
//? modulo_warps: A block of 256 threads is 8 warps, and there are 8 steps. How many additions do the warps of a block
//?   execute in all steps together? A warp that adds for a single lane counts as much as one that adds for all.
//? answer: (count("interleaved_modulo", "shared_load_requests") / 130 - 1) / 2
//? unit: additions
//? near: 10 %

/// out[b] = the sum of the elements of block b, as many as it has threads.
///
/// @param out  one float for each block; written
/// @param in   n floats
/// @param n    any number
///
/// Launch: blocks of a power of two of threads, one thread per element, a float of shared memory per thread.
/// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007, as are the six that follow.
__global__ void interleaved_modulo(float* out, const float* in, size_t n) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// From s = 1 to s = 16 the number of threads that add falls from 128 to 8, but they are spread over all 8 warps, and
// each warp executes the addition even if only one of its lanes takes part. Then follow 4, 2 and 1 warps: 47 additions of
// a warp, where 12 would be enough for the 255 sums of the block: 4 + 2 + 1, and 1 for each of the last five steps. The operator `%` costs extra, as the divisor is not
// known to the compiler.
//= 47 additions of a warp, where 12 would be enough for the 255: ((count("interleaved_modulo",
//=   "shared_load_requests") / 130 - 1) / 2, 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1, 128 + 64 + 32 + 16 + 8 + 4 + 2 + 1)
//
// ```{drawing} lanes
// ```
//
// **Timed.** It takes 2.6 ms. The loop on one core of the host takes 226 ms, and CUB 0.24 ms: 11 times less.
//= 2.6 ms: ms("interleaved_modulo")
//= 226 ms: ms("on_cpu")
//= 0.24 ms: ms("interleaved_modulo") * ratio("interleaved_modulo")
//= 11 times: 1 / ratio("interleaved_modulo")
//
// Three details are easy to get wrong. A thread past the end of the array contributes 0, the {term}`identity` of
// addition, and takes part in every barrier. The block has to be a power of two, or the tree misses elements. And the
// condition is `t % (2 * s)`. With `t % s`, too many threads add:

/// `interleaved_modulo` with a mistake: t % s.
///
/// Launch: as `interleaved_modulo`.
__global__ void wrong_modulo(float* out, const float* in, size_t n) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % s == 0 && t + s < blockDim.x) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// In the step s = 32 thread 0 reads `sums[32]` while thread 32, of another warp, writes to it, and whether the old or the
// new value is read depends on which warp comes first. Such a {term}`race` can give the right result for years. The
// simulator reports it in the first run.
//
// ## 3. Which threads add
//
// Other threads can do the same additions. Let the *first* threads do them: thread t adds the pair that begins at
// element 2 s t. Once half of the threads are idle, they are whole warps, and a warp without work executes no addition.
//
//? strided_banks: In the step s = 16, the first 8 threads add, and thread t reads element 32 t. How many wavefronts
//?   does this load take?
//? choices: 1 | 2 | 4 | 8
//? answer: 8 / (32 / 32)

/// The same sums as `interleaved_modulo`; thread t of those that are needed adds pair t.
///
/// Launch: as `interleaved_modulo`.
__global__ void interleaved_strided(float* out, const float* in, size_t n) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned left = 2 * s * t;
    if (left < blockDim.x) sums[left] += sums[left + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// **Counted.** A block issues 25 loads from shared memory instead of 95. But elements 0, 32, 64, ... all lie in bank
// 0, so that this load takes 8 wavefronts for its 8 lanes. The stride 2s is a power of two in every step, which is
// the worst that a stride can be (chapter 05). Together the 25 loads take 95 wavefronts: in wavefronts
// nothing is saved.
//= 25 loads from shared memory instead of 95: (count("interleaved_strided", "shared_load_requests") / 130,
//=   count("interleaved_modulo", "shared_load_requests") / 130)
//= 25 loads take 95 wavefronts: (count("interleaved_strided", "shared_load_requests") / 130,
//=   count("interleaved_strided", "shared_load_wavefronts") / 130)
//
// **Timed.** 1.6 ms instead of 2.6: the wavefronts are the same. `%` is gone, and fewer instructions and loads are
// issued; the share of each was not measured.
//= 1.6 ms instead of 2.6: (ms("interleaved_strided"), ms("interleaved_modulo"))
//
// **So:** neighbouring threads should read neighbouring words. That means not to add elements that are neighbours in the
// array. Add the two halves of the array to each other, then the halves of what is left:
//
// ```{drawing} halves
// ```
//
//? sequential_conflicts: How many bank conflicts does this kernel have?
//? answer: count("sequential", "shared_load_bank_conflicts") + count("sequential", "shared_store_bank_conflicts")
//? near: exact

/// The same; element t and its counterpart in the other half are added.
///
/// Launch: as `interleaved_modulo`.
__global__ void sequential(float* out, const float* in, size_t n) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// Thread t reads the words t and t + s: consecutive lanes, consecutive banks, no conflict in any step. The 25 loads
// take 25 wavefronts. The order of the additions has changed for the first time: the operator must be **commutative**
// as well as **associative**. Addition is both (for floats, up to rounding). Section 11 has an operator that is not.
//= 25 loads take 25: (count("sequential", "shared_load_requests") / 130, count("sequential",
//=   "shared_load_wavefronts") / 130)
//
// **Timed.** 1.2 ms. The wavefronts fell from 95 to 25, and the index is simpler; the share of each was not
// measured.
//= 1.2 ms: ms("sequential")
//
// ```{drawing} trees
// ```
//
// ```{live} access-trees
// :examples: tree_steps tree_orders
// ```
//
// ## 4. Threads that only load
//
// Half of the threads of `sequential` load an element, store it, and never add anything. Let each thread load two
// elements and add them right away. The same tree now serves twice as many elements, and there are half as many
// blocks.
//
//? two_elements: How many times as fast as `sequential` is it?
//? answer: ms("sequential") / ms("first_add")
//? unit: times
//? near: 15 %

/// out[b] = the sum of the elements of block b, twice as many as it has threads.
///
/// Launch: blocks of a power of two of threads, one thread for two elements, a float of shared memory per thread.
__global__ void first_add(float* out, const float* in, size_t n) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * (2 * blockDim.x) + t;
  const float low = i < n ? in[i] : 0, high = i + blockDim.x < n ? in[i + blockDim.x] : 0;
  sums[t] = low + high;
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// **Timed.** 0.66 ms instead of 1.22 ms. Almost all that a block does is the tree, and half of the trees are gone. In
// addition, each thread has two loads in flight; the share of each was not measured.
//= 0.66 ms instead of 1.22 ms: (ms("first_add"), ms("sequential"))
//
// Each of the two loads has a guard of its own, because the end of the array may lie between them. A kernel without
// guards is right in its first pass for every multiple of 512, as the sizes of most examples are. The guards can be dropped only if the
// array is padded with zeros, which costs a copy, or if n is a multiple of the block's elements, which it rarely is.

/// `first_add` with a mistake: it takes n for a multiple of the elements of a block.
///
/// Launch: as `first_add`.
__global__ void past_the_end(float* out, const float* in, size_t) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * (2 * blockDim.x) + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// The last 7 elements belong to block 64, which reads 505 more. On a GPU that often goes unnoticed: memory is
// allocated in larger pieces, and what lies past the end of the array may be zero.
//= 505 more: 65 * 512 - (2 ** 15 + 7)
//
// ## 5. The last warp
//
// From s = 32 on a single warp is left, yet the block still waits at a barrier after each step.
//
//? idle_lanes: In the five steps from s = 16 to s = 1 that warp executes five additions. What part of its lanes is
//?   active, on average?
//? choices: a half | a third | a fifth | a tenth
//? answer: (16 + 8 + 4 + 2 + 1) / (5 * 32)
//
// The five steps have 16, 8, 4, 2 and 1 active lanes, 31 of 160. A warp that adds with all lanes takes no longer,
// even if most of the sums are never used. So the last steps need neither a condition nor a barrier of the block. In
// 2007 the lanes of a warp executed every instruction together, and the last steps were written without any
// synchronization. The word `volatile` kept the compiler from holding the values in registers:
//= 31 of 160: (16 + 8 + 4 + 2 + 1, 5 * 32)

/// `first_add`, its last warp as it was written in 2007: a mistake today.
///
/// Launch: as `first_add`, at least 64 threads.
__global__ void racy_warp(float* out, const float* in, size_t n) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * (2 * blockDim.x) + t;
  const float low = i < n ? in[i] : 0, high = i + blockDim.x < n ? in[i + blockDim.x] : 0;
  sums[t] = low + high;
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t < 32) {
    volatile float* const warp = sums;
    warp[t] = warp[t] + warp[t + 32];
    warp[t] = warp[t] + warp[t + 16];
    warp[t] = warp[t] + warp[t + 8];
    warp[t] = warp[t] + warp[t + 4];
    warp[t] = warp[t] + warp[t + 2];
    warp[t] = warp[t] + warp[t + 1];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// A warp still issues one instruction at a time, but since Volta (2017) each lane has its own program counter, and lanes that
// could execute an instruction together need not. Lane 0 may read `warp[16]` after lane 16 has written its next value there. The kernel was correct on the hardware
// that it was written for, and it is still copied today.
//
// The repair is `__syncwarp()`, a barrier for the lanes of a warp: none goes on before all have arrived, and each
// sees what the others have written. A read and a write of the same word need a barrier between them, so each step
// has two: one after all lanes have read, one after all have written.

/// Adds up 64 floats with the 32 lanes of a warp; the sum is in sums[0] and is what lane 0 returns.
__device__ float last_warp_sum(float* sums, unsigned lane) {
  float sum = sums[lane];
#pragma unroll
  for (unsigned s = 32; s > 0; s /= 2) {
    sum += sums[lane + s];
    __syncwarp();  // all lanes have read
    sums[lane] = sum;
    __syncwarp();  // all lanes have written
  }
  return sum;
}

/// The sums of `first_add`; below 64 elements only one warp is left, and it needs no barrier of the block.
///
/// Launch: as `first_add`, at least 64 threads.
__global__ void last_warp(float* out, const float* in, size_t n) {
  extern __shared__ float sums[];  // (blockDim.x)
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * (2 * blockDim.x) + t;
  const float low = i < n ? in[i] : 0, high = i + blockDim.x < n ? in[i + blockDim.x] : 0;
  sums[t] = low + high;
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t < 32) {
    const float sum = last_warp_sum(sums, t);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// For the whole block the counter says the same: a shared load of `first_add` has 20.4 active lanes, one of `last_warp`
// 32.
//= 20.4 active: count("first_add", "shared_load_active_lanes") / count("first_add", "shared_load_requests")
//= 32: count("last_warp", "shared_load_active_lanes") / count("last_warp", "shared_load_requests")
//
// **Timed.** 0.48 ms instead of 0.66 ms: of the nine barriers of a block of 256 threads, six are gone, and with them the
// condition of each step; the share of each was not measured.
//= 0.48 ms instead of 0.66 ms: (ms("last_warp"), ms("first_add"))
//
// ## 6. More work for each thread
//
// The loop itself is overhead: a counter, a comparison, a jump. If the size of the block is known to the
// compiler, it unrolls the loop. The size becomes a template parameter, and the host chooses with a `switch` over the
// sizes that exist. This is the sixth kernel of the classic series, with its `switch`:

/// Adds up an array in shared memory that the block's THREADS threads have just written, without a loop at run time.
/// Thread 0 gets the sum.
template <unsigned THREADS>
__device__ float unrolled_tree(float* sums, unsigned t) {
  __syncthreads();
#pragma unroll
  for (unsigned s = THREADS / 2; s > 32; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  return t < 32 ? last_warp_sum(sums, t) : 0;
}

/// The sums of `first_add`, for blocks of THREADS.
///
/// Launch: blocks of THREADS, a power of two from 64, one thread for two elements.
template <unsigned THREADS>
__global__ void unrolled(float* out, const float* in, size_t n) {
  __shared__ float sums[THREADS];
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * (2 * THREADS) + t;
  const float low = i < n ? in[i] : 0, high = i + THREADS < n ? in[i + THREADS] : 0;
  sums[t] = low + high;
  const float sum = unrolled_tree<THREADS>(sums, t);
  if (t == 0) out[blockIdx.x] = sum;
}

/// A kernel that leaves one sum for each block.
using SumKernel = void (*)(float* out, const float* in, size_t n);

/// `unrolled` for blocks of `block` threads, a power of two from 64 to 1024.
SumKernel unrolled_for(unsigned block) {
  switch (block) {
    case 64:
      return unrolled<64>;
    case 128:
      return unrolled<128>;
    case 256:
      return unrolled<256>;
    case 512:
      return unrolled<512>;
    default:
      return unrolled<1024>;
  }
}

// **Timed.** Blocks of 64, 128 and 256 threads take 1.28, 0.64 and 0.45 ms. Memory does not decide the first two: an
// H100, whose memory is slower, takes 1.28 and 0.65 ms, and half as many blocks take half the time. Some 1.6 blocks
// start in each nanosecond, about the limit of the block scheduler in chapter 01. With 512 and 1024 threads it is 0.53
// and 0.65 ms; why was not measured.
//= 1.28, 0.64 and 0.45 ms: (ms("unrolled/block=64"), ms("unrolled/block=128"), ms("unrolled/block=256"))
//= 1.28 and 0.65 ms: (ms("unrolled/block=64", gpu="h100"), ms("unrolled/block=128", gpu="h100"))
//= Some 1.6 blocks: 2 ** 28 / 128 / ms("unrolled/block=64") / 1e6
//= 0.53 and 0.65 ms: (ms("unrolled/block=512"), ms("unrolled/block=1024"))
//
// The sixth kernel still spends a tree of 8 steps on 512 elements. The seventh asks how many threads there should be
// at all. With P processors, a sum of n elements takes n / P steps in which each processor adds up its own share, and
// log2(P) steps to combine P sums. In the first part every thread adds in every step. In the tree most threads wait.
// So use the tree rarely: once for a long sum.
//
//? cost: Sixteen blocks of 256 elements, one after the other, take 16 trees of 8 steps: 128 steps. How many does one
//?   block of 256 threads take for the same 4096 elements, if each thread adds up 16 of them before the tree?
//? choices: 8 | 23 | 64 | 128
//? answer: 15 + 8
//
// 15 additions in each thread and 8 steps of the tree: 23 instead of 128. The **cost** of a parallel algorithm is its
// steps times its processors, busy or idle. Here the 256 threads cost 5,888 instead of 32,768, for 4,095 additions.
//= 5,888 instead of 32,768, for 4,095: (256 * 23, 256 * 128, 4096 - 1)
//
// To give fewer threads more work each is called *thread coarsening*. The more elements a thread has, the less the tree
// matters. A {term}`grid-stride loop` gives each thread as many as necessary, with a grid that just fills the GPU: 2048
// threads for each SM of an H200. A second launch with one block adds up what that leaves. However large the array is,
// these are two launches.
//
// **Timed.** `grid_stride` takes 0.42 ms, `unrolled` with as large a block 0.45 ms.
//= 0.42 ms, `unrolled` with as large a block 0.45 ms: (ms("grid_stride"), ms("unrolled/block=256"))

/// out[b] = the sum of all elements that block b visits.
///
/// Launch: blocks of BLOCK, any number of them.
__global__ void grid_stride(float* out, const float* in, size_t n) {
  __shared__ float sums[BLOCK];
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (size_t i = size_t{blockIdx.x} * BLOCK + t; i < n; i += size_t{gridDim.x} * BLOCK) {
    sum += in[i];
  }
  sums[t] = sum;
  sum = unrolled_tree<BLOCK>(sums, t);
  if (t == 0) out[blockIdx.x] = sum;
}

// ## 7. Registers instead of shared memory
//
// Within a warp, lanes can read each other's registers. `__shfl_xor_sync(mask, value, d)` gives lane l the `value` of
// lane l ^ d. The lanes of the mask execute it together, so it synchronizes them, and without memory there can be no
// race. With d = 16, 8, 4, 2, 1 all lanes end up with the sum of the warp.
//
// ```{drawing} exchange
// ```
//
// The warps of a block exchange their sums through shared memory: one store each, one barrier, and the first warp
// adds them up in the same way.
//
//? shuffle_stores: How many words does a block of 256 threads now store to shared memory?
//? answer: count("shuffled", "shared_store_active_lanes") / 65
//? unit: words
//? near: exact

/// The sum of a value over the lanes of a warp; every lane gets it. All 32 lanes call it.
__device__ float warp_sum(float value) {
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(ALL, value, distance);
  }
  return value;
}

/// The sum of a value over the THREADS threads of a block; the threads of the first warp get it. All threads call it,
/// with a barrier between two calls.
template <unsigned THREADS>
__device__ float block_sum(float value) {
  __shared__ float sums[THREADS / 32];  // (warp)
  const unsigned t = threadIdx.x;
  value = warp_sum(value);
  if (t % 32 == 0) sums[t / 32] = value;
  __syncthreads();
  if (t >= 32) return 0;
  return warp_sum(t < THREADS / 32 ? sums[t] : 0);
}

/// The sums of `grid_stride`, with one barrier.
///
/// Launch: blocks of BLOCK, any number of them.
__global__ void shuffled(float* out, const float* in, size_t n) {
  float sum = 0;
  for (size_t i = size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n; i += size_t{gridDim.x} * BLOCK) {
    sum += in[i];
  }
  sum = block_sum<BLOCK>(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Eight words, one for each warp. One warp loads them, where the tree of `grid_stride` has 19 loads, and there is one
// barrier instead of three. Every lane of the warp has to reach the shuffle. In `block_sum` whole warps return, and
// the threads of the first warp beyond the number of sums contribute the identity. A shuffle within `if (t < n)`
// would be a mistake: the mask names 32 lanes, and some would not arrive.
//= 19 loads: count("grid_stride", "shared_load_requests") / 65
//
// ### Cooperative groups (second reading)
//
// The header `cooperative_groups.h` has objects for all this. `tiled_partition<32>` of a block is the warp of the
// caller, its `thread_rank()` the lane, and `reduce` the five shuffles, for any operator that commutes:

namespace cg = cooperative_groups;

/// The sums of `shuffled`, by cooperative groups.
///
/// Launch: blocks of BLOCK, any number of them.
__global__ void group_sums(float* out, const float* in, size_t n) {
  __shared__ float sums[BLOCK / 32];  // (warp)
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  float sum = 0;
  for (size_t i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) sum += in[i];

  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() > 0) return;
  const unsigned lane = warp.thread_rank();
  sum = cg::reduce(warp, lane < BLOCK / 32 ? sums[lane] : 0.0f, cg::plus<float>());
  if (lane == 0) out[blockIdx.x] = sum;
}

// The counts are those of `shuffled`. For this loop the tree hardly matters any more: it is executed once per block, and
// a block has hundreds of thousands of elements.
//
// **Timed.** Both take 0.42 ms, as `grid_stride` does: 58 % of CUB's rate.
//= 0.42 ms: (ms("shuffled") + ms("shuffled/by=groups")) / 2
//= 58 %: 100 * ratio("shuffled")
//
// ## 8. Bytes in flight
//
// What remains is the loop over the elements, and its limit is the memory: at the peak of 4.9 TB/s, reading 1 GiB
// takes 0.22 ms. By {term}`Little's law <Little’s law>` the bandwidth is the number of bytes in flight over the
// latency. nvcc does not unroll the loop of `shuffled`: it has one load, the addition waits for it, and only then comes
// the next load. A thread has 4 bytes in flight.
//= one load: sass("shuffled", "LDG", "loop")
//= 4.9 TB/s: 6144 * 3201e6 * 2 / 8 / 1e12
//= 0.22 ms: 2 ** 30 / (6144 * 3201e6 * 2 / 8) * 1e3
//
// As in chapter 06, the remedy is several independent loads before the first value is used, here of 16 bytes each. The
// accumulators are independent, too: with a single one, each addition would wait for the one before. `__ldcs` says
// that the data is read only once, so that L2 evicts it first. Here that gained 2 to 3 % (notes of the chapter). In
// chapter 06, where each block also writes, the same hint is the slowest: a hint has to be timed.
//
// Some numbers: at a latency of 0.33 us (chapter 02), 4.9 TB/s need 1.6 MB in flight, or 12 KB for each of 132 SMs.
// 2048 threads with 4 bytes each have 8 KB in flight, and with four loads of 16 bytes 131 KB. Latency rises with the
// load on the memory, and at any time some threads are adding, so it takes several times the 12 KB.
//= 0.33 us: ms("02:memory_latency/global memory") / 1000
//= 4.9 TB/s need 1.6 MB in flight, or 12 KB for each of 132: (6144 * 3201e6 * 2 / 8 / 1e12,
//=   ms("02:memory_latency/global memory") * 6144 * 3201 * 2 / 8 / 1e9,
//=   ms("02:memory_latency/global memory") * 6144 * 3201 * 2 / 8 / 132 / 1e6, 132)
//= 8 KB in flight, and with four loads of 16 bytes 131: (2048 * 4 / 1e3, 16, 2048 * 4 * 16 / 1e3)

/// The sum of the elements of one thread: LOADS float4 of each tile that its block takes, a grid's length apart, and
/// one of up to three floats at the end of the array.
/// @param block  whose tiles they are
template <unsigned THREADS, unsigned LOADS>
__device__ float thread_sum(const float* in, size_t n, unsigned block = blockIdx.x) {
  constexpr unsigned TILE = THREADS * LOADS;  // float4 that a block takes at a time
  const float4* const in4 = reinterpret_cast<const float4*>(in);
  const auto sum_of = [](float4 four) { return (four.x + four.y) + (four.z + four.w); };
  const size_t whole = n / 4, step = size_t{gridDim.x} * TILE;
  size_t i = size_t{block} * TILE + threadIdx.x;
  float sums[4] = {};

#pragma unroll 1  // the compiler shall not add loads of its own
  for (; i + (LOADS - 1) * THREADS < whole; i += step) {
    float4 four[LOADS];
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) four[u] = __ldcs(in4 + i + u * THREADS);
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) sums[u % 4] += sum_of(four[u]);
  }

  // The last tile may be cut, and the last float4, too.
#pragma unroll 1
  for (; i < whole; i += THREADS) sums[0] += sum_of(in4[i]);
  if (block == 0 && threadIdx.x < n % 4) sums[1] += in[4 * whole + threadIdx.x];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Threads that an SM holds. nvcc compiles a kernel once for each kind of GPU and calls that kind __CUDA_ARCH__, 900 for an
/// H200; the host, for which it is not defined, takes 2048.
#if __CUDA_ARCH__ == 750
constexpr unsigned FULL = 1024;
#elif (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100
constexpr unsigned FULL = 1536;
#else
constexpr unsigned FULL = 2048;
#endif

/// out[b] = the sum of all elements that block b visits.
///
/// @tparam LOADS  16-byte loads of a thread that are in flight at a time
///
/// Launch: blocks of THREADS, any number of them.
/// Requires: in is aligned to 16 bytes.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    vectors(float* out, const float* in, size_t n) {
  const float sum = block_sum<THREADS>(thread_sum<THREADS, LOADS>(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// **Counted.** Each request of `vectors` moves 16 sectors, one of `shuffled` 4. The last tile of the array may be cut
// anywhere, even within a `float4`. The loop handles complete tiles only, and the two statements behind it handle the
// rest, with a guard for each access.
//= 16 sectors: round(count("vectors/loads=4", "global_load_sectors") / count("vectors/loads=4",
//=   "global_load_requests"))
//= 4.: round(count("shuffled", "global_load_sectors") / count("shuffled", "global_load_requests"))
//
// With LOADS = 8 a thread asks for eight float4, which take 32 registers. If 2048 threads are to fit on an SM, a thread has
// 65,536 / 2048 = 32 in all, so not all eight can be in flight. `__launch_bounds__(512, 4)` demands exactly that:
// at least four blocks of 512 threads on an SM.
//
// **Timed.** One load of 16 bytes at a time brings 0.97 of the peer's rate, four bring all of it: 0.243 ms, and 4.4
// TB/s. A copy gets 4.3. That memory need not switch between reading and writing may be why; it was not measured.
//= A copy gets 4.3: limit("copy") / 1e3
//= 0.97: ratio("vectors/loads=1")
//= 0.243 ms, and 4.4 TB/s: (ms("vectors/loads=4"), rate("vectors/loads=4") / 1e3)
//
// ### Is it the width or the number? (second reading)
//
// From `shuffled` to `vectors` with one load the *width* of a load changes, and with it the bytes in flight. `scalars`
// keeps the width of 4 bytes and changes the number alone.

/// The sums of `shuffled`, with several loads in front of the first addition, each with a guard of its own.
///
/// @tparam LOADS  4-byte loads of a thread that are in flight at a time
///
/// Launch: blocks of THREADS, any number of them.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    scalars(float* out, const float* in, size_t n) {
  const size_t step = size_t{gridDim.x} * THREADS;
  float sums[4] = {};
#pragma unroll 1  // the compiler shall not add loads of its own
  for (size_t i = size_t{blockIdx.x} * THREADS + threadIdx.x; i < n; i += LOADS * step) {
    float one[LOADS];
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) one[u] = i + u * step < n ? in[i + u * step] : 0;
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) sums[u % 4] += one[u];
  }
  const float sum = block_sum<THREADS>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// | bytes in flight for each thread | 4 | 16 | 32 | 64 |
// |---|--:|--:|--:|--:|
// | `scalars`: loads of 4 bytes | 0.418 | 0.254 | 0.247 | 0.252 |
// | `vectors`: loads of 16 bytes | | 0.249 | 0.242 | 0.243 |
//= of 4 bytes | 0.418 | 0.254 | 0.247 | 0.252 |: (4, ms("scalars/loads=1"), ms("scalars/loads=4"), ms("scalars/loads=8"),
//=   ms("scalars/loads=16"))
//= of 16 bytes | | 0.249 | 0.242 | 0.243 |: (16, ms("vectors/loads=1"), ms("vectors/loads=2"), ms("vectors/loads=4"))
//
// In ms. It is the bytes in flight: four loads of 4 bytes are 1.6 times as fast as one, and one load of 16 bytes is only
// 2 % faster than these four.
//= 1.6 times: ms("scalars/loads=1") / ms("scalars/loads=4")
//= 2 % faster: 100 * (ms("scalars/loads=4") / ms("vectors/loads=1") - 1)
//
// ## 9. One kernel
//
// The second launch reads a few hundred floats, and costs a full launch. It is not needed if the blocks of the first
// one agree on the sum among themselves.
//
// The usual way is a **ticket**. Each block writes its sum to memory, then adds 1 to a counter with an atomic, which returns
// the number before. The block that gets the last number knows that all sums are there, and adds them up. Between its two
// steps a block needs a *fence*, `__threadfence()`: whoever sees what a thread writes after it sees what the thread wrote
// before it, too, provided that it fences between its two reads. Thread 0 does so once it has its ticket, and the barrier passes
// that on to its block.
//
//? two_stores: A block stores its sum, then sets a flag, without a fence in between. Another block sees the flag. What
//?   may it read as the sum?
//? choices: always the new sum | the old contents of that word | an error is raised
//? answer: "the old contents of that word"
//
// The order in which stores of one thread become visible to others is not the order of the program, unless a fence
// says so. The counter has to be 0 again before the next launch, and the last block is the one that can reset it.

/// Adds up the sums of all blocks, in the last of them that gets here; that block gets the total, in the threads of its
/// first warp, and is told so. All threads of all blocks call it once, behind a call of `block_sum`.
///
/// @param total    the sum of this block in thread 0, then that of all
/// @param block    the number of this block's sum
/// @param partial  one for each block
/// @param tickets  how many blocks have come, 0 before the launch and after it
template <unsigned THREADS>
__device__ bool last_block_adds(float& total, unsigned block, float* partial, unsigned* tickets) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[block] = total;
    __threadfence();  // the sum is visible before the ticket is drawn
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    __threadfence();  // and nothing is read before it
  }
  __syncthreads();
  if (!last) return false;

  total = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) total += partial[b];
  total = block_sum<THREADS>(total);
  if (threadIdx.x == 0) *tickets = 0;  // for the next launch
  return true;
}

/// *out = the sum of n floats; block b adds up the share of block (b + first) % gridDim.x.
///
/// @param first  any number; it changes who adds what and when, and not the result
///
/// The rest as `last_block_adds`. Launch: blocks of THREADS, any number of them.
/// Requires: in is aligned to 16 bytes.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    ticketed(float* out, float* partial, unsigned* tickets, const float* in, size_t n,
             unsigned first) {
  const unsigned block = (blockIdx.x + first) % gridDim.x;
  float sum = block_sum<THREADS>(thread_sum<THREADS, LOADS>(in, n, block));
  if (last_block_adds<THREADS>(sum, block, partial, tickets) && threadIdx.x == 0) *out = sum;
}

// **Timed.** 0.240 ms, and 0.241 for `vectors` with the same eight loads: for a long sum the ticket gains nothing that can be
// seen. It matters for short ones.
//= 0.240 ms: ms("single_pass/by=ticket")
//= and 0.241 for: ms("vectors/loads=8")

// ### A barrier for the grid (second reading)
//
// A **cooperative launch**, `cudaLaunchCooperativeKernel`, fails unless all blocks of the grid fit on the GPU at the
// same time. So they may wait for each other: `sync()` of a grid is a barrier for all of its threads, and a fence.

/// *out = the sum of n floats.
///
/// @param partial   one for each block
/// @param barriers  of the grid, at least 1; one is enough
///
/// Launch: cooperative, blocks of THREADS.
/// Requires: in is aligned to 16 bytes.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    grid_synced(float* out, float* partial, const float* in, size_t n, unsigned barriers) {
  const float sum = block_sum<THREADS>(thread_sum<THREADS, LOADS>(in, n));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  for (unsigned b = 0; b < barriers; ++b) cg::this_grid().sync();
  if (blockIdx.x > 0) return;

  float total = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) total += partial[b];
  total = block_sum<THREADS>(total);
  if (threadIdx.x == 0) *out = total;
}

// With a hundred barriers more, the sum takes 0.37 ms instead of 0.24 ms, so that one takes 1.3 us. Each block reports to a
// counter in L2 and reads it again and again until all others have come.
//= 0.37 ms instead of 0.24 ms: (ms("single_pass/by=grid_sync,barriers=101"), ms("single_pass/by=grid_sync"))
//= 1.3 us: 10 * (ms("single_pass/by=grid_sync,barriers=101") - ms("single_pass/by=grid_sync"))
//
// ### Value and flag in one word (second reading)
//
// With a ticket each block executes a fence and an atomic, and the atomics of all blocks go to one address. Neither is
// needed if value and flag are one word of 64 bits: the flag in its upper half, the value, a float, in its lower half.
//
//? one_word: A block stores such a word, without a fence. Another block sees the flag. What may it read as the value?
//? choices: always the new sum | the old contents of that word | an error is raised
//? answer: "always the new sum"
//
// A store of 64 bits is indivisible, so whoever sees the flag has the value. The last block of the grid waits for the
// words of the others, adds them up in a fixed order, and sets them back to 0 for the next launch.
//
// ```{drawing} last-block
// ```

/// A value of 32 bits and, above it, the flag that says that it is there; 0 while it is not.
using Word = unsigned long long;
using AtomicWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

/// Puts a value and its flag into a word, for other blocks.
__device__ void publish(Word* word, float value) {
  AtomicWord(*word).store(Word{1} << 32 | __float_as_uint(value), cuda::memory_order_relaxed);
}

/// Waits for a word that another block publishes, and empties it for the next launch.
__device__ Word take(Word* word) {
  AtomicWord shared(*word);
  Word seen = 0;
  while ((seen = shared.load(cuda::memory_order_relaxed)) == 0) {
  }
  shared.store(0, cuda::memory_order_relaxed);
  return seen;
}

// `cuda::atomic_ref` makes these accesses atomic, so that they go to L2, where all SMs meet, and not to the L1 of one
// of them. *Relaxed* says that they order nothing else; there is nothing else to order.

/// *out = the sum of n floats.
///
/// @param words  one for each block, 0 before the launch and after it
///
/// Launch: blocks of THREADS, no more than run at a time.
/// Requires: in is aligned to 16 bytes.
/// Source: the word that holds flag and value is that of D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan
/// with Decoupled Look-back", NVIDIA, 2016.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    single_pass(float* out, Word* words, const float* in, size_t n) {
  const float sum = block_sum<THREADS>(thread_sum<THREADS, LOADS>(in, n));
  const unsigned last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) publish(words + blockIdx.x, sum);
    return;
  }

  // The last block waits for the others and adds up their sums, always in the same order.
  float total = threadIdx.x == 0 ? sum : 0;
  for (unsigned b = threadIdx.x; b < last; b += THREADS) {
    total += __uint_as_float(static_cast<unsigned>(take(words + b)));
  }
  __syncthreads();  // the first block_sum has been read
  total = block_sum<THREADS>(total);
  if (threadIdx.x == 0) *out = total;
}

// A block that waits for another must be sure that the other gets to run. Here all blocks of the grid fit on the GPU
// at the same time: four of 512 threads for each SM, or as many as `cudaOccupancyMaxActiveBlocksPerMultiprocessor`
// says. With a larger grid, a waiting block could occupy the place of the one that it waits for. Only a cooperative
// launch guarantees that they run together. The ordinary launch of `single_pass` relies on what today's GPUs do: they
// dispatch blocks in order, so the last block waits for blocks that run already. CUDA does not promise that order.
// Chapter 08 has a scheme that needs no such promise.
//
// The requests that the table counts for `single_pass` include those of the last block while it waits, so they differ
// a little from run to run.
//
// **Timed.** 0.239 ms, 1 % faster than CUB, which launches two kernels. That is 4.49 TB/s, 0.91 of the memory's peak.
// With tickets it takes 0.240 ms, with a barrier for the grid 0.241 ms: for 2^28 floats the three are no further apart
// than runs of one of them. For small sums it matters which one is used: at 2^20 floats the notes have 0.93 of CUB's
// rate with tickets, and 1.15 with words.
//= 0.239 ms, 1 % faster: (ms("single_pass"), (ratio("single_pass") - 1) * 100)
//= 4.49 TB/s, 0.91 of: (rate("single_pass") / 1e3, rate("single_pass") / (6144 * 3201e6 * 2 / 8 / 1e9))
//= tickets it takes 0.240 ms: ms("single_pass/by=ticket")
//= grid 0.241 ms: ms("single_pass/by=grid_sync")
//
// ### Small sums (second reading)
//
// For 2^20 floats the loop is over in about a microsecond, and most of the time goes to the launch itself. Often many
// such launches follow each other in a stream. Then each waits until the one before has ended completely, and for a
// moment the GPU is empty. {term}`Programmatic dependent launch <programmatic dependent launch>` (from Hopper on)
// lets the next kernel begin while the one before still runs. It may read what that one does not write, and calls
// `cudaGridDependencySynchronize()` before it touches the rest: the later, the better. `small_sums`, in
// `reductions_sm90.cu`, reads and adds its input first. It waits once a block has its sum, as the launches share their
// words; if each has words of its own, only before it stores the result. Its hundred launches are recorded in a CUDA
// graph, so that the host does not set the pace.
//
// **Timed.** A hundred sums take 0.37 ms with plain launches, 0.35 ms with programmatic ones that wait at the start,
// 0.14 ms if they wait before the words and 0.11 ms with words of their own. CUB's launches do not overlap: they take
// 3.46 times as long as these last ones. With CUB 3.5, which is newer than the toolkit's, it is 3.41 times.
//= 0.37 ms: ms("small_sums/launch=plain")
//= 0.35 ms: ms("small_sums/launch=programmatic")
//= 0.14 ms: ms("small_sums/launch=late")
//= 0.11 ms: ms("small_sums/launch=own_words")
//= 3.46 times: ratio("small_sums/launch=own_words")
//= 3.41 times: ratio("small_sums/launch=own_words", gpu="h200_cccl")
//
// ### One number for the host (second reading)
//
// The host needs the result, to print it or to decide on it. `cudaMemcpy` of 4 bytes from the device first waits for
// all kernels before it, and the next kernel cannot be launched before the host has it: the device idles for a way there
// and back. So ask rarely, and leave the number on the device if only the next kernel needs it.
//
// **Timed**, by the host's clock, from the launch of a sum of 2^20 floats until a variable of the host has it: with
// `cudaMemcpy` to pageable memory 24.3 us, with `cudaMemcpyAsync` to {term}`pinned memory` and a wait for the stream
// 19.9 us; Thrust, timed in turn, took 35.1 and 28.0, so pinned memory is not shown to gain. If the kernel writes to memory that the host can read itself, only the wait is left: 13.5 us for pinned memory
// that is mapped for the device, and 13.4 us for managed memory. `thrust::reduce`, which returns its sum, takes 28.8 us.
//= pageable memory 24.3 us: 1000 * ms("single_pass/to=pageable")
//= took 35.1 and 28.0: (1000 * ms("single_pass/to=pageable") * ratio("single_pass/to=pageable"), 1000 *
//=   ms("single_pass/to=pinned") * ratio("single_pass/to=pinned"))
//= stream 19.9 us: 1000 * ms("single_pass/to=pinned")
//= 13.5 us for pinned: 1000 * ms("single_pass/to=mapped")
//= and 13.4 us: 1000 * ms("single_pass/to=managed")
//= sum, takes 28.8 us: 1000 * ms("single_pass/to=mapped") * ratio("single_pass/to=mapped")
//
// ## 10. Order (second reading)
//
// Floats are not associative: (a + b) + c and a + (b + c) are rounded differently. Each kernel so far adds in an
// order that depends only on n and on the launch. Its result is **reproducible**, bit for bit, on the same GPU.
//
// Most production code does it differently: each block ends with `atomicAdd(out, sum)`. That takes one kernel, nothing
// to publish and nothing to wait for.
//
//? atomic_order: A kernel ends each block with atomicAdd, and is run ten times on the same data. For which type may
//?   the ten results differ?
//? choices: int | float | both | neither
//? answer: "float"
//
// The atomics arrive in the order in which the blocks end, which changes from run to run. A sum of ints does not
// depend on the order, even if it overflows, as it is exact modulo 2^32. A sum of floats does. A test that compares
// bit for bit then fails once a month; an optimizer that amplifies small differences gives another result every time.
//
// Ints are also easier in a warp: `__reduce_add_sync` (from Ampere, sm_80, on) replaces the five shuffles and additions
// by a single instruction. Up to Hopper it exists for ints of 32 bits only, as sum, minimum, maximum, and, or, xor. PTX
// for Blackwell (sm_100a) has minimum and maximum of floats as well.

/// The sum of a value over the lanes of a warp; every lane gets it. All 32 lanes call it.
__device__ unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, value);
#else
  for (unsigned d = 16; d > 0; d /= 2) value += __shfl_xor_sync(ALL, value, d);
  return value;
#endif
}

/// *out += the sum of n ints, modulo 2^32.
///
/// Launch: blocks of BLOCK, any number of them.
/// Requires: in is aligned to 16 bytes.
__global__ void integers(unsigned* out, const int* in, size_t n) {
  const int4* const in4 = reinterpret_cast<const int4*>(in);
  const size_t thread = size_t{blockIdx.x} * BLOCK + threadIdx.x;
  const size_t threads = size_t{gridDim.x} * BLOCK;
  unsigned sum = thread < n % 4 ? static_cast<unsigned>(in[n / 4 * 4 + thread]) : 0;
#pragma unroll 4
  for (size_t i = thread; i < n / 4; i += threads) {
    const int4 four = in4[i];
    sum += static_cast<unsigned>(four.x) + static_cast<unsigned>(four.y) +
           static_cast<unsigned>(four.z) + static_cast<unsigned>(four.w);
  }

  __shared__ unsigned sums[BLOCK / 32];  // (warp)
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < BLOCK / 32 ? sums[threadIdx.x] : 0u);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

// Each call is one instruction, and its sum is in a uniform register: one for the warp, not one for each lane.
//
// ```{sass} integers only=REDUX
// 0440       REDUX.SUM          UR8, R12
// 0580       REDUX.SUM          UR6, R0
// ```
//
// The host sets `*out` to 0 before the launch. That the kernel *adds* to its output belongs in its contract.
//
// To test it, the program launches a kernel sixteen times on the same numbers of both signs, on a GPU 2^20 of them. On the
// simulator blocks begin in the order of their numbers, so in each launch other blocks take other shares:

/// *out += the sum of n elements; block b adds up the share of block (b + first) % gridDim.x.
///
/// @tparam T  float, or unsigned, in which the sum is modulo 2^32
///
/// Launch: blocks of BLOCK, any number of them.
template <class T>
__global__ void atomic_sum(T* out, const T* in, size_t n, unsigned first) {
  const size_t block = (blockIdx.x + first) % gridDim.x;
  T sum = 0;
  for (size_t i = block * BLOCK + threadIdx.x; i < n; i += size_t{gridDim.x} * BLOCK) sum += in[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// The sums of `ticketed` have the same bits in all launches. Those of `atomic_sum` are up to 0.0020 away from the first for floats, and
// equal for ints. The test that the first has to pass, the second has to fail: a test that always passes proves nothing.
//= 0.0020: error("integers/of=floats,launches=16")
//
// ## 11. Any operator
//
// None of this is special to sums. A {term}`fold` with the operator f needs an identity, and f has to be associative:
// f(f(a, b), c) = f(a, f(b, c)). Maximum, minimum, product, `and`, `or`, greatest common divisor, the union of
// bounding boxes, and the product of matrices are associative.
//
//? property: Matrix products are associative, but not commutative. Which of our kernels could multiply n matrices, in
//?   the order of the array?
//? choices: interleaved_strided, with passes | sequential, with passes | grid_stride
//? answer: "interleaved_strided, with passes"
//
// Only the tree of section 2 combines nothing but neighbours. The others bring elements together that are far apart,
// and for that the operator has to commute.
//
// `fold` below keeps the order: each warp takes a run of consecutive elements, each lane four of them, and the lanes
// are combined from left to right. `__shfl_down_sync` fetches a value from a lane further right; `shfl_down` of
// cooperative groups does so for any struct.
//
// As an example in which every wrong order shows, `Checksum` computes h = 31 h + element over all elements, a common
// hash for strings. That looks like a chain. But a step is an affine function of h, and the composition of affine
// functions is an affine function, so that functions are what we fold: element a is h -> 31 h + a, and first a, then b is
// h -> 961 h + 31 a + b, kept as the pair (961, 31 a + b).

/// The largest of some ints.
struct Largest {
  using Value = int;
  __host__ __device__ static Value identity() { return INT_MIN; }
  __host__ __device__ static Value of(int element) { return element; }
  __host__ __device__ static Value combine(Value left, Value right) { return max(left, right); }
};

/// The function x -> factor x + summand, modulo 2^32.
struct Affine {
  unsigned factor, summand;
};

/// The checksum h = 31 h + element, for one element after the other: a chain of functions, applied to 0.
struct Checksum {
  using Value = Affine;
  __host__ __device__ static Value identity() { return {1, 0}; }
  __host__ __device__ static Value of(int element) { return {31, static_cast<unsigned>(element)}; }
  __host__ __device__ static Value of(Value value) { return value; }
  /// First left, then right: r(l(x)).
  __host__ __device__ static Value combine(Value left, Value right) {
    return {left.factor * right.factor, right.factor * left.summand + right.summand};
  }
};

/// out[b] = the elements of block b, a run of the array, combined from left to right.
///
/// @tparam Op       an associative operator on its `Value`, which need not commute, as `Checksum` above
/// @tparam Element  int, or what a block has left
///
/// Launch: blocks of BLOCK, any number of them. A second launch with one block combines their results.
/// Requires: in is aligned to 16 bytes.
template <class Op, class Element>
__global__ void fold(typename Op::Value* out, const Element* in, size_t n) {
  using Value = typename Op::Value;
  constexpr unsigned EACH = 4, ROW = 32 * EACH;  // elements of a lane, of a warp, at a time
  __shared__ Value values[BLOCK / 32];           // (warp)
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());

  // Each warp has a run of rows of its own.
  const size_t warps = size_t{gridDim.x} * (BLOCK / 32);
  const size_t index = size_t{blockIdx.x} * (BLOCK / 32) + threadIdx.x / 32;
  const size_t run = ((n + ROW - 1) / ROW + warps - 1) / warps * ROW;
  const size_t end = min(n, (index + 1) * run);
  Value total = Op::identity();  // of this warp; that of lane 0 is right
  for (size_t row = index * run; row < end; row += ROW) {
    const size_t i = row + EACH * warp.thread_rank();
    Value value = Op::identity();
    if (std::is_same_v<Element, int> && i + EACH <= n) {  // one load of 16 bytes
      const int4 four = *reinterpret_cast<const int4*>(in + i);
      value = Op::combine(Op::combine(Op::of(four.x), Op::of(four.y)),
                          Op::combine(Op::of(four.z), Op::of(four.w)));
    } else {
      for (size_t j = i; j < min(i + EACH, n); ++j) value = Op::combine(value, Op::of(in[j]));
    }

    // A lane combines its value with that of a lane to the right, so the order stays. Past lane 31 it gets its own
    // value back: what is wrong then stays in upper lanes, and never reaches lane 0.
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      value = Op::combine(value, warp.shfl_down(value, distance));
    }
    total = Op::combine(total, value);
  }

  if (warp.thread_rank() == 0) values[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned w = 1; w < BLOCK / 32; ++w) total = Op::combine(total, values[w]);
  out[blockIdx.x] = total;
}

// A sum, too, often begins with a function of the elements. `Op::of` is its place: with x^2 it is the square of a
// norm. With x y of two arrays it is a **dot product**, a sum that reads twice as many bytes:

/// *out = the dot product of x and y, n floats each.
///
/// The rest as `last_block_adds`. Launch: blocks of THREADS, any number of them.
/// Requires: x and y are aligned to 16 bytes.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    dot_product(float* out, float* partial, unsigned* tickets, const float* x, const float* y,
                size_t n) {
  constexpr unsigned TILE = THREADS * LOADS;  // float4 of each array that a block takes at a time
  const auto x4 = reinterpret_cast<const float4*>(x), y4 = reinterpret_cast<const float4*>(y);
  const size_t whole = n / 4, step = size_t{gridDim.x} * TILE, rest = 4 * whole + threadIdx.x;
  float sum = blockIdx.x == 0 && rest < n ? x[rest] * y[rest] : 0;
  for (size_t i = size_t{blockIdx.x} * TILE + threadIdx.x; i < whole; i += step) {
    float4 a[LOADS] = {}, b[LOADS] = {};
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) {
      const size_t at = i + u * THREADS;
      if (at < whole) a[u] = __ldcs(x4 + at), b[u] = __ldcs(y4 + at);
    }
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) {
      sum += (a[u].x * b[u].x + a[u].y * b[u].y) + (a[u].z * b[u].z + a[u].w * b[u].w);
    }
  }
  sum = block_sum<THREADS>(sum);
  if (last_block_adds<THREADS>(sum, blockIdx.x, partial, tickets) && threadIdx.x == 0) *out = sum;
}

// **Timed.** The dot product takes 0.48 ms; `thrust::inner_product`, which returns it to the host, takes 1.05 times as
// long. `fold` with `Largest` takes 0.253 ms, and CUB's `DeviceReduce::Reduce` with such an operator 0.96 times as long.
// `Checksum` has no peer: the reductions of both libraries ask for an operator that commutes.
//= product takes 0.48 ms: ms("fold/op=dot_product")
//= takes 1.05 times: ratio("fold/op=dot_product")
//= 0.253 ms: ms("fold/op=largest")
//= operator 0.96 times: ratio("fold/op=largest")
//
// ## 12. Where is the maximum? (second reading)
//
// `arg_max` returns the index, not the value. The operator acts on pairs of value and index, and takes the larger
// value. Every implementation has to decide what happens to equal values. If it takes either, the operator is no
// longer commutative, and the result depends on the launch. The lowest index is the usual choice.
//
// A thread sees its own elements in rising order, so `>` keeps the first one, at the cost of one comparison. To
// combine threads, the pair is packed into a word of 64 bits that can be compared as a whole: the value in the upper
// half, as an integer with the same order, and the *complement* of the index in the lower.
//
//? ties: Elements 3 and 7 both have the largest value. Which of the two has the larger key?
//? choices: that of element 3 | that of element 7 | neither
//? answer: "that of element 3"
//
// The complement of a smaller index is larger, so element 3 wins. The key is never 0, so that it serves as its own
// flag when the blocks publish it: the same scheme as in `single_pass`, with another operator. Floats are ordered by
// sign and magnitude while ints are not, and `key_of` corrects for that. It also makes one zero of -0 and +0, which
// compare as equal.

constexpr unsigned NONE = 0xffffffff;  ///< the index that no element has

/// A value and an index in one word: of two words, that with the larger value is larger; where the values are equal,
/// that with the lower index. It is never 0.
__device__ Word key_of(float value, unsigned index) {
  const unsigned bits = __float_as_uint(value + 0.0f);  // -0 becomes +0
  // Negative floats are ordered the other way round, and below the others.
  const unsigned ordered = bits >> 31 ? ~bits : bits | 0x80000000;
  return Word{ordered} << 32 | ~index;
}

/// The largest of a key over the lanes of a warp; every lane gets it.
__device__ Word warp_max(Word key) {
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    key = max(key, __shfl_xor_sync(ALL, key, distance));
  }
  return key;
}

/// *out = the lowest index of the largest of n floats; NONE where n is 0.
///
/// @param words  one for each block, 0 before the launch and after it
///
/// Launch: blocks of THREADS, no more than run at a time.
/// Requires: n < 2^32; in is aligned to 16 bytes; no NaN.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS)
    arg_max(unsigned* out, Word* words, const float* in, unsigned n) {
  constexpr unsigned TILE = THREADS * LOADS;  // float4 that a block takes at a time
  const float4* const in4 = reinterpret_cast<const float4*>(in);
  const unsigned whole = n / 4, step = gridDim.x * TILE;
  unsigned i = blockIdx.x * TILE + threadIdx.x;
  float best = -INFINITY;
  unsigned where = i < whole ? 4 * i : NONE;
  // A thread's indices rise, so that > keeps the first of equal elements.
  const auto compare = [&](float value, unsigned index) {
    if (value > best) best = value, where = index;
  };
  const auto compare4 = [&](float4 four, unsigned index) {
    compare(four.x, index), compare(four.y, index + 1);
    compare(four.z, index + 2), compare(four.w, index + 3);
  };

  for (; i + (LOADS - 1) * THREADS < whole; i += step) {
    float4 four[LOADS];
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) four[u] = __ldg(in4 + i + u * THREADS);
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) compare4(four[u], 4 * (i + u * THREADS));
  }
  for (; i < whole; i += THREADS) compare4(in4[i], 4 * i);
  if (blockIdx.x == 0 && threadIdx.x < n % 4) {
    const unsigned index = 4 * whole + threadIdx.x;
    if (where == NONE) where = index;
    compare(in[index], index);
  }

  // From here on, keys: of the warp, of the block, of the grid.
  __shared__ Word keys[THREADS / 32];  // (warp)
  Word key = warp_max(key_of(best, where));
  if (threadIdx.x % 32 == 0) keys[threadIdx.x / 32] = key;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  key = warp_max(threadIdx.x < THREADS / 32 ? keys[threadIdx.x] : 0);
  const unsigned last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) {
      AtomicWord(words[blockIdx.x]).store(key, cuda::memory_order_relaxed);
    }
    return;
  }
  for (unsigned b = threadIdx.x; b < last; b += 32) key = max(key, take(words + b));
  key = warp_max(key);
  if (threadIdx.x == 0) *out = ~static_cast<unsigned>(key);
}

// The rung has two inputs. In the second, only 16 values occur, so that thousands of elements share the maximum.
//
// **Timed.** Both run at the speed of the sum, and CUB's arg-max takes 1.02 times as long.
//= 1.02 times: ratio("arg_max/input=random")
//
// ## 13. Many results: the histogram (second reading)
//
// A histogram counts how often each value occurs, here for n bytes: 256 sums at once. Which of them an element
// belongs to is known only when it has been loaded. So it has to be an {term}`atomic operation`, and its cost depends
// on how many threads want the same counter at the same time.
//
// The obvious kernel has its counters in global memory.

/// bins[b] += how many of n bytes are b.
///
/// @param bins  256 counters
///
/// Launch: blocks of BLOCK, any number of them.
__global__ void histogram_global(unsigned* bins, const std::uint8_t* in, size_t n) {
  const size_t threads = size_t{gridDim.x} * BLOCK;
  for (size_t i = size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n; i += threads) {
    atomicAdd(bins + in[i], 1u);
  }
}

// Every byte is an atomic in L2. All SMs send theirs to the same 1 KiB of memory, where each counter takes one
// addition after the other.
//
// Give each block its own counters, in shared memory, and add them to the global ones once, at the end. This is
// called {term}`privatization`. Threads of the same block still meet, in two ways. If two lanes of a warp have
// *different* bytes whose counters lie in the same bank, that is a bank conflict. If they have the *same* byte, they
// want the same word, and for adding 1, shared memory has an instruction of its own.
//
//? equal_bytes: All bytes are equal, and a block has one copy of the counters. How many wavefronts does an atomic
//?   request of a warp take?
//? answer: count("histogram_shared/copies=1,input=equal", "shared_atomic_wavefronts") /
//?   count("histogram_shared/copies=1,input=equal", "shared_atomic_requests")
//? unit: wavefronts
//? near: exact
//
// Just one: the hardware counts the lanes of a warp that increment the same word before it touches the word. The
// machine code says so: POPC stands for counting bits, and the destination `RZ` says that the old value is not asked
// for. This instruction exists for the constant 1 alone. A weighted histogram, which adds another number for each
// lane, compiles to `ATOMS.ADD`, and must not be expected to be as fast.
//
// ```{sass} "histogram_shared<512u, 2u, 1u>" only=ATOMS lines=1
// 0590       ATOMS.POPC.INC.32  RZ, [R12+UR6]
// ```
//
// Random bytes are worse: they take 3.1 wavefronts, because the 32 lanes fall into 32 banks at random, and the fullest
// bank usually gets three of them.
//= 3.1: count("histogram_shared/copies=1,input=random", "shared_atomic_wavefronts") /
//=   count("histogram_shared/copies=1,input=random", "shared_atomic_requests")
//
//? copies_wavefronts: And with 32 copies, those of a counter side by side, and random bytes?
//? answer: count("histogram_shared/copies=32,input=random", "shared_atomic_wavefronts") /
//?   count("histogram_shared/copies=32,input=random", "shared_atomic_requests")
//? unit: wavefronts
//? near: exact
//
// More copies keep lanes apart. With 32 of them, and the copies of a counter side by side, lane l owns bank l:
// whatever the data is, no two lanes of a warp ever meet. That takes 32 KiB; four blocks of 512 threads still fit on an SM.
//= 32 KiB: 256 * 32 * 4 / 1024

/// Counts the bytes of one thread: LOADS uint4 of each tile that its block takes, a grid's length apart, and one of up
/// to 15 bytes at the end of the array.
/// @param mine  counters in shared memory; that of byte b is mine[b * STRIDE]
template <unsigned THREADS, unsigned LOADS, unsigned STRIDE>
__device__ void count_bytes(unsigned* mine, const std::uint8_t* in, size_t n) {
  const uint4* const vectors = reinterpret_cast<const uint4*>(in);
  const unsigned t = threadIdx.x;
  const size_t whole = n / 16, step = size_t{gridDim.x} * THREADS * LOADS;
  for (size_t i = size_t{blockIdx.x} * THREADS * LOADS + t; i < whole; i += step) {
    uint4 vector[LOADS];
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) {
      if (i + u * THREADS < whole) vector[u] = __ldcs(vectors + i + u * THREADS);
    }
#pragma unroll
    for (unsigned u = 0; u < LOADS; ++u) {
      if (i + u * THREADS >= whole) continue;
      const unsigned words[4] = {vector[u].x, vector[u].y, vector[u].z, vector[u].w};
#pragma unroll
      for (unsigned b = 0; b < 16; ++b) {
        atomicAdd(mine + ((words[b / 4] >> (b % 4 * 8)) & 0xff) * STRIDE, 1u);
      }
    }
  }
  if (blockIdx.x == 0 && t < n % 16) atomicAdd(mine + in[16 * whole + t] * STRIDE, 1u);
}

/// The same; each block counts in shared memory first, lane l in copy l % COPIES of the counters.
///
/// Launch: blocks of THREADS, any number of them.
/// Requires: in is aligned to 16 bytes.
template <unsigned THREADS, unsigned LOADS, unsigned COPIES>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    histogram_shared(unsigned* bins, const std::uint8_t* in, size_t n) {
  __shared__ unsigned counts[256][COPIES];  // (byte, copy)
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 256 * COPIES; i += THREADS) counts[i / COPIES][i % COPIES] = 0;
  __syncthreads();

  count_bytes<THREADS, LOADS, COPIES>(&counts[0][t % COPIES], in, n);
  __syncthreads();  // all of the block's bytes are counted

  // Thread b adds up the copies of counter b; each begins with another copy, hence another bank.
  for (unsigned b = t; b < 256; b += THREADS) {
    unsigned sum = 0;
#pragma unroll 4
    for (unsigned c = 0; c < COPIES; ++c) sum += counts[b][(b + c) % COPIES];
    if (sum > 0) atomicAdd(bins + b, sum);
  }
}

// One wavefront for each request, for every input: the count no longer depends on the data. Each thread counts 32
// bytes that it has loaded with two 128-bit loads, so the clearing and the final sum of the counters are spread over
// many bytes. The final sum has its own trap: thread b adds up the 32 copies of counter b, which lie in 32 banks, but
// its neighbour's begin in the same bank. Each thread therefore starts with another copy.
//
// ```{drawing} counters
// ```
//
// **Timed.** Three inputs: random bytes, skewed ones of which seven in eight are equal, and equal ones. Counters in
// global memory take 69 ms, 185 ms and 196 ms, because they queue at 256 counters, or at one: over 65,536 sums (chapter 14) as
// many atomics in L2 take 3.3 ms. One copy in shared memory takes 0.120,
// 0.083 and 0.065 ms: equal bytes, the worst case before, are the best one now. With 32 copies in shared memory it is
// 0.073 ms and 0.072 ms: CUB takes 1.8 times as long for random bytes, 1.1 times for equal ones. The bytes are read at
// 0.8 of the rate of the sum; what limits the kernel now was not measured.
//= L2 take 3.3 ms: ms("14:scatter_add/by=atomic, uniform")
//= 69 ms, 185 ms and 196 ms: (ms("histogram_global/input=random"), ms("histogram_global/input=skewed"),
//=   ms("histogram_global/input=equal"))
//= 0.120, 0.083 and 0.065 ms: (ms("histogram_shared/copies=1,input=random"),
//=   ms("histogram_shared/copies=1,input=skewed"), ms("histogram_shared/copies=1,input=equal"))
//= 0.073 ms and 0.072 ms: (ms("histogram_shared/copies=32,input=random"), ms("histogram_shared/copies=32,input=equal"))
//= 1.8 times: ratio("histogram_shared/copies=32,input=random")
//= 0.8 of the rate: rate("histogram_shared/copies=32,input=random") / rate("single_pass")
//= 1.1 times: ratio("histogram_shared/copies=32,input=equal")
//
// Most texts show one copy for each *warp* instead of each lane.
//
//? warp_copies: With a copy for each warp, and random bytes: how many wavefronts does an atomic request take?
//? answer: count("histogram_shared/copies=warps,input=random", "shared_atomic_wavefronts") /
//?   count("histogram_shared/copies=warps,input=random", "shared_atomic_requests")
//? unit: wavefronts
//? near: 10 %

/// The same; each warp counts in a copy of its own.
///
/// Launch: blocks of THREADS, any number of them.
/// Requires: in is aligned to 16 bytes.
template <unsigned THREADS, unsigned LOADS>
__global__ void __launch_bounds__(THREADS, FULL / THREADS)
    histogram_warps(unsigned* bins, const std::uint8_t* in, size_t n) {
  __shared__ unsigned counts[THREADS / 32][256];  // (warp, byte)
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 8 * THREADS; i += THREADS) counts[i / 256][i % 256] = 0;
  __syncthreads();

  count_bytes<THREADS, LOADS, 1>(counts[t / 32], in, n);
  __syncthreads();  // all of the block's bytes are counted

  for (unsigned b = t; b < 256; b += THREADS) {
    unsigned sum = 0;
    for (unsigned w = 0; w < THREADS / 32; ++w) sum += counts[w][b];
    if (sum > 0) atomicAdd(bins + b, sum);
  }
}

// 3.1, as with one copy for the block. A request is one of a warp, and the lanes of a warp still share 256
// counters. What a copy for each warp avoids is that two warps want the same counter one after the other.
//= 3.1: count("histogram_shared/copies=warps,input=random", "shared_atomic_wavefronts") /
//=   count("histogram_shared/copies=warps,input=random", "shared_atomic_requests")
//
// **Timed.** 0.122, 0.085 and 0.067 ms for the three inputs, with 16 KiB for each block.
//= 0.122, 0.085 and 0.067 ms: (ms("histogram_shared/copies=warps,input=random"),
//=   ms("histogram_shared/copies=warps,input=skewed"), ms("histogram_shared/copies=warps,input=equal"))
//= 16 KiB: 512 // 32 * 256 * 4 / 1024

namespace {

/// Blocks of a grid that has `tiles` to do and of which `per_sm` run on an SM: at least one.
unsigned blocks_for(size_t tiles, unsigned per_sm) {
  static const auto sms =
      static_cast<size_t>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
  return static_cast<unsigned>(std::clamp<size_t>(tiles, 1, sms * per_sm));
}

/// Blocks of a kernel that an SM holds at the same time, at most `wanted`.
template <class Kernel>
unsigned resident(Kernel kernel, unsigned threads, unsigned wanted) {
  int blocks = 0;
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0));
  return std::min(static_cast<unsigned>(blocks), wanted);
}

/// What a sum reads and writes: *out = the sum of n floats.
struct Sum {
  float* out;
  const float* in;
  size_t n;
  float* partial;     ///< one for each block
  Word* words;        ///< likewise, all 0
  unsigned* tickets;  ///< one, 0
};

/// Launches a kernel on the floats, on the sums that its blocks leave, and so on, until one block is left.
///
/// @param each  elements of a thread
void in_passes(const Sum& sum, SumKernel kernel, unsigned each, unsigned threads = BLOCK) {
  const size_t per_block = size_t{each} * threads;
  const float* in = sum.in;
  float *to = sum.partial, *other = sum.partial + lab::ceil_div(sum.n, per_block);
  for (size_t left = sum.n;; std::swap(to, other)) {
    const size_t blocks = std::max<size_t>(lab::ceil_div(left, per_block), 1);
    kernel<<<static_cast<unsigned>(blocks), threads, threads * sizeof(float)>>>(
        blocks == 1 ? sum.out : to, in, left);
    if (blocks == 1) return;
    in = to, left = blocks;
  }
}

/// Launches a kernel that takes any number of blocks: a grid that fills the GPU, and one block for what that leaves.
///
/// @param each  elements that a thread takes at a time
void in_two_passes(const Sum& sum, SumKernel kernel, unsigned each, unsigned threads = BLOCK) {
  const unsigned blocks = blocks_for(lab::ceil_div(sum.n, size_t{each} * threads), FULL / threads);
  kernel<<<blocks, threads>>>(blocks == 1 ? sum.out : sum.partial, sum.in, sum.n);
  if (blocks > 1) kernel<<<1, threads>>>(sum.out, sum.partial, blocks);
}

/// Launches `scalars` with that many loads in flight: 1, 4, 8 or 16.
void by_scalars(const Sum& sum, unsigned loads) {
  const SumKernel kernel = loads == 1   ? scalars<512, 1>
                           : loads == 4 ? scalars<512, 4>
                           : loads == 8 ? scalars<512, 8>
                                        : scalars<512, 16>;
  in_two_passes(sum, kernel, loads, 512);
}

/// Launches `vectors` with that many loads in flight: 1, 2, 4 or 8.
void by_vectors(const Sum& sum, unsigned loads) {
  const SumKernel kernel = loads == 1   ? vectors<512, 1>
                           : loads == 2 ? vectors<512, 2>
                           : loads == 4 ? vectors<512, 4>
                                        : vectors<512, 8>;
  in_two_passes(sum, kernel, 4 * loads, 512);
}

/// Launches `single_pass` with as many blocks as run at a time.
void in_one_pass(const Sum& sum) {
  const auto kernel = single_pass<512, 8>;
  const unsigned blocks = blocks_for(lab::ceil_div(sum.n, 4 * 4096), resident(kernel, 512, 4));
  kernel<<<blocks, 512>>>(sum.out, sum.words, sum.in, sum.n);
}

/// Launches `ticketed`.
template <unsigned THREADS, unsigned LOADS>
void by_tickets(const Sum& sum, unsigned first = 0) {
  const unsigned blocks = blocks_for(lab::ceil_div(sum.n, 4 * THREADS * LOADS), FULL / THREADS);
  ticketed<THREADS, LOADS>
      <<<blocks, THREADS>>>(sum.out, sum.partial, sum.tickets, sum.in, sum.n, first);
}

/// Launches `grid_synced` cooperatively: all of its blocks have to fit on the GPU.
void by_grid_sync(Sum sum, unsigned barriers) {
  const auto kernel = grid_synced<512, 8>;
  const unsigned blocks = blocks_for(lab::ceil_div(sum.n, 4 * 4096), resident(kernel, 512, 4));
  void* arguments[] = {&sum.out, &sum.partial, &sum.in, &sum.n, &barriers};
  CUDA_CHECK(
      cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), blocks, 512, arguments));
}

/// Launches `integers` behind the 0 that it adds to.
void integer_sum(lab::DeviceBuffer<unsigned>& out, const lab::Input<int>& in) {
  const unsigned blocks = blocks_for(lab::ceil_div(in.size(), 4 * BLOCK), FULL / BLOCK);
  CUDA_CHECK(cudaMemsetAsync(out.data(), 0, sizeof(unsigned)));
  integers<<<blocks, BLOCK>>>(out.data(), in.data(), in.size());
}

/// Blocks of `atomic_sum` for n elements.
unsigned atomic_blocks(size_t n) { return blocks_for(lab::ceil_div(n, BLOCK), FULL / BLOCK); }

constexpr unsigned LAUNCHES = 16;  ///< of a sum, whose results are compared

/// Launches `ticketed` LAUNCHES times, for as many sums; each time other blocks take other shares, and `partial` is full
/// of NaNs.
void by_tickets_often(Sum sum, lab::DeviceBuffer<float>& partial) {
  for (unsigned i = 0; i < LAUNCHES; ++i, ++sum.out) {
    CUDA_CHECK(cudaMemsetAsync(partial.data(), 0xff, partial.size_bytes()));
    by_tickets<128, 1>(sum, 5 * i);
  }
}

/// The same with `atomic_sum`.
template <class T>
void by_atomics_often(lab::DeviceBuffer<T>& out, const lab::Input<T>& in) {
  const size_t n = in.size();
  CUDA_CHECK(cudaMemsetAsync(out.data(), 0, out.size_bytes()));
  for (unsigned i = 0; i < LAUNCHES; ++i) {
    atomic_sum<<<atomic_blocks(n), BLOCK>>>(out.data() + i, in.data(), n, 5 * i);
  }
}

/// Launches `arg_max`.
void launch_arg_max(lab::DeviceBuffer<unsigned>& out, lab::DeviceBuffer<Word>& words,
                    const lab::Input<float>& in) {
  const unsigned blocks = blocks_for(lab::ceil_div(in.size(), 4 * 4096), 1);
  arg_max<1024, 4>
      <<<blocks, 1024>>>(out.data(), words.data(), in.data(), static_cast<unsigned>(in.size()));
}

/// A kernel that adds to 256 counters, the bytes that its blocks take at a time, and how many run on an SM.
struct Histogram {
  const char *rung, *copies;
  void (*kernel)(unsigned* bins, const std::uint8_t* in, size_t n);
  unsigned threads, tile, per_sm;

  /// bins[b] = how many of the bytes are b.
  void launch(lab::DeviceBuffer<unsigned>& bins, const lab::Input<std::uint8_t>& in) const {
    const unsigned blocks = blocks_for(lab::ceil_div(in.size(), size_t{tile}), per_sm);
    CUDA_CHECK(cudaMemsetAsync(bins.data(), 0, bins.size_bytes()));
    kernel<<<blocks, threads>>>(bins.data(), in.data(), in.size());
  }
};
constexpr Histogram HISTOGRAMS[] = {
    {"histogram_global", "", histogram_global, BLOCK, BLOCK, 8},
    {"histogram_shared", "copies=1,", histogram_shared<512, 2, 1>, 512, 16384, 4},
    {"histogram_shared", "copies=8,", histogram_shared<512, 2, 8>, 512, 16384, 4},
    {"histogram_shared", "copies=32,", histogram_shared<512, 2, 32>, 512, 16384, 4},
    {"histogram_shared", "copies=warps,", histogram_warps<512, 2>, 512, 16384, 4},
};

// What is right is computed plainly, one element after the other: sums of floats in double, and folds from left to
// right.

/// The sum of floats, in double.
double sum_of(lab::View<float> x) {
  const auto term = [=] __host__ __device__(size_t i) { return double{x[i]}; };
  return lab::fold(x.size(), 0.0, term, lab::plus<double>());
}

/// The sum of the products of floats, in double.
double product_of(lab::View<float> x, lab::View<float> y) {
  const auto term = [=] __host__ __device__(size_t i) { return double{x[i]} * double{y[i]}; };
  return lab::fold(x.size(), 0.0, term, lab::plus<double>());
}

/// The sum of integers, modulo 2^32.
template <class T>
unsigned sum_modulo(lab::View<T> x) {
  const auto term = [=] __host__ __device__(size_t i) { return static_cast<unsigned>(x[i]); };
  return lab::fold(x.size(), 0u, term, lab::plus<unsigned>());
}

/// The fold of ints, as words.
template <class Op>
std::vector<unsigned> folded(lab::View<int> x) {
  using Value = typename Op::Value;
  const auto element = [=] __host__ __device__(size_t i) { return Op::of(x[i]); };
  const auto both = [] __host__ __device__(Value l, Value r) { return Op::combine(l, r); };
  const Value all = lab::fold(x.size(), Op::identity(), element, both);
  std::vector<unsigned> words(sizeof all / sizeof(unsigned));
  std::memcpy(words.data(), &all, sizeof all);
  return words;
}

/// A float and where it stands.
struct Placed {
  float value;
  unsigned index;
};

/// The lowest index of the largest float.
unsigned first_largest(lab::View<float> x) {
  const auto placed = [=] __host__ __device__(size_t i) {
    return Placed{x[i], static_cast<unsigned>(i)};
  };
  const auto larger = [] __host__ __device__(Placed left, Placed right) {
    return right.index == NONE || (left.index != NONE && left.value >= right.value) ? left : right;
  };
  return lab::fold(x.size(), Placed{0, NONE}, placed, larger).index;
}

/// How many bytes there are of each value.
std::shared_ptr<lab::Reference<unsigned>> counts_of(lab::View<std::uint8_t> bytes) {
  const auto counts = std::make_shared<lab::Reference<unsigned>>(256);
  lab::fill(*counts, [] __host__ __device__(size_t) { return 0u; });
  unsigned* const bins = counts->data();
  lab::for_each(bytes.size(),
                [=] __host__ __device__(size_t i) { lab::add_to(bins[bytes[i]], 1u); });
  return counts;
}

/// Random floats of which every other one is negated: their sum is small, and what rounding does to it is seen.
struct BothSigns {
  std::uint64_t seed;
  __host__ __device__ float operator()(size_t i) const {
    const float value = lab::random_float(seed, i);
    return i % 2 != 0 ? -value : value;
  }
};

/// Random bytes of which those stay whose last three bits are below `kept`; the others become 7.
struct SomeBytes {
  std::uint64_t seed;
  unsigned kept;
  __host__ __device__ std::uint8_t operator()(size_t i) const {
    const auto byte = lab::random_value<std::uint8_t>(seed, i);
    return byte % 8 < kept ? byte : std::uint8_t{7};
  }
};

/// What a sum of n floats may be off. The longest chain of additions: those of a thread and of the tree.
lab::Tolerance tolerance_of_sum(size_t n, double magnitude = 0.5) {
  const size_t terms = std::max<size_t>(n, 1);
  return lab::tolerance_for_sum(terms, magnitude, terms / 32768 + 64);
}

/// The same for a small one.
/// @param depth  the longest chain of additions
lab::Tolerance tolerance_of_small_sum(size_t n, size_t depth = 128) {
  return lab::tolerance_for_sum(std::max<size_t>(n, 1), 0.5, depth);
}

/// Whether all launches left the same bits; the error is how far they are from the first.
template <class T>
lab::Comparison same_bits(const std::vector<T>& sums) {
  return lab::compare(sums, std::vector<T>(sums.size(), sums[0]));
}

/// All sums of the same n floats have to be right and to have the same bits.
lab::Expectation expect_one_order(lab::DeviceBuffer<float>& out, double sum, size_t n) {
  const auto check = [=, &out] {
    const std::vector<float> sums = out.download();
    const lab::Comparison right =
        lab::compare(sums, std::vector<double>(sums.size(), sum), tolerance_of_small_sum(n));
    return right.pass ? same_bits(sums) : right;
  };
  return {[&out] { out.poison(); }, check};
}

/// Those of `atomic_sum` have to be right and to differ: the same test has to find a difference here, or it could find none
/// there. Of a few blocks the sums may be the same.
lab::Expectation expect_any_order(lab::DeviceBuffer<float>& out, double sum, size_t n) {
  const auto check = [=, &out] {
    const std::vector<float> sums = out.download();
    const size_t blocks = atomic_blocks(n);
    lab::Comparison right = lab::compare(sums, std::vector<double>(sums.size(), sum),
                                         tolerance_of_small_sum(n, blocks * (BLOCK / 32) + 128));
    const lab::Comparison same = same_bits(sums);
    if (right.pass && same.pass && blocks >= 32) {
      return lab::verdict(false, "atomics in any order, and all sums have the same bits");
    }
    if (right.pass) right.max_error = same.max_error;
    return right;
  };
  return {[&out] { out.poison(); }, check};
}

/// Prints how many different sums there are.
template <class T>
void print_bits(std::vector<T> sums) {
  const double apart = same_bits(sums).max_error;
  std::sort(sums.begin(), sums.end());
  const auto different = std::unique(sums.begin(), sums.end()) - sums.begin();
  if (different == 1) {
    std::printf("  %u launches, all sums have the same bits\n", LAUNCHES);
  } else {
    std::printf("  %u launches, %td different sums, up to %g away from the first\n", LAUNCHES,
                different, apart);
  }
}

/// The same words for CUB, which counts in ints.
int* ints_of(lab::DeviceBuffer<unsigned>& words) { return reinterpret_cast<int*>(words.data()); }

/// A float that host and device reach at one address.
std::shared_ptr<float> managed_float() {
  float* one = nullptr;
  CUDA_CHECK(cudaMallocManaged(&one, sizeof *one));
  return {one, cudaFree};
}

/// What bytes a histogram is of.
struct Bytes {
  const std::string input;
  const unsigned kept;  ///< see SomeBytes
  const std::string variant = "input=" + input, name = input + " bytes";
};
const Bytes BYTES[] = {{"random", 8}, {"skewed", 1}, {"equal", 0}};

/// Floats of which many are equal, and the largest is not the first.
struct Ties {
  lab::View<float> of;
  __host__ __device__ float operator()(size_t i) const { return floorf(8 * of[i]); }
};

/// What the rungs read, what blocks leave for each other, and what comes out.
struct Memory {
  Memory(size_t n, std::uint64_t seed)
      : n(n),
        in(n, lab::RandomValue<float>{seed}),
        ties(n, Ties{in.view()}, "ties"),
        ints(n, lab::RandomValue<int>{seed}, "ints"),
        few(std::min(n, size_t{1} << 20), BothSigns{seed}, "few"),
        few_ints(few.size(), lab::RandomValue<unsigned>{seed}, "a few ints"),
        partial(n / 64 + 4096, "partial") {
    words.zero();
    tickets.zero();
  }

  /// A sum of floats, as the kernels take it.
  Sum sum_of(const lab::Input<float>& floats, float* to) {
    return {to, floats.data(), floats.size(), partial.data(), words.data(), tickets.data()};
  }

  size_t n;
  lab::Input<float> in, ties;
  lab::Input<int> ints;
  lab::Input<float> few;
  lab::Input<unsigned> few_ints;
  lab::DeviceBuffer<float> partial;              // one for each block
  lab::DeviceBuffer<Word> words{4096, "words"};  // likewise
  lab::DeviceBuffer<unsigned> tickets{1, "tickets"};
  lab::DeviceBuffer<unsigned> values{2 * 4096, "the folds of the blocks"};

  lab::DeviceBuffer<float> sum{1, "out"}, sums{LAUNCHES, "several sums"};
  lab::DeviceBuffer<unsigned> out{2, "out"}, int_sum{1, "out"},
      int_sums{LAUNCHES, "several sums of ints"};
  lab::DeviceBuffer<unsigned> bins{256, "bins"};
  std::vector<float> on_host;  // what the loop of the host reads
  float host = 0;
  lab::PinnedBuffer<float> pinned{1, "a pinned sum"};
  lab::MappedBuffer<float> mapped{1, "a mapped sum"};
  std::shared_ptr<float> managed = managed_float();
  lab::DeviceBuffer<std::int64_t> cub_index{1, "CUB's index"};
  lab::DeviceBuffer<float> cub_value{1, "CUB's largest"};
};

/// Sums up the few floats in a variable of the host, which waits for it: by way of pageable memory.
void to_pageable(Memory& m) {
  by_tickets<512, 8>(m.sum_of(m.few, m.sum.data()));
  CUDA_CHECK(cudaMemcpy(&m.host, m.sum.data(), sizeof m.host, cudaMemcpyDeviceToHost));
}

/// The same by way of pinned memory.
void to_pinned(Memory& m) {
  float* const pinned = m.pinned.data();
  by_tickets<512, 8>(m.sum_of(m.few, m.sum.data()));
  CUDA_CHECK(
      cudaMemcpyAsync(pinned, m.sum.data(), sizeof *pinned, cudaMemcpyDeviceToHost, nullptr));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  m.host = *pinned;
}

/// The same in memory of the host that the device writes to.
void to_mapped(Memory& m) {
  by_tickets<512, 8>(m.sum_of(m.few, m.mapped.device_data()));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  m.host = *m.mapped.data();
}

/// The same in memory that both reach at one address.
void to_managed(Memory& m) {
  by_tickets<512, 8>(m.sum_of(m.few, m.managed.get()));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  m.host = std::exchange(*m.managed, std::nanf(""));  // the next sum is not this one
}

/// Combines all ints, from left to right.
template <class Op>
void fold_ints(Memory& m) {
  using Value = typename Op::Value;
  const unsigned blocks = blocks_for(lab::ceil_div(m.n, 4 * BLOCK), FULL / BLOCK);
  Value* const values = reinterpret_cast<Value*>(m.values.data());  // one for each block
  fold<Op><<<blocks, BLOCK>>>(values, m.ints.data(), m.n);
  fold<Op><<<1, BLOCK>>>(reinterpret_cast<Value*>(m.out.data()), values, blocks);
}

/// Adds up the products of floats and ties.
void multiply_floats(Memory& m) {
  const unsigned blocks = blocks_for(lab::ceil_div(m.n, 4 * 1024), 4);
  dot_product<512, 2><<<blocks, 512>>>(m.sum.data(), m.partial.data(), m.tickets.data(),
                                       m.in.data(), m.ties.data(), m.n);
}

/// Adds up the few integers, many times.
void sum_few_ints(Memory& m) { by_atomics_often(m.int_sums, m.few_ints); }

/// A problem: what has to come out, how many bytes are read for it, at best at the rate of a copy, and who else does it.
lab::Rung reading(size_t bytes, const std::vector<lab::Expectation>& outputs,
                  const lab::Peer& peer) {
  return {.outputs = outputs,
          .bytes = static_cast<double>(bytes),
          .limit = lab::Limit::copy,
          .peer = peer};
}

/// The sum of n floats.
lab::Rung sum_of_floats(Memory& m) {
  const double sum = sum_of(m.in.view());
  const std::vector<lab::Expectation> right = {
      lab::expect(m.sum, std::vector{sum}, tolerance_of_sum(m.n)), lab::on_the_way(m.partial)};
  return reading(4 * m.n, right,
                 lab::vendor("CUB", lab::cub_sum(m.sum.data(), m.in.data(), m.n), right));
}

/// The same in a variable of the host, which computes it.
lab::Rung sum_on_host(Memory& m) {
  return {.outputs = {lab::expect(m.host, sum_of(m.in.view()), tolerance_of_sum(m.n))},
          .prepare = [&m] { m.on_host = m.in.host(); },
          .bytes = 4.0 * static_cast<double>(m.n),
          .peer = sum_of_floats(m).peer,
          .clock = lab::Clock::host};
}

/// The sum of a few floats in a variable of the host, which waits for it.
lab::Rung sum_for_host(Memory& m) {
  const size_t n = m.few.size();
  return {
      .outputs = {lab::expect(m.host, sum_of(m.few.view()), tolerance_of_small_sum(n)),
                  lab::on_the_way(m.sum), lab::on_the_way(m.pinned), lab::on_the_way(m.mapped)},
      .bytes = 4.0 * static_cast<double>(n),
      .peer = lab::vendor("Thrust", lab::thrust_sum(m.few.data(), n), &m.host, lab::Clock::host),
      .clock = lab::Clock::host};
}

/// The sum of n ints.
lab::Rung sum_of_ints(Memory& m) {
  return reading(4 * m.n, {lab::expect(m.int_sum, std::vector{sum_modulo(m.ints.view())})},
                 lab::vendor("CUB of ints", lab::cub_sum(ints_of(m.int_sum), m.ints.data(), m.n)));
}

/// The sums of several launches.
template <class T>
lab::Rung several(lab::DeviceBuffer<T>& sums, const lab::Expectation& right) {
  return {.outputs = {right}, .show = [&sums] { print_bits(sums.download()); }, .timed = false};
}

lab::Rung sums_in_one_order(Memory& m) {
  return several(m.sums, expect_one_order(m.sums, sum_of(m.few.view()), m.few.size()));
}
lab::Rung sums_in_any_order(Memory& m) {
  return several(m.sums, expect_any_order(m.sums, sum_of(m.few.view()), m.few.size()));
}
lab::Rung sums_of_few_ints(Memory& m) {
  const std::vector<unsigned> sums(LAUNCHES, sum_modulo(m.few_ints.view()));
  return several(m.int_sums, lab::expect(m.int_sums, sums));
}

/// The fold of n ints.
template <class Op>
lab::Rung fold_of_ints(Memory& m, const lab::Peer& peer) {
  return reading(4 * m.n,
                 {lab::expect(m.out, folded<Op>(m.ints.view())), lab::on_the_way(m.values)}, peer);
}
lab::Rung largest_int(Memory& m) {
  return fold_of_ints<Largest>(
      m, lab::vendor("CUB's fold, largest",
                     lab::cub_fold_largest(ints_of(m.out), m.ints.data(), m.n)));
}
lab::Rung checksum(Memory& m) { return fold_of_ints<Checksum>(m, {}); }

/// The sum of the products of floats and ties.
lab::Rung product_of_floats(Memory& m) {
  const double product = product_of(m.ties.view(), m.in.view());
  const lab::Tolerance tolerance = tolerance_of_sum(m.n, 4);
  return reading(8 * m.n,
                 {lab::expect(m.sum, std::vector{product}, tolerance), lab::on_the_way(m.partial)},
                 lab::vendor("Thrust's inner product",
                             lab::thrust_dot_product(m.in.data(), m.ties.data(), m.n), &m.host,
                             lab::Clock::device, {lab::expect(m.host, product, tolerance)}));
}

/// The lowest index of the largest of n floats.
lab::Rung index_of_largest(Memory& m, const lab::Input<float>& in, const std::string& input) {
  const unsigned index = first_largest(in.view());
  return reading(
      4 * m.n, {lab::expect(m.out, std::vector{index}), lab::on_the_way(m.values)},
      lab::vendor("CUB's arg-max, " + input,
                  lab::cub_arg_max(m.cub_value.data(), m.cub_index.data(), in.data(), m.n),
                  {lab::expect(m.cub_index, std::vector<std::int64_t>{index})}));
}

/// How many of n bytes are 0, 1, and so on.
lab::Rung counts_of(Memory& m, const lab::Input<std::uint8_t>& in, const std::string& input) {
  return reading(m.n, {lab::expect(m.bins, counts_of(in.view()))},
                 lab::vendor("CUB's histogram, " + input,
                             lab::cub_histogram(ints_of(m.bins), in.data(), m.n)));
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, size_t n) {
    ladder.require(n < NONE, "n: at most 4294967294, arg_max has indices of 32 bits");
    Memory m(n, ladder.seed());

    // Sections 1 to 9: sums of floats.
    ladder.add("on_cpu", "", sum_on_host(m), [&] { m.host = on_cpu(m.on_host.data(), n); });
    const lab::Problem sums(ladder, sum_of_floats(m));
    const Sum all = m.sum_of(m.in, m.sum.data());
    sums.add("interleaved_modulo", [&] { in_passes(all, interleaved_modulo, 1); });
    sums.demonstrate("wrong_modulo", [&] { in_passes(all, wrong_modulo, 1); });
    sums.add("interleaved_strided", [&] { in_passes(all, interleaved_strided, 1); });
    sums.add("sequential", [&] { in_passes(all, sequential, 1); });
    sums.add("first_add", [&] { in_passes(all, first_add, 2); });
    sums.demonstrate("past_the_end", [&] { in_passes(all, past_the_end, 2); });
    sums.demonstrate("racy_warp", [&] { in_passes(all, racy_warp, 2); });
    sums.add("last_warp", [&] { in_passes(all, last_warp, 2); });
    sums.sweep("unrolled", "block", {64u, 128u, 256u, 512u, 1024u},
               [&](unsigned block) { in_passes(all, unrolled_for(block), 2, block); });
    sums.add("grid_stride", [&] { in_two_passes(all, grid_stride, 1); });
    sums.add("shuffled", [&] { in_two_passes(all, shuffled, 1); });
    sums.add("shuffled", "by=groups", [&] { in_two_passes(all, group_sums, 1); });
    sums.sweep("scalars", "loads", {1u, 4u, 8u, 16u}, [&](auto loads) { by_scalars(all, loads); });
    sums.sweep("vectors", "loads", {1u, 2u, 4u, 8u}, [&](auto loads) { by_vectors(all, loads); });
    sums.add("single_pass", [&] { in_one_pass(all); });
    sums.add("single_pass", "by=ticket", [&] { by_tickets<512, 8>(all); });
    sums.add("single_pass", "by=grid_sync", [&] { by_grid_sync(all, 1); });
    sums.add("single_pass", "by=grid_sync,barriers=101", [&] { by_grid_sync(all, 101); });
    const lab::Problem ways(ladder, sum_for_host(m));
    ways.add("single_pass", "to=pageable", [&] { to_pageable(m); });
    ways.add("single_pass", "to=pinned", [&] { to_pinned(m); });
    ways.add("single_pass", "to=mapped", [&] { to_mapped(m); });
    ways.add("single_pass", "to=managed", [&] { to_managed(m); });
    lab::add_others(ladder);

    // Sections 10 to 12: the order of the additions, and other operators.
    ladder.add("integers", "", sum_of_ints(m), [&] { integer_sum(m.int_sum, m.ints); });
    ladder.add("integers", "of=floats,by=ticket,launches=16", sums_in_one_order(m),
               [&] { by_tickets_often(m.sum_of(m.few, m.sums.data()), m.partial); });
    ladder.add("integers", "of=floats,launches=16", sums_in_any_order(m),
               [&] { by_atomics_often(m.sums, m.few); });
    ladder.add("integers", "of=ints,launches=16", sums_of_few_ints(m), [&] { sum_few_ints(m); });
    ladder.add("fold", "op=largest", largest_int(m), [&] { fold_ints<Largest>(m); });
    ladder.add("fold", "op=checksum", checksum(m), [&] { fold_ints<Checksum>(m); });
    ladder.add("fold", "op=dot_product", product_of_floats(m), [&] { multiply_floats(m); });
    ladder.add("arg_max", "input=random", index_of_largest(m, m.in, "input=random"),
               [&] { launch_arg_max(m.out, m.words, m.in); });
    ladder.add("arg_max", "input=ties", index_of_largest(m, m.ties, "input=ties"),
               [&] { launch_arg_max(m.out, m.words, m.ties); });

    // Section 13: histograms of the same bytes, one after the other.
    for (const Bytes& bytes : BYTES) {
      const lab::Input<std::uint8_t> in(n, SomeBytes{ladder.seed(), bytes.kept}, bytes.name);
      const lab::Problem counts(ladder, counts_of(m, in, bytes.input));
      for (const Histogram& one : HISTOGRAMS) {
        counts.add(one.rung, one.copies + bytes.variant, [&] { one.launch(m.bins, in); });
      }
    }
  });
}

// ## The ladder as a whole (second reading)
//
// | kernel | what is new | ms | part of CUB's rate |
// |:--|:--|--:|--:|
// | `interleaved_modulo` | a tree | 2.6 | 0.09 |
// | `interleaved_strided` | the first threads add | 1.6 | 0.15 |
// | `sequential` | neighbouring lanes, neighbouring words | 1.2 | 0.20 |
// | `first_add` | half as many trees | 0.66 | 0.37 |
// | `last_warp` | a third of the barriers | 0.48 | 0.51 |
// | `unrolled`, block=256 | no loop | 0.45 | 0.53 |
// | `grid_stride` | a tree for each block that runs, not for two elements a thread | 0.42 | 0.58 |
// | `shuffled` | one barrier | 0.42 | 0.58 |
// | `vectors`, loads=1 | wide loads | 0.25 | 0.97 |
// | `vectors`, loads=8 | more loads in flight | 0.241 | 1.00 |
// | `single_pass` | one launch | 0.239 | 1.01 |
//= a tree | 2.6 | 0.09 |: (ms("interleaved_modulo"), ratio("interleaved_modulo"))
//= the first threads add | 1.6 | 0.15 |: (ms("interleaved_strided"), ratio("interleaved_strided"))
//= neighbouring lanes, neighbouring words | 1.2 | 0.20 |: (ms("sequential"), ratio("sequential"))
//= half as many trees | 0.66 | 0.37 |: (ms("first_add"), ratio("first_add"))
//= a third of the barriers | 0.48 | 0.51 |: (ms("last_warp"), ratio("last_warp"))
//= no loop | 0.45 | 0.53 |: (ms("unrolled/block=256"), ratio("unrolled/block=256"))
//= a tree for each block that runs, not for two elements a thread | 0.42 | 0.58 |: (ms("grid_stride"), ratio("grid_stride"))
//= one barrier | 0.42 | 0.58 |: (ms("shuffled"), ratio("shuffled"))
//= wide loads | 0.25 | 0.97 |: (ms("vectors/loads=1"), ratio("vectors/loads=1"))
//= more loads in flight | 0.241 | 1.00 |: (ms("vectors/loads=8"), ratio("vectors/loads=8"))
//= one launch | 0.239 | 1.01 |: (ms("single_pass"), ratio("single_pass"))
//
// The first half of the ladder saves work at the tree. It ends where the tree no longer matters, with `grid_stride`, and not yet
// at the memory. What is missing there are bytes in flight. The last kernels read at 0.91 of the peak of the memory.
//= 0.91 of the peak: rate("single_pass") / (6144 * 3201e6 * 2 / 8 / 1e9)
//
// ## What to remember
//
// - A reduction reads every element once. If it takes longer than reading them, something is in its way.
// - Let each thread add up many elements first. Trees and barriers come once per block.
// - Neighbouring threads, neighbouring words: no divergence, no bank conflicts.
// - Within a warp use shuffles, or `__reduce_add_sync` for ints. Code that relies on lanes running in lock-step is a
//   race.
// - Every load has its own guard; a thread without an element contributes the identity.
// - Flag and value in one word need no fence. A block that waits must be sure that the other one runs.
// - Floats: fix the order if the result has to be reproducible; `atomicAdd` does not.
// - Privatize what many threads update.
//
// ## Possibilities for extension
//
// 1. Sum up `double` and `__half`. What should the accumulator of `__half` be, and how wide a load?
// 2. Compute mean and variance in one pass. Which triple has an associative operator (Chan, Golub and LeVeque, 1979)?
// 3. Reduce each row of a matrix. From which row length on is a block better than a warp?
// 4. Fold the ints with a greatest common divisor. What is its identity, and may a thread stop early?
// 5. A histogram of 16-bit values has 65,536 counters, 256 KiB. Where do they go? From Hopper on, the blocks of a cluster
//    reach each other's shared memory.
