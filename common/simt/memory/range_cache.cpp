#include "memory/range_cache.h"

#include "base/devices.h"
#include "memory/allocations.h"
#include "program/program_image.h"

namespace simt::engine {

const Range* RangeCache::find(uint64_t address, unsigned size) {
  if (const uint64_t version = memory::version(); version_ != version) [[unlikely]] {
    ranges_.fill({});
    version_ = version;
  }
  for (Range& known : ranges_) {
    if (address >= known.begin && address + size <= known.end) return &known;
  }
  Range& range = ranges_[next_];
  const ProgramImage& program = program_image();
  if (address >= program.data_begin && address + size <= program.data_end) {
    range = {program.data_begin, program.data_end, true, false};  // __device__ variables
  } else if (const memory::Allocation* found = memory::find(address);
             found && !found->freed && address + size <= found->end()) {
    const bool is_closed =
        memory::in_device_arena(address) && !devices::may_access(device_, found->device);
    range = {found->base, found->end(), found->written, is_closed};
  } else {
    return nullptr;
  }
  next_ = (next_ + 1) % ranges_.size();
  return &range;
}

}  // namespace simt::engine
