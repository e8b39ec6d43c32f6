#include "memory/footprint.h"

namespace simt::engine {

void Footprint::add(const Footprint& other) {
  reads_textures_ |= other.reads_textures_;
  has_fence_ |= other.has_fence_;
  has_waited_ |= other.has_waited_;
  for (const Touched& t : other.touched_) {
    if (t.read) note(t.base, false, t.low, t.high);
    if (t.written) note(t.base, true, t.low, t.high);
  }
  for (const Polled& polled : other.polled_) note_polled(polled.sector, polled.bytes);
}

}  // namespace simt::engine
