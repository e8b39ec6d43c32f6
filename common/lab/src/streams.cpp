#include "lab/streams.h"

#include "lab/check.h"
#include "lab/devices.h"

namespace lab {

Streams::Streams(std::size_t count, int devices) : streams_(count), ends_(count) {
  CUDA_CHECK(cudaEventCreateWithFlags(&begin_, cudaEventDisableTiming));
  int current = 0;
  CUDA_CHECK(cudaGetDevice(&current));
  for (std::size_t i = 0; i < count; ++i) {
    const OnDevice here(devices > 1 ? static_cast<int>(i % static_cast<std::size_t>(devices))
                                    : current);
    CUDA_CHECK(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&ends_[i], cudaEventDisableTiming));
  }
}

Streams::~Streams() {
  for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  for (const cudaEvent_t end : ends_) cudaEventDestroy(end);
  cudaEventDestroy(begin_);
}

void Streams::start(cudaStream_t from) {
  CUDA_CHECK(cudaEventRecord(begin_, from));
  for (const cudaStream_t stream : streams_) CUDA_CHECK(cudaStreamWaitEvent(stream, begin_, 0));
}

void Streams::join(cudaStream_t to) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    CUDA_CHECK(cudaEventRecord(ends_[i], streams_[i]));
    CUDA_CHECK(cudaStreamWaitEvent(to, ends_[i], 0));
  }
}

}  // namespace lab
