// Copies, and memory that is set.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "base/lasting.h"
#include "base/text.h"
#include "ending/result_extents.h"
#include "ending/unread_results.h"
#include "launch/first_infinite.h"
#include "memory/constants.h"
#include "memory/device_variables.h"
#include "memory/host_texts.h"
#include "memory/textures.h"
#include "memory/watched.h"
#include "program/program_image.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "report/log.h"
#include "runtime/memory_calls.h"
#include "runtime/streams.h"
#include "streams/order.h"
#include "streams/races.h"
#include "watch/captures.h"
#include "watch/host_copies.h"
#include "watch/host_frames.h"
#include "watch/host_heap.h"
#include "watch/managed_results.h"

using simt::device::explain;
using simt::device::result;
using simt::graphs::enqueue;
using simt::runtime::copy_rows;
using simt::runtime::is_variable;
using simt::runtime::live_at;

namespace {

// One end of a copy. What cudaMalloc and its like returned, or a variable, must hold all of it. Empty if it
// does, else what is wrong.
std::string wrong_with(const char* end, const void* pointer, size_t size) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::string what = "the " + std::string(end);
  if (!pointer) return what + " is a null pointer";
  if (simt::textures::is_array(pointer))
    return what + " is a CUDA array, which takes cudaMemcpy2DToArray and its like";
  std::string place;
  uint64_t holds_until = 0;
  if (simt::memory::in_arena(address)) {
    const simt::memory::Allocation* found = simt::memory::find(address);
    if (!found) return what + " is an address that no allocation holds";
    place = simt::memory::describe(*found);
    if (found->freed) return what + " lies in " + place;
    if (found->kind == simt::memory::Kind::heap) {
      return what + " lies in " + place +
             ", and that heap is for kernels alone: let a kernel copy it to or from memory of "
             "cudaMalloc()";
    }
    holds_until = found->end();
  } else if (const simt::symbols::Variable* variable = simt::symbols::find_variable(address)) {
    const std::string name =
        simt::device_variables::ByName::is_open() ? "" : simt::device_variables::stand_in(address);
    if (!name.empty()) {
      return what + " is what host code has by the name of '" + name +
             "', a variable of the device, and that is not its address there: call "
             "cudaMemcpyToSymbol() or cudaMemcpyFromSymbol(), or ask cudaGetSymbolAddress() for it";
    }
    place =
        "the " + std::to_string(variable->end - variable->begin) + " bytes of " + variable->name;
    holds_until = variable->end;
  } else {
    std::string wrong = simt::host_frames::wrong_with(end, address, size);
    return wrong.empty() ? simt::host_heap::wrong_with(end, address, size) : wrong;
  }
  if (size <= holds_until - address) return {};
  return what + " reaches " + simt::plural(size - (holds_until - address), "byte") +
         " past the end of " + place;
}

bool is_device(const void* pointer) {
  return simt::memory::in_device_arena(reinterpret_cast<uint64_t>(pointer));
}

// Can a kernel reach it? A variable of the program may be one of the device's.
bool is_reachable(const void* pointer) {
  return is_device(pointer) || is_variable(pointer) || live_at(pointer) ||
         simt::memory::in_shared_arena(reinterpret_cast<uint64_t>(pointer));
}

// The direction must fit the pointers. Host memory that the device can reach too fits both. Empty if it does, else what is
// wrong.
std::string wrong_direction(const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault || !to || !from) return {};
  const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  const auto fits = [](const void* pointer, bool host) {
    return host ? !is_device(pointer) : is_reachable(pointer);
  };
  if (is_device(to) && is_device(from))
    return {};  // a GPU goes by the addresses: see warn_of_direction()
  const bool to_fits = fits(to, to_host);
  if (to_fits && fits(from, from_host)) return {};
  const bool said_host = to_fits ? from_host : to_host;
  std::string wrong =
      "the " + std::string(to_fits ? "source" : "target") +
      (said_host ? " lies in device memory, and the direction says that it is the host's"
                 : " lies in memory of the host's alone, and the direction says that "
                   "it is the device's");
  if (to_host != from_host && fits(from, to_host) && fits(to, from_host)) {
    wrong +=
        ". Usual cause: the two pointers are swapped, the target comes first; or the direction "
        "is the other one";
  }
  return wrong;
}

