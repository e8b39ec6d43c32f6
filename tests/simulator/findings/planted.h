/// \file
/// Programs with a planted fault. Each has a corrected twin, and both run on the simulator and under
/// compute-sanitizer, so that what one finds can be held against the other.
#pragma once

#include <cuda_runtime.h>

#include <vector>

/// One program. The line at fault carries the comment `// fault: NAME`; where two accesses race, both do.
struct Planted {
  const char* name;
  const char* kind;  ///< What the simulator must find in the faulty variant, and nothing else.
  void (*run)(bool fixed);
  bool on_hardware = true;  ///< false where the faulty variant would never end there,
                            ///< or has not run there yet (./learn author sanitize)
};

extern const std::vector<Planted> kGlobalMemory, kSharedMemory, kRaces, kBarriers, kUninitialized,
    kBetweenBlocks, kHostCalls, kNoProgress, kThreads, kBetweenThreads, kTextures, kLibraries,
    kInlinePtx, kAsyncCopies, kStreams, kMatrices, kBulkCopies, kWgmma, kClusters;

/// Device memory that holds a copy of `values`.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) {
    cudaMalloc(&data_, values.size() * sizeof(T));
    cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  explicit OnDevice(size_t n, T value = T{}) : OnDevice(std::vector<T>(n, value)) {}
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};
