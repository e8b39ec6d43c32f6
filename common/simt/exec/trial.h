// A block runs again, with other values for what one of its loads brings, to see whether anything comes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/warp.h"
#include "monitor/monitor.h"

namespace simt::engine {

class Trial {
 public:
  // Lanes that load some of these bytes at this place, but for one thread of the block, whose load is in order.
  struct Load {
    uint64_t pc;
    uint64_t address;
    uint64_t bytes;  // 0: instead of these, all shared memory that nobody has written
    uint64_t except;
  };
  // What they find in place of each byte.
  enum class Change : uint8_t { none, inverted, large, negative };
  static constexpr Change kChanges[] = {Change::none, Change::inverted, Change::large,
                                        Change::negative};

  Trial(const Load& load, Change change) : load_(load), change_(change) {}

  // These lanes stop with this key: those of them that go on now. Where some find other values, the others wait.
  uint32_t next(const Warp& warp, uint32_t lanes, uint64_t key, const Monitor& monitor);
  // Puts the right values back.
  void restore();

  // What all groups of lanes were, and what they have accessed.
  uint64_t way() const { return way_; }
  bool has_met() const { return has_met_; }

 private:
  struct Byte {
    unsigned char* at;
    unsigned char value;
  };
  bool meets(const Warp& warp, int lane, size_t byte, const Monitor& monitor) const;
  void change(unsigned char* byte);

  const Load load_;
  const Change change_;
  std::vector<Byte> changed_;
  uint64_t way_ = 0;
  bool has_met_ = false;
};

// A hash of both.
inline uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace simt::engine
