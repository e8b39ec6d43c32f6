// Capture: what streams are asked for becomes a graph.
#include <simt/api/runtime.h>

#include <utility>
#include <vector>

#include "report/api_errors.h"
#include "report/errors.h"
#include "runtime/graphs.h"

namespace captures = simt::captures;
using namespace simt::graphs;
using simt::device::result;

bool simt::detail::is_captured(const Config& config) {
  return config.to_node || graphs::is_capturing(config.stream);
}

void simt::detail::capture(const Config& config, Work work) {
  const std::shared_ptr<void> closure(work.closure, work.destroy);
  auto later = [closure, run = work.run] {
    const cudaError_t before = device::exchange_last_error(cudaSuccess);
    run(closure.get());
    const cudaError_t error = device::exchange_last_error(before);
    return error ? device::result(error) : device::sticky_error();
  };
  if (config.to_node) {
    target->run = std::move(later);
  } else {
    note(config.stream, {cudaGraphNodeTypeKernel, std::move(later)});
  }
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  CUstream_st* const stream = ordinary(handle);
  if (!stream) return result(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return result(cudaErrorIllegalState);
  stream->capture = std::make_shared<Capture>();
  stream->capture->graph = simt::Handles<CUgraph_st>::add(new CUgraph_st);
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->has_blocking = !(stream->flags & cudaStreamNonBlocking);
  stream->capture->streams = {stream};
  captures::begin(*stream->capture);
  stream->last.clear();
  return result(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  if (!graph) return result(cudaErrorInvalidValue);
  *graph = nullptr;
  if (!is_capturing(handle)) return result(cudaErrorIllegalState);
  CUstream_st* const stream = ordinary(handle);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream) return result(cudaErrorStreamCaptureUnmatched);
  captures::end(*capture);
  bool joined = true;
  for (CUstream_st* other : capture->streams) {
    for (const Node* node : other->last) joined &= reaches(stream->last, node);
  }
  for (CUstream_st* other : capture->streams) {
    other->capture.reset();
    if (other != stream) other->last.clear();
  }
  stream->last.clear();
  if (!joined || capture->is_invalid) {
    simt::Handles<CUgraph_st>::remove(capture->graph);
    delete capture->graph;
    if (joined && !capture->ended_by.empty())
      simt::device::explain(capture->ended_by +
                            " has ended the capture, during which it is not allowed");
    return result(joined ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined);
  }
  *graph = capture->graph;
  return result(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (!status) return result(cudaErrorInvalidValue);
  const Capture* const capture = capture_of(stream);
  *status = !capture              ? cudaStreamCaptureStatusNone
            : capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                  : cudaStreamCaptureStatusActive;
  return result(cudaSuccess);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (!mode) return result(cudaErrorInvalidValue);
  *mode = captures::exchange_mode(*mode);
  return result(cudaSuccess);
}
