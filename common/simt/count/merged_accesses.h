// Accesses that nvcc merges: members of an aligned struct that lie side by side. simtcc has found them.
//
// The first of them, in the order of the code, is counted for all; the others are not counted. Checked is each by itself.
#pragma once

#include <cstdint>

namespace simt::engine {

struct MergedPart {
  uint8_t width = 0;   // bytes of the whole, at the access that is counted for all; 0 at the others
  uint8_t before = 0;  // so many bytes before that access the whole begins
};

// What simtcc says of the access at this program counter, or nullptr: it stands for itself.
const MergedPart* merged_part(uint64_t pc);

}  // namespace simt::engine
