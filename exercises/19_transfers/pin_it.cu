// # Pin it
//
// Kind: repair
// Level: 2
// Minutes: 8
//
// `doubled` takes an array of the host to the device, piece by piece, and doubles it there. The
// pieces go through a buffer of its own. That buffer is pageable, so each piece passes another
// buffer, the driver's.
//
// Pin it, and leave no memory behind. And mind who may write to the buffer when: a copy from pinned
// memory returns before it is done, and then the next piece must not be in its way.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

constexpr std::size_t kRoom = 128;  // floats in the buffers

__global__ void twice(float* out, const float* in, std::size_t n) {
  const std::size_t i = threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

// A buffer of kRoom floats on the host.
float* make_buffer() {
#ifdef SOLUTION
  float* buffer = nullptr;
  cudaMallocHost(&buffer, kRoom * sizeof(float));
  return buffer;
#else
  return new float[kRoom];  // TODO
#endif
}

#ifdef SOLUTION
void free_buffer(float* buffer) { cudaFreeHost(buffer); }
#else
void free_buffer(float* buffer) {
  delete[] buffer;  // TODO
}
#endif

// out: n floats on the device, twice those at `values`, on the host; there when it returns. buffer:
// of make_buffer(). piece: kRoom floats on the device.
void doubled(float* out, const float* values, std::size_t n, float* buffer, float* piece,
             cudaStream_t stream) {
  for (std::size_t first = 0; first < n; first += kRoom) {
    const std::size_t count = std::min(kRoom, n - first);
#ifdef SOLUTION
    cudaStreamSynchronize(stream);
#else
    // TODO
#endif
    std::copy(values + first, values + first + count, buffer);
    cudaMemcpyAsync(piece, buffer, count * sizeof(float), cudaMemcpyHostToDevice, stream);
    twice<<<1, kRoom, 0, stream>>>(out + first, piece, count);
  }
  cudaStreamSynchronize(stream);
}
