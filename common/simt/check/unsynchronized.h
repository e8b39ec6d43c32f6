// Memory that host and device share, and in which a kernel or an asynchronous copy may still be writing.
//
// Here all work is done when the call that asks for it returns. On a GPU it may not even have begun: what the host reads
// before it has waited is told. Any wait counts for all work, whatever stream it is for.
#pragma once

#include <cstdint>
#include <string>

namespace simt::unsynchronized {

// All such bytes lie in [begin, begin + extent).
extern uint64_t begin, extent;

// `by` has written there, and nobody has waited for it yet.
void note(uint64_t first, uint64_t end, const std::string& by);
// The host has waited.
void settle();
// A kernel was launched, or an asynchronous copy begun.
void note_work();
// How often the host has waited, counted so that work nobody has waited for yet is there if the number is odd.
uint64_t waits();
// The host reads some byte in [begin, begin + extent).
void read(uint64_t address, unsigned size, uint64_t pc);

// While one is there, the host runs what a stream runs in its order.
class InOrder {
 public:
  InOrder();
  ~InOrder();
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
};

}  // namespace simt::unsynchronized
