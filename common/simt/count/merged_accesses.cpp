#include "count/merged_accesses.h"

#include <algorithm>

#include "program/program_image.h"

namespace simt::engine {
namespace {

// A row of the table that simtcc leaves in the section simt_merged.
struct Row {
  int32_t distance;  // from here to behind the call that announces the access
  MergedPart part;
  uint8_t unused[2];

  uint64_t pc() const {
    return reinterpret_cast<uint64_t>(this) + static_cast<uint64_t>(int64_t{distance});
  }
};

}  // namespace

const MergedPart* merged_part(uint64_t pc) {
  const auto* const begin = reinterpret_cast<const Row*>(simt_merged_begin);
  const auto* const end = reinterpret_cast<const Row*>(simt_merged_end);
  const Row* const row = std::find_if(begin, end, [pc](const Row& r) { return r.pc() == pc; });
  return row == end ? nullptr : &row->part;
}

}  // namespace simt::engine
