// memcpy(), memset() and their like, in kernels and on the host.
#include <algorithm>
#include <cstring>

#include "hooks/hooks.h"
#include "streams/races.h"
#include "watch/host_accesses.h"
#include "watch/host_copies.h"
#include "watch/library_accesses.h"
#include "watch/managed_results.h"
#include "watch/unsynchronized.h"

namespace simt::engine {

namespace {

// memcpy(), memmove() and memset() of a kernel. All pieces of a lane are of one size, so that the lanes of a warp,
// whose rows mostly lie a multiple of it apart, keep in step. To the debug information a load stands a byte
// ahead of its store, still inside of the call.
unsigned piece_of(uint64_t bits) {
  return bits % 16 == 0 ? 16 : static_cast<unsigned>(bits & -bits);
}

}  // namespace

void Hooks::copy(char* to, const char* from, size_t size, const char* pc) {
  Worker* worker = running;
  look_at_host_copy(to, from, size, pc);
  if (!worker || !worker->traced_) {
    std::memmove(to, from, size);
    return;
  }
  worker->warp_->has_pieces = true;
  const bool is_padded = worker->monitor.is_partly_written(reinterpret_cast<uint64_t>(from), size);
  const unsigned piece =
      piece_of(reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) | size);
  const bool backwards = to > from && to < from + size;
  for (size_t done = 0; done < size; done += piece) {
    const size_t at = backwards ? size - done - piece : done;
    char bytes[16];
    access(from + at, piece, StopReason::load, false, pc - 1, is_padded);
    std::memcpy(bytes, from + at, piece);
    access(to + at, piece, StopReason::store, false, pc);
    std::memcpy(to + at, bytes, piece);
  }
}

void Hooks::fill(char* to, int value, size_t size, const void* pc) {
  Worker* worker = running;
  if (!worker) host_block(to, size, StopReason::store, pc);
  if (!worker || !worker->traced_) {
    std::memset(to, value, size);
    return;
  }
  worker->warp_->has_pieces = true;
  const unsigned piece = piece_of(reinterpret_cast<uint64_t>(to) | size);
  for (size_t done = 0; done < size; done += piece) {
    access(to + done, piece, StopReason::store, false, pc);
    std::memset(to + done, value, piece);
  }
}

// The same on the host.
void Hooks::look_at_host_copy(const void* to, const void* from, uint64_t size, const void* pc) {
  if (running) return;
  host_block(from, size, StopReason::load, pc);
  host_block(to, size, StopReason::store, pc);
}

void Hooks::host_block(const void* pointer, uint64_t size, StopReason what, const void* pc) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (in_library) {
    if (size && memory::in_device_arena(address))
      library_access(address, size, what != StopReason::load, reinterpret_cast<uint64_t>(pc));
    return;
  }
  if (size && memory::in_device_arena(address)) {
    host_access(address, 0, what != StopReason::load, reinterpret_cast<uint64_t>(pc));
  } else if (what == StopReason::store && host_copies::extent) {
    host_copies::note(pointer, nullptr, size, 0);
  }
  if (size && memory::in_shared_arena(address))
    shared_access(address, size, what != StopReason::load, reinterpret_cast<uint64_t>(pc));
  if (what == StopReason::store && managed_results::extent)
    managed_results::access(address, size, true, reinterpret_cast<uint64_t>(pc));
  if (size && address < stream_races::begin + stream_races::extent &&
      address + size > stream_races::begin) {
    unsynchronized::access(address, size, what != StopReason::load, reinterpret_cast<uint64_t>(pc));
  }
}

}  // namespace simt::engine

namespace simt::detail {

// Declared in simt/bytes.h, whose memcpy() and memmove() must not be used here: they lead to these.
void copy_bytes(void* to, const void* from, size_t size) {
  engine::Hooks::copy(static_cast<char*>(to), static_cast<const char*>(from), size,
                      static_cast<const char*>(SIMT_PC));
}
void fill_bytes(void* to, int value, size_t size) {
  engine::Hooks::fill(static_cast<char*>(to), value, size, SIMT_PC);
}

}  // namespace simt::detail

// Calls that gcc makes: see bytes.h. Those of a kernel copy a struct as a whole, and are not announced.
extern "C" void* simt_memmove(void* to, const void* from, size_t size) {
  simt::engine::Hooks::look_at_host_copy(to, from, size, SIMT_PC);
  return std::memmove(to, from, size);
}
extern "C" void* simt_memcpy(void* to, const void* from, size_t size) {
  simt::engine::Hooks::look_at_host_copy(to, from, size, SIMT_PC);
  return std::memcpy(to, from, size);
}