// From the first byte of these rows to behind the last one. More than any memory has, where that is no number of 64 bits.
size_t span_of(size_t pitch, size_t width, size_t height) {
  size_t span = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &span) ||
      __builtin_add_overflow(span, width, &span)) {
    return ~size_t{0};
  }
  return span;
}

// The allocations that a copy is to or from.
std::string both_ends(const void* to, const void* from) {
  std::string text;
  for (const void* end : {to, from}) {
    if (const simt::memory::Allocation* found = live_at(end))
      text += simt::memory::describe(*found) + "\n";
  }
  return text;
}

// Rows that are longer than the distance from one to the next.
cudaError_t wrong_pitch(size_t width, size_t pitch) {
  explain("rows of " + std::to_string(width) + " bytes do not fit in a pitch of " +
          std::to_string(pitch));
  return result(cudaErrorInvalidPitchValue);
}

struct Told {
  std::set<uint64_t> overlaps, directions;  // calls
};

// A copy whose source and target have bytes in common, told once for each line.
void look_for_overlap(const void* to, const void* from, size_t size) {
  const auto first = reinterpret_cast<uint64_t>(to), second = reinterpret_cast<uint64_t>(from);
  const uint64_t apart = first > second ? first - second : second - first;
  if (apart == 0 || apart >= size) return;
  const simt::device::Call call = simt::device::call_under_way();
  if (!simt::lasting<Told>().overlaps.insert(call.pc).second) return;
  const simt::symbols::Location& at = simt::symbols::locate(call.pc);
  simt::Finding f = simt::device::finding_at(at, "api-error", simt::Severity::warning);
  f.address = first;
  f.message = call.name + " at " + at.text() + " copies " + simt::plural(size, "byte") +
              " to a place " + simt::plural(apart, "byte") +
              " away from where they lie: source and target overlap. A GPU copies in any "
              "order, so that some of the source may be overwritten before it is read: copy by "
              "way of another buffer.";
  simt::device::report(std::move(f));
}

// A copy within the device that is said to be another, told once for each line: the runtime copies all the same.
void warn_of_direction(const void* to, const void* from, cudaMemcpyKind kind) {
  const bool says_so = kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice;
  if (says_so || !is_device(to) || !is_device(from)) return;
  const simt::device::Call call = simt::device::call_under_way();
  if (!simt::lasting<Told>().directions.insert(call.pc).second) return;
  const simt::symbols::Location& at = simt::symbols::locate(call.pc);
  simt::Finding f = simt::device::finding_at(at, "api-error", simt::Severity::warning);
  f.address = reinterpret_cast<uint64_t>(to);
  f.message = call.name + " at " + at.text() +
              " copies within the device, and its direction says otherwise. The runtime goes by "
              "the addresses: is one of the two pointers wrong?";
  simt::device::report(std::move(f));
}

void mark_rows_written(void* to, size_t pitch, size_t width, size_t height) {
  const auto address = reinterpret_cast<uint64_t>(to);
  if (simt::engine::in_program_data(address))
    simt::constants::note_written(address, span_of(pitch, width, height));
  if (simt::managed_results::extent)
    simt::managed_results::access(address, span_of(pitch, width, height), true, 0);
  if (!simt::memory::in_device_arena(address)) return;
  if (pitch == width) {
    simt::memory::mark_written(address, width * height);
  } else {
    for (size_t row = 0; row < height; ++row) {
      simt::memory::mark_written(address + row * pitch, width);
    }
  }
}

}  // namespace

