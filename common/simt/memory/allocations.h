// Device memory: address ranges for what cudaMalloc and its like return, with red zones, so that an
// address tells what it belongs to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simt::memory {

enum class Kind {
  device,
  pinned,
  managed,
  heap,        // the device's own: malloc and new in kernels
  registered,  // ordinary host memory that cudaHostRegister() has opened to the device
  array        // what the elements of a CUDA array lie in
};

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;  // bytes asked for
  Kind kind = Kind::device;
  int device = 0;  // that it is memory of, or of which the host asked for it
  bool freed = false;
  bool written = false;  // all of it, as far as can be known; else shadow.h knows which bytes
  uint64_t row_bytes = 0, pitch = 0;  // of cudaMallocPitch and its like
  uint64_t allocated_at = 0;          // program counter of the call
  uint64_t freed_at = 0;
  bool named = false;  // the program has said what it calls it
  std::string name = {};

  uint64_t end() const { return base + size; }
};

// The two address ranges: what only the device may touch, and what host and device share.
inline constexpr uint64_t kArenaBytes = uint64_t{1} << 40;
extern uint64_t device_base;  // kArenaBytes from here: Kind::device
extern uint64_t shared_base;  // kArenaBytes from here: Kind::pinned and Kind::managed

inline bool in_device_arena(uint64_t address) { return address - device_base < kArenaBytes; }
inline bool in_shared_arena(uint64_t address) { return address - shared_base < kArenaBytes; }
inline bool in_arena(uint64_t address) {
  return in_device_arena(address) || in_shared_arena(address);
}

// Fresh device memory is filled with this.
inline constexpr unsigned char kPoison = 0xff;
// So many bytes of it: a large allocation takes no memory until it is used. What is behind holds zeros.
inline constexpr uint64_t kMostPoisoned = uint64_t{64} << 20;

// Of the current device. Returns 0 if `size` bytes are more than it has left.
uint64_t allocate(Kind kind, uint64_t size, uint64_t caller);
enum class FreeResult { ok, not_an_allocation, already_freed };
FreeResult release(uint64_t base, Kind kind, uint64_t caller);
// Memory of the device that was freed belongs to its program again, at the same address, with nothing in it. Does
// nothing where it was not freed.
void allocate_again(uint64_t base);

// Changes with every allocation and release, and when one is all written: what find() said before may be
// wrong then.
inline std::atomic<uint64_t> changes{1};
inline uint64_t version() { return changes.load(std::memory_order_relaxed); }

// The allocation that holds `address`, freed ones too, or nullptr. Not valid across allocate().
const Allocation* find(uint64_t address);
// The allocation nearest below `address` (its red zone may hold the address), or nullptr.
const Allocation* find_below(uint64_t address);
// The live or freed allocation nearest above, or nullptr.
const Allocation* find_above(uint64_t address);

// Opens [base, base + size) of the host to the device; false if part of it is open already.
bool register_host(uint64_t base, uint64_t size, uint64_t caller);
bool unregister_host(uint64_t base);

// A copy or the host has written there.
void mark_written(uint64_t address, uint64_t size);
// Kernels ran whose stores nobody saw: everything may have been written.
void mark_all_written();

// What findings shall call the allocation that begins at `base`; nothing where none does.
void name(uint64_t base, std::string_view name);

// The allocation that begins at `base` has rows of so many bytes, whose beginnings are a pitch apart.
void note_rows(uint64_t base, uint64_t row_bytes, uint64_t pitch);

// Frees everything of the device, as cudaDeviceReset does.
void reset(int device);

// Has nothing come to these bytes of managed memory, as the system knows it, which gives a page when somebody does? They begin an
// allocation.
bool is_untouched(uint64_t base, uint64_t size);

uint64_t total_bytes();  // of each device
uint64_t free_bytes(int device);
std::vector<Allocation> live();  // in the order of their addresses

// "the 4000-byte allocation made by cudaMalloc at vector_add.cu:31", or "the 4000 bytes of out"
std::string describe(const Allocation& allocation);
// The same of several that one call has made: "3 allocations, 12 MiB in all, made by cudaMalloc at saxpy.cu:40"
std::string describe(const std::vector<Allocation>& allocations);

// The function that makes such allocations, and the one that frees them.
const char* call_of(Kind kind);
const char* freeing_call_of(Kind kind);

}  // namespace simt::memory
