// The counting rules of the simulator for a page of the site: compiled to WebAssembly together with common/simt/count/rules.cpp
// and common/simt/base/lane_simd.cpp, unchanged. rules.py says how.
#include <simt/counting.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace {

constexpr std::size_t kHeap = 4096;
alignas(16) unsigned char heap[kHeap];
std::size_t used = 0;

uint64_t addresses_of_lanes[32];
simt::SharedCost last_cost;

}  // namespace

// The rules allocate one table and keep it.
void* operator new(std::size_t size) {
  void* const at = heap + used;
  used += (size + 15) & ~std::size_t{15};
  if (used > kHeap) __builtin_trap();
  return at;
}
void operator delete(void*) noexcept {}

extern "C" {

/// 32 byte addresses, one for each lane: the page writes them here.
[[clang::export_name("addresses")]] uint64_t* addresses() { return addresses_of_lanes; }

/// The cost that `wavefronts` counted last, whose members are unsigned ints.
[[clang::export_name("cost")]] const simt::SharedCost* cost() { return &last_cost; }

/// Sectors that the active lanes touch.
[[clang::export_name("sectors")]] unsigned sectors(uint32_t active, unsigned size) {
  return simt::count_sectors(addresses_of_lanes, active, size);
}

/// Wavefronts of a load (0) or a store (1); the rest of its cost is at `cost()`.
[[clang::export_name("wavefronts")]] unsigned wavefronts(uint32_t active, unsigned size,
                                                         int access) {
  last_cost = simt::count_wavefronts(addresses_of_lanes, active, size,
                                     static_cast<simt::SharedAccess>(access));
  return last_cost.wavefronts;
}
}
