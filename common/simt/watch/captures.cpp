#include "watch/captures.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "streams/order.h"
#include "watch/unsynchronized.h"

namespace simt::captures {
namespace {

struct State {
  std::mutex mutex;
  std::vector<UnderWay*> captures;
};
State& state() { return lasting<State>(); }
std::atomic<unsigned> number{0};
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

// Those for which `is_hurt` holds are invalid from now on. Then `error`, for this reason.
template <class F>
cudaError_t refuse(cudaError_t error, const char* why, F is_hurt) {
  if (number.load(std::memory_order_relaxed) == 0) [[likely]]
    return cudaSuccess;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  bool any = false;
  for (UnderWay* capture : s.captures) {
    if (!is_hurt(*capture)) continue;
    any = true;
    if (std::exchange(capture->is_invalid, true)) continue;
    const device::Call call = device::call_under_way();
    capture->ended_by = call.name + " at " + symbols::locate(call.pc).text();
  }
  if (!any) return cudaSuccess;
  device::explain(why);
  return error;
}

}  // namespace

void begin(UnderWay& capture) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.captures.push_back(&capture);
  number = static_cast<unsigned>(s.captures.size());
}

void end(UnderWay& capture) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::erase(s.captures, &capture);
  number = static_cast<unsigned>(s.captures.size());
}

cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode) {
  return std::exchange(mode_of_thread, mode);
}

cudaError_t refuse_in_host_function() {
  if (!unsynchronized::InOrder::is_here()) [[likely]]
    return cudaSuccess;
  device::explain(kWhyNotInHostFunction);
  return cudaErrorNotPermitted;
}

cudaError_t refuse_unsafe() {
  if (const cudaError_t error = refuse_in_host_function()) return error;
  return refuse(cudaErrorStreamCaptureUnsupported,
                "a stream is being captured into a graph, and the call might wait for the device: "
                "make it before cudaStreamBeginCapture() or after cudaStreamEndCapture()",
                [](const UnderWay& capture) {
                  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return false;
                  const bool is_own = capture.thread == std::this_thread::get_id();
                  return is_own ? capture.mode != cudaStreamCaptureModeRelaxed
                                : capture.mode == cudaStreamCaptureModeGlobal &&
                                      mode_of_thread == cudaStreamCaptureModeGlobal;
                });
}

cudaError_t refuse_device_wait() {
  if (const cudaError_t error = refuse_in_host_function()) return error;
  return refuse(cudaErrorStreamCaptureUnsupported,
                "a stream is being captured into a graph, whose work does not run before the graph "
                "is launched, so nobody can wait for it",
                [](const UnderWay&) { return true; });
}

cudaError_t refuse_legacy(const void* stream) {
  if (const cudaError_t error = refuse_in_host_function()) return error;
  constexpr uintptr_t kLegacy = 1;  // cudaStreamLegacy
  if (reinterpret_cast<uintptr_t>(stream) > kLegacy) return cudaSuccess;
  if (stream_order::Work::current()) return cudaSuccess;  // a step of a graph has no stream
  return refuse(cudaErrorStreamCaptureImplicit, kWhyNotLegacy,
                [](const UnderWay& capture) { return capture.has_blocking; });
}

}  // namespace simt::captures
