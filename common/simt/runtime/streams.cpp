// Streams and events.
#include "runtime/streams.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/devices.h"
#include "ending/unread_results.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "report/log.h"
#include "streams/beside_host.h"
#include "streams/schedule.h"
#include "watch/unsynchronized.h"

using simt::device::explain;
using simt::device::result;
using simt::graphs::enqueue;
namespace captures = simt::captures;
namespace stream_order = simt::stream_order;

CUstream_st* simt::graphs::stream_of_this_thread() {
  thread_local CUstream_st stream;
  return &stream;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (const cudaError_t error = captures::refuse_in_host_function()) return result(error);
  if (!stream || flags > cudaStreamNonBlocking) return result(cudaErrorInvalidValue);
  auto* made = new CUstream_st;
  made->flags = flags;
  made->priority = std::clamp(priority, -5, 0);
  *stream = simt::Handles<CUstream_st>::add(made);
  stream_order::add_stream(made, !(flags & cudaStreamNonBlocking));
  return result(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  // (No default stream is among the handles.)
  if (!simt::Handles<CUstream_st>::is_live(stream)) return result(cudaErrorInvalidResourceHandle);
  if (stream->capture) std::erase(stream->capture->streams, stream);
  simt::Handles<CUstream_st>::remove(stream);
  stream_order::remove_stream(stream);
  delete stream;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  if (!priority) return result(cudaErrorInvalidValue);
  const CUstream_st* const found = simt::graphs::ordinary(stream);
  *priority = found ? found->priority : 0;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  if (!flags) return result(cudaErrorInvalidValue);
  const CUstream_st* const found = simt::graphs::ordinary(stream);
  *flags = found ? found->flags : cudaStreamDefault;
  return result(cudaSuccess);
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  if (!value) return result(cudaErrorInvalidValue);
  CUstream_st* const found = simt::graphs::ordinary(stream);
  if (attribute == cudaLaunchAttributePriority && found) {
    found->priority = std::clamp(value->priority, -5, 0);
  }
  return result(cudaSuccess);
}

// All work is done by now; but what is being captured has not begun.
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (!simt::is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = captures::refuse_legacy(stream)) return result(error);
  if (!simt::graphs::is_capturing(stream)) {
    if (const cudaError_t error = captures::refuse_unsafe()) return result(error);
  }
  stream_order::host_waits_for_stream(stream);
  if (!simt::graphs::is_capturing(stream)) return result(cudaSuccess);
  simt::graphs::ordinary(stream)->capture->is_invalid = true;
  return result(cudaErrorStreamCaptureUnsupported);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (simt::is_stream(stream) && simt::beside_host::is_under_way_in(stream_order::position(stream)))
    return result(cudaErrorNotReady);
  return cudaStreamSynchronize(stream);
}

static bool is_event(cudaEvent_t event) { return simt::Handles<CUevent_st>::is_live(event); }

