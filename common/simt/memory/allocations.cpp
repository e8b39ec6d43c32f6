#include "memory/allocations.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/devices.h"
#include "base/lasting.h"
#include "base/text.h"
#include "memory/shadow.h"
#include "program/symbols.h"

namespace simt::memory {

uint64_t device_base = 0;
uint64_t shared_base = 0;

namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kRedZone = 256;
// Where allocations begin. CUDA promises kAlignment; this much keeps counts that depend on address bits
// (of atomics, see counting.h) free of what else was allocated, and of where the system put the arena.
constexpr uint64_t kBoundary = 4096;
constexpr uint64_t kPage = 4096;

// Address space is plentiful: it is used upward and never twice, so that a freed address stays known
// as freed. Memory itself is given back when an allocation is freed.
struct Arena {
  uint64_t base = 0;
  uint64_t next = 0;       // where the next allocation may begin
  uint64_t committed = 0;  // readable and writable up to here
};

struct State {
  std::recursive_mutex mutex;
  Arena device, shared;
  std::map<uint64_t, Allocation> allocations;         // by base, freed ones too
  std::array<uint64_t, devices::kMost> live_bytes{};  // of each device
  uint64_t total = 0;
};

State& state() { return lasting<State>(); }

// Where an allocation takes large pages, in which the CPU finds its way faster. Small ones that the host shares are to have
// pages of their own: see is_untouched().
constexpr uint64_t kLarge = uint64_t{4} << 20;

uint64_t reserve(int pages) {
  void* p =
      mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("simt: cannot reserve address space for device memory");
    std::_Exit(1);
  }
  madvise(p, kArenaBytes, pages);
  return reinterpret_cast<uint64_t>(p);
}

// Before main: the hooks ask for the ranges from the first host access on.
[[gnu::constructor(101)]] void reserve_arenas() {
  State& s = state();
  s.device.base = s.device.next = s.device.committed = device_base = reserve(MADV_HUGEPAGE);
  s.shared.base = s.shared.next = s.shared.committed = shared_base = reserve(MADV_NOHUGEPAGE);
  s.total = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
            static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 10 * 7;
}

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

Arena& arena_of(Kind kind) {
  const bool is_shared = kind == Kind::pinned || kind == Kind::managed;
  return is_shared ? state().shared : state().device;
}

// The allocation that begins there, freed or not; nullptr if none does. Under the mutex.
Allocation* at_base(uint64_t base) {
  const auto it = state().allocations.find(base);
  return it == state().allocations.end() ? nullptr : &it->second;
}

// Fresh device memory holds garbage. All bits set are a NaN, and no index that anyone means.
void poison(const Allocation& allocation) {
  std::fill_n(reinterpret_cast<unsigned char*>(allocation.base),
              std::min(allocation.size, kMostPoisoned), kPoison);
}

// Gives the pages wholly inside [base, base + size) back to the system.
void discard(uint64_t base, uint64_t size) {
  const uint64_t first = round_up(base, kPage);
  const uint64_t end = (base + size) / kPage * kPage;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace

uint64_t allocate(Kind kind, uint64_t size, uint64_t caller) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const int device = devices::current();
  uint64_t& live_bytes = s.live_bytes[static_cast<size_t>(device)];
  if (size > s.total || live_bytes > s.total - size) return 0;
  Arena& arena = arena_of(kind);
  const uint64_t base = round_up(arena.next + kRedZone, kBoundary);
  const uint64_t end = round_up(base + size + kRedZone, kAlignment);
  if (end - arena.base > kArenaBytes) return 0;
  if (end > arena.committed) {
    const uint64_t until = round_up(end, kPage);
    if (mprotect(reinterpret_cast<void*>(arena.committed), until - arena.committed,
                 PROT_READ | PROT_WRITE) != 0) {
      return 0;
    }
    arena.committed = until;
  }
  arena.next = end;
  live_bytes += size;
  ++changes;
  // The host may write what it shares with the device, and nobody sees it.
  Allocation& made = s.allocations[base];
  made = Allocation{.base = base,
                    .size = size,
                    .kind = kind,
                    .device = device,
                    .written = kind != Kind::device,
                    .allocated_at = caller};

  if (&arena == &s.shared && size >= kLarge)
    madvise(reinterpret_cast<void*>(base), size / kPage * kPage, MADV_HUGEPAGE);
  // Programs take fresh managed memory for zero, as the pages of a process are.
  if (kind != Kind::managed) poison(made);
  return base;
}

void allocate_again(uint64_t base) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  Allocation* const freed = at_base(base);
  if (!freed || !freed->freed) return;
  freed->freed = freed->written = false;
  ++changes;
  s.live_bytes[static_cast<size_t>(freed->device)] += freed->size;
  poison(*freed);
}

static FreeResult release_found(Allocation& allocation, uint64_t caller) {
  State& s = state();
  if (allocation.freed) return FreeResult::already_freed;
  allocation.freed = true;
  ++changes;
  allocation.freed_at = caller;
  s.live_bytes[static_cast<size_t>(allocation.device)] -= allocation.size;
  discard(allocation.base, allocation.size);
  engine::shadow::forget(allocation.base, allocation.size);
  return FreeResult::ok;
}

FreeResult release(uint64_t base, Kind kind, uint64_t caller) {
  const std::lock_guard lock(state().mutex);
  Allocation* const found = at_base(base);
  if (!found) return FreeResult::not_an_allocation;
  const Kind made = found->kind == Kind::managed ? Kind::device : found->kind;
  if (made != kind) return FreeResult::not_an_allocation;
  return release_found(*found, caller);
}

const Allocation* find(uint64_t address) {
  const Allocation* below = find_below(address);
  return below && address - below->base < below->size ? below : nullptr;
}

