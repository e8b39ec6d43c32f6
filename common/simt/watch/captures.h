// Captures that are under way, and the calls that CUDA refuses meanwhile, which end them (asked of an H100). In a function that a
// stream calls it refuses all of these, and more (an H200: all but cudaEventQuery()).
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <thread>

namespace simt::captures {

struct UnderWay {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();  // that began it
  bool has_blocking = false;  // one of its streams waits for the legacy default stream
  bool is_invalid = false;    // a call has asked for what it does not allow
  std::string ended_by = {};  // that call, and where it stands
};

void begin(UnderWay& capture);
void end(UnderWay& capture);
// What the calling thread may do while others capture, as cudaThreadExchangeStreamCaptureMode() sets it.
cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode);

// The error of a call that is refused, with the reason explained; cudaSuccess where it is allowed.
cudaError_t
refuse_unsafe();  // it may wait for the device: memory that is allocated or freed, an event
cudaError_t refuse_in_host_function();
cudaError_t refuse_device_wait();  // it waits for all streams
inline constexpr const char* kWhyNotInHostFunction =
    "it stands in a function that a stream calls (cudaLaunchHostFunc(), cudaStreamAddCallback()), "
    "which must not call CUDA: make the call after that function was given to the stream";
inline constexpr const char* kWhyNotLegacy =
    "it uses the default stream, which waits for a stream that is being captured into a graph: "
    "name "
    "that stream in the call, or make it with cudaStreamNonBlocking";
cudaError_t refuse_legacy(const void* stream);  // it uses the default stream, if this is that one

}  // namespace simt::captures
