#include "exec/trial.h"

#include "base/lane_simd.h"

namespace simt::engine {

bool Trial::meets(const Warp& warp, int lane, size_t byte, const Monitor& monitor) const {
  const uint64_t address = warp.address[lane] + byte;
  if (load_.bytes) return address - load_.address < load_.bytes;
  const SharedMemory& shared = monitor.shared;
  return shared.holds(address) &&
         !monitor.shared_checker.races.is_written(shared.word_of(address),
                                                  static_cast<uint8_t>(1u << address % 4));
}

void Trial::change(unsigned char* byte) {
  for (const Byte& known : changed_) {
    if (known.at == byte) return;
  }
  changed_.push_back({byte, *byte});
  switch (change_) {
    case Change::none:
      break;
    case Change::inverted:
      *byte = static_cast<unsigned char>(~*byte);
      break;
    case Change::large:  // as a number of 4 or 8 bytes, whole or real
      *byte = 0x7f;
      break;
    case Change::negative:
      *byte = 0xfe;
      break;
  }
}

void Trial::restore() {
  for (const Byte& byte : changed_) *byte.at = byte.value;
  changed_.clear();
}

uint32_t Trial::next(const Warp& warp, uint32_t lanes, uint64_t key, const Monitor& monitor) {
  restore();
  uint32_t others = 0;
  for (const int lane : lanes_of(lanes)) {
    if (warp.stop[lane] != StopReason::load || key_pc(key) != load_.pc) continue;
    if (warp.checks.first_thread() + static_cast<unsigned>(lane) == load_.except) continue;
    for (size_t byte = 0; byte < warp.size[lane]; ++byte) {
      if (!meets(warp, lane, byte, monitor)) continue;
      others |= 1u << lane;
      change(reinterpret_cast<unsigned char*>(warp.address[lane] + byte));
    }
  }
  has_met_ |= others != 0;
  if (others) lanes = others;
  way_ = mix(way_, key);
  way_ = mix(way_, uint64_t{lanes} << 32 | static_cast<unsigned>(warp.checks.index));
  for (const int lane : lanes_of(lanes)) {
    way_ = mix(way_, warp.address[lane]);
    way_ = mix(way_, uint64_t{warp.size[lane]} << 8 | static_cast<uint8_t>(warp.stop[lane]));
  }
  return lanes;
}

}  // namespace simt::engine