cudaError_t simt::runtime::copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (width == 0 || height == 0) return result(cudaSuccess);
  if (const size_t pitch = std::min(to_pitch, from_pitch); pitch < width)
    return wrong_pitch(width, pitch);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return result(cudaErrorInvalidMemcpyDirection);
  }
  if (std::string wrong = wrong_direction(to, from, kind); !wrong.empty()) {
    explain(std::move(wrong), {}, both_ends(to, from));
    return result(cudaErrorInvalidValue);
  }
  std::string wrong = wrong_with("target", to, span_of(to_pitch, width, height));
  if (wrong.empty()) wrong = wrong_with("source", from, span_of(from_pitch, width, height));
  const bool to_variable = simt::engine::in_program_data(reinterpret_cast<uint64_t>(to));
  if (!wrong.empty()) {
    if (to_variable) constants::note_failed_copy();
    explain(std::move(wrong), {}, both_ends(to, from));
    return result(cudaErrorInvalidValue);
  }
  if (to_variable) constants::prepare();
  warn_of_direction(to, from, kind);
  if (height == 1 || (to_pitch == width && from_pitch == width))
    look_for_overlap(to, from, width * height);
  auto* target = static_cast<char*>(to);
  auto* source = static_cast<const char*>(from);
  for (size_t row = 0; row < height; ++row)
    std::memmove(target + row * to_pitch, source + row * from_pitch, width);
  simt::device::note_transfer(to, from);
  const size_t span = span_of(is_device(to) ? to_pitch : from_pitch, width, height);
  simt::device::note_copied_extent(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from),
                                   span);
  simt::engine::first_infinite::note_copy(reinterpret_cast<uint64_t>(to),
                                          reinterpret_cast<uint64_t>(from), span);
  if (!simt::device_variables::ByName::is_open()) simt::engine::note_transfer(to, from, span);
  mark_rows_written(to, to_pitch, width, height);
  if (height == 1 && !is_device(to)) simt::device_variables::note_copied(from, width);
  if (height == 1 && is_device(to) && !is_device(from)) simt::host_texts::note_copied(from, width);
  if (!is_device(to)) {
    for (size_t row = 0; row < height; ++row) {
      simt::host_copies::note(target + row * to_pitch, source + row * from_pitch, width,
                              row == 0 && height > 1 ? to_pitch : 0);
    }
  }
  simt::stream_races::note_copy({to, to_pitch, width, height}, {from, from_pitch, width, height});
  return result(cudaSuccess);
}

namespace {

cudaError_t set_rows(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (width == 0 || height == 0) return result(cudaSuccess);
  if (pitch < width) return wrong_pitch(width, pitch);
  const bool is_known =
      simt::memory::in_arena(reinterpret_cast<uint64_t>(pointer)) || is_variable(pointer);
  std::string wrong = is_known ? wrong_with("range", pointer, span_of(pitch, width, height))
                               : "this is not device memory";
  if (!wrong.empty()) {
    explain(std::move(wrong));
    return result(cudaErrorInvalidValue);
  }
  for (size_t row = 0; row < height; ++row) {
    std::memset(static_cast<char*>(pointer) + row * pitch, value, width);
  }
  mark_rows_written(pointer, pitch, width, height);
  simt::stream_races::note_copy({pointer, pitch, width, height}, {});
  return result(cudaSuccess);
}

// In the default stream. The host waits only where the memory is its own, too.
cudaError_t set_rows_now(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  if (simt::memory::in_shared_arena(reinterpret_cast<uint64_t>(pointer))) {
    const simt::stream_order::BlockingCall here;
    return set_rows(pointer, pitch, value, width, height);
  }
  if (const cudaError_t error = simt::captures::refuse_legacy(nullptr)) return result(error);
  const simt::stream_order::Work here(nullptr);
  return set_rows(pointer, pitch, value, width, height);
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  if (const cudaError_t error = simt::captures::refuse_legacy(nullptr)) return result(error);
  const simt::stream_order::BlockingCall here;
  return copy_rows(to, size, from, size, size, 1, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return copy_rows(to, size, from, size, size, 1, kind); });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return set_rows_now(pointer, size, value, size, 1);
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemset,
                 [=] { return set_rows(pointer, size, value, size, 1); });
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return set_rows_now(pointer, pitch, value, width, height);
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemset,
                 [=] { return set_rows(pointer, pitch, value, width, height); });
}

