#include "memory/footprint.h"

#include <algorithm>

namespace simt::engine {

void Footprint::note_shared_write(uint64_t base, uint64_t first, uint64_t end) {
  for (SharedWrite& known : shared_writes_) {
    if (known.base != base) continue;
    known.first = std::min(known.first, first);
    known.end = std::max(known.end, end);
    return;
  }
  const HostMemory bookkeeping;  // a lane may be running
  shared_writes_.push_back({base, first, end});
}

void Footprint::add(const Footprint& other) {
  shown_ |= other.shown_;
  reads_textures_ |= other.reads_textures_;
  for (const Touched& t : other.touched_) {
    if (t.read) note(t.base, false, t.low, t.high);
    if (t.written) note(t.base, true, t.low, t.high);
  }
  for (const SharedWrite& w : other.shared_writes_) note_shared_write(w.base, w.first, w.end);
}

}  // namespace simt::engine
