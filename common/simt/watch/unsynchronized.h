// The host touches memory in which a kernel or a copy may still be at work: it reads what they write, or writes what they read.
//
// Here all work is done when the call that asks for it returns. On a GPU it may not even have begun, as long as the host has not
// waited for it.
#pragma once

#include <cstdint>

namespace simt::unsynchronized {

// The host accesses some byte in [stream_races::begin, stream_races::begin + stream_races::extent).
void access(uint64_t address, uint64_t size, bool store, uint64_t pc);

// While one is there, the host runs what a stream runs in its order.
class InOrder {
 public:
  InOrder();
  ~InOrder();
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  static bool is_here();
};

}  // namespace simt::unsynchronized
