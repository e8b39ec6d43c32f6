// # Two halves at once
//
// Kind: optimise
// Level: 3
// Minutes: 10
//
// `doubled` sends n floats to the device, doubles them there and brings them back, in two halves.
// All of it is in one stream, so that one thing waits for the other.
//
// Let the halves overlap: use both streams, so that no operation of one half waits for one of the
// other half. `doubled` only starts the work; whoever calls it waits for both streams.
//
// Bars at n = 1000: 6 pairs of copies and kernels with an order between them (15 now)

#include <cuda_runtime.h>

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

// device: n floats. out and in: n floats of the host, pinned.
void doubled(float* out, const float* in, float* device, int n, cudaStream_t one,
             cudaStream_t other) {
  for (int half = 0; half < 2; ++half) {
    const int first = half == 0 ? 0 : n / 2, count = half == 0 ? n / 2 : n - n / 2;
    if (count == 0) continue;
#ifdef SOLUTION
    const cudaStream_t stream = half == 0 ? one : other;
#else
    const cudaStream_t stream = one;  // TODO
#endif
    cudaMemcpyAsync(device + first, in + first, count * sizeof(float), cudaMemcpyHostToDevice,
                    stream);
    twice<<<(count + 127) / 128, 128, 0, stream>>>(device + first, count);
    cudaMemcpyAsync(out + first, device + first, count * sizeof(float), cudaMemcpyDeviceToHost,
                    stream);
  }
}
