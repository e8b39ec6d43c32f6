/// \file
/// Several streams whose work begins and ends in the default stream, where a rung is timed.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

namespace lab {

/// Streams that do not wait for each other, nor for the current device's default stream but at `start` and `join`.
class Streams {
 public:
  /// \param devices stream i is one of device i % devices; 1: all are of the current one
  explicit Streams(std::size_t count, int devices = 1);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  cudaStream_t operator[](std::size_t i) const { return streams_[i]; }
  std::size_t size() const { return streams_.size(); }
  /// All streams wait for what was launched in the default stream so far, or in `from`, one of the current device.
  void start(cudaStream_t from = nullptr);
  /// The default stream, or `to`, waits for what was launched in these streams so far.
  void join(cudaStream_t to = nullptr);

 private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> ends_;
  cudaEvent_t begin_ = nullptr;
};

}  // namespace lab
