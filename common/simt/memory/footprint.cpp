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

void Footprint::add(const Footprint& other) {
  shown_ |= other.shown_;
  for (const Touched& t : other.touched_) {
    if (t.read) note(t.base, false);
    if (t.written) note(t.base, true);
  }
}

void Footprint::clear() {
  touched_.clear();
  last_ = 0;
  last_read_ = last_written_ = shown_ = false;
}

}  // namespace simt::engine
