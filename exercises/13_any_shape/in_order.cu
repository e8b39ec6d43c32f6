// # In the same order every time
//
// Kind: repair
// Level: 3
// Minutes: 15
//
// A sum of n floats is split in `parts`, a block for each. A block writes the sum of its part to
// `partials` and draws a ticket; the block that draws the last one adds all of them up. The result
// has to be the same in every run, bit for bit.
//
// Two things are wrong. Which block comes last differs from run to run, and so does the order in
// which the partial sums are added: it has to be that of the parts. And a second launch, with the
// same ticket, gives nothing. Repair both.

#include <cuda_runtime.h>

// `parts` blocks of 32 threads. ticket: 0 before the first launch.
__global__ void sum_in_parts(const float* in, float* out, float* partials, unsigned* ticket,
                             int n) {
  const int part = blockIdx.x, parts = gridDim.x, lane = threadIdx.x;
  const int begin = static_cast<int>(1LL * n * part / parts);
  const int end = static_cast<int>(1LL * n * (part + 1) / parts);
  float sum = 0;
  for (int i = begin + lane; i < end; i += 32) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane != 0) return;
  __stcg(partials + part, sum);
  __threadfence();  // the partial sum is visible before the ticket
  if (atomicAdd(ticket, 1u) != static_cast<unsigned>(parts) - 1) return;
  __threadfence();
#ifdef SOLUTION
  float all = 0;
  for (int p = 0; p < parts; ++p) all += __ldcg(partials + p);
  *out = all;
  atomicExch(ticket, 0u);
#else
  float all = sum;  // this block's is at hand
  for (int p = 0; p < parts; ++p)
    if (p != part) all += __ldcg(partials + p);
  *out = all;
#endif
}