// Under the mutex.
static Allocation* below(uint64_t address) {
  auto it = state().allocations.upper_bound(address);
  if (it == state().allocations.begin()) return nullptr;
  --it;
  return in_device_arena(it->first) == in_device_arena(address) ? &it->second : nullptr;
}

const Allocation* find_below(uint64_t address) {
  const std::lock_guard lock(state().mutex);
  return below(address);
}

const Allocation* find_above(uint64_t address) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto it = s.allocations.lower_bound(address);
  if (it == s.allocations.end()) return nullptr;
  return in_device_arena(it->first) == in_device_arena(address) ? &it->second : nullptr;
}

bool register_host(uint64_t base, uint64_t size, uint64_t caller) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (find(base) || find(base + size - 1)) return false;
  const Allocation* above = find_above(base);
  if (above && above->base < base + size) return false;
  ++changes;
  s.allocations[base] = Allocation{.base = base,
                                   .size = size,
                                   .kind = Kind::registered,
                                   .device = devices::current(),
                                   .written = true,
                                   .allocated_at = caller};
  return true;
}

bool unregister_host(uint64_t base) {
  const std::lock_guard lock(state().mutex);
  const Allocation* const found = at_base(base);
  if (!found || found->kind != Kind::registered) return false;
  ++changes;
  state().allocations.erase(base);  // what comes to lie there next is something else
  return true;
}

void mark_written(uint64_t address, uint64_t size) {
  const std::lock_guard lock(state().mutex);
  Allocation* const found = below(address);
  if (!found) return;
  if (found->written || address >= found->end()) return;
  if (address == found->base && size >= found->size) {
    ++changes;
    found->written = true;
  } else {
    engine::shadow::mark_written(address, size);
  }
}

void mark_all_written() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  ++changes;
  for (auto& [base, allocation] : s.allocations) allocation.written = true;
}

void note_rows(uint64_t base, uint64_t row_bytes, uint64_t pitch) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (Allocation* const found = at_base(base)) {
    found->row_bytes = row_bytes;
    found->pitch = pitch;
  }
}

void name(uint64_t base, std::string_view name) {
  const std::lock_guard lock(state().mutex);
  if (Allocation* const found = at_base(base)) {
    found->named = true;
    found->name = name;
  }
}

void reset(int device) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  ++changes;
  std::erase_if(s.allocations, [device](const auto& a) {
    return a.second.kind == Kind::registered && a.second.device == device;
  });
  for (auto& [base, allocation] : s.allocations) {
    if (allocation.device == device) release_found(allocation, 0);
  }
}

uint64_t total_bytes() { return state().total; }

uint64_t free_bytes(int device) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.total - s.live_bytes[static_cast<size_t>(device)];
}

bool is_untouched(uint64_t base, uint64_t size) {
  std::array<unsigned char, 4096> resident;
  const uint64_t end = round_up(base + size, kPage);
  for (uint64_t at = base; at < end; at += resident.size() * kPage) {
    const uint64_t pages = std::min((end - at) / kPage, resident.size());
    if (mincore(reinterpret_cast<void*>(at), pages * kPage, resident.data()) != 0) return false;
    if (std::any_of(resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(pages),
                    [](unsigned char page) { return page & 1; })) {
      return false;
    }
  }
  return true;
}

std::vector<Allocation> live() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  std::vector<Allocation> result;
  for (const auto& [base, allocation] : s.allocations) {
    if (allocation.freed || allocation.kind == Kind::registered) continue;
    result.push_back(allocation);
  }
  return result;
}

const char* call_of(Kind kind) {
  static constexpr const char* kCalls[] = {"cudaMalloc",        "cudaMallocHost",
                                           "cudaMallocManaged", "malloc or new in a kernel",
                                           "cudaHostRegister",  "cudaMallocArray"};
  return kCalls[static_cast<size_t>(kind)];
}

const char* freeing_call_of(Kind kind) {
  static constexpr const char* kCalls[] = {"cudaFree",           "cudaFreeHost",
                                           "cudaFree",           "free or delete there",
                                           "cudaHostUnregister", "cudaFreeArray"};
  return kCalls[static_cast<size_t>(kind)];
}

// " at FILE:LINE", or nothing where no line is known.
static std::string at_line_of(uint64_t pc) {
  const symbols::Location& at = symbols::locate(pc);
  return at.line > 0 ? " at " + at.short_text() : "";
}

std::string describe(const Allocation& allocation) {
  const std::string size = std::to_string(allocation.size);
  const char* call = call_of(allocation.kind);
  std::string text;
  if (!allocation.name.empty()) {
    text = "the " + size + " bytes of " + allocation.name;
  } else {
    text = "the " + size + "-byte allocation made by " + call + at_line_of(allocation.allocated_at);
  }
  if (devices::count() > 1 && in_device_arena(allocation.base))
    text += " on device " + std::to_string(allocation.device);
  if (allocation.freed) text += " and freed" + at_line_of(allocation.freed_at);
  return text;
}

// "900 bytes", "12 KiB", "12 MiB"
static std::string size_text(uint64_t bytes) {
  if (bytes < 10 << 10) return plural(bytes, "byte");
  const bool large = bytes >= 10 << 20;
  return std::to_string(large ? bytes >> 20 : bytes >> 10) + (large ? " MiB" : " KiB");
}

std::string describe(const std::vector<Allocation>& allocations) {
  const Allocation& first = allocations.front();
  if (allocations.size() == 1) return describe(first);
  uint64_t bytes = 0;
  for (const Allocation& allocation : allocations) bytes += allocation.size;
  return std::to_string(allocations.size()) + " allocations, " + size_text(bytes) +
         " in all, made by " + call_of(first.kind) + at_line_of(first.allocated_at);
}

}  // namespace simt::memory
