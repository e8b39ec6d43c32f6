// What holds some bytes of global memory: an allocation, or the program's variables. Each worker remembers the last few.
#pragma once

#include <array>
#include <cstdint>

namespace simt::engine {

struct Range {
  uint64_t begin = 1, end = 0;
  bool written = false;    // all of it
  bool is_closed = false;  // memory of a device that has not opened it to this one
};

class RangeCache {
 public:
  // Kernels of this device come to them.
  void begin_launch(int device) {
    if (device != device_) version_ = 0;
    device_ = device;
  }
  // nullptr if nothing holds all of them.
  const Range* find(uint64_t address, unsigned size);

 private:
  std::array<Range, 4> ranges_;
  unsigned next_ = 0;
  int device_ = 0;
  uint64_t version_ = 0;
};

}  // namespace simt::engine
