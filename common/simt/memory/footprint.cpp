#include "memory/footprint.h"

#include <algorithm>

#include "base/host_memory.h"

namespace simt::engine {

void Footprint::note_new(uint64_t base, bool write) {
  const HostMemory bookkeeping;  // a lane may be running
  auto found = std::find_if(touched_.begin(), touched_.end(),
                            [base](const Touched& t) { return t.base == base; });
  if (found == touched_.end()) found = touched_.insert(found, {base, false, false});
  (write ? found->written : found->read) = true;
  last_ = base;
  last_read_ = found->read;
  last_written_ = found->written;
}

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
  for (const Touched& t : other.touched_) {
    if (t.read) note(t.base, false);
    if (t.written) note(t.base, true);
  }
  for (const SharedWrite& w : other.shared_writes_) note_shared_write(w.base, w.first, w.end);
}

void Footprint::clear() {
  touched_.clear();
  shared_writes_.clear();
  last_ = 0;
  last_read_ = last_written_ = shown_ = false;
}

}  // namespace simt::engine
