#include "races/touched_sectors.h"

#include "memory/allocations.h"

namespace simt::engine {

std::optional<TouchedSectors> touched_sectors(const Footprint& footprint, const Member& launch,
                                              uint64_t accesses) {
  constexpr uint64_t kLooksOfAnAccess = 16, kLooksAnyhow = uint64_t{1} << 16;
  uint64_t looks = 0;
  for (const Touched& t : footprint.touched()) looks += (t.high - t.low) / kSector;
  if (looks > kLooksOfAnAccess * accesses + kLooksAnyhow) return {};
  TouchedSectors sum;
  for (const Touched& t : footprint.touched()) {
    const Region* const region = shadow::region_of(t.low);
    // Pinned and managed memory lies elsewhere.
    if (!region || memory::in_shared_arena(t.low)) continue;
    for (uint64_t sector = t.low - t.low % kSector; sector < t.high; sector += kSector) {
      const SectorUse use = use_of(*region, sector, launch);
      sum.read += use.reads_first;
      sum.written += (use.written | use.atomic) != 0;
    }
  }
  return sum;
}

}  // namespace simt::engine
