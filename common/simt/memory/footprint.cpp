#include "memory/footprint.h"

namespace simt::engine {

void Footprint::add(const Footprint& other) {
  reads_textures_ |= other.reads_textures_;
  for (const Touched& t : other.touched_) {
    if (t.read) note(t.base, false, t.low, t.high);
    if (t.written) note(t.base, true, t.low, t.high);
  }
  for (const uint64_t sector : other.polled_) note_polled(sector);
}

}  // namespace simt::engine
