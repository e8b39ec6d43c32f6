// # Pin it
//
// Kind: repair
// Level: 2
// Minutes: 8
//
// `send` takes an array to the device, piece by piece, through a buffer of its own. That buffer is
// pageable, so each piece passes another buffer, the driver's.
//
// Pin it, and leave no memory behind. And mind who may write to the buffer when: a copy from pinned
// memory returns before it is done, and then the next piece must not be in its way.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

constexpr std::size_t kRoom = 128;  // floats in the buffer

class Staging {
 public:
  Staging() : data_(nullptr) { cudaMallocHost(&data_, kRoom * sizeof(float)); }
  ~Staging() { cudaFreeHost(data_); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  float* data() { return data_; }

 private:
  float* data_;
};

// Takes n floats of the host to the device; returns when they are there.
void send(float* device, const float* values, std::size_t n, Staging& staging,
          cudaStream_t stream) {
  for (std::size_t first = 0; first < n; first += kRoom) {
    const std::size_t count = std::min(kRoom, n - first);
    cudaStreamSynchronize(stream);
    std::copy(values + first, values + first + count, staging.data());
    cudaMemcpyAsync(device + first, staging.data(), count * sizeof(float), cudaMemcpyHostToDevice,
                    stream);
  }
  cudaStreamSynchronize(stream);
}