// A __device__ or __constant__ variable is a variable of the program. Its address is none: what the templates of
// cuda_runtime_api.h take the address of is then their own argument, which lies on the stack.
static cudaError_t no_symbol(const char* call) {
  simt::constants::note_failed_copy();
  explain("the variable itself is what " + std::string(call) +
          " takes: not its address, and not its name in quotes");
  return result(cudaErrorInvalidSymbol);
}
static bool is_of_host(const void* symbol) {
  const std::string name = simt::device_variables::of_host(reinterpret_cast<uint64_t>(symbol));
  if (name.empty()) return false;
  simt::constants::note_failed_copy();
  explain(
      "'" + name +
      "' is a variable of the host: one of the device is declared with __constant__ or __device__");
  return true;
}
// A constant may lie before the variables.
static bool may_be_symbol(const void* symbol) {
  const simt::engine::ProgramImage& program = simt::engine::program_image();
  const auto address = reinterpret_cast<uint64_t>(symbol);
  return address >= program.first && address < program.data_end;
}
// Does the copy stay in the variable? Behind it may be another.
static bool is_inside(const void* symbol, size_t size, size_t offset) {
  const simt::symbols::Variable* variable =
      simt::symbols::find_variable(reinterpret_cast<uint64_t>(symbol));
  if (!variable) return true;
  const size_t holds = variable->end - reinterpret_cast<uint64_t>(symbol);
  if (offset <= holds && size <= holds - offset) return true;
  explain(std::to_string(size) + " bytes after the first " + std::to_string(offset) +
          " reach past the end of the " + std::to_string(holds) + " bytes of " + variable->name);
  return false;
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset,
                               cudaMemcpyKind kind) {
  if (const cudaError_t error = simt::captures::refuse_legacy(nullptr)) return result(error);
  const simt::stream_order::BlockingCall here;
  if (kind == cudaMemcpyDeviceToHost) return result(cudaErrorInvalidMemcpyDirection);
  if (!is_variable(symbol)) return no_symbol("cudaMemcpyToSymbol");
  if (is_of_host(symbol)) return result(cudaErrorInvalidSymbol);
  if (offset && !is_inside(symbol, size, offset)) return result(cudaErrorInvalidValue);
  const simt::device_variables::ByName by_name;
  return copy_rows(static_cast<char*>(const_cast<void*>(symbol)) + offset, size, from, size, size,
                   1, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset,
                                 cudaMemcpyKind kind) {
  if (const cudaError_t error = simt::captures::refuse_legacy(nullptr)) return result(error);
  const simt::stream_order::BlockingCall here;
  if (kind == cudaMemcpyHostToDevice) return result(cudaErrorInvalidMemcpyDirection);
  if (!may_be_symbol(symbol)) return no_symbol("cudaMemcpyFromSymbol");
  if (is_of_host(symbol)) return result(cudaErrorInvalidSymbol);
  if (offset && !is_inside(symbol, size, offset)) return result(cudaErrorInvalidValue);
  const simt::device_variables::ByName by_name;
  return copy_rows(to, size, static_cast<const char*>(symbol) + offset, size, size, 1,
                   cudaMemcpyDefault);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyToSymbol(symbol, from, size, offset, kind); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyFromSymbol(to, symbol, size, offset, kind); });
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (!pointer) return result(cudaErrorInvalidValue);
  if (!may_be_symbol(symbol)) return no_symbol("cudaGetSymbolAddress");
  if (is_of_host(symbol)) return result(cudaErrorInvalidSymbol);
  simt::device_variables::note_symbol(reinterpret_cast<uint64_t>(symbol));
  *pointer = const_cast<void*>(symbol);
  return result(cudaSuccess);
}
