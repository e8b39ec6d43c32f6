// # Two steps in one pass
//
// Kind: fill in
// Level: 4
// Minutes: 12
//
// A step of heat in a rod takes `x[i]` to `x[i] + (x[i - 1] - 2 * x[i] + x[i + 1]) / 4`; the first
// and the last element keep their values. `two_steps` takes two of them in one pass through memory.
//
// A block of 128 threads loads 128 neighbouring elements and computes the first step of all of them
// whose neighbours it has. From those it computes the second step, of fewer. How many of the 128
// come out right, and at which distance must the blocks begin, so that all elements are computed? n
// is any number; write each element once.
//
// Bars at n = 4096: 34 blocks, 4 load requests for each

#include <cuda_runtime.h>

constexpr int kThreads = 128;

__device__ float stepped(float left, float here, float right) {
  return here + (left - 2 * here + right) / 4;
}

// Elements that a block writes.
#ifdef SOLUTION
constexpr int kUsed = kThreads - 4;

__global__ void two_steps(const float* in, float* out, int n) {
  __shared__ float once[kThreads + 2], twice[kThreads + 2];  // thread t's element at t + 1
  const int i = blockIdx.x * kUsed + threadIdx.x - 2, at = threadIdx.x + 1;
  const bool there = 0 <= i && i < n, edge = i == 0 || i == n - 1;
  once[at] = there ? in[i] : 0;
  if (threadIdx.x < 2) once[threadIdx.x * (kThreads + 1)] = 0;  // what the block has not
  if (threadIdx.x < 2) twice[threadIdx.x * (kThreads + 1)] = 0;
  __syncthreads();
  twice[at] = edge ? once[at] : stepped(once[at - 1], once[at], once[at + 1]);
  __syncthreads();
  const float result = edge ? twice[at] : stepped(twice[at - 1], twice[at], twice[at + 1]);
  const bool mine = 2 <= threadIdx.x && threadIdx.x < kThreads - 2;
  if (there && mine) out[i] = result;
}
#else
constexpr int kUsed = kThreads;  // TODO

__global__ void two_steps(const float* in, float* out, int n) {
  __shared__ float once[kThreads + 2], twice[kThreads + 2];  // thread t's element at t + 1
  const int i = blockIdx.x * kUsed + threadIdx.x, at = threadIdx.x + 1;  // TODO
  const bool there = 0 <= i && i < n, edge = i == 0 || i == n - 1;
  once[at] = there ? in[i] : 0;
  if (threadIdx.x < 2) once[threadIdx.x * (kThreads + 1)] = 0;  // what the block has not
  if (threadIdx.x < 2) twice[threadIdx.x * (kThreads + 1)] = 0;
  __syncthreads();
  twice[at] = edge ? once[at] : stepped(once[at - 1], once[at], once[at + 1]);
  __syncthreads();
  const float result = edge ? twice[at] : stepped(twice[at - 1], twice[at], twice[at + 1]);
  if (there) out[i] = result;  // TODO
}
#endif

void launch(const float* in, float* out, int n) {
  two_steps<<<(n + kUsed - 1) / kUsed, kThreads>>>(in, out, n);
}
