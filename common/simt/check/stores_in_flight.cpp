#include "check/stores_in_flight.h"

#include <sched.h>

namespace simt::engine {
namespace {

std::atomic<StoresInFlight*> newest{nullptr};

}  // namespace

StoresInFlight::StoresInFlight() {
  next_ = newest;
  while (!newest.compare_exchange_weak(next_, this)) {
  }
}

bool StoresInFlight::await_others() {
  constexpr int kPatience = 20'000;  // of a microsecond or less
  bool all = true;
  awaits_ = true;
  for (const StoresInFlight* other = newest; other; other = other->next_) {
    const uint64_t then = other->storing_;
    if (other == this || !(then & 1)) continue;
    for (int turn = 0; other->storing_ == then; ++turn) {
      const bool goes_first = other->awaits_ && this < other;
      if (goes_first || turn == kPatience) {
        all = false;
        break;
      }
      sched_yield();
    }
  }
  awaits_ = false;
  return all;
}

}  // namespace simt::engine