static cudaError_t no_event(const char* which = nullptr) {
  explain((which ? std::string("the ") + which + " argument" : std::string("the argument")) +
          " is no event that cudaEventCreate() has made, or one that was destroyed");
  return result(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!is_event(event)) return result(cudaErrorInvalidResourceHandle);
  const auto capture = event->capture.lock();
  if (!capture) {
    stream_order::wait(stream, event->position);
    return result(cudaSuccess);
  }
  CUstream_st* const member = simt::graphs::ordinary(stream);
  if (!member) return result(cudaErrorStreamCaptureImplicit);
  // The stream takes part in the capture from here on.
  if (!member->capture) {
    member->capture = capture;
    member->last.clear();
    capture->streams.push_back(member);
    capture->has_blocking |= !(member->flags & cudaStreamNonBlocking);
  }
  if (member->capture != capture) return result(cudaErrorStreamCaptureMerge);
  member->last.insert(member->last.end(), event->last.begin(), event->last.end());
  return result(cudaSuccess);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  if (!callback) return result(cudaErrorInvalidValue);
  return enqueue(stream, cudaGraphNodeTypeHost, [=] {
    const simt::unsynchronized::InOrder here;
    callback(stream, simt::device::sticky_error(), data);
    simt::stream_schedule::note("host function");
    stream_order::host_was_called();
    return result(cudaSuccess);
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (!function) return result(cudaErrorInvalidValue);
  return enqueue(stream, cudaGraphNodeTypeHost, [=] {
    const simt::unsynchronized::InOrder here;
    function(data);
    simt::stream_schedule::note("host function");
    stream_order::host_was_called();
    return result(cudaSuccess);
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t error = captures::refuse_in_host_function()) return result(error);
  constexpr unsigned kAll = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!event || (flags & ~kAll)) return result(cudaErrorInvalidValue);
  // One that other processes see has no time.
  if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming))
    return result(cudaErrorInvalidValue);
  *event = simt::Handles<CUevent_st>::add(new CUevent_st);
  (*event)->flags = flags;
  (*event)->device = simt::devices::current();
  return result(cudaSuccess);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!simt::Handles<CUevent_st>::remove(event)) return result(cudaErrorInvalidResourceHandle);
  delete event;
  return result(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!is_event(event)) return no_event();
  if (!simt::is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (const int other = stream_order::device_of(stream); other != event->device) {
    explain("the event was made on device " + std::to_string(event->device) +
            ", and the stream is one of device " + std::to_string(other) +
            ": make the event with the stream's device as the current one. (Streams of any device "
            "can wait for it.)");
    return result(cudaErrorInvalidResourceHandle);
  }
  event->capture.reset();
  if (simt::graphs::is_capturing(stream)) {
    event->capture = simt::graphs::ordinary(stream)->capture;
    event->last = simt::graphs::ordinary(stream)->last;
    return result(cudaSuccess);
  }
  if (const cudaError_t error = captures::refuse_legacy(stream)) return result(error);
  event->recorded = true;
  event->position = stream_order::position(stream);
  simt::beside_host::at_end_of(event->position, [event] {
    if (is_event(event)) event->when = std::chrono::steady_clock::now();
  });
  return result(cudaSuccess);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!is_event(event)) return no_event();
  if (event->capture.expired()) {
    if (const cudaError_t error = captures::refuse_unsafe()) return result(error);
  }
  stream_order::host_waits(event->position);
  return result(event->capture.expired() ? cudaSuccess : cudaErrorCapturedEvent);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (is_event(event) && simt::beside_host::is_under_way_in(event->position))
    return result(cudaErrorNotReady);
  // The one call that a function which a stream calls may make.
  if (is_event(event) && simt::unsynchronized::InOrder::is_here()) return result(cudaSuccess);
  return cudaEventSynchronize(event);
}
// Nobody has waited since the event was recorded, behind work.
static void tell_of_early_time() {
  const simt::symbols::Location& at = simt::symbols::locate(simt::device::program_caller());
  static auto& told = *new std::set<std::pair<std::string, int>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!told.insert({at.file, at.line}).second) return;
  simt::Finding f = simt::device::finding_at(at, "api-error", simt::Severity::warning);
  f.message =
      "cudaEventElapsedTime at " + at.text() +
      ": nobody has waited for the event that ends the time, nor for the work before it. On a GPU "
      "that work may still be going on, and the call returns cudaErrorNotReady: call "
      "cudaEventSynchronize() first.";
  simt::device::report(std::move(f));
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  simt::device::note_came_back();
  if (!milliseconds) return result(cudaErrorInvalidValue);
  for (const auto& [event, which] : {std::pair{begin, "first"}, std::pair{end, "second"}}) {
    if (!is_event(event)) return no_event(which);
    if (event->recorded) continue;
    explain(std::string("the ") + which +
            " event has never been recorded: call cudaEventRecord() for it, ahead of the work for "
            "the first, after it for the second");
    return result(cudaErrorInvalidResourceHandle);
  }
  if (begin->device != end->device) {
    explain("the first event is one of device " + std::to_string(begin->device) +
            ", the second of device " + std::to_string(end->device) +
            ": each device has a clock of its own");
    return result(cudaErrorInvalidResourceHandle);
  }
  if ((begin->flags | end->flags) & cudaEventDisableTiming)
    return result(cudaErrorInvalidResourceHandle);
  if (!stream_order::is_done(end->position)) tell_of_early_time();
  stream_order::host_waits(end->position);
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
  return result(cudaSuccess);
}
