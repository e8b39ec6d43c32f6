// What holds some bytes of global memory: an allocation, or the program's variables. Each worker remembers the last few.
#pragma once

#include <array>
#include <cstdint>

namespace simt::engine {

struct Range {
  uint64_t begin = 1, end = 0;
  bool written = false;  // all of it
};

class RangeCache {
 public:
  // nullptr if nothing holds all of them.
  const Range* find(uint64_t address, unsigned size);

 private:
  std::array<Range, 4> ranges_;
  unsigned next_ = 0;
  uint64_t version_ = 0;
};

}  // namespace simt::engine
