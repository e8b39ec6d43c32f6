// Streams, events and graphs as the API's functions share them.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/handles.h"
#include "report/errors.h"
#include "streams/order.h"
#include "watch/captures.h"

namespace simt::graphs {

// A piece of work that a stream or a graph is asked for.
struct Work {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::function<cudaError_t()> run = {};  // may be empty
  cudaError_t wrong = cudaSuccess;        // why there is no such work
};

}  // namespace simt::graphs

// The work of a graph, and what it has to wait for.
struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  std::vector<CUgraphNode_st*> after;
  simt::graphs::Work work;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

// A graph ready to run: its work, in an order that respects the dependencies.
struct CUgraphExec_st {
  struct Step {
    simt::graphs::Work work;
    const CUgraphNode_st* node = nullptr;  // whose it is; for being compared, it may be gone
    std::vector<size_t> after = {};        // the steps that it waits for
  };
  std::vector<Step> steps;
  std::vector<uint32_t> queues = {};  // see stream_order::GraphLaunch
};

namespace simt::graphs {

// A capture that is under way, and the streams that take part in it.
struct Capture : captures::UnderWay {
  CUgraph_st* graph = nullptr;
  CUstream_st* origin = nullptr;
  std::vector<CUstream_st*> streams;
};

}  // namespace simt::graphs

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<simt::graphs::Capture> capture;  // null if work is done at once
  std::vector<CUgraphNode_st*> last;               // what the next captured work waits for
};

struct CUevent_st {
  std::chrono::steady_clock::time_point when;
  bool recorded = false;
  unsigned flags = cudaEventDefault;
  int device = 0;                                // it was made on
  simt::stream_order::Clock position;            // of the stream when it was recorded
  std::weak_ptr<simt::graphs::Capture> capture;  // in which it was recorded
  std::vector<CUgraphNode_st*> last;
};

namespace simt::graphs {

// What cudaStreamPerThread means for the thread that asks.
CUstream_st* stream_of_this_thread();
// The stream itself, or nullptr for the default stream that all threads share, which cannot be captured.
inline CUstream_st* ordinary(cudaStream_t stream) {
  if (stream == cudaStreamPerThread) return stream_of_this_thread();
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return nullptr;
  return Handles<CUstream_st>::is_live(stream) ? stream : nullptr;
}
// The capture that the stream takes part in, or nullptr.
inline Capture* capture_of(cudaStream_t stream) {
  const CUstream_st* const found = ordinary(stream);
  return found ? found->capture.get() : nullptr;
}
inline bool is_capturing(cudaStream_t stream) { return capture_of(stream); }

// Notes work that a capturing stream was asked for.
void note(cudaStream_t stream, Work work);

// Does the work, or notes it if the stream is being captured.
template <class F>
cudaError_t enqueue(cudaStream_t stream, cudaGraphNodeType type, F work) {
  if (!is_capturing(stream)) [[likely]] {
    if (const cudaError_t error = captures::refuse_legacy(stream)) return device::result(error);
    const stream_order::Work here(stream);
    return work();
  }
  note(stream, {type, std::move(work)});
  return cudaSuccess;
}

}  // namespace simt::graphs
